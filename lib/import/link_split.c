/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a split of links: of each part the edges that carry messages, its halo and its links. */
#include "lib/import/link_split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/xxh.h"
#include "lib/base/mem.h"
#include "lib/data/tensors.h"
#include "lib/import/link_sets.h"
#include "lib/store/base_store.h"
#include "lib/store/write.h"

enum { PIECE = 1 << 20 };

/* Bytes on their way into a tensor. */
struct filling {
    struct gnn_store_writer *w;
    uint32_t id;
    uint64_t n;
    char bytes[PIECE];
};

struct writing {
    struct gnn_store *s;
    const struct link_sets *x;
    struct gnn_store_writer w;
    uint64_t *kept[2];              /* (tails + 1) as first, of the edges that are left, */
    uint64_t of_set[GNN_LINK_SETS]; /* and how many these are, without reverses */
    struct filling *to;
    uint32_t part;
    struct gnn_buf halo; /* u32: of one node type */
    uint64_t *marks;     /* a bit for each node of a type */
};

static int flush_bytes(struct filling *f, struct gnn_err *e)
{
    const uint64_t n = f->n;
    f->n = 0;
    return gnn_part_write(f->w, f->id, f->bytes, n, e);
}

static int put_bytes(struct filling *f, const void *data, uint64_t n, struct gnn_err *e)
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

/* Numbers the edges that are left through, in original order. */
static int number_kept(struct writing *k, uint32_t i, struct gnn_err *e)
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

/* A node of the part, the i-th: its row, and where its edges are in sets. */
struct kept_row {
    const uint8_t *of;
    uint64_t first, n, orig;
};
static struct kept_row row_at(const struct writing *k, uint32_t i, uint64_t node)
{
    const struct link_edge_sets *t = &k->x->edges[i];
    const struct gnn_view *v = k->x->view;
    const uint32_t dst = k->s->meta.schema.etype[t->etype].dst;
    const struct gnn_view_part *p = &v->ep[(size_t)t->etype * k->s->nparts + k->part];
    const uint64_t orig = gnn_view_orig(v, dst, k->s->book[dst][k->part] + node);
    return (struct kept_row){t->of + t->first[orig], p->indptr[node],
                             p->indptr[node + 1] - p->indptr[node], orig};
}

static uint64_t rows_of(const struct writing *k, uint32_t i)
{
    return gnn_store_owned(k->s, k->part, k->s->meta.schema.etype[k->x->edges[i].etype].dst);
}

static uint64_t count_kept(const struct writing *k, uint32_t i)
{
    uint64_t n = 0;
    for (uint64_t v = 0; v < rows_of(k, i); v++) {
        const struct kept_row row = row_at(k, i, v);
        n += k->kept[i][row.orig + 1] - k->kept[i][row.orig];
    }
    return n;
}

/* Rows of edges, of those that are left. data NULL: their ids. */
static int write_rows(struct writing *k, uint32_t i, const char *data, uint64_t bytes,
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

static int write_offsets(struct writing *k, uint32_t i, struct gnn_err *e)
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

static bool is_kept(const struct writing *k, uint32_t etype, uint64_t tail, uint64_t j)
{
    for (uint32_t i = 0; i < k->x->ntypes; i++)
        if (k->x->edges[i].etype == etype)
            return link_sets_carry(k->x, k->x->edges[i].of[k->x->edges[i].first[tail] + j]);
    return true;
}

static void mark_sources(struct writing *k, uint32_t etype)
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
static int find_halo(struct writing *k, uint32_t t, uint64_t *n, struct gnn_err *e)
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

static int write_halo(struct writing *k, uint32_t t, bool owners, struct gnn_err *e)
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

/* Set i of those that are written: of links, and then of given negatives; and its split. */
enum { WRITTEN_SETS = 2 * GNN_LINK_SETS };
static const struct link_members *members_of(const struct writing *k, uint32_t i)
{
    return i < GNN_LINK_SETS ? &k->x->set[i] : &k->x->given[i - GNN_LINK_SETS];
}
static const char *split_of(const struct writing *k, uint32_t i)
{
    return i < GNN_LINK_SETS               ? GNN_LINK_SPLIT
           : k->x->each[i - GNN_LINK_SETS] ? GNN_EACH_SPLIT
                                           : GNN_SHARED_SPLIT;
}
static enum gnn_dtype time_of(const struct writing *k, uint32_t i)
{
    return i < GNN_LINK_SETS ? k->x->time : 0;
}

/* What is told of a set's links: all of it, or how many the part has. */
enum what { LINKS_COUNT, LINKS_ENDS, LINKS_TIME, LINKS_ORDER, LINKS_FIELD };

/* A field of a link's edge, which lies in this part: rows of so many bytes. */
static const char *field_of(const struct writing *k, const struct link_members *m, uint64_t i,
                            const char *rows, uint64_t bytes)
{
    const struct link_edge_sets *t = &k->x->edges[0];
    const struct gnn_view_row row = gnn_view_row(k->x->view, t->etype, m->ends[2 * i + 1]);
    return rows + (row.first + (m->id[i] - t->first[m->ends[2 * i + 1]])) * bytes;
}

/* rows, bytes: of LINKS_FIELD. */
static int each_link(struct writing *k, uint32_t set, enum what what, const char *rows,
                     uint64_t bytes, uint64_t *n, struct gnn_err *e)
{
    const struct link_members *m = members_of(k, set);
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

static GNN_PRINTF(7, 8) int declare_tensor(struct writing *k, struct tensors *all, struct tensor t,
                                           enum gnn_dtype dtype, const uint64_t *shape,
                                           struct gnn_err *e, const char *fmt, ...)
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

static int declare_edges(struct writing *k, struct tensors *all, uint32_t i, struct gnn_err *e)
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
static int declare_link_fields(struct writing *k, struct tensors *all, uint32_t i, uint64_t links,
                               struct gnn_err *e)
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

static int declare_set(struct writing *k, struct tensors *all, uint32_t i, struct gnn_err *e)
{
    const char *name = gnn_link_set_name[i % GNN_LINK_SETS], *split = split_of(k, i);
    struct tensor t = {.kind = LINKS, .of = i};
    uint64_t shape[2] = {0, 2};
    if (!members_of(k, i)->n)
        return 0;
    if (each_link(k, i, LINKS_COUNT, NULL, 0, &shape[0], e))
        return e->code;
    t.what = LINKS_ENDS;
    if (declare_tensor(k, all, t, GNN_U32, shape, e, "split/%s/%s", split, name))
        return e->code;
    shape[1] = 0;
    t.what = LINKS_TIME;
    if (time_of(k, i) &&
        declare_tensor(k, all, t, time_of(k, i), shape, e, "split/%s/%s/time", split, name))
        return e->code;
    if (members_of(k, i)->id && declare_link_fields(k, all, i, shape[0], e))
        return e->code;
    t.what = LINKS_ORDER;
    return k->s->nparts > 1
               ? declare_tensor(k, all, t, GNN_U64, shape, e, "split/%s/%s/order", split, name)
               : 0;
}

static int declare_halo(struct writing *k, struct tensors *all, uint32_t t, struct gnn_err *e)
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

static int write_tensor(struct writing *k, const struct tensor *t, struct gnn_err *e)
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

static int write_part(struct writing *k, struct gnn_err *e)
{
    struct tensors all = {.n = 0};
    int rc = gnn_part_begin(&k->w, k->part, e);
    for (uint32_t i = 0; !rc && i < k->x->ntypes; i++)
        rc = declare_edges(k, &all, i, e);
    for (uint32_t i = 0; !rc && i < WRITTEN_SETS; i++)
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

/* ---- the store ---- */

/* What all splits have in common that are the same but for the partitions of their base. */
static void name_graph(const struct writing *k, char out[17])
{
    XXH3_state_t h;
    const struct gnn_schema *c = &k->s->meta.schema;
    char key[GNN_ETYPE_KEY_CAPACITY];
    XXH3_64bits_reset(&h);
    XXH3_64bits_update(&h, gnn_meta_graph(&k->s->meta), 16);
    for (uint32_t i = 0; i < k->x->ntypes; i++) {
        const struct link_edge_sets *t = &k->x->edges[i];
        gnn_etype_key(c, t->etype, key, sizeof key);
        XXH3_64bits_update(&h, key, strlen(key) + 1);
        XXH3_64bits_update(&h, t->of, t->n);
    }
    for (uint32_t i = GNN_LINKS_TRAIN + 1; i < GNN_LINK_SETS; i++)
        if (k->x->carries[i])
            XXH3_64bits_update(&h, gnn_link_set_name[i], strlen(gnn_link_set_name[i]) + 1);
    /* What files list follows from these, not from the edges. */
    for (uint32_t i = 0; i < WRITTEN_SETS; i++) {
        const struct link_members *m = members_of(k, i);
        if (i < GNN_LINK_SETS ? !k->x->listed : !m->n)
            continue;
        XXH3_64bits_update(&h, &m->n, sizeof m->n);
        XXH3_64bits_update(&h, m->ends, 2 * m->n * sizeof *m->ends);
        if (m->time)
            XXH3_64bits_update(&h, m->time, m->n * sizeof *m->time);
    }
    snprintf(out, 17, "%016llx", (unsigned long long)XXH3_64bits_digest(&h));
}

static int add_set(const struct writing *k, uint32_t i, struct gnn_meta *m, struct gnn_err *e)
{
    struct gnn_schema *c = &m->schema;
    const uint32_t etype = k->x->edges[0].etype;
    if (gnn_schema_add_links(c, split_of(k, i), gnn_link_set_name[i % GNN_LINK_SETS], etype,
                             time_of(k, i), members_of(k, i)->n, e))
        return e->code;
    struct gnn_split_set *set = &c->set[c->nsets - 1];
    set->fields = members_of(k, i)->id && c->etype[etype].nfields > 0;
    set->messages = i > GNN_LINKS_TRAIN && i < GNN_LINK_SETS && k->x->carries[i];
    return 0;
}

static int make_meta(struct writing *k, struct gnn_meta *m, const char *path,
                     const char *provenance, struct gnn_err *e)
{
    if (gnn_meta_copy(m, &k->s->meta, e))
        return e->code;
    char *target = gnn_temp_target(path, true, e);
    m->base.path = target ? gnn_base_name_from(target, k->s->path, e) : NULL;
    memcpy(m->base.identity, k->s->meta.identity, sizeof m->base.identity);
    gnn_free(target);
    name_graph(k, m->graph);
    for (uint32_t i = 0; i < k->x->ntypes; i++) {
        const struct gnn_etype *t = &m->schema.etype[k->x->edges[i].etype];
        m->schema.etype[k->x->edges[i].etype].count = k->kept[i][m->schema.ntype[t->dst].count];
    }
    for (uint32_t i = 0; i < WRITTEN_SETS && !e->code; i++)
        if (members_of(k, i)->n)
            (void)!add_set(k, i, m, e);
    return e->code ? e->code : gnn_meta_add_provenance(m, provenance, e);
}

static int write_store(struct writing *k, const char *path, bool force, const char *provenance,
                       struct gnn_err *e)
{
    struct gnn_meta meta = {0};
    uint64_t most = 0;
    for (uint32_t t = 0; t < k->s->meta.schema.nntypes; t++)
        most = k->s->meta.schema.ntype[t].count > most ? k->s->meta.schema.ntype[t].count : most;
    k->marks = gnn_alloc(most / 64 + 1, sizeof *k->marks, "marks of nodes", e);
    k->to = k->marks ? gnn_alloc_zero(1, sizeof *k->to, "a buffer", e) : NULL;
    int rc = k->to ? 0 : e->code;
    for (uint32_t i = 0; !rc && i < k->x->ntypes; i++)
        rc = number_kept(k, i, e);
    if (!rc)
        rc = make_meta(k, &meta, path, provenance, e);
    if (!rc)
        rc = gnn_store_create(&k->w, path, &meta, force, e);
    for (; !rc && k->part < k->s->nparts; k->part++)
        rc = write_part(k, e);
    if (!rc)
        rc = gnn_store_verified(k->s, e);
    if (!rc)
        rc = gnn_store_commit(&k->w, e);
    gnn_store_abandon(&k->w);
    gnn_meta_release(&meta);
    return rc;
}

/* What cannot be split again. */
static int check_store(const struct gnn_store *s, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    if (s->base)
        return gnn_fail(e, GNN_E_USAGE,
                        "--split-links: %s is a split of %s: split that store, or make this one "
                        "complete (gnn-partition)",
                        s->path, s->base->path);
    for (uint32_t i = 0; i < c->nsets; i++)
        if (!strcmp(c->set[i].split, GNN_LINK_SPLIT))
            return gnn_fail(e, GNN_E_USAGE, "--split-links: %s has a split '%s' already", s->path,
                            GNN_LINK_SPLIT);
    return 0;
}

int gnn_link_split_write(struct gnn_store *s, const struct gnn_link_split_opts *o, const char *path,
                         bool force, const char *provenance, struct gnn_link_split_stats *st,
                         struct gnn_err *e)
{
    struct gnn_view v = {0};
    struct link_sets x = {0};
    struct writing k = {.s = s, .x = &x};
    *st = (struct gnn_link_split_stats){.rev = -1};
    if (!check_store(s, e) && !gnn_view_init(&v, s, e) && !gnn_link_sets_init(&x, &v, o, e) &&
        !gnn_link_sets_messages(&x, o, e) && !gnn_link_sets_negatives(&x, o, e) &&
        !write_store(&k, path, force, provenance, e)) {
        const struct gnn_schema *c = &s->meta.schema;
        *st = (struct gnn_link_split_stats){.etype = x.edges[0].etype,
                                            .rev = x.ntypes > 1 ? (int)x.edges[1].etype : -1,
                                            .symmetric = x.symmetric,
                                            .timed = x.time,
                                            .pairs = x.pairs,
                                            .listed = x.listed,
                                            .unlisted = x.unlisted};
        for (int i = 0; i < GNN_LINK_SETS; i++) {
            st->set[i] = x.set[i].n;
            st->kept[i] = k.of_set[i];
            st->absent[i] = x.absent[i];
            st->same[i] = x.same[i];
            st->each[i] = x.each[i];
            st->given[i] = x.set[i].n && x.each[i] ? x.given[i].n / x.set[i].n : x.given[i].n;
        }
        st->messages = k.kept[0][c->ntype[c->etype[st->etype].dst].count];
        st->rev_messages = st->rev < 0 ? 0 : k.kept[1][c->ntype[c->etype[st->rev].dst].count];
    }
    for (int i = 0; i < 2; i++)
        gnn_free(k.kept[i]);
    gnn_buf_release(&k.halo);
    gnn_free(k.marks);
    gnn_free(k.to);
    gnn_link_sets_release(&x);
    gnn_view_release(&v);
    return e->code;
}
