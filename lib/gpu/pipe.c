/* gpu_pipe_new: a ring of batches under way, so that a device always has work while the host prepares the next. */
#include "lib/gpu/impl.h"

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

static void slot_clear(struct gpu_slot *s)
{
    gnn_batch_put(s->in);
    gnn_batch_put(s->out);
    s->in = s->out = NULL;
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
    struct gpu_slot *s = &p->slot[p->head++ % p->depth];
    int rc = s->rc;
    if (rc < 0)
        gnn_fail(e, (enum gnn_status)rc, "%s", s->err.msg);
    else if (!rc) {
        rc = gnn_dev_event_wait(s->done, e);
        if (!rc)
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
        if (s->done && (s->in || s->out))
            (void)!gnn_dev_event_wait(s->done, &ignored);
        slot_clear(s);
    }
    p->ops.arg_free(p->arg); /* waits for its streams */
    for (unsigned i = 0; i < p->depth; i++)
        gnn_dev_event_free(p->slot[i].done);
    gnn_source_free(p->up);
    gnn_free(p);
}

struct gnn_source *gpu_pipe_new(struct gnn_source *up, const struct gnn_meta *meta, const struct gpu_pipe_ops *ops,
                                void *arg, unsigned depth, struct gnn_err *e)
{
    struct pipe *p = gnn_alloc_zero(1, sizeof *p, "a filter", e);
    if (!p) {
        ops->arg_free(arg);
        gnn_source_free(up);
        return NULL;
    }
    p->base = (struct gnn_source){.next = pipe_next, .free = pipe_free, .meta = meta};
    p->up = up;
    p->ops = *ops;
    p->arg = arg;
    p->depth = depth < 1 ? 1 : depth > GPU_DEPTH_MAX ? GPU_DEPTH_MAX : depth;
    int rc = 0;
    for (unsigned i = 0; !rc && i < p->depth; i++) {
        p->slot[i].index = i;
        rc = gnn_dev_event_new(&p->slot[i].done, e);
    }
    if (!rc)
        return &p->base;
    pipe_free(&p->base);
    return NULL;
}
