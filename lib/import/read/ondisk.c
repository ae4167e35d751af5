/* SPDX-License-Identifier: Apache-2.0 */
/* OnDiskDatasets of GraphBolt (lib/import/read/ondisk.h): the graph and its features. */
#include "lib/import/read/ondisk.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/text.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/base/yaml.h"
#include "lib/import/read/array_map.h"
#include "lib/import/read/dgl_arrays.h"
#include "lib/import/read/dgl_refuse.h"
#include "lib/import/read/ondisk_impl.h"

#define FEATURE_KEYS "domain type name format path in_memory "

/* ---- which files ---- */

/* Whether keys at the top make it one of these, and no other metadata. */
static bool is_dataset(const json_t *meta)
{
    const json_t *graph = json_object_get(meta, "graph");
    return json_object_get(meta, "graph_topology") ||
           (graph && ((json_object_get(graph, "nodes") && json_object_get(graph, "edges")) ||
                      json_object_get(meta, "dataset_name") ||
                      json_object_get(meta, "feature_data") || json_object_get(meta, "tasks")));
}

/* Whether member i lies beside files that such metadata may name, or above them. */
static bool has_data(const struct gnn_input *in, uint32_t i)
{
    const char *meta = in->m[i].name;
    const size_t folder = (size_t)(gnn_base_name(meta) - meta);
    bool has = false;
    for (uint32_t k = 0; !has && k < in->n; k++) {
        const char *name = in->m[k].name;
        const size_t n = gnn_unpacked_length(name);
        has = !strncmp(name, meta, folder) && ((n > 4 && !strncmp(name + n - 4, ".npy", 4)) ||
                                               (n > 4 && !strncmp(name + n - 4, ".csv", 4)) ||
                                               (n > 3 && !strncmp(name + n - 3, ".pt", 3)));
    }
    return has;
}

static int check_member(const struct gnn_input *in, uint32_t i, bool *is, struct gnn_err *e)
{
    struct gnn_err why = {0};
    struct gnn_reader *r = NULL;
    uint64_t n = 0;
    json_t *meta = NULL;
    const char *path = in->m[i].path;
    char *text = gnn_alloc(GNN_YAML_BYTES_MAX + 1, 1, "metadata.yaml", &why);
    int rc = text ? gnn_reader_open(&r, (struct gnn_input *)in, i, &why) : GNN_E_NOMEM;
    if (!rc)
        rc = gnn_reader_read(r, text, GNN_YAML_BYTES_MAX + 1, &n, &why);
    if (!rc)
        meta = gnn_yaml_parse(text, n, path ? path : gnn_reader_name(r), &why);
    *is = is_dataset(meta);
    json_decref(meta);
    gnn_reader_free(r);
    gnn_free(text);
    return !why.code || (why.code == GNN_E_INPUT && !has_data(in, i)) ? GNN_OK
                                                                      : gnn_fail_as(e, &why);
}

/* The one that users write is read, if there are both. */
int gnn_ondisk_find(const struct gnn_input *in, int *member, struct gnn_err *e)
{
    int rc = GNN_OK;
    *member = -1;
    for (uint32_t i = 0; !rc && i < in->n; i++) {
        const char *name = in->m[i].name;
        const bool made = gnn_ends_with(name, "preprocessed/metadata.yaml");
        bool is = false;
        if (!strcmp(gnn_base_name(name), "metadata.yaml") && (*member < 0 || !made))
            rc = check_member(in, i, &is, e);
        if (is)
            *member = (int)i;
        if (is && !made)
            break;
    }
    return rc;
}

/* ---- edges ---- */

/* As GraphBolt reads it: two columns without a header. */
static int add_table(const struct ondisk *o, const struct ondisk_type *t, const char *path,
                     struct gnn_err *e)
{
    const uint8_t *bytes;
    uint64_t n;
    int rc = gnn_array_list_map(o->l, path, &bytes, &n, e);
    return rc ? rc : gnn_array_list_file(o->l, t->prefix, "edges", bytes, n, e);
}

static int add_array(const struct ondisk *o, const struct ondisk_type *t, const char *path,
                     struct gnn_err *e)
{
    struct gnn_strided a;
    int rc = gnn_array_map_npy(&a, o->l, path, e);
    if (!rc && (a.ndim != 2 || a.shape[0] != 2))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: edges must have shape (2, E), which GraphBolt reads",
                      path);
    return rc ? rc : gnn_array_list_add(o->l, t->prefix, "edge_index", &a, e);
}

/* Where the edges themselves are gone, they may still be in what GraphBolt made of them. */
static int check_there(const struct ondisk *o, const char *path, struct gnn_err *e)
{
    char *made = gnn_strf(e, "%spreprocessed/fused_csc_sampling_graph.pt", o->folder);
    int rc = made ? GNN_OK : GNN_E_NOMEM;
    if (!rc && access(path, F_OK) && !access(made, F_OK))
        rc = gnn_dgl_refuse_graph(made, e);
    gnn_free(made);
    return rc;
}

static int add_edges(const struct ondisk *o, uint32_t i, struct gnn_err *e)
{
    const struct ondisk_place graph = {"graph"}, at = gnn_ondisk_below(&graph, "edges", (int64_t)i),
                              here = gnn_ondisk_below(&at, "format", -1);
    const json_t *v =
        json_array_get(json_object_get(json_object_get(o->meta, "graph"), "edges"), i);
    const char *format;
    char *path = NULL, shown[64];
    int rc = gnn_ondisk_text(o, v, &at, "format", true, &format, e);
    const bool csv = !rc && !strcmp(format, "csv");
    if (!rc && !csv && strcmp(format, "numpy") != 0)
        rc = gnn_ondisk_fail(o, &here, e, "'%s' is neither csv nor numpy",
                             gnn_text_shown(shown, sizeof shown, format, strlen(format)));
    if (!rc)
        rc = gnn_ondisk_path(o, v, &at, &path, e);
    if (!rc)
        rc = check_there(o, path, e);
    if (!rc)
        rc = csv ? add_table(o, &o->edge[i], path, e) : add_array(o, &o->edge[i], path, e);
    gnn_free(path);
    return rc;
}

/* ---- features ---- */

/* Names it in place of its file. */
static int leave_feature(const struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                         const char *prefix, const char *why, struct gnn_err *e)
{
    char shown[128], *path = NULL;
    const char *name = json_string_value(json_object_get(v, "name"));
    int rc = gnn_ondisk_path(o, v, at, &path, e);
    gnn_free(path);
    return rc ? rc
              : gnn_array_list_leave(
                    o->l,
                    gnn_strf(e, "%s%s (%s)", prefix,
                             gnn_text_shown(shown, sizeof shown, name, strlen(name)), why),
                    e);
}

static int add_feature(struct ondisk *o, const json_t *v, const struct ondisk_place *at,
                       struct gnn_err *e)
{
    const char *domain, *name;
    const struct ondisk_place of_domain = gnn_ondisk_below(at, "domain", -1),
                              of_type = gnn_ondisk_below(at, "type", -1),
                              of_name = gnn_ondisk_below(at, "name", -1);
    struct gnn_strided a;
    int type = -1, rc = gnn_ondisk_keys(o, v, at, FEATURE_KEYS, e);
    if (!rc)
        rc = gnn_ondisk_text(o, v, at, "domain", true, &domain, e);
    if (!rc)
        rc = gnn_ondisk_text(o, v, at, "name", true, &name, e);
    if (rc)
        return rc;
    const bool edges = !strcmp(domain, "edge");
    if (!strcmp(domain, "graph"))
        return leave_feature(o, v, at, "", "a feature of the whole graph", e);
    if (!edges && strcmp(domain, "node") != 0)
        return gnn_ondisk_fail(o, &of_domain, e, "neither node, edge nor graph");
    rc = gnn_ondisk_type(o, v, at, edges, &type, e);
    if (!rc && type < 0)
        rc = gnn_ondisk_fail(o, &of_type, e, "is no type of %ss, of which domain says it is",
                             domain);
    if (rc)
        return rc;
    const struct ondisk_type *t = edges ? &o->edge[type] : &o->node[type];
    if (!gnn_dgl_arrays_field(name) || strchr(name, '.'))
        return leave_feature(o, v, at, t->prefix, "a feature of a name that fields cannot have", e);
    rc = gnn_ondisk_array(o, v, at, &a, e);
    if (!rc && gnn_ondisk_has(o, t->prefix, name))
        rc = gnn_ondisk_fail(o, &of_name, e, "a second feature '%s' of this type", name);
    return rc ? rc : gnn_array_list_add(o->l, t->prefix, name, &a, e);
}

static int add_features(struct ondisk *o, const json_t *in, const struct ondisk_place *at,
                        struct gnn_err *e)
{
    const json_t *list;
    int rc = gnn_ondisk_list(o, in, at, "feature_data", &list, e);
    for (size_t i = 0; !rc && i < json_array_size(list); i++) {
        const struct ondisk_place here = gnn_ondisk_below(at, "feature_data", (int64_t)i);
        rc = add_feature(o, json_array_get(list, i), &here, e);
    }
    return rc;
}

/* ---- all of it ---- */

/* What GraphBolt made of the files that are read. */
static int note_made(struct ondisk *o, struct gnn_err *e)
{
    bool made = false;
    for (uint32_t i = 0; i < o->in->n; i++)
        if (!strncmp(gnn_ondisk_member(o, i), "preprocessed/", 13))
            made = o->used[i] = true;
    return made ? gnn_array_list_note(
                      o->l,
                      gnn_strf(e, "%spreprocessed: not read: GraphBolt made it of the other files",
                               o->folder),
                      e)
                : GNN_OK;
}

static int add_all(struct ondisk *o, struct gnn_err *e)
{
    const struct ondisk_place graph = {"graph"};
    int rc = gnn_ondisk_keys(o, o->meta, NULL, "dataset_name graph feature_data tasks ", e);
    for (uint32_t i = 0; !rc && i < o->nnodes; i++)
        rc = gnn_array_list_number(o->l, o->node[i].prefix, "num_nodes", (int64_t)o->node[i].count,
                                   e);
    for (uint32_t i = 0; !rc && i < o->nedges; i++)
        rc = add_edges(o, i, e);
    if (!rc)
        rc = add_features(o, json_object_get(o->meta, "graph"), &graph, e);
    if (!rc)
        rc = add_features(o, o->meta, NULL, e);
    if (!rc)
        rc = gnn_ondisk_add_sets(o, e);
    return rc ? rc : note_made(o, e);
}

int gnn_ondisk_add(struct gnn_array_list *l, const struct gnn_input *in, uint32_t meta, bool *used,
                   struct gnn_err *e)
{
    const char *name = in->m[meta].name, *path = in->m[meta].path;
    struct ondisk o = {.l = l, .in = in, .used = used, .fields = true, .meta_member = name};
    char *folder = gnn_strf(e, "%.*s", (int)(gnn_base_name(path) - path), path);
    int rc = folder ? gnn_ondisk_load(&o, folder, e) : GNN_E_NOMEM;
    l->typed = true;
    used[meta] = true;
    if (!rc)
        rc = add_all(&o, e);
    gnn_ondisk_release(&o);
    gnn_free(folder);
    return rc;
}
