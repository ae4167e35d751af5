/* SPDX-License-Identifier: Apache-2.0 */
/* Methods that give vertices to parts one by one: loads and limits, LDG and Fennel against a plain
 * retelling, access, levels. */
#include <math.h>
#include <omp.h>

#include "lib/cache/access.h"
#include "lib/partition/partition.h"
#include "lib/partition/loads.h"
#include "scratch.h"
#include "store_maker.h"
#include "tap.h"

struct fix {
    struct gnn_store s;
    struct gnn_view v;
    uint32_t *part, *other;
};

static bool fix_open(struct fix *f, const char *path)
{
    struct gnn_err e = {0};
    *f = (struct fix){0};
    int rc = gnn_store_open(&f->s, path, true, &e);
    if (!rc)
        rc = gnn_view_init(&f->v, &f->s, &e);
    f->part = calloc(f->v.nvertices + 1, sizeof *f->part);
    f->other = calloc(f->v.nvertices + 1, sizeof *f->other);
    return ok(!rc, "gnn_view_init opens a view of store %s %s", path, e.msg);
}

static void fix_close(struct fix *f)
{
    free(f->part);
    free(f->other);
    gnn_view_release(&f->v);
    gnn_store_close(&f->s);
}

static uint64_t limit(uint64_t total, double imbalance, uint64_t k)
{
    const uint64_t more = (uint64_t)((double)total * imbalance / (double)k),
                   even = (total + k - 1) / k;
    return more > even ? more : even;
}

/* Whether vertices from..to-1, or those whose bit is set in `only`, are spread evenly and all have
 * a part below k. */
static bool even(const uint32_t *part, uint64_t from, uint64_t to, const char *only, uint32_t k,
                 double imbalance)
{
    uint64_t *n = calloc(k, sizeof *n), total = 0;
    bool good = true;
    for (uint64_t i = from; i < to; i++) {
        good = good && part[i] < k;
        if (part[i] < k && (!only || only[i])) {
            n[part[i]]++;
            total++;
        }
    }
    for (uint32_t p = 0; p < k; p++)
        good = good && n[p] <= limit(total, imbalance, k);
    free(n);
    return good;
}

/* Vertex v is of class v % 6, classes c and c + 3 belong together. Of ten edges of a vertex six
 * stay in the class, three more in the pair; every edge goes both ways. */
static int planted_make(const char *path, uint32_t n, struct gnn_err *e)
{
    struct maker m = {.e = e};
    struct gnn_meta meta = {0};
    uint32_t *a = calloc((size_t)10 * n, sizeof *a), *b = calloc((size_t)10 * n, sizeof *b);
    maker_state = 77;
    for (uint32_t i = 0; i < 10 * n; i++) {
        const uint32_t step = i % 10 < 6 ? 6 : i % 10 < 9 ? 3 : 1;
        a[i] = i / 10;
        b[i] = (a[i] % step + step * maker_rand(n / step)) % n;
    }
    meta.schema.nparts = 1;
    bool bad = gnn_schema_add_ntype(&meta.schema, "a", n, e) ||
               gnn_schema_add_etype(&meta.schema, 0, "to", 0, (uint64_t)20 * n, e);
    m.rc = bad ? e->code : gnn_store_create(&m.w, path, &meta, true, e);
    if (!m.rc)
        m.rc = gnn_part_begin(&m.w, 0, e);
    if (!m.rc) {
        uint64_t *ptr = maker_tensor(&m, "edge/a/to/a/indptr", GNN_U64, (uint64_t)n + 1, 0), at = 0;
        uint32_t *ind = maker_tensor(&m, "edge/a/to/a/indices", GNN_U32, (uint64_t)20 * n, 0);
        for (uint32_t v = 0; v < n; v++) {
            for (uint32_t i = 0; i < 10 * n; i++) {
                if (b[i] == v)
                    ind[at++] = a[i];
                if (a[i] == v)
                    ind[at++] = b[i];
            }
            ptr[v + 1] = at;
        }
    }
    free(a);
    free(b);
    return maker_finish(&m, &meta);
}

/* ---- loads ---- */

static void test_loads(void)
{
    struct gnn_err e = {0};
    struct fix f;
    struct gnn_loads l;
    struct gnn_weights *w;
    const uint32_t set = 0, k = 21, group = 7;
    const struct gnn_even all = {
        GNN_BALANCE_NODES | GNN_BALANCE_EDGES | GNN_BALANCE_SETS | GNN_BALANCE_TYPES, &set, 1, 1.1};
    if (!fix_open(&f, "typed"))
        return;
    ok(!gnn_loads_init(&l, &f.v, &all, k, group, 1, &e) && l.ncon == 5,
       "gnn_loads_init finds five constraints %s", e.msg);
    w = calloc(f.v.nvertices, sizeof *w);
    uint64_t sum[5] = {0}, bad = 0, load[21][5] = {{0}};
    for (uint32_t t = 0; t < 2; t++)
        for (uint64_t d = 0; d < f.s.meta.schema.ntype[t].count; d++)
            w[f.v.base[t] + d] = gnn_loads_weigh(&l, t, d);
    for (uint64_t i = 0; i < f.v.nvertices; i++)
        for (int c = 0; c < 5; c++)
            sum[c] += w[i].of[c];
    for (int c = 0; c < 5; c++)
        bad += sum[c] != l.con[c].total || l.con[c].cap != limit(sum[c], 1.1, k);
    ok(!bad,
       "gnn_loads_weigh gives weights that add up to the totals, from which the limits follow");
    bad = 0;
    for (int step = 0; step < 3000; step++) {
        const uint64_t i = maker_rand((uint32_t)f.v.nvertices);
        const bool there = f.part[i] > 0;
        const uint32_t p = there ? f.part[i] - 1 : maker_rand(k);
        (there ? gnn_loads_take : gnn_loads_add)(&l, p, &w[i]);
        f.part[i] = there ? 0 : p + 1;
        for (int c = 0; c < 5; c++)
            load[p][c] = there ? load[p][c] - w[i].of[c] : load[p][c] + w[i].of[c];
        for (uint32_t c = 0; c < 5; c++) {
            const uint32_t lo = p / group * group, got = gnn_loads_lightest(&l, c, lo);
            uint32_t want = lo;
            for (uint32_t q = lo; q < lo + group; q++)
                want = load[q][c] < load[want][c] ? q : want;
            bad += got != want;
        }
    }
    ok(!bad, "gnn_loads_lightest knows the lightest part at every step");
    free(w);
    gnn_loads_release(&l);
    const struct gnn_even many = {GNN_BALANCE_SETS, &set, 16, 1.1}, none = {0, NULL, 0, 1.1};
    ok(gnn_loads_init(&l, &f.v, &many, 2, 2, 1, &e) == GNN_E_USAGE && strstr(e.msg, "16 balance"),
       "gnn_loads_init refuses more than 16 constraints: %s", e.msg);
    gnn_loads_release(&l);
    e = (struct gnn_err){0};
    ok(gnn_loads_init(&l, &f.v, &none, 2, 2, 1, &e) == GNN_E_USAGE,
       "gnn_loads_init refuses no constraint at all: %s", e.msg);
    gnn_loads_release(&l);
    fix_close(&f);
}

/* ---- LDG and Fennel ---- */

struct plain {
    enum gnn_stream_rule rule;
    uint32_t k;
    uint64_t cap, *load, *neighbours;
    uint32_t *vote, *votes;
    double a, average;
    bool symmetric;
};

static uint32_t plain_choice(const struct plain *x, uint32_t old)
{
    uint32_t best = UINT32_MAX;
    double most = 0, factor = 0;
    for (uint32_t p = 0; p < x->k; p++) {
        const double capacity = 1 - (double)x->load[p] / (double)x->cap;
        double score = (double)x->neighbours[p];
        if (x->load[p] + 1 > x->cap)
            continue;
        score = x->rule == GNN_STREAM_LDG
                    ? score * capacity
                    : score - 1.5 * x->a * sqrt((double)x->load[p] / x->average);
        const double tie = x->rule == GNN_STREAM_LDG ? capacity : 1;
        if (best == UINT32_MAX || score > most ||
            (score >= most && best != old && (p == old || tie > factor))) {
            best = p;
            most = score;
            factor = tie;
        }
    }
    return best;
}

/* The same as gnn_stream_run on one node and edge type, with every part looked at for every vertex,
 * nodes balanced. */
static void plain_stream(const struct fix *f, struct plain *x, uint32_t passes, double imbalance,
                         uint32_t *part)
{
    const uint64_t n = f->v.nvertices;
    uint64_t m = 0;
    for (uint64_t d = 0; d < n; d++) {
        const struct gnn_view_row row = gnn_view_row(&f->v, 0, d);
        part[d] = UINT32_MAX;
        for (uint64_t i = 0; i < row.n; i++)
            m += row.indices[i] != d;
    }
    x->cap = limit(n, imbalance, x->k);
    x->a = (x->symmetric ? 1 : 2) * (double)m / (double)n;
    x->average = (double)n / x->k;
    x->load = calloc(x->k, sizeof *x->load);
    x->neighbours = calloc(x->k, sizeof *x->neighbours);
    x->vote = calloc(n, sizeof *x->vote);
    x->votes = calloc(n, sizeof *x->votes);
    for (uint32_t pass = 0; pass < passes; pass++) {
        memset(x->load, 0, x->k * sizeof *x->load);
        for (uint64_t d = 0; d < n; d++) {
            const struct gnn_view_row row = gnn_view_row(&f->v, 0, d);
            memset(x->neighbours, 0, x->k * sizeof *x->neighbours);
            for (uint64_t i = 0; i < row.n; i++)
                if (row.indices[i] != d && part[row.indices[i]] != UINT32_MAX)
                    x->neighbours[part[row.indices[i]]]++;
            if (x->votes[d] && !x->symmetric)
                x->neighbours[x->vote[d]] += x->votes[d];
            x->votes[d] = 0;
            const uint32_t p = part[d] = plain_choice(x, part[d]);
            x->load[p]++;
            for (uint64_t i = 0; i < row.n; i++) {
                const uint32_t u = row.indices[i];
                if (u == d)
                    continue;
                if (!x->votes[u] || x->vote[u] == p) {
                    x->vote[u] = p;
                    x->votes[u]++;
                } else {
                    x->votes[u]--;
                }
            }
        }
    }
    free(x->load);
    free(x->neighbours);
    free(x->vote);
    free(x->votes);
}

static struct gnn_stream stream_of(enum gnn_stream_rule rule, uint32_t k, uint32_t passes)
{
    return (struct gnn_stream){.rule = rule,
                               .k = k,
                               .passes = passes,
                               .threads = 2,
                               .even = {GNN_BALANCE_NODES, NULL, 0, 1.05}};
}

static const char *const rule_name[] = {"LDG", "Fennel"};

static void test_against_plain(const char *path, bool symmetric)
{
    static const uint32_t ks[] = {1, 2, 5, 33};
    struct gnn_err e = {0};
    struct fix f;
    if (!fix_open(&f, path))
        return;
    for (int rule = 0; rule < 2; rule++)
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++)
            for (uint32_t passes = 1; passes < 5; passes += 3) {
                struct gnn_stream s = stream_of((enum gnn_stream_rule)rule, ks[i], passes);
                struct plain x = {.rule = s.rule, .k = ks[i], .symmetric = symmetric};
                int rc = gnn_stream_run(&s, &f.v, f.part, &e);
                plain_stream(&f, &x, s.passes_done, 1.05, f.other);
                ok(!rc && s.symmetric == symmetric &&
                       !memcmp(f.part, f.other, f.v.nvertices * sizeof *f.part),
                   "gnn_stream_run on %s by %s with k = %u agrees after %u of %u passes with a "
                   "plain loop %s",
                   path, rule_name[rule], ks[i], s.passes_done, passes, e.msg);
            }
    fix_close(&f);
}

/* Every balance that can be kept is, on any graph, for any k; threads do not matter. */
static void test_streams(const char *path)
{
    static const uint32_t ks[] = {1, 2, 3, 7, 33, 250};
    struct gnn_err e = {0};
    struct fix f;
    if (!fix_open(&f, path))
        return;
    const uint64_t n = f.v.nvertices;
    for (int rule = 0; rule < 2; rule++)
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
            struct gnn_stream s = stream_of((enum gnn_stream_rule)rule, ks[i], 3), t = s;
            t.threads = 5;
            int rc = gnn_stream_run(&s, &f.v, f.part, &e);
            if (!rc)
                rc = gnn_stream_run(&t, &f.v, f.other, &e);
            ok(!rc && even(f.part, 0, n, NULL, ks[i], 1.05),
               "gnn_stream_run on %s by %s with k = %u gives each vertex a part, evenly %s", path,
               rule_name[rule], ks[i], e.msg);
            ok(!memcmp(f.part, f.other, n * sizeof *f.part),
               "gnn_stream_run on %s by %s with k = %u gives the same parts with more threads",
               path, rule_name[rule], ks[i]);
        }
    fix_close(&f);
}

/* With space to spare, nodes without edges are even all the same. */
static void test_spread(void)
{
    struct gnn_err e = {0};
    struct fix f;
    if (!fix_open(&f, "none"))
        return;
    for (int rule = 0; rule < 2; rule++) {
        struct gnn_stream s = stream_of((enum gnn_stream_rule)rule, 3, 2);
        s.even.imbalance = 2;
        ok(!gnn_stream_run(&s, &f.v, f.part, &e) && even(f.part, 0, f.v.nvertices, NULL, 3, 1),
           "gnn_stream_run by %s spreads nodes without edges %s", rule_name[rule], e.msg);
    }
    fix_close(&f);
}

static void test_constraints(void)
{
    struct gnn_err e = {0};
    struct fix f;
    const uint32_t set = 0, k = 4;
    if (!fix_open(&f, "typed"))
        return;
    const uint64_t n = f.v.nvertices;
    char *train = calloc(n, 1);
    uint32_t *ids = NULL;
    ok(!gnn_store_split(&f.s, set, &ids, &e), "gnn_store_split reads the training set %s", e.msg);
    for (uint64_t i = 0; i < f.s.meta.schema.set[set].count; i++)
        train[ids[i]] = 1;
    gnn_free(ids);
    for (int rule = 0; rule < 2; rule++) {
        struct gnn_stream s = stream_of((enum gnn_stream_rule)rule, k, 5);
        s.even = (struct gnn_even){GNN_BALANCE_TYPES, NULL, 0, 1.05};
        ok(!gnn_stream_run(&s, &f.v, f.part, &e) && even(f.part, 0, f.v.base[1], NULL, k, 1.05) &&
               even(f.part, f.v.base[1], n, NULL, k, 1.05),
           "gnn_stream_run by %s keeps the node types even %s", rule_name[rule], e.msg);
        s.even = (struct gnn_even){GNN_BALANCE_NODES | GNN_BALANCE_SETS, &set, 1, 1.05};
        ok(!gnn_stream_run(&s, &f.v, f.part, &e) && even(f.part, 0, n, NULL, k, 1.05) &&
               even(f.part, 0, n, train, k, 1.05),
           "gnn_stream_run by %s keeps nodes and a set even %s", rule_name[rule], e.msg);
        s.even = (struct gnn_even){GNN_BALANCE_NODES | GNN_BALANCE_EDGES, NULL, 0, 1.1};
        uint64_t edges[4] = {0}, total = 0, most = 0;
        int rc = gnn_stream_run(&s, &f.v, f.part, &e);
        for (uint32_t et = 0; !rc && et < 3; et++) {
            const uint32_t t = f.s.meta.schema.etype[et].dst;
            for (uint64_t d = 0; d < f.s.meta.schema.ntype[t].count; d++) {
                edges[f.part[f.v.base[t] + d]] += gnn_view_row(&f.v, et, d).n;
                total += gnn_view_row(&f.v, et, d).n;
            }
        }
        for (uint32_t p = 0; p < k; p++)
            most = edges[p] > most ? edges[p] : most;
        ok(!rc && even(f.part, 0, n, NULL, k, 1.1) && most <= limit(total, 1.1, k),
           "gnn_stream_run by %s keeps nodes and edges even %s", rule_name[rule], e.msg);
    }
    free(train);
    fix_close(&f);
}

static int stop_at_2(void *arg, uint32_t pass)
{
    ++*(int *)arg;
    return pass == 1;
}

static void test_stop(void)
{
    struct gnn_err e = {0};
    struct fix f;
    int calls = 0;
    if (!fix_open(&f, "one"))
        return;
    struct gnn_stream s = stream_of(GNN_STREAM_FENNEL, 7, 10);
    s.done = stop_at_2;
    s.arg = &calls;
    ok(gnn_stream_run(&s, &f.v, f.part, &e) == GNN_E_STOPPED && calls == 2,
       "gnn_stream_run stops when it is told to: %s", e.msg);
    fix_close(&f);
}

/* ---- levels ---- */

/* Whether the parts are even, and the runs of `into` parts too. */
static bool even_twice(const struct fix *f, uint32_t k, uint32_t into, double imbalance)
{
    uint32_t *run = calloc(f->v.nvertices, sizeof *run);
    for (uint64_t i = 0; i < f->v.nvertices; i++)
        run[i] = f->part[i] / into;
    const bool good = even(f->part, 0, f->v.nvertices, NULL, k, imbalance) &&
                      even(run, 0, f->v.nvertices, NULL, k / into, imbalance);
    free(run);
    return good;
}

static void test_levels(void)
{
    static const uint32_t ks[][2] = {{2, 4}, {4, 2}, {6, 1}, {1, 6}, {3, 100}};
    struct gnn_err e = {0};
    struct fix f;
    struct gnn_symgraph g = {0};
    if (!fix_open(&f, "one"))
        return;
    ok(!gnn_symgraph_init(&g, &f.v, GNN_METIS_LIMIT, 1, &e),
       "gnn_symgraph_init makes a graph for METIS %s", e.msg);
    for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
        const uint32_t k = ks[i][0] * ks[i][1];
        struct gnn_stream s = stream_of(GNN_STREAM_FENNEL, k, 3);
        s.nodes = ks[i][0];
        ok(!gnn_stream_run(&s, &f.v, f.part, &e) && even_twice(&f, k, ks[i][1], 1.05),
           "gnn_stream_run by Fennel keeps %u times %u parts even in both levels %s", ks[i][0],
           ks[i][1], e.msg);
        struct gnn_metis m = {.k = k, .imbalance = 1.1, .seed = 1};
        ok(!gnn_metis_two_level(&m, &g, ks[i][1], f.part, &e) &&
               even_twice(&f, k, ks[i][1], k < 100 ? 1.15 : 3),
           "gnn_metis_two_level keeps %u times %u parts even in both levels %s", ks[i][0], ks[i][1],
           e.msg);
    }
    int32_t *w = calloc(g.n, sizeof *w);
    for (uint32_t v = 0; v < g.n; v++)
        w[v] = v < g.n / 2 ? 3 : 1;
    struct gnn_metis m = {.k = 4, .imbalance = 1.1, .seed = 1, .ncon = 1, .wgt = w};
    int rc = gnn_metis_two_level(&m, &g, 2, f.part, &e);
    uint64_t sum[4] = {0}, bad = 0;
    for (uint32_t v = 0; !rc && v < g.n; v++)
        sum[f.part[v]] += (uint64_t)w[v];
    for (int p = 0; p < 4; p++)
        bad += sum[p] > limit(2 * g.n, 1.15, 4);
    ok(!rc && !bad && m.peak > 0, "gnn_metis_two_level keeps weighted vertices even %s", e.msg);
    free(w);
    gnn_symgraph_release(&g);
    fix_close(&f);
}

/* Share of the edges between runs of `into` parts. */
static double cut_of(const struct fix *f, uint32_t into)
{
    uint64_t cut = 0, all = 0;
    for (uint64_t d = 0; d < f->v.nvertices; d++) {
        const struct gnn_view_row row = gnn_view_row(&f->v, 0, d);
        for (uint64_t i = 0; i < row.n; i++)
            cut += f->part[row.indices[i]] / into != f->part[d] / into;
        all += row.n;
    }
    return (double)cut / (double)all;
}

/* Machines get pairs of classes, their parts one class each. By chance 2 of 3 and 5 of 6 edges
 * would be cut. */
static void test_planted(void)
{
    struct gnn_err e = {0};
    struct fix f;
    struct gnn_symgraph g = {0};
    if (!fix_open(&f, "planted"))
        return;
    for (int rule = 0; rule < 2; rule++) {
        struct gnn_stream s = stream_of((enum gnn_stream_rule)rule, 6, 10);
        int rc = gnn_stream_run(&s, &f.v, f.part, &e);
        ok(!rc && cut_of(&f, 1) < 0.5, "gnn_stream_run by %s finds planted classes: cut %.3f %s",
           rule_name[rule], cut_of(&f, 1), e.msg);
        s.nodes = 3;
        rc = gnn_stream_run(&s, &f.v, f.part, &e);
        ok(!rc && cut_of(&f, 2) < 0.2 && cut_of(&f, 1) < 0.5,
           "gnn_stream_run by %s finds pairs of planted classes: cut %.3f and %.3f %s",
           rule_name[rule], cut_of(&f, 2), cut_of(&f, 1), e.msg);
    }
    struct gnn_metis m = {.k = 6, .imbalance = 1.05, .seed = 1};
    int rc = gnn_symgraph_init(&g, &f.v, GNN_METIS_LIMIT, 1, &e);
    if (!rc)
        rc = gnn_metis_two_level(&m, &g, 2, f.part, &e);
    ok(!rc && cut_of(&f, 2) < 0.2 && cut_of(&f, 1) < 0.5,
       "gnn_metis_two_level finds pairs of planted classes: cut %.3f and %.3f %s", cut_of(&f, 2),
       cut_of(&f, 1), e.msg);
    gnn_symgraph_release(&g);
    fix_close(&f);
}

/* ---- access ---- */

static double expected_rows(const struct fix *f, const struct gnn_sampling *m, uint32_t set,
                            const uint32_t *owner, const uint32_t *part, uint32_t k, double *remote)
{
    struct gnn_err e = {0};
    const struct gnn_split_set *ss = &f->s.meta.schema.set[set];
    uint32_t *ids = NULL, *own = calloc(ss->count, sizeof *own);
    double rows = 0;
    *remote = 0;
    if (gnn_store_split((struct gnn_store *)(uintptr_t)&f->s, set, &ids, &e))
        return -1;
    for (uint32_t r = 0; r < k; r++) {
        struct gnn_scores x;
        uint64_t n = 0;
        for (uint64_t i = 0; i < ss->count; i++)
            if (owner[ids[i]] == r)
                own[n++] = ids[i];
        const struct gnn_access_seeds seeds = {
            own, n, m->batch_size / (double)ss->count, NULL, 0, 0, UINT64_MAX};
        if (gnn_access_expected((struct gnn_store *)(uintptr_t)&f->s, m, &seeds, &x, &e))
            return -1;
        for (uint32_t t = 0; t < f->s.meta.schema.nntypes; t++)
            for (uint64_t d = 0; d < f->s.meta.schema.ntype[t].count; d++) {
                rows += (double)x.of[t][d];
                *remote += part[f->v.base[t] + d] == r ? 0 : (double)x.of[t][d];
            }
        gnn_scores_release(&x);
    }
    free(own);
    gnn_free(ids);
    return rows;
}

/* METIS runs in a forked child, where ASan's allocator stays locked if an OpenMP thread was about
 * to end. */
#ifdef __SANITIZE_ADDRESS__
static const bool no_metis = true;
#else
static const bool no_metis = false;
#endif

static void test_access(const char *path)
{
    struct gnn_err e = {0};
    struct fix f;
    const uint32_t set = 0;
    int32_t fanout[6] = {3, 3, 3, 2, 2, 2};
    struct gnn_sampling m = {.nhops = 2, .fanout = fanout, .batch_size = 16};
    if (!fix_open(&f, path))
        return;
    const uint64_t n = f.v.nvertices;
    uint32_t *owner = calloc(n, sizeof *owner);
    for (uint32_t k = 1; k <= 5; k++) {
        struct gnn_stream s = stream_of(GNN_STREAM_FENNEL, k, 3), t = s;
        s.even = (struct gnn_even){GNN_BALANCE_NODES | GNN_BALANCE_SETS, &set, 1, 1.05};
        s.threads = 2;
        struct gnn_access_parts a = {.by = &s, .m = &m, .set = set, .fennel_only = no_metis};
        omp_set_num_threads(3);
        int rc = gnn_assign_access(&a, &f.v, f.part, &e);
        ok(!rc && even(f.part, 0, n, NULL, k, 1.05),
           "gnn_assign_access on %s with k = %u gives each vertex a part, evenly %s", path, k,
           e.msg);
        t.even = s.even;
        double remote, rows;
        rc = gnn_stream_run(&t, &f.v, owner, &e);
        rows = expected_rows(&f, &m, set, f.part, f.part, k, &remote);
        ok(!rc && fabs(rows - a.rows) < 1e-6 * rows && fabs(remote - a.remote) < 1e-6 * rows,
           "gnn_assign_access on %s with k = %u expects the right %.1f rows, %.1f of them remote",
           path, k, rows, remote);
        ok(k == 1 ? a.remote < 1e-6
                  : a.remote < a.before &&
                        (no_metis || (a.before_metis > 0 && a.remote <= a.before_metis)),
           "gnn_assign_access on %s with k = %u leaves fewer remote rows than the %.1f of Fennel and "
           "the %.1f of METIS",
           path, k, a.before, a.before_metis);
        (void)expected_rows(&f, &m, set, owner, owner, k, &remote);
        ok(fabs(remote - a.before) < 1e-6 * rows,
           "gnn_assign_access on %s with k = %u knows the %.1f remote rows of Fennel", path, k,
           remote);
        omp_set_num_threads(1);
        ok(!gnn_assign_access(&a, &f.v, f.other, &e) &&
               !memcmp(f.part, f.other, n * sizeof *f.part),
           "gnn_assign_access on %s with k = %u gives the same parts with one thread", path, k);
    }
    struct gnn_stream s = stream_of(GNN_STREAM_FENNEL, 6, 3);
    s.nodes = 2;
    s.threads = 2;
    struct gnn_access_parts a = {.by = &s, .m = &m, .set = set, .fennel_only = no_metis};
    ok(!gnn_assign_access(&a, &f.v, f.part, &e) && even_twice(&f, 6, 3, 1.05),
       "gnn_assign_access keeps two levels even %s", e.msg);
    free(owner);
    fix_close(&f);
}

int main(void)
{
    struct gnn_err e = {0};
    scratch_enter();
    ok(!store_make("one", 200, 900, false, 1, &e) && !store_make("typed", 120, 400, true, 2, &e) &&
           !store_make("dense", 60, 4000, false, 3, &e) &&
           !store_make("none", 10, 0, false, 4, &e) && !store_make("lonely", 1, 3, false, 5, &e) &&
           !planted_make("planted", 600, &e),
       "store_make and planted_make make stores %s", e.msg);
    test_loads();
    test_against_plain("one", false);
    test_against_plain("dense", false);
    test_against_plain("planted", true);
    test_streams("one");
    test_streams("typed");
    test_streams("none");
    test_streams("lonely");
    test_spread();
    test_constraints();
    test_stop();
    test_levels();
    test_planted();
    test_access("one");
    test_access("typed");
    return scratch_done();
}
