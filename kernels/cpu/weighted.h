/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted picks on the CPU: see kernels/weights.h for the rule. */
#ifndef GNN_KERNELS_CPU_WEIGHTED_H
#define GNN_KERNELS_CPU_WEIGHTED_H

#include "kernels/cpu/draw.h"
#include "kernels/weights.h"

/* Up to 16 destinations that draw: k picks each, of rows in which at least so many neighbours have
 * a weight, or at least one if the rule repeats. As columns, which are computed with at once:
 * number l is of destination l, and number j*16+l of its draw j. There are more draws than picks,
 * for those that fall on a neighbour twice: as Philox gives two at a time, one more, or two. */
enum { GNN_WEIGHTED_DRAWS = GNN_DRAW_LANES * (GNN_DRAW_MAX + 2) };
struct gnn_weighted_group {
    uint32_t n, draws; /* destinations; draws of each, so far */
    struct gnn_weights w[GNN_DRAW_LANES];
    const uint32_t *source[GNN_DRAW_LANES]; /* of each one's neighbours */
    uint32_t orig[GNN_DRAW_LANES] __attribute__((aligned(64))), tree[GNN_DRAW_LANES];
    /* Copies of what w says; the total as its low and high halves. */
    uint32_t span[GNN_DRAW_LANES], total[2][GNN_DRAW_LANES];
    uint64_t before[GNN_DRAW_LANES] __attribute__((aligned(64)));
    double scale[GNN_DRAW_LANES]; /* neighbours by numbers */
    /* Numbers that were drawn, what gnn_weight_high says of them, and where the window begins in
     * which they are looked for first; later, whose they are, as a position in the row. */
    uint64_t number[GNN_WEIGHTED_DRAWS] __attribute__((aligned(64)));
    int16_t high[GNN_WEIGHTED_DRAWS] __attribute__((aligned(64)));
    uint32_t at[GNN_WEIGHTED_DRAWS] __attribute__((aligned(64)));
};

/* Makes the next one of a group, of these neighbours and their sources; n < 16. */
static inline void gnn_weighted_put(struct gnn_weighted_group *g, const struct gnn_pick_edges *a,
                                    const struct gnn_pick_range *x, const uint32_t *source,
                                    uint32_t orig, uint32_t tree)
{
    const uint32_t l = g->n++;
    struct gnn_weights *w = &g->w[l];
    *w = gnn_weights_of(a, x);
    gnn_weights_load(w);
    g->source[l] = source;
    g->orig[l] = orig;
    g->tree[l] = tree;
    g->span[l] = w->span;
    g->before[l] = w->before;
    g->total[0][l] = (uint32_t)w->total;
    g->total[1][l] = (uint32_t)(w->total >> 32);
    g->scale[l] = w->span / ((double)w->total + 1);
}

/* Draws numbers for k <= GNN_DRAW_MAX picks of each destination of `next`, and asks for what says
 * whose they are. Meanwhile it looks up what the call before drew for `now`, and asks for the
 * sources of the picks, whose positions are the first k rows of `at` then. Either may be empty. */
void gnn_weighted_few(struct gnn_pick_rule rule, const uint32_t key[2],
                      struct gnn_weighted_group *next, struct gnn_weighted_group *now);
/* The positions of the picks of a group's only destination, any k: x[k]. set: gnn_pick_set_size(k)
 * words. */
void gnn_weighted_many(struct gnn_pick_rule rule, const uint32_t key[2],
                       struct gnn_weighted_group *g, uint32_t *set, uint32_t *x);

#endif
