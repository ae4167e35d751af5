/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of sampling beside uniform sampling of the same fan-outs, 15,10,5 and batches of 1024, on
 * one thread: edges per second of processor time, as what other programs take does not count. Each
 * rule takes turns with uniform sampling, and the median of the turns' ratios counts. LABOR looks
 * at each neighbour: of fan-outs 10,10,10, the neighbours that it compares per second, beside a
 * loop that only computes variates of as many. Walks: steps per second, beside random lines, two
 * of which a step reads. The store has weights and times of edges, and one part.
 * Usage: bench_rules STORE [RULE...]
 * One line each: NAME RATE UNIT RATIO LIMIT OF-WHAT. */
#include <sys/mman.h>
#include <unistd.h>

#include "bench_common.h"
#include "kernels/cpu/draw.h"
#include "kernels/cpu/philox_x86.h"

enum { TURNS = 7, WARM = 3, STEPS = 6 /* of a turn */ };

struct rule {
    const char *name, *fanout, *window;
    bool weighted, timed, disjoint, induced, labor;
    uint32_t walk; /* steps */
    double p;      /* of node2vec, 0: not, with 1/p as q */
};

static const struct rule rules[] = {
    {"weighted", .fanout = "15,10,5", .weighted = true},
    {"time", .fanout = "15,10,5", .timed = true},
    {"window", .fanout = "15,10,5", .timed = true, .window = "10"},
    {"weighted-time", .fanout = "15,10,5", .timed = true, .weighted = true},
    {"disjoint", .fanout = "15,10,5", .disjoint = true},
    {"induced", .fanout = "15,10,5", .induced = true},
    {"labor", .fanout = "10,10,10", .labor = true},
    {"walks", .walk = 10},
    {"node2vec", .walk = 10, .p = 0.5},
};

static double processor_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- a run ---- */

struct world {
    struct gnn_store store;
    const struct gnn_tensor *indptr, *indices;
    uint64_t nodes;
    char window[32]; /* a tenth of all times */
};

/* Seeds with times, anywhere between the first edge and the last: the nodes are in no order. */
static int seeds_with_times(const struct world *w, bool timed)
{
    const int fd = memfd_create("seeds", 0);
    FILE *f = fd < 0 ? NULL : fdopen(dup(fd), "w");
    uint64_t x = 1;
    for (int i = 0; f && i < 1024 * (WARM + TURNS * STEPS); i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        fprintf(f, "%llu", (unsigned long long)((x >> 33) % w->nodes));
        x = x * 6364136223846793005u + 1442695040888963407u;
        if (timed)
            fprintf(f, " %llu", (unsigned long long)((x >> 20) % w->indices->shape[0]));
        fputc('\n', f);
    }
    if (!f || fclose(f) || lseek(fd, 0, SEEK_SET)) {
        perror("bench_rules: seeds");
        exit(1);
    }
    return fd;
}

struct outcome {
    double rate, nodes, edges, seconds, compared; /* the last ones of a batch */
};

/* The neighbours that a batch's destinations compare: of those that have more than k. */
static double count_compared(const struct gnn_batch *b, const uint64_t *ptr, uint32_t k)
{
    double sum = 0;
    for (uint32_t h = 0; h < b->nhops; h++) {
        const struct gnn_block *x = &b->block[h];
        for (uint32_t i = 0; x->indptr && i < x->n; i++) {
            const uint32_t v = b->type[0].node[x->first + i];
            sum += ptr[v + 1] - ptr[v] > k ? (double)(ptr[v + 1] - ptr[v]) : 0;
        }
    }
    return sum;
}

/* Of walks, steps are edges. */
static double count_edges(const struct gnn_batch *b)
{
    double sum = (double)b->steps;
    for (uint32_t k = 0; k < b->nhops * b->netypes; k++)
        sum += b->block[k].indptr ? b->block[k].indptr[b->block[k].n] : 0;
    return sum;
}

static struct gnn_source *open_source(struct world *w, const struct rule *r)
{
    struct gnn_sampler_opts o;
    struct gnn_err e = {0};
    gnn_sampler_opts_init(&o);
    o.fanout = &r->fanout;
    o.nfanout = r->fanout != NULL;
    o.seeds_name = "seeds";
    o.seeds_fd = seeds_with_times(w, r->timed);
    o.sampling.weight = r->weighted ? "weight" : NULL;
    o.sampling.time_rule = r->timed ? GNN_PICK_UNTIL : GNN_PICK_ANY_TIME;
    o.sampling.window = r->window ? w->window : NULL;
    o.sampling.disjoint = r->disjoint;
    o.sampling.induced = r->induced;
    o.sampling.labor = r->labor;
    if (r->walk)
        o.sampling.walks = (struct gnn_walks){.length = r->walk,
                                              .per_seed = 1,
                                              .p = r->p > 0 ? r->p : 1,
                                              .q = r->p > 0 ? 1 / r->p : 1};
    struct gnn_source *s = gnn_sampler_source_new(&w->store, &o, &e);
    if (!s)
        bench_die(&e);
    return s;
}

/* The next n batches. */
static struct outcome take_turn(struct world *w, const struct rule *r, struct gnn_source *src,
                                int n)
{
    struct gnn_err e = {0};
    struct gnn_batch *b;
    struct outcome x = {0};
    for (int i = 0; i < n; i++) {
        const double t = processor_now();
        if (gnn_source_next(src, &b, &e))
            bench_die(&e);
        x.seconds += processor_now() - t;
        x.edges += count_edges(b);
        x.nodes += (double)b->type[0].count[b->nhops];
        x.compared += r->labor ? count_compared(b, w->indptr->data, 10) : 0;
        gnn_batch_put(b);
    }
    x.rate = x.edges / x.seconds / 1e6;
    x.nodes /= n, x.edges /= n, x.seconds /= n, x.compared /= n;
    return x;
}

/* ---- limits ---- */

enum { LANES = GNN_DRAW_LANES, CHUNK = 512 };

/* Two words of Philox for each of CHUNK ids, as fast as this can be done. */
#ifdef __x86_64__
GNN_AVX512 static void draw_chunk_avx512(const uint32_t key[2], const uint32_t *id, uint32_t *word)
{
    const struct gnn_philox_keys keys = gnn_philox_keys_of(key);
    for (uint32_t i = 0; i < CHUNK; i += LANES) {
        struct gnn_half e, o;
        gnn_philox_avx512(&keys, _mm512_load_si512(id + i), _mm512_setzero_si512(), 0, 0, &e, &o);
        _mm512_store_si512(word + i, gnn_philox_join(e.c0, o.c0));
        _mm512_store_si512(word + CHUNK + i, gnn_philox_join(e.c1, o.c1));
    }
}
GNN_AVX2 static void draw_chunk_avx2(const uint32_t key[2], const uint32_t *id, uint32_t *word)
{
    const struct gnn_philox_keys keys = gnn_philox_keys_of(key);
    for (uint32_t i = 0; i < CHUNK; i += LANES / 2) {
        struct gnn_quarter e, o;
        gnn_philox_avx2(&keys, _mm256_load_si256((const __m256i *)(const void *)(id + i)),
                        _mm256_setzero_si256(), 0, 0, &e, &o);
        _mm256_store_si256((__m256i *)(void *)(word + i), gnn_philox_join_avx2(e.c0, o.c0));
        _mm256_store_si256((__m256i *)(void *)(word + CHUNK + i), gnn_philox_join_avx2(e.c1, o.c1));
    }
}
#endif

static void draw_chunk(const uint32_t key[2], const uint32_t *id, uint32_t *word)
{
    static const uint32_t zero[LANES] __attribute__((aligned(64)));
#ifdef __x86_64__
    if (gnn_isa_best() == GNN_ISA_AVX512) {
        draw_chunk_avx512(key, id, word);
        return;
    }
    if (gnn_isa_best() == GNN_ISA_AVX2) {
        draw_chunk_avx2(key, id, word);
        return;
    }
#endif
    for (uint32_t i = 0; i < CHUNK; i += LANES)
        gnn_draw16_words(key, id + i, zero, 0, 0, word);
}

/* Variates per second, of ids in a row; millions. */
static double bare_variates(const struct gnn_tensor *ids)
{
    enum { N = 1 << 24 };
    static uint32_t id[CHUNK] __attribute__((aligned(64))),
        word[2 * CHUNK] __attribute__((aligned(64)));
    const uint32_t *all = ids->data, key[2] = {1, 2};
    uint64_t n = 0;
    const double t = processor_now();
    for (uint64_t i = 0; n < N; i = i + 2 * CHUNK < ids->shape[0] ? i + CHUNK : 0, n += CHUNK) {
        memcpy(id, all + i, sizeof id);
        draw_chunk(key, id, word);
    }
    return (double)n / (processor_now() - t) / 1e6;
}

/* ---- turns ---- */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median_of(double *x)
{
    qsort(x, TURNS, sizeof *x, compare_doubles);
    return x[TURNS / 2];
}

static void bench_rule(struct world *w, const struct rule *r)
{
    const struct rule plain = {"uniform", .fanout = r->fanout};
    struct gnn_source *of = open_source(w, r), *uniform = r->walk ? NULL : open_source(w, &plain);
    double rate[TURNS], limit[TURNS], ratio[TURNS];
    struct outcome x = {0}, u = {0}; /* the fastest turns */
    (void)take_turn(w, r, of, WARM);
    if (uniform)
        (void)take_turn(w, &plain, uniform, WARM);
    for (int i = 0; i < TURNS; i++) {
        const struct outcome other =
            uniform ? take_turn(w, &plain, uniform, STEPS) : (struct outcome){0};
        limit[i] =
            r->walk
                ? bench_lines_by(processor_now, w->indices->data, w->indices->shape[0] * 4, 1) / 2
            : r->labor ? bare_variates(w->indices)
                       : other.rate;
        const struct outcome own = take_turn(w, r, of, STEPS);
        rate[i] = r->labor ? own.compared / own.seconds / 1e6 : own.rate;
        ratio[i] = rate[i] / limit[i];
        x = !i || own.rate > x.rate ? own : x;
        u = !i || other.rate > u.rate ? other : u;
    }
    gnn_source_free(of);
    gnn_source_free(uniform);
    printf("%-14s %8.2f %-14s %5.2f %8.2f %s\n", r->name, median_of(rate),
           r->labor  ? "M neighbours/s"
           : r->walk ? "M steps/s"
                     : "M edges/s",
           median_of(ratio), median_of(limit),
           r->labor  ? "M variates/s"
           : r->walk ? "M pairs of random lines/s"
                     : "M edges/s of uniform sampling");
    printf("# the best batches: %.0f nodes, %.0f edges, %.2f ms", x.nodes, x.edges,
           1e3 * x.seconds);
    if (!r->walk)
        printf("; of uniform sampling %.0f, %.0f, %.2f ms", u.nodes, u.edges, 1e3 * u.seconds);
    puts("");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct world w = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_rules STORE [RULE...]\n");
        return 2;
    }
    if (gnn_store_open(&w.store, argv[1], false, &e))
        bench_die(&e);
    w.indptr = bench_tensor(&w.store, "/indptr");
    w.indices = bench_tensor(&w.store, "/indices");
    w.nodes = w.store.meta.schema.ntype[0].count;
    snprintf(w.window, sizeof w.window, "%llu", (unsigned long long)w.indices->shape[0] / 10);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool asked = argc == 2;
        for (int k = 2; k < argc; k++)
            asked = asked || !strcmp(argv[k], rules[i].name);
        if (asked)
            bench_rule(&w, &rules[i]);
    }
    gnn_store_close(&w.store);
    return 0;
}
