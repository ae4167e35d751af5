/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between stores: as they lie on disk, or as graphs. */
#include <string.h>

#include "kernels/int8_row.h"
#include "lib/store/ids.h"
#include "lib/inspect/differ.h"
#include "lib/base/mem.h"

static int diff_parts(struct gnn_store *a, struct gnn_store *b, struct gnn_diff *d)
{
    char where[64];
    for (uint32_t p = 0; p < a->nparts && !d->differ; p++) {
        uint32_t na = gnn_store_ntensors(a, p), nb = gnn_store_ntensors(b, p);
        snprintf(where, sizeof where, "part %u", p);
        for (uint32_t i = 0; i < na && i < nb && !d->differ; i++)
            gnn_differ_tensor(d, gnn_store_at(a, p, i), gnn_store_at(b, p, i), where);
        if (!d->differ && na != nb)
            gnn_differ_text(d, na > nb ? gnn_store_peek(a, p, nb)->name : "(absent)",
                            nb > na ? gnn_store_peek(b, p, na)->name : "(absent)", "%s: tensor %u",
                            where, na < nb ? na : nb);
    }
    return GNN_OK;
}

int gnn_diff_stores(struct gnn_store *a, struct gnn_store *b, unsigned flags, struct gnn_diff *d,
                    struct gnn_err *e)
{
    struct gnn_view va = {0}, vb = {0};
    unsigned late = GNN_DIFF_PROVENANCE | GNN_DIFF_IDENTITY;
    int rc = gnn_differ_meta(d, &a->meta, &b->meta, flags & ~late, e);
    if (rc || d->differ)
        return rc;
    if (!(flags & GNN_DIFF_ORIGINAL)) {
        diff_parts(a, b, d);
        return d->differ ? GNN_OK : gnn_differ_meta(d, &a->meta, &b->meta, flags, e);
    }
    rc = gnn_view_init(&va, a, e) || gnn_view_init(&vb, b, e) || gnn_same_graph(&va, &vb, d, e)
             ? e->code
             : 0;
    gnn_view_release(&va);
    gnn_view_release(&vb);
    return rc;
}

/* ---- the same graph ---- */

/* One tensor of every part; absent ones are NULL. */
static const struct gnn_tensor **of_parts(struct gnn_store *s, const char *name, struct gnn_err *e)
{
    const struct gnn_tensor **t = gnn_alloc(s->nparts, sizeof *t, "list of partitions", e);
    for (uint32_t p = 0; t && p < s->nparts; p++)
        t[p] = gnn_store_find(s, p, name);
    return t;
}

/* Both sides of one tensor name. */
struct pair {
    const struct gnn_tensor **a, **b;
};
static int pair_init(struct pair *x, struct gnn_view *a, struct gnn_view *b, const char *name,
                     struct gnn_diff *d, struct gnn_err *e)
{
    x->a = of_parts(a->store, name, e);
    x->b = of_parts(b->store, name, e);
    if (!x->a || !x->b)
        return e->code;
    for (uint32_t i = 0; i < a->store->nparts && !d->differ; i++)
        for (uint32_t j = 0; j < b->store->nparts && !d->differ; j++)
            if (!x->a[i] != !x->b[j])
                gnn_differ_text(d, x->a[i] ? "present" : "absent", x->b[j] ? "present" : "absent",
                                "tensor %s", name);
    return GNN_OK;
}
static void pair_release(struct pair *x)
{
    gnn_free(x->a);
    gnn_free(x->b);
}

/* The schema's fields were checked when the store was opened, keys were not. */
static int rows_fit(const struct gnn_view *v, uint32_t t, const struct gnn_tensor **x, size_t row,
                    struct gnn_err *e)
{
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < v->store->nparts; p++)
        if (!gnn_tensor_bytes(x[p], &bytes) || bytes != gnn_store_owned(v->store, p, t) * row)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s has a wrong shape",
                            gnn_store_part_path(v->store, p), x[p]->name);
    return GNN_OK;
}

/* The rows that an original node has of a field of its type, or of in-edges. */
static struct gnn_view_row rows_of(const struct gnn_view *v, bool edge, uint32_t t, uint64_t node)
{
    struct gnn_view_row r = {.n = 1};
    if (edge)
        return gnn_view_row(v, t, node);
    r.first = gnn_view_locate(v, t, node, &r.part);
    return r;
}

/* Rows of a field that are not the same bytes. */
static void differ_rows(struct gnn_diff *d, const struct gnn_field *f, const void *a, const void *b,
                        uint64_t rows, const char *where)
{
    const uint64_t per = gnn_field_columns(f);
    char scale[GNN_NAME_MAX + 80];
    gnn_differ_elements(d, f->dtype, a, b, rows * per, 0, where);
    snprintf(scale, sizeof scale, "scale of %s", where);
    if (f->scaled && !d->differ) /* nodes come one by one */
        gnn_differ_elements(d, GNN_F32, gnn_int8_scale(a, per), gnn_int8_scale(b, per), 1, 0,
                            scale);
}

/* The tensors what/OWNER/FIELD: of nodes, or of edges. */
static int same_field(struct gnn_view *a, struct gnn_view *b, const char *what, uint32_t t,
                      const char *owner, const struct gnn_field *f, struct gnn_diff *d,
                      struct gnn_err *e)
{
    const struct gnn_schema *sc = &a->store->meta.schema;
    const size_t row = gnn_field_row_bytes(f);
    struct pair x = {0};
    char name[GNN_NAME_MAX + 1], where[GNN_NAME_MAX + 64];
    const bool edge = !strcmp(what, "edge");

    snprintf(name, sizeof name, "%s/%s/%s", what, owner, f->name);
    int rc = pair_init(&x, a, b, name, d, e);
    if (!rc && !d->differ && x.a[0] && !edge)
        rc = rows_fit(a, t, x.a, row, e) || rows_fit(b, t, x.b, row, e) ? e->code : 0;
    if (!rc && !d->differ && x.a[0])
        for (uint64_t i = 0; i < sc->ntype[edge ? sc->etype[t].dst : t].count && !d->differ; i++) {
            const struct gnn_view_row ra = rows_of(a, edge, t, i), rb = rows_of(b, edge, t, i);
            const char *pa = (const char *)x.a[ra.part]->data + ra.first * row,
                       *pb = (const char *)x.b[rb.part]->data + rb.first * row;
            if (memcmp(pa, pb, ra.n * row) == 0)
                continue;
            snprintf(where, sizeof where, "tensor %s, %soriginal node %llu", name,
                     edge ? "in-edges of " : "", (unsigned long long)i);
            differ_rows(d, f, pa, pb, ra.n, where);
        }
    pair_release(&x);
    return rc;
}

static int same_names(struct gnn_view *a, struct gnn_view *b, uint32_t t, struct gnn_diff *d,
                      struct gnn_err *e)
{
    const struct gnn_ntype *nt = &a->store->meta.schema.ntype[t];
    struct pair text = {0}, off = {0};
    char name[GNN_NAME_MAX + 1];

    snprintf(name, sizeof name, "node/%s/name", nt->name);
    int rc = pair_init(&text, a, b, name, d, e);
    snprintf(name, sizeof name, "node/%s/name_offsets", nt->name);
    if (!rc)
        rc = pair_init(&off, a, b, name, d, e);
    if (!rc && !d->differ && off.a[0] && text.a[0])
        for (uint64_t i = 0; i < nt->count && !d->differ; i++) {
            uint32_t p, q;
            uint64_t ra = gnn_view_locate(a, t, i, &p), rb = gnn_view_locate(b, t, i, &q);
            const uint64_t *oa = (const uint64_t *)off.a[p]->data + ra,
                           *ob = (const uint64_t *)off.b[q]->data + rb;
            if (oa[0] > oa[1] || oa[1] > text.a[p]->shape[0] || ob[0] > ob[1] ||
                ob[1] > text.b[q]->shape[0]) {
                rc = gnn_fail(e, GNN_E_INPUT,
                              "tensor %s: offsets of original node %llu out of order", name,
                              (unsigned long long)i);
                break;
            }
            const char *na = (const char *)text.a[p]->data + oa[0],
                       *nb = (const char *)text.b[q]->data + ob[0];
            uint64_t la = oa[1] - oa[0], lb = ob[1] - ob[0];
            if (la == lb && memcmp(na, nb, la) == 0)
                continue;
            snprintf(d->a, sizeof d->a, "%.*s", (int)(la < 150 ? la : 150), na);
            snprintf(d->b, sizeof d->b, "%.*s", (int)(lb < 150 ? lb : 150), nb);
            gnn_differ(d, "name of %s, original node %llu", nt->name, (unsigned long long)i);
        }
    pair_release(&text);
    pair_release(&off);
    return rc;
}

static int same_nodes(struct gnn_view *a, struct gnn_view *b, uint32_t t, struct gnn_diff *d,
                      struct gnn_err *e)
{
    static char word[] = "key";
    static const struct gnn_field key = {.name = word, .dtype = GNN_I64};
    const struct gnn_ntype *nt = &a->store->meta.schema.ntype[t];
    int rc = GNN_OK;
    if (!gnn_field_find(nt->field, nt->nfields, "key"))
        rc = same_field(a, b, "node", t, nt->name, &key, d, e);
    for (uint32_t f = 0; !rc && !d->differ && f < nt->nfields; f++)
        rc = same_field(a, b, "node", t, nt->name, &nt->field[f], d, e);
    if (!rc && !d->differ)
        rc = same_names(a, b, t, d, e);
    return rc;
}

/* Original sources of a row into buf. */
static uint32_t *original_sources(const struct gnn_view *v, uint32_t t,
                                  const struct gnn_view_row *r, struct gnn_buf *buf,
                                  struct gnn_err *e)
{
    if (gnn_buf_reserve(buf, r->n, sizeof(uint32_t), "row of edges", e))
        return NULL;
    uint32_t *ids = buf->data;
    for (uint64_t i = 0; i < r->n; i++)
        ids[i] = gnn_view_orig(v, t, r->indices[i]);
    return ids;
}

static int same_adjacency(struct gnn_view *a, struct gnn_view *b, uint32_t et, const char *key,
                          struct gnn_diff *d, struct gnn_err *e)
{
    const struct gnn_schema *sc = &a->store->meta.schema;
    const struct gnn_etype *t = &sc->etype[et];
    struct gnn_buf ba = {0}, bb = {0};
    char where[GNN_NAME_MAX + 64];

    for (uint64_t i = 0; i < sc->ntype[t->dst].count && !d->differ && !e->code; i++) {
        struct gnn_view_row ra = gnn_view_row(a, et, i), rb = gnn_view_row(b, et, i);
        snprintf(d->a, sizeof d->a, "%llu", (unsigned long long)ra.n);
        snprintf(d->b, sizeof d->b, "%llu", (unsigned long long)rb.n);
        if (ra.n != rb.n) {
            gnn_differ(d, "edge type %s, in-degree of original node %llu", key,
                       (unsigned long long)i);
            break;
        }
        uint32_t *sa = original_sources(a, t->src, &ra, &ba, e),
                 *sb = sa ? original_sources(b, t->src, &rb, &bb, e) : NULL;
        if (!sb || memcmp(sa, sb, ra.n * sizeof *sa) == 0)
            continue;
        snprintf(where, sizeof where, "edge type %s, in-edges of original node %llu", key,
                 (unsigned long long)i);
        gnn_differ_elements(d, GNN_U32, sa, sb, ra.n, 0, where);
        gnn_u32_sort(sa, ra.n);
        gnn_u32_sort(sb, rb.n);
        if (memcmp(sa, sb, ra.n * sizeof *sa) == 0)
            gnn_differ(d, "%s (the same edges in another order)", where);
    }
    gnn_buf_release(&ba);
    gnn_buf_release(&bb);
    return e->code;
}

/* A set of links, its ends as original ids. */
static int original_links(const struct gnn_view *v, uint32_t set, uint32_t **ends, int64_t **times,
                          struct gnn_err *e)
{
    const struct gnn_schema *sc = &v->store->meta.schema;
    const struct gnn_etype *t = &sc->etype[sc->set[set].etype];
    *times = NULL;
    if (gnn_store_links(v->store, set, ends, times, e))
        return e->code;
    for (uint64_t j = 0; j < sc->set[set].count; j++) {
        (*ends)[2 * j] = gnn_view_orig(v, t->src, (*ends)[2 * j]);
        (*ends)[2 * j + 1] = gnn_view_orig(v, t->dst, (*ends)[2 * j + 1]);
    }
    return 0;
}

/* What links have of their edges. */
static void same_link_fields(struct gnn_view *a, struct gnn_view *b, uint32_t set,
                             const char *where, struct gnn_diff *d, struct gnn_err *e)
{
    const struct gnn_schema *c = &a->store->meta.schema;
    const struct gnn_split_set *m = &c->set[set];
    for (uint32_t k = 0; k < c->etype[m->etype].nfields && !d->differ && !e->code; k++) {
        const struct gnn_field *f = gnn_link_field(c, set, k);
        void *x = NULL, *y = NULL;
        if (f && !gnn_store_link_field(a->store, set, f, &x, e) &&
            !gnn_store_link_field(b->store, set, f, &y, e))
            gnn_differ_elements(d, f->dtype, x, y, m->count, 0, where);
        gnn_free(x);
        gnn_free(y);
    }
}

static void same_links(struct gnn_view *a, struct gnn_view *b, uint32_t set, const char *where,
                       struct gnn_diff *d, struct gnn_err *e)
{
    const struct gnn_split_set *m = &a->store->meta.schema.set[set];
    uint32_t *x = NULL, *y = NULL;
    int64_t *xt = NULL, *yt = NULL;
    if (!original_links(a, set, &x, &xt, e) && !original_links(b, set, &y, &yt, e))
        gnn_differ_elements(d, GNN_U32, x, y, 2 * m->count, 0, where);
    if (!e->code && !d->differ && m->time)
        gnn_differ_elements(d, m->time, xt, yt, m->count, 0, where);
    if (!e->code && !d->differ)
        same_link_fields(a, b, set, where, d, e);
    gnn_free(x);
    gnn_free(y);
    gnn_free(xt);
    gnn_free(yt);
}

static int same_sets(struct gnn_view *a, struct gnn_view *b, struct gnn_diff *d, struct gnn_err *e)
{
    const struct gnn_schema *sc = &a->store->meta.schema;
    for (uint32_t i = 0; i < sc->nsets && !d->differ && !e->code; i++) {
        uint32_t *x = NULL, *y = NULL, t = sc->set[i].ntype;
        char where[GNN_NAME_MAX + 1];
        snprintf(where, sizeof where, "split %s/%s", sc->set[i].split, sc->set[i].set);
        if (sc->set[i].links) {
            same_links(a, b, i, where, d, e);
            continue;
        }
        if (!gnn_store_split(a->store, i, &x, e) && !gnn_store_split(b->store, i, &y, e)) {
            for (uint64_t j = 0; j < sc->set[i].count; j++) {
                x[j] = gnn_view_orig(a, t, x[j]);
                y[j] = gnn_view_orig(b, t, y[j]);
            }
            gnn_differ_elements(d, GNN_U32, x, y, sc->set[i].count, 0, where);
        }
        gnn_free(x);
        gnn_free(y);
    }
    return e->code;
}

int gnn_same_graph(struct gnn_view *a, struct gnn_view *b, struct gnn_diff *d, struct gnn_err *e)
{
    const struct gnn_schema *sc = &a->store->meta.schema;
    char key[GNN_ETYPE_KEY_CAPACITY];
    int rc = gnn_differ_meta(d, &a->store->meta, &b->store->meta, GNN_DIFF_ORIGINAL, e);

    for (uint32_t t = 0; !rc && !d->differ && t < sc->nntypes; t++)
        rc = same_nodes(a, b, t, d, e);
    for (uint32_t et = 0; !rc && !d->differ && et < sc->netypes; et++) {
        gnn_etype_key(sc, et, key, sizeof key);
        rc = same_adjacency(a, b, et, key, d, e);
        for (uint32_t f = 0; !rc && !d->differ && f < sc->etype[et].nfields; f++)
            rc = same_field(a, b, "edge", et, key, &sc->etype[et].field[f], d, e);
    }
    if (!rc && !d->differ)
        rc = same_sets(a, b, d, e);
    return rc;
}
