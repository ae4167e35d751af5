/* SPDX-License-Identifier: Apache-2.0 */
/* The model that gnn-train makes, and its options. */
#ifndef GNN_CMD_TRAIN_MODEL_H
#define GNN_CMD_TRAIN_MODEL_H

#include "cmd/opt.h"
#include "lib/data/source.h"
#include "lib/train/settings.h"

/* The settings that options ask for, and the options of all models, which gnn_model_options fills;
 * then the one of what is gone on with. */
extern struct gnn_settings train_set;
extern struct opt train_model_opts[];
extern const struct opt train_init_opts[];
/* After opt_parse: ends the program unless the options fit each other. */
void train_model_check(void);

/* The file of --init, or NULL. */
const char *train_model_init(void);

/* The model for the batches of *src, which may be replaced by a source that gives the same, with
 * initial parameters; or ends the program. */
void train_model_make(struct gnn_model *m, struct gnn_source **src, struct gnn_err *e);

#endif
