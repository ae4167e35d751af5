/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/link_part.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/data/tensors.h"

enum { PIECE = 1 << 20 };

struct link_filling {
    struct gnn_store_writer *w;
    uint32_t id;
    uint64_t n;
    char bytes[PIECE];
};

static int flush_bytes(struct link_filling *f, struct gnn_err *e)
{
    const uint64_t n = f->n;
    f->n = 0;
    return gnn_part_write(f->w, f->id, f->bytes, n, e);
}

static int put_bytes(struct link_filling *f, const void *data, uint64_t n, struct gnn_err *e)
{
    if (n > PIECE - f->n && flush_bytes(f, e))
        return e->code;
    if (n > PIECE)
        return gnn_part_write(f->w, f->id, data, n, e);
    memcpy(f->bytes + f->n, data, n);
    f->n += n;
    return 0;
}

/* ---- edges ---- */

/* A node of the part, the i-th: its row, and where its edges are in sets. */
struct kept_row {
    const uint8_t *of;
    uint64_t first, n, orig;
};
static struct kept_row row_at(const struct gnn_link_writing *k, uint32_t i, uint64_t node)
{
    const struct link_edge_sets *t = &k->x->edges[i];
    const struct gnn_view *v = k->x->view;
    const uint32_t dst = k->s->meta.schema.etype[t->etype].dst;
    const struct gnn_view_part *p = &v->ep[(size_t)t->etype * k->s->nparts + k->part];
    const uint64_t orig = gnn_view_orig(v, dst, k->s->book[dst][k->part] + node);
    return (struct kept_row){t->of + t->first[orig], p->indptr[node],
                             p->indptr[node + 1] - p->indptr[node], orig};
}

static uint64_t rows_of(const struct gnn_link_writing *k, uint32_t i)
{
    return gnn_store_owned(k->s, k->part, k->s->meta.schema.etype[k->x->edges[i].etype].dst);
}

static uint64_t count_kept(const struct gnn_link_writing *k, uint32_t i)
{
    uint64_t n = 0;
    for (uint64_t v = 0; v < rows_of(k, i); v++) {
        const struct kept_row row = row_at(k, i, v);
        n += k->kept[i][row.orig + 1] - k->kept[i][row.orig];
    }
    return n;
}

/* Rows of edges, of those that are left. data NULL: their ids. */
static int write_rows(struct gnn_link_writing *k, uint32_t i, const char *data, uint64_t bytes,
                      struct gnn_err *e)
{
    for (uint64_t v = 0; v < rows_of(k, i); v++) {
        const struct kept_row row = row_at(k, i, v);
        uint64_t id = k->kept[i][row.orig];
        for (uint64_t j = 0; j < row.n; j++) {
            if (!link_sets_carry(k->x, row.of[j]))
                continue;
            if (data ? put_bytes(k->to, data + (row.first + j) * bytes, bytes, e)
                     : put_bytes(k->to, &id, sizeof id, e))
                return e->code;
            id++;
        }
    }
    return 0;
}

static int write_offsets(struct gnn_link_writing *k, uint32_t i, struct gnn_err *e)
{
    uint64_t sum = 0;
    if (put_bytes(k->to, &sum, sizeof sum, e))
        return e->code;
    for (uint64_t v = 0; v < rows_of(k, i); v++) {
        const struct kept_row row = row_at(k, i, v);
        sum += k->kept[i][row.orig + 1] - k->kept[i][row.orig];
        if (put_bytes(k->to, &sum, sizeof sum, e))
            return e->code;
    }
    return 0;
}

/* ---- halo ---- */

static bool is_kept(const struct gnn_link_writing *k, uint32_t etype, uint64_t tail, uint64_t j)
{
    for (uint32_t i = 0; i < k->x->ntypes; i++)
        if (k->x->edges[i].etype == etype)
            return link_sets_carry(k->x, k->x->edges[i].of[k->x->edges[i].first[tail] + j]);
    return true;
}

static void mark_sources(struct gnn_link_writing *k, uint32_t etype)
{
    const struct gnn_view *v = k->x->view;
    const struct gnn_etype *t = &k->s->meta.schema.etype[etype];
    const struct gnn_view_part *p = &v->ep[(size_t)etype * k->s->nparts + k->part];
    const uint64_t *book = k->s->book[t->src], from = k->s->book[t->dst][k->part];
    for (uint64_t i = 0; i < gnn_store_owned(k->s, k->part, t->dst); i++) {
        const uint64_t orig = gnn_view_orig(v, t->dst, from + i);
        for (uint64_t j = p->indptr[i]; j < p->indptr[i + 1]; j++) {
            const uint32_t id = p->indices[j];
            if ((id < book[k->part] || id >= book[k->part + 1]) &&
                is_kept(k, etype, orig, j - p->indptr[i]))
                k->marks[id / 64] |= (uint64_t)1 << id % 64;
        }
    }
}

/* The part's halo of a node type: *n nodes in k->halo. */
static int find_halo(struct gnn_link_writing *k, uint32_t t, uint64_t *n, struct gnn_err *e)
{
    const struct gnn_schema *c = &k->s->meta.schema;
    const uint64_t words = c->ntype[t].count / 64 + 1;
    *n = 0;
    memset(k->marks, 0, words * sizeof *k->marks);
    for (uint32_t et = 0; et < c->netypes; et++)
        if (c->etype[et].src == t)
            mark_sources(k, et);
    for (uint64_t w = 0; w < words; w++)
        *n += (uint64_t)__builtin_popcountll(k->marks[w]);
    if (gnn_buf_reserve(&k->halo, *n, sizeof(uint32_t), "a halo", e))
        return e->code;
    uint32_t *id = k->halo.data;
    for (uint64_t w = 0; w < words; w++)
        for (uint64_t b = k->marks[w]; b; b &= b - 1)
            *id++ = (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(b));
    return 0;
}

static int write_halo(struct gnn_link_writing *k, uint32_t t, bool owners, struct gnn_err *e)
{
    uint64_t n;
    if (find_halo(k, t, &n, e))
        return e->code;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t v = ((const uint32_t *)k->halo.data)[i];
        if (owners)
            v = gnn_store_owner(k->s, t, v);
        if (put_bytes(k->to, &v, sizeof v, e))
            return e->code;
    }
    return 0;
}

/* ---- sets ---- */

/* What is told of a set's links: all of it, or how many the part has. */
enum what { LINKS_COUNT, LINKS_ENDS, LINKS_TIME, LINKS_ORDER, LINKS_FIELD };

/* A field of a link's edge, which lies in this part: rows of so many bytes. */
static const char *field_of(const struct gnn_link_writing *k, const struct link_members *m,
                            uint64_t i, const char *rows, uint64_t bytes)
{
    const struct link_edge_sets *t = &k->x->edges[0];
    const struct gnn_view_row row = gnn_view_row(k->x->view, t->etype, m->ends[2 * i + 1]);
    return rows + (row.first + (m->id[i] - t->first[m->ends[2 * i + 1]])) * bytes;
}

/* rows, bytes: of LINKS_FIELD. */
static int each_link(struct gnn_link_writing *k, uint32_t set, enum what what, const char *rows,
                     uint64_t bytes, uint64_t *n, struct gnn_err *e)
{
    const struct link_members *m = link_members_of(k, set);
    const struct gnn_etype *t = &k->s->meta.schema.etype[k->x->edges[0].etype];
    const uint64_t *book = k->s->book[t->dst];
    *n = 0;
    for (uint64_t i = 0; i < m->n; i++) {
        const uint32_t ends[2] = {gnn_view_store_id(k->x->view, t->src, m->ends[2 * i]),
                                  gnn_view_store_id(k->x->view, t->dst, m->ends[2 * i + 1])};
        if (ends[1] < book[k->part] || ends[1] >= book[k->part + 1])
            continue;
        ++*n;
        if (what == LINKS_ENDS    ? put_bytes(k->to, ends, sizeof ends, e)
            : what == LINKS_TIME  ? put_bytes(k->to, &m->time[i], sizeof *m->time, e)
            : what == LINKS_FIELD ? put_bytes(k->to, field_of(k, m, i, rows, bytes), bytes, e)
                                  : what == LINKS_ORDER && put_bytes(k->to, &i, sizeof i, e))
            return e->code;
    }
    return 0;
}

/* ---- a part ---- */

/* A tensor of the part: how it is written. */
struct tensor {
    enum { OFFSETS, ROWS, IDS, HALO, OWNERS, LINKS } kind;
    uint32_t id, of; /* number of the split's type, the node type or the set */
    enum what what;
    const void *data;
    uint64_t bytes;
};
struct tensors {
    struct gnn_buf list;
    uint32_t n;
};

static GNN_PRINTF(7, 8) int declare_tensor(struct gnn_link_writing *k, struct tensors *all,
                                           struct tensor t, enum gnn_dtype dtype,
                                           const uint64_t *shape, struct gnn_err *e,
                                           const char *fmt, ...)
{
    char name[GNN_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    if (gnn_buf_reserve(&all->list, all->n + 1, sizeof t, "tensors", e) ||
        gnn_part_declare(&k->w, name, dtype, shape[1] ? 2 : 1, shape, &t.id, e))
        return e->code;
    ((struct tensor *)all->list.data)[all->n++] = t;
    return 0;
}

static int declare_edges(struct gnn_link_writing *k, struct tensors *all, uint32_t i,
                         struct gnn_err *e)
{
    const struct gnn_schema *c = &k->s->meta.schema;
    const uint32_t etype = k->x->edges[i].etype;
    const struct gnn_etype *t = &c->etype[etype];
    const struct gnn_view_part *p = &k->x->view->ep[(size_t)etype * k->s->nparts + k->part];
    const uint64_t n = count_kept(k, i), rows[2] = {rows_of(k, i) + 1, 0}, edges[2] = {n, 0};
    char key[GNN_ETYPE_KEY_CAPACITY], name[GNN_NAME_MAX + 1];
    gnn_etype_key(c, etype, key, sizeof key);
    if (declare_tensor(k, all, (struct tensor){.kind = OFFSETS, .of = i}, GNN_U64, rows, e,
                       "edge/%s/indptr", key) ||
        declare_tensor(
            k, all,
            (struct tensor){.kind = ROWS, .of = i, .data = p->indices, .bytes = sizeof *p->indices},
            GNN_U32, edges, e, "edge/%s/indices", key) ||
        (gnn_store_look(k->s, k->part, gnn_tensor_name(name, "edge/%s/id", key)) &&
         declare_tensor(k, all, (struct tensor){.kind = IDS, .of = i}, GNN_U64, edges, e,
                        "edge/%s/id", key)))
        return e->code;
    for (uint32_t f = 0; f < t->nfields; f++) {
        const struct gnn_field *of = &t->field[f];
        const struct gnn_tensor *x = gnn_store_findf(k->s, k->part, "edge/%s/%s", key, of->name);
        const struct tensor rows_are = {.kind = ROWS,
                                        .of = i,
                                        .data = x->data,
                                        .bytes =
                                            gnn_dtype_bytes(of->dtype) * gnn_field_columns(of)};
        if (declare_tensor(k, all, rows_are, of->dtype, (const uint64_t[2]){n, of->width}, e,
                           "edge/%s/%s", key, of->name))
            return e->code;
    }
    return 0;
}

/* What links have of their edges. */
static int declare_link_fields(struct gnn_link_writing *k, struct tensors *all, uint32_t i,
                               uint64_t links, struct gnn_err *e)
{
    const struct gnn_schema *c = &k->s->meta.schema;
    const struct gnn_etype *t = &c->etype[k->x->edges[0].etype];
    const uint64_t shape[2] = {links, 0};
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(c, k->x->edges[0].etype, key, sizeof key);
    for (uint32_t f = 0; f < t->nfields; f++) {
        const struct gnn_field *of = &t->field[f];
        if (of->width || (t->order && !strcmp(of->name, t->order)))
            continue;
        const struct gnn_tensor *x = gnn_store_findf(k->s, k->part, "edge/%s/%s", key, of->name);
        const struct tensor rows_are = {.kind = LINKS,
                                        .of = i,
                                        .what = LINKS_FIELD,
                                        .data = x->data,
                                        .bytes = gnn_dtype_bytes(of->dtype)};
        if (declare_tensor(k, all, rows_are, of->dtype, shape, e, "split/%s/%s/edge/%s",
                           GNN_LINK_SPLIT, gnn_link_set_name[i], of->name))
            return e->code;
    }
    return 0;
}

static int declare_set(struct gnn_link_writing *k, struct tensors *all, uint32_t i,
                       struct gnn_err *e)
{
    const char *name = gnn_link_set_name[i % GNN_LINK_SETS], *split = link_split_of(k, i);
    struct tensor t = {.kind = LINKS, .of = i};
    uint64_t shape[2] = {0, 2};
    if (!link_members_of(k, i)->n)
        return 0;
    if (each_link(k, i, LINKS_COUNT, NULL, 0, &shape[0], e))
        return e->code;
    t.what = LINKS_ENDS;
    if (declare_tensor(k, all, t, GNN_U32, shape, e, "split/%s/%s", split, name))
        return e->code;
    shape[1] = 0;
    t.what = LINKS_TIME;
    if (link_time_of(k, i) &&
        declare_tensor(k, all, t, link_time_of(k, i), shape, e, "split/%s/%s/time", split, name))
        return e->code;
    if (link_members_of(k, i)->id && declare_link_fields(k, all, i, shape[0], e))
        return e->code;
    t.what = LINKS_ORDER;
    return k->s->nparts > 1
               ? declare_tensor(k, all, t, GNN_U64, shape, e, "split/%s/%s/order", split, name)
               : 0;
}

static int declare_halo(struct gnn_link_writing *k, struct tensors *all, uint32_t t,
                        struct gnn_err *e)
{
    const char *name = k->s->meta.schema.ntype[t].name;
    uint64_t shape[2] = {0};
    if (find_halo(k, t, &shape[0], e))
        return e->code;
    return declare_tensor(k, all, (struct tensor){.kind = HALO, .of = t}, GNN_U32, shape, e,
                          "halo/%s/ids", name) ||
                   declare_tensor(k, all, (struct tensor){.kind = OWNERS, .of = t}, GNN_U32, shape,
                                  e, "halo/%s/owner", name)
               ? e->code
               : 0;
}

static int write_tensor(struct gnn_link_writing *k, const struct tensor *t, struct gnn_err *e)
{
    uint64_t n;
    k->to->id = t->id;
    switch (t->kind) {
    case OFFSETS:
        return write_offsets(k, t->of, e) || flush_bytes(k->to, e) ? e->code : 0;
    case ROWS:
    case IDS:
        return write_rows(k, t->of, t->data, t->bytes, e) || flush_bytes(k->to, e) ? e->code : 0;
    case HALO:
    case OWNERS:
        return write_halo(k, t->of, t->kind == OWNERS, e) || flush_bytes(k->to, e) ? e->code : 0;
    case LINKS:
        break;
    }
    return each_link(k, t->of, t->what, t->data, t->bytes, &n, e) || flush_bytes(k->to, e) ? e->code
                                                                                           : 0;
}

int gnn_link_part_write(struct gnn_link_writing *k, struct gnn_err *e)
{
    struct tensors all = {.n = 0};
    int rc = gnn_part_begin(&k->w, k->part, e);
    for (uint32_t i = 0; !rc && i < k->x->ntypes; i++)
        rc = declare_edges(k, &all, i, e);
    for (uint32_t i = 0; !rc && i < LINK_WRITTEN_SETS; i++)
        rc = declare_set(k, &all, i, e);
    for (uint32_t t = 0; !rc && k->s->nparts > 1 && t < k->s->meta.schema.nntypes; t++)
        rc = declare_halo(k, &all, t, e);
    if (!rc)
        rc = gnn_part_layout(&k->w, e);
    k->to->w = &k->w;
    for (uint32_t i = 0; !rc && i < all.n; i++)
        rc = write_tensor(k, (const struct tensor *)all.list.data + i, e);
    gnn_buf_release(&all.list);
    return rc ? rc : gnn_part_finish(&k->w, e);
}

/* ---- all parts ---- */

/* Numbers the edges that are left through, in original order. */
static int number_kept(struct gnn_link_writing *k, uint32_t i, struct gnn_err *e)
{
    const struct link_edge_sets *t = &k->x->edges[i];
    const struct gnn_schema *c = &k->s->meta.schema;
    const uint64_t tails = c->ntype[c->etype[t->etype].dst].count;
    uint64_t *kept = k->kept[i] = gnn_alloc(tails + 1, sizeof *kept, "offsets of edges", e);
    if (!kept)
        return e->code;
    kept[0] = 0;
    for (uint64_t v = 0; v < tails; v++) {
        kept[v + 1] = kept[v];
        for (uint64_t j = t->first[v]; j < t->first[v + 1]; j++)
            if (link_sets_carry(k->x, t->of[j])) {
                kept[v + 1]++;
                k->of_set[t->of[j]] += !i;
            }
    }
    return 0;
}

int gnn_link_writing_init(struct gnn_link_writing *k, struct gnn_err *e)
{
    const struct gnn_schema *c = &k->s->meta.schema;
    uint64_t most = 0;
    for (uint32_t t = 0; t < c->nntypes; t++)
        most = c->ntype[t].count > most ? c->ntype[t].count : most;
    k->marks = gnn_alloc(most / 64 + 1, sizeof *k->marks, "marks of nodes", e);
    k->to = k->marks ? gnn_alloc_zero(1, sizeof *k->to, "a buffer", e) : NULL;
    int rc = k->to ? 0 : e->code;
    for (uint32_t i = 0; !rc && i < k->x->ntypes; i++)
        rc = number_kept(k, i, e);
    return rc;
}

void gnn_link_writing_release(struct gnn_link_writing *k)
{
    for (int i = 0; i < 2; i++)
        gnn_free(k->kept[i]);
    gnn_buf_release(&k->halo);
    gnn_free(k->marks);
    gnn_free(k->to);
}
