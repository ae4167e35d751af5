/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the entries of a batch: which number a node has, in a tree and at a time. By a sorted list,
 * and not as the sampler does it, so that a proof does not rely on what it proves. */
#ifndef GNN_LIB_INSPECT_AMONG_H
#define GNN_LIB_INSPECT_AMONG_H

#include "lib/data/batch.h"

/* Zeroed object = empty. One thread at a time. */
struct gnn_among {
    const struct gnn_batch_type *of;
    uint64_t n;
    struct gnn_buf sorted; /* u32 (n): local numbers */
};
/* Sets the entries to search: all n of a type, which must live as long as they are searched. */
int gnn_among_set(struct gnn_among *a, const struct gnn_batch_type *of, uint64_t n,
                  struct gnn_err *e) GNN_MUST_USE;
/* The local number of a node with the tree and time of entry i of `like`; UINT32_MAX: it is not
 * there. */
uint32_t gnn_among_find(const struct gnn_among *a, uint32_t node, const struct gnn_batch_type *like,
                        uint64_t i);
void gnn_among_release(struct gnn_among *a);

#endif
