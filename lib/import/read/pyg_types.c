/* SPDX-License-Identifier: Apache-2.0 */
/* Types of nodes and edges in folders of PyG's Partitioner (lib/import/read/pyg_parts.h). Each part
 * lists the ids that its rows had in the graph; an array of the graph is the parts' pieces, one
 * after the other, with an order over them, so that features stay where they lie in the files. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/data/schema.h"
#include "lib/import/read/pyg_parts_impl.h"

enum { BLOCK = 8192 };
static const uint64_t UNSET = UINT64_MAX;

typedef const struct gnn_pickle_value *value;

/* ---- values of parts ---- */

static bool is_key(const struct gnn_pickle *p, value key, const struct pyg_type *t)
{
    if (t->nkeys == 1)
        return gnn_pickle_text_is(p, key, t->key[0]);
    bool is = gnn_pickle_kind(key) == GNN_PICKLE_TUPLE && gnn_pickle_count(p, key) == t->nkeys;
    for (uint32_t i = 0; is && i < t->nkeys; i++)
        is = gnn_pickle_text_is(p, gnn_pickle_item(p, key, i), t->key[i]);
    return is;
}

/* What a file has for the type; NULL: nothing. */
static value of_type(const struct gnn_torch_file *f, const struct pyg_type *t)
{
    const struct gnn_pickle *p = &f->pickle;
    if (!t->nkeys)
        return p->root;
    for (uint64_t i = 0; i < gnn_pickle_count(p, p->root); i++)
        if (is_key(p, gnn_pickle_key(p, p->root, i), t))
            return gnn_pickle_item(p, p->root, i);
    return NULL;
}

static int fail_value(const struct pyg_parts *p, uint32_t part, const char *file,
                      const struct pyg_type *t, const char *name, const char *why,
                      struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: %spart_%u/%s: %s%s: %s", p->in->name, p->root, part, file,
                    t->nkeys ? t->prefix : "", name, why);
}

/* Whole numbers, a row each, of a part. */
static int get_ids(const struct pyg_parts *p, uint32_t part, const char *file,
                   const struct gnn_torch_file *f, const struct pyg_type *t, value v,
                   const char *name, struct gnn_strided *a, struct gnn_err *e)
{
    char why[256] = "missing";
    value id = gnn_pickle_get(&f->pickle, v, name);
    if (!id || !gnn_torch_is_array(id) || gnn_torch_array(f, id, a, why, sizeof why))
        return fail_value(p, part, file, t, name, why, e);
    return a->dtype == GNN_I64 && a->ndim == 1
               ? GNN_OK
               : fail_value(p, part, file, t, name, "no vector of int64", e);
}

/* Notes that the rows of a part have these ids, which begin at `offset`. */
static int place_ids(const struct pyg_parts *p, uint32_t part, const char *file, struct pyg_type *t,
                     const struct gnn_strided *ids, uint64_t offset, struct gnn_err *e)
{
    int64_t id[BLOCK];
    char why[128];
    const uint64_t rows = gnn_strided_rows(ids);
    for (uint64_t i = 0; i < rows; i += BLOCK) {
        const uint64_t n = rows - i < BLOCK ? rows - i : BLOCK;
        gnn_strided_copy(ids, i, n, id);
        for (uint64_t k = 0; k < n; k++) {
            const uint64_t v = (uint64_t)id[k] - offset;
            if (v < t->n && t->order[v] == UNSET) {
                t->order[v] = t->at + i + k;
                continue;
            }
            snprintf(why, sizeof why, v < t->n ? "%lld is there twice" : "%lld is none of %llu",
                     (long long)id[k], (unsigned long long)t->n);
            return fail_value(p, part, file, t, "ids", why, e);
        }
    }
    t->rows[part] = rows;
    t->at += rows;
    return GNN_OK;
}

static int begin_order(struct pyg_parts *p, struct pyg_type *t, struct gnn_err *e)
{
    t->order = gnn_alloc(t->n ? t->n : 1, sizeof *t->order, "ids of parts", e);
    if (!t->order)
        return GNN_E_NOMEM;
    memset(t->order, 0xff, t->n * sizeof *t->order);
    int rc = gnn_array_list_hold(p->l, t->order, gnn_free, e);
    t->rows = rc ? NULL : gnn_alloc_zero(p->nparts, sizeof *t->rows, "parts", e);
    if (!rc && !t->rows)
        rc = GNN_E_NOMEM;
    return rc ? rc : gnn_array_list_hold(p->l, t->rows, gnn_free, e);
}

static int check_all(const struct pyg_parts *p, const struct pyg_type *t, const char *what,
                     struct gnn_err *e)
{
    return t->at == t->n
               ? GNN_OK
               : gnn_fail(e, GNN_E_INPUT,
                          "%s: all parts together have %llu %s%s%s%s, and the map has %llu",
                          p->in->name, (unsigned long long)t->at, what, gnn_plural(t->at),
                          t->nkeys ? " of " : "", t->nkeys ? t->prefix : "",
                          (unsigned long long)t->n);
}

/* Adds a part's piece of an array, which the first part adds. */
static int add_piece(struct pyg_parts *p, uint32_t part, const char *file,
                     const struct gnn_torch_file *f, const struct pyg_type *t, value v,
                     const char *name, struct gnn_err *e)
{
    struct gnn_strided a;
    char why[256] = "missing, or no tensor, while it is one in part_0";
    bool fits;
    if (!gnn_torch_is_array(v) || gnn_torch_array(f, v, &a, why, sizeof why))
        return fail_value(p, part, file, t, name, why, e);
    if (gnn_strided_rows(&a) != (t->rows ? t->rows[part] : t->n)) {
        snprintf(why, sizeof why, "%llu rows for %llu ids",
                 (unsigned long long)gnn_strided_rows(&a),
                 (unsigned long long)(t->rows ? t->rows[part] : t->n));
        return fail_value(p, part, file, t, name, why, e);
    }
    if (!part) {
        int rc = gnn_array_list_add(p->l, t->prefix, name, &a, e);
        if (!rc)
            p->l->array[p->l->n - 1].order = t->order;
        return rc;
    }
    int rc = gnn_array_list_append(p->l, &a, &fits, e);
    return rc || fits ? rc
                      : fail_value(p, part, file, t, name,
                                   "another dtype or shape of rows than in part_0", e);
}

/* Adds the tensors of a dict "feats" that part 0 has; others and None are left out. */
static int add_features(struct pyg_parts *p, bool edges, const struct pyg_type *t,
                        struct gnn_err *e)
{
    const char *file = edges ? "edge_feats.pt" : "node_feats.pt";
    const struct gnn_torch_file *f0 = edges ? p->part[0].edges : p->part[0].nodes;
    value first = gnn_pickle_get(&f0->pickle, of_type(f0, t), "feats");
    int rc = GNN_OK;
    for (uint64_t k = 0; !rc && k < gnn_pickle_count(&f0->pickle, first); k++) {
        struct gnn_word w;
        char name[GNN_WORD_MAX + 1], shown[128];
        value key = gnn_pickle_key(&f0->pickle, first, k);
        value v0 = gnn_pickle_item(&f0->pickle, first, k);
        const bool text =
            gnn_pickle_text(&f0->pickle, key, &w) && w.n <= GNN_WORD_MAX && !memchr(w.p, 0, w.n);
        if (gnn_pickle_is_none(v0))
            continue;
        if (!text || !gnn_torch_is_array(v0)) {
            rc = gnn_array_list_leave(
                p->l,
                gnn_strf(e, "%s%s", t->prefix,
                         gnn_pickle_describe(&f0->pickle, key, shown, sizeof shown)),
                e);
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)w.n, w.p);
        for (uint32_t i = 0; !rc && i < p->nparts; i++) {
            const struct gnn_torch_file *f = edges ? p->part[i].edges : p->part[i].nodes;
            value feats = gnn_pickle_get(&f->pickle, of_type(f, t), "feats");
            rc = add_piece(p, i, file, f, t, gnn_pickle_get(&f->pickle, feats, name), name, e);
        }
    }
    return rc;
}

/* ---- types ---- */

/* The names of a type: a text, or a list of three. */
static int read_type(const struct pyg_parts *p, const json_t *j, struct pyg_type *t,
                     struct gnn_err *e)
{
    const bool edge = json_is_array(j);
    t->nkeys = edge ? (uint32_t)json_array_size(j) : 1;
    if (t->nkeys != (edge ? 3 : 1))
        return gnn_pyg_parts_fail_meta(p, "an edge type is no list of three names", e);
    for (uint32_t i = 0; i < t->nkeys; i++) {
        const char *s = t->key[i] = json_string_value(edge ? json_array_get(j, i) : j);
        if (!s || !*s || strchr(s, '/') || strlen(s) > GNN_TYPE_NAME_MAX)
            return gnn_pyg_parts_fail_meta(p, "a type has no name, or one with a slash", e);
    }
    t->prefix = edge ? gnn_strf(e, "%s/%s/%s/", t->key[0], t->key[1], t->key[2])
                     : gnn_strf(e, "%s/", t->key[0]);
    return t->prefix ? GNN_OK : GNN_E_NOMEM;
}

/* The part of each node or edge: its rows are all there are. */
static int open_map(struct pyg_parts *p, struct pyg_type *t, const char *what, bool keep,
                    struct gnn_err *e)
{
    const struct gnn_torch_file *f;
    struct gnn_strided a;
    char why[256] = "no tensor";
    int rc = t->nkeys == 0   ? gnn_pyg_parts_open_file(p, &f, e, "%s_map.pt", what)
             : t->nkeys == 1 ? gnn_pyg_parts_open_file(p, &f, e, "%s_map/%s.pt", what, t->key[0])
                             : gnn_pyg_parts_open_file(p, &f, e, "%s_map/%s__%s__%s.pt", what,
                                                       t->key[0], t->key[1], t->key[2]);
    if (rc)
        return rc;
    if (!gnn_torch_is_array(f->pickle.root) ||
        gnn_torch_array(f, f->pickle.root, &a, why, sizeof why) || a.ndim != 1)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s%s_map of %s: %s", p->in->name, p->root, what,
                        t->nkeys ? t->prefix : "all", why);
    t->n = gnn_strided_rows(&a);
    rc = begin_order(p, t, e);
    return rc || !keep ? rc : gnn_array_list_add(p->l, t->prefix, "part", &a, e);
}

static int add_nodes(struct pyg_parts *p, struct pyg_type *t, struct gnn_err *e)
{
    const char *file = "node_feats.pt";
    int rc = open_map(p, t, "node", true, e);
    if (!rc)
        rc = gnn_array_list_number(p->l, t->prefix, "num_nodes", (int64_t)t->n, e);
    for (uint32_t i = 0; !rc && i < p->nparts; i++) {
        const struct gnn_torch_file *f = p->part[i].nodes;
        struct gnn_strided ids;
        rc = get_ids(p, i, file, f, t, of_type(f, t), p->hetero ? "id" : "global_id", &ids, e);
        if (!rc)
            rc = place_ids(p, i, file, t, &ids, 0, e);
    }
    if (!rc)
        rc = check_all(p, t, "node", e);
    if (!rc)
        rc = add_features(p, false, t, e);
    if (rc)
        return rc;
    /* Each part has the times of all nodes, in the order of the graph. */
    const struct gnn_torch_file *f = p->part[0].nodes;
    value time = gnn_pickle_get(&f->pickle, of_type(f, t), "time");
    const struct pyg_type all = {.prefix = t->prefix, .nkeys = t->nkeys, .n = t->n};
    return gnn_torch_is_array(time) ? add_piece(p, 0, file, f, &all, time, "time", e) : GNN_OK;
}

/* Whether edge_feats.pt has the edges of graph.pt, in its order. */
static int check_same_edges(const struct pyg_parts *p, uint32_t part, const struct pyg_type *t,
                            const struct gnn_strided *ids, uint64_t offset, struct gnn_err *e)
{
    int64_t a[BLOCK], b[BLOCK];
    struct gnn_strided of;
    const struct gnn_torch_file *f = p->part[part].edges;
    value v = of_type(f, t);
    if (!gnn_pickle_get(&f->pickle, v, "feats"))
        return GNN_OK;
    int rc = get_ids(p, part, "edge_feats.pt", f, t, v, "global_id", &of, e);
    const uint64_t rows = rc ? 0 : gnn_strided_rows(&of);
    bool same = !rc && rows == gnn_strided_rows(ids);
    for (uint64_t i = 0; same && i < rows; i += BLOCK) {
        const uint64_t n = rows - i < BLOCK ? rows - i : BLOCK;
        gnn_strided_copy(&of, i, n, a);
        gnn_strided_copy(ids, i, n, b);
        for (uint64_t k = 0; same && k < n; k++)
            same = (uint64_t)a[k] + offset == (uint64_t)b[k];
    }
    return rc || same ? rc
                      : fail_value(p, part, "edge_feats.pt", t, "global_id",
                                   "other edges than those of graph.pt", e);
}

static int add_ends(struct pyg_parts *p, const struct pyg_type *t, const char *from,
                    const char *name, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < p->nparts; i++) {
        const struct gnn_torch_file *f = p->part[i].graph;
        struct gnn_strided a;
        rc = get_ids(p, i, "graph.pt", f, t, of_type(f, t), from, &a, e);
        if (!rc)
            rc = add_piece(p, i, "graph.pt", f, t, gnn_pickle_get(&f->pickle, of_type(f, t), from),
                           name, e);
    }
    return rc;
}

/* offset: edges of the types before this one, which are counted through. */
static int add_edges(struct pyg_parts *p, struct pyg_type *t, uint64_t offset, struct gnn_err *e)
{
    int rc = open_map(p, t, "edge", false, e);
    for (uint32_t i = 0; !rc && i < p->nparts; i++) {
        const struct gnn_torch_file *f = p->part[i].graph;
        struct gnn_strided ids;
        rc = get_ids(p, i, "graph.pt", f, t, of_type(f, t), "edge_id", &ids, e);
        if (!rc)
            rc = place_ids(p, i, "graph.pt", t, &ids, offset, e);
        if (!rc)
            rc = check_same_edges(p, i, t, &ids, p->hetero ? offset : 0, e);
    }
    if (!rc)
        rc = check_all(p, t, "edge", e);
    if (!rc)
        rc = add_ends(p, t, "row", "src", e);
    if (!rc)
        rc = add_ends(p, t, "col", "dst", e);
    if (!rc)
        rc = add_features(p, true, t, e);
    const struct gnn_torch_file *f0 = p->part[0].edges;
    const bool times = !rc && gnn_pickle_get(&f0->pickle, of_type(f0, t), "edge_time");
    for (uint32_t i = 0; !rc && times && i < p->nparts; i++) {
        const struct gnn_torch_file *f = p->part[i].edges;
        rc = add_piece(p, i, "edge_feats.pt", f, t,
                       gnn_pickle_get(&f->pickle, of_type(f, t), "edge_time"), "time", e);
    }
    return rc;
}

int gnn_pyg_parts_add_types(struct pyg_parts *p, struct gnn_err *e)
{
    static const char *const lists[] = {"node_types", "edge_types"};
    uint64_t offset = 0;
    int rc = GNN_OK;
    for (int k = 0; k < 2; k++) {
        const json_t *list = json_object_get(p->meta, lists[k]);
        const size_t n = p->hetero ? json_array_size(list) : 1;
        if (!n || n > GNN_TYPES_MAX)
            return gnn_pyg_parts_fail_meta(p, "node_types or edge_types is no list of 1 to 1024",
                                           e);
        for (size_t i = 0; !rc && i < n; i++) {
            struct pyg_type t = {0};
            if (p->hetero)
                rc = read_type(p, json_array_get(list, i), &t, e);
            else if (!(t.prefix = gnn_strdup(k ? "node/to/node/" : "node/", e)))
                rc = GNN_E_NOMEM;
            if (!rc && p->hetero && (t.nkeys == 3) != (k == 1))
                rc = gnn_pyg_parts_fail_meta(
                    p, "a node type is no name, or an edge type no list of three", e);
            if (!rc)
                rc = k ? add_edges(p, &t, offset, e) : add_nodes(p, &t, e);
            offset += k ? t.n : 0;
            gnn_free(t.prefix);
        }
    }
    return rc;
}
