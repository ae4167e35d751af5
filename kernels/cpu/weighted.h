/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted picks on the CPU: see kernels/weights.h for the rule. */
#ifndef GNN_KERNELS_CPU_WEIGHTED_H
#define GNN_KERNELS_CPU_WEIGHTED_H

#include "kernels/cpu/draw.h"
#include "kernels/exclude.h"
#include "kernels/weights.h"

/* Up to 16 destinations that draw k picks each: rows in which more than k neighbours have a weight,
 * or at least one if the rule repeats. Lanes are destinations, so that loops over them are vectors:
 * entry l is of destination l, entry j*16+l of its draw j. Without replacement and with k > 1 there
 * are one or two draws more than picks, for repeated neighbours: Philox gives two at a time. */
enum { GNN_WEIGHTED_DRAWS = GNN_DRAW_LANES * (GNN_DRAW_MAX + 2) };
struct gnn_weighted_group {
    uint32_t n, draws; /* destinations; draws of each in `number` */
    struct gnn_weights w[GNN_DRAW_LANES];
    const uint32_t *source[GNN_DRAW_LANES]; /* of each one's neighbours */
    struct gnn_skip skip[GNN_DRAW_LANES];   /* those that are not picked */
    uint32_t orig[GNN_DRAW_LANES] __attribute__((aligned(64))), tree[GNN_DRAW_LANES];
    /* span, before and total are copies of those in w; the total as its low and high halves. */
    uint32_t span[GNN_DRAW_LANES], total[2][GNN_DRAW_LANES];
    uint64_t before[GNN_DRAW_LANES] __attribute__((aligned(64)));
    double scale[GNN_DRAW_LANES]; /* neighbours per number */
    /* Numbers that were drawn, their gnn_weight_high, and where the window begins in which they are
     * looked for first; once looked up, `at` of the first k draws is the position of the pick. */
    uint64_t number[GNN_WEIGHTED_DRAWS] __attribute__((aligned(64)));
    int16_t high[GNN_WEIGHTED_DRAWS] __attribute__((aligned(64)));
    uint32_t at[GNN_WEIGHTED_DRAWS] __attribute__((aligned(64)));
};

/* Adds a destination, which picks from range x of edges a, whose sources are `source`, and none of
 * the edges of skip, which have weights; n < 16. */
static inline void gnn_weighted_put(struct gnn_weighted_group *g, const struct gnn_pick_edges *a,
                                    const struct gnn_pick_range *x, struct gnn_skip skip,
                                    const uint32_t *source, uint32_t orig, uint32_t tree)
{
    const uint32_t l = g->n++;
    struct gnn_weights *w = &g->w[l];
    *w = gnn_weights_of(a, x);
    gnn_weights_load(w);
    g->source[l] = source;
    g->skip[l] = skip;
    g->orig[l] = orig;
    g->tree[l] = tree;
    g->span[l] = w->span;
    g->before[l] = w->before;
    g->total[0][l] = (uint32_t)w->total;
    g->total[1][l] = (uint32_t)(w->total >> 32);
    g->scale[l] = w->span / ((double)w->total + 1);
}

/* Draws the numbers of `next`, k <= GNN_DRAW_MAX picks each, and prefetches where to look for them.
 * Meanwhile it looks up those drawn for `drawn` by the call before: at[j*16+l] becomes the position
 * of pick j, and most of their sources are prefetched. Either group may be empty. */
void gnn_weighted_few(struct gnn_pick_rule rule, const uint32_t key[2],
                      struct gnn_weighted_group *next, struct gnn_weighted_group *drawn);
/* The positions of the picks of a group's only destination, any k: x[k]. set: gnn_pick_set_size(k)
 * words. */
void gnn_weighted_many(struct gnn_pick_rule rule, const uint32_t key[2],
                       struct gnn_weighted_group *g, uint32_t *set, uint32_t *x);

#endif
