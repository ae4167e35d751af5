/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted picks: the kernel against a plain reference, and its law against that of successive
 * sampling. Seeds are fixed, so a pass is a pass. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sample.h"

#include "chi.h"
#include "inclusion.h"
#include "sample_ref.h"
#include "tap.h"

enum { DST = 64, SMALL = 8 };

/* A choice of the rounds of laws, unless the tier is wider. */
static uint32_t rounds_of(uint32_t all)
{
    return tap_wide() ? all : all / 4 + 1;
}

/* DST destinations, each a part of its own, that share one adjacency: neighbour i is node i. */
struct bench {
    struct gnn_sample_part part[DST];
    struct gnn_sample_row row[DST];
    struct gnn_sample_span span[DST];
    uint64_t ptr[2], *sum;
    int16_t *high;
    uint32_t *src, *positive, dst[DST], indptr[DST + 1], *out, d;
    uint64_t *ids;
    struct gnn_pick_rule rule;
    void *scratch;
};

static void bench_init(struct bench *b, const uint64_t *w, uint32_t d, int32_t k, bool replace)
{
    const uint32_t most = k < 0 ? d : (uint32_t)k;
    *b = (struct bench){.d = d,
                        .ptr = {0, d},
                        .sum = malloc((d + 1) * sizeof *b->sum),
                        .src = malloc((d + 1) * sizeof *b->src),
                        .positive = malloc((d + 1) * sizeof *b->positive),
                        .high = aligned_alloc(64, (d + 2 * GNN_PICK_WINDOW) / 32 * 64),
                        .out = malloc((size_t)DST * most * sizeof *b->out),
                        .ids = malloc((size_t)DST * most * sizeof *b->ids),
                        .rule = {replace ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM, k, true}};
    uint64_t sum = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < d; i++) {
        b->src[i] = i;
        b->sum[i] = sum += w[i];
        b->high[i] = gnn_weight_high(sum);
        b->positive[i] = n += w[i] > 0;
    }
    const struct gnn_pick_edges pick = {
        .sum = b->sum, .positive = n < d ? b->positive : NULL, .high = b->high};
    for (uint32_t i = 0; i < DST; i++) {
        b->part[i] = (struct gnn_sample_part){
            .first = i, .count = 1, .indptr = b->ptr, .indices = b->src, .nedges = d, .pick = pick};
        b->dst[i] = i;
    }
    b->scratch = aligned_alloc(64, gnn_sample_scratch(b->rule));
}

static void bench_free(struct bench *b)
{
    free(b->scratch);
    free(b->ids);
    free(b->out);
    free(b->positive);
    free(b->high);
    free(b->src);
    free(b->sum);
}

/* One block of all destinations; positions are the sources' ids. */
static bool bench_draw(struct bench *b, uint32_t seed)
{
    uint32_t key[2];
    struct gnn_sample_place bad;
    const struct gnn_sample_job job = {
        {b->part, DST, b->d}, {.node = b->dst}, DST,    b->rule, key, b->indptr,
        b->scratch,           b->row,           b->span};
    gnn_rng_key(23, seed, 0, 0, 0, key);
    return !gnn_sample_count(&job, &bad) && !gnn_sample_pick(&job, NULL, b->out, b->ids, &bad);
}

/* ---- the kernel and the reference ---- */

/* both: without the tops of the sums, too. */
static bool equals_reference(const uint64_t *w, uint32_t d, int32_t k, bool replace, uint32_t seed,
                             bool both)
{
    struct bench b[2];
    uint32_t key[2], *x = malloc((d + (uint32_t)(k > 0 ? k : 0) + 1) * sizeof *x);
    const int n = both ? 2 : 1;
    bool same = true;
    for (int t = 0; t < n; t++) {
        bench_init(&b[t], w, d, k, replace);
        for (uint32_t i = 0; t && i < DST; i++)
            b[t].part[i].pick.high = NULL;
        same = bench_draw(&b[t], seed) && same;
    }
    gnn_rng_key(23, seed, 0, 0, 0, key);
    for (uint32_t i = 0; same && i < DST; i++) {
        const uint32_t many = ref_pick_weighted(key, i, w, d, k, replace, x);
        for (int t = 0; same && t < n; t++) {
            const uint32_t at = b[t].indptr[i];
            same = b[t].indptr[i + 1] - at == many && !memcmp(b[t].out + at, x, many * sizeof *x);
            for (uint32_t j = 0; same && j < many; j++)
                same = b[t].ids[at + j] == x[j];
        }
    }
    for (int t = 0; t < n; t++)
        bench_free(&b[t]);
    free(x);
    return same;
}

enum shape { EVEN, NOISE, STEEP, ONE, HOLES, NONE };
static const char *const shapes[] = {"equal",           "random",         "steeply falling",
                                     "one outweighing", "half of them 0", "all 0"};

static void make_weights(enum shape s, uint32_t d, uint64_t *w)
{
    uint64_t state = d + 1;
    for (uint32_t i = 0; i < d; i++) {
        const uint64_t noise = toy_rand(&state);
        w[i] = s == EVEN    ? 3
               : s == NOISE ? 1 + noise % 1000
               : s == STEEP ? UINT64_C(1) << (d - i < 40 ? d - i : 40)
               : s == ONE   ? (i == d / 2 ? UINT64_C(1) << 56 : 1)
               : s == HOLES ? (noise & 1) * (1 + noise % 7)
                            : 0;
    }
}

/* Such that their sum has the bits of a store's (lib/store/sums.h). */
static void scale_weights(uint32_t d, uint64_t *w)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < d; i++)
        sum += w[i];
    const unsigned top = sum ? 63 - (unsigned)__builtin_clzll(sum) : 63;
    for (uint32_t i = 0; top < 55 && i < d; i++)
        w[i] <<= 55 - top;
}

/* Rows of 1100 take most of the time: sanitizers leave them out, and most laws; `make check` does
 * where one weight outweighs the others. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static void reference(void)
{
    static const uint32_t degrees[] = {1, 2, 3, 7, 16, 63, 64, 65, 150, 3000, 1100};
    static const int32_t fanouts[] = {0, 1, 2, 5, 10, 15, 63, 64, 65, 130, 1025, -1};
    uint64_t w[3000];
    for (unsigned s = 0; s <= NONE; s++) {
        /* The reference is slow for the last two. */
        const size_t less = tap_wide() ? SANITIZED : s == NOISE ? 1 : 2;
        bool same = true;
        for (size_t i = 0; same && i < sizeof degrees / sizeof *degrees - less; i++)
            for (size_t j = 0; same && j < 2 * sizeof fanouts / sizeof *fanouts; j++) {
                make_weights((enum shape)s, degrees[i], w);
                same = equals_reference(w, degrees[i], fanouts[j / 2], j % 2, (uint32_t)j, true);
                scale_weights(degrees[i], w);
                same = same &&
                       equals_reference(w, degrees[i], fanouts[j / 2], j % 2, (uint32_t)j, false);
                if (!same)
                    printf("# degree %u, fan-out %d, replace %d\n", degrees[i], fanouts[j / 2],
                           (int)j % 2);
            }
        ok(same, "gnn_sample_pick draws by weight what a plain sampler does, weights %s",
           shapes[s]);
    }
}

/* Rows of all lengths about the fan-out, some without weights, in several parts: groups in which
 * few draw, and rows that go alone between them. */
enum { PARTS = 3, ROWS = 40, NDST = 100, LONGEST = 200 };
struct mixture {
    struct gnn_sample_part part[PARTS];
    uint64_t ptr[PARTS][ROWS + 1], w[PARTS][ROWS * LONGEST], sum[PARTS][ROWS * LONGEST];
    uint32_t positive[PARTS][ROWS * LONGEST], src[ROWS * LONGEST];
    int16_t high[PARTS][ROWS * LONGEST + GNN_PICK_WINDOW] __attribute__((aligned(64)));
    uint32_t dst[NDST], indptr[NDST + 1];
    struct gnn_sample_row row[NDST];
    struct gnn_sample_span span[NDST];
};

static uint32_t some_degree(uint32_t k, uint64_t *state)
{
    const uint64_t kind = toy_rand(state) % 8, noise = toy_rand(state);
    const uint32_t d = kind < 3    ? k + (uint32_t)kind
                       : kind == 3 ? k - 1
                       : kind == 4 ? 1
                       : kind == 5 ? (uint32_t)(noise % 20)
                                   : (uint32_t)(noise % LONGEST);
    return d < LONGEST ? d : LONGEST - 1;
}

static void mix_part(struct mixture *m, uint32_t p, uint32_t k, bool indexed, uint64_t *state)
{
    const bool holes = toy_rand(state) & 1;
    uint32_t end = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint32_t begin = end;
        uint64_t sum = 0;
        uint32_t n = 0;
        m->ptr[p][i] = begin;
        for (end += some_degree(k, state); end > begin + n; n++)
            m->w[p][begin + n] =
                holes && toy_rand(state) % 3 ? 0 : 1 + (toy_rand(state) >> 16) / LONGEST;
        for (uint32_t j = begin, some = 0; j < end; j++) {
            m->sum[p][j] = sum += m->w[p][j];
            m->positive[p][j] = some += m->w[p][j] > 0;
            m->high[p][j] = gnn_weight_high(sum);
        }
    }
    m->ptr[p][ROWS] = end;
    m->part[p] = (struct gnn_sample_part){
        .first = (uint64_t)p * ROWS,
        .count = ROWS,
        .indptr = m->ptr[p],
        .indices = m->src,
        .nedges = end,
        .pick = {.sum = m->sum[p],
                 .positive = holes ? m->positive[p] : NULL,
                 .high = indexed ? m->high[p] : NULL},
    };
}

static bool mixture_equals(struct mixture *m, struct gnn_pick_rule rule, uint32_t seed)
{
    const uint32_t k = (uint32_t)rule.fanout, most = k > LONGEST ? k : LONGEST;
    uint32_t key[2], *x = malloc(most * sizeof *x), *out = malloc(NDST * most * sizeof *out);
    struct gnn_sample_place bad;
    const struct gnn_sample_job job = {{m->part, PARTS, ROWS * LONGEST},
                                       {.node = m->dst},
                                       NDST,
                                       rule,
                                       key,
                                       m->indptr,
                                       aligned_alloc(64, gnn_sample_scratch(rule)),
                                       m->row,
                                       m->span};
    gnn_rng_key(29, seed, 0, 0, 0, key);
    bool same = !gnn_sample_count(&job, &bad) && !gnn_sample_pick(&job, NULL, out, NULL, &bad);
    for (uint32_t i = 0; same && i < NDST; i++) {
        const uint32_t p = m->dst[i] / ROWS, v = m->dst[i] % ROWS;
        const uint64_t begin = m->ptr[p][v];
        const uint32_t n =
            ref_pick_weighted(key, m->dst[i], m->w[p] + begin, (uint32_t)(m->ptr[p][v + 1] - begin),
                              rule.fanout, rule.kind == GNN_PICK_REPLACE, x);
        same = m->indptr[i + 1] - m->indptr[i] == n;
        for (uint32_t j = 0; same && j < n; j++)
            same = out[m->indptr[i] + j] == begin + x[j];
    }
    free(job.scratch);
    free(out);
    free(x);
    return same;
}

static void mixtures(void)
{
    static const int32_t fanouts[] = {1, 2, 5, 10, 15, 63, 64, 65, 70};
    enum { N = sizeof fanouts / sizeof *fanouts };
    struct mixture *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
    uint64_t state = 7;
    uint32_t differ = 0;
    for (uint32_t i = 0; i < ROWS * LONGEST; i++)
        m->src[i] = i;
    for (uint32_t t = 0; t < 10 * N; t++) {
        const struct gnn_pick_rule rule = {t / N % 2 ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM,
                                           fanouts[t % N], true};
        for (uint32_t p = 0; p < PARTS; p++)
            mix_part(m, p, (uint32_t)rule.fanout, t / N % 5, &state);
        for (uint32_t i = 0; i < NDST; i++)
            m->dst[i] = (uint32_t)(toy_rand(&state) % (PARTS * ROWS));
        differ += !mixture_equals(m, rule, t);
    }
    free(m);
    ok(!differ, "gnn_sample_pick draws from a mixture of rows what a plain sampler does");
}

/* ---- laws ---- */

/* The probability that successive sampling takes exactly the set `want` of d neighbours, when it
 * has taken `have` so far. */
static double law(const uint64_t *w, uint32_t d, unsigned have, unsigned want)
{
    double left = 0, p = 0;
    if (have == want)
        return 1;
    for (uint32_t i = 0; i < d; i++)
        left += have >> i & 1 ? 0 : (double)w[i];
    for (uint32_t i = 0; i < d; i++)
        if (want >> i & 1 && !(have >> i & 1) && w[i])
            p += (double)w[i] / left * law(w, d, have | 1u << i, want);
    return p;
}

/* Whole sets of k of d <= 8 neighbours. Cells that expect fewer than 10 are one. */
static void sets(enum shape s, uint32_t d, int32_t k)
{
    const uint32_t rounds = rounds_of(3000);
    uint64_t w[SMALL], count[1 << SMALL] = {0};
    struct bench b;
    bool good = true;
    make_weights(s, d, w);
    bench_init(&b, w, d, k, false);
    for (uint32_t t = 0; good && t < rounds; t++) {
        good = bench_draw(&b, t);
        for (uint32_t i = 0; good && i < DST; i++) {
            unsigned set = 0;
            for (uint32_t j = b.indptr[i]; j < b.indptr[i + 1]; j++)
                set |= 1u << b.out[j];
            count[set]++;
        }
    }
    bench_free(&b);
    struct chi c = {0};
    for (unsigned set = 0; set < 1u << d; set++) {
        const double p = __builtin_popcount(set) == k ? law(w, d, 0, set) : 0;
        if (p > 0)
            chi_add(&c, (double)count[set], p * rounds * DST);
        else
            good = good && !count[set];
    }
    ok(good && chi_pass(&c),
       "sets of %d of %u neighbours have the law of successive sampling, "
       "weights %s (z %.2f, %u cells)",
       (int)k, d, shapes[s], chi_z(&c), c.cells);
}

/* With replacement each draw is one of the law's. */
static void repeats(enum shape s, uint32_t d, int32_t k)
{
    uint64_t *w = malloc(d * sizeof *w), *count = calloc(d, sizeof *count);
    const uint32_t rounds = rounds_of(1000000 / (DST * (uint32_t)k) + 1);
    double total = 0;
    struct bench b;
    bool good = true;
    make_weights(s, d, w);
    bench_init(&b, w, d, k, true);
    for (uint32_t t = 0; good && t < rounds; t++) {
        good = bench_draw(&b, t);
        for (uint32_t j = 0; good && j < b.indptr[DST]; j++)
            count[b.out[j]]++;
    }
    struct chi c = {0};
    for (uint32_t i = 0; i < d; i++)
        total += (double)w[i];
    for (uint32_t i = 0; i < d; i++)
        chi_add(&c, (double)count[i], (double)w[i] / total * rounds * DST * k);
    ok(good && chi_pass(&c),
       "%d draws with replacement of %u neighbours follow their weights, %s (z %.2f, %u cells)",
       (int)k, d, shapes[s], chi_z(&c), c.cells);
    bench_free(&b);
    free(w);
    free(count);
}

/* Of how many draws the members of each kind are in, for rows of any degree. */
static void inclusions(const struct kind *kinds, unsigned nkinds, int32_t k, const char *what)
{
    uint32_t d = 0;
    double total = 0, z = 0;
    for (unsigned i = 0; i < nkinds; i++) {
        d += kinds[i].n;
        total += (double)kinds[i].w * kinds[i].n;
    }
    uint64_t *w = malloc(d * sizeof *w), count[8] = {0};
    uint8_t *of = malloc(d);
    for (uint32_t i = 0, at = 0; i < nkinds; i++)
        for (uint32_t j = 0; j < kinds[i].n; j++, at++) {
            const uint32_t x = (uint32_t)((uint64_t)at * 7919 % d); /* mixed; d is no multiple */
            w[x] = kinds[i].w;
            of[x] = (uint8_t)i;
        }
    struct bench b;
    const uint32_t rounds = rounds_of(1000000 / (DST * (uint32_t)k) + 1);
    bool good = true;
    bench_init(&b, w, d, k, false);
    for (uint32_t t = 0; good && t < rounds; t++) {
        good = bench_draw(&b, t);
        for (uint32_t j = 0; good && j < b.indptr[DST]; j++)
            count[of[b.out[j]]]++;
    }
    /* The numbers of a kind that are taken vary less than if each were taken by itself. */
    for (unsigned i = 0; i < nkinds; i++) {
        const double p = inclusion(kinds, nkinds, i, (uint32_t)k, total),
                     n = (double)rounds * DST * kinds[i].n, sd = sqrt(n * p * (1 - p)) + 1;
        const double off = fabs((double)count[i] - n * p) / sd;
        z = off > z ? off : z;
    }
    ok(good && z < 4.5, "%d of %u neighbours are taken as often as integrals say: %s (z %.2f)",
       (int)k, d, what, z);
    bench_free(&b);
    free(w);
    free(of);
}

/* The tests must be able to fail: sets drawn with the weights of others. */
static void control(void)
{
    static const uint64_t w[] = {5, 4, 3, 2, 1}, v[] = {5, 4, 3, 1, 2};
    struct chi c = {0};
    for (unsigned set = 0; set < 32; set++)
        if (__builtin_popcount(set) == 2)
            chi_add(&c, law(w, 5, 0, set) * 3000 * DST, law(v, 5, 0, set) * 3000 * DST);
    ok(!chi_pass(&c), "the test of sets sees two weights that are exchanged (z %.1f)", chi_z(&c));
}

int main(void)
{
    static const struct kind two[] = {{1, 60}, {10, 41}}, most[] = {{1, 99999}, {1000000000, 1}},
                             wide[] = {{1, 50000}, {3, 40000}, {100, 9000}, {5000, 1000}};
    reference();
    mixtures();
#if defined __SANITIZE_ADDRESS__ ||                                                                \
    defined __SANITIZE_THREAD__ /* the law is that of plain builds */
    sets(NOISE, 5, 2);
    repeats(NOISE, 1000, 15);
    inclusions(two, 2, 15, "two kinds");
    (void)most, (void)wide;
    return tap_done();
#endif
    for (unsigned s = 0; s < HOLES; s++)
        for (int32_t k = 1; k < SMALL; k += 2)
            sets((enum shape)s, SMALL, k);
    sets(NOISE, 5, 2);
    sets(HOLES, SMALL, 2);
    for (unsigned s = 0; s < NONE; s++)
        repeats((enum shape)s, 13, 4);
    repeats(NOISE, 1000, 15);
    inclusions(two, 2, 1, "two kinds");
    inclusions(two, 2, 15, "two kinds");
    inclusions(two, 2, 100, "two kinds, all but one");
    inclusions(most, 2, 10, "one outweighing 99,999");
    if (tap_wide()) {
        inclusions(wide, 4, 15, "four kinds");
        inclusions(wide, 4, 200, "four kinds");
    }
    control();
    return tap_done();
}
