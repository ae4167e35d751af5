/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the channels of a head, in the order that kernels/attention_edge.h gives. */
#ifndef GNN_KERNELS_CPU_LANES_H
#define GNN_KERNELS_CPU_LANES_H

#include "kernels/attention_edge.h"
#include "kernels/simd.h"

enum { LANES = GNN_ATTENTION_LANES };

/* LANES floats of a row, from anywhere. Said so, as compilers do not see that a sum may stay in a
 * register. */
typedef float lanes_of __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef float half_lanes __attribute__((vector_size(2 * LANES), aligned(4), may_alias));
typedef int32_t lane_bits __attribute__((vector_size(4 * LANES)));

GNN_INLINE void load_lanes(const float *x, lanes_of *v)
{
    *v = *(const lanes_of *)(const void *)x;
}

/* Loads the rest of a row, and zeros. */
GNN_INLINE void load_some(const float *x, uint32_t n, lanes_of *v)
{
    float t[LANES] = {0};
    for (uint32_t l = 0; l < n; l++)
        t[l] = x[l];
    load_lanes(t, v);
}

/* The sum of the lanes: halves are added, and halves of the sums. */
GNN_INLINE float fold_lanes(const lanes_of *p)
{
    const half_lanes *h = (const half_lanes *)p;
    const half_lanes s = h[0] + h[1];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

/* Lane l adds the channels l, l + LANES and so on. */
GNN_INLINE float head_dot(const float *x, const float *y, uint32_t n)
{
    lanes_of s = {0}, a, b;
    uint32_t c = 0;
    for (; c + LANES <= n; c += LANES) {
        load_lanes(x + c, &a), load_lanes(y + c, &b);
        s += a * b;
    }
    if (c < n) {
        load_some(x + c, n - c, &a), load_some(y + c, n - c, &b);
        s += a * b;
    }
    return fold_lanes(&s);
}

/* Functions of GATv2: products with leaky. */

/* s += w * leaky(u). */
GNN_INLINE void add_leaky(lanes_of *s, const lanes_of *w, const lanes_of *u, float slope)
{
    const lanes_of low = *u * slope;
    const lane_bits up = *u > 0;
    *s += *w * (lanes_of)((up & (lane_bits)*u) | (~up & (lane_bits)low));
}

GNN_INLINE float v2_term(float x, float y, const float *edge, size_t c)
{
    return edge ? x + y + edge[c] : x + y;
}

/* The sum of w * leaky(x + y + edge). */
GNN_INLINE float v2_dot(const float *w, const float *x, const float *y, const float *edge,
                        float slope, uint32_t n)
{
    lanes_of s = {0}, by, a, b, f = {0};
    uint32_t c = 0;
    for (; c + LANES <= n; c += LANES) {
        load_lanes(w + c, &by), load_lanes(x + c, &a), load_lanes(y + c, &b);
        a += b;
        if (edge) {
            load_lanes(edge + c, &f);
            a += f;
        }
        add_leaky(&s, &by, &a, slope);
    }
    if (c < n) {
        load_some(w + c, n - c, &by), load_some(x + c, n - c, &a), load_some(y + c, n - c, &b);
        a += b;
        if (edge) {
            load_some(edge + c, n - c, &f);
            a += f;
        }
        add_leaky(&s, &by, &a, slope);
    }
    return fold_lanes(&s);
}

#endif
