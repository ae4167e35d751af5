/* SPDX-License-Identifier: Apache-2.0 */
/* Only the rows that seeds depend on: of each partition, and for each layer, and what these are
 * numbered.
 *
 * Level l are the rows that l layers with edges leave (struct gnn_stage); the last level's are the
 * seeds. A level's rows need themselves one level below, and the sources of their edges. So levels
 * are nested, and a partition numbers its rows by level, the last level's first: the rows of each
 * level are the first so many. Rows that no level needs have no number.
 *
 * The walk goes from the seeds to the features. In each step the ranks tell each other which rows
 * they need of each other's partitions; at the end they ask for these rows' new numbers. */
#include <string.h>

#include "lib/comm/request.h"
#include "lib/model/full_impl.h"
#include "lib/store/csc_check.h"

/* Sources of a type that edges of this rank's rows have: a bit for each node of the type, and, when
 * these are known, their new ids, in ascending order of the old ones. */
struct needed_sources {
    uint64_t *bit, words;
    uint32_t *before; /* [words] how many bits are set in the words before */
    uint32_t *renamed;
    uint64_t n, read;
};

struct full_needed {
    struct gnn_request q;
    uint64_t *start;  /* [ranks] where the list begins that is being added to a request */
    uint32_t *walked; /* [netypes] the lowest level whose edges have been walked */
    struct needed_sources *source; /* [nntypes] */
    struct gnn_store_adj *adj;     /* [parts of this rank][netypes] */
    /* [parts of this rank][nntypes] of each row one more than its level; 0: none */
    uint8_t **above;
    uint32_t **place; /* [parts of this rank][nntypes] its new number */
};

static uint64_t type_at(const struct gnn_full *f, uint32_t part, uint32_t t)
{
    return (uint64_t)part * f->m->c.nntypes + t;
}

/* Whether the convolutions that make level l have edges of relation r. */
static bool is_walked(const struct gnn_full *f, uint32_t r, uint32_t l)
{
    EACH_CONV(v, f->m)
        if (v->needed && v->rel == r && f->m->stage[v->stage].level == l)
            return true;
    return false;
}

/* ---- the walk ---- */

static int open_walk(struct gnn_full *f, struct full_needed *w, struct gnn_err *e)
{
    const uint32_t nt = f->m->c.nntypes, nr = f->m->c.netypes;
    w->start = gnn_alloc_zero(f->comm->size, sizeof *w->start, "rows of layers", e);
    w->walked = gnn_alloc(nr, sizeof *w->walked, "rows of layers", e);
    w->source = gnn_alloc_zero(nt, sizeof *w->source, "rows of layers", e);
    f->top = gnn_alloc_zero(nr, sizeof *f->top, "rows of layers", e);
    w->adj = gnn_alloc_zero((uint64_t)f->n * nr, sizeof *w->adj, "rows of layers", e);
    w->above = gnn_alloc_zero((uint64_t)f->n * nt, sizeof *w->above, "rows of layers", e);
    w->place = gnn_alloc_zero((uint64_t)f->n * nt, sizeof *w->place, "rows of layers", e);
    if (e->code || gnn_request_init(&w->q, f->comm, 0, e))
        return e->code;
    for (uint32_t t = 0; t < nt; t++) {
        struct needed_sources *x = &w->source[t];
        x->words = f->s->meta.schema.ntype[t].count / 64 + 1;
        x->bit = gnn_alloc_zero(x->words, sizeof *x->bit, "rows of layers", e);
        x->before = gnn_alloc(x->words, sizeof *x->before, "rows of layers", e);
        for (uint32_t i = 0; !e->code && i < f->n; i++)
            w->above[type_at(f, i, t)] =
                gnn_alloc_zero(gnn_store_owned(f->s, f->first + i, t), 1, "rows of layers", e);
    }
    for (uint32_t r = 0; !e->code && r < nr; r++) {
        w->walked[r] = f->levels + 1;
        for (uint32_t l = 1; l <= f->levels; l++)
            f->top[r] = is_walked(f, r, l) ? l : f->top[r];
        for (uint32_t i = 0; !e->code && f->top[r] && i < f->n; i++)
            (void)!gnn_store_adjacency(f->s, f->first + i, r, &w->adj[(size_t)i * nr + r], e);
    }
    return e->code;
}

/* The set's members that this rank has are of the last level. */
static int mark_set(struct gnn_full *f, struct full_needed *w, const char *name, struct gnn_err *e)
{
    const struct gnn_schema *c = &f->s->meta.schema;
    const int set = gnn_schema_need_set(c, f->s->path, name, e);
    const uint32_t t = f->m->c.target;
    uint32_t *ids, i = 0;
    if (set < 0)
        return set;
    if (c->set[set].ntype != t)
        return gnn_fail(e, GNN_E_USAGE, "%s: set '%s' is not of the labelled node type", f->s->path,
                        name);
    if (gnn_store_split(f->s, (uint32_t)set, &ids, e))
        return e->code;
    for (uint64_t j = 0; j < c->set[set].count; j++) {
        if (ids[j] == UINT32_MAX) /* another rank's */
            continue;
        const uint64_t *book = f->s->book[t] + f->first;
        if (ids[j] < book[i] || ids[j] >= book[i + 1])
            i = gnn_store_owner(f->s, t, ids[j]) - f->first;
        w->above[type_at(f, i, t)][ids[j] - book[i]] = (uint8_t)(f->levels + 1);
    }
    gnn_free(ids);
    return 0;
}

/* The sources of relation r's edges into those rows of level l of part i whose edges have not been
 * walked yet: what was not asked for before is added to the requests. */
static int ask_sources(struct gnn_full *f, struct full_needed *w, uint32_t i, uint32_t r,
                       uint32_t l, struct gnn_err *e)
{
    const struct gnn_store_adj *a = &w->adj[(size_t)i * f->m->c.netypes + r];
    const uint32_t t = f->m->c.etype[r].src;
    const uint8_t *above = w->above[type_at(f, i, f->m->c.etype[r].dst)];
    const uint64_t *book = f->s->rank_book[t];
    uint64_t *bit = w->source[t].bit;
    uint32_t rank = f->comm->rank, *to;
    for (uint64_t row = 0; row < a->rows; row++) {
        const bool walks = above[row] > l && above[row] <= w->walked[r];
        for (uint64_t j = a->indptr[row]; walks && j < a->indptr[row + 1]; j++) {
            const uint32_t id = a->indices[j];
            const uint64_t mask = 1ULL << id % 64;
            if (bit[id / 64] & mask)
                continue;
            bit[id / 64] |= mask;
            if (id < book[rank] || id >= book[rank + 1])
                rank = gnn_store_rank_of(f->s, t, id);
            if (!(to = gnn_packet_add(&w->q.queue[rank], 1, e)))
                return e->code;
            *to = id;
        }
    }
    return 0;
}

/* A list for each rank and type, with its length before it. */
static int open_lists(struct full_needed *w, struct gnn_err *e)
{
    for (uint32_t rank = 0; rank < w->q.ranks; rank++) {
        w->start[rank] = w->q.queue[rank].n;
        if (!gnn_packet_add(&w->q.queue[rank], 1, e))
            return e->code;
    }
    return 0;
}

static void close_lists(struct full_needed *w)
{
    for (uint32_t rank = 0; rank < w->q.ranks; rank++) {
        const struct gnn_packet *q = &w->q.queue[rank];
        ((uint32_t *)q->buf.data)[w->start[rank]] = (uint32_t)(q->n - w->start[rank] - 1);
    }
}

/* The next list that a rank has sent: *n ids of nodes of type t, all of this rank's partitions. */
static const uint32_t *read_list(struct gnn_full *f, struct full_needed *w, uint32_t rank,
                                 uint32_t t, uint32_t *n, struct gnn_err *e)
{
    const uint32_t *head = gnn_packet_read(&w->q.in[rank], 1),
                   *id = head ? gnn_packet_read(&w->q.in[rank], *head) : NULL;
    *n = id ? *head : 0;
    bool bad = !id;
    for (uint32_t j = 0; j < *n; j++)
        bad = bad || !gnn_store_owns(f->s, t, id[j]);
    if (bad)
        gnn_fail(e, GNN_E_RANK, "malformed request for rows from rank %u", rank);
    return bad ? NULL : id;
}

/* From the rows of level l to those of the level below. */
static int walk_level(struct gnn_full *f, struct full_needed *w, uint32_t l, struct gnn_err *e)
{
    gnn_request_begin(&w->q, gnn_comm_tag(GNN_COMM_PARTS, 0), NULL);
    for (uint32_t t = 0; t < f->m->c.nntypes; t++) {
        if (open_lists(w, e))
            return e->code;
        for (uint32_t r = 0; r < f->m->c.netypes; r++) {
            if (f->m->c.etype[r].src != t || !is_walked(f, r, l))
                continue;
            for (uint32_t i = 0; i < f->n; i++)
                if (ask_sources(f, w, i, r, l, e))
                    return e->code;
            w->walked[r] = l;
        }
        close_lists(w);
    }
    const int rc = gnn_request_ask(&w->q, e);
    for (uint32_t rank = 0; !rc && rank < w->q.ranks; rank++)
        for (uint32_t t = 0; t < f->m->c.nntypes; t++) {
            uint32_t n, i = 0;
            const uint32_t *id = read_list(f, w, rank, t, &n, e);
            const uint64_t *book = f->s->book[t] + f->first;
            for (uint32_t j = 0; id && j < n; j++) {
                if (id[j] < book[i] || id[j] >= book[i + 1])
                    i = gnn_store_owner(f->s, t, id[j]) - f->first;
                uint8_t *above = &w->above[type_at(f, i, t)][id[j] - book[i]];
                *above = *above ? *above : (uint8_t)l;
            }
            if (!id)
                return e->code;
        }
    return rc;
}

/* ---- numbers ---- */

static bool is_identity(const uint32_t *order, uint64_t n, uint64_t rows)
{
    bool same = n == rows;
    for (uint64_t i = 0; same && i < n; i++)
        same = order[i] == i;
    return same;
}

/* The rows of part i, by level and then in their old order. */
static int number_rows(struct gnn_full *f, struct full_needed *w, uint32_t i, uint32_t t,
                       struct gnn_err *e)
{
    struct full_part *p = &f->part[i];
    const uint64_t rows = gnn_store_owned(f->s, f->first + i, t);
    const uint8_t *above = w->above[type_at(f, i, t)];
    uint64_t count[GNN_LAYERS_MAX + 2] = {0};
    uint32_t at[GNN_LAYERS_MAX + 2], *place, *order;
    for (uint64_t j = 0; j < rows; j++)
        count[above[j]]++;
    uint64_t sum = 0;
    for (uint32_t l = f->levels + 1; l > 0; l--) {
        at[l] = (uint32_t)sum;
        sum += count[l];
        p->count[(size_t)(l - 1) * f->m->c.nntypes + t] = (uint32_t)sum;
    }
    place = w->place[type_at(f, i, t)] = gnn_alloc(rows, sizeof *place, "rows of layers", e);
    if (!place || gnn_buf_fit(&p->order[t], sum + 1, sizeof *order, "rows of layers", e))
        return e->code;
    order = p->order[t].data;
    for (uint64_t j = 0; j < rows; j++)
        if (above[j]) {
            order[at[above[j]]] = (uint32_t)j;
            place[j] = at[above[j]]++;
        }
    if (is_identity(order, sum, rows))
        gnn_buf_release(&p->order[t]);
    return 0;
}

/* Asks for the new ids of all sources, in ascending order of the old ones. */
static int ask_numbers(struct gnn_full *f, struct full_needed *w, struct gnn_err *e)
{
    gnn_request_begin(&w->q, gnn_comm_tag(GNN_COMM_PARTS, 0), NULL);
    for (uint32_t t = 0; t < f->m->c.nntypes; t++) {
        struct needed_sources *x = &w->source[t];
        uint32_t rank = 0, *to;
        if (open_lists(w, e))
            return e->code;
        for (uint64_t k = 0; k < x->words; k++) {
            x->before[k] = (uint32_t)x->n;
            for (uint64_t bits = x->bit[k]; bits; bits &= bits - 1, x->n++) {
                const uint64_t id = 64 * k + (uint64_t)__builtin_ctzll(bits);
                while (id >= f->s->rank_book[t][rank + 1])
                    rank++;
                if (!(to = gnn_packet_add(&w->q.queue[rank], 1, e)))
                    return e->code;
                *to = (uint32_t)id;
            }
        }
        close_lists(w);
        if (!(x->renamed = gnn_alloc(x->n, sizeof *x->renamed, "rows of layers", e)))
            return e->code;
    }
    return gnn_request_ask(&w->q, e);
}

static int answer_numbers(struct gnn_full *f, struct full_needed *w, struct gnn_err *e)
{
    for (uint32_t rank = 0; rank < w->q.ranks; rank++)
        for (uint32_t t = 0; t < f->m->c.nntypes; t++) {
            uint32_t n, i = 0;
            const uint32_t *id = read_list(f, w, rank, t, &n, e);
            uint32_t *to = id ? gnn_packet_add(&w->q.staging[rank], n, e) : NULL;
            const uint64_t *book = f->s->book[t] + f->first;
            for (uint32_t j = 0; to && j < n; j++) {
                if (id[j] < book[i] || id[j] >= book[i + 1])
                    i = gnn_store_owner(f->s, t, id[j]) - f->first;
                to[j] = (uint32_t)book[i] + w->place[type_at(f, i, t)][id[j] - book[i]];
            }
            if (!to)
                return e->code;
        }
    return gnn_request_reply(&w->q, e);
}

static int read_numbers(struct gnn_full *f, struct full_needed *w, struct gnn_err *e)
{
    for (uint32_t rank = 0; rank < w->q.ranks; rank++)
        for (uint32_t t = 0; t < f->m->c.nntypes; t++) {
            struct needed_sources *x = &w->source[t];
            const uint64_t lo = f->s->rank_book[t][rank], hi = f->s->rank_book[t][rank + 1];
            uint64_t n = 0;
            for (uint64_t k = lo; k < hi; k++)
                n += x->bit[k / 64] >> k % 64 & 1;
            const uint32_t *id = gnn_packet_read(&w->q.in[rank], n);
            for (uint64_t j = 0; id && j < n; j++)
                if (id[j] < lo || id[j] >= hi)
                    return gnn_request_malformed(&w->q, rank, e);
            if (!id)
                return gnn_request_malformed(&w->q, rank, e);
            memcpy(x->renamed + x->read, id, n * sizeof *id);
            x->read += n;
        }
    return 0;
}

/* How many rows all ranks have of each level. */
static int sum_rows(struct gnn_full *f, struct gnn_err *e)
{
    const uint64_t n = (uint64_t)(f->levels + 1) * f->m->c.nntypes;
    if (!(f->level_rows = gnn_alloc_zero(n, sizeof *f->level_rows, "rows of layers", e)) ||
        !(f->level_edges = gnn_alloc_zero((uint64_t)f->levels * f->m->c.netypes,
                                          sizeof *f->level_edges, "rows of layers", e)))
        return e->code;
    for (uint32_t i = 0; i < f->n; i++)
        for (uint64_t j = 0; j < n; j++)
            f->level_rows[j] += f->part[i].count[j];
    return gnn_comm_all_reduce(f->comm, f->level_rows, n, GNN_REDUCE_U64, e);
}

int gnn_full_needed_find(struct gnn_full *f, const char *const *set, uint32_t nsets,
                         struct gnn_err *e)
{
    const uint32_t nt = f->m->c.nntypes;
    struct full_needed *w = f->needed = gnn_alloc_zero(1, sizeof *w, "rows of layers", e);
    f->levels = f->m->c.nlayers;
    if (!w || open_walk(f, w, e))
        return e->code;
    for (uint32_t i = 0; i < nsets; i++)
        if (mark_set(f, w, set[i], e))
            return e->code;
    for (uint32_t l = f->levels; l > 0; l--) {
        const int rc = walk_level(f, w, l, e);
        if (rc)
            return rc;
    }
    for (uint32_t i = 0; i < f->n; i++) {
        struct full_part *p = &f->part[i];
        p->order = gnn_alloc_zero(nt, sizeof *p->order, "rows of layers", e);
        p->count =
            gnn_alloc_zero((uint64_t)(f->levels + 1) * nt, sizeof *p->count, "rows of layers", e);
        for (uint32_t t = 0; !e->code && t < nt; t++)
            (void)!number_rows(f, w, i, t, e);
        if (e->code)
            return e->code;
    }
    int rc = ask_numbers(f, w, e);
    if (!rc)
        rc = answer_numbers(f, w, e);
    return rc || read_numbers(f, w, e) ? (rc ? rc : e->code) : sum_rows(f, e);
}

void gnn_full_needed_free(struct gnn_full *f)
{
    struct full_needed *w = f->needed;
    if (!w)
        return;
    for (uint32_t t = 0; w->source && t < f->m->c.nntypes; t++) {
        gnn_free(w->source[t].bit);
        gnn_free(w->source[t].before);
        gnn_free(w->source[t].renamed);
    }
    for (uint64_t i = 0; i < (uint64_t)f->n * f->m->c.nntypes; i++) {
        if (w->above)
            gnn_free(w->above[i]);
        if (w->place)
            gnn_free(w->place[i]);
    }
    if (w->q.queue)
        gnn_request_release(&w->q);
    gnn_free(w->start);
    gnn_free(w->walked);
    gnn_free(w->source);
    gnn_free(w->adj);
    gnn_free(w->above);
    gnn_free(w->place);
    gnn_free(w);
    f->needed = NULL;
}

/* ---- what follows the numbers ---- */

static uint32_t new_id(const struct needed_sources *x, uint32_t id)
{
    const uint64_t below = x->bit[id / 64] & ((1ULL << id % 64) - 1);
    return x->renamed[x->before[id / 64] + (uint32_t)__builtin_popcountll(below)];
}

int gnn_full_needed_edges(struct gnn_full *f, struct full_part *p, uint32_t r,
                          const struct gnn_store_adj *a, struct full_edges *x, struct gnn_err *e)
{
    const struct gnn_model_etype *t = &f->m->c.etype[r];
    const uint64_t rows = gnn_full_rows(f, p, 1, t->dst);
    const uint32_t *order = p->order[t->dst].data;
    uint64_t n = 0;
    if (gnn_buf_fit(&x->ptr, rows + 1, sizeof(uint64_t), "edges of layers", e) ||
        gnn_buf_fit(&x->from, rows + 1, sizeof(uint64_t), "edges of layers", e))
        return e->code;
    uint64_t *ptr = x->ptr.data, *from = x->from.data;
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t row = order ? order[i] : i;
        ptr[i] = n;
        from[i] = a->indptr[row];
        n += a->indptr[row + 1] - a->indptr[row];
    }
    ptr[rows] = n;
    if (gnn_buf_fit(&x->index, n + 1, sizeof(uint32_t), "edges of layers", e))
        return e->code;
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t j = ptr[i]; j < ptr[i + 1]; j++)
            ((uint32_t *)x->index.data)[j] =
                new_id(&f->needed->source[t->src], a->indices[from[i] + j - ptr[i]]);
    x->a = (struct gnn_store_adj){ptr, x->index.data, rows, n};
    return 0;
}

void gnn_full_edges_free(struct full_edges *x)
{
    gnn_buf_release(&x->ptr);
    gnn_buf_release(&x->index);
    gnn_buf_release(&x->from);
}

int gnn_full_needed_rows(const struct gnn_full *f, const struct full_part *p, uint32_t t,
                         const void *all, size_t bytes, struct full_table *to, struct gnn_err *e)
{
    const uint64_t rows = gnn_full_rows(f, p, 0, t);
    const uint32_t *order = p->order[t].data;
    if (gnn_full_table_make(to, rows, bytes, "rows of layers", e))
        return e->code;
    for (uint64_t i = 0; i < rows; i++)
        memcpy((char *)to->data + i * bytes, (const char *)all + (order ? order[i] : i) * bytes,
               bytes);
    return 0;
}

int gnn_full_needed_seed(const struct gnn_full *f, const struct full_part *p, uint64_t *row,
                         struct gnn_err *e)
{
    const uint32_t t = f->m->c.target, n = gnn_full_rows(f, p, f->levels, t);
    const uint32_t *order = p->order ? p->order[t].data : NULL;
    uint32_t lo = 0, hi = n;
    if (!order && *row < n)
        return 0;
    while (order && lo < hi) { /* those of a level are in their old order */
        const uint32_t mid = lo + (hi - lo) / 2;
        if (order[mid] < *row)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!order || lo == n || order[lo] != *row)
        return gnn_fail(e, GNN_E_USAGE, "the batch has a seed of another set");
    *row = lo;
    return 0;
}

/* ---- levels of blocks ---- */

static void put_cut(struct full_block *b, const struct full_cut *c)
{
    b->n = c->n;
    b->edges = c->edges;
    b->tptr = c->tptr;
    b->tidx = c->tidx;
    b->tedge = c->tedge;
    b->csr = c->csr;
    b->parts = c->parts;
}

void gnn_full_keep_cut(const struct full_block *b, struct full_cut *c)
{
    *c = (struct full_cut){b->n, b->edges, b->tptr, b->tidx, b->tedge, b->csr, b->parts};
}

void gnn_full_set_level(struct gnn_full *f, uint32_t level)
{
    if (!f->levels || !level || f->level == level)
        return;
    f->level = level;
    for (uint32_t r = 0; r < f->m->c.netypes; r++)
        for (uint32_t i = 0; gnn_full_conv_of(f, r) && i < f->n; i++)
            for (uint32_t q = 0; q < f->k; q++) {
                struct full_part *p = &f->part[i];
                struct full_block *b = &p->rel[r].block[q];
                struct full_ask *a = gnn_full_ask(f, p, r, q);
                put_cut(b, &b->cut[level - 1]);
                if (a->cut.data)
                    a->n = ((const uint32_t *)a->cut.data)[level - 1];
            }
}
