/* SPDX-License-Identifier: Apache-2.0 */
/* How many batches had each node: counted, and written to a file.
 *
 * The file is an .npy array of u32: one number per node, by id in the unpartitioned store, the
 * nodes of all types one after the other in the schema's order (as lib/store/view.h numbers
 * vertices). So it fits a store whatever its parts. */
#ifndef GNN_LIB_CACHE_FREQUENCY_H
#define GNN_LIB_CACHE_FREQUENCY_H

#include "lib/cache/access.h"
#include "lib/data/batch.h"

/* One thread at a time. */
struct gnn_frequency {
    struct gnn_store *store;
    uint32_t **n;  /* [nntypes] -> (nodes), by the ids in the batches */
    bool original; /* those are of the unpartitioned store */
    /* [nntypes] -> (nodes), of batches with trees, or NULL: the last batch that had the node */
    uint32_t **last;
    uint32_t batches;
};
int gnn_frequency_init(struct gnn_frequency *f, struct gnn_store *s, bool original,
                       struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_frequency_release(struct gnn_frequency *f);
/* Adds one for each node of the batch; counts stop at 2^32 - 1. GNN_E_INPUT for a node that the
 * store does not have. */
int gnn_frequency_add(struct gnn_frequency *f, const struct gnn_batch *b,
                      struct gnn_err *e) GNN_MUST_USE;
/* Writes the file to fd, which it closes. */
int gnn_frequency_write(struct gnn_frequency *f, int fd, const char *name,
                        struct gnn_err *e) GNN_MUST_USE;

/* Reads such a file, of any type of number as long as none is negative, as scores; x is the
 * caller's to release. fd stays open. GNN_E_INPUT when it is none, or has not one number per node.
 */
int gnn_frequency_read(struct gnn_store *s, int fd, const char *name, struct gnn_scores *x,
                       struct gnn_err *e) GNN_MUST_USE;

#endif
