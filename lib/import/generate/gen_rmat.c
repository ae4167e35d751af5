/* SPDX-License-Identifier: Apache-2.0 */
/* Edges of rmat: the quadrant of each level from 16 bits of a random word, many edges abreast. */
#include "kernels/simd.h"
#include "lib/import/generate/gen.h"
#include "lib/base/rand.h"

enum { BLOCK = 128, WORDS = 8 }; /* words of an edge: 4 levels each */

/* q >= t for t up to 65536, in 16 bits. */
struct threshold {
    uint16_t t, on;
};

static struct threshold threshold_of(uint32_t t)
{
    return (struct threshold){(uint16_t)t, t <= UINT16_MAX};
}

GNN_SIMD static void draw(uint16_t q[restrict WORDS * 4][BLOCK], uint64_t state, uint32_t words)
{
    for (uint32_t k = 0; k < words; k++)
        for (uint32_t i = 0; i < BLOCK; i++) {
            struct gnn_rand r = {state + GNN_RAND_STEP * (i * words + k)};
            uint64_t w = gnn_rand_next(&r);
            for (uint32_t b = 0; b < 4; b++)
                q[k * 4 + b][i] = (uint16_t)(w >> 16 * b);
        }
}

/* The bits of levels [from, to), highest first. */
GNN_SIMD static void bits(uint16_t q[restrict][BLOCK], uint32_t from, uint32_t to,
                          const struct threshold t[3], uint16_t *restrict s, uint16_t *restrict d)
{
    const struct threshold a = t[0], ab = t[1], abc = t[2];
    for (uint32_t i = 0; i < BLOCK; i++)
        s[i] = d[i] = 0;
    for (uint32_t b = from; b < to; b++)
        for (uint32_t i = 0; i < BLOCK; i++) {
            uint16_t x = q[b][i];
            uint16_t ge_a = (uint16_t)((x >= a.t) & a.on), ge_ab = (uint16_t)((x >= ab.t) & ab.on);
            uint16_t ge_abc = (uint16_t)((x >= abc.t) & abc.on);
            s[i] = (uint16_t)(s[i] << 1 | ge_ab);
            d[i] = (uint16_t)(d[i] << 1 | (ge_a ^ ge_ab ^ ge_abc));
        }
}

void gnn_rmat_edges(const struct gnn_gen_params *p, uint64_t state, uint64_t n, uint32_t *src,
                    uint32_t *dst)
{
    uint16_t q[WORDS * 4][BLOCK], s[2][BLOCK], d[2][BLOCK];
    uint32_t ab = p->quad[0] + p->quad[1], words = (p->scale + 3) / 4,
             high = p->scale > 16 ? p->scale - 16 : 0;
    const struct threshold t[3] = {threshold_of(p->quad[0]), threshold_of(ab),
                                   threshold_of(ab + p->quad[2])};
    for (uint64_t at = 0; at < n; at += BLOCK) {
        uint64_t k = n - at < BLOCK ? n - at : BLOCK;
        draw(q, state + GNN_RAND_STEP * (at * words), words);
        bits(q, 0, high, t, s[0], d[0]);
        bits(q, high, p->scale, t, s[1], d[1]);
        for (uint64_t i = 0; i < k; i++) {
            src[at + i] = (uint32_t)s[0][i] << 16 | s[1][i];
            dst[at + i] = (uint32_t)d[0][i] << 16 | d[1][i];
        }
    }
}
