/* gnn_ops.sums_new for devices: ranks as they are, but for sums, which are of the device's memory.
 * NCCL makes them (sums_nccl.c), or they are brought to the host, summed there and put back. */
#include "lib/ops/gpu_reduce.h"

/* ---- what does not change ---- */

static int begin(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e)
{
    return gpu_sums(c)->host->ops->begin(gpu_sums(c)->host, x, e);
}

static int end(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e)
{
    return gpu_sums(c)->host->ops->end(gpu_sums(c)->host, x, e);
}

static int poll_deadline(struct gnn_comm *c, struct gnn_deadline *p, struct gnn_err *e)
{
    return gpu_sums(c)->host->ops->poll(gpu_sums(c)->host, p, e);
}

static void kill_all(struct gnn_comm *c, int status)
{
    gpu_sums(c)->host->ops->kill(gpu_sums(c)->host, status);
}

/* ---- sums ---- */

static void sum_free(struct gpu_sum *s)
{
    gnn_dev_event_free(s->before);
    gnn_dev_event_free(s->done);
    gnn_buf_release_in(&gpu_pinned, &s->host);
    gnn_free(s);
}

/* One that is idle, or a new one. */
static struct gpu_sum *sum_get(struct gpu_sums *c, struct gnn_err *e)
{
    struct gpu_sum *s = c->idle;
    if (s) {
        c->idle = s->next;
        return s;
    }
    s = gnn_alloc_zero(1, sizeof *s, "all-reduce buffers", e);
    if (!s)
        return NULL;
    s->older = c->all;
    c->all = s;
    return gnn_dev_event_new(&s->before, e) || gnn_dev_event_new(&s->done, e) ? NULL : s;
}

/* On its way to the host, behind what is on the operations' stream. */
static int host_add(struct gpu_sums *c, struct gpu_sum *s, struct gnn_err *e)
{
    const uint64_t bytes = gpu_sum_bytes(s);
    if (bytes > s->host.cap &&
        gnn_dev_event_wait(s->done, e)) /* the last sum must be out of what is freed */
        return e->code;
    if (gnn_buf_fit_in(&gpu_pinned, &s->host, bytes, 1, "all-reduce buffers", e) ||
        gnn_dev_copy(s->host.data, s->data, bytes, c->ops->stream, e))
        return e->code;
    return gnn_dev_event_record(s->before, c->ops->stream, e);
}

static int host_wait(struct gpu_sums *c, struct gpu_sum *s, struct gnn_err *e)
{
    if (gnn_dev_event_wait(s->before, e) ||
        gnn_comm_all_reduce(c->host, s->host.data, s->n, s->kind, e))
        return e->code;
    if (gnn_dev_copy(s->data, s->host.data, gpu_sum_bytes(s), c->ops->stream, e))
        return e->code;
    return gnn_dev_event_record(s->done, c->ops->stream, e);
}

static int reduce_begin(struct gnn_comm *base, void *data, uint64_t n, enum gnn_reduce kind,
                        void **sum, struct gnn_err *e)
{
    struct gpu_sums *c = gpu_sums(base);
    struct gpu_sum *s = NULL;
    *sum = NULL;
    if (ops_failed(c->ops)) /* what is to be summed is not there */
        return gnn_fail_as(e, &c->ops->err);
    if (gnn_dev_use(c->ops->d->number, e) || !(s = sum_get(c, e)))
        return e->code;
    s->data = data;
    s->n = n;
    s->kind = kind;
    *sum = s;
    return c->nccl ? gpu_sums_add(c, s, e) : host_add(c, s, e);
}

static int reduce_push(struct gnn_comm *base, struct gnn_err *e)
{
    struct gpu_sums *c = gpu_sums(base);
    return c->nccl ? gpu_sums_push(c, e) : 0;
}

static int reduce_end(struct gnn_comm *base, void **sum, struct gnn_err *e)
{
    struct gpu_sums *c = gpu_sums(base);
    struct gpu_sum *s = *sum;
    const int rc = c->nccl ? gpu_sums_wait(c, s, e) : host_wait(c, s, e);
    *sum = NULL;
    if (rc) /* it may still be under way */
        return rc;
    s->next = c->idle;
    c->idle = s;
    return 0;
}

/* ---- beginning and end ---- */

static void sums_free(struct gnn_comm *base)
{
    struct gpu_sums *c = gpu_sums(base);
    gpu_sums_leave(c);
    if (c->hung) /* what is under way may still come back to it */
        return;
    for (struct gpu_sum *s = c->all, *older; s; s = older) {
        older = s->older;
        sum_free(s);
    }
    gnn_free(c);
}

int gpu_sums_new(const struct gnn_ops *o, struct gnn_comm *host, struct gnn_comm **sums,
                 char why[GNN_SUMS_WHY], struct gnn_err *e)
{
    static const struct gnn_comm_ops ops = {begin,       end,           reduce_begin, reduce_end,
                                            reduce_push, poll_deadline, kill_all,     sums_free};
    struct gpu_sums *c = gnn_alloc_zero(1, sizeof *c, "all-reduce buffers", e);
    *sums = NULL;
    if (!c)
        return e->code;
    c->base = *host;
    c->base.ops = &ops;
    c->host = host;
    c->ops = ops_dev(o);
    c->last = &c->first;
    int rc = gnn_dev_use(c->ops->d->number, e);
    if (!rc)
        rc = gpu_sums_join(c, why, e);
    if (!rc)
        *sums = &c->base;
    else
        sums_free(&c->base);
    return rc;
}
