/* SPDX-License-Identifier: Apache-2.0 */
/* The model that gnn-predict applies, and what its file says or does not say. */
#ifndef GNN_CMD_PREDICT_MODEL_H
#define GNN_CMD_PREDICT_MODEL_H

#include "cmd/opt.h"
#include "lib/model/model.h"

/* Opens the model or, of a checkpoint, its best model, at `path` for a graph with schema s, whose
 * types it names as `map` says (cmd/type_map.h); or ends the program. Messages name what it leaves
 * out and what is assumed of it. graph: the name of the store or the stream. */
void predict_open_model(struct gnn_model *m, const char *path, const struct opt_list *map,
                        const struct gnn_schema *s, const char *graph);

#endif
