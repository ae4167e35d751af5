/* SPDX-License-Identifier: Apache-2.0 */
/* gnn_ops.reduce_new for devices: the same ranks, with all-reduces of the device's memory. NCCL
 * does them (gpu_reduce_nccl.c), or they go through the host's memory and back. NCCL also exchanges
 * what ranks send each other. */
#include "lib/ops/gpu_reduce.h"

/* ---- what does not change ---- */

static int exchange_begin(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e)
{
    return gpu_reduce_of(c)->host->ops->begin(gpu_reduce_of(c)->host, x, e);
}

static int exchange_end(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e)
{
    return gpu_reduce_of(c)->host->ops->end(gpu_reduce_of(c)->host, x, e);
}

static int poll_deadline(struct gnn_comm *c, struct gnn_deadline *p, struct gnn_err *e)
{
    return gpu_reduce_of(c)->host->ops->poll(gpu_reduce_of(c)->host, p, e);
}

static void kill_all(struct gnn_comm *c, int status)
{
    gpu_reduce_of(c)->host->ops->kill(gpu_reduce_of(c)->host, status);
}

/* ---- all-reduces ---- */

static void reduction_free(struct gpu_reduction *s)
{
    gnn_dev_event_free(s->before);
    gnn_dev_event_free(s->done);
    gnn_buf_release_in(&gnn_gpu_pinned, &s->host);
    gnn_free(s);
}

/* One that is idle, or a new one. */
static struct gpu_reduction *reduction_get(struct gpu_reduce *c, struct gnn_err *e)
{
    struct gpu_reduction *s = c->idle;
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
static int host_add(struct gpu_reduce *c, struct gpu_reduction *s, struct gnn_err *e)
{
    const uint64_t bytes = reduction_bytes(s);
    if (bytes > s->host.cap &&
        gnn_dev_event_wait(s->done, e)) /* the last one has left what is freed */
        return e->code;
    if (gnn_buf_fit_in(&gnn_gpu_pinned, &s->host, bytes, 1, "all-reduce buffers", e) ||
        gnn_dev_copy(s->host.data, s->data, bytes, c->ops->stream, e))
        return e->code;
    return gnn_dev_event_record(s->before, c->ops->stream, e);
}

static int host_wait(struct gpu_reduce *c, struct gpu_reduction *s, struct gnn_err *e)
{
    if (gnn_dev_event_wait(s->before, e) ||
        gnn_comm_all_reduce(c->host, s->host.data, s->n, s->kind, e))
        return e->code;
    if (gnn_dev_copy(s->data, s->host.data, reduction_bytes(s), c->ops->stream, e))
        return e->code;
    return gnn_dev_event_record(s->done, c->ops->stream, e);
}

static int reduce_begin(struct gnn_comm *base, void *data, uint64_t n, enum gnn_reduce kind,
                        void **reduction, struct gnn_err *e)
{
    struct gpu_reduce *c = gpu_reduce_of(base);
    struct gpu_reduction *s = NULL;
    *reduction = NULL;
    if (ops_failed(c->ops)) /* the numbers are not there */
        return gnn_fail_as(e, &c->ops->err);
    if (gnn_dev_use(c->ops->d->number, e) || !(s = reduction_get(c, e)))
        return e->code;
    s->data = data;
    s->n = n;
    s->kind = kind;
    s->out = s->in = NULL;
    *reduction = s;
    return c->nccl ? gnn_gpu_reduce_add(c, s, e) : host_add(c, s, e);
}

/* ---- exchanges, by NCCL ---- */

static int move_begin(struct gnn_comm *base, const struct gnn_span *out, const struct gnn_span *in,
                      void **exchange, struct gnn_err *e)
{
    struct gpu_reduce *c = gpu_reduce_of(base);
    struct gpu_reduction *s = NULL;
    *exchange = NULL;
    if (ops_failed(c->ops))
        return gnn_fail_as(e, &c->ops->err);
    if (gnn_dev_use(c->ops->d->number, e) || !(s = reduction_get(c, e)))
        return e->code;
    s->out = out;
    s->in = in;
    *exchange = s;
    return gnn_gpu_reduce_add(c, s, e) || gnn_gpu_reduce_push(c, e) ? e->code : 0;
}

/* ---- both ---- */

static int reduce_push(struct gnn_comm *base, struct gnn_err *e)
{
    struct gpu_reduce *c = gpu_reduce_of(base);
    return c->nccl ? gnn_gpu_reduce_push(c, e) : 0;
}

static int reduce_end(struct gnn_comm *base, void **reduction, struct gnn_err *e)
{
    struct gpu_reduce *c = gpu_reduce_of(base);
    struct gpu_reduction *s = *reduction;
    const int rc = c->nccl ? gnn_gpu_reduce_wait(c, s, e) : host_wait(c, s, e);
    *reduction = NULL;
    if (rc) /* it may still be under way */
        return rc;
    s->next = c->idle;
    c->idle = s;
    return 0;
}

/* ---- beginning and end ---- */

static void reduce_free(struct gnn_comm *base)
{
    struct gpu_reduce *c = gpu_reduce_of(base);
    gnn_gpu_reduce_leave(c);
    if (c->hung) /* what is under way may still come back to it */
        return;
    for (struct gpu_reduction *s = c->all, *older; s; s = older) {
        older = s->older;
        reduction_free(s);
    }
    gnn_free(c);
}

int gnn_gpu_reduce_new(const struct gnn_ops *o, struct gnn_comm *host, struct gnn_comm **reduce,
                       char why[GNN_REDUCE_WHY], struct gnn_err *e)
{
    const struct gnn_comm_ops ops = {.begin = exchange_begin,
                                     .end = exchange_end,
                                     .reduce_begin = reduce_begin,
                                     .reduce_end = reduce_end,
                                     .reduce_push = reduce_push,
                                     .poll = poll_deadline,
                                     .kill = kill_all,
                                     .free = reduce_free};
    struct gpu_reduce *c = gnn_alloc_zero(1, sizeof *c, "all-reduce buffers", e);
    *reduce = NULL;
    if (!c)
        return e->code;
    c->base = *host;
    c->table = ops;
    c->base.ops = &c->table;
    c->host = host;
    c->ops = ops_dev(o);
    c->last = &c->first;
    int rc = gnn_dev_use(c->ops->d->number, e);
    if (!rc)
        rc = gnn_gpu_reduce_join(c, why, e);
    if (c->nccl) {
        c->table.move_begin = move_begin;
        c->table.move_end = reduce_end;
    }
    if (!rc)
        *reduce = &c->base;
    else
        reduce_free(&c->base);
    return rc;
}
