/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-predict at work: passes a model over a store or batches, prints the figures that were asked
 * for, and writes the outputs. */
#ifndef GNN_CMD_PREDICT_RUN_H
#define GNN_CMD_PREDICT_RUN_H

#include "lib/data/source.h"
#include "lib/model/metrics.h"
#include "lib/ops/ops.h"
#include "lib/predict/output.h"

/* The kind of output that is written. Ends the program if its task does not have that. */
enum gnn_predict_output predict_output_kind(const struct gnn_model *m);
/* Layer by layer, over feed.store; out: the file, -1 for none, and its name. Commits it. Both end
 * the program on failure. */
void predict_layers(const struct gnn_model *m, const struct gnn_ops *ops, struct gnn_measure kind,
                    int out, const char *name);
/* Batch by batch; graph: the store's or the stream's name. */
void predict_batches(const struct gnn_model *m, struct gnn_source *src, const char *graph,
                     const struct gnn_ops *ops, struct gnn_measure kind, int out, const char *name);

#endif
