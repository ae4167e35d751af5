/* SPDX-License-Identifier: Apache-2.0 */
/* Do the tensors of a store's parts have the shapes that its schema asks for? */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/xxh.h"
#include "lib/data/tensors.h"
#include "lib/store/store.h"
#include "lib/base/plural.h"

/* What a tensor should be. */
struct want {
    enum gnn_dtype dtype;
    uint64_t rows, width; /* rows UINT64_MAX: any */
    bool required;
    const struct gnn_tensor **out; /* or NULL */
};

/* Looks a tensor up, by a name like printf, without queueing it for verification: only its shape
 * matters here. */
static GNN_PRINTF(5, 6) int check_shape(struct gnn_store *s, uint32_t part, struct want w,
                                        struct gnn_err *e, const char *fmt, ...)
{
    char name[GNN_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    const struct gnn_tensor *t = gnn_store_look(s, part, name);
    if (w.out)
        *w.out = t;
    if (!t)
        return w.required ? gnn_fail(e, GNN_E_INPUT, "%s: tensor '%s' is missing",
                                     gnn_store_part_path(s, part), name)
                          : 0;
    if (t->dtype != w.dtype || t->ndim != (w.width ? 2 : 1) ||
        (w.rows != UINT64_MAX && t->shape[0] != w.rows) || (w.width && t->shape[1] != w.width))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: tensor '%s' does not have the dtype or shape of its schema",
                        gnn_store_part_path(s, part), name);
    return 0;
}

static int check_book(struct gnn_store *s, uint32_t t, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &s->meta.schema.ntype[t];
    uint64_t n = (uint64_t)s->nparts + 1,
             *book = gnn_alloc_zero(n + s->comm->size + 1, sizeof *book, "partition book", e);
    if (!book)
        return e->code;
    s->book[t] = book;
    s->rank_book[t] = book + n;
    book[1] = nt->count; /* what a store of one part may leave out */
    for (uint32_t p = s->from; p < s->to; p++) {
        const struct gnn_tensor *x;
        if (check_shape(s, p, (struct want){GNN_U64, n, 0, s->nparts > 1, &x}, e, "book/%s",
                        nt->name))
            return e->code;
        if (x && p == s->from)
            memcpy(book, x->data, n * sizeof *book);
        else if (x && memcmp(book, x->data, n * sizeof *book))
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor '%s' differs from that of partition %u",
                            gnn_store_part_path(s, p), x->name, s->from);
    }
    for (uint32_t p = 0; p < s->nparts; p++)
        if (book[p] > book[p + 1])
            return gnn_fail(e, GNN_E_INPUT, "%s: partition book of '%s' is not monotone", s->path,
                            nt->name);
    if (book[0] || book[s->nparts] != nt->count)
        return gnn_fail(e, GNN_E_INPUT, "%s: partition book of '%s' does not cover its nodes",
                        s->path, nt->name);
    for (uint32_t r = 0; r <= s->comm->size; r++)
        book[n + r] = book[gnn_store_rank_from(s, r)];
    return 0;
}

/* A field, whose tensor learns that its rows are int8. */
static int check_field(struct gnn_store *s, uint32_t p, const struct gnn_ntype *nt,
                       const struct gnn_field *f, uint64_t n, struct gnn_err *e)
{
    const struct gnn_tensor *x;
    const struct want want = {gnn_field_stored_dtype(f), n, gnn_field_stored_width(f), true, &x};
    if (check_shape(s, p, want, e, "node/%s/%s", nt->name, f->name))
        return e->code;
    if (f->scaled)
        ((struct gnn_tensor *)(uintptr_t)x)->int8 = gnn_field_columns(f); /* the store's own */
    return 0;
}

static int check_nodes(struct gnn_store *s, uint32_t p, uint32_t t, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &s->meta.schema.ntype[t];
    const uint64_t n = gnn_store_owned(s, p, t);
    const struct gnn_tensor *offsets;
    if (check_shape(s, p, (struct want){GNN_U32, n, 0, s->nparts > 1, NULL}, e, "node/%s/id",
                    nt->name))
        return e->code;
    for (uint32_t i = 0; i < nt->nfields; i++) {
        if (check_field(s, p, nt, &nt->field[i], n, e))
            return e->code;
    }
    if ((!gnn_field_find(nt->field, nt->nfields, "key") &&
         check_shape(s, p, (struct want){GNN_I64, n, 0, false, NULL}, e, "node/%s/key",
                     nt->name)) ||
        check_shape(s, p, (struct want){GNN_U64, n + 1, 0, false, &offsets}, e,
                    "node/%s/name_offsets", nt->name) ||
        !offsets)
        return e->code;
    const uint64_t text = ((const uint64_t *)offsets->data)[n];
    return check_shape(s, p, (struct want){GNN_U8, text, 0, true, NULL}, e, "node/%s/name",
                       nt->name);
}

static int check_edges(struct gnn_store *s, uint32_t p, uint32_t t, uint64_t *total,
                       struct gnn_err *e)
{
    const struct gnn_etype *et = &s->meta.schema.etype[t];
    const uint64_t n = gnn_store_owned(s, p, et->dst);
    const struct gnn_tensor *indptr, *id;
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(&s->meta.schema, t, key, sizeof key);
    if (check_shape(s, p, (struct want){GNN_U64, n + 1, 0, true, &indptr}, e, "edge/%s/indptr",
                    key))
        return e->code;
    const uint64_t *ptr = indptr->data, edges = ptr[n];
    if (ptr[0] || edges > et->count)
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor '%s' does not fit its edge count",
                        gnn_store_part_path(s, p), indptr->name);
    *total += edges;
    if (check_shape(s, p, (struct want){GNN_U32, edges, 0, true, NULL}, e, "edge/%s/indices",
                    key) ||
        check_shape(s, p, (struct want){GNN_U64, edges, 0, s->nparts > 1 && et->nfields, &id}, e,
                    "edge/%s/id", key))
        return e->code;
    char name[GNN_NAME_MAX + 1];
    if (!gnn_store_look(s, s->from, gnn_tensor_name(name, "edge/%s/id", key)) != !id)
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor '%s' is in some partitions only", s->path,
                        name);
    for (uint32_t i = 0; i < et->nfields; i++)
        if (check_shape(s, p,
                        (struct want){et->field[i].dtype, edges, et->field[i].width, true, NULL}, e,
                        "edge/%s/%s", key, et->field[i].name))
            return e->code;
    return 0;
}

/* The halo's nodes, which a store of one part need not have. */
static int check_halo(struct gnn_store *s, uint32_t p, uint32_t t, struct gnn_err *e)
{
    const char *type = s->meta.schema.ntype[t].name;
    const struct gnn_tensor *ids;
    if (check_shape(s, p, (struct want){GNN_U32, UINT64_MAX, 0, false, &ids}, e, "halo/%s/ids",
                    type) ||
        !ids)
        return e->code;
    const struct want each = {GNN_U32, ids->shape[0], 0, false, NULL};
    return check_shape(s, p, each, e, "halo/%s/owner", type) ||
                   check_shape(s, p, each, e, "halo/%s/id", type)
               ? e->code
               : 0;
}

/* Their in-edges: of all edge types or of none. */
static int check_halo_edges(struct gnn_store *s, uint32_t p, uint32_t t, struct gnn_err *e)
{
    const struct gnn_schema *m = &s->meta.schema;
    const struct gnn_etype *et = &m->etype[t];
    const char *dst = m->ntype[et->dst].name;
    const struct gnn_tensor *indptr, *ids;
    char key[GNN_ETYPE_KEY_CAPACITY], name[GNN_NAME_MAX + 1];
    gnn_etype_key(m, 0, key, sizeof key);
    if (!gnn_store_look(s, p, gnn_tensor_name(name, "halo/%s/indptr", key)))
        return 0;
    gnn_etype_key(m, t, key, sizeof key);
    if (check_shape(s, p, (struct want){GNN_U32, UINT64_MAX, 0, true, &ids}, e, "halo/%s/ids",
                    dst) ||
        check_shape(s, p, (struct want){GNN_U32, ids->shape[0], 0, true, NULL}, e, "halo/%s/id",
                    dst) ||
        check_shape(s, p, (struct want){GNN_U64, ids->shape[0] + 1, 0, true, &indptr}, e,
                    "halo/%s/indptr", key))
        return e->code;
    const uint64_t edges = ((const uint64_t *)indptr->data)[ids->shape[0]];
    if (edges > et->count)
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor '%s' does not fit its edge count",
                        gnn_store_part_path(s, p), indptr->name);
    return check_shape(s, p, (struct want){GNN_U32, edges, 0, true, NULL}, e, "halo/%s/indices",
                       key) ||
                   check_shape(s, p, (struct want){GNN_U64, edges, 0, false, NULL}, e, "halo/%s/id",
                               key)
               ? e->code
               : 0;
}

/* Fields that links have of their edges. */
static int check_link_fields(struct gnn_store *s, uint32_t p, uint32_t i, uint64_t n,
                             struct gnn_err *e)
{
    const struct gnn_split_set *set = &s->meta.schema.set[i];
    const uint32_t fields = set->fields ? s->meta.schema.etype[set->etype].nfields : 0;
    for (uint32_t k = 0; k < fields; k++) {
        const struct gnn_field *f = gnn_link_field(&s->meta.schema, i, k);
        if (f && check_shape(s, p, (struct want){f->dtype, n, 0, true, NULL}, e,
                             "split/%s/%s/edge/%s", set->split, set->set, f->name))
            return e->code;
    }
    return 0;
}

static int check_split(struct gnn_store *s, uint32_t p, uint32_t i, uint64_t *total,
                       struct gnn_err *e)
{
    const struct gnn_split_set *set = &s->meta.schema.set[i];
    const struct gnn_tensor *x;
    if (check_shape(s, p, (struct want){GNN_U32, UINT64_MAX, set->links ? 2 : 0, true, &x}, e,
                    "split/%s/%s", set->split, set->set) ||
        (set->time && check_shape(s, p, (struct want){set->time, x->shape[0], 0, true, NULL}, e,
                                  "split/%s/%s/time", set->split, set->set)) ||
        check_link_fields(s, p, i, x->shape[0], e))
        return e->code;
    *total += x->shape[0];
    return check_shape(s, p, (struct want){GNN_U64, x->shape[0], 0, s->nparts > 1, NULL}, e,
                       "split/%s/%s/order", set->split, set->set);
}

/* The totals of all parts, and so of all ranks: edges of each type, members of each set. */
static int check_totals(struct gnn_store *s, uint64_t *edges, uint64_t *members, struct gnn_err *e)
{
    const struct gnn_schema *m = &s->meta.schema;
    int rc = gnn_comm_all_reduce(s->comm, edges, m->netypes, GNN_REDUCE_U64, e);
    if (!rc)
        rc = gnn_comm_all_reduce(s->comm, members, m->nsets, GNN_REDUCE_U64, e);
    for (uint32_t t = 0; !rc && t < m->netypes; t++)
        if (edges[t] != m->etype[t].count)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: edge type '%s' has %llu edge%s instead of %llu",
                          s->path, m->etype[t].rel, (unsigned long long)edges[t],
                          gnn_plural(edges[t]), (unsigned long long)m->etype[t].count);
    if (!rc)
        rc = gnn_schema_check_counts(m, s->path, e);
    for (uint32_t i = 0; !rc && i < m->nsets; i++)
        if (members[i] != m->set[i].count)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: split '%s/%s' has %llu member%s instead of %llu",
                          s->path, m->set[i].split, m->set[i].set, (unsigned long long)members[i],
                          gnn_plural(members[i]), (unsigned long long)m->set[i].count);
    return rc;
}

/* Every part has the book. Ranks find the owner of a node in it, so all must have the same. */
static int agree_on_books(struct gnn_store *s, struct gnn_err *e)
{
    uint64_t sum = 0;
    char text[32];
    for (uint32_t t = 0; t < s->meta.schema.nntypes; t++)
        sum = XXH3_64bits_withSeed(s->book[t], ((uint64_t)s->nparts + 1) * sizeof **s->book, sum);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)sum);
    return gnn_comm_agree(s->comm, "partition book", text, e);
}

int gnn_store_check(struct gnn_store *s, struct gnn_err *e)
{
    const struct gnn_schema *m = &s->meta.schema;
    s->book = gnn_alloc_zero(2 * (uint64_t)m->nntypes, sizeof *s->book, "partition book", e);
    s->rank_book = s->book ? s->book + m->nntypes : NULL;
    uint64_t *edges = gnn_alloc_zero((uint64_t)m->netypes + m->nsets, sizeof *edges, "counts", e);
    uint64_t *members = edges ? edges + m->netypes : NULL;
    int rc = s->book && edges ? 0 : e->code;
    for (uint32_t t = 0; !rc && t < m->nntypes; t++) {
        rc = check_book(s, t, e);
        for (uint32_t p = s->from; !rc && p < s->to; p++)
            rc = check_nodes(s, p, t, e) || check_halo(s, p, t, e) ? e->code : 0;
    }
    if (!rc)
        rc = agree_on_books(s, e);
    for (uint32_t p = s->from; !rc && p < s->to; p++) {
        for (uint32_t t = 0; !rc && t < m->netypes; t++)
            rc = check_edges(s, p, t, &edges[t], e) || check_halo_edges(s, p, t, e) ? e->code : 0;
        for (uint32_t i = 0; !rc && i < m->nsets; i++)
            rc = check_split(s, p, i, &members[i], e);
    }
    if (!rc)
        rc = check_totals(s, edges, members, e);
    gnn_free(edges);
    return rc;
}
