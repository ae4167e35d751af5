/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: what a user chooses of a model and of its training. The tables here are the only place
 * that says which options there are, for gnn-train and, by name, for gnn_train of the C library;
 * what does not fit together is refused here. */
#ifndef GNN_LIB_TRAIN_SETTINGS_H
#define GNN_LIB_TRAIN_SETTINGS_H

#include "lib/data/sampling_list.h"
#include "lib/model/layer_options.h"
#include "lib/train/train_defaults.h"
#include "lib/train/trainer.h"

struct gnn_settings {
    /* Members that options fill, and defaults. After gnn_settings_settle, c has everything but
     * widths, and what the graph decides; its edge_weight is borrowed. */
    struct gnn_model_config c;
    struct gnn_train_opts o;
    int layer, act; /* index into gnn_layers; of an activation, from ReLU on */
    int decoder;    /* of models of links, from DOT on; -1: the usual one */
    struct opt_i32s hidden, head;
    const char *edge_weight, *metric;
    double warmup; /* epochs */
    struct gnn_layer_set layers;
};

/* Sets defaults. Settings stay where they are: options point to members. */
void gnn_settings_init(struct gnn_settings *s);
/* Frees lists that options filled. */
void gnn_settings_release(struct gnn_settings *s);

/* Fill the table of options at `to`, and return its OPT_END, at which the next table can begin.
 * Options of layers are in s->layers. */
enum { GNN_MODEL_OPTIONS = 19, GNN_TRAINING_OPTIONS = 17 };
struct opt *gnn_model_options(struct gnn_settings *s, struct opt to[GNN_MODEL_OPTIONS]);
struct opt *gnn_training_options(struct gnn_settings *s, struct opt to[GNN_TRAINING_OPTIONS]);

/* Completes s->c when options have been set. given: which of them. GNN_E_USAGE if they do not fit
 * together. */
int gnn_settings_settle(struct gnn_settings *s, const struct gnn_given *given,
                        struct gnn_err *e) GNN_MUST_USE;
/* The description of a model with so many layers, before gnn_model_config_fit, for batches with
 * this header. what: "layer", or "hop" if there is one for each hop of the batches. GNN_E_USAGE if
 * widths do not fit. c is to be released, on failure as well. */
int gnn_settings_model(const struct gnn_settings *s, uint32_t nlayers, const char *what,
                       const struct gnn_meta *meta, struct gnn_model_config *c,
                       struct gnn_err *e) GNN_MUST_USE;
/* Completes s->o for training m on these epochs [from, to) of batches, or as many as there are if
 * `to` is 0. compares: a set is evaluated, by which epochs can be compared. */
int gnn_settings_training(struct gnn_settings *s, const struct gnn_given *given,
                          const struct gnn_meta *meta, const struct gnn_model *m, uint64_t from,
                          uint64_t to, bool compares, struct gnn_err *e) GNN_MUST_USE;

#endif
