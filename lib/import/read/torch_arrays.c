/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of files of torch.save (lib/import/read/torch_arrays.h): which attributes of which object
 * they are. Nothing of a pickle is run. */
#include "lib/import/read/torch_arrays.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/data/schema.h"
#include "lib/import/read/keyed_arrays.h"

enum { NAME_BYTES = 63, PREFIX_BYTES = GNN_ETYPE_KEY_CAPACITY };

typedef const struct gnn_pickle_value *value;

/* A list to fill, and where its arrays come from. */
struct filling {
    struct gnn_array_list *l;
    const struct gnn_torch_file *file;
    const char *name; /* of the file */
};

/* ---- what the file holds ---- */

#define DATA "torch_geometric.data.data.Data"
#define HETERO_DATA "torch_geometric.data.hetero_data.HeteroData"
#define TEMPORAL_DATA "torch_geometric.data.temporal.TemporalData"

static bool is_named(value v, const char *name)
{
    return !strcmp(gnn_pickle_name(v), name);
}

static int refuse_object(const struct filling *g, value v, struct gnn_err *e)
{
    char shown[128];
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: holds %s, not a graph: expected a Data, HeteroData or TemporalData of "
                    "PyG, a data set of one, or a dict with edge_index",
                    g->name,
                    gnn_torch_is_array(v)
                        ? "a tensor"
                        : gnn_pickle_describe(&g->file->pickle, v, shown, sizeof shown));
}

/* Graphs of a data set by its slices, which are None for one; 0: they are no slices. */
static uint64_t count_graphs(const struct gnn_torch_file *f, value slices)
{
    const struct gnn_pickle *p = &f->pickle;
    uint64_t graphs = 1;
    char why[256];
    if (!gnn_pickle_is_none(slices) && gnn_pickle_kind(slices) != GNN_PICKLE_DICT)
        return 0;
    for (uint64_t i = 0; i < gnn_pickle_count(p, slices); i++) {
        struct gnn_strided a;
        value v = gnn_pickle_item(p, slices, i);
        uint64_t n = gnn_pickle_count(p, v);
        if (gnn_pickle_kind(v) == GNN_PICKLE_DICT) /* of a type: its attributes have theirs */
            continue;
        if (gnn_torch_is_array(v))
            n = gnn_torch_array(f, v, &a, why, sizeof why) ? 0 : gnn_strided_rows(&a);
        graphs = n > graphs + 1 ? n - 1 : graphs;
    }
    return graphs;
}

/* Finds the only graph, and the class that a data set says it is of, or NULL. */
static int find_graph(const struct filling *g, value *graph, value *class, struct gnn_err *e)
{
    const struct gnn_pickle *p = &g->file->pickle;
    value root = p->root;
    const uint64_t items = gnn_pickle_count(p, root);
    *graph = root;
    *class = NULL;
    if (gnn_pickle_kind(root) != GNN_PICKLE_TUPLE || items < 2 || items > 4)
        return GNN_OK;
    value type = gnn_pickle_item(p, root, items - 1), slices = gnn_pickle_item(p, root, 1);
    uint64_t graphs = count_graphs(g->file, slices);
    for (uint64_t i = 0; graphs && i < gnn_pickle_count(p, slices) && i < GNN_TYPES_MAX; i++) {
        value of_type = gnn_pickle_item(p, slices, i);
        const uint64_t n =
            gnn_pickle_kind(of_type) == GNN_PICKLE_DICT ? count_graphs(g->file, of_type) : 1;
        graphs = n > graphs ? n : graphs;
    }
    if (gnn_pickle_kind(type) == GNN_PICKLE_GLOBAL)
        *class = type;
    if (!graphs)
        return GNN_OK;
    *graph = gnn_pickle_item(p, root, 0);
    return graphs == 1
               ? GNN_OK
               : gnn_fail(e, GNN_E_INPUT,
                          "%s: a data set of %llu graphs of PyG, of which a store holds one; save "
                          "the one that is meant: torch.save(dataset[0], FILE)",
                          g->name, (unsigned long long)graphs);
}

/* The attributes of a storage of PyG 2, or of a dict in its place; NULL if it is neither. */
static value attributes_of(const struct gnn_pickle *p, value v)
{
    value all = gnn_pickle_kind(v) == GNN_PICKLE_DICT ? v : gnn_pickle_get(p, v, "_mapping");
    return gnn_pickle_kind(all) == GNN_PICKLE_DICT ? all : NULL;
}

/* ---- attributes ---- */

static int leave_out(const struct filling *g, const char *prefix, value key, value v,
                     struct gnn_err *e)
{
    char shown[128], what[128];
    struct gnn_word w;
    const struct gnn_pickle *p = &g->file->pickle;
    if (gnn_pickle_text(p, key, &w))
        gnn_text_shown(shown, sizeof shown, w.p, w.n);
    else
        gnn_pickle_describe(p, key, shown, sizeof shown);
    return gnn_array_list_leave(
        g->l, gnn_strf(e, "%s%s (%s)", prefix, shown, gnn_pickle_describe(p, v, what, sizeof what)),
        e);
}

/* A name as attributes, types and options have it. */
static bool is_name(const struct gnn_word *w)
{
    bool good = w->n && w->n <= NAME_BYTES;
    for (size_t i = 0; good && i < w->n; i++)
        good = w->p[i] > ' ' && w->p[i] <= '~' && !strchr("/=,:", w->p[i]);
    return good;
}

static bool word_is(const struct gnn_word *w, const char *text)
{
    return w->n == strlen(text) && !memcmp(w->p, text, w->n);
}

static bool is_sparse(value v)
{
    return is_named(v, "torch_sparse.tensor.SparseTensor") ||
           is_named(v, "torch._utils._rebuild_sparse_tensor");
}

static bool is_adjacency(const struct gnn_word *w)
{
    return w->n >= 3 && !memcmp(w->p, "adj", 3);
}

static int refuse_sparse(const struct filling *g, const char *prefix, const struct gnn_word *w,
                         struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: %s%.*s is a sparse tensor, which is not read; %s", g->name,
                    prefix, (int)w->n, w->p,
                    is_adjacency(w)
                        ? "save edge_index in its place (of adj_t: source is the column, "
                          "destination the row)"
                        : "save it with to_dense()");
}

/* A whole number, or a list of one, as data sets keep it. */
static bool is_number(const struct gnn_pickle *p, value v, int64_t *out)
{
    const enum gnn_pickle_kind k = gnn_pickle_kind(v);
    if ((k == GNN_PICKLE_LIST || k == GNN_PICKLE_TUPLE) && gnn_pickle_count(p, v) == 1)
        v = gnn_pickle_item(p, v, 0);
    return gnn_pickle_int(v, out);
}

static int add_attribute(const struct filling *g, const char *prefix, const struct gnn_word *w,
                         value key, value v, bool edges, struct gnn_err *e)
{
    struct gnn_strided a;
    int64_t number;
    char why[256], name[NAME_BYTES + 8];
    if (gnn_pickle_is_none(v))
        return GNN_OK;
    if (!is_name(w))
        return leave_out(g, prefix, key, v, e);
    if (is_sparse(v))
        return edges && is_adjacency(w) ? leave_out(g, prefix, key, v, e)
                                        : refuse_sparse(g, prefix, w, e);
    snprintf(name, sizeof name, "%.*s", (int)w->n, w->p);
    if (!strcmp(name, "num_nodes") && is_number(&g->file->pickle, v, &number))
        return gnn_array_list_number(g->l, prefix, name, number, e);
    if (!gnn_torch_is_array(v))
        return leave_out(g, prefix, key, v, e);
    if (gnn_torch_array(g->file, v, &a, why, sizeof why))
        return gnn_fail(e, GNN_E_INPUT, "%s: %s%s: %s", g->name, prefix, name, why);
    return gnn_array_list_add(g->l, prefix, name, &a, e);
}

/* What an event of a TemporalData has is of an edge. */
static struct gnn_word rename_event(struct gnn_word w, char text[NAME_BYTES + 8])
{
    if (word_is(&w, "src") || word_is(&w, "dst") || word_is(&w, "num_nodes") || !is_name(&w))
        return w;
    const char *known = word_is(&w, "t") ? "time" : word_is(&w, "msg") ? "attr" : NULL;
    const int n = known ? snprintf(text, NAME_BYTES + 8, "edge_%s", known)
                        : snprintf(text, NAME_BYTES + 8, "edge_%.*s", (int)w.n, w.p);
    return (struct gnn_word){text, (size_t)n};
}

static int add_attributes(const struct filling *g, const char *prefix, value all, bool events,
                          struct gnn_err *e)
{
    const struct gnn_pickle *p = &g->file->pickle;
    const bool edges = gnn_torch_is_array(gnn_pickle_get(p, all, "edge_index"));
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && i < gnn_pickle_count(p, all); i++) {
        value key = gnn_pickle_key(p, all, i);
        struct gnn_word w = {NULL, 0};
        char text[NAME_BYTES + 8];
        if (gnn_pickle_text(p, key, &w) && word_is(&w, "__num_nodes__")) /* of PyG 1 */
            w = (struct gnn_word){"num_nodes", 9};
        if (events)
            w = rename_event(w, text);
        rc = add_attribute(g, prefix, &w, key, gnn_pickle_item(p, all, i), edges, e);
    }
    return rc;
}

/* ---- graphs of several types ---- */

/* "paper/" of a str, "author/writes/paper/" of a tuple of three. GNN_E_INPUT for anything else. */
static int type_prefix(const struct filling *g, value key, char prefix[PREFIX_BYTES + 1],
                       struct gnn_err *e)
{
    const struct gnn_pickle *p = &g->file->pickle;
    const bool tuple = gnn_pickle_kind(key) == GNN_PICKLE_TUPLE;
    const uint64_t n = tuple ? gnn_pickle_count(p, key) : 1;
    size_t used = 0;
    bool good = n == 1 || n == 3;
    for (uint64_t i = 0; good && i < n; i++) {
        struct gnn_word w;
        good = gnn_pickle_text(p, tuple ? gnn_pickle_item(p, key, i) : key, &w) && w.n &&
               w.n <= GNN_TYPE_NAME_MAX && !memchr(w.p, '/', w.n) && !memchr(w.p, 0, w.n);
        if (good)
            used +=
                (size_t)snprintf(prefix + used, PREFIX_BYTES + 1 - used, "%.*s/", (int)w.n, w.p);
    }
    char shown[128];
    return good ? GNN_OK
                : gnn_fail(e, GNN_E_INPUT,
                           "%s: %s is no type: expected a name of nodes, or three of edges, of at "
                           "most %d bytes without a slash",
                           g->name, gnn_pickle_describe(p, key, shown, sizeof shown),
                           GNN_TYPE_NAME_MAX);
}

/* What the graph as a whole has is left out. */
static int leave_global(const struct filling *g, value all, struct gnn_err *e)
{
    const struct gnn_pickle *p = &g->file->pickle;
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && i < gnn_pickle_count(p, all); i++)
        if (!gnn_pickle_is_none(gnn_pickle_item(p, all, i)))
            rc = leave_out(g, "", gnn_pickle_key(p, all, i), gnn_pickle_item(p, all, i), e);
    return rc;
}

/* The attributes of each type, of a dict by types. */
static int add_types(const struct filling *g, value types, struct gnn_err *e)
{
    const struct gnn_pickle *p = &g->file->pickle;
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && i < gnn_pickle_count(p, types); i++) {
        value key = gnn_pickle_key(p, types, i), v = gnn_pickle_item(p, types, i);
        value all = attributes_of(p, v);
        char prefix[PREFIX_BYTES + 1];
        if (gnn_pickle_text_is(p, key, "_global_store"))
            rc = leave_global(g, all, e);
        else if (!all)
            rc = leave_out(g, "", key, v, e);
        else if (!(rc = type_prefix(g, key, prefix, e)))
            rc = add_attributes(g, prefix, all, false, e);
    }
    return rc;
}

/* Whether a dict is one by types, as HeteroData.to_dict() gives it. */
static bool is_by_types(const struct gnn_pickle *p, value v)
{
    bool is = gnn_pickle_get(p, v, "_global_store") != NULL;
    for (uint64_t i = 0; !is && i < gnn_pickle_count(p, v); i++)
        is = gnn_pickle_kind(gnn_pickle_key(p, v, i)) == GNN_PICKLE_TUPLE;
    return is;
}

static int add_hetero(const struct filling *g, value v, struct gnn_err *e)
{
    const struct gnn_pickle *p = &g->file->pickle;
    g->l->typed = true;
    if (gnn_pickle_kind(v) == GNN_PICKLE_DICT)
        return add_types(g, v, e);
    value nodes = gnn_pickle_get(p, v, "_node_store_dict");
    value edges = gnn_pickle_get(p, v, "_edge_store_dict");
    if (gnn_pickle_kind(nodes) != GNN_PICKLE_DICT || gnn_pickle_kind(edges) != GNN_PICKLE_DICT)
        return refuse_object(g, v, e);
    int rc = add_types(g, nodes, e);
    if (!rc)
        rc = add_types(g, edges, e);
    return rc ? rc : leave_global(g, attributes_of(p, gnn_pickle_get(p, v, "_global_store")), e);
}

/* ---- the file ---- */

static int add_graph(const struct filling *g, struct gnn_err *e)
{
    const struct gnn_pickle *p = &g->file->pickle;
    value v, class;
    int rc = find_graph(g, &v, &class, e);
    if (rc)
        return rc;
    const bool dict = gnn_pickle_kind(v) == GNN_PICKLE_DICT;
    const char *is = gnn_pickle_name(dict ? class : v);
    const bool hetero = !strcmp(is, HETERO_DATA), temporal = !strcmp(is, TEMPORAL_DATA);
    if (hetero || (dict && !*is && is_by_types(p, v)))
        return add_hetero(g, v, e);
    if (*is && !temporal && strcmp(is, DATA))
        return refuse_object(g, dict ? class : v, e);
    /* A Data of PyG 1 has its attributes in itself. */
    value store = dict ? v : gnn_pickle_get(p, v, "_store");
    value all = store ? attributes_of(p, store) : gnn_pickle_state(p, v);
    if (gnn_pickle_kind(all) != GNN_PICKLE_DICT)
        return refuse_object(g, v, e);
    return add_attributes(g, "", all, temporal, e);
}

static int check_any(const struct gnn_array_list *l, const char *name, struct gnn_err *e)
{
    return l->n ? GNN_OK : gnn_fail(e, GNN_E_INPUT, "%s: no attribute is an array", name);
}

int gnn_torch_arrays_add(struct gnn_array_list *l, const char *path, struct gnn_stage *s,
                         const char *name, struct gnn_err *e)
{
    struct filling g = {.l = l, .name = name};
    int rc = gnn_value_file_open(&g.file, l, path, s, false, name, e);
    if (!rc)
        rc = add_graph(&g, e);
    return rc ? rc : check_any(l, name, e);
}

int gnn_torch_arrays_add_keyed(struct gnn_array_list *l, const char *path, struct gnn_stage *s,
                               const char *name, struct gnn_err *e)
{
    struct filling g = {.l = l, .name = name};
    int rc = gnn_value_file_open(&g.file, l, path, s, true, name, e);
    if (rc)
        return rc;
    rc = gnn_keyed_arrays_fit(g.file) && !is_by_types(&g.file->pickle, g.file->pickle.root)
             ? gnn_keyed_arrays_add(l, g.file, name, e)
             : add_graph(&g, e);
    return rc ? rc : check_any(l, name, e);
}
