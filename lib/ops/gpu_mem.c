/* Memory of the device's column: buffers, copies, what comes from the host and what goes back. */
#include <string.h>

#include "lib/ops/gpu_ops.h"

static int fit(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n, size_t size,
               const char *what, struct gnn_err *e)
{
    return gnn_buf_fit_in(&ops_dev(o)->d->mem, b, n, size, what,
                          e); /* freeing waits for who uses it */
}

static void release(const struct gnn_ops *o, struct gnn_buf *b)
{
    gnn_buf_release_in(&ops_dev(o)->d->mem, b);
}

static int fit_host(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n, size_t size,
                    const char *what, struct gnn_err *e)
{
    (void)o;
    return gnn_buf_fit_in(&gpu_pinned, b, n, size, what, e);
}

static void release_host(const struct gnn_ops *o, struct gnn_buf *b)
{
    (void)o;
    gnn_buf_release_in(&gpu_pinned, b);
}

static void zero(const struct gnn_ops *o, void *to, uint64_t bytes)
{
    struct ops_dev *c = ops_dev(o);
    if (!c->err.code)
        (void)!gnn_dev_set(to, 0, bytes, c->stream, &c->err);
    ops_timed(c, "zeroing");
}

static void copy(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes)
{
    struct ops_dev *c = ops_dev(o);
    if (!c->err.code)
        (void)!gnn_dev_copy(to, from, bytes, c->stream, &c->err);
    ops_timed(c, "copies");
}

/* Room for `bytes`, at most RING_PART, in the ring; *at is where. False if something is wrong. */
static bool ring_room(struct ops_dev *c, size_t bytes, uint64_t *at)
{
    const size_t room = (bytes + 63) / 64 * 64;
    if (c->err.code)
        return false;
    if (c->ring_at % RING_PART + room > RING_PART || c->ring_at % RING_PART == 0) {
        const uint64_t next =
            (c->ring_at + RING_PART - 1) / RING_PART % RING_PARTS; /* the part that begins here */
        const uint64_t last = (next + RING_PARTS - 1) % RING_PARTS;
        if (gnn_dev_event_record(c->part[last], c->stream, &c->err) ||
            gnn_dev_event_wait(c->part[next], &c->err))
            return false;
        c->ring_at = next * RING_PART;
    }
    *at = c->ring_at;
    c->ring_at += room;
    return true;
}

static void put(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes)
{
    struct ops_dev *c = ops_dev(o);
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t n = bytes - done < RING_PART ? bytes - done : RING_PART;
        uint64_t at;
        if (!ring_room(c, n, &at))
            return;
        memcpy(c->ring + at, (const char *)from + done, n);
        (void)!gnn_dev_copy((char *)to + done, c->ring + at, n, c->stream, &c->err);
        done += n;
    }
}

void ops_launched(struct ops_dev *c, const char *what)
{
    (void)!gnn_dev_launched(what, &c->err);
    ops_timed(c, what);
}

static void mark(const struct gnn_ops *o, unsigned k)
{
    struct ops_dev *c = ops_dev(o);
    copy(o, c->seen + k * NWORDS, c->word, NWORDS * sizeof(*c->word));
    if (!c->err.code)
        (void)!gnn_dev_event_record(c->mark[k], c->stream, &c->err);
}

static int failed(const struct ops_dev *c, struct gnn_err *e)
{
    return gnn_fail(e, (enum gnn_status)c->err.code, "%s", c->err.msg);
}

static int wait(const struct gnn_ops *o, unsigned k, struct gnn_err *e)
{
    struct ops_dev *c = ops_dev(o);
    if (c->err.code)
        return failed(c, e);
    if (gnn_dev_event_wait(c->mark[k], e))
        return e->code;
    const uint64_t *w = c->seen + k * NWORDS;
    const uint64_t bad = w[WORD_SPMM] < w[WORD_TRANSPOSE] ? w[WORD_SPMM] : w[WORD_TRANSPOSE];
    if (bad != UINT64_MAX)
        return gnn_fail(e, GNN_E_INPUT,
                        "a batch names a node that it does not have, in edge %llu of a block",
                        (unsigned long long)(bad & UINT32_MAX));
    return 0;
}

static int enter(const struct gnn_ops *o, const struct gnn_batch *b, struct gnn_err *e)
{
    struct ops_dev *c = ops_dev(o);
    if (c->err.code)
        return failed(c, e);
    if (!b->place)
        return gnn_fail(e, GNN_E_DEVICE, "a batch in the host's memory is to be used on device %u",
                        c->d->number);
    if (b->place->device != c->d->number)
        return gnn_fail(e, GNN_E_DEVICE, "a batch on device %u is to be used on device %u",
                        b->place->device, c->d->number);
    if (gnn_dev_use(c->d->number, e) || gnn_dev_event_after(c->stream, b->place->ready, e))
        return e->code;
    gpu_range_begin("step", b);
    ops_time_from(c);
    return 0;
}

static void leave(const struct gnn_ops *o, const struct gnn_batch *b)
{
    struct ops_dev *c = ops_dev(o);
    gnn_dev_range_end();
    if (!c->err.code)
        (void)!gnn_dev_event_record(b->place->used, c->stream, &c->err);
}

void ops_fill_memory(struct gnn_ops *o)
{
    o->fit = fit;
    o->release = release;
    o->fit_host = fit_host;
    o->release_host = release_host;
    o->zero = zero;
    o->copy = copy;
    o->put = put;
    o->fetch = copy;
    o->mark = mark;
    o->wait = wait;
    o->enter = enter;
    o->leave = leave;
}
