/* SPDX-License-Identifier: Apache-2.0 */
/* Features of the nodes or edges of a part, and masks of sets, as a folder of DGL has them
 * (lib/partition/dgl_folder.h). Tensors of the store have their rows in the order of new ids. */
#include <string.h>

#include "formats/npy.h"
#include "lib/base/mem.h"
#include "lib/partition/dgl_folder.h"

enum { BLOCK = 4096 };

/* What is written of a type. */
struct column {
    const struct gnn_dgl_folder *f;
    uint32_t part, type, set;
    const struct gnn_tensor *t; /* of a field; NULL: a mask */
    struct gnn_err *e;
};
struct columns {
    struct gnn_dgl_column *out; /* (n), whose names are freed */
    struct column *from;
    uint32_t n;
};

/* ---- elements ---- */

/* Numbers that PyTorch has no type for, as i32 or i64. */
static int put_widened(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to, uint64_t n)
{
    const struct column *from = c->from;
    const uint8_t *data = from->t->data;
    const size_t size = gnn_dtype_bytes(from->t->dtype);
    int64_t wide[BLOCK];
    int32_t narrow[BLOCK];
    uint64_t bad;
    int rc = 0;
    for (uint64_t at = 0, k; !rc && at < n; at += k) {
        k = n - at < BLOCK ? n - at : BLOCK;
        if (!gnn_npy_to_i64(from->t->dtype, data + at * size, wide, k, &bad))
            return gnn_fail(from->e, GNN_E_INPUT,
                            "%s: tensor %s: element %llu is more than an i64 can be, the largest "
                            "integer of PyTorch",
                            from->f->store->path, from->t->name, (unsigned long long)(at + bad));
        for (uint64_t i = 0; i < k; i++)
            narrow[i] = (int32_t)wide[i];
        rc = c->dtype == GNN_I32 ? to->put(to->arg, narrow, k * sizeof *narrow)
                                 : to->put(to->arg, wide, k * sizeof *wide);
    }
    return rc;
}

static int put_field(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to)
{
    const struct column *from = c->from;
    const uint64_t n = c->shape[0] * (c->ndim > 1 ? c->shape[1] : 1);
    return from->t->dtype == c->dtype
               ? to->put(to->arg, from->t->data, n * gnn_dtype_bytes(c->dtype))
               : put_widened(c, to, n);
}

static int put_mask(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to)
{
    const struct column *from = c->from;
    const struct gnn_split_set *set = &from->f->schema->set[from->set];
    struct gnn_store *s = from->f->store;
    const struct gnn_tensor *t =
        gnn_store_findf(s, from->part, "split/%s/%s", set->split, set->set);
    uint8_t *mask = gnn_alloc_zero(c->shape[0], 1, "a mask", from->e);
    const uint64_t first = s->book[from->type][from->part];
    if (!t)
        gnn_fail(from->e, GNN_E_INPUT, "%s: the set %s/%s is missing",
                 gnn_store_part_path(s, from->part), set->split, set->set);
    const uint32_t *ids = t ? t->data : NULL;
    for (uint64_t i = 0; mask && t && i < t->shape[0]; i++)
        mask[ids[i] - first] = 1;
    int rc = from->e->code ? from->e->code : to->put(to->arg, mask, c->shape[0]);
    gnn_free(mask);
    return rc;
}

/* ---- the list ---- */

/* Adds a column; `from` says what of. The first of its two dimensions is that of nodes or edges. */
static int add_column(struct columns *l, const char *type, const char *name,
                      const struct column *from, struct gnn_dgl_column c, struct gnn_err *e)
{
    int rc = gnn_grow(&l->out, l->n, sizeof *l->out, "tensors", e);
    if (!rc)
        rc = gnn_grow(&l->from, l->n, sizeof *l->from, "tensors", e);
    char *full = rc ? NULL : gnn_strf(e, "%s/%s", type, name);
    if (!full)
        return rc ? rc : GNN_E_NOMEM;
    c.name = full;
    l->from[l->n] = *from;
    l->out[l->n++] = c;
    return GNN_OK;
}

static int add_field(struct columns *l, const char *type, const char *key, bool edges,
                     const struct gnn_field *f, struct column from, uint64_t rows,
                     struct gnn_err *e)
{
    const struct gnn_dgl_folder *d = from.f;
    from.t =
        gnn_store_findf(d->store, from.part, "%s/%s/%s", edges ? "edge" : "node", key, f->name);
    if (!from.t)
        return gnn_fail(e, GNN_E_INPUT, "%s: field '%s' of '%s' is missing",
                        gnn_store_part_path(d->store, from.part), f->name, key);
    return add_column(
        l, type, gnn_dgl_field(f->name), &from,
        (struct gnn_dgl_column){.dtype = gnn_dgl_dtype(d->schema, edges, from.type, f),
                                .ndim = f->width ? 2 : 1,
                                .shape = {rows, f->width},
                                .write = put_field},
        e);
}

static int add_nodes(struct columns *l, const struct gnn_dgl_folder *f, uint32_t part, uint32_t t,
                     struct gnn_err *e)
{
    const struct gnn_ntype *nt = &f->schema->ntype[t];
    const uint64_t n = gnn_store_owned(f->store, part, t);
    const char *type = gnn_dgl_ntype(f->schema, t);
    struct column from = {.f = f, .part = part, .type = t, .e = e};
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < nt->nfields; i++)
        rc = add_field(l, type, nt->name, false, &nt->field[i], from, n, e);
    for (uint32_t i = 0; !rc && i < f->schema->nsets; i++) {
        const char *mask = gnn_dgl_mask(f->schema, i);
        from.set = i;
        if (mask && f->schema->set[i].ntype == t)
            rc = add_column(l, type, mask, &from,
                            (struct gnn_dgl_column){
                                .dtype = GNN_U8, .ndim = 1, .shape = {n}, .write = put_mask},
                            e);
    }
    return rc;
}

static int add_edges(struct columns *l, const struct gnn_dgl_folder *f, uint32_t part, uint32_t t,
                     struct gnn_err *e)
{
    const struct gnn_etype *et = &f->schema->etype[t];
    const uint64_t n = gnn_dgl_edge_from(f, part, t + 1) - gnn_dgl_edge_from(f, part, t);
    char key[GNN_ETYPE_KEY_CAPACITY];
    char *type = gnn_dgl_etype(f->schema, t, e);
    int rc = type ? GNN_OK : GNN_E_NOMEM;
    gnn_etype_key(f->schema, t, key, sizeof key);
    for (uint32_t i = 0; !rc && i < et->nfields; i++)
        if (!gnn_dgl_derives(et, &et->field[i]))
            rc = add_field(l, type, key, true, &et->field[i],
                           (struct column){.f = f, .part = part, .type = t, .e = e}, n, e);
    gnn_free(type);
    return rc;
}

int gnn_dgl_write_part_columns(const struct gnn_dgl_folder *f, uint32_t part, bool edges,
                               struct gnn_err *e)
{
    struct columns l = {0};
    int rc = GNN_OK;
    for (uint32_t t = 0; !rc && t < (edges ? f->schema->netypes : f->schema->nntypes); t++)
        rc = edges ? add_edges(&l, f, part, t, e) : add_nodes(&l, f, part, t, e);
    for (uint32_t i = 0; i < l.n; i++) /* the list has moved as it grew */
        l.out[i].from = &l.from[i];
    char *name = rc ? NULL : gnn_strf(e, "part%u/%s_feat.dgl", part, edges ? "edge" : "node");
    if (!rc)
        rc = name ? gnn_dgl_stream_tensors(f, name, l.out, l.n, e) : GNN_E_NOMEM;
    gnn_free(name);
    for (uint32_t i = 0; i < l.n; i++)
        gnn_free((void *)(uintptr_t)l.out[i].name);
    gnn_free(l.out);
    gnn_free(l.from);
    return rc;
}
