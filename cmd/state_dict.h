/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a model that a state dict of another program does not tell: the message about what is
 * assumed, and gnn-predict's options for it. */
#ifndef GNN_CMD_STATE_DICT_H
#define GNN_CMD_STATE_DICT_H

#include "cmd/opt.h"
#include "lib/train/settings.h"

/* Names what is assumed of the model at `path`: by options of s, if they were not given, and what
 * no option changes. */
void state_dict_tell_assumed(const struct gnn_model_config *c, const char *path,
                             const struct gnn_settings *s);

/* gnn-predict's, and those of layers, which state_dict_init lists before options are parsed. */
extern struct gnn_settings state_dict_set;
extern struct opt state_dict_opts[];
void state_dict_init(void);
/* As gnn_model_open's `unrecorded`: all of them. */
void state_dict_take(struct gnn_model_config *c);
/* After gnn_model_open of the model at `path`: ends the program if one of the options was given and
 * the model says it itself, or its layers do not have it; a message names what is assumed. Whether
 * it was a state dict. */
bool state_dict_tell(const struct gnn_model *m, const char *path);

#endif
