/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks of one stage share: time, the store, the limits of memory measured on the
 * store's own pages. */
#ifndef GNN_TESTS_BENCH_BENCH_COMMON_H
#define GNN_TESTS_BENCH_BENCH_COMMON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/sample/sampler.h"
#include "lib/store/store.h"

static double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static _Noreturn void bench_die(const struct gnn_err *e)
{
    fprintf(stderr, "bench: %s\n", e->msg);
    exit(1);
}

/* How the benchmarks sample: fan-outs 15, 10, 5, each node's neighbours drawn once, and epochs that
 * do not run out. */
__attribute__((unused)) static void bench_sampling(struct gnn_sampler_opts *o)
{
    static const char *const fan[] = {"15,10,5"};
    gnn_sampler_opts_init(o);
    o->fanout = fan;
    o->nfanout = 1;
    o->sampling.frontier = GNN_FRONTIER_NEW;
    o->epoch_to = 1000;
}

/* The largest tensor of the store whose name ends so, in one part. */
__attribute__((unused)) static const struct gnn_tensor *bench_tensor(struct gnn_store *s,
                                                                     const char *end)
{
    const struct gnn_tensor *best = NULL;
    for (uint32_t i = 0; i < gnn_store_ntensors(s, 0); i++) {
        const struct gnn_tensor *t = gnn_store_peek(s, 0, i);
        const size_t n = strlen(t->name), m = strlen(end);
        if (n > m && !strcmp(t->name + n - m, end) && (!best || t->shape[0] > best->shape[0]))
            best = t;
    }
    if (!best) {
        fprintf(stderr, "bench: the store has no tensor .../%s\n", end);
        exit(1);
    }
    return best;
}

/* Independent random lines per second and thread, in M/s, within `bytes` at p, by the clock `now`.
 */
static double bench_lines_by(double (*now)(void), const char *p, size_t bytes, int threads)
{
    enum { N = 1 << 20, AHEAD = 32 };
    const size_t lines = bytes / 64;
    double t = now();
    uint64_t sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        uint64_t a = 88172645463325252u + 64 * (uint64_t)threads, b;
        a ^= (uint64_t)(uintptr_t)&a;
        b = a;
        for (int i = 0; i < N + AHEAD; i++) { /* b repeats the numbers of a, AHEAD steps later */
            a = a * 6364136223846793005u + 1442695040888963407u;
            __builtin_prefetch(p + (a >> 33) % lines * 64, 0, 2);
            if (i >= AHEAD) {
                b = b * 6364136223846793005u + 1442695040888963407u;
                sum += (unsigned char)p[(b >> 33) % lines * 64];
            }
        }
    }
    t = now() - t;
    if (sum == 1)
        puts("");
    return (double)threads * N / t / 1e6;
}

__attribute__((unused)) static double bench_lines(const char *p, size_t bytes, int threads)
{
    return bench_lines_by(bench_now, p, bytes, threads);
}

/* Sequential reading in GB/s, of at most 512 MB at p. */
__attribute__((unused)) static double bench_stream(const char *p, size_t bytes, int threads)
{
    const uint64_t *w = (const uint64_t *)(const void *)p;
    const size_t n = (bytes < (size_t)512 << 20 ? bytes : (size_t)512 << 20) / 8;
    uint64_t sum = 0;
    double t = bench_now();
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += w[i];
    t = bench_now() - t;
    if (sum == 1)
        puts("");
    return (double)n * 8 / t / 1e9;
}

/* Limit and stage take turns, so that a change in the machine's mood meets both; the best turn of
 * each counts. */
struct bench_pair {
    double rate, limit;
};
__attribute__((unused)) static void bench_print(const char *name, struct bench_pair b,
                                                const char *unit, int threads, const char *of)
{
    printf("%-16s %8.2f %-10s %d  %5.1f %% of %.1f (%s)\n", name, b.rate, unit, threads,
           100 * b.rate / b.limit, b.limit, of);
    fflush(stdout);
}

#endif
