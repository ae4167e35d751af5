/* SPDX-License-Identifier: Apache-2.0 */
/* What the least things cost: kernels, graphs, events, copies of a few bytes, waiting. Of each the
 * time on the device, when many of them are there in a row; what it takes the host to put one
 * there; and the host's time from there until it has waited for it. */
#include <math.h>
#include <stdio.h>

#include "gpu/bench.h"
#include "kernels/act.h"
#include "lib/gpu/dev.h"

enum { ROUNDS = 7, TRIPS = 31, PLUGS = 32 };

struct cost {
    double device, host, trip; /* microseconds */
};

/* n times f in a row. */
static int time_in_a_row(bench_fn *f, const void *arg, unsigned n, struct cost *c,
                         struct gnn_err *e)
{
    double device[ROUNDS], host[ROUNDS];
    for (unsigned r = 0; r < ROUNDS; r++) {
        double ms;
        if (bench_plug(PLUGS, e) || bench_start(e))
            return e->code;
        const double start = bench_now();
        for (unsigned i = 0; i < n; i++)
            if (f(arg, e))
                return e->code;
        host[r] = (bench_now() - start) / n;
        if (bench_stop(&ms, e))
            return e->code;
        device[r] = 1000 * ms / n;
    }
    c->device = bench_median(device, ROUNDS);
    c->host = bench_median(host, ROUNDS);
    return 0;
}

static int time_trip(bench_fn *f, const void *arg, double *us, struct gnn_err *e)
{
    double t[TRIPS];
    *us = NAN;
    for (unsigned r = 0; r < TRIPS; r++) {
        const double start = bench_now();
        if (f(arg, e) || gnn_dev_stream_wait(bench.stream, e))
            return e->code;
        t[r] = bench_now() - start;
    }
    *us = bench_median(t, TRIPS);
    return 0;
}

static int time_all(bench_fn *f, const void *arg, unsigned n, struct cost *c, struct gnn_err *e)
{
    *c = (struct cost){NAN, NAN, NAN};
    if (bench.failed.code)
        return gnn_fail_as(e, &bench.failed);
    return f(arg, e) || gnn_dev_stream_wait(bench.stream, e) ||
                   time_in_a_row(f, arg, bench.tiny ? 2 : n, c, e) || time_trip(f, arg, &c->trip, e)
               ? e->code
               : 0;
}

/* `more` is said, too. */
static void row_of(const char *what, const struct cost *c, const struct gnn_err *e,
                   const char *more)
{
    if (e->code)
        bench_row_failed(what, e);
    else
        bench_row(what, "%.2f us each in a row, %.2f us of the host | %.2f us until waited for%s",
                  c->device, c->host, c->trip, more);
}

static struct cost row_for(const char *what, bench_fn *f, const void *arg, unsigned n)
{
    struct gnn_err e = {0};
    struct cost c;
    (void)time_all(f, arg, n, &c, &e);
    row_of(what, &c, &e, "");
    return c;
}

/* ---- kernels and graphs ---- */

static int launch_on(float *x, void *stream)
{
    gnn_cuda_bias_act(x, NULL, 1, 4, NULL, GNN_ACT_RELU, NULL, stream);
    return 0;
}
static int launch(const void *arg, struct gnn_err *e)
{
    (void)e; /* what failed comes out where the stream is waited for */
    float *const *x = arg;
    return launch_on(*x, bench.stream);
}
static int launch_graph(const void *arg, struct gnn_err *e)
{
    void *const *graph = arg;
    return gnn_dev_graph_launch(*graph, bench.stream, e);
}

static int make_graph(float *x, unsigned nodes, void **graph, struct gnn_err *e)
{
    *graph = NULL;
    if (bench.failed.code)
        return gnn_fail_as(e, &bench.failed);
    if (gnn_dev_graph_begin(bench.stream, e))
        return e->code;
    for (unsigned i = 0; i < nodes; i++)
        (void)launch_on(x, bench.stream);
    return gnn_dev_graph_end(bench.stream, graph, e);
}

/* Beside the first, what each further kernel of a graph costs. */
static void graphs(float *x)
{
    static const unsigned nodes[] = {1, 16, 64};
    double one = NAN;
    for (unsigned i = 0; i < 3; i++) {
        struct gnn_err e = {0};
        struct cost c = {NAN, NAN, NAN};
        char what[64], more[64] = "";
        void *graph;
        snprintf(what, sizeof what, "launch of a graph of %u kernel%s", nodes[i], i ? "s" : "");
        if (!make_graph(x, nodes[i], &graph, &e))
            (void)time_all(launch_graph, &graph, 20, &c, &e);
        if (i == 0)
            one = c.device;
        else
            snprintf(more, sizeof more, "; %.2f us a further kernel",
                     (c.device - one) / (nodes[i] - 1));
        row_of(what, &c, &e, more);
        gnn_dev_graph_free(graph);
    }
}

/* ---- events ---- */

struct hop {
    float *x, *y;
    void *other, *event[2];
};

static int record_and_wait(const void *arg, struct gnn_err *e)
{
    const struct hop *h = arg;
    return gnn_dev_event_record(h->event[0], bench.stream, e) ||
                   gnn_dev_event_after(h->other, h->event[0], e)
               ? e->code
               : 0;
}
/* To the other stream and back, with a kernel there and here. */
static int hop(const void *arg, struct gnn_err *e)
{
    const struct hop *h = arg;
    (void)launch_on(h->x, bench.stream);
    if (record_and_wait(arg, e))
        return e->code;
    (void)launch_on(h->y, h->other);
    return gnn_dev_event_record(h->event[1], h->other, e) ||
                   gnn_dev_event_after(bench.stream, h->event[1], e)
               ? e->code
               : 0;
}

static int time_hops(struct hop *h, double *host, struct cost *c, struct gnn_err *e)
{
    struct cost plain;
    *host = NAN;
    *c = (struct cost){NAN, NAN, NAN};
    if (gnn_dev_stream_new(&h->other, e) || gnn_dev_event_new(&h->event[0], e) ||
        gnn_dev_event_new(&h->event[1], e) || time_all(record_and_wait, h, 100, &plain, e) ||
        gnn_dev_stream_wait(h->other, e) || time_all(hop, h, 50, c, e))
        return e->code;
    *host = plain.host;
    return 0;
}

/* kernel: microseconds of one in a row. */
static void events(float *x, float *y, double kernel)
{
    static const char what[] = "from stream to stream by an event";
    struct hop h = {.x = x, .y = y};
    struct gnn_err e = {0};
    struct cost c;
    double host;
    if (time_hops(&h, &host, &c, &e))
        bench_row_failed(what, &e);
    else
        bench_row(what, "%.2f us more than a kernel, %.2f us of the host to record and wait | ",
                  c.device / 2 - kernel, host);
    gnn_dev_stream_free(h.other);
    gnn_dev_event_free(h.event[0]);
    gnn_dev_event_free(h.event[1]);
}

/* ---- copies ---- */

struct bytes {
    void *to;
    const void *from;
    uint32_t n;
};
static int copy(const void *arg, struct gnn_err *e)
{
    const struct bytes *b = arg;
    return gnn_dev_copy(b->to, b->from, b->n, bench.stream, e);
}
static int set(const void *arg, struct gnn_err *e)
{
    const struct bytes *b = arg;
    return gnn_dev_set(b->to, 0, b->n, bench.stream, e);
}
static int nothing(const void *arg, struct gnn_err *e)
{
    (void)arg, (void)e;
    return 0;
}

static void copies(void *device, void *host)
{
    for (uint32_t n = 4; n <= 65536; n *= n < 4096 ? 32 : 16) { /* 4, 128, 4096, 65536 */
        char what[64];
        snprintf(what, sizeof what, "copy of %u bytes, pinned host to device", n);
        (void)row_for(what, copy, &(struct bytes){device, host, n}, 100);
        snprintf(what, sizeof what, "copy of %u bytes, device to pinned host", n);
        (void)row_for(what, copy, &(struct bytes){host, device, n}, 100);
    }
    (void)row_for("copy of 4 bytes, device", copy,
                  &(struct bytes){device, device ? (char *)device + 65536 : NULL, 4}, 100);
    (void)row_for("set of 4 bytes", set, &(struct bytes){device, NULL, 4}, 100);
}

void bench_latency(void)
{
    struct gnn_err e = {0};
    float *x = bench_numbers(4, 0), *y = bench_numbers(4, 4);
    void *device = bench_buffer(2 * 65536), *host = bench_pinned(65536);
    double us;
    const struct cost kernel = row_for("launch of a kernel", launch, &x, 100);
    graphs(x);
    events(x, y, kernel.device);
    copies(device, host);
    if (time_trip(nothing, NULL, &us, &e))
        bench_row_failed("waiting for an idle stream", &e);
    else
        bench_row("waiting for an idle stream", "%.2f us of the host | ", us);
}
