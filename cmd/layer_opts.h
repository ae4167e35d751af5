/* SPDX-License-Identifier: Apache-2.0 */
/* The options that layers declare (lib/model/layer.h), as options of a program. */
#ifndef GNN_CMD_LAYER_OPTS_H
#define GNN_CMD_LAYER_OPTS_H

#include "cmd/opt.h"
#include "lib/model/layer.h"

/* The table, once it has been made, which comes before opt_parse. untold: only of options that a
 * state dict of another program does not tell. */
extern struct opt layer_opts[];
void layer_opts_list(bool untold);
/* After opt_parse: one that was given, and that the layer does not have; NULL: none. layer: NULL
 * has none. */
const struct opt *layer_opts_alien(const struct gnn_layer *layer);
/* "gat or gatv2": the layers that have it; lives until the next call. */
const char *layer_opts_layers(const struct opt *o);
/* Sets those options of c's layers that are in the table. */
void layer_opts_take(struct gnn_model_config *c);
/* Options of c's layers become those of c, but for what is about training only. false: *other was
 * given as something else. */
bool layer_opts_adopt(const struct gnn_model_config *c, const struct opt **other);
/* The value that c has of such an option, "mean", "no" or "4"; lives until the next call. */
const char *layer_opts_value(const struct gnn_model_config *c, const struct opt *o);
/* Warns of those given that do nothing in c's models. */
void layer_opts_check(const struct gnn_model_config *c);
/* "--aggr mean --no-normalize": those of the layer in the table that were not given, with their
 * defaults; lives until the next call. */
const char *layer_opts_assumed(const struct gnn_layer *layer);

#endif
