/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/type_map.h"

#include <string.h>

#include "cmd/cli.h"
#include "lib/base/mem.h"

static void set_name(char **name, const char *to, size_t n)
{
    struct gnn_err e = {0};
    char *copy = gnn_strf(&e, "%.*s", (int)n, to);
    if (!copy)
        cli_fail(&e);
    gnn_free(*name);
    *name = copy;
}

/* Node type t of the store is one of the model's; a second time, the same. */
static void name_node(const struct gnn_schema *s, struct gnn_schema *to, uint32_t t,
                      const char *name, size_t n, const char *entry)
{
    char *const now = to->ntype[t].name;
    if (strcmp(now, s->ntype[t].name) != 0 && (strlen(now) != n || strncmp(now, name, n) != 0))
        cli_usage("--map %s: node type %s is already %s of the model", entry, s->ntype[t].name,
                  now);
    set_name(&to->ntype[t].name, name, n);
}

static void name_edge(const struct gnn_schema *s, const char *path, struct gnn_schema *to,
                      const char *entry)
{
    struct gnn_err e = {0};
    const char *name = strchr(entry, '='), *rel = name ? strchr(name, '/') : NULL,
               *dst = rel ? strchr(rel + 1, '/') : NULL;
    if (!dst || strchr(dst + 1, '/') || !dst[1] || rel == name + 1 || dst == rel + 1)
        cli_usage("--map %s: expected S/R/D=S/R/D, an edge type of the store and its name in the "
                  "model",
                  entry);
    char *key = gnn_strf(&e, "%.*s", (int)(name - entry), entry);
    const int r = key ? gnn_schema_need_etype(s, path, key, &e) : -1;
    if (r < 0)
        cli_fail(&e);
    gnn_free(key);
    name_node(s, to, s->etype[r].src, name + 1, (size_t)(rel - name - 1), entry);
    set_name(&to->etype[r].rel, rel + 1, (size_t)(dst - rel - 1));
    name_node(s, to, s->etype[r].dst, dst + 1, strlen(dst + 1), entry);
}

void type_map_schema(const struct opt_list *map, const struct gnn_schema *s, const char *path,
                     struct gnn_schema *to)
{
    struct gnn_err e = {0};
    if (gnn_schema_copy(to, s, &e))
        cli_fail(&e);
    for (uint32_t i = 0; i < map->n; i++)
        name_edge(s, path, to, map->v[i]);
}

void type_map_rename(struct gnn_model_config *c, const struct gnn_schema *s)
{
    for (uint32_t t = 0; t < c->nntypes; t++)
        set_name(&c->ntype[t].name, s->ntype[t].name, strlen(s->ntype[t].name));
    for (uint32_t r = 0; r < c->netypes; r++)
        set_name(&c->etype[r].rel, s->etype[r].rel, strlen(s->etype[r].rel));
}
