/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-predict at work: passes a model over a store or batches, prints the figures that were asked
 * for, and writes the outputs. */
#ifndef GNN_CMD_PREDICT_RUN_H
#define GNN_CMD_PREDICT_RUN_H

#include "lib/model/pass.h"
#include "lib/data/source.h"
#include "lib/model/metrics.h"
#include "lib/ops/ops.h"
#include "lib/predict/output.h"

/* The kind of output that is written; nodes: of all nodes of a store. Ends the program if its task
 * does not have that. */
enum gnn_predict_output predict_output_kind(const struct gnn_model *m, bool nodes);
/* The bytes that --memory allows, and the folder where the rest is written. */
uint64_t predict_memory(void);
const char *predict_tmpdir(void);
/* The splits of a stream that are predicted on, those of --split; to be freed. */
bool *predict_wanted(const struct gnn_sampling *s, const char *name);
/* Prints the figures of a set of nodes or pairs; unit: "node" or "pair". */
void predict_report(const struct gnn_score *score, const char *set, struct gnn_measure kind,
                    const char *unit);
/* Layer by layer, over feed.store; out: the file, -1 for none, and its name. Commits it. Both end
 * the program on failure. */
void predict_layers(const struct gnn_model *m, const struct gnn_ops *ops, struct gnn_measure kind,
                    int out, const char *name);
/* Batch by batch; graph: the store's or the stream's name. */
void predict_batches(const struct gnn_model *m, struct gnn_source *src, const char *graph,
                     const struct gnn_ops *ops, struct gnn_measure kind, int out, const char *name);
/* Rates of a pass over n nodes or links in so many seconds, and the bytes of it that were in
 * temporary files, for people (_tell) and, when all is written, for --metrics (_end). */
void predict_tell(const char *unit, uint64_t n, const struct gnn_pass *p, double s,
                  uint64_t spilled);
void predict_end(const char *units, uint64_t n, const struct gnn_pass *p, double s,
                 uint64_t spilled);

#endif
