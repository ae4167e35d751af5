/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler on devices: keys of batches in, batches in device memory out. */
#include "lib/sample/gpu_sample.h"

enum {
    /* of a device: while one batch waits for memory, another one's small kernels run */
    CONTEXTS = 2
};

struct gpu_sampler {
    struct gnn_gpu *g;
    struct sampler *s;
    struct gpu_capacity capacity;
    struct gpu_graphs graphs;
    struct gpu_context *context; /* [ncontexts] context i is of device i mod g->n */
    unsigned ncontexts;
    uint64_t n; /* batches so far */
};

static void gpu_sampler_free(void *arg)
{
    struct gpu_sampler *q = arg;
    for (unsigned i = 0; q->context && i < q->ncontexts; i++)
        gnn_gpu_context_stop(&q->context[i]);
    for (unsigned i = 0; q->context && i < q->ncontexts; i++)
        gnn_gpu_context_release(&q->context[i]);
    gnn_gpu_graphs_release(&q->graphs);
    gnn_gpu_capacity_release(&q->capacity);
    gnn_free(q->context);
    gnn_sampler_free(q->s);
    gnn_free(q);
}

/* ---- a batch ---- */

static int launch_batch(struct gpu_drawn *x, struct gpu_slot *slot, struct gnn_err *e)
{
    const struct gpu_context *l = x->context;
    gnn_gpu_range_begin("sample", slot->in);
    gnn_gpu_work_begin(l->d, GNN_GPU_SAMPLING, slot->in, l->stream);
    int rc = gnn_gpu_drawn_launch(x, slot->in, e);
    gnn_gpu_work_end(l->d, GNN_GPU_SAMPLING, slot->in, l->stream);
    if (!rc)
        rc = gnn_gpu_slot_done(slot, l->d, l->stream, e);
    gnn_dev_range_end();
    return rc;
}

static int start_batch(void *arg, struct gnn_source *up, struct gpu_slot *slot, struct gnn_err *e)
{
    struct gpu_sampler *q = arg;
    int rc = gnn_source_next(up, &slot->in, e);
    if (rc)
        return rc;
    struct gpu_context *l = &q->context[q->n++ % q->ncontexts];
    if (q->s->seeds->next) /* how many there are is known only now */
        gnn_gpu_capacity_seeds(&q->capacity, q->s, gnn_tensors_at(&slot->in->tensors, 0)->shape[0]);
    rc = gnn_dev_use(l->d->number, e);
    if (!rc)
        rc = gnn_gpu_drawn_get(l, &slot->out, e);
    return rc ? rc : launch_batch(gpu_drawn_of(slot->out), slot, e);
}

/* A batch that found too little capacity is drawn again, as are those that were under way with as
 * little: each is a function of its key. */
static int draw_again(struct gpu_sampler *q, struct gpu_drawn *x, struct gpu_slot *slot,
                      struct gnn_err *e)
{
    const struct gnn_cuda_sample_status *st = gpu_drawn_status(x);
    int rc = 0;
    if (x->turn == q->capacity.turn) {
        uint32_t first, rows;
        gnn_gpu_drawn_rows(x, st->block, &first, &rows);
        rc = gnn_gpu_capacity_grow(&q->capacity, q->s, st, rows, e);
    }
    if (!rc)
        rc = gnn_dev_use(x->context->d->number, e);
    if (!rc)
        rc = launch_batch(x, slot, e);
    return rc ? rc : gnn_dev_event_wait(slot->done->event, e);
}

static int finish_batch(void *arg, struct gpu_slot *slot, struct gnn_err *e)
{
    struct gpu_sampler *q = arg;
    struct gpu_drawn *x = gpu_drawn_of(slot->out);
    int rc = 0;
    while (!rc && gpu_drawn_status(x)->code == GNN_SAMPLE_CAPACITY)
        rc = draw_again(q, x, slot, e);
    if (rc)
        return rc;
    const struct gnn_cuda_sample_status *st = gpu_drawn_status(x);
    if (st->code)
        return gnn_sample_damaged(q->s, st->block % q->s->meta.schema.netypes,
                                  (enum gnn_sample_status)st->code, &st->at, e);
    return gnn_gpu_drawn_bind(x, slot->in, slot->out, e);
}

static int end_source(void *arg, struct gnn_err *e)
{
    return gnn_store_verified(((struct gpu_sampler *)arg)->s->store, e);
}

/* ---- making it ---- */

static int init_contexts(struct gpu_sampler *q, const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    q->context = gnn_alloc_zero(q->ncontexts, sizeof *q->context, "devices", e);
    int rc = q->context ? gnn_gpu_graphs_init(&q->graphs, q->g, q->s, o, &q->capacity, e) : e->code;
    for (unsigned i = 0; !rc && i < q->ncontexts; i++) {
        q->context[i].s = q->s;
        q->context[i].capacity = &q->capacity;
        q->context[i].graph = &q->graphs.of[i % q->g->n];
        rc = gnn_gpu_context_init(&q->context[i], &q->g->dev[i % q->g->n], e);
    }
    return rc;
}

static struct gnn_source *gpu_sample_new(struct gnn_gpu *g, struct sampler *s,
                                         struct gnn_source *plan, const struct gnn_sampler_opts *o,
                                         struct gnn_err *e)
{
    static const struct gpu_pipe_ops ops = {.start = start_batch,
                                            .finish = finish_batch,
                                            .end = end_source,
                                            .arg_free = gpu_sampler_free};
    struct gpu_sampler *q = gnn_alloc_zero(1, sizeof *q, "a sampler", e);
    if (!q) {
        gnn_sampler_free(s);
        gnn_source_free(plan);
        return NULL;
    }
    q->g = g;
    q->s = s;
    q->ncontexts = CONTEXTS * g->n;
    if (!init_contexts(q, o, e))
        return gnn_gpu_pipe_new(plan, &s->meta, &ops, q, 2 * q->ncontexts, e);
    gpu_sampler_free(q);
    gnn_source_free(plan);
    return NULL;
}

const struct gnn_sample_gpu gnn_sample_gpu = {gpu_sample_new, gnn_gpu_draw_new};
