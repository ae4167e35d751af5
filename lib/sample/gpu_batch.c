/* SPDX-License-Identifier: Apache-2.0 */
/* A batch that is drawn on a device: its memory, its seeds, the tensors it becomes. */
#include <string.h>

#include "lib/sample/gpu_sample.h"

static void drawn_empty(struct gpu_drawn *x)
{
    gnn_dev_graph_free(x->graph);
    gnn_dev_free(x->arena);
    gnn_gpu_unpin(x->in);
    gnn_gpu_unpin(x->out);
    x->graph = x->arena = NULL;
    x->in = x->out = NULL;
    x->turn = 0;
}

static void drawn_free(struct gnn_batch_place *p)
{
    struct gpu_drawn *x = (struct gpu_drawn *)p;
    drawn_empty(x);
    gnn_gpu_place_release(&x->place);
    gnn_free(x->column);
    gnn_free(x);
}

static int drawn_new(struct gpu_context *l, struct gnn_batch *b, struct gnn_err *e)
{
    struct gpu_drawn *x = gnn_alloc_zero(1, sizeof *x, "a batch", e);
    if (!x)
        return e->code;
    x->context = l;
    x->column =
        gnn_alloc_zero((uint64_t)GNN_NCOLUMNS * gpu_places(l->s), sizeof *x->column, "a batch", e);
    if (!x->column || gnn_gpu_place_init(&x->place, l->d->number, drawn_free, e)) {
        drawn_free(&x->place);
        return e->code;
    }
    b->place = &x->place;
    return 0;
}

int gnn_gpu_drawn_get(struct gpu_context *l, struct gnn_batch **b, struct gnn_err *e)
{
    struct gnn_batch *got;
    int rc = gnn_batch_get(l->pool, &got, e);
    if (rc)
        return rc;
    if (!got->place)
        rc = drawn_new(l, got, e);
    if (!rc)
        rc = gnn_dev_event_after(l->stream, got->place->used, e);
    if (rc)
        gnn_batch_put(got);
    else
        *b = got;
    return rc;
}

/* Rows that column c can have; 0: of a block without rows. */
static uint64_t column_capacity(const struct gpu_capacity *r, enum gnn_column c, uint32_t at)
{
    return gnn_column[c].rows == GNN_ROWS_NODES     ? r->nodes[at]
           : gnn_column[c].rows == GNN_ROWS_OFFSETS ? r->rows[at] + UINT64_C(1)
                                                    : r->edges[at];
}

/* Whether a device draws the column. */
static bool is_drawn(const struct sampler *s, enum gnn_column c, uint32_t at)
{
    const uint32_t n = s->meta.schema.netypes;
    const bool block = gnn_column[c].per == GNN_PER_BLOCK;
    return gnn_column[c].per != GNN_PER_BATCH && !gnn_column[c].host &&
           gnn_column_presence(&s->meta, c, block ? at / n : 0, block ? at % n : at) ==
               GNN_REQUIRED;
}

/* Lays the arena out from base; returns its size. */
static uint64_t arena_lay(struct gpu_drawn *x, char *base)
{
    const struct sampler *s = x->context->s;
    const struct gpu_capacity *r = x->context->capacity;
    uint64_t end = 0;
    for (uint32_t c = 0; c < GNN_NCOLUMNS; c++) {
        const bool block = gnn_column[c].per == GNN_PER_BLOCK;
        const uint64_t bytes = gnn_dtype_bytes(gnn_column_dtype(&s->meta, c));
        for (uint32_t at = 0; at < (block ? gpu_blocks(s) : s->meta.schema.nntypes); at++)
            if (is_drawn(s, c, at) && (!block || r->rows[at]))
                x->column[(size_t)c * gpu_places(s) + at] =
                    gpu_lay(base, &end, column_capacity(r, c, at) * bytes);
    }
    return end;
}

static int drawn_fit(struct gpu_drawn *x, struct gnn_err *e)
{
    const struct gpu_capacity *r = x->context->capacity;
    const struct gpu_io io = gnn_gpu_io_lay(x->context->s, r);
    void *in = NULL, *out = NULL;
    if (x->turn == r->turn)
        return 0;
    drawn_empty(x);
    int rc = gnn_gpu_pin(&in, io.bytes, "a batch's seeds", e);
    x->in = in;
    if (!rc)
        rc = gnn_gpu_pin(&out, io.out, "a batch's sizes", e);
    x->out = out;
    if (!rc)
        rc = gnn_dev_alloc(&x->arena, arena_lay(x, NULL), "a batch", e);
    if (rc)
        return rc;
    (void)arena_lay(x, x->arena);
    memset(x->in, 0, io.bytes);
    x->turn = r->turn;
    return 0;
}

/* ---- its seeds ---- */

/* The seeds and keys of a batch, to be copied. */
static void fill_in(struct gpu_drawn *x, const struct gnn_batch *key, const struct gpu_io *io)
{
    const struct sampler *s = x->context->s;
    struct gnn_entries to = {.node = (uint32_t *)(void *)(x->in + io->seeds)};
    if (s->meta.sampling.disjoint)
        to.tree = (uint32_t *)(void *)(x->in + io->trees);
    if (gnn_sampling_is_temporal(&s->meta.sampling))
        to.time = (int64_t *)(void *)(x->in + io->times);
    *(uint32_t *)(void *)(x->in + io->n) = (uint32_t)s->seeds->fill(s->seeds, key, to);
    gnn_sample_keys(s, key, (uint32_t *)(void *)(x->in + io->keys));
}

int gnn_gpu_drawn_launch(struct gpu_drawn *x, const struct gnn_batch *key, struct gnn_err *e)
{
    struct gpu_context *l = x->context;
    int rc = gnn_dev_use(l->d->number, e);
    if (!rc)
        rc = gnn_gpu_context_fit(l, e);
    if (!rc)
        rc = drawn_fit(x, e);
    if (rc)
        return rc;
    const struct gpu_io io = gnn_gpu_io_lay(l->s, l->capacity);
    fill_in(x, key, &io);
    rc = gnn_gpu_context_launch(l, x, e);
    return rc ? rc : gnn_dev_event_record(x->place.ready, l->stream, e);
}

/* ---- when it has been drawn ---- */

/* Adds a column whose data are in the arena, and points the batch's view to it. */
static int add_drawn(const struct gpu_drawn *x, struct gnn_batch *b, enum gnn_column c,
                     uint32_t hop, uint32_t type, uint64_t rows, struct gnn_err *e)
{
    const bool block = gnn_column[c].per == GNN_PER_BLOCK;
    const uint32_t at = block ? hop * b->netypes + type : type;
    struct gnn_tensor *t;
    if (!is_drawn(x->context->s, c, at))
        return 0;
    if (gnn_column_add(&b->tensors, &x->context->s->meta, c, hop, type, 0, &t, e))
        return e->code;
    t->shape[0] = rows;
    t->data = gpu_drawn_column(x, c, at);
    *gnn_column_view(b, c, hop, type) = t->data;
    return 0;
}

static int bind_nodes(const struct gpu_drawn *x, struct gnn_batch *b, uint32_t t,
                      const uint32_t *counts, struct gnn_err *e)
{
    const uint64_t hops = b->nhops + UINT64_C(1);
    struct gnn_tensor *sizes;
    int rc = 0;
    for (uint32_t c = 0; !rc && c < GNN_NCOLUMNS; c++)
        if (gnn_column[c].rows == GNN_ROWS_NODES)
            rc = add_drawn(x, b, c, 0, t, counts[b->nhops * b->nntypes + t], e);
    if (!rc)
        rc = gnn_column_add(&b->tensors, &x->context->s->meta, GNN_COLUMN_COUNTS, 0, t, hops,
                            &sizes, e);
    if (rc)
        return rc;
    uint64_t *count = sizes->data;
    for (uint32_t h = 0; h < hops; h++)
        count[h] = counts[h * b->nntypes + t];
    b->type[t].count = count;
    return 0;
}

static int bind_block(const struct gpu_drawn *x, struct gnn_batch *b, uint32_t hop, uint32_t et,
                      struct gnn_err *e)
{
    const uint32_t k = hop * b->netypes + et;
    const struct gpu_io io = gnn_gpu_io_lay(x->context->s, x->context->capacity);
    const uint32_t edges = ((const uint32_t *)(const void *)(x->out + io.edges))[k];
    struct gnn_block block = {.edges = edges};
    gnn_gpu_drawn_rows(x, k, &block.first, &block.n);
    if (!gnn_pick_any(gnn_sampling_rule(&x->context->s->meta.sampling, k)) || !block.n)
        return 0;
    *gnn_batch_block(b, hop, et) = block;
    int rc = add_drawn(x, b, GNN_COLUMN_INDPTR, hop, et, block.n + UINT64_C(1), e);
    if (!rc)
        rc = add_drawn(x, b, GNN_COLUMN_INDICES, hop, et, edges, e);
    return rc ? rc : add_drawn(x, b, GNN_COLUMN_EDGE_ID, hop, et, edges, e);
}

/* The nodes up to each hop, by type: (nhops + 1, nntypes). */
static const uint32_t *drawn_counts(const struct gpu_drawn *x)
{
    return (
        const uint32_t *)(const void *)(x->out +
                                        gnn_gpu_io_lay(x->context->s, x->context->capacity).counts);
}

void gnn_gpu_drawn_rows(const struct gpu_drawn *x, uint32_t block, uint32_t *first, uint32_t *n)
{
    const struct gnn_schema *c = &x->context->s->meta.schema;
    const uint32_t hop = block / c->netypes, dst = c->etype[block % c->netypes].dst;
    const uint32_t *counts = drawn_counts(x);
    const bool fresh = gnn_sampling_new_rows(&x->context->s->meta.sampling, hop);
    *first = fresh ? counts[(hop - 1) * c->nntypes + dst] : 0;
    *n = counts[hop * c->nntypes + dst] - *first;
}

int gnn_gpu_drawn_bind(const struct gpu_drawn *x, const struct gnn_batch *key, struct gnn_batch *b,
                       struct gnn_err *e)
{
    const struct sampler *s = x->context->s;
    const struct gpu_io io = gnn_gpu_io_lay(s, x->context->capacity);
    b->epoch = key->epoch;
    b->step = key->step;
    b->split = key->split;
    b->rank = key->rank;
    int rc = gnn_column_add_key(b, &s->meta, e);
    for (uint32_t i = 0; !rc && i < b->nntypes; i++)
        rc = bind_nodes(x, b, i, drawn_counts(x), e);
    if (!rc)
        rc = gnn_seed_draws_add(s, b, (const uint32_t *)(const void *)(x->in + io.seeds),
                                *(const uint32_t *)(const void *)(x->in + io.n), e);
    for (uint32_t h = 0; !rc && h < b->nhops; h++)
        for (uint32_t et = 0; !rc && gnn_sampling_keeps(&s->meta.sampling, h) && et < b->netypes;
             et++)
            rc = bind_block(x, b, h, et, e);
    return rc;
}
