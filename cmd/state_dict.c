/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/state_dict.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cli.h"
#include "cmd/layer_opts.h"
#include "lib/base/mem.h"

static int act = (int)GNN_ACT_RELU - 1, feature_norm;
static bool residual;
static const char *edge_weight;
static const struct gnn_layer *asked; /* the layer of a state dict; NULL: it was none */

const struct opt state_dict_opts[] = {
    {OPT_CHOICE, 0, "activation", &act, "NAME", "activation of hidden layers (default: relu)",
     GNN_ACT_WORDS},
    {OPT_FLAG, 0, "residual", &residual, NULL,
     "in hidden layers, add the input to the output where the widths are equal"},
    {OPT_STR, 0, "edge-weight", &edge_weight, "FIELD", "weight neighbours by this edge field"},
    {OPT_CHOICE, 0, "feature-norm", &feature_norm, "HOW",
     "row: divide the features of a node by their sum (default: none)", "none|row"},
    {.kind = OPT_END},
};

void state_dict_take(struct gnn_model_config *c)
{
    struct gnn_err e = {0};
    asked = c->layer;
    layer_opts_take(c);
    c->act = act + (int)GNN_ACT_RELU;
    c->residual = residual;
    c->feature_norm = (enum gnn_feature_norm)feature_norm;
    if (edge_weight && !(c->edge_weight = gnn_strdup(edge_weight, &e)))
        cli_fail(&e);
}

/* Options of layers that the model does not have, or says itself. */
static void refuse_alien(const struct gnn_model *m, const char *path)
{
    const struct opt *alien = layer_opts_alien(asked);
    char why[512];
    if (alien && asked)
        cli_usage("--%s: the layers of %s are %s", alien->name, path, asked->name);
    snprintf(why, sizeof why, ": %s is a model of gnn-train and says how its layers (%s) compute",
             path, m->c.layer->name);
    if (alien)
        cli_usage("--%s%s", alien->name, why);
    for (const struct opt *o = state_dict_opts; !asked && o->kind != OPT_END; o++)
        if (opt_given(o->value))
            cli_usage("--%s%s", o->name, why);
}

static void append_text(char *text, size_t room, const char *between, const char *more)
{
    const size_t at = strlen(text);
    if (*more && at < room)
        snprintf(text + at, room - at, "%s%s", at ? between : "", more);
}

void state_dict_tell_assumed(const struct gnn_model_config *c, const char *path,
                             const void *activation, const void *skips, const void *norm)
{
    char with[512] = "", fixed[512] = "";
    append_text(with, sizeof with, " ", layer_opts_assumed(c->layer));
    if (!opt_given(activation) && (c->nlayers > 1 || c->layer->activates))
        append_text(with, sizeof with, " ", "--activation relu");
    if (!opt_given(skips) && c->nlayers > 1)
        append_text(with, sizeof with, " ", "--no-residual");
    if (!opt_given(norm))
        append_text(with, sizeof with, " ", "--feature-norm none");
    if (c->layer_norm)
        append_text(fixed, sizeof fixed, "; ",
                    "LayerNorm(mode=\"node\"), not PyG's default \"graph\"");
    append_text(fixed, sizeof fixed, "; ", c->layer->assumed ? c->layer->assumed : "");
    if (c->nntypes + c->netypes > 2 && !c->layer->shared && !c->layer->keyed)
        append_text(fixed, sizeof fixed, "; ", "HeteroConv(aggr=\"sum\")");
    if (*with)
        cli_note("%s: assuming %s: a state dict does not record it", path, with);
    if (*fixed)
        cli_note("%s: assuming %s: a state dict does not record it, and no option changes it", path,
                 fixed);
}

bool state_dict_tell(const struct gnn_model *m, const char *path)
{
    refuse_alien(m, path);
    if (asked)
        state_dict_tell_assumed(&m->c, path, &act, &residual, &feature_norm);
    return asked;
}
