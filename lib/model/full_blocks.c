/* SPDX-License-Identifier: Apache-2.0 */
/* Before the first pass: the edges of each part, sorted by the part of their sources; which rows
 * parts need of each other; and the factors of rows. */
#include <string.h>

#include "kernels/factors.h"
#include "lib/model/full_impl.h"
#include "lib/store/degree.h"

static const struct gnn_model_etype *etype_of(const struct gnn_full *f, uint32_t r)
{
    return &f->m->c.etype[r];
}

/* The partition of a node; `guess`: that of the previous edge. */
static uint32_t part_of(const uint64_t *book, uint32_t k, uint32_t id, uint32_t guess)
{
    if (id >= book[guess] && id < book[guess + 1])
        return guess;
    uint32_t lo = 0, hi = k;
    while (hi - lo > 1) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (id >= book[mid])
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* Whether layers use fields of edges. */
static bool has_fields(const struct gnn_full *f, uint32_t r)
{
    return f->m->c.edge_weight || etype_of(f, r)->features || gnn_layer_needs_ids(&f->m->c);
}

static bool numbers_edges(const struct gnn_full *f)
{
    return gnn_layer_variant(&f->m->c)->numbered;
}

static int refuse_many(struct gnn_full *f, const struct full_part *p, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: more than 2^32 edges%s: full batches require more partitions "
                    "(gnn-partition -k)",
                    gnn_store_part_path(f->s, p->at),
                    numbers_edges(f) ? "" : " from one partition");
}

/* Are there more edges than k blocks have space for, wherever they come from? Then it need not be
 * read where that is. Of edges that only some rows need, there may be few. */
static int check_many(struct gnn_full *f, const struct full_part *p, uint32_t r, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY], name[GNN_NAME_MAX + 1];
    gnn_tensor_name(name, "edge/%s/indices", gnn_etype_key(&f->s->meta.schema, r, key, sizeof key));
    const struct gnn_tensor *x = gnn_store_look(f->s, p->at, name);
    const uint64_t most = (numbers_edges(f) ? 1 : f->k) * (uint64_t)UINT32_MAX;
    return x && !f->levels && x->shape[0] > most ? refuse_many(f, p, e) : 0;
}

static int open_blocks(struct gnn_full *f, struct full_part *p, uint32_t r,
                       const struct gnn_store_adj *a, const uint64_t *book, struct gnn_err *e)
{
    struct full_block *block = p->rel[r].block;
    uint64_t *count = gnn_alloc_zero(f->k, sizeof *count, "blocks", e);
    uint64_t before = 0;
    uint32_t q = 0;
    for (uint64_t i = 0; count && i < a->edges; i++)
        count[q = part_of(book, f->k, a->indices[i], q)]++;
    for (q = 0; count && !e->code && q < f->k; q++) {
        struct full_block *b = &block[q];
        b->edges = (uint32_t)count[q];
        b->number = (uint32_t)before;
        before += count[q];
        if (count[q] > UINT32_MAX || (numbers_edges(f) && before > UINT32_MAX))
            (void)!refuse_many(f, p, e);
        else if (!gnn_full_table_make(&b->indptr, a->rows + 1, sizeof(uint32_t), "blocks", e) &&
                 (!has_fields(f, r) ||
                  !gnn_buf_fit(&b->order, b->edges, sizeof(uint64_t), "blocks", e)))
            (void)!gnn_full_table_make(&b->indices, b->edges, sizeof(uint32_t), "blocks", e);
    }
    gnn_free(count);
    return e->code;
}

/* Edges keep their order within a block. from: where each row's edges begin in the store, or NULL:
 * where they do in a. */
static int fill_blocks(const struct gnn_full *f, struct full_part *p, uint32_t r,
                       const struct gnn_store_adj *a, const uint64_t *from, const uint64_t *book,
                       struct gnn_err *e)
{
    struct full_block *block = p->rel[r].block;
    uint32_t *at = gnn_alloc_zero(f->k, sizeof *at, "blocks", e), q = 0;
    if (!at)
        return e->code;
    for (q = 0; q < f->k; q++)
        *(uint32_t *)block[q].indptr.data = 0;
    q = 0;
    for (uint64_t i = 0; i < a->rows; i++) {
        for (uint64_t j = a->indptr[i]; j < a->indptr[i + 1]; j++) {
            const uint32_t id = a->indices[j];
            q = part_of(book, f->k, id, q);
            if (block[q].order.data)
                ((uint64_t *)block[q].order.data)[at[q]] = from ? from[i] + j - a->indptr[i] : j;
            ((uint32_t *)block[q].indices.data)[at[q]++] = (uint32_t)(id - book[q]);
        }
        for (uint32_t j = 0; j < f->k; j++)
            ((uint32_t *)block[j].indptr.data)[i + 1] = at[j];
    }
    gnn_free(at);
    return 0;
}

/* The last level at which relation r's edges into these rows are used, and how many rows, edges of
 * a block and levels there are; without levels, all are of the only one. */
static uint32_t top_of(const struct gnn_full *f, uint32_t r)
{
    return f->levels ? f->top[r] : 1;
}

static uint32_t edges_of(const struct gnn_full *f, const struct full_part *p, uint32_t r,
                         const struct full_block *b, uint32_t level)
{
    return f->levels
               ? ((const uint32_t *)b->indptr.data)[gnn_full_rows(f, p, level, etype_of(f, r)->dst)]
               : b->edges;
}

/* The rows of another part that a block uses, `rows` being all that there are: each level's that
 * higher levels do not use are numbered in ascending order. number: (rows) scratch. last: [top] how
 * many each level uses. */
static int list_needed(const struct gnn_full *f, const struct full_part *p, uint32_t r,
                       struct full_block *b, uint64_t rows, uint32_t *number, uint32_t *last,
                       struct gnn_err *e)
{
    const uint32_t top = top_of(f, r);
    uint32_t *index = b->indices.data, *need, at[GNN_LAYERS_MAX + 2] = {0};
    memset(number, 0, rows * sizeof *number);
    for (uint32_t l = top, j = 0; l > 0; l--)
        for (const uint32_t end = edges_of(f, p, r, b, l); j < end; j++)
            if (!number[index[j]]) {
                number[index[j]] = l;
                at[l - 1]++;
            }
    b->n = 0;
    for (uint32_t l = top; l > 0; l--) {
        const uint32_t n = at[l - 1];
        at[l] = b->n;
        b->n += n;
        last[l - 1] = b->n;
    }
    if (gnn_full_table_make(&b->need, b->n, sizeof *need, "rows of other parts", e))
        return e->code;
    need = b->need.data;
    for (uint64_t i = 0; i < rows; i++)
        if (number[i]) {
            uint32_t *to = &at[number[i]];
            need[*to] = (uint32_t)i;
            number[i] = (*to)++;
        }
    for (uint32_t i = 0; i < b->edges; i++)
        index[i] = number[index[i]];
    return 0;
}

static int keep_levels(struct gnn_full *f, const struct full_part *p, uint32_t r,
                       struct full_block *b, const uint32_t *last, struct gnn_err *e)
{
    if (!f->levels)
        return 0;
    if (!(b->cut = gnn_alloc_zero(f->levels, sizeof *b->cut, "blocks", e)))
        return e->code;
    for (uint32_t l = 0; l < f->top[r]; l++) {
        b->cut[l].n = last[l];
        b->cut[l].edges = edges_of(f, p, r, b, l + 1);
        f->level_edges[(size_t)l * f->m->c.netypes + r] += b->cut[l].edges;
    }
    return 0;
}

static int list_all_needed(struct gnn_full *f, struct full_part *p, uint32_t r, struct gnn_err *e)
{
    const uint32_t t = etype_of(f, r)->src;
    uint64_t most = 0;
    for (uint32_t q = 0; q < f->k; q++)
        if (gnn_store_owned(f->s, q, t) > most)
            most = gnn_store_owned(f->s, q, t);
    uint32_t *number = gnn_alloc(most, sizeof *number, "rows of other parts", e);
    for (uint32_t q = 0; number && !e->code && q < f->k; q++) {
        struct full_block *b = &p->rel[r].block[q];
        uint32_t last[GNN_LAYERS_MAX];
        if (q == p->at)
            b->n = gnn_full_rows(f, p, 0, t);
        for (uint32_t l = 0; q == p->at && l < top_of(f, r); l++)
            last[l] = gnn_full_rows(f, p, l, t);
        if (q == p->at || !list_needed(f, p, r, b, gnn_store_owned(f->s, q, t), number, last, e))
            (void)!keep_levels(f, p, r, b, last, e);
    }
    gnn_free(number);
    return e->code;
}

/* ---- what parts ask of each other ---- */

/* How many numbers tell how many rows a block uses: one for each level. */
static uint32_t heads_of(const struct gnn_full *f)
{
    return f->levels ? f->levels : 1;
}

/* For each relation, partition of this rank and partition of that one: how many rows, which. */
static uint64_t asks_for(struct gnn_full *f, uint32_t rank, uint32_t *to)
{
    const uint32_t lo = gnn_store_rank_from(f->s, rank), hi = gnn_store_rank_from(f->s, rank + 1);
    uint64_t at = 0;
    for (uint32_t r = 0; r < f->m->c.netypes; r++)
        for (uint32_t i = 0; gnn_full_conv_of(f, r) && i < f->n; i++)
            for (uint32_t q = lo; q < hi; q++) {
                const struct full_block *b = &f->part[i].rel[r].block[q];
                for (uint32_t l = 0; to && l < heads_of(f); l++)
                    to[at + l] = b->cut ? b->cut[l].n : b->n;
                at += heads_of(f);
                if (to && b->n)
                    memcpy(to + at, b->need.data, b->n * sizeof *to);
                at += b->n;
            }
    return at;
}

static int read_ask(struct gnn_full *f, struct full_part *q, uint32_t r, uint32_t from,
                    const uint32_t **at, const uint32_t *end, struct gnn_err *e)
{
    struct full_ask *a = gnn_full_ask(f, q, r, from);
    const uint32_t *head = *at, heads = heads_of(f);
    bool bad = (uint64_t)(end - head) < heads || head[0] > (uint64_t)(end - head) - heads;
    const uint32_t *x = bad ? end : head + heads, n = bad ? 0 : *head;
    for (uint32_t l = heads, i = 0; !bad && l > 0; l--) {
        const uint32_t rows = gnn_full_rows(f, q, l - 1, etype_of(f, r)->src), first = i;
        bad = head[l - 1] < first || head[l - 1] > n;
        for (; !bad && i < head[l - 1]; i++)
            bad = x[i] >= rows || (i > first && x[i] <= x[i - 1]);
    }
    if (bad)
        return gnn_fail(e, GNN_E_RANK, "malformed request for rows of partition %u from rank %u",
                        q->at, gnn_full_rank_of(f, from));
    if (gnn_full_table_make(&a->list, n, sizeof *x, "rows for other parts", e) ||
        (f->levels && gnn_buf_fit(&a->cut, heads, sizeof *x, "rows for other parts", e)))
        return e->code;
    if (n)
        memcpy(a->list.data, x, n * sizeof *x);
    if (f->levels)
        memcpy(a->cut.data, head, heads * sizeof *x);
    a->n = n;
    *at = x + n;
    return 0;
}

static int read_asks(struct gnn_full *f, uint32_t rank, const struct gnn_span *in,
                     struct gnn_err *e)
{
    const uint32_t lo = gnn_store_rank_from(f->s, rank), hi = gnn_store_rank_from(f->s, rank + 1);
    const uint32_t *at = in->data, *end = at + in->bytes / sizeof *at;
    for (uint32_t r = 0; r < f->m->c.netypes; r++)
        for (uint32_t from = lo; gnn_full_conv_of(f, r) && from < hi; from++)
            for (uint32_t i = 0; i < f->n; i++)
                if (read_ask(f, &f->part[i], r, from, &at, end, e))
                    return e->code;
    return 0;
}

static int ask_ranks(struct gnn_full *f, struct gnn_err *e)
{
    struct gnn_exchange *x = &f->rows[0].x;
    struct gnn_buf out = {0};
    uint64_t words = 0;
    int rc = 0;
    for (int write = 0; write < 2; write++) {
        uint32_t *to = write ? out.data : NULL;
        for (uint32_t rank = 0; rank < f->comm->size; rank++) {
            const uint64_t n = rank == f->comm->rank ? 0 : asks_for(f, rank, to);
            x->out[rank] = (struct gnn_span){to, n * sizeof *to};
            words += n;
            if (to)
                to += n;
        }
        if (!write && gnn_buf_fit(&out, words, sizeof *to, "rows of other parts", e))
            return e->code;
    }
    rc = gnn_comm_exchange(f->comm, x, e);
    gnn_buf_release(&out);
    for (uint32_t rank = 0; !rc && rank < f->comm->size; rank++)
        if (rank != f->comm->rank) {
            rc = read_asks(f, rank, &x->in[rank], e);
            gnn_buf_release(&x->buffer[rank]);
        }
    return rc;
}

/* When ranks know what they ask of each other, the lists are only used by operations. */
static int put_lists(struct gnn_full *f, uint32_t r, struct gnn_err *e)
{
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t q = 0; q < f->k; q++) {
            struct full_ask *a = gnn_full_ask(f, &f->part[i], r, q);
            if (gnn_full_table_put(f, &f->part[i].rel[r].block[q].need, e) ||
                gnn_full_table_put(f, &a->list, e))
                return e->code;
            a->row = a->list.data;
        }
    return 0;
}

static int ask_for_rows(struct gnn_full *f, struct gnn_err *e)
{
    const int rc = f->comm->size > 1 ? ask_ranks(f, e) : 0;
    for (uint32_t r = 0; !rc && r < f->m->c.netypes; r++) {
        if (!gnn_full_conv_of(f, r))
            continue;
        if (put_lists(f, r, e))
            return e->code;
        for (uint32_t i = 0; i < f->n; i++)
            for (uint32_t j = 0; j < f->n; j++) {
                const struct full_block *b = &f->part[i].rel[r].block[f->part[j].at];
                struct full_ask *a = gnn_full_ask(f, &f->part[j], r, f->part[i].at);
                a->row = b->need.data;
                a->n = b->n;
            }
    }
    return rc;
}

/* ---- factors ---- */

static enum gnn_adj_norm norm_of(const struct gnn_full *f)
{
    return gnn_layer_variant(&f->m->c)->norm;
}

/* Factors are made on the host, wherever the operations are: they come from the store's arrays.
 * Here those of a partition's own nodes, from the edges that enter them in the whole graph. */
static int take_weights(struct gnn_full *f, struct full_part *p, uint32_t r, uint64_t n,
                        struct gnn_err *e)
{
    struct full_rel *x = &p->rel[r];
    float *degree = gnn_alloc(n, sizeof *degree, "degrees", e);
    if (degree && !gnn_full_table_make(&x->loop, n, sizeof(float), "degrees", e) &&
        !gnn_store_part_weights(f->s, p->at, r, f->m->c.edge_weight, degree, x->loop.data, e))
        gnn_weight_degrees(degree, n, x->node.data);
    gnn_free(degree);
    return e->code;
}

static int take_degrees(struct gnn_full *f, struct full_part *p, uint32_t r, struct gnn_err *e)
{
    const uint64_t n = gnn_store_owned(f->s, p->at, etype_of(f, r)->dst);
    struct full_rel *x = &p->rel[r];
    if (gnn_full_table_make(&x->node, n, sizeof(float), "degrees", e) ||
        gnn_full_table_make(&x->count, n, sizeof(uint32_t), "degrees", e) ||
        gnn_store_part_degrees(f->s, p->at, r, x->count.data, e))
        return e->code;
    if (f->m->c.edge_weight)
        return take_weights(f, p, r, n, e);
    gnn_gcn_degrees(x->count.data, n, x->node.data);
    return 0;
}

/* The factors of a row come from all its edges. Self-loops are recognised by index == row, so
 * sources in other partitions get an index that no row has. */
static int make_factors(struct gnn_full *f, struct full_part *p, uint32_t r,
                        const struct gnn_store_adj *a, const uint64_t *book, struct gnn_err *e)
{
    struct full_rel *x = &p->rel[r];
    const uint32_t rows = (uint32_t)a->rows;
    const bool loops = norm_of(f) == GNN_ADJ_SYMMETRIC;
    const char *weight = f->m->c.edge_weight;
    struct gnn_buf widened = {0};
    uint32_t *index = NULL;
    if (gnn_full_table_make(&x->row, rows, sizeof(float), "row factors", e) ||
        (loops && gnn_full_table_make(&x->diag, rows, sizeof(float), "diagonal", e)) ||
        (loops && !(index = gnn_alloc(a->edges, sizeof *index, "factors", e))))
        return e->code;
    for (uint64_t i = 0; loops && i < a->edges; i++) {
        const uint64_t own = a->indices[i] - book[p->at];
        index[i] = own < rows ? (uint32_t)own : UINT32_MAX;
    }
    struct gnn_csr whole = {.n = rows, .indptr64 = a->indptr, .indices = index};
    if (loops && weight)
        whole.value = gnn_full_edge_field(f, p, r, weight, 1, &widened, e);
    if (loops && weight && !e->code)
        gnn_weight_factors(&whole, 1, 0, rows, x->node.data, x->count.data, x->loop.data,
                           x->row.data, x->diag.data);
    else if (loops)
        gnn_gcn_factors(&whole, 1, 0, rows, x->node.data, x->row.data, x->diag.data);
    else
        gnn_mean_factors(&whole, 1, 0, rows, x->row.data);
    gnn_buf_release(&widened);
    gnn_free(index);
    return e->code;
}

static int keep_factors(struct gnn_full *f, struct full_part *p, uint32_t c, void *arg,
                        struct gnn_err *e)
{
    const uint32_t r = *(const uint32_t *)arg;
    struct full_block *b = &p->rel[r].block[gnn_full_source(f, p->at, c)];
    if (!c || f->o->fit(f->o, &b->node, b->n, sizeof(float), "factors", e))
        return e->code;
    f->o->copy(f->o, b->node.data, p->view, b->n * sizeof(float));
    return 0;
}

static int fetch_factors(struct gnn_full *f, uint32_t r, const struct gnn_conv *v,
                         struct gnn_err *e)
{
    for (uint32_t i = 0; i < f->n; i++)
        f->part[i].table = f->part[i].rel[r].node.data;
    const struct full_flow x = {.r = r, .d = 1, .of = v, .table = FULL_EDGES, .change = FULL_EDGES};
    return gnn_full_fetch(f, &x, keep_factors, &r, e);
}

/* ---- all of it ---- */

static int close_block(struct gnn_full *f, struct full_part *p, uint32_t r, uint32_t q,
                       uint32_t rows, struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    const struct full_rel *x = &p->rel[r];
    struct full_block *b = &x->block[q];
    const bool own = q == p->at, norm = norm_of(f) == GNN_ADJ_SYMMETRIC;
    const bool numbered = b->value.data || numbers_edges(f), parts = gnn_full_has_parts(f, r);
    if (gnn_full_table_make(&b->csr, 3, sizeof(struct gnn_csr), "blocks", e) ||
        (!f->forward &&
         (o->fit(o, &b->tptr, (uint64_t)b->n + 1, sizeof(uint32_t), "transposed blocks", e) ||
          o->fit(o, &b->tidx, b->edges, sizeof(uint32_t), "transposed blocks", e) ||
          (numbered && o->fit(o, &b->tedge, b->edges, sizeof(uint32_t), "transposed blocks", e)))))
        return e->code;
    struct gnn_csr *seg = b->csr.data, *back = seg + 1;
    *seg = (struct gnn_csr){.n = rows,
                            .indptr = b->indptr.data,
                            .indices = b->indices.data,
                            .value = b->value.data,
                            .row = x->row.data,
                            .col = !norm ? NULL
                                   : own ? x->node.data
                                         : b->node.data,
                            .diag = norm && own ? x->diag.data : NULL,
                            .ndiag = norm && own ? rows : 0};
    *back = *seg;
    back->n = b->n;
    back->indptr = b->tptr.data;
    back->indices = b->tidx.data;
    back->edge = numbered && !parts ? b->tedge.data : NULL;
    back->row = seg->col;
    back->col = seg->row;
    back[1] = *seg;
    back[1].edge = b->tedge.data;
    if (parts && b->id.data)
        seg->edge = b->tedge.data;
    if (gnn_full_table_put(f, &b->csr, e))
        return e->code;
    if (!f->forward)
        o->transpose(o, b->csr.data, 1, b->n, b->edges, b->tptr.data, b->tidx.data,
                     numbered ? b->tedge.data : NULL);
    return parts ? gnn_full_part_block(f, b, rows, e) : 0;
}

/* When all of a relation has been made on the host. */
static int put_part(struct gnn_full *f, struct full_part *p, uint32_t r, struct gnn_err *e)
{
    struct full_rel *x = &p->rel[r];
    gnn_full_table_free(f, &x->count);
    gnn_full_table_free(f, &x->loop);
    if (gnn_full_table_put(f, &x->node, e) || gnn_full_table_put(f, &x->row, e) ||
        gnn_full_table_put(f, &x->diag, e) || gnn_full_table_put(f, &x->mean, e))
        return e->code;
    for (uint32_t q = 0; q < f->k; q++) {
        struct full_block *b = &x->block[q];
        if (gnn_full_table_put(f, &b->indptr, e) || gnn_full_table_put(f, &b->indices, e) ||
            gnn_full_table_put(f, &b->value, e) || gnn_full_table_put(f, &b->feature, e) ||
            gnn_full_table_put(f, &b->id, e))
            return e->code;
    }
    return 0;
}

/* Each level has a transposed block of its own. */
static int close_levels(struct gnn_full *f, struct full_part *p, uint32_t r, uint32_t q,
                        struct gnn_err *e)
{
    struct full_block *b = &p->rel[r].block[q];
    const uint32_t t = etype_of(f, r)->dst;
    if (!f->levels)
        return close_block(f, p, r, q, gnn_full_rows(f, p, 1, t), e);
    for (uint32_t l = 0; l < f->top[r]; l++) {
        b->n = b->cut[l].n;
        b->edges = b->cut[l].edges;
        b->tptr = b->tidx = b->tedge = (struct gnn_buf){0};
        b->csr = (struct full_table){0};
        const int rc = close_block(f, p, r, q, gnn_full_rows(f, p, l + 1, t), e);
        gnn_full_keep_cut(b, &b->cut[l]);
        if (rc)
            return rc;
    }
    return 0;
}

/* Factors and means of rows, made of all of them, in the numbers that rows have. */
static int sort_factors(struct gnn_full *f, struct full_part *p, uint32_t r, struct gnn_err *e)
{
    const struct gnn_model_etype *t = etype_of(f, r);
    struct full_rel *x = &p->rel[r];
    struct full_table *const of[] = {&x->node, &x->row, &x->diag, &x->count, &x->loop, &x->mean};
    for (size_t i = 0; p->order && p->order[t->dst].data && i < sizeof of / sizeof *of; i++) {
        const size_t bytes = sizeof(float) * (of[i] == &x->mean ? t->features : 1);
        struct full_table sorted = {0};
        if (!of[i]->data)
            continue;
        if (gnn_full_needed_rows(f, p, t->dst, of[i]->data, bytes, &sorted, e))
            return e->code;
        gnn_full_table_free(f, of[i]);
        *of[i] = sorted;
    }
    return 0;
}

static int make_part(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const uint32_t r = *(const uint32_t *)arg;
    const uint64_t *book = f->s->book[etype_of(f, r)->src];
    struct gnn_store_adj a;
    struct full_edges x = {0};
    if (!(p->rel[r].block = gnn_alloc_zero(f->k, sizeof *p->rel[r].block, "blocks", e)) ||
        check_many(f, p, r, e) || gnn_store_adjacency(f->s, p->at, r, &a, e))
        return e->code;
    const struct gnn_store_adj *all = f->levels ? &x.a : &a;
    if ((!f->levels || !gnn_full_needed_edges(f, p, r, &a, &x, e)) &&
        !open_blocks(f, p, r, all, book, e) && !fill_blocks(f, p, r, all, x.from.data, book, e) &&
        !list_all_needed(f, p, r, e) && has_fields(f, r))
        (void)!gnn_full_edges_read(f, p, r, &a, e);
    gnn_full_edges_free(&x);
    if (e->code || (norm_of(f) == GNN_ADJ_SYMMETRIC && take_degrees(f, p, r, e)) ||
        (norm_of(f) != GNN_ADJ_SUM && make_factors(f, p, r, &a, book, e)) ||
        sort_factors(f, p, r, e))
        return e->code;
    return put_part(f, p, r, e);
}

static int close_blocks(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const uint32_t r = *(const uint32_t *)arg;
    for (uint32_t q = 0; q < f->k; q++)
        if (close_levels(f, p, r, q, e))
            return e->code;
    return 0;
}

/* Bytes that a partition has besides what operations use while its blocks of a relation are made:
 * the store's edges, which are mapped, and tables that are not yet where operations are. */
static uint64_t bytes_of_making(const struct gnn_full *f, const struct full_part *p, uint32_t r)
{
    const struct gnn_model_etype *t = etype_of(f, r);
    const uint64_t rows = gnn_store_owned(f->s, p->at, t->dst), numbers = sizeof(uint64_t);
    char key[GNN_ETYPE_KEY_CAPACITY], name[GNN_NAME_MAX + 1];
    gnn_tensor_name(name, "edge/%s/indices", gnn_etype_key(&f->s->meta.schema, r, key, sizeof key));
    const struct gnn_tensor *x = gnn_store_look(f->s, p->at, name);
    const uint64_t fields = (f->m->c.edge_weight != NULL) + (uint64_t)t->features;
    const uint64_t edge =
        2 * sizeof(uint32_t) + (has_fields(f, r) ? 2 * numbers + 2 * fields * sizeof(float) : 0);
    return (x ? x->shape[0] : 0) * edge + rows * (numbers + f->k * sizeof(uint32_t));
}

static uint64_t most_of_making(const struct gnn_full *f)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t r = 0; r < f->m->c.netypes; r++) {
            const uint64_t bytes = gnn_full_conv_of(f, r) ? bytes_of_making(f, &f->part[i], r) : 0;
            most = bytes > most ? bytes : most;
        }
    return most;
}

int gnn_full_blocks_make(struct gnn_full *f, struct gnn_err *e)
{
    const bool degrees = norm_of(f) == GNN_ADJ_SYMMETRIC;
    gnn_full_set_aside(f, most_of_making(f));
    for (uint32_t r = 0; r < f->m->c.netypes; r++) {
        const struct full_turn make = {make_part, {gnn_full_conv_of(f, r), .change = FULL_EDGES}};
        if (!make.want.conv)
            continue;
        const int rc = gnn_full_each(f, &make, &r, e);
        if (rc)
            return rc;
    }
    int rc = ask_for_rows(f, e);
    for (uint32_t r = 0; !rc && r < f->m->c.netypes; r++) {
        const struct full_turn close = {close_blocks,
                                        {gnn_full_conv_of(f, r), .change = FULL_EDGES | FULL_BACK}};
        if (!close.want.conv)
            continue;
        if (degrees)
            rc = fetch_factors(f, r, close.want.conv, e);
        if (!rc)
            rc = gnn_full_each(f, &close, &r, e);
    }
    gnn_full_set_aside(f, UINT64_MAX);
    return !rc && f->levels
               ? gnn_comm_all_reduce(f->comm, f->level_edges, (uint64_t)f->levels * f->m->c.netypes,
                                     GNN_REDUCE_U64, e)
               : rc;
}

/* The block's transposed lists are those of one of its levels. */
static void free_cuts(const struct gnn_full *f, struct full_block *b)
{
    for (uint32_t l = 0; b->cut && l < f->levels; l++) {
        b->tptr = b->tidx = b->tedge = (struct gnn_buf){0};
        b->csr = (struct full_table){0};
        gnn_full_table_free(f, &b->cut[l].csr);
        f->o->release(f->o, &b->cut[l].tptr);
        f->o->release(f->o, &b->cut[l].tidx);
        f->o->release(f->o, &b->cut[l].tedge);
    }
    gnn_free(b->cut);
}

void gnn_full_blocks_free(struct gnn_full *f, struct full_part *p)
{
    const struct gnn_ops *o = f->o;
    const uint32_t nr = f->m->c.netypes;
    for (uint32_t r = 0; p->rel && r < nr; r++) {
        struct full_rel *x = &p->rel[r];
        for (uint32_t q = 0; x->block && q < f->k; q++) {
            struct full_block *b = &x->block[q];
            free_cuts(f, b);
            struct full_table *const table[] = {&b->need,    &b->indptr, &b->indices, &b->value,
                                                &b->feature, &b->id,     &b->csr};
            struct gnn_buf *const buf[] = {&b->tptr, &b->tidx, &b->tedge, &b->node};
            for (size_t i = 0; i < sizeof table / sizeof *table; i++)
                gnn_full_table_free(f, table[i]);
            gnn_full_sample_free(f, &b->sample);
            for (size_t i = 0; i < sizeof buf / sizeof *buf; i++)
                o->release(o, buf[i]);
            gnn_buf_release(&b->order);
        }
        gnn_free(x->block);
        struct full_table *const table[] = {&x->node,  &x->row,  &x->diag,
                                            &x->count, &x->loop, &x->mean};
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            gnn_full_table_free(f, table[i]);
    }
    for (uint64_t i = 0; p->ask && i < (uint64_t)nr * f->k; i++) {
        gnn_full_table_free(f, &p->ask[i].list);
        gnn_full_sample_free(f, &p->ask[i].sample);
        gnn_buf_release(&p->ask[i].cut);
    }
    gnn_free(p->rel);
    gnn_free(p->ask);
}
