/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted picks: neighbours in proportion to their weights, with replacement or, without, by
 * successive sampling, where each draw takes one of those that are left.
 *
 * Weights are integers, whose sums along a row are known: a draw is a number below the sum of all,
 * and a binary search finds whose it is. Without replacement, a draw that falls on a neighbour
 * that is in the sample is repeated, which has the same law. If one neighbour outweighs all others,
 * this would take long: from draw 4k on, numbers are drawn below the sum of what is left, and moved
 * past what is in the sample. So a row takes O(k log d) steps for draws, whatever its weights, no
 * floating point, and no pass over the row. */
#ifndef GNN_KERNELS_WEIGHTS_H
#define GNN_KERNELS_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/pick.h"

enum {
    GNN_WEIGHT_TRIES = 4, /* draws for each pick before the sample is taken out */
    GNN_WEIGHT_HIGH = 40  /* bits that gnn_weight_high leaves out, of 56 */
};

/* The weights of a destination's neighbours. A neighbour has the numbers from the sum before it up
 * to its own sum. */
struct gnn_weights {
    const uint64_t *sum;      /* (span) as in struct gnn_pick_edges */
    const uint32_t *positive; /* (span), or NULL */
    uint64_t before, total;   /* the first number, and how many there are */
    uint32_t span;
    bool inside;         /* the row begins before */
    const int16_t *high; /* (span) as in struct gnn_pick_edges */
};

/* The high bits of a sum, or of a number: never less for a greater one. */
static inline int16_t gnn_weight_high(uint64_t sum)
{
    sum >>= GNN_WEIGHT_HIGH;
    return (int16_t)((int32_t)(sum < UINT16_MAX ? sum : UINT16_MAX) + INT16_MIN);
}

/* The weights of a range; the numbers are elsewhere in memory: _load. */
static GNN_HD struct gnn_weights gnn_weights_of(const struct gnn_pick_edges *a,
                                                const struct gnn_pick_range *x)
{
    const struct gnn_weights w = {
        a->sum + x->first, a->positive ? a->positive + x->first : NULL, 0, 0, x->span,
        x->inside,         a->high ? a->high + x->first : NULL};
    return w;
}
static GNN_HD void gnn_weights_load(struct gnn_weights *w)
{
    w->before = w->inside ? w->sum[-1] : 0;
    w->total = w->span ? w->sum[w->span - 1] - w->before : 0;
}

/* The neighbour that number v belongs to. */
static GNN_HD uint32_t gnn_weight_find(const struct gnn_weights *w, uint64_t v)
{
    const uint64_t *at = w->sum;
    for (uint32_t n = w->span, half; n > 1; n -= half) {
        half = n / 2;
        at += at[half - 1] <= v ? half : 0;
    }
    return (uint32_t)(at - w->sum);
}

/* The first number of neighbour i; the last one is sum[i] - 1. */
static GNN_HD uint64_t gnn_weight_begin(const struct gnn_weights *w, uint32_t i)
{
    return i ? w->sum[i - 1] : w->before;
}

/* The neighbour that is number j, from 0, among those that have a weight. */
static GNN_HD uint32_t gnn_weight_nth(const struct gnn_weights *w, uint32_t j)
{
    uint32_t lo = 0, hi = w->span - 1;
    if (!w->positive)
        return j;
    j += w->inside ? w->positive[-1] : 0;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (w->positive[mid] > j)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* Draw t: one of the first n numbers, uniformly. */
static GNN_HD uint64_t gnn_weight_draw(const struct gnn_weights *w, const uint32_t key[2],
                                       uint32_t orig, uint32_t tree, uint32_t t, uint64_t n)
{
    return w->before + gnn_rng_below64(key, orig, t, tree, GNN_RNG_WEIGHTS, n);
}

#endif
