/* SPDX-License-Identifier: Apache-2.0 */
/* LABOR: the kernel against a plain reference, the law of one destination's picks, and what two
 * destinations have in common. Seeds are fixed, so a pass is a pass. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/labor_picks.h"
#include "kernels/labor.h"
#include "kernels/sample.h"

#include "chi.h"
#include "sample_ref.h"
#include "tap.h"

enum { DST = 64, SMALL = 8 };

/* DST destinations of d neighbours each, in one part; sources are the caller's. */
struct bench {
    struct gnn_sample_part part;
    struct gnn_sample_graph graph;
    struct gnn_sample_row row[DST];
    uint64_t ptr[DST + 1], *ids;
    uint32_t *src, dst[DST], indptr[DST + 1], *out, d, rows;
    struct gnn_pick_rule rule;
    void *scratch;
};

static void bench_init(struct bench *b, uint32_t rows, uint32_t d, int32_t k, uint64_t nsrc,
                       const uint32_t *orig)
{
    const size_t most = (size_t)rows * d;
    *b = (struct bench){.d = d,
                        .rows = rows,
                        .src = malloc((most + 1) * sizeof *b->src),
                        .out = malloc((most + 1) * sizeof *b->out),
                        .ids = malloc((most + 1) * sizeof *b->ids),
                        .rule = {.kind = GNN_PICK_LABOR, .fanout = k}};
    for (uint32_t i = 0; i < rows; i++) {
        b->ptr[i + 1] = (uint64_t)d * (i + 1);
        b->dst[i] = i;
    }
    for (size_t i = 0; i < most; i++)
        b->src[i] = (uint32_t)(i % nsrc);
    b->part = (struct gnn_sample_part){
        .count = rows, .indptr = b->ptr, .indices = b->src, .nedges = most};
    b->graph = (struct gnn_sample_graph){&b->part, 1, nsrc, orig};
    b->scratch = aligned_alloc(64, gnn_sample_scratch(b->rule));
}

static void bench_free(struct bench *b)
{
    free(b->scratch);
    free(b->ids);
    free(b->out);
    free(b->src);
}

/* One block of all destinations; ids are the positions of edges. */
static enum gnn_sample_status bench_draw(struct bench *b, uint32_t seed,
                                         struct gnn_sample_place *bad)
{
    uint32_t key[2];
    const struct gnn_sample_job job = {.graph = b->graph,
                                       .dst = {.node = b->dst},
                                       .n = b->rows,
                                       .rule = b->rule,
                                       .key = key,
                                       .indptr = b->indptr,
                                       .scratch = b->scratch,
                                       .row = b->row};
    gnn_rng_key(29, seed, 0, 0, 0, key);
    const enum gnn_sample_status st = gnn_sample_count(&job, bad);
    return st ? st : gnn_sample_pick(&job, NULL, b->out, b->ids, bad);
}

/* ---- the kernel and the reference ---- */

struct sorted {
    uint64_t v;
    uint32_t at;
};

static int compare_sorted(const void *x, const void *y)
{
    const struct sorted *a = x, *b = y;
    return a->v != b->v ? (a->v < b->v ? -1 : 1) : (a->at > b->at) - (a->at < b->at);
}

static int compare_u32(const void *x, const void *y)
{
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

/* Positions, by sorting all variates. */
static uint32_t plain(const struct bench *b, const uint32_t key[2], uint32_t row, uint32_t *x)
{
    const uint32_t d = b->d, k = (uint32_t)b->rule.fanout;
    struct sorted *s = malloc(d * sizeof *s);
    for (uint32_t i = 0; i < d; i++) {
        const uint32_t v = b->src[b->ptr[row] + i];
        s[i] = (struct sorted){gnn_labor_of(key, b->graph.orig, b->graph.nsrc, v), i};
    }
    qsort(s, d, sizeof *s, compare_sorted);
    const uint32_t n = b->rule.fanout < 0 || d < k ? d : k;
    for (uint32_t i = 0; i < n; i++)
        x[i] = s[i].at;
    qsort(x, n, sizeof *x, compare_u32);
    free(s);
    return n;
}

static bool equals_reference(uint32_t d, int32_t k, uint64_t nsrc, const uint32_t *orig)
{
    const uint32_t rows = d > 1000 ? 5 : 37, seed = d + (uint32_t)k;
    struct gnn_sample_place bad;
    uint32_t key[2], *x = malloc((d + 1) * sizeof *x);
    struct bench b;
    bench_init(&b, rows, d, k, nsrc, orig);
    bool same = !bench_draw(&b, seed, &bad);
    gnn_rng_key(29, seed, 0, 0, 0, key);
    for (uint32_t i = 0; same && i < rows; i++) {
        const uint32_t n = plain(&b, key, i, x), *out = b.out + b.indptr[i];
        same = b.indptr[i + 1] - b.indptr[i] == n;
        for (uint32_t j = 0; same && j < n; j++)
            same = b.ids[b.indptr[i] + j] == b.ptr[i] + x[j] && out[j] == b.src[b.ptr[i] + x[j]];
    }
    bench_free(&b);
    free(x);
    return same;
}

static void reference(void)
{
    static const uint32_t degrees[] = {1,  2,  3,   7,   16,  17,   40,  63,
                                       64, 65, 150, 511, 513, 1100, 9000};
    static const int32_t fanouts[] = {0,  1,  2,   5,    10,   15,   25, 63,
                                      64, 65, 130, 1024, 1025, 3000, -1};
    static const uint64_t sources[] = {1 << 20, 12, 1};
    static const char *const what[] = {"sources that differ", "twelve sources", "one source"};
    uint32_t *orig = malloc((1 << 20) * sizeof *orig);
    for (uint32_t i = 0; i < 1 << 20; i++)
        orig[i] = (i * 2654435761u + 12345) >> 3;
    for (unsigned s = 0; s < 3; s++)
        for (unsigned mapped = 0; mapped < 2; mapped++) {
            bool same = true;
            for (size_t i = 0; same && i < sizeof degrees / sizeof *degrees; i++)
                for (size_t j = 0; same && j < sizeof fanouts / sizeof *fanouts; j++) {
                    same =
                        equals_reference(degrees[i], fanouts[j], sources[s], mapped ? orig : NULL);
                    if (!same)
                        printf("# degree %u, fan-out %d\n", degrees[i], fanouts[j]);
                }
            ok(same, "gnn_sample_pick takes the smallest variates of %s%s", what[s],
               mapped ? " with original ids" : "");
        }
    free(orig);
}

/* Instructions of all levels pick the same. */
static void levels(void)
{
    enum { ROWS = 16, MOST = 700, K = 40 };
    static uint32_t source[ROWS * MOST], orig[1 << 16], a[ROWS * K], b[ROWS * K];
    static const uint32_t fanouts[] = {1, 7, 16, K};
    const uint32_t key[2] = {0x12345678, 0x9abcdef0};
    bool same = true;
    for (uint32_t i = 0; i < 1 << 16; i++)
        orig[i] = i * 0x9E3779B1u;
    for (uint32_t i = 0; i < ROWS * MOST; i++)
        source[i] = i * 2654435761u >> 16;
    source[3 * MOST + 5] = source[9 * MOST + 40] = UINT32_MAX; /* no sources */
    for (unsigned mapped = 0; mapped < 2; mapped++)
        for (size_t f = 0; f < sizeof fanouts / sizeof *fanouts; f++) {
            const uint32_t k = fanouts[f];
            const struct gnn_sample_graph g = {.nsrc = 1 << 16, .orig = mapped ? orig : NULL};
            struct gnn_labor_row row[ROWS];
            void *scratch = aligned_alloc(64, (gnn_labor_scratch(k) + 63) / 64 * 64);
            for (uint32_t l = 0; l < ROWS; l++)
                row[l] = (struct gnn_labor_row){source + (size_t)l * MOST, k + 1 + l * l * 2, {0}};
            gnn_labor_pick(&g, k, key, row, ROWS, scratch, a);
            for (enum gnn_isa isa = GNN_ISA_PORTABLE; isa <= gnn_isa_best(); isa++) {
                gnn_labor_pick_on(isa, &g, k, key, row, ROWS, scratch, b);
                same = same && !memcmp(a, b, (size_t)ROWS * k * sizeof *a);
            }
            free(scratch);
        }
    ok(same, "instructions of each level pick the same");
}

/* What is no source is found wherever it is. */
static void damage(void)
{
    static const int32_t fanouts[] = {1, 5, 64, 100, 2000};
    uint32_t orig[100];
    bool found = true;
    for (uint32_t i = 0; i < 100; i++)
        orig[i] = 99 - i;
    for (unsigned t = 0; t < 20; t++) {
        struct gnn_sample_place bad = {0};
        struct bench b;
        bench_init(&b, 20, 2100, fanouts[t % 5], 100, t % 2 ? orig : NULL);
        const uint32_t at = 2100 * (3 + t % 4) + t * 101 % 2100;
        b.src[at] = t % 3 ? 100 : UINT32_MAX;
        b.src[at + 2100] = 200;
        found = found && bench_draw(&b, t, &bad) == GNN_SAMPLE_SOURCE && bad.edge == at &&
                bad.node == at / 2100;
        bench_free(&b);
    }
    ok(found, "gnn_sample_pick finds a source that there is not among those that it compares");
}

/* ---- laws ---- */

/* Whole sets of k of d <= 8 neighbours, which no two destinations have in common. */
static void sets(uint32_t d, int32_t k)
{
    enum { ROUNDS = 16000 };
    static uint64_t count[1 << SMALL];
    struct gnn_sample_place bad;
    struct chi c = {0};
    struct bench b;
    bool good = true;
    double n = 0;
    memset(count, 0, sizeof count);
    bench_init(&b, DST, d, k, DST * (uint64_t)d, NULL);
    for (uint32_t t = 0; good && t < ROUNDS; t++) {
        good = !bench_draw(&b, t, &bad);
        for (uint32_t i = 0; good && i < DST; i++) {
            unsigned set = 0;
            for (uint32_t j = b.indptr[i]; j < b.indptr[i + 1]; j++)
                set |= 1u << (b.ids[j] - b.ptr[i]);
            count[set]++;
        }
    }
    for (unsigned set = 0; set < 1u << d; set++)
        n += __builtin_popcount(set) == k;
    for (unsigned set = 0; set < 1u << d; set++)
        if (__builtin_popcount(set) == k)
            chi_add(&c, (double)count[set], (double)ROUNDS * DST / n);
        else
            good = good && !count[set];
    ok(good && chi_pass(&c), "each set of %d of %u neighbours is equally likely (z %.2f, %u cells)",
       (int)k, d, chi_z(&c), c.cells);
    bench_free(&b);
}

/* Each of d neighbours is taken with k / d, counted by where it is in the row. */
static void inclusion(uint32_t d, int32_t k, uint32_t rounds)
{
    const uint32_t cells = d < 200 ? d : 200, rows = d > 10000 ? 4 : DST;
    struct gnn_sample_place bad;
    struct chi c = {0};
    struct bench b;
    bool good = true;
    uint64_t count[200] = {0};
    bench_init(&b, rows, d, k, (uint64_t)rows * d, NULL);
    for (uint32_t t = 0; good && t < rounds; t++) {
        good = !bench_draw(&b, t, &bad);
        for (uint32_t i = 0; good && i < rows; i++)
            for (uint32_t j = b.indptr[i]; j < b.indptr[i + 1]; j++)
                count[(b.ids[j] - b.ptr[i]) * cells / d]++;
    }
    for (uint32_t i = 0; i < cells; i++)
        chi_add(&c, (double)count[i], (double)rounds * rows * k / cells);
    ok(good && chi_pass(&c), "each of %u neighbours is among the %d with %d/%u (z %.2f)", d, (int)k,
       (int)k, d, chi_z(&c));
    bench_free(&b);
}

static double binomial(uint32_t n, uint32_t m, double u)
{
    return exp(lgamma(n + 1.0) - lgamma(m + 1.0) - lgamma(n - m + 1.0) + m * log(u) +
               (n - m) * log1p(-u));
}

/* How many picks two destinations of d neighbours share that have m in common. One of these is
 * taken by both if, of the variates below its own, u, fewer than k belong to each of them: y of the
 * others in common, and of each one's own fewer than k - y. */
static double expected_common(uint32_t d, uint32_t m, uint32_t k)
{
    enum { STEPS = 4000 };
    double sum = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        const double u = (step + 0.5) / STEPS;
        for (uint32_t y = 0; y < k && y < m; y++) {
            double few = 0;
            for (uint32_t x = 0; x < k - y && x <= d - m; x++)
                few += binomial(d - m, x, u);
            sum += binomial(m - 1, y, u) * few * few / STEPS;
        }
    }
    return m * sum;
}

static void overlap(uint32_t d, uint32_t m, uint32_t k)
{
    enum { ROUNDS = 20000 };
    struct gnn_sample_place bad;
    struct bench b;
    double seen = 0, squares = 0;
    bool good = true;
    bench_init(&b, 2, d, (int32_t)k, 2 * (uint64_t)d, NULL);
    for (uint32_t i = 0; i < d; i++)
        b.src[d + i] = d - m + i;
    for (uint32_t t = 0; good && t < ROUNDS; t++) {
        uint32_t same = 0;
        good = !bench_draw(&b, t, &bad);
        for (uint32_t i = 0; good && i < k; i++)
            for (uint32_t j = k; j < 2 * k; j++)
                same += b.out[i] == b.out[j];
        seen += same;
        squares += (double)same * same;
    }
    const double mean = seen / ROUNDS, want = expected_common(d, m, k),
                 sd = sqrt((squares / ROUNDS - mean * mean) / ROUNDS) + 1e-9;
    ok(good && (m == d ? mean == k : fabs(mean - want) < 4.5 * sd),
       "two destinations of %u neighbours, %u in common, share %.3f of %u picks, and %.3f expected "
       "(independent ones %.3f)",
       d, m, mean, k, want, (double)m * k / d * k / d);
    bench_free(&b);
}

int main(void)
{
    levels();
    reference();
    damage();
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ /* plain builds test all laws */
    sets(5, 2);
    inclusion(1000, 15, 30);
    overlap(40, 20, 10);
    return tap_done();
#endif
    for (int32_t k = 1; k < SMALL; k += 2)
        sets(SMALL, k);
    sets(5, 2);
    sets(6, 4);
    inclusion(100, 10, 2000);
    inclusion(1000, 15, 300);
    inclusion(10000, 200, 20);
    inclusion(100000, 15, 300);
    inclusion(100000, 1000, 10);
    overlap(40, 40, 10);
    overlap(40, 20, 10);
    overlap(100, 30, 5);
    overlap(12, 3, 11);
    return tap_done();
}
