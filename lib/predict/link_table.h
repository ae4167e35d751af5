/* SPDX-License-Identifier: Apache-2.0 */
/* Links as a table: the ids of both ends, their time, and what the model says of them. Private to
 * lib/predict. */
#ifndef GNN_LIB_PREDICT_LINK_TABLE_H
#define GNN_LIB_PREDICT_LINK_TABLE_H

#include "lib/base/io.h"
#include "lib/predict/passed_links.h"

/* Writes the names of columns. */
int gnn_link_table_head(struct gnn_predict_links *q, struct gnn_io *io,
                        struct gnn_err *e) GNN_MUST_USE;
/* Writes, on rank 0, the lines that all have of a batch. Collective. */
int gnn_link_table_batch(struct gnn_predict_links *q, const struct gnn_passed *f, struct gnn_io *io,
                         struct gnn_err *e) GNN_MUST_USE;

#endif
