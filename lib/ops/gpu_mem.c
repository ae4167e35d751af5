/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a device's table of operations: buffers, copies, what comes from the host and what goes
 * back. */
#include <string.h>

#include "lib/ops/gpu_ops_impl.h"

/* Pinned memory is that of all devices. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static int device_fit(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n, size_t size,
                      const char *what, struct gnn_err *e)
{
    return gnn_buf_fit_in(&ops_dev(o)->d->mem, b, n, size, what,
                          e); /* freeing waits for who uses it */
}

static void device_release(const struct gnn_ops *o, struct gnn_buf *b)
{
    gnn_buf_release_in(&ops_dev(o)->d->mem, b);
}

static int device_fit_host(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n, size_t size,
                           const char *what, struct gnn_err *e)
{
    return gnn_buf_fit_in(&gnn_gpu_pinned, b, n, size, what, e);
}

static void device_release_host(const struct gnn_ops *o, struct gnn_buf *b)
{
    gnn_buf_release_in(&gnn_gpu_pinned, b);
}

static void device_zero(const struct gnn_ops *o, void *to, uint64_t bytes)
{
    struct ops_dev *dev = ops_dev(o);
    if (!dev->err.code)
        (void)!gnn_dev_set(to, 0, bytes, dev->stream, &dev->err);
    gnn_ops_timed(dev, "zeroing", bytes);
}

static void device_copy(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes)
{
    struct ops_dev *dev = ops_dev(o);
    if (!dev->err.code)
        (void)!gnn_dev_copy(to, from, bytes, dev->stream, &dev->err);
    gnn_ops_timed(dev, "copying", 2 * bytes);
}

/* Space for `bytes`, at most RING_PART, in the ring; *at is where. False if something is wrong. */
static bool ring_space(struct ops_dev *dev, size_t bytes, uint64_t *at)
{
    const size_t capacity = (bytes + 63) / 64 * 64;
    if (dev->err.code)
        return false;
    if (dev->ring_at % RING_PART + capacity > RING_PART || dev->ring_at % RING_PART == 0) {
        const uint64_t next =
            (dev->ring_at + RING_PART - 1) / RING_PART % RING_PARTS; /* the part that begins here */
        const uint64_t last = (next + RING_PARTS - 1) % RING_PARTS;
        if (gnn_dev_event_record(dev->part[last], dev->stream, &dev->err) ||
            gnn_dev_event_wait(dev->part[next], &dev->err))
            return false;
        dev->ring_at = next * RING_PART;
    }
    *at = dev->ring_at;
    dev->ring_at += capacity;
    return true;
}

static void device_put(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes)
{
    struct ops_dev *dev = ops_dev(o);
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t n = bytes - done < RING_PART ? bytes - done : RING_PART;
        uint64_t at;
        if (!ring_space(dev, n, &at))
            return;
        memcpy(dev->ring + at, (const char *)from + done, n);
        (void)!gnn_dev_copy((char *)to + done, dev->ring + at, n, dev->stream, &dev->err);
        done += n;
    }
}

void gnn_ops_launched(struct ops_dev *dev, const char *what)
{
    if (!ops_failed(dev))
        (void)!gnn_dev_launched(what, &dev->err);
}

static void device_mark(const struct gnn_ops *o, unsigned k)
{
    struct ops_dev *dev = ops_dev(o);
    device_copy(o, dev->seen + k * NWORDS, dev->word, NWORDS * sizeof(*dev->word));
    if (!dev->err.code)
        (void)!gnn_dev_event_record(dev->mark[k], dev->stream, &dev->err);
}

static int device_wait(const struct gnn_ops *o, unsigned k, struct gnn_err *e)
{
    struct ops_dev *dev = ops_dev(o);
    if (dev->err.code)
        return gnn_fail_as(e, &dev->err);
    if (gnn_dev_event_wait(dev->mark[k], e))
        return e->code;
    const uint64_t *w = dev->seen + k * NWORDS;
    const uint64_t bad = w[WORD_SPMM] < w[WORD_TRANSPOSE] ? w[WORD_SPMM] : w[WORD_TRANSPOSE];
    if (bad != UINT64_MAX)
        return gnn_fail(e, GNN_E_INPUT,
                        "a block refers to a node that the batch does not have, in edge %llu",
                        (unsigned long long)(bad & UINT32_MAX));
    return 0;
}

static int device_enter(const struct gnn_ops *o, const struct gnn_batch *b, struct gnn_err *e)
{
    struct ops_dev *dev = ops_dev(o);
    if (dev->err.code)
        return gnn_fail_as(e, &dev->err);
    if (!b->place)
        return gnn_fail(e, GNN_E_DEVICE, "a batch in host memory cannot be used on device %u",
                        dev->d->number);
    if (b->place->device != dev->d->number)
        return gnn_fail(e, GNN_E_DEVICE, "a batch on device %u cannot be used on device %u",
                        b->place->device, dev->d->number);
    if (gnn_dev_use(dev->d->number, e) || gnn_dev_event_after(dev->stream, b->place->ready, e))
        return e->code;
    gnn_gpu_range_begin("step", b);
    gnn_gpu_work_begin(dev->d, GNN_GPU_TRAINING, b, dev->stream);
    gnn_ops_time_from(dev);
    return 0;
}

static void device_leave(const struct gnn_ops *o, const struct gnn_batch *b)
{
    struct ops_dev *dev = ops_dev(o);
    gnn_gpu_work_end(dev->d, GNN_GPU_TRAINING, b, dev->stream);
    gnn_dev_range_end();
    if (!dev->err.code)
        (void)!gnn_dev_event_record(b->place->used, dev->stream, &dev->err);
}

void gnn_ops_fill_memory(struct gnn_ops *o)
{
    o->fit = device_fit;
    o->release = device_release;
    o->fit_host = device_fit_host;
    o->release_host = device_release_host;
    o->zero = device_zero;
    o->copy = device_copy;
    o->put = device_put;
    o->fetch = device_copy;
    o->mark = device_mark;
    o->wait = device_wait;
    o->enter = device_enter;
    o->leave = device_leave;
}
