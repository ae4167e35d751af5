/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of GLT's Partitioner (lib/import/read/glt_parts.h). META is a pickle; a part has the
 * ends, ids and weights of its edges in a file of torch.save each, and features as pickled tensors,
 * one after the other in a file (to GLT 0.2.0 one in a file of torch.save), beside their ids. */
#include "lib/import/read/glt_parts.h"

#include <stdarg.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/data/schema.h"
#include "lib/import/read/pyg_parts_impl.h"
#include "lib/import/read/value_file.h"

enum { FILE_CAPACITY = 4 * GNN_TYPE_NAME_MAX, DIR_CAPACITY = FILE_CAPACITY - 32 };

typedef const struct gnn_pickle_value *value;

/* The tensors of a file, which are one array. */
struct pieces {
    struct gnn_strided *piece; /* (n) */
    uint32_t n;
    uint64_t rows;
};

/* ---- files ---- */

/* Whether the directory of member i has node_pb.pt or node_pb/ */
static bool has_book(const struct gnn_input *in, uint32_t i)
{
    const char *name = gnn_input_member(in, i);
    const size_t n = (size_t)(gnn_base_name(name) - name);
    bool has = false;
    for (uint32_t k = 0; !has && k < gnn_input_members(in); k++) {
        const char *other = gnn_input_member(in, k);
        has = !strncmp(other, name, n) &&
              (!strcmp(other + n, "node_pb.pt") || !strncmp(other + n, "node_pb/", 8));
    }
    return has;
}

int gnn_glt_parts_find(const struct gnn_input *in)
{
    for (uint32_t i = 0; i < gnn_input_members(in); i++)
        if (!strcmp(gnn_base_name(gnn_input_member(in, i)), "META") && has_book(in, i))
            return (int)i;
    return -1;
}

/* "GROUP/", and "GROUP/TYPE/" of a graph of types, before the names of files. */
static void name_group(char name[DIR_CAPACITY], const char *group, const struct pyg_type *t)
{
    snprintf(name, DIR_CAPACITY, "%s/%s%s%s%s%s%s", group, t->nkeys ? t->key[0] : "",
             t->nkeys > 1 ? "__" : "", t->nkeys > 1 ? t->key[1] : "", t->nkeys > 1 ? "__" : "",
             t->nkeys > 1 ? t->key[2] : "", t->nkeys ? "/" : "");
}

/* The member of a part, "part0/" and `dir` and `file`; -1: there is none. */
static int find_file(const struct pyg_parts *p, uint32_t part, const char *dir, const char *file,
                     struct gnn_err *e)
{
    char *name = gnn_strf(e, "%s%s%u/%s%s", p->root, p->part_name, part, dir, file);
    const int m = name ? gnn_input_find(p->in, name) : -1;
    gnn_free(name);
    return m;
}

static int fail_file(const struct pyg_parts *p, uint32_t part, const char *dir, const char *file,
                     const char *why, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: %s%s%u/%s%s: %s", p->in->name, p->root, p->part_name, part,
                    dir, file, why);
}

/* ---- tensors ---- */

static void release_values(void *p)
{
    gnn_torch_release(p);
    gnn_free(p);
}

static int add_tensor(struct pieces *x, const struct gnn_torch_file *f, char *why, size_t capacity,
                      struct gnn_err *e)
{
    struct gnn_strided a;
    snprintf(why, capacity, "no tensor");
    if (!gnn_torch_is_array(f->pickle.root) ||
        gnn_torch_array(f, f->pickle.root, &a, why, capacity))
        return GNN_E_INPUT;
    if (!a.ndim) {
        snprintf(why, capacity, "a tensor without rows");
        return GNN_E_INPUT;
    }
    if (gnn_grow(&x->piece, x->n, sizeof *x->piece, "tensors", e))
        return GNN_E_NOMEM;
    x->piece[x->n++] = a;
    x->rows += gnn_strided_rows(&a);
    return GNN_OK;
}

/* The pickles of a file, one after the other. */
static int read_pickles(struct pyg_parts *p, struct pieces *x, const uint8_t *bytes, uint64_t n,
                        char *why, size_t capacity, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint64_t at = 0; !rc && at < n;) {
        struct gnn_torch_file *f = gnn_alloc_zero(1, sizeof *f, "a pickle", e);
        rc = f ? gnn_array_list_hold(p->l, f, release_values, e) : GNN_E_NOMEM;
        if (rc)
            return rc;
        const int used =
            snprintf(why, capacity, "the pickle from byte %llu on: ", (unsigned long long)at);
        rc =
            gnn_pickle_read(&f->pickle, bytes + at, n - at, 0, why + used, capacity - (size_t)used);
        if (rc)
            return rc == GNN_PICKLE_NO_MEMORY ? gnn_fail_nomem(e, n - at, "a pickle") : GNN_E_INPUT;
        at += f->pickle.used;
        rc = add_tensor(x, f, why, capacity, e);
    }
    return rc;
}

/* The rows of STEM.pkl or STEM.pt of a part. */
static int open_pieces(struct pyg_parts *p, struct pieces *x, uint32_t part, const char *dir,
                       const char *stem, struct gnn_err *e)
{
    char file[32], why[256] = "";
    const struct gnn_torch_file *f;
    const uint8_t *bytes;
    uint64_t n;
    *x = (struct pieces){0};
    snprintf(file, sizeof file, "%s.pkl", stem);
    int m = find_file(p, part, dir, file, e), rc = e->code;
    if (!rc && m >= 0) {
        p->used[m] = true;
        rc = gnn_array_list_map(p->l, p->in->m[m].path, &bytes, &n, e);
        if (!rc)
            rc = read_pickles(p, x, bytes, n, why, sizeof why, e);
    } else if (!rc) {
        snprintf(file, sizeof file, "%s.pt", stem);
        if (find_file(p, part, dir, file, e) < 0 && !e->code)
            return fail_file(
                p, part, dir, stem,
                strncmp(dir, "graph/", 6) ? ".pkl and .pt are missing" : ".pt is missing", e);
        rc = gnn_pyg_parts_open_file(p, &f, e, "%s%u/%s%s", p->part_name, part, dir, file);
        if (!rc)
            rc = add_tensor(x, f, why, sizeof why, e);
    }
    return rc && !e->code ? fail_file(p, part, dir, file, why, e) : rc;
}

/* The ids of a file get the next places of a part. */
static int place_pieces(struct pyg_parts *p, uint32_t part, const char *dir, const char *stem,
                        struct pyg_type *t, struct gnn_err *e)
{
    struct pieces x;
    char file[FILE_CAPACITY];
    snprintf(file, sizeof file, "%s%s", dir, stem);
    int rc = open_pieces(p, &x, part, dir, stem, e);
    for (uint32_t i = 0; !rc && i < x.n; i++)
        rc = x.piece[i].dtype == GNN_I64 && x.piece[i].ndim == 1
                 ? gnn_pyg_parts_place_ids(p, part, file, t, &x.piece[i], 0, e)
                 : fail_file(p, part, dir, stem, "no vectors of int64", e);
    gnn_free(x.piece);
    return rc;
}

/* Adds an array of the parts' files of that name, with as many rows as ids were placed. */
static int add_array(struct pyg_parts *p, const char *dir, const char *stem,
                     const struct pyg_type *t, const char *name, struct gnn_err *e)
{
    char why[128], file[FILE_CAPACITY];
    bool first = true;
    int rc = GNN_OK;
    snprintf(file, sizeof file, "%s%s", dir, stem);
    for (uint32_t part = 0; !rc && part < p->nparts; part++) {
        struct pieces x;
        rc = open_pieces(p, &x, part, dir, stem, e);
        if (!rc && x.rows != t->rows[part]) {
            snprintf(why, sizeof why, "%llu rows for %llu ids", (unsigned long long)x.rows,
                     (unsigned long long)t->rows[part]);
            rc = fail_file(p, part, dir, stem, why, e);
        }
        for (uint32_t i = 0; !rc && i < x.n; i++, first = false)
            rc = gnn_pyg_parts_add_piece(p, part, file, t, &x.piece[i], name, first, e);
        gnn_free(x.piece);
    }
    return rc;
}

/* ---- types ---- */

/* Features of a type, if the first part has any, which lists their ids beside them. */
static int add_features(struct pyg_parts *p, const char *group, const struct pyg_type *of,
                        const char *name, struct gnn_err *e)
{
    char dir[DIR_CAPACITY];
    struct pyg_type t = *of;
    name_group(dir, group, &t);
    if (find_file(p, 0, dir, "feats.pkl", e) < 0 && find_file(p, 0, dir, "feats.pt", e) < 0)
        return e->code;
    t.order = t.rows = NULL;
    t.at = 0;
    int rc = gnn_pyg_parts_begin_order(p, &t, e);
    for (uint32_t part = 0; !rc && part < p->nparts; part++)
        rc = place_pieces(p, part, dir, "ids", &t, e);
    if (!rc)
        rc = gnn_pyg_parts_check_all(p, &t, t.nkeys == 3 ? "edge" : "node", e);
    return rc ? rc : add_array(p, dir, "feats", &t, name, e);
}

static int add_nodes(struct pyg_parts *p, struct pyg_type *t, uint64_t offset, struct gnn_err *e)
{
    (void)offset; /* ids of each type begin at 0 */
    int rc = gnn_pyg_parts_open_map(p, t, "node", true, e);
    if (!rc)
        rc = gnn_array_list_number(p->l, t->prefix, "num_nodes", (int64_t)t->n, e);
    return rc ? rc : add_features(p, "node_feat", t, "x", e);
}

static int add_edges(struct pyg_parts *p, struct pyg_type *t, uint64_t offset, struct gnn_err *e)
{
    char dir[DIR_CAPACITY];
    (void)offset;
    name_group(dir, "graph", t);
    char *whole = gnn_strf(e, "%s%srows.pt", p->root, dir);
    const bool cached = whole && gnn_input_find(p->in, whole) >= 0;
    gnn_free(whole);
    if (cached)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %s%srows.pt: edges of all parts in one file (graph_caching) have no "
                        "ids: write the parts without graph_caching",
                        p->in->name, p->root, dir);
    int rc = e->code ? e->code : gnn_pyg_parts_open_map(p, t, "edge", false, e);
    for (uint32_t part = 0; !rc && part < p->nparts; part++)
        rc = place_pieces(p, part, dir, "eids", t, e);
    if (!rc)
        rc = gnn_pyg_parts_check_all(p, t, "edge", e);
    if (!rc)
        rc = add_array(p, dir, "rows", t, "src", e);
    if (!rc)
        rc = add_array(p, dir, "cols", t, "dst", e);
    if (!rc && find_file(p, 0, dir, "weights.pt", e) >= 0)
        rc = add_array(p, dir, "weights", t, "weight", e);
    return rc ? rc : add_features(p, "edge_feat", t, "edge_attr", e);
}

/* ---- META ---- */

/* A name, or null, where a text is none: it is not UTF-8, or has a NUL. */
static json_t *make_name(const struct gnn_word *w)
{
    json_t *j = memchr(w->p, 0, w->n) ? NULL : json_stringn(w->p, w->n);
    return j ? j : json_null();
}

/* A type's name, or the three of an edge type, which are a tuple. */
static json_t *type_names(const struct gnn_pickle *p, value v)
{
    struct gnn_word w;
    if (gnn_pickle_text(p, v, &w))
        return make_name(&w);
    json_t *j = json_array();
    for (uint64_t i = 0; i < gnn_pickle_count(p, v) && i < 4; i++)
        if (!gnn_pickle_text(p, gnn_pickle_item(p, v, i), &w) ||
            json_array_append_new(j, make_name(&w)))
            break;
    return j;
}

static json_t *list_types(const struct gnn_pickle *p, value list)
{
    json_t *j = json_array();
    for (uint64_t i = 0; i < gnn_pickle_count(p, list) && i <= GNN_TYPES_MAX; i++)
        (void)json_array_append_new(j, type_names(p, gnn_pickle_item(p, list, i)));
    return j;
}

static int read_meta(struct pyg_parts *p, uint32_t member, struct gnn_err *e)
{
    const struct gnn_torch_file *f;
    const char *name = gnn_input_member(p->in, member);
    int64_t parts = 0;
    p->root = gnn_strf(e, "%.*s", (int)(gnn_base_name(name) - name), name);
    p->used[member] = true;
    int rc = p->root ? gnn_value_file_open(&f, p->l, p->in->m[member].path, NULL, true,
                                           p->in->m[member].path, e)
                     : GNN_E_NOMEM;
    if (rc)
        return rc;
    const struct gnn_pickle *v = &f->pickle;
    value kind = gnn_pickle_get(v, v->root, "data_cls");
    if (!gnn_pickle_int(gnn_pickle_get(v, v->root, "num_parts"), &parts) || parts < 1 ||
        parts > PYG_PARTS_MAX)
        return gnn_pyg_parts_fail_meta(p, "num_parts is no number from 1 to 65536", e);
    p->hetero = gnn_pickle_text_is(v, kind, "hetero");
    if (!p->hetero && !gnn_pickle_text_is(v, kind, "homo"))
        return gnn_pyg_parts_fail_meta(p, "data_cls is neither 'homo' nor 'hetero'", e);
    p->nparts = (uint32_t)parts;
    gnn_json_watch();
    p->meta = json_object();
    (void)json_object_set_new(p->meta, "node_types",
                              list_types(v, gnn_pickle_get(v, v->root, "node_types")));
    (void)json_object_set_new(p->meta, "edge_types",
                              list_types(v, gnn_pickle_get(v, v->root, "edge_types")));
    return gnn_json_starved() ? gnn_fail_nomem(e, 0, "META") : GNN_OK;
}

int gnn_glt_parts_add(struct gnn_array_list *l, const struct gnn_input *in, uint32_t meta,
                      bool *used, struct gnn_err *e)
{
    struct pyg_parts p = {.meta_name = "META",
                          .map = "pb",
                          .part_name = "part",
                          .add = {add_nodes, add_edges},
                          .l = l,
                          .in = in,
                          .used = used};
    l->typed = true;
    int rc = read_meta(&p, meta, e);
    if (!rc)
        rc = gnn_pyg_parts_add_types(&p, e);
    return gnn_pyg_parts_finish(&p, rc, e);
}
