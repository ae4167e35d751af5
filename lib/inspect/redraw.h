/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the batches of a stream again: a batch is a function of the graph and the header's recipe,
 * so what was drawn from a store can be compared with it to the last bit. Not for use outside
 * lib/inspect. */
#ifndef GNN_LIB_INSPECT_REDRAW_H
#define GNN_LIB_INSPECT_REDRAW_H

#include "lib/data/batch.h"
#include "lib/store/store.h"

/* Zeroed before _init. One thread at a time. */
struct gnn_redraw {
    struct gnn_store *store;
    const struct gnn_meta *m;
    const char *why_not; /* why batches cannot be drawn again; NULL: they can */
    struct gnn_source *src;
};

/* The store, which m names by its identity, and m belong to the caller. */
void gnn_redraw_init(struct gnn_redraw *r, struct gnn_store *store, const struct gnn_meta *m);
/* GNN_E_INPUT names the first tensor of the batch's structure that is not what is drawn; gathered
 * rows are not looked at. Nothing is compared if why_not says so. Fast if batches come in the order
 * of a stream. */
int gnn_redraw_check(struct gnn_redraw *r, const struct gnn_batch *b,
                     struct gnn_err *e) GNN_MUST_USE;
void gnn_redraw_release(struct gnn_redraw *r);

#endif
