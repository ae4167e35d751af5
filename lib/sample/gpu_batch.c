/* SPDX-License-Identifier: Apache-2.0 */
/* A batch that is drawn on a device: its memory, its seeds, the tensors it becomes. */
#include <stdio.h>
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
    gnn_free(x->nodes);
    gnn_free(x);
}

static int drawn_new(struct gpu_context *l, struct gnn_batch *b, struct gnn_err *e)
{
    const uint64_t types = l->s->meta.schema.nntypes, blocks = gpu_blocks(l->s);
    struct gpu_drawn *x = gnn_alloc_zero(1, sizeof *x, "a batch", e);
    if (!x)
        return e->code;
    x->context = l;
    x->nodes = gnn_alloc_zero(3 * types + 3 * blocks, sizeof(void *), "a batch", e);
    if (!x->nodes || gnn_gpu_place_init(&x->place, l->d->number, drawn_free, e)) {
        drawn_free(&x->place);
        return e->code;
    }
    x->tree = x->nodes + types;
    x->time = (int64_t **)(void *)(x->tree + types);
    x->indptr = x->tree + 2 * types;
    x->indices = x->indptr + blocks;
    x->id = (uint64_t **)(void *)(x->indices + blocks);
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

/* Lays the arena out from base; returns its size. */
static uint64_t arena_lay(struct gpu_drawn *x, char *base)
{
    const struct sampler *s = x->context->s;
    const struct gpu_capacity *r = x->context->capacity;
    uint64_t at = 0;
    for (uint32_t t = 0; t < s->meta.schema.nntypes; t++) {
        x->nodes[t] = gpu_lay(base, &at, r->nodes[t] * sizeof(uint32_t));
        x->tree[t] =
            s->meta.sampling.disjoint ? gpu_lay(base, &at, r->nodes[t] * sizeof(uint32_t)) : NULL;
        x->time[t] = gnn_sampling_is_temporal(&s->meta.sampling)
                         ? gpu_lay(base, &at, r->nodes[t] * sizeof(int64_t))
                         : NULL;
    }
    for (uint32_t b = 0; b < gpu_blocks(s); b++) {
        if (!r->rows[b] || !gnn_sampling_keeps(&s->meta.sampling, b / s->meta.schema.netypes))
            continue;
        x->indptr[b] = gpu_lay(base, &at, (r->rows[b] + UINT64_C(1)) * sizeof(uint32_t));
        x->indices[b] = gpu_lay(base, &at, r->edges[b] * sizeof(uint32_t));
        x->id[b] =
            s->meta.sampling.edge_ids ? gpu_lay(base, &at, r->edges[b] * sizeof(uint64_t)) : NULL;
    }
    return at;
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

/* A tensor whose data are in the arena. */
static int add_tensor(struct gnn_batch *b, const char *name, enum gnn_dtype dtype, uint64_t rows,
                      const void *data, struct gnn_err *e)
{
    const uint64_t none = 0;
    struct gnn_tensor *t;
    int rc = gnn_tensors_add(&b->tensors, name, dtype, 1, &none, &t, e);
    if (rc)
        return rc;
    t->shape[0] = rows;
    t->data = (void *)(uintptr_t)data;
    return 0;
}

static int bind_nodes(const struct gpu_drawn *x, struct gnn_batch *b, uint32_t t,
                      const uint32_t *counts, struct gnn_err *e)
{
    const struct gnn_schema *c = &x->context->s->meta.schema;
    const uint64_t hops = b->nhops + UINT64_C(1);
    const uint32_t n = counts[b->nhops * b->nntypes + t];
    struct gnn_tensor *sizes;
    char name[GNN_NAME_MAX + 1];
    int rc = add_tensor(b, gnn_tensor_name(name, "nodes/%s", c->ntype[t].name), GNN_U32, n,
                        x->nodes[t], e);
    if (!rc && x->context->s->meta.sampling.disjoint)
        rc = add_tensor(b, gnn_tensor_name(name, "tree/%s", c->ntype[t].name), GNN_U32, n,
                        x->tree[t], e);
    if (!rc && gnn_sampling_is_temporal(&x->context->s->meta.sampling))
        rc = add_tensor(b, gnn_tensor_name(name, "time/%s", c->ntype[t].name),
                        gnn_sampling_time_dtype(&x->context->s->meta.sampling), n, x->time[t], e);
    if (!rc)
        rc = gnn_tensors_add(&b->tensors, gnn_tensor_name(name, "counts/%s", c->ntype[t].name),
                             GNN_U64, 1, &hops, &sizes, e);
    if (rc)
        return rc;
    uint64_t *count = sizes->data;
    for (uint32_t h = 0; h < hops; h++)
        count[h] = counts[h * b->nntypes + t];
    b->type[t] = (struct gnn_batch_type){
        .node = x->nodes[t], .tree = x->tree[t], .time = x->time[t], .count = count};
    return 0;
}

static int bind_block(const struct gpu_drawn *x, struct gnn_batch *b, uint32_t hop, uint32_t et,
                      struct gnn_err *e)
{
    const uint32_t k = hop * b->netypes + et;
    const struct gpu_io io = gnn_gpu_io_lay(x->context->s, x->context->capacity);
    const uint32_t edges = ((const uint32_t *)(const void *)(x->out + io.edges))[k];
    struct gnn_block block = {
        .edges = edges, .indptr = x->indptr[k], .indices = x->indices[k], .id = x->id[k]};
    char key[GNN_ETYPE_KEY_ROOM], name[GNN_NAME_MAX + 1];
    gnn_gpu_drawn_rows(x, k, &block.first, &block.n);
    if (!gnn_pick_any(gnn_sampling_rule(&x->context->s->meta.sampling, k)) || !block.n)
        return 0;
    gnn_etype_key(&x->context->s->meta.schema, et, key, sizeof key);
    int rc = add_tensor(b, gnn_tensor_name(name, "hop/%u/%s/indptr", hop, key), GNN_U32,
                        block.n + UINT64_C(1), block.indptr, e);
    if (!rc)
        rc = add_tensor(b, gnn_tensor_name(name, "hop/%u/%s/indices", hop, key), GNN_U32, edges,
                        block.indices, e);
    if (!rc && block.id)
        rc = add_tensor(b, gnn_tensor_name(name, "hop/%u/%s/id", hop, key), GNN_U64, edges,
                        block.id, e);
    *gnn_batch_block(b, hop, et) = block;
    return rc;
}

/* How often the seeds were drawn, which lie in the host's memory. */
static int bind_draws(const struct gpu_drawn *x, struct gnn_batch *b, struct gnn_err *e)
{
    const struct sampler *s = x->context->s;
    const struct gpu_io io = gnn_gpu_io_lay(s, x->context->capacity);
    const uint32_t type = s->meta.sampling.seed_ntype;
    const uint64_t n = *(const uint32_t *)(const void *)(x->in + io.n);
    struct gnn_tensor *t;
    char name[GNN_NAME_MAX + 1];
    uint64_t distinct;
    if (!gnn_sampling_counts_draws(&s->meta.sampling, b->split))
        return 0;
    gnn_tensor_name(name, "draws/%s", s->meta.schema.ntype[type].name);
    if (gnn_tensors_add(&b->tensors, name, GNN_U32, 1, &n, &t, e) ||
        gnn_seed_draws_count((const uint32_t *)(const void *)(x->in + io.seeds), n, t->data,
                             &distinct, e) ||
        gnn_tensors_resize(&b->tensors, t, distinct, e))
        return e->code;
    b->type[type].draws = t->data;
    return 0;
}

void gnn_gpu_drawn_rows(const struct gpu_drawn *x, uint32_t block, uint32_t *first, uint32_t *n)
{
    const struct gnn_schema *c = &x->context->s->meta.schema;
    const uint32_t hop = block / c->netypes, dst = c->etype[block % c->netypes].dst;
    const uint32_t *counts = gpu_drawn_counts(x);
    const bool fresh = gnn_sampling_new_rows(&x->context->s->meta.sampling, hop);
    *first = fresh ? counts[(hop - 1) * c->nntypes + dst] : 0;
    *n = counts[hop * c->nntypes + dst] - *first;
}

int gnn_gpu_drawn_bind(const struct gpu_drawn *x, const struct gnn_batch *key, struct gnn_batch *b,
                       struct gnn_err *e)
{
    const uint64_t four = 4;
    struct gnn_tensor *t;
    b->epoch = key->epoch;
    b->step = key->step;
    b->split = key->split;
    b->rank = key->rank;
    int rc = gnn_tensors_add(&b->tensors, "key", GNN_U64, 1, &four, &t, e);
    if (rc)
        return rc;
    memcpy(t->data, (uint64_t[]){b->epoch, b->step, b->split, b->rank}, 4 * sizeof(uint64_t));
    for (uint32_t i = 0; !rc && i < b->nntypes; i++)
        rc = bind_nodes(x, b, i, gpu_drawn_counts(x), e);
    if (!rc)
        rc = bind_draws(x, b, e);
    for (uint32_t h = 0; !rc && h < b->nhops; h++)
        for (uint32_t et = 0;
             !rc && gnn_sampling_keeps(&x->context->s->meta.sampling, h) && et < b->netypes; et++)
            rc = bind_block(x, b, h, et, e);
    return rc;
}
