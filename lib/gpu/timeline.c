/* SPDX-License-Identifier: Apache-2.0 */
/* When the streams of the device that trains work on each batch: an event before and after. */
#include "lib/gpu/runtime.h"

/* The first batches are made while buffers grow and graphs are captured; they are not told. */
enum { SKIPPED = 20, TOLD = 20, ROWS = SKIPPED + TOLD };

struct gpu_timeline {
    void *base; /* the event from which times count: the beginning of the first work */
    unsigned n; /* batches so far, at most ROWS */
    struct timeline_row {
        uint64_t epoch, step;
        uint32_t split, rank;
        struct timeline_work {
            void *from, *to; /* events */
            bool begun, ended;
            double start, end; /* ms from base, once read */
        } of[GNN_GPU_WORKS];
    } row[ROWS];
    struct gnn_err err; /* the first failure, which is told at the end */
};

int gnn_gpu_timeline_open(struct gpu_device *d, struct gnn_err *e)
{
    if (d->timeline || !(d->asked & GNN_GPU_TIME_LINE))
        return 0;
    struct gpu_timeline *t = d->timeline = gnn_alloc_zero(1, sizeof *t, "a time line", e);
    int rc = t ? gnn_dev_use(d->number, e) : e->code;
    if (!rc)
        rc = gnn_dev_event_timed(&t->base, e);
    for (unsigned i = 0; !rc && i < ROWS * GNN_GPU_WORKS; i++) {
        struct timeline_work *w = &t->row[i / GNN_GPU_WORKS].of[i % GNN_GPU_WORKS];
        rc = gnn_dev_event_timed(&w->from, e);
        if (!rc)
            rc = gnn_dev_event_timed(&w->to, e);
    }
    return rc;
}

void gnn_gpu_timeline_close(struct gpu_device *d)
{
    struct gpu_timeline *t = d->timeline;
    if (!t)
        return;
    gnn_dev_event_free(t->base);
    for (unsigned i = 0; i < ROWS * GNN_GPU_WORKS; i++) {
        struct timeline_work *w = &t->row[i / GNN_GPU_WORKS].of[i % GNN_GPU_WORKS];
        gnn_dev_event_free(w->from);
        gnn_dev_event_free(w->to);
    }
    gnn_free(t);
    d->timeline = NULL;
}

/* The batch's row, a new one if it has none yet and there is space. */
static struct timeline_row *row_of(struct gpu_timeline *t, const struct gnn_batch *b)
{
    for (unsigned i = 0; i < t->n; i++) {
        struct timeline_row *r = &t->row[i];
        if (r->epoch == b->epoch && r->step == b->step && r->split == b->split &&
            r->rank == b->rank)
            return r;
    }
    if (t->n == ROWS)
        return NULL;
    struct timeline_row *r = &t->row[t->n++];
    r->epoch = b->epoch;
    r->step = b->step;
    r->split = b->split;
    r->rank = b->rank;
    return r;
}

void gnn_gpu_timeline_mark(struct gpu_timeline *t, enum gnn_gpu_work work, bool end,
                           const struct gnn_batch *b, void *stream)
{
    const bool first = !t->n;
    struct timeline_row *r = t->err.code ? NULL : row_of(t, b);
    if (!r || (first && gnn_dev_event_record(t->base, stream, &t->err)))
        return;
    struct timeline_work *w = &r->of[work];
    if (!gnn_dev_event_record(end ? w->to : w->from, stream, &t->err))
        *(end ? &w->ended : &w->begun) = true;
}

static int read_time(const struct gpu_timeline *t, void *event, double *ms, struct gnn_err *e)
{
    float from_base = 0;
    int rc = gnn_dev_event_wait(event, e);
    if (!rc)
        rc = gnn_dev_event_ms(t->base, event, &from_base, e);
    *ms = (double)from_base;
    return rc;
}

static bool is_known(const struct timeline_work *w)
{
    return w->begun && w->ended;
}

/* How much of the work is done while some batch is trained on. */
static double beside_training(const struct gpu_timeline *t, const struct timeline_work *w)
{
    double sum = 0;
    for (unsigned i = 0; i < t->n; i++) {
        const struct timeline_work *x = &t->row[i].of[GNN_GPU_TRAINING];
        const double from = x->start > w->start ? x->start : w->start;
        const double to = x->end < w->end ? x->end : w->end;
        sum += is_known(x) && to > from ? to - from : 0;
    }
    return sum;
}

/* Row i of t. */
static struct gnn_gpu_times times_of(const struct gpu_timeline *t, unsigned i)
{
    const struct timeline_row *r = &t->row[i];
    const struct timeline_work *last = &r[-1].of[GNN_GPU_TRAINING];
    struct gnn_gpu_times x = {.epoch = r->epoch, .step = r->step, .split = r->split};
    const double zero = r->of[GNN_GPU_TRAINING].start;
    for (unsigned k = 0; k < GNN_GPU_WORKS; k++)
        if (is_known(&r->of[k])) {
            x.of[k].known = true;
            x.of[k].start = r->of[k].start - zero;
            x.of[k].end = r->of[k].end - zero;
            x.of[k].beside = beside_training(t, &r->of[k]);
        }
    x.idle = is_known(last) ? zero - last->end : 0;
    return x;
}

int gnn_gpu_timeline(struct gnn_gpu *g, void (*each)(void *arg, const struct gnn_gpu_times *t),
                     void *arg, struct gnn_err *e)
{
    struct gpu_timeline *t = g->dev->timeline;
    int rc = t && t->err.code ? gnn_fail_as(e, &t->err) : 0;
    for (unsigned i = 0; !rc && t && i < t->n * GNN_GPU_WORKS; i++) {
        struct timeline_work *w = &t->row[i / GNN_GPU_WORKS].of[i % GNN_GPU_WORKS];
        if (is_known(w))
            rc = read_time(t, w->from, &w->start, e);
        if (!rc && is_known(w))
            rc = read_time(t, w->to, &w->end, e);
    }
    for (unsigned i = SKIPPED; !rc && t && i < t->n; i++)
        if (is_known(&t->row[i].of[GNN_GPU_TRAINING])) {
            const struct gnn_gpu_times x = times_of(t, i);
            each(arg, &x);
        }
    return rc;
}
