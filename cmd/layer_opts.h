/* SPDX-License-Identifier: Apache-2.0 */
/* What programs say of options of layers (lib/model/layer_options.h). */
#ifndef GNN_CMD_LAYER_OPTS_H
#define GNN_CMD_LAYER_OPTS_H

#include "cmd/opt.h"
#include "lib/model/layer_options.h"

/* Warns of those given that do nothing in c's models. */
void layer_opts_check(const struct gnn_layer_set *s, const struct gnn_model_config *c);
/* "--aggr mean --no-normalize": those of the layer in the set that were not given, with their
 * defaults; lives until the next call. */
const char *layer_opts_assumed(const struct gnn_layer_set *s, const struct gnn_layer *layer);

#endif
