/* SPDX-License-Identifier: Apache-2.0 */
/* lib/cache/access.h: exact where it must be (graphs without cycles, against every possible
 * outcome), near the sampler where it approximates, and the same bits for any number of threads and
 * ranks. */
#include <math.h>
#include <omp.h>

#include "lib/cache/access.h"
#include "lib/sample/sampler.h"

#include "thread_ranks.h"
#include "scratch.h"
#include "store_divide.h"
#include "store_maker.h"
#include "tap.h"

enum { N = 8, ET = 3, HOPS = 3 };

/* ---- small typed graphs, and all that a batch drawn from one can be ---- */

static const uint32_t etype_src[ET] = {0, 0, 1}, etype_dst[ET] = {0, 1, 0};

struct toy {
    uint32_t type[N], local[N], count[2];
    uint32_t adj[ET][N][N], degree[ET][N]; /* of a destination: its sources */
    bool seed[N];
    double share;
    int32_t fan[HOPS * ET];
    uint32_t nhops;
    bool replace, fresh;
    double p[N]; /* out: the truth */
};

/* A graph whose edges, whatever their direction, make a tree. */
static void random_tree(struct toy *g, bool typed)
{
    memset(g, 0, sizeof *g);
    for (uint32_t v = 0; v < N; v++) {
        g->type[v] = typed && v && maker_rand(3) == 0;
        g->local[v] = g->count[g->type[v]]++;
        const uint32_t other = v ? maker_rand(v) : 0;
        const bool in = maker_rand(2);
        const uint32_t src = in ? v : other, dst = in ? other : v;
        for (uint32_t t = 0; v && t < ET; t++) /* two of type 1 have no edge */
            if (etype_src[t] == g->type[src] && etype_dst[t] == g->type[dst])
                g->adj[t][dst][g->degree[t][dst]++] = src;
    }
    for (uint32_t v = 0, left = 3; v < N && left; v++)
        if (!g->type[v] && maker_rand(2)) {
            g->seed[v] = true;
            left--;
        }
    g->seed[0] = true;
    g->share = maker_rand(4) ? 0.05 + maker_rand(90) / 100.0 : 1;
    g->nhops = 1 + maker_rand(HOPS);
    for (uint32_t i = 0; i < HOPS * ET; i++)
        g->fan[i] = (int32_t)maker_rand(5) - 1;
    g->replace = maker_rand(4) == 0;
    g->fresh = maker_rand(2);
}

struct state {
    struct toy *g;
    uint32_t hop, known, older, found; /* sets of nodes: before this hop, before the last, so far */
};

static void next_row(struct state s, uint32_t at, double p);

/* All ways to pick `left` more sources, from number `from` on (without replacement) or any (with).
 */
static void next_pick(struct state s, uint32_t at, uint32_t from, uint32_t left, double p)
{
    const struct toy *g = s.g;
    const uint32_t t = at / N, v = at % N, d = g->degree[t][v];
    if (!left) {
        next_row(s, at + 1, p);
        return;
    }
    for (uint32_t i = g->replace ? 0 : from; i < d; i++) {
        struct state q = s;
        q.found |= 1u << g->adj[t][v][i];
        next_pick(q, at, i + 1, left - 1, g->replace ? p / d : p);
    }
}

static double choose(uint32_t n, uint32_t k)
{
    double x = 1;
    for (uint32_t i = 0; i < k; i++)
        x *= (double)(n - i) / (i + 1);
    return x;
}

/* at: edge type and destination, one after the other, then the next hop. */
static void next_row(struct state s, uint32_t at, double p)
{
    struct toy *g = s.g;
    if (s.hop == g->nhops) {
        for (uint32_t v = 0; v < N; v++)
            g->p[v] += s.found >> v & 1 ? p : 0;
        return;
    }
    if (at == ET * N) {
        const struct state q = {g, s.hop + 1, s.found, s.known, s.found};
        next_row(q, 0, p);
        return;
    }
    const uint32_t t = at / N, v = at % N, d = g->degree[t][v];
    const int32_t fan = g->fan[s.hop * ET + t];
    const bool draws = (s.known >> v & 1) && !(g->fresh && s.older >> v & 1);
    if (!draws || !d || !fan)
        next_row(s, at + 1, p);
    else if (fan < 0 || (!g->replace && d <= (uint32_t)fan)) {
        for (uint32_t i = 0; i < d; i++)
            s.found |= 1u << g->adj[t][v][i];
        next_row(s, at + 1, p);
    } else
        next_pick(s, at, 0, (uint32_t)fan, g->replace ? p : p / choose(d, (uint32_t)fan));
}

static void enumerate(struct toy *g)
{
    uint32_t all = 0;
    for (uint32_t v = 0; v < N; v++)
        all |= (uint32_t)g->seed[v] << v;
    for (uint32_t set = all;; set = (set - 1) & all) {
        double p = 1;
        for (uint32_t v = 0; v < N; v++)
            p *= !(all >> v & 1) ? 1 : set >> v & 1 ? g->share : 1 - g->share;
        next_row((struct state){g, 0, set, 0, set}, 0, p);
        if (!set)
            break;
    }
}

static int write_toy(const char *path, const struct toy *g, struct gnn_err *e)
{
    static const char *const rel[ET] = {"to", "of", "rev"};
    struct gnn_meta meta = {.schema.nparts = 1};
    struct maker m = {.e = e};
    uint64_t edges[ET] = {0};
    for (uint32_t t = 0; t < ET; t++)
        for (uint32_t v = 0; v < N; v++)
            edges[t] += g->degree[t][v];
    m.rc = gnn_schema_add_ntype(&meta.schema, "a", g->count[0], e);
    if (!m.rc)
        m.rc = gnn_schema_add_ntype(&meta.schema, "b", g->count[1], e);
    for (uint32_t t = 0; !m.rc && t < ET; t++)
        m.rc = gnn_schema_add_etype(&meta.schema, etype_src[t], rel[t], etype_dst[t], edges[t], e);
    if (!m.rc)
        m.rc = gnn_store_create(&m.w, path, &meta, true, e);
    if (!m.rc)
        m.rc = gnn_part_begin(&m.w, 0, e);
    for (uint32_t t = 0; !m.rc && t < ET; t++) {
        char name[64], key[GNN_ETYPE_KEY_CAPACITY];
        gnn_etype_key(&meta.schema, t, key, sizeof key);
        snprintf(name, sizeof name, "edge/%.32s/indptr", key);
        uint64_t *ptr = maker_tensor(&m, name, GNN_U64, g->count[etype_dst[t]] + UINT64_C(1), 0),
                 n = 0;
        snprintf(name, sizeof name, "edge/%.32s/indices", key);
        uint32_t *idx = maker_tensor(&m, name, GNN_U32, edges[t], 0);
        for (uint32_t v = 0; v < N; v++)
            for (uint32_t i = 0; g->type[v] == etype_dst[t] && i <= g->degree[t][v]; i++)
                if (i < g->degree[t][v])
                    idx[n++] = g->local[g->adj[t][v][i]];
                else
                    ptr[g->local[v] + 1] = n;
    }
    return maker_finish(&m, &meta);
}

/* The largest error of any node; 2 if something fails. */
static double compare(struct toy *g)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    struct gnn_scores x = {0};
    uint32_t seeds[N], n = 0;
    double worst = 0;
    for (uint32_t v = 0; v < N; v++)
        if (g->seed[v])
            seeds[n++] = g->local[v];
    const struct gnn_sampling m = {.nhops = g->nhops,
                                   .fanout = g->fan,
                                   .rule.kind = g->replace ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM,
                                   .frontier = g->fresh ? GNN_FRONTIER_NEW : GNN_FRONTIER_ALL};
    if (write_toy("toy", g, &e) || gnn_store_open(&s, "toy", true, &e) ||
        gnn_access_expected(&s, &m,
                            &(struct gnn_access_seeds){seeds, n, g->share, NULL, 0, 0, UINT64_MAX},
                            &x, &e)) {
        printf("# %s\n", e.msg);
        worst = 2;
    }
    enumerate(g);
    for (uint32_t v = 0; worst < 2 && v < N; v++)
        worst = worst_of(worst, fabs(g->p[v] - x.of[g->type[v]][g->local[v]]));
    gnn_scores_release(&x);
    gnn_store_close(&s);
    return worst;
}

static void trees(void)
{
    for (int typed = 0; typed < 2; typed++) {
        double worst = 0;
        uint32_t inner = 0;
        for (uint32_t i = 0; i < 60; i++) {
            struct toy g;
            random_tree(&g, typed);
            worst = worst_of(worst, compare(&g));
            for (uint32_t v = 0; v < N; v++)
                inner += g.p[v] > 0 && g.p[v] < 1 && !g.seed[v];
        }
        ok(worst < 1e-6 && inner > 40,
           "gnn_access_expected agrees on %s trees with all that can happen (%u nodes, worst %.1e)",
           typed ? "typed" : "plain", inner, worst);
    }
    /* The comparison must be able to fail: the usual shortcut, hops taken as independent. */
    struct toy g = {.count = {2, 0},
                    .local = {0, 1},
                    .degree = {{1}},
                    .adj = {{{1}}},
                    .seed = {true},
                    .share = 0.5,
                    .fan = {1, 0, 0, 1},
                    .nhops = 2};
    for (uint32_t v = 2; v < N; v++)
        g.local[v] = g.count[0]++;
    ok(compare(&g) < 1e-6 && fabs(g.p[1] - 0.5) < 1e-9 && fabs(g.p[1] - (1 - 0.5 * 0.5)) > 0.2,
       "gnn_access_expected expects a neighbour that is taken in every hop as often as its seed");
}

/* ---- larger graphs, and the sampler itself ---- */

struct how {
    bool fresh, replace, balance;
};
static const char *name_of(const struct how *h)
{
    static char text[64];
    snprintf(text, sizeof text, "--frontier %s%s%s", h->fresh ? "new" : "all",
             h->replace ? " --replace" : "", h->balance ? " --seed-balance" : "");
    return text;
}

/* Of the nodes of type t: what is expected, what there is, and the error of each node. */
static double compare_counts(const struct gnn_scores *x, const double *count, double batches,
                             uint64_t n, uint32_t t, double *want, double *got)
{
    double error = 0, all = 0;
    *want = *got = 0;
    for (uint64_t i = 0; i < n; i++) {
        const double p = x->of[t][i], q = count[i] / batches;
        *want += p;
        *got += q;
        error += (p - q) * (p - q);
        all += q * q;
    }
    return sqrt(error / all);
}

static void sampled(struct gnn_store *s, struct how how)
{
    enum { EPOCHS = 60, BATCH = 40 };
    static const char *const fan[] = {"4,3"};
    const struct gnn_schema *c = &s->meta.schema;
    struct gnn_err e = {0};
    struct gnn_sampler_opts o;
    struct gnn_batch *b;
    struct gnn_scores x = {0};
    struct gnn_access_seeds seeds = {0};
    gnn_sampler_opts_init(&o);
    o.fanout = fan;
    o.nfanout = 1;
    o.sampling.batch_size = BATCH;
    o.epoch_to = EPOCHS;
    o.sampling.frontier = how.fresh ? GNN_FRONTIER_NEW : GNN_FRONTIER_ALL;
    o.sampling.replace = how.replace;
    o.sampling.seed_balance = how.balance;
    struct gnn_source *src = gnn_sampler_source_new(s, &o, &e);
    double *count[2] = {calloc(c->ntype[0].count, sizeof(double)),
                        calloc(c->ntype[1].count, sizeof(double))},
           batches = 0;
    const bool good = src && !gnn_access_find_seeds(s, &src->meta->sampling, &seeds, &e) &&
                      !gnn_access_expected(s, &src->meta->sampling, &seeds, &x, &e);
    for (; good && !gnn_source_next(src, &b, &e); gnn_batch_put(b), batches++)
        for (uint32_t t = 0; t < 2; t++)
            for (uint64_t i = 0; i < gnn_batch_nodes(b, t); i++)
                count[t][b->type[t].node[i]]++;
    ok(good && !e.code && batches == EPOCHS * 10, "the sampler draws with %s all batches (%g)%s",
       name_of(&how), batches, e.msg);
    for (uint32_t t = 0; good && t < 2; t++) {
        double want, got;
        const double error =
            compare_counts(&x, count[t], batches, c->ntype[t].count, t, &want, &got);
        ok(fabs(want - got) < 0.1 * got,
           "gnn_access_expected expects of type %s %.1f nodes in a batch, which has %.1f",
           c->ntype[t].name, want, got);
        ok(error < 0.15,
           "gnn_access_expected expects each node about as often as it is drawn (error %.3f)",
           error);
    }
    for (uint32_t t = 0; t < 2; t++)
        free(count[t]);
    gnn_access_seeds_release(&seeds);
    gnn_scores_release(&x);
    gnn_source_free(src);
}

static bool same(const struct gnn_scores *a, const struct gnn_scores *b, const struct gnn_schema *c)
{
    bool equal = a->of && b->of;
    for (uint32_t t = 0; equal && t < c->nntypes; t++)
        equal = !memcmp(a->of[t], b->of[t], c->ntype[t].count * sizeof(float));
    return equal;
}

static void threads(struct gnn_store *s)
{
    const struct gnn_schema *c = &s->meta.schema;
    struct gnn_err e = {0};
    struct gnn_scores one = {0}, many, degree = {0};
    int32_t fan[9] = {5, 5, 5, 3, 3, 3, 2, 2, 0};
    const struct gnn_sampling m = {.nhops = 3, .fanout = fan};
    uint32_t *seeds = NULL;
    const int most = omp_get_max_threads();
    bool fine = !gnn_store_split(s, 0, &seeds, &e), degrees = true;
    for (int n = 1; fine && n <= 4; n++) {
        struct gnn_scores d;
        omp_set_num_threads(n);
        const struct gnn_access_seeds from = {seeds, c->set[0].count, n < 4 ? 0.1 : 0.2, NULL, 0,
                                              0,     UINT64_MAX};
        fine = !gnn_access_expected(s, &m, &from, &many, &e);
        degrees = degrees && !gnn_access_degree(s, &m, s->from, s->to, &d, &e) &&
                  (n == 1 || same(&d, &degree, c));
        if (n == 1) {
            one = many;
            degree = d;
            continue;
        }
        fine = fine && same(&one, &many, c) == (n < 4);
        gnn_scores_release(&many);
        gnn_scores_release(&d);
    }
    omp_set_num_threads(most);
    ok(fine && !e.code,
       "gnn_access_expected gives the same bits for any number of threads, others for other seeds");
    double sum = 0;
    for (uint32_t t = 0; degree.of && t < c->nntypes; t++)
        for (uint64_t i = 0; i < c->ntype[t].count; i++)
            sum += degree.of[t][i];
    ok(degrees && sum == (double)(c->etype[0].count + c->etype[1].count + c->etype[2].count),
       "gnn_access_degree gives out-degrees that add up to the edges");
    gnn_scores_release(&one);
    gnn_scores_release(&degree);
    gnn_free(seeds);
}

/* Picks that are not uniform have no formula. */
static void refused(struct gnn_store *s)
{
    int32_t fan[3] = {5, 5, 5};
    uint32_t seed = 0;
    const struct gnn_access_seeds seeds = {.id = &seed, .n = 1, .share = 1, .to = UINT64_MAX};
    const struct gnn_sampling m[] = {
        {.nhops = 1, .fanout = fan, .rule.kind = GNN_PICK_LABOR},
        {.nhops = 1, .fanout = fan, .by_field = (bool[]){true}},
        {.nhops = 1, .fanout = fan, .rule.time.until = GNN_PICK_UNTIL},
        {.clusters = 2},
        {.walks.length = 3},
    };
    for (size_t i = 0; i < sizeof m / sizeof *m; i++) {
        struct gnn_err e = {0};
        struct gnn_scores x = {0};
        ok(gnn_access_expected(s, &m[i], &seeds, &x, &e) == GNN_E_USAGE && !x.of &&
               strstr(e.msg, "--frequency"),
           "gnn_access_expected refuses rule %zu and says who counts: %s", i, e.msg);
        gnn_scores_release(&x);
    }
}

/* ---- several ranks ---- */

enum { RANKS = 3, PARTS = 5 };

static int32_t rank_fan[6] = {4, 4, 0, 3, 0, -1};
static const struct gnn_sampling rank_batches = {.nhops = 2,
                                                 .fanout = rank_fan,
                                                 .batch_size = 20,
                                                 .nsplits = 1,
                                                 .split = (char *[]){(char[]){"train"}},
                                                 .split_seeds = (uint64_t[]){0}};

static struct gnn_scores of_rank[RANKS];

static void expect_as_rank(struct gnn_comm *c, void *m)
{
    struct gnn_err e = {0};
    struct gnn_store s;
    if (!gnn_store_open_ranks(&s, "parts", true, c, &e))
        (void)!gnn_access_of_batches(&s, m, &of_rank[c->rank], &e);
    gnn_store_close(&s);
}

/* What ranks find together is what one alone finds for the seeds of each. */
static void ranks(enum gnn_frontier frontier, bool balance)
{
    struct gnn_err e = {0};
    struct gnn_store s;
    struct gnn_sampling m = rank_batches;
    m.seed_balance = balance;
    struct gnn_access_seeds seeds = {0};
    bool equal = true;
    if (!gnn_store_open(&s, "parts", true, &e)) {
        m.frontier = frontier;
        m.split_seeds = &s.meta.schema.set[gnn_schema_find_set(&s.meta.schema, "train")].count;
        (void)!gnn_access_find_seeds(&s, &m, &seeds, &e);
    }
    ranks_run(RANKS, 0, expect_as_rank, &m);
    for (uint32_t r = 0; !e.code && r < RANKS; r++) {
        const uint64_t *book = s.book[m.seed_ntype], from = book[r * PARTS / RANKS],
                       to = book[(r + 1) * PARTS / RANKS];
        struct gnn_access_seeds own = seeds;
        struct gnn_scores x = {0};
        own.from = from;
        own.to = to;
        equal = equal && !gnn_access_expected(&s, &m, &own, &x, &e) &&
                same(&x, &of_rank[r], &s.meta.schema);
        gnn_scores_release(&x);
        gnn_scores_release(&of_rank[r]);
    }
    ok(seeds.n && equal,
       "gnn_access_of_batches expects with --frontier %s%s on %d ranks what one process does %s",
       frontier == GNN_FRONTIER_NEW ? "new" : "all", balance ? " --seed-balance" : "", RANKS,
       e.msg);
    gnn_access_seeds_release(&seeds);
    gnn_store_close(&s);
}

int main(void)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    scratch_enter();
    maker_state = 11;
    trees();
    if (ok(!store_make("s", 800, 6000, true, 5, &e) && !gnn_store_open(&s, "s", true, &e),
           "store_make makes a store that opens %s", e.msg)) {
        for (unsigned i = 0; i < 4; i++)
            sampled(&s, (struct how){.fresh = i & 1, .replace = i >= 2});
        sampled(&s, (struct how){.balance = true});
        threads(&s);
        refused(&s);
        if (ok(!store_divide("s", "parts", PARTS, false, &e),
               "store_divide divides a store into %d parts %s", PARTS, e.msg)) {
            ranks(GNN_FRONTIER_ALL, false);
            ranks(GNN_FRONTIER_NEW, false);
            ranks(GNN_FRONTIER_ALL, true);
        }
    }
    gnn_store_close(&s);
    return scratch_done();
}
