/* SPDX-License-Identifier: Apache-2.0 */
/* How long operations take on the device, by name, where GNN_DEBUG_TIME=1 asks for it: an event
 * after each, and the time since the one before. Waiting for them now and then costs some of the
 * time that is measured elsewhere. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ops/gpu_ops.h"

enum { PENDING = 256, KINDS = 128, NAME = 72 };

struct ops_times {
    void *event[PENDING + 1]; /* operation i is what happens between event i and the next one */
    unsigned of[PENDING];     /* its kind */
    unsigned n;
    struct kind {
        char name[NAME];
        uint64_t n;
        double ms;
    } kind[KINDS];
    unsigned nkinds;
};

int gnn_ops_times_new(struct ops_times **out, struct gnn_err *e)
{
    const char *v = getenv("GNN_DEBUG_TIME");
    if (!v || !*v || !strcmp(v, "0"))
        return 0;
    struct ops_times *t = *out = gnn_alloc_zero(1, sizeof(*t), "times of operations", e);
    int rc = t ? 0 : e->code;
    for (unsigned i = 0; !rc && i <= PENDING; i++)
        rc = gnn_dev_event_timed(&t->event[i], e);
    return rc;
}

void gnn_ops_times_free(struct ops_times *t)
{
    for (unsigned i = 0; t && i <= PENDING; i++)
        gnn_dev_event_free(t->event[i]);
    gnn_free(t);
}

/* Adds up what is pending. */
static void settle_times(struct ops_dev *dev)
{
    struct ops_times *t = dev->times;
    if (!t->n || gnn_dev_event_wait(t->event[t->n], &dev->err))
        return;
    for (unsigned i = 0; i < t->n; i++) {
        float ms;
        if (gnn_dev_event_ms(t->event[i], t->event[i + 1], &ms, &dev->err))
            return;
        t->kind[t->of[i]].n++;
        t->kind[t->of[i]].ms += (double)ms;
    }
    void *last = t->event[t->n];
    t->event[t->n] = t->event[0];
    t->event[0] = last;
    t->n = 0;
}

void gnn_ops_time_from(struct ops_dev *dev)
{
    if (!dev->times || dev->err.code)
        return;
    settle_times(dev);
    if (!dev->err.code)
        (void)!gnn_dev_event_record(dev->times->event[0], dev->stream, &dev->err);
}

const char *gnn_ops_name(struct ops_dev *dev, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(dev->name, sizeof(dev->name), fmt, ap);
    va_end(ap);
    return dev->name;
}

void gnn_ops_timed(struct ops_dev *dev, const char *name)
{
    struct ops_times *t = dev->times;
    unsigned k = 0;
    if (!t || dev->err.code)
        return;
    if (t->n == PENDING)
        settle_times(dev);
    while (k < t->nkinds && strcmp(t->kind[k].name, name))
        k++;
    if (k == KINDS)
        k = KINDS - 1; /* the last one takes them all */
    else if (k == t->nkinds)
        snprintf(t->kind[t->nkinds++].name, NAME, "%s", name);
    t->of[t->n] = k;
    if (!dev->err.code && !gnn_dev_event_record(t->event[t->n + 1], dev->stream, &dev->err))
        t->n++;
}

int gnn_gpu_ops_times(const struct gnn_ops *o,
                      void (*each)(void *arg, const char *name, uint64_t n, double ms), void *arg,
                      struct gnn_err *e)
{
    struct ops_dev *dev = ops_dev(o);
    if (!dev->times)
        return 0;
    settle_times(dev);
    if (dev->err.code)
        return gnn_fail_as(e, &dev->err);
    for (unsigned k = 0; k < dev->times->nkinds; k++)
        each(arg, dev->times->kind[k].name, dev->times->kind[k].n, dev->times->kind[k].ms);
    return 0;
}
