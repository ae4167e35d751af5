/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling of fan-outs 15,10,5 and batches of 1024 from a store: edges per second, and the share of
 * the limit, which is one random line of memory per edge. Other rules: bench_rules.
 * Usage: bench_sample STORE [THREADS] */
#include "bench_common.h"

enum { TURNS = 4, WARM = 4, STEPS = 60 };

static double sample(struct gnn_store *s, int threads, enum gnn_frontier f)
{
    struct gnn_sampler_opts o;
    struct gnn_err e = {0};
    struct gnn_batch *b;
    bench_sampling(&o);
    o.sampling.frontier = f;
    o.threads = threads > 1 ? (unsigned)threads : 0;
    struct gnn_source *src = gnn_sampler_source_new(s, &o, &e);
    if (!src)
        bench_die(&e);
    double t = 0;
    uint64_t edges = 0;
    for (int i = 0; i < WARM + STEPS * threads; i++) {
        if (i == WARM)
            t = bench_now();
        if (gnn_source_next(src, &b, &e))
            bench_die(&e);
        for (uint32_t k = 0; i >= WARM && k < b->nhops * b->netypes; k++)
            edges += b->block[k].indptr ? b->block[k].indptr[b->block[k].n] : 0;
        gnn_batch_put(b);
    }
    t = bench_now() - t;
    gnn_source_free(src);
    return (double)edges / t / 1e6;
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    const int threads = argc > 2 ? atoi(argv[2]) : 1;
    if (argc < 2 || threads < 1) {
        fprintf(stderr, "usage: bench_sample STORE [THREADS]\n");
        return 2;
    }
    if (gnn_store_open(&s, argv[1], false, &e))
        bench_die(&e);
    const struct gnn_tensor *ind = bench_tensor(&s, "/indices");
    for (int f = 0; f < 2; f++) {
        struct bench_pair best = {0};
        for (int i = 0; i < TURNS; i++) {
            const double limit = bench_lines(ind->data, ind->shape[0] * 4, threads);
            const double rate = sample(&s, threads, f ? GNN_FRONTIER_ALL : GNN_FRONTIER_NEW);
            best.limit = limit > best.limit ? limit : best.limit;
            best.rate = rate > best.rate ? rate : best.rate;
        }
        bench_print(f ? "sample-all" : "sample-new", best, "M edges/s", threads,
                    "random lines, M/s");
    }
    gnn_store_close(&s);
    return 0;
}
