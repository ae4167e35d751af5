/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/act.h"
#include "lib/gpu/dev.h"

enum { KEPT = 64 };

struct bench bench;

static float *random_numbers; /* [BENCH_RANDOM] pinned */
static void *plug_space, *from, *to;
static void *on_device[KEPT], *on_host[KEPT], *in_heap[KEPT];
static unsigned ndevice, nhost, nheap;

uint32_t bench_part(uint32_t of_products)
{
    const uint64_t n = (uint64_t)of_products * bench.all / BENCH_ALL;
    return n < 2 ? 2 : (uint32_t)n;
}

struct bench_block bench_block(unsigned layer)
{
    static const uint32_t nodes[] = {460000, 137000, 15800, 1024},
                          edges[] = {600000, 142000, 15000};
    return (struct bench_block){bench_part(nodes[layer + 1]), bench_part(nodes[layer]),
                                bench_part(edges[layer])};
}

/* A device that had nothing to do needs a while to get to its clocks: a quarter of a second. */
static int speed_up(struct gnn_err *e)
{
    const double end = bench_now() + (bench.tiny ? 0 : 250000);
    do {
        for (int i = 0; i < 100; i++)
            gnn_cuda_bias_act(plug_space, NULL, bench.tiny ? 1 : BENCH_RANDOM / 256, 256, NULL,
                              GNN_ACT_RELU, NULL, bench.stream);
        if (gnn_dev_launched("a kernel", e) || gnn_dev_stream_wait(bench.stream, e))
            return e->code;
    } while (bench_now() < end);
    return 0;
}

int bench_open(struct gnn_err *e)
{
    const uint64_t bytes = BENCH_RANDOM * sizeof *random_numbers;
    uint64_t x = 1;
    if (gnn_dev_stream_new(&bench.stream, e) || gnn_dev_event_timed(&from, e) ||
        gnn_dev_event_timed(&to, e) || gnn_dev_alloc(&plug_space, bytes, "a benchmark", e) ||
        gnn_dev_pin((void **)&random_numbers, bytes, "a benchmark", e))
        return e->code;
    for (int i = 0; i < BENCH_RANDOM; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        random_numbers[i] = (float)(x >> 40) / (float)(1 << 23) - 1;
    }
    return bench_fill(plug_space, BENCH_RANDOM, 0, e) ? e->code : speed_up(e);
}

void bench_close(void)
{
    bench_release();
    gnn_dev_unpin(random_numbers);
    gnn_dev_free(plug_space);
    gnn_dev_event_free(from);
    gnn_dev_event_free(to);
    gnn_dev_stream_free(bench.stream);
}

/* ---- memory ---- */

static void *keep(void **list, unsigned *n, void *p)
{
    return list[(*n)++] = p;
}
static bool is_full(unsigned n)
{
    if (n == KEPT && !bench.failed.code)
        (void)gnn_fail(&bench.failed, GNN_E_RUN, "more arrays than %d", KEPT);
    return bench.failed.code != 0;
}

void *bench_buffer(uint64_t bytes)
{
    void *p = NULL;
    if (is_full(ndevice) || gnn_dev_alloc(&p, bytes, "a benchmark", &bench.failed))
        return NULL;
    keep(on_device, &ndevice, p);
    return gnn_dev_set(p, 1, bytes, bench.stream, &bench.failed) ? NULL : p;
}

void *bench_pinned(uint64_t bytes)
{
    void *p = NULL;
    if (is_full(nhost) || gnn_dev_pin(&p, bytes, "a benchmark", &bench.failed))
        return NULL;
    return keep(on_host, &nhost, p);
}

void *bench_host(uint64_t bytes)
{
    void *p = is_full(nheap) ? NULL : calloc(bytes ? bytes : 1, 1);
    if (!p) {
        if (!bench.failed.code)
            (void)gnn_fail_nomem(&bench.failed, bytes, "a benchmark");
        return NULL;
    }
    return keep(in_heap, &nheap, p);
}

void *bench_up(const void *data, uint64_t bytes)
{
    void *p = data ? bench_buffer(bytes) : NULL;
    if (!p || gnn_dev_copy(p, data, bytes, bench.stream, &bench.failed) ||
        gnn_dev_stream_wait(bench.stream, &bench.failed))
        return NULL;
    return p;
}

float bench_number(uint64_t i)
{
    return random_numbers[i % BENCH_RANDOM];
}

int bench_fill(float *out, uint64_t n, uint32_t first, struct gnn_err *e)
{
    for (uint64_t i = 0, k; i < n; i += k) {
        const uint64_t at = (first + i) % BENCH_RANDOM;
        k = BENCH_RANDOM - at < n - i ? BENCH_RANDOM - at : n - i;
        if (gnn_dev_copy(out + i, random_numbers + at, k * sizeof *out, bench.stream, e))
            return e->code;
    }
    return 0;
}

float *bench_numbers(uint64_t n, uint32_t first)
{
    float *p = bench_buffer(n * sizeof *p);
    return p && !bench_fill(p, n, first, &bench.failed) ? p : NULL;
}

void bench_release(void)
{
    struct gnn_err e = {0};
    if (gnn_dev_stream_wait(bench.stream, &e)) {
        bench.failures++;
        fprintf(stderr, "bench_gpu: %s\n", e.msg);
    }
    while (ndevice)
        gnn_dev_free(on_device[--ndevice]);
    while (nhost)
        gnn_dev_unpin(on_host[--nhost]);
    while (nheap)
        free(in_heap[--nheap]);
    bench.failed = (struct gnn_err){0};
}

/* ---- times ---- */

double bench_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *v, unsigned n)
{
    qsort(v, n, sizeof *v, ascending);
    return v[n / 2];
}

int bench_plug(unsigned times, struct gnn_err *e)
{
    const uint64_t bytes = bench.tiny ? 4 : BENCH_RANDOM * sizeof *random_numbers;
    for (unsigned i = 0; i < (bench.tiny ? 1 : times); i++)
        if (gnn_dev_copy(plug_space, random_numbers, bytes, bench.stream, e))
            return e->code;
    /* From the engine that copies to the one that computes it takes a while: not of what comes. */
    gnn_cuda_bias_act(plug_space, NULL, 1, 4, NULL, GNN_ACT_RELU, NULL, bench.stream);
    return 0;
}

int bench_start(struct gnn_err *e)
{
    return gnn_dev_event_record(from, bench.stream, e);
}

int bench_stop(double *ms, struct gnn_err *e)
{
    float f = 0;
    if (gnn_dev_event_record(to, bench.stream, e) || gnn_dev_launched("a kernel", e) ||
        gnn_dev_event_wait(to, e) || gnn_dev_event_ms(from, to, &f, e))
        return e->code;
    *ms = (double)f;
    return 0;
}

double bench_time(unsigned rounds, bench_fn *f, const void *arg, struct gnn_err *e)
{
    double ms[BENCH_ROUNDS];
    const unsigned n = bench.tiny ? 1 : rounds < BENCH_ROUNDS ? rounds : BENCH_ROUNDS;
    if (bench.failed.code) { /* what arg says is not there */
        *e = bench.failed;
        return NAN;
    }
    if (f(arg, e) || gnn_dev_launched("a kernel", e) || gnn_dev_stream_wait(bench.stream, e))
        return NAN;
    for (unsigned i = 0; i < n; i++)
        if (bench_plug(2, e) || bench_start(e) || f(arg, e) || bench_stop(&ms[i], e))
            return NAN;
    return bench_median(ms, n);
}

/* ---- what the device copies ---- */

struct copy {
    void *to;
    const void *from;
    uint64_t bytes;
};

static int copy(const void *arg, struct gnn_err *e)
{
    const struct copy *c = arg;
    return gnn_dev_copy(c->to, c->from, c->bytes, bench.stream, e);
}

enum direction { INSIDE, TO_DEVICE, TO_HOST };

/* Bytes that are copied, in GB/s: as many as the table has. */
static double copy_rate(enum direction way, struct gnn_err *e)
{
    const uint64_t bytes = (uint64_t)bench.all * BENCH_WIDTH * sizeof(float);
    void *device = NULL, *other = NULL;
    double ms = NAN;
    if (!gnn_dev_alloc(&device, bytes, "a benchmark", e) &&
        !(way == INSIDE ? gnn_dev_alloc(&other, bytes, "a benchmark", e)
                        : gnn_dev_pin(&other, bytes, "a benchmark", e)) &&
        !bench_fill(device, bytes / sizeof(float), 0, e)) {
        if (way == TO_DEVICE)
            memset(other, 0x5a, bytes);
        const struct copy c = {way == TO_DEVICE ? device : other, way == TO_DEVICE ? other : device,
                               bytes};
        const struct gnn_err kept = bench.failed;
        bench.failed = (struct gnn_err){0}; /* it has memory of its own */
        ms = bench_time(BENCH_ROUNDS, copy, &c, e);
        bench.failed = kept;
    }
    if (way == INSIDE)
        gnn_dev_free(other);
    else
        gnn_dev_unpin(other);
    gnn_dev_free(device);
    return (way == INSIDE ? 2 : 1) * (double)bytes / ms / 1e6;
}

static double limit_of(enum direction way, struct gnn_err *e)
{
    static struct {
        bool known;
        double gb;
        struct gnn_err e;
    } l[TO_HOST + 1];
    if (!l[way].known) {
        l[way].known = true;
        l[way].gb = copy_rate(way, &l[way].e);
    }
    *e = l[way].e;
    return l[way].gb;
}

double bench_device_limit(void)
{
    struct gnn_err e = {0};
    return limit_of(INSIDE, &e);
}
double bench_host_limit(void)
{
    struct gnn_err e = {0};
    return limit_of(TO_DEVICE, &e);
}

void bench_limits(void)
{
    static const char *const name[] = {"copy, device, read + write", "copy, pinned host to device",
                                       "copy, device to pinned host"};
    for (int way = INSIDE; way <= TO_HOST; way++) {
        struct gnn_err e = {0};
        const double gb = limit_of((enum direction)way, &e);
        if (e.code)
            bench_row_failed(name[way], &e);
        else
            bench_row(name[way], "%.1f GB/s | a limit", gb);
    }
}

/* ---- rows ---- */

void bench_row(const char *what, const char *fmt, ...)
{
    va_list a;
    va_start(a, fmt);
    printf("| %s | ", what);
    vprintf(fmt, a);
    printf(" |\n");
    va_end(a);
    fflush(stdout); /* what comes next may end the program */
}

void bench_row_failed(const char *what, const struct gnn_err *e)
{
    bench.failures++;
    bench_row(what, "not measured: %s |", e->msg);
}

void bench_row_absent(const char *what, const char *why)
{
    bench_row(what, "not here: %s |", why);
}

void bench_rate(const char *what, double bytes, double limit, bench_fn *f, const void *arg)
{
    struct gnn_err e = {0};
    const double ms = bench_time(BENCH_ROUNDS, f, arg, &e), gb = bytes / ms / 1e6;
    if (e.code)
        bench_row_failed(what, &e);
    else
        bench_row(what, "%.1f GB/s, %.1f us | %.1f, %.1f %%; %.4g MB, at least %.1f us", gb,
                  1000 * ms, limit, 100 * gb / limit, bytes / 1e6, bytes / limit / 1e3);
}

void bench_operation(const struct gnn_ops_cost *c, const char *shape, bench_fn *f, const void *arg)
{
    char what[160];
    snprintf(what, sizeof what, "%s: %s", c->text, shape);
    bench_rate(what, (double)c->bytes, bench_device_limit(), f, arg);
}
