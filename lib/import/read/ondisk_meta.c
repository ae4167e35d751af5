/* SPDX-License-Identifier: Apache-2.0 */
/* The metadata.yaml of an OnDiskDataset: its keys, types and the files that it names. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/text.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/base/yaml.h"
#include "lib/data/schema.h"
#include "lib/import/read/array_map.h"
#include "lib/import/read/dgl_arrays.h"
#include "lib/import/read/dgl_refuse.h"
#include "lib/import/read/ondisk_impl.h"

/* ---- places and messages ---- */

struct ondisk_place gnn_ondisk_below(const struct ondisk_place *at, const char *key, int64_t i)
{
    struct ondisk_place p;
    char number[24] = "";
    if (i >= 0)
        snprintf(number, sizeof number, "[%lld]", (long long)i);
    snprintf(p.text, sizeof p.text, "%.100s%s%.20s%s", at ? at->text : "", at ? "." : "", key,
             number);
    return p;
}

int gnn_ondisk_fail(const struct ondisk *o, const struct ondisk_place *at, struct gnn_err *e,
                    const char *fmt, ...)
{
    char what[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return gnn_fail(e, GNN_E_INPUT, "%s: %s: %s", o->yaml, at->text, what);
}

static bool is_known(const char *key, const char *known)
{
    const size_t n = strlen(key);
    bool is = false;
    for (const char *p = known; *p && !is; p += strcspn(p, " ") + 1)
        is = strcspn(p, " ") == n && !strncmp(p, key, n);
    return is;
}

int gnn_ondisk_keys(struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                    const char *known, struct gnn_err *e)
{
    const char *key;
    json_t *item;
    char shown[128];
    int rc =
        json_is_object(v) ? GNN_OK : gnn_ondisk_fail(o, at, e, "expected a mapping, key: value");
    json_object_foreach((json_t *)v, key, item)
    {
        if (!rc && o->fields && !is_known(key, known))
            rc = gnn_array_list_leave(
                o->l,
                gnn_strf(e, "%s%s%s (a key of metadata.yaml)", at ? at->text : "", at ? "." : "",
                         gnn_text_shown(shown, sizeof shown, key, strlen(key))),
                e);
    }
    return rc;
}

/* ---- values ---- */

int gnn_ondisk_text(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                    const char *key, bool needed, const char **text, struct gnn_err *e)
{
    const json_t *item = json_object_get(v, key);
    const struct ondisk_place here = gnn_ondisk_below(at, key, -1);
    *text = json_string_value(item);
    if (*text || (!needed && (!item || json_is_null(item))))
        return GNN_OK;
    return gnn_ondisk_fail(o, &here, e, "%s",
                           item && !json_is_null(item) ? "expected a word" : "is missing");
}

int gnn_ondisk_list(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                    const char *key, const json_t **list, struct gnn_err *e)
{
    const json_t *item = json_object_get(v, key);
    const struct ondisk_place here = gnn_ondisk_below(at, key, -1);
    *list = json_is_array(item) ? item : NULL;
    return *list || !item || json_is_null(item) ? GNN_OK
                                                : gnn_ondisk_fail(o, &here, e, "expected a list");
}

/* in_memory, which says how GraphBolt reads a file. */
static int check_flag(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                      struct gnn_err *e)
{
    const char *text;
    const struct ondisk_place here = gnn_ondisk_below(at, "in_memory", -1);
    int rc = gnn_ondisk_text(o, v, at, "in_memory", false, &text, e);
    return rc || !text ||
                   is_known(text, "true True TRUE false False FALSE yes Yes YES no No NO on On ON "
                                  "off Off OFF ")
               ? rc
               : gnn_ondisk_fail(o, &here, e, "neither true nor false");
}

/* A number of nodes, in whose digits YAML allows underscores. */
static int read_count(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                      uint64_t *n, struct gnn_err *e)
{
    const char *text;
    char shown[64];
    const struct ondisk_place here = gnn_ondisk_below(at, "num", -1);
    int rc = gnn_ondisk_text(o, v, at, "num", true, &text, e);
    if (rc)
        return rc;
    if (text[0] == '0' && text[1])
        return gnn_ondisk_fail(o, &here, e, "'%s' begins with 0, as octal numbers of YAML do",
                               gnn_text_shown(shown, sizeof shown, text, strlen(text)));
    const char *p = text;
    for (*n = 0; *p && *n < UINT32_MAX; p++)
        if (*p >= '0' && *p <= '9')
            *n = 10 * *n + (uint64_t)(*p - '0');
        else if (*p != '_' || p == text)
            break;
    return !*p && *n && *n < UINT32_MAX
               ? GNN_OK
               : gnn_ondisk_fail(o, &here, e, "'%s' is no number of nodes from 1 to 4294967294",
                                 gnn_text_shown(shown, sizeof shown, text, strlen(text)));
}

/* ---- types ---- */

static int find_named(const struct ondisk_type *t, uint32_t n, const char *name, size_t len)
{
    for (uint32_t i = 0; i < n; i++)
        if (t[i].name && strlen(t[i].name) == len && !strncmp(t[i].name, name, len))
            return (int)i;
    return -1;
}

int gnn_ondisk_type(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                    bool edges, int *type, struct gnn_err *e)
{
    const char *name;
    char shown[128];
    const struct ondisk_place here = gnn_ondisk_below(at, "type", -1);
    int rc = gnn_ondisk_text(o, v, at, "type", o->typed, &name, e);
    *type = 0;
    if (rc || (!o->typed && !name))
        return rc;
    const int node = find_named(o->node, o->nnodes, name, strlen(name)),
              edge = find_named(o->edge, o->nedges, name, strlen(name));
    *type = edges ? edge : node;
    return node >= 0 || edge >= 0
               ? GNN_OK
               : gnn_ondisk_fail(o, &here, e, "'%s' is no type of the graph",
                                 gnn_text_shown(shown, sizeof shown, name, strlen(name)));
}

static int name_nodes(struct ondisk *o, struct ondisk_type *t, const struct ondisk_place *at,
                      struct gnn_err *e)
{
    const struct ondisk_place here = gnn_ondisk_below(at, "type", -1);
    if (t->name && find_named(o->node, o->nnodes, t->name, strlen(t->name)) >= 0)
        return gnn_ondisk_fail(o, &here, e, "a second node type '%s'", t->name);
    if (t->name && !gnn_dgl_arrays_is_name(t->name))
        return gnn_ondisk_fail(o, &here, e, "a name that stores cannot have");
    t->prefix = gnn_strf(e, "%s/", t->name ? t->name : "node");
    return t->prefix ? GNN_OK : GNN_E_NOMEM;
}

/* "SRC:REL:DST", of node types. */
static int name_edges(struct ondisk *o, struct ondisk_type *t, const struct ondisk_place *at,
                      struct gnn_err *e)
{
    char shown[128], rel[GNN_TYPE_NAME_MAX + 1];
    const struct ondisk_place here = gnn_ondisk_below(at, "type", -1);
    if (!t->name) {
        t->prefix = gnn_strdup("node/to/node/", e);
        return t->prefix ? GNN_OK : GNN_E_NOMEM;
    }
    const char *name = gnn_text_shown(shown, sizeof shown, t->name, strlen(t->name)),
               *first = strchr(t->name, ':'), *last = strrchr(t->name, ':');
    if (!first || first == last || (size_t)(last - first) > sizeof rel)
        return gnn_ondisk_fail(o, &here, e, "'%s' is no SRC:REL:DST", name);
    const int src = find_named(o->node, o->nnodes, t->name, (size_t)(first - t->name)),
              dst = find_named(o->node, o->nnodes, last + 1, strlen(last + 1));
    if (src < 0 || dst < 0)
        return gnn_ondisk_fail(o, &here, e, "'%s' is between types that are not in graph.nodes",
                               name);
    if (find_named(o->edge, o->nedges, t->name, strlen(t->name)) >= 0)
        return gnn_ondisk_fail(o, &here, e, "a second edge type '%s'", name);
    snprintf(rel, sizeof rel, "%.*s", (int)(last - first - 1), first + 1);
    if (!gnn_dgl_arrays_is_name(rel))
        return gnn_ondisk_fail(o, &here, e, "'%s' has a name that stores cannot have", name);
    t->end[0] = (uint32_t)src;
    t->end[1] = (uint32_t)dst;
    t->prefix = gnn_strf(e, "%s/%s/%s/", o->node[src].name, rel, o->node[dst].name);
    return t->prefix ? GNN_OK : GNN_E_NOMEM;
}

static int read_types(struct ondisk *o, const json_t *graph, bool edges, struct gnn_err *e)
{
    const struct ondisk_place at = {"graph"};
    const char *key = edges ? "edges" : "nodes";
    const struct ondisk_place all = gnn_ondisk_below(&at, key, -1);
    struct ondisk_type **type = edges ? &o->edge : &o->node;
    uint32_t *n = edges ? &o->nedges : &o->nnodes;
    const json_t *list;
    int rc = gnn_ondisk_list(o, graph, &at, key, &list, e);
    const size_t items = rc ? 0 : json_array_size(list);
    if (!rc && (!items || items > GNN_TYPES_MAX))
        rc = gnn_ondisk_fail(o, &all, e, "expected a list of 1 to %d types", GNN_TYPES_MAX);
    *type = rc ? NULL : gnn_alloc_zero(items, sizeof **type, "types", e);
    if (!rc && !*type)
        rc = GNN_E_NOMEM;
    for (size_t i = 0; !rc && i < items; i++) {
        struct ondisk_type *t = &(*type)[i];
        const json_t *v = json_array_get(list, i);
        const struct ondisk_place here = gnn_ondisk_below(&at, key, (int64_t)i);
        rc = gnn_ondisk_keys(o, v, &here, edges ? "type format path " : "type num ", e);
        if (!rc)
            rc =
                gnn_ondisk_text(o, v, &here, "type", items > 1 || (edges && o->typed), &t->name, e);
        if (!rc && edges && !o->typed && t->name)
            rc = gnn_ondisk_fail(o, &here, e, "has a type, and graph.nodes has none");
        if (!rc && !edges)
            rc = read_count(o, v, &here, &t->count, e);
        if (!rc)
            rc = edges ? name_edges(o, t, &here, e) : name_nodes(o, t, &here, e);
        *n += !rc;
    }
    if (!rc && !edges)
        o->typed = o->node[0].name != NULL;
    return rc;
}

/* ---- files ---- */

/* The path without parts that say nothing; NULL, with why: it leads out of the folder. */
static const char *clean_path(char *path)
{
    char *to = path;
    if (*path == '/')
        return "is absolute";
    for (const char *p = path; *p;) {
        const size_t n = strcspn(p, "/");
        if (n == 2 && !strncmp(p, "..", 2))
            return "leads out of the folder by ..";
        if (n && !(n == 1 && *p == '.')) {
            if (to != path)
                *to++ = '/';
            memmove(to, p, n);
            to += n;
        }
        p += n + (p[n] == '/');
    }
    *to = 0;
    return *path ? NULL : "names no file";
}

const char *gnn_ondisk_member(const struct ondisk *o, uint32_t i)
{
    const char *name = o->in->m[i].name;
    const size_t n = (size_t)(gnn_base_name(o->meta_member) - o->meta_member);
    return strncmp(name, o->meta_member, n) ? "" : name + n;
}

static void note_used(const struct ondisk *o, const char *path)
{
    for (uint32_t i = 0; o->in && i < o->in->n; i++)
        o->used[i] = o->used[i] || !strcmp(gnn_ondisk_member(o, i), path);
}

int gnn_ondisk_path(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                    char **path, struct gnn_err *e)
{
    const char *text;
    char shown[128];
    const struct ondisk_place here = gnn_ondisk_below(at, "path", -1);
    *path = NULL;
    int rc = gnn_ondisk_text(o, v, at, "path", true, &text, e);
    char *clean = rc ? NULL : gnn_strdup(text, e);
    if (!clean)
        return rc ? rc : GNN_E_NOMEM;
    const char *bad = clean_path(clean);
    if (bad)
        rc = gnn_ondisk_fail(o, &here, e,
                             "'%s' %s: only files of the data set's own folder are read",
                             gnn_text_shown(shown, sizeof shown, text, strlen(text)), bad);
    else if (!(*path = gnn_strf(e, "%s%s", o->folder, clean)))
        rc = GNN_E_NOMEM;
    else
        note_used(o, clean);
    gnn_free(clean);
    return rc;
}

int gnn_ondisk_array(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                     struct gnn_strided *a, struct gnn_err *e)
{
    const char *format;
    char *path = NULL, shown[64];
    const struct ondisk_place here = gnn_ondisk_below(at, "format", -1);
    int rc = gnn_ondisk_text(o, v, at, "format", true, &format, e);
    if (!rc)
        rc = check_flag(o, v, at, e);
    if (!rc && strcmp(format, "numpy") != 0 && strcmp(format, "torch") != 0)
        rc = gnn_ondisk_fail(o, &here, e, "'%s' is neither numpy nor torch",
                             gnn_text_shown(shown, sizeof shown, format, strlen(format)));
    if (!rc)
        rc = gnn_ondisk_path(o, v, at, &path, e);
    if (!rc)
        rc = *format == 'n' ? gnn_array_map_npy(a, o->l, path, e)
                            : gnn_array_map_torch(a, o->l, path, e);
    gnn_free(path);
    return rc;
}

bool gnn_ondisk_has(const struct ondisk *o, const char *prefix, const char *name)
{
    const size_t n = strlen(prefix);
    bool has = false;
    for (uint32_t i = 0; !has && i < o->l->n; i++) {
        const char *other = o->l->array[i].name;
        has = !strncmp(other, prefix, n) && !strcmp(other + n, name);
    }
    return has;
}

/* ---- all of it ---- */

/* What GraphBolt writes into preprocessed/ has no edges but in TorchScript. */
static int check_graph(const struct ondisk *o, struct gnn_err *e)
{
    const struct ondisk_place top = {"graph"};
    const json_t *made = json_object_get(o->meta, "graph_topology");
    const char *path = json_string_value(json_object_get(made, "path"));
    char shown[128];
    if (json_object_get(o->meta, "graph"))
        return GNN_OK;
    if (!made)
        return gnn_ondisk_fail(o, &top, e, "is missing");
    char *name =
        gnn_strf(e, "%s: %s", o->yaml,
                 path ? gnn_text_shown(shown, sizeof shown, path, strlen(path)) : "graph_topology");
    int rc = name ? gnn_dgl_refuse_graph(name, e) : GNN_E_NOMEM;
    gnn_free(name);
    return rc;
}

int gnn_ondisk_load(struct ondisk *o, const char *folder, struct gnn_err *e)
{
    const struct ondisk_place at = {"graph"};
    const size_t n = strlen(folder);
    o->folder = gnn_strf(e, "%s%s", folder, n && folder[n - 1] == '/' ? "" : "/");
    o->yaml = o->folder ? gnn_strf(e, "%smetadata.yaml", o->folder) : NULL;
    if (!o->yaml)
        return GNN_E_NOMEM;
    o->meta = gnn_yaml_load(o->yaml, e);
    if (!o->meta)
        return e->code;
    if (!json_is_object(o->meta))
        return gnn_fail(e, GNN_E_INPUT, "%s: expected a mapping, key: value", o->yaml);
    int rc = check_graph(o, e);
    const json_t *graph = json_object_get(o->meta, "graph");
    if (!rc)
        rc = gnn_ondisk_keys(o, graph, &at, "nodes edges feature_data ", e);
    if (!rc)
        rc = read_types(o, graph, false, e);
    return rc ? rc : read_types(o, graph, true, e);
}

void gnn_ondisk_release(struct ondisk *o)
{
    for (uint32_t i = 0; i < o->nnodes; i++)
        gnn_free(o->node[i].prefix);
    for (uint32_t i = 0; i < o->nedges; i++)
        gnn_free(o->edge[i].prefix);
    gnn_free(o->node);
    gnn_free(o->edge);
    json_decref(o->meta);
    gnn_free(o->folder);
    gnn_free(o->yaml);
    *o = (struct ondisk){0};
}
