/* SPDX-License-Identifier: Apache-2.0 */
/* Are the picks uniform? Chi-square gates on the kernel and on whole batches; seeds are fixed, so a
 * pass is a pass. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/sample.h"
#include "lib/sample/sampler.h"
#include "lib/store/write.h"

#include "chi.h"
#include "sample_ref.h"
#include "scratch.h"
#include "tap.h"

/* Wilson and Hilferty: chi2 with df degrees as a standard normal number. */
static double normal(double chi2, double df)
{
    return (cbrt(chi2 / df) - (1 - 2 / (9 * df))) / sqrt(2 / (9 * df));
}
/* Both tails: numbers that are too even are not random either. */
static bool gate(double chi2, double df, double *z)
{
    *z = normal(chi2, df);
    return fabs(*z) < 4.5;
}

static double chi_square(const uint32_t *count, uint32_t n, double each)
{
    double q = 0;
    for (uint32_t i = 0; i < n; i++)
        q += (count[i] - each) * (count[i] - each) / each;
    return q;
}

/* Draws k of d neighbours of 64 nodes, `rounds` times with new keys, through the kernel; counts who
 * is picked. */
static void draw(uint32_t d, int32_t k, bool replace, uint32_t rounds, uint32_t *count)
{
    enum { DST = 64 };
    uint64_t ptr[DST + 1];
    uint32_t *src = malloc(d * sizeof *src), dst[DST], indptr[DST + 1];
    uint32_t *out = malloc((size_t)DST * (uint32_t)k * sizeof *out),
             *nodes = malloc((d + 1) * sizeof *nodes);
    struct gnn_sample_part part[DST];
    struct gnn_sample_row row[DST];
    for (uint32_t i = 0; i < d; i++)
        src[i] = i;
    for (uint32_t i = 0; i < DST;
         i++) { /* parts of one node that share one adjacency, to save memory */
        ptr[0] = 0;
        ptr[1] = d;
        part[i] = (struct gnn_sample_part){i, 1, ptr, src, d, NULL, NULL};
        dst[i] = i;
    }
    const struct gnn_sample_graph g = {part, DST, d};
    struct gnn_relabel r = {.map = calloc(d, 4), .nnodes = d, .list = {.node = nodes}};
    struct gnn_sample_place bad;
    const struct gnn_pick_rule rule = {replace ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM, k};
    void *scratch = aligned_alloc(64, gnn_sample_scratch(rule));
    memset(count, 0, d * sizeof *count);
    for (uint32_t t = 0; t < rounds; t++) {
        gnn_relabel_begin(&r);
        uint32_t key[2];
        const struct gnn_sample_job job = {g, {.node = dst}, DST, rule, key, indptr, scratch, row};
        gnn_rng_key(17, t, 0, 0, 0, key);
        if (gnn_sample_count(&job, &bad) || !gnn_relabel_fit(&r, indptr[DST]) ||
            gnn_sample_pick(&job, &r, out, NULL, &bad))
            abort();
        for (uint32_t j = 0; j < indptr[DST]; j++)
            count[nodes[out[j]]]++;
    }
    free(scratch);
    free(r.map);
    free(nodes);
    free(out);
    free(src);
}

/* Inclusion counts without replacement vary less: chi2 * (d-1)/(d-k) has d-1 degrees. */
static void uniform(void)
{
    static const struct {
        uint32_t d;
        int32_t k;
    } c[] = {{10, 1},     {10, 5},     {10, 9},      {11, 10},      {17, 15},  {50, 5},
             {64, 63},    {100, 15},   {100, 64},    {100, 65},     {100, 99}, {1000, 10},
             {1000, 200}, {10000, 25}, {100000, 15}, {100000, 1000}};
    uint32_t *count = malloc(100000 * sizeof *count);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        for (int replace = 0; replace < 2; replace++) {
            const double want = 40; /* picks of each neighbour, on average at least */
            const uint32_t rounds = 1 + (uint32_t)(want * c[i].d / (64.0 * c[i].k));
            const uint32_t most = rounds < 1000 && c[i].k < 150 ? 1000 : rounds;
            draw(c[i].d, c[i].k, replace, most, count);
            const double each = 64.0 * most * c[i].k / c[i].d;
            double q = chi_square(count, c[i].d, each), z;
            if (!replace)
                q *= (c[i].d - 1.0) / ((double)c[i].d - c[i].k);
            const bool fine = gate(q, c[i].d - 1, &z);
            ok(fine, "gnn_sample_pick draws each of %d of %u neighbours equally often %s (z %.2f)",
               (int)c[i].k, c[i].d, replace ? "with replacement" : "without replacement", z);
        }
    free(count);
}

/* Not only each neighbour but each set of them: 3 of 6, 20 sets. */
static void sets(void)
{
    uint32_t count[64] = {0}, packed[20], n = 0, x[3];
    for (uint32_t t = 0; t < 40000; t++) {
        uint32_t key[2];
        gnn_rng_key(3, t, 0, 0, 0, key);
        ref_pick(key, 1, 6, 3, false, x); /* the kernel equals it: test_sample */
        count[1u << x[0] | 1u << x[1] | 1u << x[2]]++;
    }
    for (uint32_t m = 0; m < 64; m++)
        if (__builtin_popcount(m) == 3)
            packed[n++] = count[m];
    double z;
    const bool fine = gate(chi_square(packed, 20, 2000), 19, &z);
    ok(fine, "gnn_sample_pick draws all sets of 3 of 6 neighbours equally often (z %.2f)", z);
}

/* The gate must be able to fail: a byte modulo 10, the classical mistake. */
static void control(void)
{
    uint32_t count[10] = {0};
    for (uint32_t t = 0; t < 64 * 3000; t++) {
        const uint32_t key[2] = {1, 2};
        count[(gnn_rng_word(key, t, 0, 0, 0) & 0xff) % 10]++;
    }
    double z;
    const bool fine = gate(chi_square(count, 10, 64 * 300.0), 9, &z);
    ok(!fine, "the test of uniformity sees the bias of a remainder (z %.1f)", z);
}

/* ---- whole batches: node 0 has neighbours 1-10, each of which has 11-20; weights are 1 to 4 in
 * turn, and times 0 to 9 ---- */

enum { N = 21, E = 110, ENTERED = 6 /* when the seed is */ };

static uint32_t weight_of(uint32_t i)
{
    return 1 + i % 4;
}

static int write_store(const char *path, struct gnn_err *e)
{
    struct gnn_meta m = {.schema.nparts = 1};
    struct gnn_store_writer w = {0};
    uint64_t ptr[N + 1] = {0};
    uint32_t idx[E], train[1] = {0}, t[6];
    float weight[E];
    int64_t time[E], entered[N] = {ENTERED};
    for (uint32_t v = 0; v < N; v++)
        ptr[v + 1] = ptr[v] + (v <= 10 ? 10 : 0);
    for (uint32_t i = 0; i < E; i++) {
        idx[i] = 1 + i % 10 + (i < 10 ? 0 : 10);
        weight[i] = (float)weight_of(i % 10);
        time[i] = i % 10;
    }
    int rc = gnn_schema_add_ntype(&m.schema, "n", N, e);
    if (!rc)
        rc = gnn_schema_add_etype(&m.schema, 0, "to", 0, E, e);
    if (!rc && (gnn_schema_add_efield(&m.schema, 0, "weight", GNN_F32, 0, e) ||
                gnn_schema_add_efield(&m.schema, 0, "time", GNN_I64, 0, e) ||
                gnn_schema_set_order(&m.schema, 0, "time", e) ||
                gnn_schema_add_nfield(&m.schema, 0, "time", GNN_I64, 0, e)))
        rc = e->code;
    if (!rc)
        rc = gnn_schema_add_set(&m.schema, "s", "train", 0, 1, e);
    if (!rc)
        rc = gnn_store_create(&w, path, &m, false, e);
    if (!rc)
        rc = gnn_part_begin(&w, 0, e);
    const struct {
        const char *name;
        enum gnn_dtype dtype;
        uint64_t rows;
        const void *data;
        uint64_t bytes;
    } all[] = {{"edge/n/to/n/indptr", GNN_U64, N + 1, ptr, sizeof ptr},
               {"edge/n/to/n/indices", GNN_U32, E, idx, sizeof idx},
               {"edge/n/to/n/weight", GNN_F32, E, weight, sizeof weight},
               {"edge/n/to/n/time", GNN_I64, E, time, sizeof time},
               {"node/n/time", GNN_I64, N, entered, sizeof entered},
               {"split/s/train", GNN_U32, 1, train, sizeof train}};
    for (uint32_t i = 0; !rc && i < 6; i++)
        rc = gnn_part_declare(&w, all[i].name, all[i].dtype, 1, &all[i].rows, &t[i], e);
    if (!rc)
        rc = gnn_part_layout(&w, e);
    for (uint32_t i = 0; !rc && i < 6; i++)
        rc = gnn_part_write(&w, t[i], all[i].data, all[i].bytes, e);
    if (!rc)
        rc = gnn_part_finish(&w, e);
    if (!rc)
        rc = gnn_store_commit(&w, e);
    gnn_store_abandon(&w);
    gnn_meta_release(&m);
    return rc;
}

/* The node that destination `local` picked in a hop; all have at most one. */
static uint32_t picked(const struct gnn_batch *b, uint32_t hop, uint32_t local)
{
    const struct gnn_block *k = gnn_batch_block(b, hop, 0);
    const uint32_t i = local - k->first;
    if (local < k->first || i >= k->n || k->indptr[i + 1] != k->indptr[i] + 1)
        return 0;
    return b->type[0].node[k->indices[k->indptr[i]]];
}

enum { EPOCHS = 20000 };
static const struct way {
    const char *name;
    enum gnn_pick_kind kind;
    bool weighted, timed, by_edge, disjoint, layer_dependency;
} ways[] = {
    {.name = "uniform"},
    {.name = "with replacement", .kind = GNN_PICK_REPLACE, .disjoint = true},
    {.name = "by weight", .weighted = true},
    {.name = "by time, trees", .timed = true, .disjoint = true},
    {.name = "by time of edges", .timed = true, .by_edge = true},
    {.name = "by time of edges and weight, trees",
     .timed = true,
     .by_edge = true,
     .weighted = true,
     .disjoint = true},
    {.name = "with replacement, by weight, by time",
     .kind = GNN_PICK_REPLACE,
     .weighted = true,
     .timed = true},
    {.name = "LABOR", .kind = GNN_PICK_LABOR},
    {.name = "LABOR by time of edges", .kind = GNN_PICK_LABOR, .timed = true, .by_edge = true},
    {.name = "LABOR that depends on layers", .kind = GNN_PICK_LABOR, .layer_dependency = true},
};

/* One pick in each of two hops. */
static struct gnn_sampler_opts two_hops(enum gnn_pick_kind kind)
{
    static const char *const fan = "1,1";
    struct gnn_sampler_opts o;
    gnn_sampler_opts_init(&o);
    o.fanout = &fan;
    o.nfanout = 1;
    o.sampling.replace = kind == GNN_PICK_REPLACE;
    o.sampling.labor = kind == GNN_PICK_LABOR;
    return o;
}

static struct gnn_source *source_of(struct gnn_store *s, const struct way *x, bool fresh,
                                    struct gnn_err *e)
{
    struct gnn_sampler_opts o = two_hops(x->kind);
    o.epoch_to = EPOCHS;
    o.sampling.frontier = fresh ? GNN_FRONTIER_NEW : GNN_FRONTIER_ALL;
    o.sampling.weight = x->weighted ? "weight" : NULL;
    o.sampling.time_rule = x->timed ? GNN_PICK_UNTIL : GNN_PICK_ANY_TIME;
    o.sampling.hop_time = x->by_edge ? GNN_HOP_TIME_EDGE : GNN_HOP_TIME_SEED;
    o.sampling.disjoint = x->disjoint;
    o.sampling.layer_dependency = x->layer_dependency;
    return gnn_sampler_source_new(s, &o, e);
}

/* Of one pick at a time: that it is neighbour i. */
static double chance_at(const struct way *x, uint32_t time, uint32_t i)
{
    double total = 0;
    for (uint32_t q = 0; q < 10 && (!x->timed || q <= time); q++)
        total += x->weighted ? weight_of(q) : 1;
    return x->timed && i > time ? 0 : (x->weighted ? weight_of(i) : 1) / total;
}

/* Pairs of picks, of which the second has the law that its time gives it, whatever the first is. */
static bool pairs_pass(const struct way *x, const uint32_t *count, uint32_t n, bool deeper,
                       double *z)
{
    struct chi c = {0};
    bool good = true;
    for (uint32_t i = 0; i < 10; i++)
        for (uint32_t j = 0; j < 10; j++) {
            const double p = chance_at(x, ENTERED, i) *
                             chance_at(x, deeper && x->by_edge ? i : (uint32_t)ENTERED, j);
            good = good && (p > 0 || !count[i * 10 + j]);
            if (p > 0)
                chi_add(&c, count[i * 10 + j], n * p);
        }
    *z = chi_z(&c);
    return good && chi_pass(&c) && *z > -4.5;
}

/* Pairs of picks of each batch: in the first hop, and then in the second hop, by the node that was
 * found, or again by the seed; and of batches that follow each other. */
struct picks {
    uint32_t deeper[100], again[100], next[100], n, same, last;
};

static bool count_picks(const struct gnn_batch *b, bool fresh, struct picks *p)
{
    const uint32_t first = picked(b, 0, 0), again = picked(b, 1, 0), second = picked(b, 1, 1);
    if (first < 1 || first > 10 || second < 11 || second > 20 ||
        (fresh ? again != 0 : again < 1 || again > 10))
        return false;
    if (p->n++)
        p->next[(p->last - 1) * 10 + first - 1]++;
    p->last = first;
    p->deeper[(first - 1) * 10 + second - 11]++;
    if (!fresh)
        p->again[(first - 1) * 10 + again - 1]++;
    p->same += first == again;
    return true;
}

static void frontiers(struct gnn_store *s, const struct way *x, bool fresh)
{
    static struct picks p;
    struct gnn_err e = {0};
    struct gnn_batch *b;
    struct gnn_source *src = source_of(s, x, fresh, &e);
    bool shape = src != NULL;
    double z;
    p = (struct picks){0};
    while (shape && !gnn_source_next(src, &b, &e)) {
        shape = count_picks(b, fresh, &p);
        gnn_batch_put(b);
    }
    gnn_source_free(src);
    const char *name = x->name, *frontier = fresh ? "new" : "all";
    ok(shape && p.n == EPOCHS && !e.code,
       "the sampler draws with --frontier %s batches of the shape it asks for: %s", frontier, name);
    bool fine = pairs_pass(x, p.deeper, p.n, true, &z);
    ok(fine,
       "the sampler draws with --frontier %s a second hop of its law after any first: %s (z %.2f)",
       frontier, name, z);
    fine = pairs_pass(x, p.next, p.n - 1, false, &z);
    ok(fine, "the sampler draws epochs independently: %s (z %.2f)", name, z);
    if (fresh)
        return;
    fine = x->layer_dependency ? p.same == p.n : pairs_pass(x, p.again, p.n, false, &z);
    ok(fine, "the sampler draws with --frontier all %s for a node drawn again: %s (z %.2f)",
       x->layer_dependency ? "the same" : "anew", name, z);
}

/* ---- steps that share variates ---- */

enum { SHARED = 3 /* steps */, GROUPS = 20000 };

/* As many seeds, all of them node 0. */
static FILE *equal_seeds(uint32_t n)
{
    FILE *f = tmpfile();
    for (uint32_t i = 0; f && i < n; i++)
        fputs("0\n", f);
    if (!f || fflush(f) || fseek(f, 0, SEEK_SET))
        abort();
    return f;
}

static struct gnn_source *shared_source(struct gnn_store *s, FILE *seeds, uint32_t dependency,
                                        struct gnn_err *e)
{
    struct gnn_sampler_opts o = two_hops(GNN_PICK_LABOR);
    o.sampling.batch_size = 1;
    o.seeds_name = "seeds";
    o.seeds_fd = dup(fileno(seeds));
    o.sampling.batch_dependency = dependency;
    return gnn_sampler_source_new(s, &o, e);
}

/* Batches of one seed: those of a group are the same; in those of different groups, one after the
 * other, each pair of picks is equally likely. */
static void batch_dependency(struct gnn_store *s)
{
    static const struct way labor = {.kind = GNN_PICK_LABOR};
    static uint32_t next[100], deeper[100];
    struct gnn_err e = {0};
    struct gnn_batch *b;
    FILE *seeds = equal_seeds(SHARED * GROUPS);
    struct gnn_source *src = shared_source(s, seeds, SHARED, &e);
    uint32_t before[2] = {0}, steps = 0, same = 0;
    double z;
    while (src && !gnn_source_next(src, &b, &e)) {
        const uint32_t pick[2] = {picked(b, 0, 0), picked(b, 1, 1)};
        if (pick[0] < 1 || pick[0] > 10 || pick[1] < 11 || pick[1] > 20)
            break;
        if (steps % SHARED)
            same += !memcmp(pick, before, sizeof pick);
        else {
            deeper[(pick[0] - 1) * 10 + pick[1] - 11]++;
            if (steps)
                next[(before[0] - 1) * 10 + pick[0] - 1]++;
        }
        memcpy(before, pick, sizeof pick);
        steps++;
        gnn_batch_put(b);
    }
    gnn_source_free(src);
    fclose(seeds);
    ok(steps == SHARED * GROUPS && !e.code && same == (SHARED - 1) * GROUPS,
       "steps that depend on each other pick the same: %u of %u", same, (SHARED - 1) * GROUPS);
    bool fine = pairs_pass(&labor, next, GROUPS - 1, false, &z);
    ok(fine, "picks of the next such steps are independent of those before (z %.2f)", z);
    fine = pairs_pass(&labor, deeper, GROUPS, true, &z);
    ok(fine, "and each has the law of LABOR, in both hops (z %.2f)", z);
}

int main(void)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    scratch_enter();
    uniform();
    sets();
    control();
    if (!ok(!write_store("stats", &e) && !gnn_store_open(&s, "stats", false, &e),
            "write_store writes a store that opens: %s", e.msg))
        return scratch_done();
    for (size_t i = 0; i < 2 * (sizeof ways / sizeof *ways); i++)
        frontiers(&s, &ways[i / 2], i % 2);
    batch_dependency(&s);
    gnn_store_close(&s);
    return scratch_done();
}
