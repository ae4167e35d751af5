/* SPDX-License-Identifier: Apache-2.0 */
/* gnn_gpu_pipe_new: a ring of batches under way, so that a device always has work while the host
 * prepares the next. */
#include "lib/gpu/runtime.h"

struct pipe {
    struct gnn_source base;
    struct gnn_source *up;
    struct gpu_pipe_ops ops;
    void *arg;
    unsigned depth;
    uint64_t head, tail; /* numbers of the next to hand on, and to start */
    bool over;           /* no more is started: `up` ended, or something failed */
    int final;           /* what next() returns from now on */
    struct gpu_slot slot[GPU_DEPTH_MAX];
};

int gnn_gpu_slot_done(struct gpu_slot *s, const struct gpu_device *d, void *stream,
                      struct gnn_err *e)
{
    struct gpu_slot_event *v = s->of;
    while (v->device && v->device != d)
        v++;
    if (!v->device) {
        int rc = gnn_dev_use(d->number, e);
        if (!rc)
            rc = gnn_dev_event_new(&v->event, e);
        if (rc)
            return rc;
        v->device = d;
    }
    s->done = v;
    return gnn_dev_event_record(v->event, stream, e);
}

static void slot_clear(struct gpu_slot *s)
{
    gnn_batch_put(s->in);
    gnn_batch_put(s->out);
    s->in = s->out = NULL;
    s->done = NULL;
}

static void start_some(struct pipe *p)
{
    while (!p->over && p->tail - p->head < p->depth) {
        struct gpu_slot *s = &p->slot[p->tail++ % p->depth];
        s->err = (struct gnn_err){0};
        s->rc = p->ops.start(p->arg, p->up, s, &s->err);
        p->over = s->rc != 0;
    }
}

static int pipe_next(struct gnn_source *base, struct gnn_batch **b, struct gnn_err *e)
{
    struct pipe *p = (struct pipe *)base;
    if (p->final)
        return p->final;
    start_some(p);
    struct gpu_slot *s = &p->slot[p->head % p->depth], *newest = &p->slot[(p->tail - 1) % p->depth];
    if (p->ops.at_once && newest->rc < 0)
        s = newest;
    p->head++;
    int rc = s->rc;
    if (rc < 0)
        gnn_fail_as(e, &s->err);
    else if (!rc) {
        rc = s->done ? gnn_dev_event_wait(s->done->event, e) : 0;
        if (!rc && p->ops.finish)
            rc = p->ops.finish(p->arg, s, e);
    } else if (p->ops.end) {
        const int last = p->ops.end(p->arg, e);
        rc = last ? last : rc;
    }
    if (!rc) {
        *b = s->out;
        s->out = NULL;
    } else {
        p->over = true;
        p->final = rc;
    }
    slot_clear(s);
    return rc;
}

static void pipe_free(struct gnn_source *base)
{
    struct pipe *p = (struct pipe *)base;
    struct gnn_err ignored = {0};
    for (unsigned i = 0; i < p->depth; i++) {
        struct gpu_slot *s = &p->slot[i];
        if (s->done)
            (void)!gnn_dev_event_wait(s->done->event, &ignored);
        slot_clear(s);
    }
    p->ops.arg_free(p->arg); /* waits for its streams */
    for (unsigned i = 0; i < p->depth; i++)
        for (struct gpu_slot_event *v = p->slot[i].of; v < p->slot[i].of + GNN_GPU_MAX && v->device;
             v++)
            gnn_dev_event_free(v->event);
    gnn_source_free(p->up);
    gnn_free(p);
}

struct gnn_source *gnn_gpu_pipe_new(struct gnn_source *up, const struct gnn_meta *meta,
                                    const struct gpu_pipe_ops *ops, void *arg, unsigned depth,
                                    struct gnn_err *e)
{
    struct pipe *p = gnn_alloc_zero(1, sizeof *p, "a filter", e);
    if (!p) {
        ops->arg_free(arg);
        gnn_source_free(up);
        return NULL;
    }
    p->base =
        (struct gnn_source){.next = pipe_next, .free = pipe_free, .meta = meta, .live = up->live};
    p->up = up;
    p->ops = *ops;
    p->arg = arg;
    p->depth = depth < 1 ? 1 : depth > GPU_DEPTH_MAX ? GPU_DEPTH_MAX : depth;
    if (up->live)
        p->depth = 1;
    for (unsigned i = 0; i < p->depth; i++)
        p->slot[i].index = i;
    return &p->base;
}
