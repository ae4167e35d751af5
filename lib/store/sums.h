/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of edges as sampling needs them: sums of integers along each row (kernels/weights.h). */
#ifndef GNN_LIB_STORE_SUMS_H
#define GNN_LIB_STORE_SUMS_H

#include "kernels/weights.h"
#include "lib/store/store.h"

struct gnn_store_sums {
    struct gnn_pick_edges of; /* the arrays, which are the store's */
    uint64_t bytes; /* of memory: 10 for each edge, 14 if some weigh nothing; kept ones: 0 */
    uint64_t idle;  /* rows with edges that all weigh nothing */
};

/* Sums of weights of the edges of type `etype` into the nodes of `part`, which this rank has open
 * and whose edges have the field: one number each, of any type. In each row, weights become
 * integers in proportion to each other, by a power of two that leaves their sum below 2^57; those
 * that would become 0, but are not, become 1. GNN_E_INPUT names the first edge whose weight is
 * negative or not finite, or a row whose sum is not; or says that the adjacency is damaged. Reads
 * all of them, on OpenMP threads, unless they are kept (lib/store/derived.h). */
int gnn_store_sums_make(struct gnn_store *s, uint32_t part, uint32_t etype, const char *field,
                        struct gnn_store_sums *x, struct gnn_err *e) GNN_MUST_USE;

#endif
