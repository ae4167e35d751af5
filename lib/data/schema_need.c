/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the user's in a schema, and what there is instead. */
#include <stdio.h>
#include <string.h>

#include "lib/data/schema.h"
#include "lib/base/suggest.h"

/* Whether a set is of nodes, or of links of this edge type. */
static bool is_kind(const struct gnn_split_set *t, bool links, uint32_t etype)
{
    return t->links == links && (!links || t->etype == etype);
}

static bool seen_before(const struct gnn_schema *s, uint32_t i, bool split)
{
    for (uint32_t k = 0; k < i; k++)
        if (is_kind(&s->set[k], s->set[i].links, s->set[i].etype) &&
            !strcmp(split ? s->set[k].split : s->set[k].set,
                    split ? s->set[i].split : s->set[i].set))
            return true;
    return false;
}

/* "; did you mean '0/valid'? sets: train, valid, test; splits: 0, 1, 2" */
static int no_set(const struct gnn_schema *s, bool links, uint32_t etype, const char *where,
                  const char *name, struct gnn_err *e)
{
    struct gnn_suggest sets = {.word = name}, splits = {.word = name};
    char key[2 * GNN_SUGGEST_WORD];
    bool several = false;
    for (uint32_t i = 0; i < s->nsets; i++) {
        const struct gnn_split_set *t = &s->set[i];
        if (!is_kind(t, links, etype))
            continue;
        if (!seen_before(s, i, false))
            gnn_suggest_add(&sets, t->set);
        if (!seen_before(s, i, true)) {
            several = several || splits.listed;
            gnn_suggest_add(&splits, t->split);
        }
    }
    for (uint32_t i = 0; i < s->nsets; i++) {
        snprintf(key, sizeof key, "%s/%s", s->set[i].split, s->set[i].set);
        if (is_kind(&s->set[i], links, etype))
            gnn_suggest_try(&sets, key);
    }
    *splits.best = 0;
    if (strchr(name, ','))
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: no set '%.128s': one set for each option (--eval, and gnn-predict "
                        "--split, may be repeated)",
                        where, name);
    return gnn_fail(e, GNN_E_USAGE, "%s: no set '%.128s'%s%s", where, name,
                    sets.listed ? gnn_suggest_text(&sets, "sets")
                    : links     ? ": the store has no sets of such links"
                    : s->nsets  ? ": the store has no sets of nodes"
                                : ": the store has no splits (gnn-import --split makes them)",
                    several ? gnn_suggest_text(&splits, "splits") : "");
}

int gnn_schema_need_set(const struct gnn_schema *s, const char *where, const char *name,
                        struct gnn_err *e)
{
    const int i = gnn_schema_find_set(s, name);
    for (uint32_t t = 0; i < 0 && t < s->netypes; t++)
        if (gnn_schema_find_links(s, t, name) >= 0)
            return gnn_fail(e, GNN_E_USAGE,
                            "%s: set '%.128s' is of links '%s', not of nodes: --links S/R/D has "
                            "seeds that are links",
                            where, name, s->etype[t].rel);
    return i >= 0 ? i : no_set(s, false, 0, where, name, e);
}

int gnn_schema_need_links(const struct gnn_schema *s, uint32_t etype, const char *where,
                          const char *name, struct gnn_err *e)
{
    const int i = gnn_schema_find_links(s, etype, name);
    for (uint32_t t = 0; i < 0 && t < s->netypes; t++)
        if (gnn_schema_find_links(s, t, name) >= 0)
            return gnn_fail(e, GNN_E_USAGE, "%s: set '%.128s' is of links '%s', not of '%s'", where,
                            name, s->etype[t].rel, s->etype[etype].rel);
    if (i < 0 && gnn_schema_find_set(s, name) >= 0)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: set '%.128s' is of nodes, not of links '%s': gnn-import "
                        "--split-links makes sets of links, and without --links, seeds are nodes",
                        where, name, s->etype[etype].rel);
    return i >= 0 ? i : no_set(s, true, etype, where, name, e);
}

int gnn_schema_need_ntype(const struct gnn_schema *s, const char *where, const char *name,
                          struct gnn_err *e)
{
    struct gnn_suggest types = {.word = name};
    const int i = gnn_schema_find_ntype(s, name);
    for (uint32_t t = 0; i < 0 && t < s->nntypes; t++)
        gnn_suggest_add(&types, s->ntype[t].name);
    return i >= 0 ? i
                  : gnn_fail(e, GNN_E_USAGE, "%s: no node type '%.128s'%s", where, name,
                             gnn_suggest_text(&types, "node types"));
}

int gnn_schema_need_etype(const struct gnn_schema *s, const char *where, const char *key,
                          struct gnn_err *e)
{
    struct gnn_suggest types = {.word = key};
    char k[GNN_ETYPE_KEY_CAPACITY];
    const int i = gnn_schema_find_etype(s, key);
    for (uint32_t t = 0; i < 0 && t < s->netypes; t++)
        gnn_suggest_add(&types, gnn_etype_key(s, t, k, sizeof k));
    for (uint32_t t = 0; i < 0 && t < s->netypes;
         t++) /* the relation alone is not enough, but meant */
        if (!strcmp(s->etype[t].rel, key))
            snprintf(types.best, sizeof types.best, "%s", gnn_etype_key(s, t, k, sizeof k));
    return i >= 0 ? i
                  : gnn_fail(e, GNN_E_USAGE, "%s: no edge type '%.128s'%s", where, key,
                             gnn_suggest_text(&types, "edge types"));
}

static void list_edge_fields(const struct gnn_schema *s, struct gnn_suggest *of)
{
    for (uint32_t t = 0; t < s->netypes; t++)
        for (uint32_t i = 0; i < s->etype[t].nfields; i++) {
            bool again = false;
            for (uint32_t k = 0; k < t; k++)
                again = again || gnn_field_find(s->etype[k].field, s->etype[k].nfields,
                                                s->etype[t].field[i].name);
            if (!again)
                gnn_suggest_add(of, s->etype[t].field[i].name);
        }
}

void gnn_schema_fields_text(const struct gnn_schema *s, const char *name, char *out,
                            size_t capacity)
{
    struct gnn_suggest of_nodes = {.word = name}, of_edges = {.word = name};
    for (uint32_t t = 0; t < s->nntypes; t++)
        for (uint32_t i = 0; i < s->ntype[t].nfields; i++) {
            bool again = false;
            for (uint32_t k = 0; k < t; k++)
                again = again || gnn_field_find(s->ntype[k].field, s->ntype[k].nfields,
                                                s->ntype[t].field[i].name);
            if (!again)
                gnn_suggest_add(&of_nodes, s->ntype[t].field[i].name);
        }
    list_edge_fields(s, &of_edges);
    if (*of_nodes.best)
        *of_edges.best = 0;
    snprintf(out, capacity, "%s%s",
             of_nodes.listed ? gnn_suggest_text(&of_nodes, "fields of nodes")
                             : "; nodes have no fields",
             gnn_suggest_text(&of_edges, "fields of edges"));
}

int gnn_schema_need_edge_field(const struct gnn_schema *s, const char *where, const char *name,
                               struct gnn_err *e)
{
    struct gnn_suggest of = {.word = name};
    for (uint32_t t = 0; t < s->netypes; t++)
        if (gnn_field_find(s->etype[t].field, s->etype[t].nfields, name))
            return 0;
    list_edge_fields(s, &of);
    return gnn_fail(e, GNN_E_USAGE, "%s: edges have no field '%.128s'%s", where, name,
                    of.listed ? gnn_suggest_text(&of, "fields of edges") : ", nor any other");
}

int gnn_schema_no_field(const struct gnn_schema *s, const char *where, const char *name,
                        struct gnn_err *e)
{
    char text[2 * GNN_SUGGEST_TEXT];
    gnn_schema_fields_text(s, name, text, sizeof text);
    return gnn_fail(e, GNN_E_USAGE, "%s: no field '%.128s'%s", where, name, text);
}
