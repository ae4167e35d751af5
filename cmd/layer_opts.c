/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/layer_opts.h"

#include <stdio.h>
#include <string.h>

void layer_opts_check(const struct gnn_layer_set *s, const struct gnn_model_config *c)
{
    for (uint32_t k = 0; c->layer->idle && k < c->layer->noptions; k++) {
        const struct opt *o = gnn_layers_option(s, c->layer->option[k].word);
        const char *why = c->layer->idle(c, k);
        if (why && o->kind != OPT_END)
            opt_warn(o->value, why);
    }
}

const char *layer_opts_assumed(const struct gnn_layer_set *s, const struct gnn_layer *layer)
{
    static char text[512];
    size_t at = 0;
    *text = 0;
    for (uint32_t k = 0; k < layer->noptions && at < sizeof text; k++) {
        const struct gnn_layer_option *x = &layer->option[k];
        const struct opt *o = gnn_layers_option(s, x->word);
        size_t n = 0;
        const char *word = x->choices ? gnn_layer_option_word(x, x->init, &n) : "";
        char number[32] = "";
        if (!x->untold || o->kind == OPT_END || opt_given(o->value))
            continue;
        if (!x->choices && !x->flag)
            snprintf(number, sizeof number, " %g", x->init);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s--%s%s%s%.*s%s", at ? " " : "",
                               x->flag && x->init == 0 ? "no-" : "", x->word, n ? " " : "", (int)n,
                               word, number);
    }
    return text;
}
