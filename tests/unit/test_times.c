/* SPDX-License-Identifier: Apache-2.0 */
/* Picks among edges of eligible times: the kernel against a plain reference that looks at every
 * edge. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sample.h"

#include "sample_ref.h"
#include "tap.h"

enum { DST = 48, MOST = 400 };

/* DST destinations, entered at times of their own, each in a part of its own. */
struct world {
    uint64_t ptr[2], sum[MOST];
    uint32_t src[MOST], positive[MOST], d, dst[DST];
    uint64_t weight[MOST];
    int16_t high[MOST + GNN_PICK_WINDOW] __attribute__((aligned(64))),
        brief[MOST + GNN_PICK_WINDOW] __attribute__((aligned(64)));
    int64_t time[MOST], entry[DST];
    struct gnn_sample_part part[DST];
};

/* Times come in runs, with some at both ends of what there can be. */
static void make_world(struct world *w, uint32_t d, uint64_t seed, bool real, bool holes)
{
    const bool brief = seed % 2, ends = d > 4 && seed % 4 < 2;
    int64_t at = -20;
    uint64_t sum = 0;
    uint32_t n = 0;
    *w = (struct world){.ptr = {0, d}, .d = d};
    for (uint32_t i = 0; i < d; i++) {
        at += (int64_t)(toy_rand(&seed) % 3);
        w->time[i] = real ? gnn_time_bits((double)at / 4) : at;
        w->src[i] = i;
        w->weight[i] = holes && toy_rand(&seed) % 3 == 0 ? 0 : 1 + toy_rand(&seed) % 100;
        w->weight[i] <<= 40; /* some hundreds have the bits of a store's sums */
        w->sum[i] = sum += w->weight[i];
        w->high[i] = gnn_weight_high(sum);
        w->positive[i] = n += w->weight[i] > 0;
    }
    if (ends && !real)
        w->time[0] = INT64_MIN, w->time[d - 1] = INT64_MAX;
    if (ends && real)
        w->time[0] = gnn_time_bits(-INFINITY), w->time[d - 1] = gnn_time_bits(DBL_MAX);
    struct gnn_pick_edges pick = {w->sum, holes ? w->positive : NULL, w->time};
    const int64_t last = gnn_time_order(real, w->time[d - 1]);
    pick.least = gnn_time_order(real, w->time[0]);
    while (((uint64_t)last - (uint64_t)pick.least) >> pick.shift > UINT16_MAX)
        pick.shift++;
    for (uint32_t i = 0; i < d; i++)
        w->brief[i] = gnn_time_brief(&pick, gnn_time_order(real, w->time[i]));
    pick.high = brief ? w->high : NULL;
    pick.brief = brief ? w->brief : NULL;
    for (uint32_t i = 0; i < DST; i++) {
        const int64_t t = (int64_t)(toy_rand(&seed) % (d + 10)) - 22;
        w->entry[i] = real ? gnn_time_bits((double)t / 4) : t;
        w->dst[i] = i;
        w->part[i] = (struct gnn_sample_part){
            .first = i, .count = 1, .indptr = w->ptr, .indices = w->src, .nedges = d, .pick = pick};
    }
    w->entry[0] = real ? gnn_time_bits(INFINITY) : INT64_MAX;
    w->entry[1] = real ? gnn_time_bits(-DBL_MAX) : INT64_MIN;
    w->entry[2] = w->time[d / 2];
}

static double real_of(int64_t bits)
{
    double t;
    memcpy(&t, &bits, sizeof t);
    return t;
}

static bool is_eligible(const struct gnn_pick_time *r, int64_t edge, int64_t entry)
{
    if (r->real) {
        const double a = real_of(edge), t = real_of(entry);
        return (r->until == GNN_PICK_UNTIL ? a <= t : a < t) &&
               (!r->windowed || a >= t - r->window_real);
    }
    __extension__ typedef __int128 wide;
    return (r->until == GNN_PICK_UNTIL ? edge <= entry : edge < entry) &&
           (!r->windowed || (wide)edge >= (wide)entry - r->window);
}

/* What destination i picks; how many. */
static uint32_t reference(const struct world *w, struct gnn_pick_rule rule, const uint32_t key[2],
                          uint32_t i, uint32_t *x)
{
    uint32_t at[MOST], n = 0, k;
    uint64_t weight[MOST];
    for (uint32_t e = 0; e < w->d; e++)
        if (is_eligible(&rule.time, w->time[e], w->entry[i])) {
            weight[n] = w->weight[e];
            at[n++] = e;
        }
    if (rule.kind == GNN_PICK_LATEST) {
        k = rule.fanout < 0 || n < (uint32_t)rule.fanout ? n : (uint32_t)rule.fanout;
        for (uint32_t j = 0; j < k; j++)
            x[j] = at[n - k + j];
        return k;
    }
    const bool replace = rule.kind == GNN_PICK_REPLACE;
    k = rule.weighted ? ref_pick_weighted(key, i, weight, n, rule.fanout, replace, x)
                      : ref_pick(key, i, n, rule.fanout, replace, x);
    for (uint32_t j = 0; j < k; j++)
        x[j] = at[x[j]];
    return k;
}

static bool equals_reference(struct world *w, struct gnn_pick_rule rule, uint32_t seed)
{
    struct gnn_sample_row row[DST];
    struct gnn_sample_span span[DST];
    uint32_t indptr[DST + 1], key[2], x[MOST + 200], *out;
    uint64_t *ids;
    struct gnn_sample_place bad;
    const struct gnn_sample_job job = {{w->part, DST, w->d},
                                       {.node = w->dst, .time = w->entry},
                                       DST,
                                       rule,
                                       key,
                                       indptr,
                                       aligned_alloc(64, gnn_sample_scratch(rule)),
                                       row,
                                       rule.weighted ? span : NULL};
    gnn_rng_key(29, seed, 0, 0, 0, key);
    bool same = !gnn_sample_count(&job, &bad);
    out = malloc((indptr[DST] + 1) * sizeof *out);
    ids = malloc((indptr[DST] + 1) * sizeof *ids);
    same = same && !gnn_sample_pick(&job, NULL, out, ids, &bad);
    for (uint32_t i = 0; same && i < DST; i++) {
        const uint32_t n = reference(w, rule, key, i, x);
        same = indptr[i + 1] - indptr[i] == n && !memcmp(out + indptr[i], x, n * sizeof *x);
        for (uint32_t j = 0; same && j < n; j++)
            same = ids[indptr[i] + j] == x[j];
        if (!same)
            printf("# destination %u of degree %u, entered at %lld\n", i, w->d,
                   (long long)w->entry[i]);
    }
    free(out);
    free(ids);
    free(job.scratch);
    return same;
}

static const char *name_of(struct gnn_pick_rule r, char *text, size_t capacity)
{
    snprintf(text, capacity, "%s%s, %s%s%s",
             r.kind == GNN_PICK_LATEST    ? "latest"
             : r.kind == GNN_PICK_REPLACE ? "with replacement"
                                          : "uniform",
             r.weighted ? " by weight" : "", r.time.until == GNN_PICK_UNTIL ? "until" : "before",
             r.time.windowed ? ", window" : "", r.time.real ? ", real times" : "");
    return text;
}

static void all_rules(enum gnn_pick_kind kind, bool weighted, bool real)
{
    static const uint32_t degrees[] = {1, 2, 5, 30, MOST};
    static const int32_t fanouts[] = {0, 1, 3, 10, 70, -1};
    static struct world w;
    char name[128];
    for (int how = 0; how < 4; how++) {
        struct gnn_pick_rule r = {kind, 0, weighted, {how & 1 ? GNN_PICK_UNTIL : GNN_PICK_BEFORE}};
        bool same = true;
        r.time.windowed = how & 2;
        r.time.real = real;
        for (size_t i = 0; same && i < sizeof degrees / sizeof *degrees; i++)
            for (size_t j = 0; same && j < 3 * sizeof fanouts / sizeof *fanouts; j++) {
                static const int64_t windows[] = {0, 7, INT64_MAX};
                r.fanout = fanouts[j / 3];
                r.time.window = windows[j % 3];
                r.time.window_real = j % 3 == 2 ? DBL_MAX : (double)windows[j % 3] / 4;
                make_world(&w, degrees[i], j + i * 100 + 1, real, weighted && j % 2);
                same = equals_reference(&w, r, (uint32_t)j);
            }
        ok(same, "gnn_sample_pick takes what a plain sampler does: %s",
           name_of(r, name, sizeof name));
    }
}

static void real_times(void)
{
    static const double t[] = {-INFINITY, -DBL_MAX, -1.5, -DBL_MIN,        -5e-324, 0,
                               5e-324,    DBL_MIN,  1,    1 + DBL_EPSILON, DBL_MAX, INFINITY};
    bool order = true;
    for (size_t i = 1; i < sizeof t / sizeof *t; i++)
        order = order && gnn_time_order(true, gnn_time_bits(t[i - 1])) <
                             gnn_time_order(true, gnn_time_bits(t[i]));
    ok(order, "gnn_time_order has the order of real times");
    ok(gnn_time_order(true, INT64_MIN) == gnn_time_order(true, gnn_time_bits(0)) &&
           gnn_time_bits(-0.0) == gnn_time_bits(0),
       "gnn_time_order takes -0 for 0");
}

int main(void)
{
    real_times();
    for (int real = 0; real < 2; real++)
        for (int weighted = 0; weighted < 2; weighted++) {
            all_rules(GNN_PICK_UNIFORM, weighted, real);
            all_rules(GNN_PICK_REPLACE, weighted, real);
            if (!weighted)
                all_rules(GNN_PICK_LATEST, false, real);
        }
    return tap_done();
}
