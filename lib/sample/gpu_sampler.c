/* The sampler on devices: keys of batches in, batches in device memory out. */
#include "lib/sample/gpu_sample.h"

enum {
    LANES = 2 /* of a device: while one batch waits for memory, another one's small kernels run */
};

struct gpu_sampler {
    struct gnn_gpu *g;
    struct sampler *s;
    struct gpu_room room;
    struct gpu_graphs graphs;
    struct gpu_lane *lane; /* [nlanes] lane i is of device i mod g->n */
    unsigned nlanes;
    uint64_t n; /* batches so far */
};

static void gpu_sampler_free(void *arg)
{
    struct gpu_sampler *q = arg;
    for (unsigned i = 0; q->lane && i < q->nlanes; i++)
        gpu_lane_stop(&q->lane[i]);
    for (unsigned i = 0; q->lane && i < q->nlanes; i++)
        gpu_lane_release(&q->lane[i]);
    gpu_graphs_release(&q->graphs);
    gpu_room_release(&q->room);
    gnn_free(q->lane);
    gnn_sampler_free(q->s);
    gnn_free(q);
}

/* ---- a batch ---- */

static int launch(struct gpu_drawn *x, struct gpu_slot *slot, struct gnn_err *e)
{
    gpu_range_begin("sample", slot->in);
    int rc = gpu_drawn_launch(x, slot->in, e);
    if (!rc)
        rc = gpu_slot_done(slot, x->lane->d, x->lane->stream, e);
    gnn_dev_range_end();
    return rc;
}

static int start(void *arg, struct gnn_source *up, struct gpu_slot *slot, struct gnn_err *e)
{
    struct gpu_sampler *q = arg;
    int rc = gnn_source_next(up, &slot->in, e);
    if (rc)
        return rc;
    struct gpu_lane *l = &q->lane[q->n++ % q->nlanes];
    if (q->s->seeds->next) /* how many there are is known only now */
        gpu_room_seeds(&q->room, q->s, gnn_tensors_at(&slot->in->tensors, 0)->shape[0]);
    rc = gnn_dev_use(l->d->number, e);
    if (!rc)
        rc = gpu_drawn_get(l, &slot->out, e);
    return rc ? rc : launch(gpu_drawn_of(slot->out), slot, e);
}

/* A batch that found too little room is drawn again, as are those that were under way with as
 * little: each is a function of its key. */
static int again(struct gpu_sampler *q, struct gpu_drawn *x, struct gpu_slot *slot,
                 struct gnn_err *e)
{
    const struct gnn_cuda_sample_status *st = gpu_drawn_status(x);
    int rc = 0;
    if (x->turn == q->room.turn) {
        uint32_t first, rows;
        gpu_drawn_rows(x, st->block, &first, &rows);
        rc = gpu_room_grow(&q->room, q->s, st, rows, e);
    }
    if (!rc)
        rc = gnn_dev_use(x->lane->d->number, e);
    if (!rc)
        rc = launch(x, slot, e);
    return rc ? rc : gnn_dev_event_wait(slot->done->event, e);
}

static int finish(void *arg, struct gpu_slot *slot, struct gnn_err *e)
{
    struct gpu_sampler *q = arg;
    struct gpu_drawn *x = gpu_drawn_of(slot->out);
    int rc = 0;
    while (!rc && gpu_drawn_status(x)->code == GNN_SAMPLE_ROOM)
        rc = again(q, x, slot, e);
    if (rc)
        return rc;
    const struct gnn_cuda_sample_status *st = gpu_drawn_status(x);
    if (st->code)
        return gnn_sample_damaged(q->s, st->block % q->s->meta.schema.netypes,
                                  (enum gnn_sample_status)st->code, &st->at, e);
    return gpu_drawn_bind(x, slot->in, slot->out, e);
}

static int end(void *arg, struct gnn_err *e)
{
    return gnn_store_verified(((struct gpu_sampler *)arg)->s->store, e);
}

/* ---- making it ---- */

static int fill(struct gpu_sampler *q, const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    q->lane = gnn_alloc_zero(q->nlanes, sizeof *q->lane, "devices", e);
    int rc = q->lane ? gpu_graphs_init(&q->graphs, q->g, q->s, o, &q->room, e) : e->code;
    for (unsigned i = 0; !rc && i < q->nlanes; i++) {
        q->lane[i].s = q->s;
        q->lane[i].room = &q->room;
        q->lane[i].graph = &q->graphs.of[i % q->g->n];
        rc = gpu_lane_init(&q->lane[i], &q->g->dev[i % q->g->n], e);
    }
    return rc;
}

static struct gnn_source *gpu_sample_new(struct gnn_gpu *g, struct sampler *s,
                                         struct gnn_source *plan, const struct gnn_sampler_opts *o,
                                         struct gnn_err *e)
{
    static const struct gpu_pipe_ops ops = {
        .start = start, .finish = finish, .end = end, .arg_free = gpu_sampler_free};
    struct gpu_sampler *q = gnn_alloc_zero(1, sizeof *q, "a sampler", e);
    if (!q) {
        gnn_sampler_free(s);
        gnn_source_free(plan);
        return NULL;
    }
    q->g = g;
    q->s = s;
    q->nlanes = LANES * g->n;
    if (!fill(q, o, e))
        return gpu_pipe_new(plan, &s->meta, &ops, q, 2 * q->nlanes, e);
    gpu_sampler_free(q);
    gnn_source_free(plan);
    return NULL;
}

const struct gnn_sample_gpu gnn_sample_gpu = {gpu_sample_new, gpu_draw_new};
