/* SPDX-License-Identifier: Apache-2.0 */
/* The model that gnn-train makes, and its options. */
#ifndef GNN_CMD_TRAIN_MODEL_H
#define GNN_CMD_TRAIN_MODEL_H

#include "cmd/opt.h"
#include "lib/data/source.h"
#include "lib/model/model.h"

/* Options of all models; those of layers are in cmd/layer_opts.h. */
extern const struct opt train_model_opts[];
/* After opt_parse: ends the program unless the options fit each other. */
void train_model_check(void);

#define TRAIN_NEEDS_ROWS "requires hidden rows: two layers, --head or --encoder"
/* The file of --init, or NULL. */
const char *train_model_init(void);
/* Declares what batches must bring (feed_needs). */
void train_model_needs(void);

/* The model for the batches of *src, which may be replaced by a source that gives the same, with
 * initial parameters; or ends the program. */
void train_model_make(struct gnn_model *m, struct gnn_source **src, struct gnn_err *e);

#endif
