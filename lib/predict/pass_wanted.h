/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over the batches of some sets of a source. Not for use outside lib/predict. */
#ifndef GNN_LIB_PREDICT_PASS_WANTED_H
#define GNN_LIB_PREDICT_PASS_WANTED_H

#include "lib/data/source.h"
#include "lib/ops/ops.h"

struct gnn_wanted_pass {
    const bool *wanted; /* [nsplits]; NULL: all */
    int (*one)(void *arg, const struct gnn_batch *b, struct gnn_err *e);
    void (*progress)(void *arg, uint64_t total); /* seeds, or links, of the wanted sets */
    void *arg;
};
/* Calls `one` for each batch that is wanted, and `progress` after every batch, up to the end of the
 * source or the first failure. */
int gnn_predict_wanted(struct gnn_source *src, const struct gnn_wanted_pass *p,
                       struct gnn_err *e) GNN_MUST_USE;
/* Queues n bytes to be fetched to a buffer in the host's memory, which is made large enough. */
int gnn_predict_fetch(const struct gnn_ops *o, struct gnn_buf *to, const void *from, uint64_t n,
                      struct gnn_err *e) GNN_MUST_USE;

#endif
