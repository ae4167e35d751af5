/* SPDX-License-Identifier: Apache-2.0 */
/* Batches from the host's memory to a device's, and back. */
#include <string.h>

#include "lib/gpu/runtime.h"

enum { DEPTH = 3 };

struct move {
    struct gnn_gpu *g;
    /* upload: one for each device; fetch: the first, of the host */
    struct gnn_batch_pool *pool[GNN_GPU_MAX];
    void *stream[GNN_GPU_MAX];
    uint64_t n;                               /* batches so far */
    bool (*keep)(void *arg, unsigned device); /* fetch: what stays; or NULL */
    void *keep_arg;
};

static void move_free(void *arg)
{
    struct move *m = arg;
    for (unsigned i = 0; i < m->g->n; i++)
        gnn_dev_stream_free(m->stream[i]);
    for (unsigned i = 0; i < m->g->n; i++)
        gnn_batch_pool_free(m->pool[i]);
    gnn_free(m);
}

/* Tensor i of `to`, in memory of kind mem (or the heap), with the contents of `from`'s. */
static int copy_tensor(struct gnn_batch *to, const struct gnn_tensor *t, const struct gnn_mem *mem,
                       void *stream, struct gnn_err *e)
{
    struct gnn_tensor *x;
    uint64_t bytes;
    int rc = gnn_tensors_add_in(&to->tensors, gnn_batch_on_host(t) ? NULL : mem, t->name, t->dtype,
                                t->ndim, t->shape, &x, e);
    if (rc || !gnn_tensor_bytes(t, &bytes) || !bytes)
        return rc;
    if (!gnn_batch_on_host(t))
        return gnn_dev_copy(x->data, t->data, bytes, stream, e);
    memcpy(x->data, t->data, bytes);
    return 0;
}

static int copy_batch(struct gnn_batch *to, const struct gnn_batch *from, const struct gnn_mem *mem,
                      void *stream, struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < from->tensors.n; i++)
        rc = copy_tensor(to, gnn_tensors_at(&from->tensors, i), mem, stream, e);
    if (!rc)
        gnn_gpu_batch_view(to, from);
    return rc;
}

/* The batch is where it is to be. */
static int pass_on(struct gpu_slot *s)
{
    s->out = s->in;
    s->in = NULL;
    return 0;
}

/* From the host to device k. */
static int upload_to(struct move *m, struct gpu_slot *s, unsigned k, struct gnn_err *e)
{
    gnn_gpu_range_begin("upload", s->in);
    const struct gpu_device *d = &m->g->dev[k];
    int rc = gnn_gpu_batch_get(&m->g->dev[k], m->pool[k], m->stream[k], &s->out, e);
    if (!rc)
        gnn_gpu_work_begin(d, GNN_GPU_COPYING, s->in, m->stream[k]);
    if (!rc)
        rc = copy_batch(s->out, s->in, &d->mem, m->stream[k], e);
    if (!rc)
        gnn_gpu_work_end(d, GNN_GPU_COPYING, s->in, m->stream[k]);
    if (!rc)
        rc = gnn_dev_event_record(s->out->place->ready, m->stream[k], e);
    if (!rc)
        rc = gnn_gpu_slot_done(s, d, m->stream[k], e);
    gnn_dev_range_end();
    return rc;
}

static int upload_start(void *arg, struct gnn_source *up, struct gpu_slot *s, struct gnn_err *e)
{
    struct move *m = arg;
    const unsigned k = (unsigned)(m->n % m->g->n);
    int rc = gnn_source_next(up, &s->in, e);
    if (rc)
        return rc;
    m->n++;
    return s->in->place ? pass_on(s) : upload_to(m, s, k, e);
}

/* From device k to the first. A stream of k copies, as k's events can only be recorded there. */
static int copy_across(struct move *m, struct gpu_slot *s, unsigned k, struct gnn_err *e)
{
    const struct gnn_batch_place *in = s->in->place;
    void *stream = m->stream[k];
    gnn_gpu_range_begin("bring", s->in);
    int rc = gnn_gpu_batch_get(&m->g->dev[0], m->pool[0], stream, &s->out, e) ||
                     gnn_dev_event_after(stream, in->ready, e) ||
                     copy_batch(s->out, s->in, &m->g->dev[0].mem, stream, e) ||
                     gnn_dev_event_record(in->used, stream, e) ||
                     gnn_gpu_slot_done(s, &m->g->dev[k], stream, e) ||
                     gnn_dev_event_after(m->stream[0], in->used, e) ||
                     gnn_dev_event_record(s->out->place->ready, m->stream[0], e)
                 ? e->code
                 : 0;
    gnn_dev_range_end();
    return rc;
}

static int bring_start(void *arg, struct gnn_source *up, struct gpu_slot *s, struct gnn_err *e)
{
    struct move *m = arg;
    int rc = gnn_source_next(up, &s->in, e);
    if (rc)
        return rc;
    const struct gpu_device *d = gnn_gpu_device_of(m->g, s->in);
    if (!d)
        return upload_to(m, s, 0, e);
    return d == m->g->dev ? pass_on(s) : copy_across(m, s, (unsigned)(d - m->g->dev), e);
}

static int fetch_start(void *arg, struct gnn_source *up, struct gpu_slot *s, struct gnn_err *e)
{
    struct move *m = arg;
    int rc = gnn_source_next(up, &s->in, e);
    if (rc)
        return rc;
    const struct gpu_device *d = gnn_gpu_device_of(m->g, s->in);
    if (!d || (m->keep && m->keep(m->keep_arg, d->number))) /* of the host already, or to stay */
        return pass_on(s);
    void *stream = m->stream[d - m->g->dev];
    gnn_gpu_range_begin("fetch", s->in);
    rc = gnn_dev_use(d->number, e) || gnn_batch_get(m->pool[0], &s->out, e) ||
                 gnn_dev_event_after(stream, s->in->place->ready, e) ||
                 copy_batch(s->out, s->in, &gnn_gpu_pinned, stream, e) ||
                 gnn_dev_event_record(s->in->place->used, stream, e) ||
                 gnn_gpu_slot_done(s, d, stream, e)
             ? e->code
             : 0;
    gnn_dev_range_end();
    return rc;
}

static struct gnn_source *move_new(struct gnn_gpu *g, struct gnn_source *up,
                                   const struct gpu_pipe_ops *ops, unsigned pools, struct move with,
                                   struct gnn_err *e)
{
    struct move *m = gnn_alloc_zero(1, sizeof *m, "a filter", e);
    if (!m) {
        gnn_source_free(up);
        return NULL;
    }
    *m = with;
    m->g = g;
    int rc = 0;
    for (unsigned i = 0; !rc && i < g->n; i++) {
        rc = gnn_dev_use(g->device[i], e);
        if (!rc)
            rc = gnn_dev_stream_new(&m->stream[i], e);
        if (!rc && i < pools && !(m->pool[i] = gnn_batch_pool_new(up->meta, e)))
            rc = e->code;
    }
    struct gpu_pipe_ops o = *ops;
    o.at_once = g->dev->ranks;
    if (!rc)
        return gnn_gpu_pipe_new(up, up->meta, &o, m, DEPTH, e);
    move_free(m);
    gnn_source_free(up);
    return NULL;
}

struct gnn_source *gnn_gpu_upload_new(struct gnn_gpu *g, struct gnn_source *up, struct gnn_err *e)
{
    static const struct gpu_pipe_ops ops = {.start = upload_start, .arg_free = move_free};
    return move_new(g, up, &ops, g->n, (struct move){0}, e);
}

struct gnn_source *gnn_gpu_bring_new(struct gnn_gpu *g, struct gnn_source *up, struct gnn_err *e)
{
    static const struct gpu_pipe_ops ops = {.start = bring_start, .arg_free = move_free};
    return move_new(g, up, &ops, 1, (struct move){0}, e);
}

struct gnn_source *gnn_gpu_fetch_new(struct gnn_gpu *g, struct gnn_source *up,
                                     bool (*keep)(void *arg, unsigned device), void *arg,
                                     struct gnn_err *e)
{
    static const struct gpu_pipe_ops ops = {.start = fetch_start, .arg_free = move_free};
    return move_new(g, up, &ops, 1, (struct move){.keep = keep, .keep_arg = arg}, e);
}
