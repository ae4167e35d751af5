/* SPDX-License-Identifier: Apache-2.0 */
/* The options that layers declare (lib/model/layer.h), as one table. */
#ifndef GNN_LIB_MODEL_LAYER_OPTIONS_H
#define GNN_LIB_MODEL_LAYER_OPTIONS_H

#include "lib/base/option.h"
#include "lib/model/layer.h"

enum { GNN_LAYER_SET = 32 };
/* Options of all layers, each once, with OPT_END behind them. They point to their values in the
 * set, which must stay where it is. */
struct gnn_layer_set {
    struct opt option[GNN_LAYER_SET + 1];
    union {
        bool flag;
        int choice;
        uint32_t count;
        double number;
    } value[GNN_LAYER_SET];
};
/* Fills the set with options of all layers, at their defaults. unrecorded: only with those that a
 * state dict of another program does not record. */
void gnn_layers_init(struct gnn_layer_set *s, bool unrecorded);
/* Gives c, whose layer is set, the values of those of its options that are in the set; and back,
 * except those that are about training only. */
void gnn_layers_take(const struct gnn_layer_set *s, struct gnn_model_config *c);
void gnn_layers_put(struct gnn_layer_set *s, const struct gnn_model_config *c);
/* The option of this name, or OPT_END's entry. */
const struct opt *gnn_layers_option(const struct gnn_layer_set *s, const char *name);

/* Whether a layer uses the option: one of its own, edge-weight or edge-features; and "gat or
 * gatv2": those that do, which lives until this thread's next call. */
bool gnn_layers_has(const struct gnn_layer *layer, const char *option);
const char *gnn_layers_users(const char *option);

#endif
