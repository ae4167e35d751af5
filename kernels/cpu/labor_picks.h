/* SPDX-License-Identifier: Apache-2.0 */
/* Picks of LABOR on the CPU: see kernels/labor.h for the rule. */
#ifndef GNN_KERNELS_CPU_LABOR_PICKS_H
#define GNN_KERNELS_CPU_LABOR_PICKS_H

#include "kernels/cpu/draw.h"
#include "kernels/sample.h"

/* A row of `span` neighbours, of which some are not picked. */
struct gnn_labor_row {
    const uint32_t *base;
    uint32_t span;
    struct gnn_skip skip;
};
/* So many neighbours of each row are best asked for before the call. */
enum { GNN_LABOR_FETCHED = 64 };
/* Bytes, to be 64-byte aligned, for k picks of a destination. */
uint64_t gnn_labor_scratch(uint32_t k);
/* Positions of the k > 0 neighbours that each of n <= 16 rows takes, of more than k that it may, in
 * their order: x[l*k+j]. _on is the same with the instructions of a level that the processor has,
 * for the tests. */
void gnn_labor_pick(const struct gnn_sample_graph *g, uint32_t k, const uint32_t key[2],
                    const struct gnn_labor_row *row, uint32_t n, void *scratch, uint32_t *x);
void gnn_labor_pick_on(enum gnn_isa isa, const struct gnn_sample_graph *g, uint32_t k,
                       const uint32_t key[2], const struct gnn_labor_row *row, uint32_t n,
                       void *scratch, uint32_t *x);

#endif
