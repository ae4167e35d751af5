/* SPDX-License-Identifier: Apache-2.0 */
/* Where the rows of the first stage come from: of each node type the features "x", or, where the
 * model takes none, the constant 1. Minibatches, full batches and predictions ask here, and nowhere
 * else, so that another source of rows is one more case of these. */
#ifndef GNN_LIB_MODEL_ROW_SOURCE_H
#define GNN_LIB_MODEL_ROW_SOURCE_H

#include "lib/data/batch.h"
#include "lib/model/model.h"
#include "lib/store/store.h"

/* The rows of a type's first `rows` nodes in the batch, or, if that is b->type[type].x, those of
 * the store. *x NULL: the constant 1, or no rows at all.
 * GNN_E_INPUT if the batch lacks the features that the model takes. */
int gnn_rows_of_batch(const struct gnn_model *m, const struct gnn_batch *b, uint32_t type,
                      uint64_t rows, const struct gnn_tensor **x, struct gnn_err *e) GNN_MUST_USE;
/* The rows of all nodes of a part of a store, likewise. */
int gnn_rows_of_part(const struct gnn_model *m, struct gnn_store *s, uint32_t part, uint32_t type,
                     const struct gnn_tensor **x, struct gnn_err *e) GNN_MUST_USE;

#endif
