/* SPDX-License-Identifier: Apache-2.0 */
/* How long operations take on the device, by name, where GNN_DEBUG_TIME asks for it: an event after
 * each, and the time since the one before; and what they must move. Only what was queued long ago
 * is waited for, so that the host stays ahead of the device. */
#include <stdio.h>
#include <string.h>

#include "lib/ops/gpu_ops_impl.h"

enum { PENDING = 512, EVENTS = PENDING + 1, KINDS = 128, BETWEEN = KINDS };

struct ops_times {
    /* Operation i, of those from `first` up to n that are pending, is what happens between event i
     * and the next one, both modulo EVENTS. */
    void *event[EVENTS];
    unsigned of[EVENTS]; /* its kind; BETWEEN: what there is between two batches */
    uint64_t first, n;
    bool begun; /* event n has been recorded */
    struct kind {
        char name[sizeof((struct gnn_ops_cost *)0)->text];
        uint64_t n, bytes;
        double ms;
    } kind[KINDS];
    unsigned nkinds;
};

int gnn_ops_times_new(struct ops_times **out, const struct gpu_device *d, struct gnn_err *e)
{
    if (!(d->asked & GNN_GPU_TIME_OPERATIONS))
        return 0;
    struct ops_times *t = *out = gnn_alloc_zero(1, sizeof(*t), "times of operations", e);
    int rc = t ? 0 : e->code;
    for (unsigned i = 0; !rc && i < EVENTS; i++)
        rc = gnn_dev_event_timed(&t->event[i], e);
    return rc;
}

void gnn_ops_times_free(struct ops_times *t)
{
    for (unsigned i = 0; t && i < EVENTS; i++)
        gnn_dev_event_free(t->event[i]);
    gnn_free(t);
}

/* Adds up the operations before `end`. */
static void settle_times(struct ops_dev *dev, uint64_t end)
{
    struct ops_times *t = dev->times;
    if (end == t->first || gnn_dev_event_wait(t->event[end % EVENTS], &dev->err))
        return;
    for (; t->first < end; t->first++) {
        const unsigned k = t->of[t->first % EVENTS];
        float ms;
        if (k == BETWEEN)
            continue;
        if (gnn_dev_event_ms(t->event[t->first % EVENTS], t->event[(t->first + 1) % EVENTS], &ms,
                             &dev->err))
            return;
        t->kind[k].n++;
        t->kind[k].ms += (double)ms;
    }
}

/* An operation of kind k ends here. */
static void add_time(struct ops_dev *dev, unsigned k)
{
    struct ops_times *t = dev->times;
    if (t->n - t->first == PENDING)
        settle_times(dev, t->first + PENDING / 2);
    if (dev->err.code)
        return;
    t->of[t->n % EVENTS] = k;
    t->n += t->begun;
    t->begun = true;
    (void)!gnn_dev_event_record(t->event[t->n % EVENTS], dev->stream, &dev->err);
}

void gnn_ops_time_from(struct ops_dev *dev)
{
    if (dev->times && !dev->err.code)
        add_time(dev, BETWEEN);
}

void gnn_ops_timed(struct ops_dev *dev, const char *name, uint64_t bytes)
{
    struct ops_times *t = dev->times;
    unsigned k = 0;
    if (!t || dev->err.code)
        return;
    while (k < t->nkinds && strcmp(t->kind[k].name, name))
        k++;
    if (k == KINDS)
        k = KINDS - 1; /* the last one takes them all */
    else if (k == t->nkinds)
        snprintf(t->kind[t->nkinds++].name, sizeof t->kind->name, "%s", name);
    t->kind[k].bytes += bytes;
    add_time(dev, k);
}

int gnn_gpu_ops_times(const struct gnn_ops *o, gnn_ops_each each, void *arg, struct gnn_err *e)
{
    struct ops_dev *dev = ops_dev(o);
    if (!dev->times)
        return 0;
    settle_times(dev, dev->times->n);
    if (dev->err.code)
        return gnn_fail_as(e, &dev->err);
    for (const struct kind *k = dev->times->kind; k < dev->times->kind + dev->times->nkinds; k++)
        each(arg, k->name, k->n, k->ms, k->bytes);
    return 0;
}
