/* SPDX-License-Identifier: Apache-2.0 */
/* The batches that gnn-predict passes through a model: those of a stream, or drawn from a store as
 * the model's recipe says (cmd/feed.h). */
#ifndef GNN_CMD_PREDICT_BATCHES_H
#define GNN_CMD_PREDICT_BATCHES_H

#include "cmd/opt.h"
#include "lib/data/source.h"
#include "lib/model/model.h"

/* Ends the program, unless `allowed`, if the model was trained on batches with what layer-wise
 * inference does not see; path: the model's, store: the graph's. */
void predict_check_layers(const struct gnn_model *m, const char *path, const char *store,
                          bool allowed);
/* Draws batches from feed.store for the sets or, without one, for all nodes; or ends the program.
 */
struct gnn_source *predict_draw(const struct gnn_model *m, const char *path,
                                const struct opt_list *sets);
/* Says if the batches of a stream are not of the kind that the model was trained on. *src may
 * become another source of the same batches. */
void predict_compare(const struct gnn_model *m, const char *path, struct gnn_source **src);

#endif
