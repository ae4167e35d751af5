/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted picks on the CPU: see kernels/weights.h for the rule. */
#ifndef GNN_KERNELS_CPU_WEIGHTED_H
#define GNN_KERNELS_CPU_WEIGHTED_H

#include "kernels/cpu/draw.h"
#include "kernels/weights.h"

/* A destination that draws: k picks, of a row in which at least so many neighbours have a weight,
 * or at least one if the rule repeats. */
struct gnn_weighted_row {
    struct gnn_weights w;
    uint32_t orig, tree;
    double scale; /* neighbours by numbers */
};
static inline struct gnn_weighted_row gnn_weighted_row_of(struct gnn_weights w, uint32_t orig,
                                                          uint32_t tree)
{
    gnn_weights_load(&w);
    const struct gnn_weighted_row row = {w, orig, tree, w.span / ((double)w.total + 1)};
    return row;
}

/* Positions in the row of the picks of n <= 16 destinations, k <= GNN_DRAW_MAX each: x[l*k+j].
 */
void gnn_weighted_few(struct gnn_pick_rule rule, const uint32_t key[2],
                      const struct gnn_weighted_row *row, uint32_t n, uint32_t *x);
/* Those of one destination, any k: x[k]. set: gnn_pick_set_size(k) words. */
void gnn_weighted_many(struct gnn_pick_rule rule, const uint32_t key[2],
                       const struct gnn_weighted_row *row, uint32_t *set, uint32_t *x);

#endif
