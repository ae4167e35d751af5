/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/layer_options.h"

#include <stdio.h>
#include <string.h>

const struct opt *gnn_layers_option(const struct gnn_layer_set *s, const char *name)
{
    const struct opt *o = s->option;
    while (o->kind != OPT_END && strcmp(o->name, name) != 0)
        o++;
    return o;
}

void gnn_layers_init(struct gnn_layer_set *s, bool unrecorded)
{
    memset(s, 0, sizeof *s);
    for (size_t l = 0; gnn_layers[l]; l++)
        for (uint32_t k = 0; k < gnn_layers[l]->noptions; k++) {
            const struct gnn_layer_option *x = &gnn_layers[l]->option[k];
            const size_t i = (size_t)(gnn_layers_option(s, x->word) - s->option);
            if (i == GNN_LAYER_SET || s->option[i].kind != OPT_END ||
                (unrecorded && !x->unrecorded))
                continue;
            s->option[i] = (struct opt){.kind = x->choices ? OPT_CHOICE
                                                : x->flag  ? OPT_FLAG
                                                : x->whole ? OPT_U32
                                                           : OPT_DOUBLE,
                                        .name = x->word,
                                        .value = &s->value[i],
                                        .arg = x->choices ? "HOW"
                                               : x->flag  ? NULL
                                               : x->whole ? "N"
                                                          : "X",
                                        .help = x->help,
                                        .choices = x->choices,
                                        .min = x->min,
                                        .max = x->max};
            gnn_option_put(&s->option[i], x->init);
        }
}

void gnn_layers_take(const struct gnn_layer_set *s, struct gnn_model_config *c)
{
    for (uint32_t k = 0; k < c->layer->noptions; k++) {
        const struct opt *o = gnn_layers_option(s, c->layer->option[k].word);
        if (o->kind != OPT_END)
            c->option[k] = gnn_option_number(o);
    }
}

void gnn_layers_put(struct gnn_layer_set *s, const struct gnn_model_config *c)
{
    for (uint32_t k = 0; k < c->layer->noptions; k++)
        if (!c->layer->option[k].training)
            gnn_option_put(gnn_layers_option(s, c->layer->option[k].word), c->option[k]);
}

bool gnn_layers_has(const struct gnn_layer *layer, const char *option)
{
    bool uses = !strcmp(option, "edge-weight")     ? layer->weights
                : !strcmp(option, "edge-features") ? layer->features
                                                   : false;
    for (uint32_t k = 0; k < layer->noptions; k++)
        uses = uses || !strcmp(layer->option[k].word, option);
    return uses;
}

const char *gnn_layers_users(const char *option)
{
    static _Thread_local char text[256];
    size_t n = 0;
    *text = '\0';
    for (size_t l = 0; gnn_layers[l] && n < sizeof text; l++)
        if (gnn_layers_has(gnn_layers[l], option))
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " or " : "",
                                  gnn_layers[l]->name);
    return text;
}
