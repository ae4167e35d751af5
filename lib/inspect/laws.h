/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of batches that hold across nodes, edges and batches, and cost too much for readers: the
 * order of nodes, edges that are there once, seeds that an epoch has once. Not for use outside
 * lib/inspect. */
#ifndef GNN_LIB_INSPECT_LAWS_H
#define GNN_LIB_INSPECT_LAWS_H

#include "lib/data/batch.h"
#include "lib/store/view.h"

/* Zeroed before _init. One thread at a time. */
struct gnn_laws {
    const struct gnn_meta *m;
    const struct gnn_view *view; /* of the store that the batches were sampled from, or NULL */
    struct gnn_buf ids;          /* u64: those of a row or a block, sorted */
    uint64_t *next;              /* [nntypes] nodes that have occurred */
    /* [nsplits] of sets of the store: one bit for each node of the seed type, by its id there, that
     * is in the set, and that has been a seed in the epoch; NULL: of no set, or of one that has a
     * node twice */
    uint64_t **member, **seen;
    uint64_t *epoch; /* [nsplits] that `seen` is of */
};

/* m, and the view, if there is one, belong to the caller. */
int gnn_laws_init(struct gnn_laws *l, const struct gnn_meta *m, struct gnn_store *store,
                  const struct gnn_view *view, struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_INPUT says what is wrong with the batch, without its name. */
int gnn_laws_check(struct gnn_laws *l, const struct gnn_batch *b, struct gnn_err *e) GNN_MUST_USE;
void gnn_laws_release(struct gnn_laws *l);

#endif
