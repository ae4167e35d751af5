/* SPDX-License-Identifier: Apache-2.0 */
/* A stream context of a device: its memory, and the work that draws a batch. */
#include <string.h>

#include "kernels/rng.h"
#include "lib/sample/gpu_sample.h"

struct gpu_io gnn_gpu_io_lay(const struct sampler *s, const struct gpu_capacity *r)
{
    const uint64_t word = sizeof(uint32_t), types = s->meta.schema.nntypes, blocks = gpu_blocks(s);
    struct gpu_io io = {.live = sizeof(struct gnn_cuda_sample_status)};
    io.counts = io.live + types * word;
    io.edges = io.counts + (s->meta.sampling.nhops + UINT64_C(1)) * types * word;
    io.out = io.n = io.edges + blocks * word;
    io.keys = io.n + word;
    io.seeds = io.keys + 2 * blocks * word;
    io.times = (io.seeds + r->seeds * word + 7) / 8 * 8;
    io.trees = io.times + (gnn_sampling_is_temporal(&s->meta.sampling) ? r->seeds * 2 * word : 0);
    io.bytes = io.trees + (s->meta.sampling.disjoint ? r->seeds * word : 0);
    return io;
}

/* ---- stream contexts ---- */

int gnn_gpu_context_init(struct gpu_context *l, struct gpu_device *d, struct gnn_err *e)
{
    const struct gnn_schema *c = &l->s->meta.schema;
    l->d = d;
    int rc = gnn_gpu_stream_new(d, GNN_DEV_HIGHEST, &l->stream, e);
    if (rc)
        return rc;
    l->pool = gnn_batch_pool_new(&l->s->meta, e);
    l->type = gnn_alloc_zero(c->nntypes, sizeof *l->type, "a stream context", e);
    l->found = gnn_alloc_zero(c->nntypes, sizeof *l->found, "a stream context", e);
    return l->pool && l->type && l->found ? 0 : e->code;
}

void gnn_gpu_context_stop(struct gpu_context *l)
{
    gnn_dev_stream_free(l->stream);
    l->stream = NULL;
}

void gnn_gpu_context_release(struct gpu_context *l)
{
    gnn_gpu_context_stop(l);
    gnn_batch_pool_free(l->pool);
    gnn_dev_free(l->memory);
    gnn_free(l->type);
    gnn_free(l->found);
}

/* Bytes of scratch that the largest step of a batch needs. */
static uint64_t scratch_bytes(const struct sampler *s, const struct gpu_capacity *r)
{
    const struct gnn_sampling *m = &s->meta.sampling;
    uint64_t most = gnn_cuda_relabel_scratch(r->seeds);
    for (uint32_t b = 0; b < gpu_blocks(s); b++) {
        const uint64_t bytes = r->rows[b]
                                   ? gnn_cuda_sample_scratch(gnn_sampling_rule(m, b), r->rows[b],
                                                             gpu_sampled(s, r, b), false)
                                   : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Are nodes of type t drawn as ids of the store, and turned into original ones afterwards? */
static bool is_translated(const struct gpu_context *l, uint32_t t)
{
    return l->s->meta.sampling.original_ids && l->graph->orig[t];
}

/* The numbering of type t. */
static void lay_type(struct gpu_context *l, uint32_t t, uint32_t *tags, char *base, uint64_t *at)
{
    const struct gpu_capacity *r = l->capacity;
    struct gnn_cuda_relabel *q = &l->type[t];
    *q = (struct gnn_cuda_relabel){.nnodes = l->s->meta.schema.ntype[t].count,
                                   .capacity = r->nodes[t]};
    q->tag = tags ? tags + t : NULL; /* read by blocks without edges, too */
    q->count = l->io ? (uint32_t *)(void *)(l->io + gnn_gpu_io_lay(l->s, r).live) + t : NULL;
    l->found[t] = NULL;
    if (!r->nodes[t])
        return;
    const bool repeats = gnn_sampling_has_repeats(&l->s->meta.sampling);
    q->slots = repeats ? gnn_cuda_relabel_table(r->nodes[t], r->list)
                       : gnn_cuda_relabel_slots(q->nnodes, r->nodes[t], r->list);
    q->bits = gnn_cuda_relabel_bits(r->nodes[t], r->list);
    if (repeats) /* no tags; 0, which is refused, without slots */
        q->bits = q->slots ? 32 : 0;
    q->map = gpu_lay(base, at, (q->slots ? q->slots : q->nnodes) * sizeof(uint32_t));
    q->key = repeats ? NULL : gpu_lay(base, at, q->slots * sizeof(uint32_t));
    if (is_translated(l, t))
        l->found[t] = gpu_lay(base, at, r->nodes[t] * sizeof(uint32_t));
}

/* What is sampled for any block, and the blocks that batches do not keep. */
static void lay_blocks(struct gpu_context *l, char *base, uint64_t *at)
{
    const struct gnn_sampling *m = &l->s->meta.sampling;
    const struct gpu_capacity *r = l->capacity;
    uint64_t list = r->list, rows = 0, edges = 0;
    for (uint32_t b = 0; m->induced && b < gpu_blocks(l->s); b++) {
        const uint64_t sampled = gpu_sampled(l->s, r, b);
        list = sampled > list ? sampled : list;
        if (gnn_sampling_keeps(m, b / l->s->meta.schema.netypes))
            continue;
        rows = r->rows[b] > rows ? r->rows[b] : rows;
        edges = sampled > edges ? sampled : edges;
    }
    l->source.node = gpu_lay(base, at, list * sizeof(uint32_t));
    if (m->disjoint)
        l->source.tree = gpu_lay(base, at, list * sizeof(uint32_t));
    if (gnn_sampling_is_temporal(m))
        l->source.time = gpu_lay(base, at, list * sizeof(int64_t));
    if (!m->induced)
        return;
    l->indptr = gpu_lay(base, at, (rows + 1) * sizeof(uint32_t));
    l->indices = gpu_lay(base, at, edges * sizeof(uint32_t));
    l->ids = m->edge_ids ? gpu_lay(base, at, list * sizeof(uint64_t)) : NULL;
}

/* Lays everything out from base, which may be NULL; returns its size. */
static uint64_t lay_out(struct gpu_context *l, char *base, uint32_t **tags)
{
    uint64_t at = 0;
    const uint32_t types = l->s->meta.schema.nntypes;
    l->io = gpu_lay(base, &at, gnn_gpu_io_lay(l->s, l->capacity).bytes);
    lay_blocks(l, base, &at);
    l->scratch = gpu_lay(base, &at, scratch_bytes(l->s, l->capacity));
    *tags = gpu_lay(base, &at, types * sizeof(uint32_t));
    for (uint32_t t = 0; t < types; t++)
        lay_type(l, t, *tags, base, &at);
    return at;
}

/* Memory for the capacities as they are now; what is under way on the device is done when the old
 * memory goes. */
int gnn_gpu_context_fit(struct gpu_context *l, struct gnn_err *e)
{
    const struct gnn_schema *c = &l->s->meta.schema;
    uint32_t *tags;
    int rc;
    if (l->turn == l->capacity->turn)
        return 0;
    gnn_dev_free(l->memory);
    l->memory = NULL;
    l->turn = 0;
    if ((rc = gnn_dev_alloc(&l->memory, lay_out(l, NULL, &tags), "sampling", e)))
        return rc;
    (void)lay_out(l, l->memory, &tags);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        if (l->capacity->nodes[t] && !l->type[t].bits)
            rc = gnn_fail(e, GNN_E_USAGE,
                          "a batch of more than 2^31 nodes: reduce the batch size or the fan-outs");
    if (!rc) /* with other bits the maps' words mean nothing */
        rc = gnn_dev_set(tags, 0, c->nntypes * sizeof *tags, l->stream, e);
    if (!rc)
        l->turn = l->capacity->turn;
    l->warm = false; /* other shapes may be other kernels */
    return rc;
}

/* ---- the work ---- */

/* Work being put on a stream, or into a graph. */
struct queue {
    struct gpu_drawn *x;
    struct gpu_context *l;
    struct gpu_io io;
    bool captured;
    int rc;
    struct gnn_err *e;
};

static uint32_t *io_words(const struct gpu_context *l, uint64_t at)
{
    return (uint32_t *)(void *)(l->io + at);
}

static void check_launch(struct queue *q, const char *what)
{
    if (!q->rc && !q->captured)
        q->rc = gnn_dev_launched(what, q->e);
}

static void queue_copy(struct queue *q, void *to, const void *from, uint64_t bytes)
{
    if (!q->rc)
        q->rc = gnn_dev_copy(to, from, bytes, q->l->stream, q->e);
}

static struct gnn_cuda_sample_status *status_of(const struct gpu_context *l)
{
    return (struct gnn_cuda_sample_status *)(void *)l->io;
}

/* Where the ids of type t go: to this batch, or to where they are translated from. */
static uint32_t *nodes_of(const struct queue *q, uint32_t t)
{
    return q->l->found[t] ? q->l->found[t] : gpu_drawn_column(q->x, GNN_COLUMN_NODES, t);
}

static struct gnn_entries entries_of(const struct queue *q, uint32_t t)
{
    return (struct gnn_entries){.node = nodes_of(q, t),
                                .time = gpu_drawn_column(q->x, GNN_COLUMN_TIME, t),
                                .tree = gpu_drawn_column(q->x, GNN_COLUMN_TREE, t)};
}

/* The numbering of a list of type t, of which row `hop` of the counts comes; block b is the first
 * that follows. */
static struct gnn_cuda_relabel relabel_of(const struct queue *q, uint32_t t, uint32_t hop,
                                          uint32_t b)
{
    const struct gpu_context *l = q->l;
    const struct gnn_schema *c = &l->s->meta.schema;
    struct gnn_cuda_relabel r = l->type[t];
    r.list = entries_of(q, t);
    r.live = io_words(l, q->io.live);
    r.counts = io_words(l, q->io.counts) + hop * c->nntypes;
    r.ncounts = c->nntypes;
    while (b < gpu_blocks(l->s) && !(l->capacity->rows[b] && c->etype[b % c->netypes].src == t))
        b++;
    r.last = b == gpu_blocks(l->s);
    return r;
}

/* A block that finds nodes, and one that finds edges among those there are: no counts are copied.
 */
static void queue_sampled(struct queue *q, struct gnn_cuda_sample_job *job, uint32_t hop,
                          uint32_t et)
{
    const uint32_t b = job->block;
    const struct gnn_cuda_relabel to =
        relabel_of(q, q->l->s->meta.schema.etype[et].src, hop + 1, b + 1);
    const bool keeps = gnn_sampling_keeps(&q->l->s->meta.sampling, hop);
    job->what.indptr = keeps ? gpu_drawn_column(q->x, GNN_COLUMN_INDPTR, b) : q->l->indptr;
    job->indices = keeps ? gpu_drawn_column(q->x, GNN_COLUMN_INDICES, b) : q->l->indices;
    job->ids = keeps ? gpu_drawn_column(q->x, GNN_COLUMN_EDGE_ID, b) : NULL;
    gnn_cuda_sample_block(job, &to, q->l->stream);
}
static void queue_induced(struct queue *q, struct gnn_cuda_sample_job *job, uint32_t et)
{
    const uint32_t b = job->block;
    const uint32_t src = q->l->s->meta.schema.etype[et].src;
    struct gnn_cuda_relabel from = q->l->type[src];
    from.list = entries_of(q, src);
    job->what.indptr = gpu_drawn_column(q->x, GNN_COLUMN_INDPTR, b);
    job->ids = q->l->ids;
    gnn_cuda_induce_block(
        job, &from,
        &(struct gnn_cuda_kept){.capacity = q->l->capacity->edges[b],
                                .indices = gpu_drawn_column(q->x, GNN_COLUMN_INDICES, b),
                                .ids = gpu_drawn_column(q->x, GNN_COLUMN_EDGE_ID, b)},
        q->l->stream);
}

/* False where no list has been numbered, and nothing queued where no node can be a destination. */
static bool queue_block(struct queue *q, uint32_t hop, uint32_t et)
{
    const struct gpu_context *l = q->l;
    const struct gnn_schema *c = &l->s->meta.schema;
    const struct gnn_sampling *m = &l->s->meta.sampling;
    const uint32_t b = hop * c->netypes + et, dst = c->etype[et].dst;
    uint32_t *counts = io_words(l, q->io.counts);
    if (!l->capacity->rows[b] || q->rc)
        return false;
    struct gnn_cuda_sample_job job = {
        .what = gnn_sample_job_of(l->s, io_words(l, q->io.keys), b),
        .first = gnn_sampling_new_rows(m, hop) ? counts + (hop - 1) * c->nntypes + dst : NULL,
        .end = counts + hop * c->nntypes + dst,
        .capacity = gpu_sampled(l->s, l->capacity, b),
        .block = b,
        .source = l->source,
        .edges = io_words(l, q->io.edges) + b,
        .status = status_of(l)};
    job.what.graph = l->graph->edges[et];
    job.what.dst = entries_of(q, dst);
    job.what.n = l->capacity->rows[b];
    job.what.scratch = l->scratch;
    const bool induces = gnn_sampling_induces(m, hop);
    if (induces)
        queue_induced(q, &job, et);
    else
        queue_sampled(q, &job, hop, et);
    check_launch(q, "sampling");
    return !induces;
}

static void queue_hops(struct queue *q)
{
    const struct gpu_context *l = q->l;
    const struct gnn_schema *c = &l->s->meta.schema;
    const struct gnn_sampling *m = &l->s->meta.sampling;
    const uint64_t row = c->nntypes * sizeof(uint32_t);
    char *counts = l->io + q->io.counts;
    for (uint32_t h = 0; h < m->nhops; h++) {
        bool counted = false;
        for (uint32_t et = 0; et < c->netypes; et++)
            counted |= queue_block(q, h, et);
        if (!counted)
            queue_copy(q, counts + (h + 1) * row, io_words(l, q->io.live), row);
    }
}

static void queue_batch(struct queue *q)
{
    struct gpu_context *l = q->l;
    const struct gnn_sampling *m = &l->s->meta.sampling;
    queue_copy(q, l->io, q->x->in, q->io.bytes);
    for (uint32_t t = 0; !q->rc && t < l->s->meta.schema.nntypes; t++)
        if (l->capacity->nodes[t])
            gnn_cuda_begin_batch(&l->type[t], status_of(l), l->stream);
    const struct gnn_cuda_relabel seeds = relabel_of(q, m->seed_ntype, 0, 0);
    const struct gnn_entries list = {
        .node = io_words(l, q->io.seeds),
        .time = gnn_sampling_is_temporal(m) ? (int64_t *)(void *)io_words(l, q->io.times) : NULL,
        .tree = m->disjoint ? io_words(l, q->io.trees) : NULL};
    if (!q->rc)
        gnn_cuda_relabel_seeds(&seeds, list, io_words(l, q->io.n), l->capacity->seeds, l->scratch,
                               status_of(l), l->stream);
    check_launch(q, "numbering seeds");
    queue_hops(q);
    for (uint32_t t = 0; !q->rc && t < l->s->meta.schema.nntypes; t++)
        if (l->found[t] && l->capacity->nodes[t])
            gnn_cuda_gather_rows(
                &(struct gnn_cuda_gather){.backing = l->graph->orig[t],
                                          .nbacking = l->s->store->nparts,
                                          .bytes = sizeof(uint32_t),
                                          .n = l->type[t].count,
                                          .capacity = l->capacity->nodes[t],
                                          .id = l->found[t],
                                          .out = gpu_drawn_column(q->x, GNN_COLUMN_NODES, t),
                                          .blocks = l->d->multiprocessors * GNN_CUDA_GATHER_BLOCKS},
                l->stream);
    check_launch(q, "translating ids");
    queue_copy(q, q->x->out, l->io, q->io.out);
}

/* The first batch of a context goes on the stream as it is: kernels are loaded when they are first
 * called, which a capture would not survive. So do all when every kernel is to be waited for. */
int gnn_gpu_context_launch(struct gpu_context *l, struct gpu_drawn *x, struct gnn_err *e)
{
    struct queue q = {.x = x, .l = l, .io = gnn_gpu_io_lay(l->s, l->capacity), .e = e};
    if (!l->warm || gnn_dev_debugging()) {
        queue_batch(&q);
        l->warm = !q.rc;
        return q.rc;
    }
    if (!x->graph) {
        q.captured = true;
        q.rc = gnn_dev_graph_begin(l->stream, e);
        if (q.rc)
            return q.rc;
        queue_batch(&q);
        int rc = gnn_dev_graph_end(l->stream, &x->graph, e);
        if (q.rc || rc) {
            gnn_dev_graph_free(x->graph);
            x->graph = NULL;
            return e->code;
        }
    }
    const int rc = gnn_dev_graph_launch(x->graph, l->stream, e);
    return rc ? rc : gnn_dev_launched("sampling", e);
}
