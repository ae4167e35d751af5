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

#include <stddef.h>

#include "kernels/pick.h"

enum { GNN_WEIGHT_TRIES = 4 /* draws for each pick before the sample is taken out */ };

/* The weights of a destination's neighbours. */
struct gnn_weights {
    const uint64_t *sum;      /* (span) as in struct gnn_pick_edges */
    const uint32_t *positive; /* (span), or NULL */
    uint64_t total;
    uint32_t span;
};

/* Those of a range, but for the total, which is elsewhere in memory: _total. */
static GNN_HD struct gnn_weights gnn_weights_of(const struct gnn_pick_edges *a,
                                                const struct gnn_pick_range *x)
{
    const struct gnn_weights w = {a->sum + x->first, a->positive ? a->positive + x->first : NULL, 0,
                                  x->span};
    return w;
}
static GNN_HD uint64_t gnn_weights_total(const struct gnn_weights *w)
{
    return w->span ? w->sum[w->span - 1] : 0;
}

/* The neighbour that number v, below the total, belongs to. */
static GNN_HD uint32_t gnn_weight_find(const struct gnn_weights *w, uint64_t v)
{
    const uint64_t *at = w->sum;
    for (uint32_t n = w->span, half; n > 1; n -= half) {
        half = n / 2;
        at += at[half - 1] <= v ? half : 0;
    }
    return (uint32_t)(at - w->sum);
}

/* The numbers of neighbour i begin here; they end before sum[i]. */
static GNN_HD uint64_t gnn_weight_begin(const struct gnn_weights *w, uint32_t i)
{
    return i ? w->sum[i - 1] : 0;
}

/* The neighbour that is number j, from 0, among those that have a weight. */
static GNN_HD uint32_t gnn_weight_nth(const struct gnn_weights *w, uint32_t j)
{
    uint32_t lo = 0, hi = w->span - 1;
    if (!w->positive)
        return j;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (w->positive[mid] > j)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* Draw t: a number below n, uniformly. */
static GNN_HD uint64_t gnn_weight_draw(const uint32_t key[2], uint32_t orig, uint32_t tree,
                                       uint32_t t, uint64_t n)
{
    return gnn_rng_below64(key, orig, t, tree, GNN_RNG_WEIGHTS, n);
}

#endif
