/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of a partition of DGL (lib/import/read/dgl_features.h). */
#include "lib/import/read/dgl_features.h"

#include <stdlib.h>
#include <string.h>

#include "lib/import/read/dgl_arrays.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"

/* A tensor of a part. */
struct piece {
    char *field;
    uint32_t type, part;
    const struct gnn_strided *values;
};
struct pieces {
    struct piece *piece; /* (n) by type, field and part */
    uint64_t n;
};

/* ---- tensors of parts ---- */

/* The type whose name, and a slash, a tensor's name begins with, or the only one, if it has no
 * slash. */
static int find_type(const struct gnn_dgl_ids *ids, const struct gnn_word *name, size_t *skip)
{
    for (uint32_t t = 0; t < ids->n; t++) {
        const size_t n = strlen(ids->type[t].name);
        *skip = n + 1;
        if (name->n > n && name->p[n] == '/' && !memcmp(name->p, ids->type[t].name, n))
            return (int)t;
    }
    *skip = 0;
    return ids->n == 1 && (!name->n || !memchr(name->p, '/', name->n)) ? 0 : -1;
}

static int add_pieces(struct pieces *all, const struct gnn_dgl_ids *ids,
                      const struct gnn_dgl_file *f, const char *path, uint32_t part,
                      struct gnn_err *e)
{
    char shown[128];
    for (uint64_t i = 0; i < f->tensors.n; i++) {
        const struct gnn_dgl_tensor *t = &f->tensors.tensor[i];
        size_t skip;
        const int type = find_type(ids, &t->name, &skip);
        if (type < 0)
            return gnn_fail(e, GNN_E_INPUT, "%s: '%s' is of no type that the JSON has", path,
                            gnn_text_shown(shown, sizeof shown, t->name.p, t->name.n));
        if (gnn_grow(&all->piece, all->n, sizeof *all->piece, "features", e))
            return GNN_E_NOMEM;
        struct piece *p = &all->piece[all->n++];
        *p = (struct piece){.type = (uint32_t)type, .part = part, .values = &t->values};
        p->field = gnn_strf(e, "%.*s", (int)(t->name.n - skip), t->name.p + skip);
        if (!p->field)
            return GNN_E_NOMEM;
    }
    return GNN_OK;
}

static int by_type(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    const int c = strcmp(x->field, y->field);
    return c ? c : (x->part > y->part) - (x->part < y->part);
}

/* The tensors of all parts. */
static int find_pieces(struct pieces *all, const struct gnn_dgl_features *s,
                       const struct gnn_dgl_ids *ids, bool edges, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t p = 0; !rc && p < s->book->parts; p++) {
        const struct gnn_dgl_part *part = &s->book->part[p];
        const char *path = edges ? part->edge_feats : part->node_feats;
        const struct gnn_dgl_file *f;
        rc = gnn_dgl_arrays_open(&f, s->l, path, NULL, path, e);
        if (!rc && f->is_graphs)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: graphs, where tensors of features are expected",
                          path);
        if (!rc)
            rc = add_pieces(all, ids, f, path, p, e);
    }
    if (!rc && all->n)
        qsort(all->piece, all->n, sizeof *all->piece, by_type);
    return rc;
}

static void free_pieces(struct pieces *all)
{
    for (uint64_t i = 0; i < all->n; i++)
        gnn_free(all->piece[i].field);
    gnn_free(all->piece);
}

/* ---- a feature ---- */

static const char *file_of(const struct gnn_dgl_features *s, bool edges, uint32_t part)
{
    return edges ? s->book->part[part].edge_feats : s->book->part[part].node_feats;
}

/* The rows of a part; none: a part without nodes or edges of the type. */
static int check_rows(const struct gnn_dgl_features *s, const struct gnn_dgl_type *t, bool edges,
                      const char *field, uint32_t part, const struct piece *p, struct gnn_err *e)
{
    const uint64_t n = gnn_dgl_book_count(t, part), rows = p ? gnn_strided_rows(p->values) : 0;
    if (p ? rows == n && p->values->ndim : !n)
        return GNN_OK;
    if (!p)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: no feature '%.100s' of '%.100s', which other parts have",
                        file_of(s, edges, part), field, t->name);
    return gnn_fail(e, GNN_E_INPUT, "%s: '%.100s' of '%.100s' has %llu row%s; part %u has %llu %s",
                    file_of(s, edges, part), field, t->name, (unsigned long long)rows,
                    gnn_plural(rows), part, (unsigned long long)n, edges ? "edges" : "nodes");
}

/* Adds the n pieces of one feature, the first of which has rows, if one has. */
static int add_rows(const struct gnn_dgl_features *s, bool edges, const char *prefix,
                    const struct piece *p, uint64_t n, struct gnn_err *e)
{
    uint64_t first = 0;
    while (first + 1 < n && !gnn_strided_rows(p[first].values))
        first++;
    int rc = gnn_array_list_add(s->l, prefix, p->field, p[first].values, e);
    for (uint64_t i = first + 1; !rc && i < n; i++) {
        bool fits = true;
        if (gnn_strided_rows(p[i].values))
            rc = gnn_array_list_append(s->l, p[i].values, &fits, e);
        if (!rc && !fits)
            rc = gnn_fail(e, GNN_E_INPUT,
                          "%s: '%.100s' has another type or width than in the part before",
                          file_of(s, edges, p[i].part), p->field);
    }
    return rc;
}

/* Adds a feature from the pieces at p, of which *n are its own. */
static int add_feature(const struct gnn_dgl_features *s, const struct gnn_dgl_type *t, bool edges,
                       const char *prefix, const struct piece *p, uint64_t n, const uint64_t *order,
                       struct gnn_err *e)
{
    int rc = GNN_OK;
    uint64_t at = 0;
    for (uint32_t part = 0; !rc && part < s->book->parts; part++) {
        const bool there = at < n && p[at].part == part;
        rc = check_rows(s, t, edges, p->field, part, there ? &p[at] : NULL, e);
        at += there;
    }
    if (!rc && at < n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: '%.100s' is there twice", file_of(s, edges, p[at].part),
                      p->field);
    const bool own = !strcmp(p->field, "orig_id"); /* of DGL 0.5 */
    if (!rc && (own || !gnn_dgl_arrays_field(p->field)))
        return gnn_array_list_leave(
            s->l,
            gnn_strf(e, "%s%s (%s)", prefix, p->field,
                     own ? "ids of DGL itself" : "a tensor of a name that fields cannot have"),
            e);
    if (!rc)
        rc = add_rows(s, edges, prefix, p, n, e);
    if (!rc)
        s->l->array[s->l->n - 1].order = order;
    return rc;
}

/* The features of a type. */
static int add_features(const struct gnn_dgl_features *s, const struct pieces *all, uint32_t type,
                        const struct gnn_dgl_type *t, bool edges, const char *prefix,
                        const uint64_t *order, struct gnn_err *e)
{
    int rc = GNN_OK;
    uint64_t n;
    for (uint64_t i = 0; !rc && i < all->n; i += n) {
        const struct piece *p = &all->piece[i];
        for (n = 1; i + n < all->n && p[n].type == p->type && !strcmp(p[n].field, p->field);)
            n++;
        if (p->type == type)
            rc = add_feature(s, t, edges, prefix, p, n, order, e);
    }
    return rc;
}

/* The list holds the order of a type from now on; NULL: rows stand as they lie. */
static int hold_order(const struct gnn_dgl_features *s, struct gnn_dgl_origin *o, uint32_t type,
                      const uint64_t **order, struct gnn_err *e)
{
    uint64_t *own = o->order ? o->order[type] : NULL;
    *order = own;
    if (!own)
        return GNN_OK;
    o->order[type] = NULL;
    return gnn_array_list_hold(s->l, own, gnn_free, e);
}

/* ---- nodes ---- */

static bool has_field(const struct pieces *all, uint32_t type, const char *field)
{
    bool has = false;
    for (uint64_t i = 0; !has && i < all->n; i++)
        has = all->piece[i].type == type && !strcmp(all->piece[i].field, field);
    return has;
}

/* The part of each node. */
static int add_part(const struct gnn_dgl_features *s, const struct gnn_dgl_type *t,
                    const char *prefix, const uint64_t *order, struct gnn_err *e)
{
    uint16_t *part = gnn_alloc(t->count, sizeof *part, "parts of nodes", e);
    int rc = part ? gnn_array_list_hold(s->l, part, gnn_free, e) : GNN_E_NOMEM;
    if (rc)
        return rc;
    for (uint32_t p = 0; p < s->book->parts; p++)
        for (uint64_t i = t->before[p]; i < t->before[p + 1]; i++)
            part[i] = (uint16_t)p;
    const struct gnn_strided a = {.dtype = GNN_U16,
                                  .dense = true,
                                  .ndim = 1,
                                  .shape = {t->count},
                                  .stride = {1},
                                  .count = t->count,
                                  .data = (const uint8_t *)part};
    rc = gnn_array_list_add(s->l, prefix, "part", &a, e);
    if (!rc)
        s->l->array[s->l->n - 1].order = order;
    return rc;
}

static int add_node_type(const struct gnn_dgl_features *s, const struct pieces *all, uint32_t type,
                         struct gnn_err *e)
{
    const struct gnn_dgl_type *t = &s->book->nodes.type[type];
    const uint64_t *order = NULL;
    char *prefix = gnn_strf(e, "%s/", gnn_dgl_arrays_type(t->name));
    int rc = prefix ? hold_order(s, s->nodes, type, &order, e) : GNN_E_NOMEM;
    if (!rc)
        rc = gnn_array_list_number(s->l, prefix, "num_nodes", (int64_t)t->count, e);
    if (!rc)
        rc = add_features(s, all, type, t, false, prefix, order, e);
    if (!rc && has_field(all, type, "part"))
        rc = gnn_array_list_leave(s->l,
                                  gnn_strf(e, "the parts of %s (there is a feature 'part')",
                                           gnn_dgl_arrays_type(t->name)),
                                  e);
    else if (!rc)
        rc = add_part(s, t, prefix, order, e);
    gnn_free(prefix);
    return rc;
}

int gnn_dgl_features_nodes(const struct gnn_dgl_features *s, struct gnn_err *e)
{
    struct pieces all = {0};
    int rc = find_pieces(&all, s, &s->book->nodes, false, e);
    for (uint32_t t = 0; !rc && t < s->book->nodes.n; t++)
        rc = add_node_type(s, &all, t, e);
    free_pieces(&all);
    return rc;
}

/* ---- edges ---- */

static int add_ends(const struct gnn_dgl_features *s, const struct gnn_dgl_type *t,
                    const char *prefix, const uint32_t *src, const uint32_t *dst, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (int k = 0; !rc && k < 2; k++) {
        const struct gnn_strided a = {.dtype = GNN_U32,
                                      .dense = true,
                                      .ndim = 1,
                                      .shape = {t->count},
                                      .stride = {1},
                                      .count = t->count,
                                      .data = (const uint8_t *)(k ? dst : src)};
        rc = gnn_array_list_add(s->l, prefix, k ? "dst" : "src", &a, e);
    }
    return rc;
}

static int add_edge_type(const struct gnn_dgl_features *s, const struct pieces *all, uint32_t type,
                         const uint32_t *src, const uint32_t *dst, struct gnn_err *e)
{
    const struct gnn_dgl_type *t = &s->book->edges.type[type], *n = s->book->nodes.type;
    const uint64_t *order = NULL;
    char *name, *prefix;
    if (t->src < 0)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: edge type '%.100s' has no edges, which would tell its node types",
                        s->book->path, t->name);
    name = gnn_dgl_arrays_etype(n[t->src].name, t->rel, n[t->dst].name, s->book->path, e);
    prefix = name ? gnn_strf(e, "%s/", name) : NULL;
    int rc = prefix ? hold_order(s, s->edges, type, &order, e) : e->code;
    if (!rc)
        rc = add_ends(s, t, prefix, src, dst, e);
    if (!rc)
        rc = add_features(s, all, type, t, true, prefix, order, e);
    gnn_free(name);
    gnn_free(prefix);
    return rc;
}

int gnn_dgl_features_edges(const struct gnn_dgl_features *s, uint32_t *const *src,
                           uint32_t *const *dst, struct gnn_err *e)
{
    struct pieces all = {0};
    int rc = find_pieces(&all, s, &s->book->edges, true, e);
    for (uint32_t t = 0; !rc && t < s->book->edges.n; t++)
        rc = add_edge_type(s, &all, t, src[t], dst[t], e);
    free_pieces(&all);
    return rc;
}
