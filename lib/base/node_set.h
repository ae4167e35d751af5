/* SPDX-License-Identifier: Apache-2.0 */
/* A set of node ids, which finds duplicates. It is a bitmap whose pages are allocated on first use,
 * so that its memory depends on the ids that occur and not on the number of nodes that a header
 * declares; for entries with other columns, a hash table. */
#ifndef GNN_LIB_BASE_NODE_SET_H
#define GNN_LIB_BASE_NODE_SET_H

#include "kernels/entry.h"
#include "lib/base/mem.h"

/* Zeroed object = empty. Between calls no bit is set; the pages stay for the next call. One thread.
 */
struct gnn_node_set {
    uint64_t **page; /* [capacity] of 2^15 bits, by the id; NULL until an id of the page occurs */
    uint32_t capacity, npages;
    struct gnn_buf slots; /* u32, the number of an entry and 1 more; 0: empty */
};
/* *at: the index of the first of the n ids that equals an earlier one, or n. */
int gnn_node_set_repeat(struct gnn_node_set *s, const uint32_t *id, uint64_t n, uint64_t *at,
                        struct gnn_err *e) GNN_MUST_USE;
/* As gnn_node_set_repeat, of entries, which are different if they are in any column. n < 2^32 - 1.
 */
int gnn_node_set_repeat_in(struct gnn_node_set *s, const struct gnn_entries *x, uint64_t n,
                           uint64_t *at, struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_node_set_release(struct gnn_node_set *s);

#endif
