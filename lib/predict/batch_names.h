/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the nodes that a batch begins with, of one type: of another rank's nodes, their owner is
 * asked. Private to lib/predict. */
#ifndef GNN_LIB_PREDICT_BATCH_NAMES_H
#define GNN_LIB_PREDICT_BATCH_NAMES_H

#include "lib/comm/request.h"
#include "lib/store/names.h"

struct gnn_batch_names {
    struct gnn_names own;
    struct gnn_request r; /* of several ranks */
    const uint32_t *id;   /* store ids of the batch's, which the caller keeps */
    struct gnn_buf word;  /* struct gnn_span: their names, of several ranks */
};
/* s must outlive this. Takes a zeroed object, which is to be released in any case. */
int gnn_batch_names_init(struct gnn_batch_names *x, struct gnn_store *s, uint32_t ntype,
                         struct gnn_err *e) GNN_MUST_USE;
void gnn_batch_names_release(struct gnn_batch_names *x);
/* Finds the names of n nodes by their store ids, whose owners must be there. Collective. GNN_E_RANK
 * if a reply is malformed. */
int gnn_batch_names_find(struct gnn_batch_names *x, const uint32_t *id, uint64_t n,
                         struct gnn_err *e) GNN_MUST_USE;
/* The name of node i of these, as gnn_names_of gives it, until the next _find. */
const char *gnn_batch_names_of(const struct gnn_batch_names *x, uint64_t i,
                               char buf[GNN_NODE_NAME_CAPACITY], size_t *len);

#endif
