/* SPDX-License-Identifier: Apache-2.0 */
/* The adjacency of a part, checked before it is used. */
#ifndef GNN_LIB_STORE_CSC_CHECK_H
#define GNN_LIB_STORE_CSC_CHECK_H

#include "lib/store/store.h"

/* The in-edges of row i are [indptr[i], indptr[i+1]), less than 2^32 of them; all indices are store
 * ids of sources that exist. The store's memory. */
struct gnn_store_adj {
    const uint64_t *indptr;  /* (rows+1), from 0 to edges */
    const uint32_t *indices; /* (edges) */
    uint64_t rows, edges;
};

/* Edges of type `etype` into the nodes of `part`, which this rank has open. GNN_E_INPUT, naming the
 * file and the tensor, if they are damaged. Reads all of them, on OpenMP threads. */
int gnn_store_adjacency(struct gnn_store *s, uint32_t part, uint32_t etype, struct gnn_store_adj *a,
                        struct gnn_err *e) GNN_MUST_USE;

#endif
