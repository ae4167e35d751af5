/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between ranks, packed and used where the operations are. Between devices they go by
 * NCCL, or through the host's memory. */
#include "lib/model/full_impl.h"

int gnn_full_wire_init(const struct gnn_full *f, struct full_wire *w, uint32_t tag,
                       struct gnn_err *e)
{
    if (gnn_exchange_init(&w->x, f->comm, gnn_comm_tag(GNN_COMM_PARTS, tag), e) ||
        !(w->expect = gnn_alloc_zero(f->comm->size, sizeof *w->expect, "messages", e)))
        return e->code;
    w->in = w->x.in;
    if (f->o->async)
        w->in = w->brought = gnn_alloc_zero(f->comm->size, sizeof *w->in, "messages", e);
    return e->code;
}

void gnn_full_wire_free(const struct gnn_full *f, struct full_wire *w)
{
    gnn_exchange_release(&w->x);
    f->o->release(f->o, &w->out);
    f->o->release(f->o, &w->arrived);
    f->o->release_host(f->o, &w->host);
    gnn_free(w->brought);
    gnn_free(w->expect);
}

/* ---- from device to device ---- */

static int end_moving(struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    w->open = false;
    return f->device->ops->move_end(f->device, &w->moving, e);
}

static int end_open(struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    return w->open ? end_moving(f, w, e) : 0;
}

/* Freeing memory waits for the device, and so for other ranks, which may be lost: before memory has
 * to grow, what is under way ends. */
int gnn_full_wire_fit(struct gnn_full *f, struct gnn_buf *b, uint64_t bytes, struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t i = 0; f->device && bytes > b->cap && !rc && i <= f->depth; i++)
        rc = end_open(f, &f->rows[i], e);
    for (uint32_t i = 0; f->device && bytes > b->cap && !rc && i < FULL_WIRES; i++)
        rc = end_open(f, &f->grads[i], e);
    return rc ? rc : f->o->fit(f->o, b, bytes, 1, "messages", e);
}

/* Where messages will lie on the device: each rank's begin where memory of its own would. */
static int open_brought(struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    enum { ALIGN = 256 };
    uint64_t at = 0;
    for (uint32_t rank = 0; rank < w->x.size; rank++)
        at += (w->expect[rank] + ALIGN - 1) / ALIGN * ALIGN;
    if (gnn_full_wire_fit(f, &w->arrived, at, e))
        return e->code;
    at = 0;
    for (uint32_t rank = 0; rank < w->x.size; rank++) {
        w->brought[rank] = (struct gnn_span){(char *)w->arrived.data + at, w->expect[rank]};
        at += (w->expect[rank] + ALIGN - 1) / ALIGN * ALIGN;
    }
    return 0;
}

/* In the first pass of a kind, other memory has to grow, too, so there the exchange ends at once.
 */
static int begin_moving(struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    const int rc = f->device->ops->move_begin(f->device, w->x.out, w->brought, &w->moving, e);
    w->open = !rc;
    return rc || f->passed[f->pass.train] ? rc : end_moving(f, w, e);
}

/* ---- buffers of messages ---- */

/* The smallest that is large enough, or the largest. */
static struct gnn_buf *find_idle(const struct gnn_full *f, uint64_t bytes)
{
    struct gnn_buf *b = f->idle.data, *best = NULL;
    for (uint64_t i = 0; i < f->nidle; i++) {
        const bool fits = best && best->cap >= bytes;
        if (!best || (fits ? b[i].cap >= bytes && b[i].cap < best->cap : b[i].cap > best->cap))
            best = &b[i];
    }
    return best;
}

static int take_idle(struct gnn_full *f, struct gnn_buf *b, uint64_t bytes, struct gnn_err *e)
{
    struct gnn_buf *idle = b->data && b->cap >= bytes ? NULL : find_idle(f, bytes);
    if (idle && idle->cap > b->cap) {
        const struct gnn_buf buffer = *idle;
        if (b->data)
            *idle = *b;
        else
            *idle = ((struct gnn_buf *)f->idle.data)[--f->nidle];
        *b = buffer;
    }
    return gnn_buf_fit_exactly(b, bytes, 1, "messages", e);
}

static void give_idle(struct gnn_full *f, struct gnn_buf *b)
{
    struct gnn_err e = {0};
    if (!b->data)
        return;
    if (gnn_buf_reserve(&f->idle, f->nidle + 1, sizeof *b, "messages", &e))
        gnn_buf_release(b);
    else
        ((struct gnn_buf *)f->idle.data)[f->nidle++] = *b;
    *b = (struct gnn_buf){0};
}

int gnn_full_buffer_take(struct gnn_full *f, struct gnn_buf *b, uint64_t bytes, struct gnn_err *e)
{
    return f->o->async ? gnn_full_wire_fit(f, b, bytes, e) : take_idle(f, b, bytes, e);
}

void gnn_full_buffer_give(struct gnn_full *f, struct gnn_buf *b)
{
    if (!f->o->async)
        give_idle(f, b);
}

int gnn_full_wire_open(struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    for (uint32_t rank = 0; !f->device && rank < w->x.size; rank++)
        if (w->expect[rank] && take_idle(f, &w->x.buffer[rank], w->expect[rank], e))
            return e->code;
    return 0;
}

/* A buffer stays with a rank that has sent nothing: it is of no size. */
void gnn_full_wire_give(struct gnn_full *f, struct full_wire *w)
{
    for (uint32_t rank = 0; rank < w->x.size; rank++)
        if (w->expect[rank])
            give_idle(f, &w->x.buffer[rank]);
}

static int fit_exactly(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n, size_t size,
                       const char *what, struct gnn_err *e)
{
    (void)o;
    return gnn_buf_fit_exactly(b, n, size, what, e);
}

void gnn_full_fit_exactly(struct gnn_full *f)
{
    if (f->o->async)
        return;
    f->turns = *f->o;
    f->turns.fit = fit_exactly;
    f->o = &f->turns;
}

/* ---- through the host's memory ---- */

/* Copies the messages to the host; they are there when this returns. */
static int fetch_messages(const struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    const char *from = w->out.data;
    uint64_t bytes = 0;
    for (uint32_t rank = 0; rank < w->x.size; rank++) {
        const struct gnn_span *out = &w->x.out[rank];
        const uint64_t end =
            out->bytes ? (uint64_t)((const char *)out->data - from) + out->bytes : 0;
        bytes = end > bytes ? end : bytes; /* ranks may be sent the same */
    }
    if (o->fit_host(o, &w->host, bytes, 1, "messages", e))
        return e->code;
    if (bytes)
        o->fetch(o, w->host.data, from, bytes);
    o->mark(o, GNN_OPS_MARK_NET);
    if (o->wait(o, GNN_OPS_MARK_NET, e))
        return e->code;
    for (uint32_t rank = 0; rank < w->x.size; rank++)
        if (w->x.out[rank].bytes)
            w->x.out[rank].data = (char *)w->host.data + ((const char *)w->x.out[rank].data - from);
    return 0;
}

static int check_messages(const struct full_wire *w, struct gnn_err *e)
{
    for (uint32_t rank = 0; rank < w->x.size; rank++)
        if (w->x.in[rank].bytes != w->expect[rank])
            return gnn_fail(
                e, GNN_E_RANK, "malformed message from rank %u: %llu bytes instead of %llu", rank,
                (unsigned long long)w->x.in[rank].bytes, (unsigned long long)w->expect[rank]);
    return 0;
}

static int end_on_host(struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    const int rc = f->comm->ops->end(f->comm, &w->x, e);
    if (rc || check_messages(w, e))
        return rc ? rc : e->code;
    for (uint32_t rank = 0; f->o->async && rank < w->x.size; rank++)
        if (w->expect[rank])
            f->o->put(f->o, (void *)w->brought[rank].data, w->x.in[rank].data, w->expect[rank]);
    return 0;
}

/* ---- both ---- */

int gnn_full_wire_begin(struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    if (f->o->async && open_brought(f, w, e))
        return e->code;
    if (f->device)
        return begin_moving(f, w, e);
    if (f->o->async && fetch_messages(f, w, e))
        return e->code;
    return f->comm->ops->begin(f->comm, &w->x, e);
}

int gnn_full_wire_end(struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    if (f->device)
        return end_open(f, w, e);
    return end_on_host(f, w, e);
}
