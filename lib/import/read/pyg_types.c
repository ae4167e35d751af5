/* SPDX-License-Identifier: Apache-2.0 */
/* Types of nodes and edges in folders of PyG's Partitioner (lib/import/read/pyg_parts.h). Each part
 * lists the ids that its rows had in the graph. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/data/schema.h"
#include "lib/import/read/pyg_parts_impl.h"

enum { BLOCK = 8192 };

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

/* Whole numbers, a row each, of a part. */
static int get_ids(const struct pyg_parts *p, uint32_t part, const char *file,
                   const struct gnn_torch_file *f, const struct pyg_type *t, value v,
                   const char *name, struct gnn_strided *a, struct gnn_err *e)
{
    char why[256] = "missing";
    value id = gnn_pickle_get(&f->pickle, v, name);
    if (!id || !gnn_torch_is_array(id) || gnn_torch_array(f, id, a, why, sizeof why))
        return gnn_pyg_parts_fail_value(p, part, file, t, name, why, e);
    return a->dtype == GNN_I64 && a->ndim == 1
               ? GNN_OK
               : gnn_pyg_parts_fail_value(p, part, file, t, name, "no vector of int64", e);
}

/* Adds a part's piece of an array, which the first part adds. */
static int add_piece(struct pyg_parts *p, uint32_t part, const char *file,
                     const struct gnn_torch_file *f, const struct pyg_type *t, value v,
                     const char *name, struct gnn_err *e)
{
    struct gnn_strided a;
    char why[256] = "missing, or no tensor, while it is one in part_0";
    if (!gnn_torch_is_array(v) || gnn_torch_array(f, v, &a, why, sizeof why))
        return gnn_pyg_parts_fail_value(p, part, file, t, name, why, e);
    if (gnn_strided_rows(&a) != (t->rows ? t->rows[part] : t->n)) {
        snprintf(why, sizeof why, "%llu rows for %llu ids",
                 (unsigned long long)gnn_strided_rows(&a),
                 (unsigned long long)(t->rows ? t->rows[part] : t->n));
        return gnn_pyg_parts_fail_value(p, part, file, t, name, why, e);
    }
    return gnn_pyg_parts_add_piece(p, part, file, t, &a, name, !part, e);
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

int gnn_pyg_parts_add_nodes(struct pyg_parts *p, struct pyg_type *t, uint64_t offset,
                            struct gnn_err *e)
{
    (void)offset; /* nodes are counted from 0 in each type */
    const char *file = "node_feats.pt";
    int rc = gnn_pyg_parts_open_map(p, t, "node", true, e);
    if (!rc)
        rc = gnn_array_list_number(p->l, t->prefix, "num_nodes", (int64_t)t->n, e);
    for (uint32_t i = 0; !rc && i < p->nparts; i++) {
        const struct gnn_torch_file *f = p->part[i].nodes;
        struct gnn_strided ids;
        rc = get_ids(p, i, file, f, t, of_type(f, t), p->hetero ? "id" : "global_id", &ids, e);
        if (!rc)
            rc = gnn_pyg_parts_place_ids(p, i, file, t, &ids, 0, e);
    }
    if (!rc)
        rc = gnn_pyg_parts_check_all(p, t, "node", e);
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
                      : gnn_pyg_parts_fail_value(p, part, "edge_feats.pt", t, "global_id",
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
int gnn_pyg_parts_add_edges(struct pyg_parts *p, struct pyg_type *t, uint64_t offset,
                            struct gnn_err *e)
{
    int rc = gnn_pyg_parts_open_map(p, t, "edge", false, e);
    for (uint32_t i = 0; !rc && i < p->nparts; i++) {
        const struct gnn_torch_file *f = p->part[i].graph;
        struct gnn_strided ids;
        rc = get_ids(p, i, "graph.pt", f, t, of_type(f, t), "edge_id", &ids, e);
        if (!rc)
            rc = gnn_pyg_parts_place_ids(p, i, "graph.pt", t, &ids, offset, e);
        if (!rc)
            rc = check_same_edges(p, i, t, &ids, p->hetero ? offset : 0, e);
    }
    if (!rc)
        rc = gnn_pyg_parts_check_all(p, t, "edge", e);
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
