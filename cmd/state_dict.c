/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/state_dict.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cli.h"
#include "lib/base/mem.h"

struct gnn_settings state_dict_set;
struct opt state_dict_opts[GNN_MODEL_OPTIONS];
static const struct gnn_layer *asked; /* the layer of a state dict; NULL: it was none */

void state_dict_init(void)
{
    static const char *const unrecorded[] = {"activation", "residual", "edge-weight",
                                             "feature-norm"};
    struct opt all[GNN_MODEL_OPTIONS];
    gnn_settings_init(&state_dict_set);
    gnn_layers_init(&state_dict_set.layers, true);
    gnn_model_options(&state_dict_set, all);
    for (size_t i = 0; i < sizeof unrecorded / sizeof *unrecorded; i++)
        for (const struct opt *o = all; o->kind != OPT_END; o++)
            if (o->name && !strcmp(o->name, unrecorded[i]))
                state_dict_opts[i] = *o;
}

void state_dict_take(struct gnn_model_config *c)
{
    const struct gnn_settings *s = &state_dict_set;
    struct gnn_err e = {0};
    asked = c->layer;
    gnn_layers_take(&s->layers, c);
    c->act = s->act + (int)GNN_ACT_RELU;
    c->residual = s->c.residual;
    c->feature_norm = s->c.feature_norm;
    if (s->edge_weight && !(c->edge_weight = gnn_strdup(s->edge_weight, &e)))
        cli_fail(&e);
}

/* Options of layers that the model does not have, or says itself. */
static void refuse_alien(const struct gnn_model *m, const char *path)
{
    const struct opt *alien = state_dict_set.layers.option;
    while (alien->kind != OPT_END &&
           (!opt_given(alien->value) || (asked && gnn_layers_has(asked, alien->name))))
        alien++;
    char why[512];
    if (alien->kind != OPT_END && asked)
        cli_usage("--%s: the layers of %s are %s", alien->name, path, asked->name);
    snprintf(why, sizeof why, ": %s is a model of gnn-train and says how its layers (%s) compute",
             path, m->c.layer->name);
    if (alien->kind != OPT_END)
        cli_usage("--%s%s", alien->name, why);
    for (const struct opt *o = state_dict_opts; !asked && o->kind != OPT_END; o++)
        if (opt_given(o->value))
            cli_usage("--%s%s", o->name, why);
}

static void append_text(char *text, size_t capacity, const char *between, const char *more)
{
    const size_t at = strlen(text);
    if (*more && at < capacity)
        snprintf(text + at, capacity - at, "%s%s", at ? between : "", more);
}

/* "--aggr mean --no-normalize": those of the layer that were not given, with their defaults. */
static void append_options(char *text, size_t capacity, const struct gnn_layer_set *s,
                           const struct gnn_layer *layer)
{
    for (uint32_t k = 0; k < layer->noptions; k++) {
        const struct gnn_layer_option *x = &layer->option[k];
        const struct opt *o = gnn_layers_option(s, x->word);
        char one[96];
        int n = 0;
        const char *word = x->choices ? gnn_choice_word(x->choices, (uint32_t)x->init, &n) : "";
        if (!x->unrecorded || o->kind == OPT_END || opt_given(o->value))
            continue;
        if (x->choices || x->flag)
            snprintf(one, sizeof one, "--%s%s%s%.*s", x->flag && x->init == 0 ? "no-" : "", x->word,
                     n ? " " : "", n, word);
        else
            snprintf(one, sizeof one, "--%s %g", x->word, x->init);
        append_text(text, capacity, " ", one);
    }
}

void state_dict_tell_assumed(const struct gnn_model_config *c, const char *path,
                             const struct gnn_settings *s)
{
    char with[512] = "", fixed[512] = "";
    append_options(with, sizeof with, &s->layers, c->layer);
    if (!opt_given(&s->act) && (c->nlayers > 1 || c->layer->activates))
        append_text(with, sizeof with, " ", "--activation relu");
    if (!opt_given(&s->c.residual) && c->nlayers > 1)
        append_text(with, sizeof with, " ", "--no-residual");
    if (!opt_given(&s->c.feature_norm))
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
        state_dict_tell_assumed(&m->c, path, &state_dict_set);
    return asked;
}
