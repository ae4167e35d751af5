/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing for the sampler of several ranks (lib/sample/draw_etype.c): destinations come from the
 * host's memory, and what was drawn goes there. Each of the sampler's threads has a stream context:
 * a stream of one device, and memory that grows with what it is asked for. */
#include "lib/sample/gpu_sample.h"

enum {
    FIRST = 1 << 12
}; /* edges that there is capacity for without being sure that so many are needed */
static const uint32_t EDGES_MAX = UINT32_MAX - 1;

struct gpu_draw {
    struct sample_backend base; /* first */
    const struct sampler *s;
    struct gpu_graphs graphs;
    unsigned contexts; /* so far */
};

/* What goes to the device before the destinations, and comes back. */
struct draw_head {
    struct gnn_cuda_sample_status status;
    uint32_t edges, end, key[2];
};

struct draw_context {
    const struct sampler *s;
    const struct gpu_graph *graph;
    unsigned device;
    void *stream, *memory;
    uint64_t bytes; /* of it */
    uint32_t most;  /* edges that there was capacity for, or a guess */
    /* The last draw, in that memory. */
    struct draw_head *head;
    struct gnn_entries dst;
    uint32_t *indptr;
    struct gnn_entries source; /* without columns but node and, if they are edges', time */
    uint64_t *id;
    void *scratch, *excluded;
    struct gnn_buf staging; /* of `excluded` */
    uint32_t edges;
};

/* ---- stream contexts ---- */

static void context_free(void *context)
{
    struct draw_context *l = context;
    if (!l)
        return;
    gnn_dev_stream_free(l->stream);
    gnn_dev_free(l->memory);
    gnn_buf_release(&l->staging);
    gnn_free(l);
}

static int context_new(struct sample_backend *backend, void **context, struct gnn_err *e)
{
    struct gpu_draw *q = (struct gpu_draw *)backend;
    const struct gnn_gpu *g = q->graphs.g;
    const unsigned i = q->contexts++ % g->n;
    struct draw_context *l = gnn_alloc_zero(1, sizeof *l, "a stream context", e);
    *context = l;
    if (!l)
        return e->code;
    *l = (struct draw_context){
        .s = q->s, .graph = &q->graphs.of[i], .device = g->device[i], .most = FIRST};
    return gnn_gpu_stream_new(&g->dev[i], GNN_DEV_HIGHEST, &l->stream, e);
}

/* Lays a draw out from base; returns its size. x: the edges that job->excluded is of. */
static uint64_t lay_out(struct draw_context *l, char *base, const struct gnn_sample_job *job,
                        const struct sample_excluded *x, uint32_t capacity)
{
    uint64_t at = 0;
    l->head = gpu_lay(base, &at, sizeof *l->head);
    l->dst = gnn_entries_lay(base, &at, job->dst, job->n);
    at = gpu_align(at);
    l->indptr = gpu_lay(base, &at, (job->n + UINT64_C(1)) * sizeof *l->indptr);
    l->source = (struct gnn_entries){
        .node = gpu_lay(base, &at, capacity * sizeof *l->source.node),
        .time =
            job->rule.time.by_edge ? gpu_lay(base, &at, capacity * sizeof *l->source.time) : NULL};
    l->id = l->s->meta.sampling.edge_ids ? gpu_lay(base, &at, capacity * sizeof *l->id) : NULL;
    l->scratch =
        gpu_lay(base, &at, gnn_cuda_sample_scratch(job->rule, job->n, capacity, x != NULL));
    l->excluded = x ? gpu_lay(base, &at, gnn_gpu_excluded_bytes(x)) : NULL;
    return at;
}

static int context_fit(struct draw_context *l, const struct gnn_sample_job *job,
                       const struct sample_excluded *x, uint32_t capacity, struct gnn_err *e)
{
    const uint64_t bytes = lay_out(l, NULL, job, x, capacity);
    int rc = 0;
    if (bytes > l->bytes) {
        gnn_dev_free(l->memory);
        l->memory = NULL;
        l->bytes = 0;
        rc = gnn_dev_alloc(&l->memory, bytes + bytes / 4, "sampling", e);
        l->bytes = rc ? 0 : bytes + bytes / 4;
    }
    if (!rc)
        (void)lay_out(l, l->memory, job, x, capacity);
    return rc;
}

/* ---- drawing ---- */

/* Up to the copy of what came of it to *h. */
static int queue_draw(struct draw_context *l, uint32_t et, const struct gnn_sample_job *job,
                      const struct sample_excluded *x, uint32_t capacity, struct draw_head *h,
                      struct gnn_err *e)
{
    *h = (struct draw_head){.end = job->n, .key = {job->key[0], job->key[1]}};
    const struct gnn_sample_graph *g = &l->s->graph[et];
    int rc = context_fit(l, job, x, capacity, e);
    if (!rc && x)
        rc = gnn_gpu_excluded_copy(x, g, l->graph->indices + (uint64_t)et * g->nparts, l->excluded,
                                   &l->staging, l->stream, e);
    if (!rc)
        rc = gnn_dev_copy(l->head, h, sizeof *h, l->stream, e);
#define COPY_COLUMN(type, name)                                                                    \
    if (!rc && job->dst.name)                                                                      \
        rc = gnn_dev_copy(l->dst.name, job->dst.name, job->n * sizeof(type), l->stream, e);
    GNN_ENTRY_COLUMNS(COPY_COLUMN)
#undef COPY_COLUMN
    if (rc)
        return rc;
    struct gnn_cuda_sample_job q = {.what = *job,
                                    .end = &l->head->end,
                                    .capacity = capacity,
                                    .source = l->source,
                                    .ids = l->id,
                                    .edges = &l->head->edges,
                                    .status = &l->head->status};
    q.what.graph = l->graph->edges[et];
    q.what.dst = l->dst;
    q.what.key = l->head->key;
    q.what.indptr = l->indptr;
    q.what.scratch = l->scratch;
    q.what.excluded = l->excluded;
    gnn_cuda_sample_block(&q, NULL, l->stream);
    rc = gnn_dev_launched("sampling", e);
    if (!rc)
        rc = gnn_dev_copy(h, l->head, sizeof *h, l->stream, e);
    return rc;
}

/* Draws, if so many edges are enough; *h tells. */
static int try_draw(struct draw_context *l, uint32_t et, const struct gnn_sample_job *job,
                    const struct sample_excluded *x, uint32_t capacity, struct draw_head *h,
                    struct gnn_err *e)
{
    struct gnn_err late = {0};
    const int rc = queue_draw(l, et, job, x, capacity, h, e);
    const int waited = gnn_dev_stream_wait(
        l->stream, rc ? &late : e); /* also after a failure: what it reads is the caller's */
    return rc ? rc : waited;
}

static int count_block(const struct sample_draw *d, uint32_t et, struct gnn_sample_job *job)
{
    struct draw_context *l = d->w->context;
    struct gnn_err *e = d->e;
    const struct sample_excluded *x = job->excluded ? &d->w->excluded[et] : NULL;
    const uint64_t bound = gnn_pick_bound(job->rule, job->n, EDGES_MAX);
    struct draw_head h = {0};
    int rc = gnn_dev_use(l->device, e);
    if (!rc)
        rc = try_draw(l, et, job, x, bound < l->most ? (uint32_t)bound : l->most, &h, e);
    while (!rc && h.status.code == GNN_SAMPLE_CAPACITY) {
        const uint64_t need =
            h.status.at.node + h.status.at.node / 4; /* so that the next ones fit, too */
        l->most = need < EDGES_MAX ? (uint32_t)need : EDGES_MAX;
        rc = try_draw(l, et, job, x, l->most, &h, e);
    }
    if (!rc && h.status.code)
        rc = gnn_sample_damaged(l->s, et, (enum gnn_sample_status)h.status.code, &h.status.at, e);
    if (!rc)
        rc = gnn_dev_copy(job->indptr, l->indptr, (job->n + UINT64_C(1)) * sizeof *l->indptr,
                          l->stream, e);
    l->edges = h.edges;
    return rc ? rc : gnn_dev_stream_wait(l->stream, e);
}

static int pick_block(const struct sample_draw *d, uint32_t et, const struct gnn_sample_job *job,
                      struct gnn_relabel *r, uint32_t *indices, uint64_t *ids)
{
    const struct draw_context *l = d->w->context;
    struct gnn_sample_job q = *job;
    (void)et;
    int rc = gnn_sample_fit_times(d, &q);
    if (!rc)
        rc = gnn_dev_use(l->device, d->e);
    if (!rc)
        rc = gnn_dev_copy(indices, l->source.node, l->edges * sizeof *indices, l->stream, d->e);
    if (!rc && q.times)
        rc = gnn_dev_copy(q.times, l->source.time, l->edges * sizeof *q.times, l->stream, d->e);
    if (!rc && ids)
        rc = gnn_dev_copy(ids, l->id, l->edges * sizeof *ids, l->stream, d->e);
    if (!rc)
        rc = gnn_dev_stream_wait(l->stream, d->e);
    if (!rc && r) /* that they are nodes, the device has checked */
        (void)gnn_relabel_number(r, q.dst, q.times, q.n, q.indptr, indices);
    return rc;
}

/* ---- making it ---- */

static void draw_free(struct sample_backend *backend)
{
    struct gpu_draw *q = (struct gpu_draw *)backend;
    gnn_gpu_graphs_release(&q->graphs);
    gnn_free(q);
}

struct sample_backend *gnn_gpu_draw_new(struct gnn_gpu *g, struct sampler *s,
                                        const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    static const struct sample_backend ops = {.free = draw_free,
                                              .context_new = context_new,
                                              .context_free = context_free,
                                              .count = count_block,
                                              .pick = pick_block};
    struct gpu_capacity capacity = {0}; /* only which rows are met most is of interest */
    struct gpu_draw *q = gnn_alloc_zero(1, sizeof *q, "a sampler", e);
    if (!q)
        return NULL;
    q->base = ops;
    q->s = s;
    const int rc = gnn_gpu_graphs_init(&q->graphs, g, s, o, &capacity, e);
    gnn_gpu_capacity_release(&capacity);
    if (!rc)
        return &q->base;
    draw_free(&q->base);
    return NULL;
}
