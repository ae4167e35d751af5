/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/layer_opts.h"

#include <stdio.h>
#include <string.h>

/* Two layers may share an option, of the same name and kind. */
enum { SHARED_MAX = 32 };
static struct layer_value {
    char name[GNN_LAYER_OPTION_NAME];
    bool flag;
    int choice;
    uint32_t count;
    double number;
} layer_value[SHARED_MAX];
struct opt layer_opts[SHARED_MAX + 1];

/* Where the option is in the table, or its end. */
static uint32_t find_layer_value(const char *name)
{
    uint32_t i = 0;
    while (layer_opts[i].kind != OPT_END && strcmp(layer_value[i].name, name) != 0)
        i++;
    return i;
}

static struct opt make_option(struct layer_value *v, const struct gnn_layer_option *x)
{
    struct opt o = {OPT_DOUBLE, 0, x->word, &v->number, "X", x->help, .min = x->min, .max = x->max};
    snprintf(v->name, sizeof v->name, "%s", x->name);
    v->number = x->init;
    v->choice = (int)x->init;
    v->count = (uint32_t)x->init;
    v->flag = x->init != 0;
    if (x->whole) {
        o.kind = OPT_U32;
        o.value = &v->count;
        o.arg = "N";
    } else if (x->choices) {
        o.kind = OPT_CHOICE;
        o.value = &v->choice;
        o.arg = "HOW";
        o.choices = x->choices;
    } else if (x->flag) {
        o.kind = OPT_FLAG;
        o.value = &v->flag;
        o.arg = NULL;
    }
    return o;
}

void layer_opts_list(bool untold)
{
    for (size_t l = 0; gnn_layers[l]; l++)
        for (uint32_t k = 0; k < gnn_layers[l]->noptions; k++) {
            const struct gnn_layer_option *x = &gnn_layers[l]->option[k];
            const uint32_t i = find_layer_value(x->name);
            if (i < SHARED_MAX && layer_opts[i].kind == OPT_END && (!untold || x->untold))
                layer_opts[i] = make_option(&layer_value[i], x);
        }
}

const struct opt *layer_opts_alien(const struct gnn_layer *layer)
{
    for (uint32_t i = 0; layer_opts[i].kind != OPT_END; i++)
        if (opt_given(layer_opts[i].value) &&
            (!layer || gnn_layer_option_find(layer, layer_value[i].name) < 0))
            return &layer_opts[i];
    return NULL;
}

const char *layer_opts_layers(const struct opt *o)
{
    static char text[256];
    *text = 0;
    for (size_t l = 0; gnn_layers[l]; l++)
        if (gnn_layer_option_find(gnn_layers[l], layer_value[o - layer_opts].name) >= 0) {
            const size_t at = strlen(text);
            snprintf(text + at, sizeof text - at, "%s%s", at ? " or " : "", gnn_layers[l]->name);
        }
    return text;
}

void layer_opts_take(struct gnn_model_config *c)
{
    for (uint32_t k = 0; k < c->layer->noptions; k++) {
        const struct gnn_layer_option *x = &c->layer->option[k];
        const uint32_t i = find_layer_value(x->name);
        const struct layer_value *v = &layer_value[i];
        if (layer_opts[i].kind != OPT_END)
            c->option[k] = x->choices ? v->choice
                           : x->flag  ? v->flag
                           : x->whole ? v->count
                                      : v->number;
    }
}

bool layer_opts_adopt(const struct gnn_model_config *c, const struct opt **other)
{
    struct gnn_model_config now = {.layer = c->layer};
    layer_opts_take(&now);
    for (uint32_t k = 0; k < c->layer->noptions; k++) {
        const uint32_t i = find_layer_value(c->layer->option[k].name);
        struct layer_value *v = &layer_value[i];
        *other = &layer_opts[i];
        if (c->layer->option[k].training)
            continue;
        if (opt_given(layer_opts[i].value) && now.option[k] != c->option[k])
            return false;
        v->flag = c->option[k] != 0;
        v->choice = (int)c->option[k];
        v->count = c->option[k] > 0 ? (uint32_t)c->option[k] : 0;
        v->number = c->option[k];
    }
    return true;
}

const char *layer_opts_value(const struct gnn_model_config *c, const struct opt *o)
{
    static char text[64];
    const int k = gnn_layer_option_find(c->layer, layer_value[o - layer_opts].name);
    const struct gnn_layer_option *x = &c->layer->option[k];
    size_t n = 0;
    if (x->choices) {
        const char *word = gnn_layer_option_word(x, c->option[k], &n);
        snprintf(text, sizeof text, "%.*s", (int)n, word);
    } else if (x->flag) {
        snprintf(text, sizeof text, "%s", c->option[k] != 0 ? "it" : "it not");
    } else {
        snprintf(text, sizeof text, "%g", c->option[k]);
    }
    return text;
}

void layer_opts_check(const struct gnn_model_config *c)
{
    for (uint32_t k = 0; c->layer->idle && k < c->layer->noptions; k++) {
        const struct opt *o = &layer_opts[find_layer_value(c->layer->option[k].name)];
        const char *why = c->layer->idle(c, k);
        if (why && o->kind != OPT_END)
            opt_warn(o->value, why);
    }
}

const char *layer_opts_assumed(const struct gnn_layer *layer)
{
    static char text[512];
    *text = 0;
    for (uint32_t k = 0; k < layer->noptions; k++) {
        const struct gnn_layer_option *x = &layer->option[k];
        const struct opt *o = &layer_opts[find_layer_value(x->name)];
        const size_t at = strlen(text);
        char *to = text + at;
        const char *space = at ? " " : "";
        size_t n = 0;
        const char *word = x->choices ? gnn_layer_option_word(x, x->init, &n) : NULL;
        if (!x->untold || o->kind == OPT_END || opt_given(o->value))
            continue;
        if (x->choices)
            snprintf(to, sizeof text - at, "%s--%s %.*s", space, x->word, (int)n, word);
        else if (x->flag)
            snprintf(to, sizeof text - at, "%s--%s%s", space, x->init != 0 ? "" : "no-", x->word);
        else
            snprintf(to, sizeof text - at, "%s--%s %g", space, x->word, x->init);
    }
    return text;
}
