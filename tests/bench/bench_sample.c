/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling of fan-outs 15,10,5 and batches of 1024 from a store: edges per second, and the share of
 * the limit, which is one random line of memory per edge; of other rules, the share of uniform
 * sampling in the same run. LABOR looks at each neighbour: of fan-outs 10,10,10, the neighbours
 * that it compares per second, as a share of a loop that only computes variates of as many, and
 * the nodes of a batch beside uniform sampling's. Usage: bench_sample STORE [THREADS] */
#include "bench_common.h"
#include "kernels/cpu/draw.h"

enum { TURNS = 4, WARM = 4, STEPS = 60 };

static double sample(struct gnn_store *s, int threads, enum gnn_frontier f, const char *weight,
                     bool disjoint)
{
    struct gnn_sampler_opts o;
    struct gnn_err e = {0};
    struct gnn_batch *b;
    bench_sampling(&o);
    o.frontier = f;
    o.weight = weight;
    o.disjoint = disjoint;
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

/* ---- LABOR ---- */

/* Of all threads: what other programs take does not count. */
static double processor_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct labor {
    double seconds, compared, edges, nodes; /* of the batches */
};

/* The neighbours that a batch's destinations compare: of those that have more than k. */
static double compared(const struct gnn_batch *b, const struct gnn_tensor *indptr, uint32_t k)
{
    const uint64_t *ptr = indptr->data;
    double sum = 0;
    for (uint32_t h = 0; h < b->nhops; h++) {
        const struct gnn_block *x = &b->block[h];
        for (uint32_t i = 0; x->indptr && i < x->n; i++) {
            const uint32_t v = b->type[0].node[x->first + i];
            const uint64_t d = ptr[v + 1] - ptr[v];
            sum += d > k ? (double)d : 0;
        }
    }
    return sum;
}

static struct labor sample_labor(struct gnn_store *s, int threads, enum gnn_pick_kind kind,
                                 const struct gnn_tensor *indptr)
{
    static const char *const fan[] = {"10,10,10"};
    struct gnn_sampler_opts o;
    struct gnn_err e = {0};
    struct gnn_batch *b;
    struct labor x = {0};
    bench_sampling(&o);
    o.fanout = fan;
    o.rule.kind = kind;
    o.threads = threads > 1 ? (unsigned)threads : 0;
    struct gnn_source *src = gnn_sampler_source_new(s, &o, &e);
    if (!src)
        bench_die(&e);
    for (int i = 0; i < WARM + STEPS * threads; i++) {
        const double t = processor_now();
        if (gnn_source_next(src, &b, &e))
            bench_die(&e);
        if (i >= WARM) {
            x.seconds += processor_now() - t;
            x.compared += compared(b, indptr, 10) / STEPS / threads;
            x.nodes += (double)b->type[0].count[b->nhops] / STEPS / threads;
            for (uint32_t h = 0; h < b->nhops; h++)
                x.edges += (double)b->block[h].edges / STEPS / threads;
        }
        gnn_batch_put(b);
    }
    x.seconds /= STEPS * threads;
    gnn_source_free(src);
    return x;
}

/* Variates per second, of ids in a row; millions. */
static double bare_variates(const struct gnn_tensor *ids)
{
    enum { CHUNK = 512, N = 1 << 24 };
    static uint32_t id[CHUNK] __attribute__((aligned(64))), w0[CHUNK] __attribute__((aligned(64))),
        w1[CHUNK] __attribute__((aligned(64)));
    const uint32_t *all = ids->data, key[2] = {1, 2};
    uint64_t n = 0;
    const double t = processor_now();
    for (uint64_t i = 0; n < N; i = i + 2 * CHUNK < ids->shape[0] ? i + CHUNK : 0, n += CHUNK) {
        memcpy(id, all + i, sizeof id);
        gnn_draw_pairs(key, id, CHUNK, w0, w1);
    }
    return (double)n / (processor_now() - t) / 1e6;
}

static void bench_labor(struct gnn_store *s, int threads)
{
    const struct gnn_tensor *ptr = bench_tensor(s, "/indptr"), *ind = bench_tensor(s, "/indices");
    struct bench_pair best = {0};
    struct labor one = {0}, plain = {0};
    for (int i = 0; i < TURNS && ind->shape[0] > 1024; i++) {
        const double bare = bare_variates(ind);
        one = sample_labor(s, threads, GNN_PICK_LABOR, ptr);
        plain = sample_labor(s, threads, GNN_PICK_UNIFORM, ptr);
        const double rate = one.compared / one.seconds / 1e6;
        best.limit = bare > best.limit ? bare : best.limit;
        best.rate = rate > best.rate ? rate : best.rate;
    }
    bench_print("sample-labor", best, "M neighbours/s", threads, "variates alone, M/s");
    printf("# a batch of 10,10,10: %.0f nodes, %.0f edges, %.2f ms; uniform %.0f, %.0f, %.2f ms\n",
           one.nodes, one.edges, 1e3 * one.seconds, plain.nodes, plain.edges, 1e3 * plain.seconds);
}

static bool has_weights(const struct gnn_store *s)
{
    const struct gnn_etype *t = s->meta.schema.etype;
    return gnn_field_find(t->field, t->nfields, "weight") != NULL;
}

/* Another rule and uniform sampling, in turn. */
static void compare(struct gnn_store *s, int threads, const char *name, const char *weight,
                    bool disjoint)
{
    struct bench_pair best = {0};
    for (int i = 0; i < TURNS; i++) {
        const double plain = sample(s, threads, GNN_FRONTIER_ALL, NULL, false),
                     rate = sample(s, threads, GNN_FRONTIER_ALL, weight, disjoint);
        best.limit = plain > best.limit ? plain : best.limit;
        best.rate = rate > best.rate ? rate : best.rate;
    }
    bench_print(name, best, "M edges/s", threads, "uniform, M edges/s");
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
            const double rate =
                sample(&s, threads, f ? GNN_FRONTIER_ALL : GNN_FRONTIER_NEW, NULL, false);
            best.limit = limit > best.limit ? limit : best.limit;
            best.rate = rate > best.rate ? rate : best.rate;
        }
        bench_print(f ? "sample-all" : "sample-new", best, "M edges/s", threads,
                    "random lines, M/s");
    }
    if (has_weights(&s))
        compare(&s, threads, "sample-weighted", "weight", false);
    compare(&s, threads, "sample-disjoint", NULL, true);
    if (s.nparts == 1 && s.meta.schema.netypes == 1)
        bench_labor(&s, threads);
    gnn_store_close(&s);
    return 0;
}
