/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of DGL (lib/partition/dgl_layout.h): its JSON, original ids, and part after part. */
#include "lib/partition/dgl_layout.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/partition/dgl_folder.h"

/* ---- where things are ---- */

static int find_edges(struct gnn_dgl_folder *f, uint32_t part, uint32_t et, uint64_t *n,
                      struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(f->schema, et, key, sizeof key);
    const struct gnn_tensor *ptr = gnn_store_findf(f->store, part, "edge/%s/indptr", key),
                            *ind = gnn_store_findf(f->store, part, "edge/%s/indices", key);
    if (!ptr || !ind)
        return gnn_fail(e, GNN_E_INPUT, "%s: edges '%s' are missing",
                        gnn_store_part_path(f->store, part), key);
    f->in[(uint64_t)part * f->schema->netypes + et] = (struct gnn_dgl_in){ptr->data, ind->data};
    *n = ind->shape[0];
    return GNN_OK;
}

static int folder_init(struct gnn_dgl_folder *f, struct gnn_err *e)
{
    const struct gnn_schema *c = f->schema;
    const uint64_t k = f->store->nparts;
    uint64_t *n = f->node_from = gnn_alloc_zero(k * c->nntypes + 1, sizeof *n, "parts", e),
             *m = f->edge_from = gnn_alloc_zero(k * c->netypes + 1, sizeof *m, "parts", e);
    f->in = gnn_alloc_zero(k * c->netypes, sizeof *f->in, "parts", e);
    f->copy = gnn_alloc_zero(c->nntypes, sizeof *f->copy, "node types", e);
    f->buffer = gnn_alloc(GNN_DGL_BUFFER, 1, "a write buffer", e);
    for (uint32_t t = 0; f->copy && t < c->nntypes; t++) {
        f->copy[t] = gnn_alloc(c->ntype[t].count, sizeof **f->copy, "copies of nodes", e);
        if (f->copy[t])
            memset(f->copy[t], 0xff, c->ntype[t].count * sizeof **f->copy);
    }
    for (uint32_t p = 0; !e->code && p < k; p++) {
        for (uint32_t t = 0; t < c->nntypes; t++, n++)
            n[1] = n[0] + gnn_store_owned(f->store, p, t);
        for (uint32_t t = 0; !e->code && t < c->netypes; t++, m++) {
            uint64_t edges = 0;
            (void)!find_edges(f, p, t, &edges, e);
            m[1] = m[0] + edges;
        }
    }
    return e->code;
}

static void folder_release(struct gnn_dgl_folder *f)
{
    for (uint32_t t = 0; f->copy && t < f->schema->nntypes; t++)
        gnn_free(f->copy[t]);
    gnn_free(f->copy);
    gnn_free(f->in);
    gnn_free(f->node_from);
    gnn_free(f->edge_from);
    gnn_free(f->buffer);
    gnn_temp_free(f->temp);
}

/* ---- the JSON ---- */

/* The name of a type of nodes or edges; to be freed with gnn_free. */
static char *name_type(const struct gnn_dgl_folder *f, bool edges, uint32_t t, struct gnn_err *e)
{
    return edges ? gnn_dgl_etype(f->schema, t, e) : gnn_strdup(gnn_dgl_ntype(f->schema, t), e);
}

/* The ranges of a type: [[from, to], ...] by part. */
static json_t *make_ranges(const struct gnn_dgl_folder *f, bool edges, uint32_t t)
{
    const uint32_t types = edges ? f->schema->netypes : f->schema->nntypes;
    const uint64_t *from = (edges ? f->edge_from : f->node_from) + t;
    json_t *list = json_array();
    for (uint32_t p = 0; p < f->store->nparts; p++, from += types)
        json_array_append_new(list, json_pack("[II]", (json_int_t)from[0], (json_int_t)from[1]));
    return list;
}

/* Of each type, its ranges or its number. */
static json_t *make_types(const struct gnn_dgl_folder *f, bool edges, bool ranges,
                          struct gnn_err *e)
{
    json_t *j = json_object();
    for (uint32_t t = 0; t < (edges ? f->schema->netypes : f->schema->nntypes); t++) {
        char *name = name_type(f, edges, t, e);
        if (name)
            json_object_set_new(j, name, ranges ? make_ranges(f, edges, t) : json_integer(t));
        gnn_free(name);
    }
    return j;
}

static json_t *make_part(uint32_t part, struct gnn_err *e)
{
    static const char *const key[][2] = {{"node_feats", "node_feat.dgl"},
                                         {"edge_feats", "edge_feat.dgl"},
                                         {"part_graph", "graph.dgl"}};
    json_t *j = json_object();
    for (int i = 0; i < 3; i++) {
        char *path = gnn_strf(e, "part%u/%s", part, key[i][1]);
        if (path)
            json_object_set_new(j, key[i][0], json_string(path));
        gnn_free(path);
    }
    return j;
}

static json_t *make_json(const struct gnn_dgl_folder *f, const char *graph, const char *method,
                         struct gnn_err *e)
{
    const uint32_t k = f->store->nparts;
    json_t *j = json_object();
    json_object_set_new(j, "graph_name", json_string(graph));
    json_object_set_new(j, "num_nodes", json_integer((json_int_t)gnn_dgl_node_from(f, k, 0)));
    json_object_set_new(j, "num_edges", json_integer((json_int_t)gnn_dgl_edge_from(f, k, 0)));
    json_object_set_new(j, "part_method", json_string(method));
    json_object_set_new(j, "num_parts", json_integer(k));
    json_object_set_new(j, "halo_hops", json_integer(1));
    json_object_set_new(j, "node_map", make_types(f, false, true, e));
    json_object_set_new(j, "edge_map", make_types(f, true, true, e));
    json_object_set_new(j, "ntypes", make_types(f, false, false, e));
    json_object_set_new(j, "etypes", make_types(f, true, false, e));
    for (uint32_t p = 0; p < k; p++) {
        char *key = gnn_strf(e, "part-%u", p);
        if (key)
            json_object_set_new(j, key, make_part(p, e));
        gnn_free(key);
    }
    return j;
}

static int write_json(const struct gnn_dgl_folder *f, const char *graph, const char *method,
                      struct gnn_err *e)
{
    struct gnn_dgl_stream s;
    gnn_json_watch();
    json_t *j = make_json(f, graph, method, e);
    char *text =
        gnn_json_starved() ? NULL : gnn_json_text(j, JSON_INDENT(4) | JSON_ENSURE_ASCII, e);
    char *name = gnn_strf(e, "%s.json", graph);
    json_decref(j);
    int rc = text ? (int)e->code : gnn_fail_nomem(e, 0, "JSON");
    if (!rc)
        rc = gnn_dgl_stream_open(&s, f, name, e);
    if (!rc)
        rc = gnn_dgl_stream_close(&s, s.to.put(&s, text, strlen(text)));
    gnn_free(text);
    gnn_free(name);
    return rc;
}

/* ---- original ids ---- */

/* The original ids of a type, by new ids. */
struct origin {
    const struct gnn_dgl_folder *f;
    bool edges;
    uint32_t type;
};

static int put_origin(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to)
{
    const struct origin *o = c->from;
    struct gnn_store *s = o->f->store;
    char key[GNN_ETYPE_KEY_CAPACITY];
    int64_t before = 0;
    int rc = 0;
    if (o->edges)
        gnn_etype_key(o->f->schema, o->type, key, sizeof key);
    for (uint32_t p = 0; !rc && p < s->nparts; p++) {
        const struct gnn_tensor *id =
            o->edges ? gnn_store_findf(s, p, "edge/%s/id", key)
                     : gnn_store_findf(s, p, "node/%s/id", o->f->schema->ntype[o->type].name);
        const uint64_t *from = o->edges ? &o->f->edge_from[(uint64_t)p * o->f->schema->netypes]
                                        : &o->f->node_from[(uint64_t)p * o->f->schema->nntypes];
        const uint64_t n = from[o->type + 1] - from[o->type];
        for (uint64_t i = 0; !rc && i < n; i++)
            rc = gnn_dgl_put_i64(to, !id        ? before + (int64_t)i
                                     : o->edges ? (int64_t)((const uint64_t *)id->data)[i]
                                                : (int64_t)((const uint32_t *)id->data)[i]);
        before += (int64_t)n;
    }
    return rc;
}

static int write_origin(const struct gnn_dgl_folder *f, bool edges, struct gnn_err *e)
{
    const uint32_t n = edges ? f->schema->netypes : f->schema->nntypes;
    struct gnn_dgl_column *c = gnn_alloc_zero(n, sizeof *c, "original ids", e);
    struct origin *o = gnn_alloc_zero(n, sizeof *o, "original ids", e);
    for (uint32_t t = 0; c && o && t < n; t++) {
        o[t] = (struct origin){f, edges, t};
        c[t] = (struct gnn_dgl_column){
            .name = name_type(f, edges, t, e),
            .dtype = GNN_I64,
            .ndim = 1,
            .shape = {edges ? f->schema->etype[t].count : f->schema->ntype[t].count},
            .write = put_origin,
            .from = &o[t]};
    }
    int rc = e->code
                 ? e->code
                 : gnn_dgl_stream_tensors(f, edges ? "orig_eids.dgl" : "orig_nids.dgl", c, n, e);
    for (uint32_t t = 0; c && t < n; t++)
        gnn_free((void *)(uintptr_t)c[t].name);
    gnn_free(c);
    gnn_free(o);
    return rc;
}

/* ---- all of it ---- */

static int make_folder(const struct gnn_dgl_folder *f, uint32_t part, char **path,
                       struct gnn_err *e)
{
    *path = gnn_strf(e, "%s/part%u", f->temp->name, part);
    if (!*path)
        return GNN_E_NOMEM;
    gnn_temp_enter();
    const int rc = mkdir(*path, 0777);
    gnn_temp_leave();
    return rc ? gnn_fail_errno(e, "%s: cannot create", *path) : GNN_OK;
}

static int write_part(const struct gnn_dgl_folder *f, uint32_t part, struct gnn_err *e)
{
    char *path;
    int rc = make_folder(f, part, &path, e);
    if (!rc)
        rc = gnn_dgl_write_part_graph(f, part, e);
    for (int edges = 0; !rc && edges < 2; edges++)
        rc = gnn_dgl_write_part_columns(f, part, edges, e);
    if (!rc)
        rc = gnn_io_sync_dir(path, e);
    gnn_store_forget_all(f->store);
    gnn_free(path);
    return rc;
}

static int write_folder(const struct gnn_dgl_layout *l, struct gnn_dgl_folder *f, const char *graph,
                        struct gnn_err *e)
{
    int rc = folder_init(f, e);
    for (uint32_t p = 0; !rc && p < f->store->nparts; p++) {
        rc = write_part(f, p, e);
        if (!rc && l->done && l->done(l->arg, p))
            rc =
                gnn_fail(e, GNN_E_STOPPED, "stopped after partition %u of %u", p, f->store->nparts);
    }
    for (int edges = 0; !rc && edges < 2; edges++)
        rc = write_origin(f, edges, e);
    if (!rc)
        rc = write_json(f, graph, l->method, e);
    if (!rc)
        rc = gnn_store_verified(f->store, e);
    return rc ? rc : gnn_io_sync_dir(f->temp->name, e);
}

int gnn_dgl_layout_write(const struct gnn_dgl_layout *l, struct gnn_err *e)
{
    struct gnn_dgl_folder f = {.store = l->store, .schema = &l->store->meta.schema};
    char *target = gnn_dgl_target(l->out, l->force, e), *now;
    f.temp = target ? gnn_temp_dir(target, e) : NULL;
    int rc = f.temp ? write_folder(l, &f, gnn_base_name(target), e) : e->code;
    gnn_free(target);
    if (!rc) { /* something else may be there by now */
        now = gnn_dgl_target(l->out, l->force, e);
        rc = now ? gnn_temp_commit(f.temp, l->force, e) : e->code;
        gnn_free(now);
    }
    folder_release(&f);
    return rc;
}
