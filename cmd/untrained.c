/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/untrained.h"

#include <stdio.h>

#include "cmd/cli.h"

enum { NAMED = 3 }; /* edge types of a layer that are named */

/* Appends the edge types of layer l. */
static size_t list_types(const struct gnn_model_config *c, const bool *list, uint32_t l, char *text,
                         size_t capacity)
{
    const bool *of = list + (size_t)l * c->netypes;
    uint32_t n = 0;
    size_t at = 0;
    for (uint32_t r = 0; r < c->netypes && at < capacity; r++) {
        const struct gnn_model_etype *t = &c->etype[r];
        if (of[r] && n++ < NAMED)
            at += (size_t)snprintf(text + at, capacity - at, "%s%s/%s/%s", n > 1 ? ", " : "",
                                   c->ntype[t->src].name, t->rel, c->ntype[t->dst].name);
    }
    if (n > NAMED && at < capacity)
        at += (size_t)snprintf(text + at, capacity - at, " and %u more", n - NAMED);
    return at;
}

const char *untrained_text(const struct gnn_model_config *c, const bool *list)
{
    static char text[640];
    size_t at = 0;
    *text = 0;
    for (uint32_t l = 0; list && l < c->nlayers && at < sizeof text; l++) {
        bool any = false;
        for (uint32_t r = 0; r < c->netypes; r++)
            any = any || list[(size_t)l * c->netypes + r];
        if (any)
            at += (size_t)snprintf(text + at, sizeof text - at, "%slayer %u: ", at ? "; " : "", l);
        if (any && at < sizeof text)
            at += list_types(c, list, l, text + at, sizeof text - at);
    }
    return text;
}

void untrained_tell_unknown(const struct gnn_model *m, const char *path)
{
    if (!m->recipe)
        cli_note("%s: written by a version that did not record what training saw: all convolutions "
                 "count as trained",
                 path);
}
