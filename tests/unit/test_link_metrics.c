/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of links against values worked out by hand, and against their definitions, said in the
 * slowest way. With arguments it prints the values of scores in files, for tests/peers:
 * test_link_metrics each|shared POSITIVES NEGATIVES METRIC... */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/link_metrics.h"
#include "lib/model/ranking.h"
#include "tap.h"
#include "thread_ranks.h"

#define near(a, b) (fabs((a) - (b)) < 1e-12)

static uint32_t draw(uint32_t below)
{
    static uint32_t x = 11;
    x = (uint32_t)((uint64_t)x * 48271 % 2147483647);
    return x % below;
}

struct scores {
    const float *p, *n;
    uint64_t positives, negatives;
    bool each;
    const char *const *metric;
    uint64_t piece;     /* positives (each) or scores that are added at once; 0: all */
    const float *there; /* NaN: no negative in this place; NULL: in all */
};
struct result {
    int rc;
    struct gnn_err e;
    struct gnn_link_value v[GNN_LINK_VALUES];
    uint32_t n;
};

static void begin(struct gnn_link_metrics *m, const struct scores *s)
{
    struct gnn_link_measure measure[GNN_LINK_MEASURES];
    struct gnn_err e = {0};
    uint32_t n = 0;
    for (; s->metric[n]; n++)
        if (gnn_link_measure_read(s->metric[n], s->each, &measure[n], &e))
            abort();
    gnn_link_metrics_init(m, measure, n, s->each);
}

/* Adds what is rank r's of so many: every size-th piece. */
static int add_pieces(struct gnn_link_metrics *m, const struct scores *s, uint32_t r, uint32_t size,
                      struct gnn_err *e)
{
    const uint64_t k = s->each && s->positives ? s->negatives / s->positives : 1,
                   n = s->each ? s->positives : s->negatives,
                   all = n > s->positives ? n : s->positives, piece = s->piece ? s->piece : all;
    for (uint64_t at = 0, i = 0; at < all || !i; at += piece, i++) {
        const uint64_t p = at < s->positives ? at : s->positives, q = at < n ? at : n,
                       p_end = at + piece < s->positives ? at + piece : s->positives,
                       q_end = at + piece < n ? at + piece : n;
        if (i % size == r &&
            gnn_link_metrics_add(m, s->p + p, p_end - p, s->n + q * k,
                                 s->there ? s->there + q * k : NULL, (q_end - q) * k, e))
            return e->code;
    }
    return 0;
}

static struct result run(struct scores s)
{
    struct gnn_link_metrics m;
    struct result r = {0};
    begin(&m, &s);
    r.rc = add_pieces(&m, &s, 0, 1, &r.e);
    if (!r.rc)
        r.rc = gnn_link_metrics_finish(&m, gnn_comm_self(), r.v, &r.n, &r.e);
    gnn_link_metrics_release(&m);
    return r;
}

static double get(const struct result *r, const char *name)
{
    for (uint32_t i = 0; !r->rc && i < r->n; i++)
        if (!strcmp(r->v[i].name, name))
            return r->v[i].value;
    return NAN;
}

static bool same(const struct result *a, const struct result *b)
{
    bool alike = !a->rc && !b->rc && a->n == b->n;
    for (uint32_t i = 0; alike && i < a->n; i++)
        alike = a->v[i].value == b->v[i].value && !strcmp(a->v[i].name, b->v[i].name);
    return alike;
}

static const char *const of_each[] = {"mrr", "hits@1", "hits@3", "auc", "ap", NULL},
                         *const of_ranks[] = {"mrr", "hits@2", NULL},
                         *const of_areas[] = {"auc", "ap", NULL},
                         *const of_shared[] = {"auc", "ap", "hits@1", "hits@5", NULL},
                         *const of_hits[] = {"hits@1", "hits@2", "hits@5", NULL};

/* ---- by hand ---- */

static void test_ranks(void)
{
    /* ranks: 1; 1 + 1 above + half of one equal; 1 + 2 above */
    const float p[] = {0.9f, 0.5f, 0.1f},
                n[] = {0.1f, 0.2f, 0.3f, 0.7f, 0.5f, 0.2f, 0.0f, 0.4f, 0.3f};
    struct result r = run((struct scores){p, n, 3, 9, true, of_ranks, 0});
    ok(r.n == 6 && !strcmp(r.v[0].name, "mrr-realistic") &&
           near(r.v[0].value, (1 + 1 / 2.5 + 1 / 3.0) / 3) &&
           near(get(&r, "mrr-optimistic"), (1 + 1 / 2.0 + 1 / 3.0) / 3) &&
           near(get(&r, "mrr-pessimistic"), (1 + 1 / 3.0 + 1 / 3.0) / 3),
       "MRR by realistic, optimistic and pessimistic ranks");
    ok(!strcmp(r.v[1].name, "hits@2-realistic") && near(r.v[1].value, 1 / 3.0) &&
           near(get(&r, "hits@2-optimistic"), 2 / 3.0) &&
           near(get(&r, "hits@2-pessimistic"), 1 / 3.0),
       "hits@K by the same ranks: one of 2.5 is no hit among two");
    ok(strstr(r.v[0].convention, "half of those equal") &&
           !strstr(r.v[2].convention, "those equal") && strstr(r.v[3].convention, "+ those equal"),
       "values say how ties count: %s", r.v[0].convention);
    const float apart[] = {0.1f, 0.2f, 0.3f, 0.7f, 0.4f, 0.2f, 0.0f, 0.4f, 0.3f};
    r = run((struct scores){p, apart, 3, 9, true, of_ranks, 0});
    ok(r.n == 2 && near(r.v[0].value, (1 + 1 / 2.0 + 1 / 3.0) / 3),
       "without ties there is one rank only");
}

static void test_equal(void)
{
    float p[50], n[50 * 9];
    for (uint32_t i = 0; i < 50 * 9; i++)
        n[i] = -(p[i % 50] = 0.0f);
    struct result r = run((struct scores){p, n, 50, 50 * 9, true, of_each, 0});
    ok(near(get(&r, "mrr-realistic"), 1 / 5.5) && get(&r, "mrr-optimistic") == 1 &&
           get(&r, "mrr-pessimistic") == 0.1,
       "a model that gives one score has MRR 1, 2/11 or 1/10 by how ties count");
    ok(get(&r, "hits@3-realistic") == 0 && get(&r, "hits@3-optimistic") == 1 &&
           get(&r, "auc-pooled") == 0.5 && near(get(&r, "ap-pooled"), 0.1),
       "its AUC is 1/2, its AP the share of positives, and -0 is 0");
    r = run((struct scores){p, n, 50, 450, false, of_hits, 7});
    ok(get(&r, "hits@1-shared") == 0 && get(&r, "hits@5-shared") == 0,
       "its hits@K with shared negatives are none");
    const float infinite[] = {INFINITY, -INFINITY};
    r = run((struct scores){infinite, infinite, 2, 2, true, of_areas, 0});
    ok(get(&r, "auc-pooled") == 0.5 && near(get(&r, "ap-pooled"), 0.5),
       "infinite scores are ranked like others");
}

/* ---- by definition ---- */

static double slow_auc(const struct scores *s)
{
    double sum = 0;
    for (uint64_t i = 0; i < s->positives; i++)
        for (uint64_t k = 0; k < s->negatives; k++)
            sum += s->p[i] > s->n[k] ? 1 : s->p[i] == s->n[k] ? 0.5 : 0;
    return sum / (double)s->positives / (double)s->negatives;
}

static double slow_ap(const struct scores *s)
{
    double sum = 0;
    for (uint64_t i = 0; i < s->positives; i++) {
        double found = 0, taken = 0;
        for (uint64_t k = 0; k < s->positives; k++)
            found += s->p[k] >= s->p[i];
        for (uint64_t k = 0; k < s->negatives; k++)
            taken += s->n[k] >= s->p[i];
        sum += found / (found + taken);
    }
    return sum / (double)s->positives;
}

static double slow_hits(const struct scores *s, uint32_t most)
{
    double hits = 0;
    for (uint64_t i = 0; i < s->positives; i++) {
        uint32_t before = 0; /* not above the K-th highest: K or more are no lower */
        for (uint64_t k = 0; k < s->negatives; k++)
            before += s->n[k] >= s->p[i];
        hits += before < most;
    }
    return hits / (double)s->positives;
}

/* tie: half as much as each that is equal adds to the rank; most: of hits@K, 0: reciprocal. */
static double slow_rank(const struct scores *s, uint32_t tie, uint32_t most)
{
    const uint64_t each = s->negatives / s->positives;
    double sum = 0;
    for (uint64_t i = 0; i < s->positives; i++) {
        double rank = 1;
        for (uint64_t k = i * each; k < (i + 1) * each; k++)
            rank += s->n[k] > s->p[i] ? 1 : s->n[k] == s->p[i] ? 0.5 * tie : 0;
        sum += most ? rank <= most : 1 / rank;
    }
    return sum / (double)s->positives;
}

static double other_ranking(const struct scores *s, enum gnn_metric metric)
{
    static struct gnn_ranked r[4000];
    for (uint64_t i = 0; i < s->positives + s->negatives; i++)
        r[i] = i < s->positives ? (struct gnn_ranked){s->p[i], 1}
                                : (struct gnn_ranked){s->n[i - s->positives], 0};
    const uint64_t n = s->positives + s->negatives, positive = gnn_ranking_sort(r, n);
    return gnn_ranking_value((struct gnn_measure){metric, 0}, r, n, positive);
}

static bool areas_right(const struct result *r, const struct scores *s)
{
    const double auc = get(r, "auc-pooled"), ap = get(r, "ap-pooled");
    return near(auc, slow_auc(s)) && near(ap, slow_ap(s)) &&
           near(auc, other_ranking(s, GNN_ROC_AUC)) &&
           near(ap, other_ranking(s, GNN_AVERAGE_PRECISION));
}

static bool ranks_right(const struct result *r, const struct scores *s)
{
    static const char *const name[] = {"mrr-optimistic", "mrr-realistic", "mrr-pessimistic"},
                             *const hits[] = {"hits@3-optimistic", "hits@3-realistic",
                                              "hits@3-pessimistic"};
    bool right = true;
    for (uint32_t t = 0; t < 3; t++) { /* one that is not there equals the realistic one */
        const double v = get(r, name[t]), h = get(r, hits[t]);
        right &= near(isnan(v) ? get(r, name[1]) : v, slow_rank(s, t, 0)) &&
                 near(isnan(h) ? get(r, hits[1]) : h, slow_rank(s, t, 3));
    }
    return right;
}

static float few[4000], many[4000];

/* Of few different scores in two of three turns. */
static struct scores random_scores(uint32_t turn, bool each)
{
    const uint32_t p = 1 + draw(60), k = 3 + draw(8), levels = turn % 3 ? 1 + draw(12) : 1u << 30;
    for (uint32_t i = 0; i < 4000; i++) {
        few[i] = (float)draw(levels) - 5;
        many[i] = (float)draw(levels) - 5;
    }
    return (struct scores){
        few, many, p, each ? p * k : 5 + draw(3000), each, each ? of_each : of_shared, 0};
}

static void test_definition(void)
{
    static const uint64_t pieces[] = {1, 2, 3, 7, 64};
    uint32_t wrong = 0, differ = 0, ties = 0;
    for (uint32_t turn = 0; turn < 300; turn++) {
        struct scores s = random_scores(turn, turn % 2);
        const struct result r = run(s);
        wrong += !areas_right(&r, &s);
        if (s.each)
            wrong += !ranks_right(&r, &s);
        else
            wrong += !near(get(&r, "hits@1-shared"), slow_hits(&s, 1)) ||
                     !near(get(&r, "hits@5-shared"), slow_hits(&s, 5));
        ties += r.n > 5;
        s.piece = pieces[turn / 2 % 5];
        const struct result again = run(s);
        differ += !same(&r, &again);
    }
    ok(!wrong && ties > 50, "metrics are those of the definitions, with ties and without: %u wrong",
       wrong);
    ok(!differ, "pieces of any size give the same bits: %u differ", differ);
}

/* ---- over ranks ---- */

struct job {
    struct scores s;
    struct result r[4];
};

static void rank_of_job(struct gnn_comm *c, void *arg)
{
    struct job *j = arg;
    struct result *r = &j->r[c->rank];
    struct gnn_link_metrics m;
    *r = (struct result){0};
    begin(&m, &j->s);
    r->rc = add_pieces(&m, &j->s, c->rank, c->size, &r->e);
    if (!r->rc)
        r->rc = gnn_link_metrics_finish(&m, c, r->v, &r->n, &r->e);
    gnn_link_metrics_release(&m);
}

static void test_several(void)
{
    static struct job j;
    uint32_t differ = 0;
    for (uint32_t turn = 0; turn < 24; turn++) {
        j.s = random_scores(turn, turn % 2);
        if (!j.s.each && turn % 4 == 0)
            j.s.metric = of_hits;
        j.s.piece = 1 + turn % 7;
        const struct result one = run(j.s);
        const uint32_t size = 2 + turn % 3;
        ranks_run(size, 0, rank_of_job, &j);
        for (uint32_t r = 0; r < size; r++)
            differ += !same(&one, &j.r[r]);
    }
    ok(!differ, "2 to 4 ranks have the bits of one: %u differ", differ);
    /* More different scores of positives than ranks compare at once. */
    for (uint32_t i = 0; i < 4000; i++) {
        few[i] = (float)(i * 7 % 4000);
        many[i] = (float)(i * 11 % 4000) - 0.5f * (float)(i % 2);
    }
    j.s = (struct scores){few, many, 2000, 2000, false, of_shared, 100};
    const struct result one = run(j.s);
    ranks_run(3, 0, rank_of_job, &j);
    ok(areas_right(&one, &j.s) && same(&one, &j.r[0]) && same(&one, &j.r[2]),
       "also with thousands of different scores");
    j.s = (struct scores){few, many, 6, 12, true, (const char *const[]){"hits@3", NULL}, 1};
    ranks_run(3, 0, rank_of_job, &j);
    ok(j.r[1].rc == GNN_E_INPUT &&
           !strcmp(j.r[1].e.msg, "hits@3: 2 negatives of each positive, expected as many as K"),
       "all ranks refuse what none has enough negatives for: %s", j.r[1].e.msg);
}

/* ---- memory, and bad input ---- */

/* What is kept of scores, before the values; aborts if they are refused. */
static uint64_t kept_bytes(const struct scores *s, struct gnn_link_value *v)
{
    struct gnn_link_metrics m;
    struct gnn_err e = {0};
    uint32_t n;
    begin(&m, s);
    if (add_pieces(&m, s, 0, 1, &e))
        abort();
    const uint64_t bytes = m.positive.key.cap + m.negative.key.cap;
    if (gnn_link_metrics_finish(&m, gnn_comm_self(), v, &n, &e))
        abort();
    gnn_link_metrics_release(&m);
    return bytes;
}

static void test_memory(void)
{
    enum { MANY = 3000000 };
    float *n = malloc(MANY * sizeof *n), p[100];
    struct gnn_link_value v[GNN_LINK_VALUES];
    if (!n)
        abort();
    for (uint32_t i = 0; i < MANY; i++) /* each number once, in no order */
        n[i] = (float)((uint64_t)i * 1234577 % MANY);
    for (uint32_t i = 0; i < 100; i++)
        p[i] = (float)(MANY - 2 * i) + 0.5f;
    uint64_t bytes = kept_bytes(&(struct scores){p, n, 100, MANY, false, of_hits, 0}, v);
    ok(bytes && bytes < 100000 && v[0].value == 0.01 && near(v[2].value, 0.03),
       "hits@K keeps few of three million shared negatives: %llu bytes", (unsigned long long)bytes);
    const float around[] = {MANY - 4998.5f, MANY - 4999.5f, MANY - 5000, MANY - 5000.5f, 0};
    kept_bytes(
        &(struct scores){around, n, 5, MANY, false, (const char *const[]){"hits@5000", NULL}, 999},
        v);
    ok(near(v[0].value, 0.4), "hits@5000 of so many tells the next scores apart: %g", v[0].value);
    bytes = kept_bytes(&(struct scores){p + 99, n, 1, MANY, true, of_ranks, 0}, v);
    ok(!bytes && near(v[0].value, 1 / 198.0),
       "MRR keeps none of three million negatives of one positive: rank %.6g", 1 / v[0].value);
    bytes = kept_bytes(&(struct scores){p, n, 100, MANY, false, of_shared, 1000}, v);
    ok(bytes >= 4 * (uint64_t)MANY && bytes < 6 * (uint64_t)MANY + 10000 &&
           near(v[0].value, 1 - 99 * 99.0 / 100 / MANY),
       "AUC keeps them at 4 bytes each, and up to half more for growth: %llu bytes",
       (unsigned long long)bytes);
    free(n);
}

static void test_clear(void)
{
    struct gnn_link_metrics m;
    struct gnn_link_value v[GNN_LINK_VALUES];
    struct gnn_err e = {0};
    uint32_t n;
    bool right = true;
    begin(&m, &(struct scores){.metric = of_hits});
    for (uint32_t turn = 0; turn < 3; turn++) {
        const float low = -(float)turn;
        for (uint32_t i = 0; i < 4; i++)
            right &= !gnn_link_metrics_add(&m, few, 4000, many, NULL, 4000, &e);
        gnn_link_metrics_clear(&m);
        right &= !gnn_link_metrics_add(&m, (float[]){low, low - 2}, 2,
                                       (float[]){low - 1, low - 3, low - 4, low - 5, low - 6}, NULL,
                                       5, &e) &&
                 !gnn_link_metrics_finish(&m, gnn_comm_self(), v, &n, &e) && v[0].value == 0.5 &&
                 v[1].value == 1;
        gnn_link_metrics_clear(&m);
    }
    ok(right, "gnn_link_metrics_clear forgets what was added before");
    gnn_link_metrics_release(&m);
}

static bool refuses(struct scores s, const char *why)
{
    const struct result r = run(s);
    return r.rc == GNN_E_INPUT && !strcmp(r.e.msg, why);
}

static void test_refusals(void)
{
    const float z[] = {1, 2, 3, 4, NAN, 6};
    ok(refuses((struct scores){z, z, 0, 4, false, of_shared, 0}, "no positives") &&
           refuses((struct scores){z, z, 0, 0, true, of_ranks, 0}, "no positives") &&
           refuses((struct scores){z, z, 3, 0, false, of_shared, 0}, "no negatives") &&
           refuses((struct scores){z, z, 3, 0, true, of_ranks, 0}, "no negatives"),
       "empty sets are refused");
    for (uint64_t piece = 0; piece < 4; piece++)
        ok(refuses((struct scores){z, z, 6, 4, false, of_shared, piece},
                   "positive 4: score is NaN") &&
               refuses((struct scores){z, z, 3, 6, true, of_ranks, piece},
                       "negative 4: score is NaN"),
           "a NaN is refused, with its number, in pieces of %u", (unsigned)piece);
    ok(refuses((struct scores){z, z, 2, 4, false, of_hits, 0},
               "hits@5: 4 negatives, expected as many as K") &&
           refuses((struct scores){z, z, 2, 2, true, of_ranks, 0},
                   "hits@2: 1 negative of each positive, expected as many as K"),
       "hits@K of fewer than K negatives is refused, which OGB calls 1");
    struct gnn_link_metrics m;
    struct gnn_err e = {0};
    begin(&m, &(struct scores){.each = true, .metric = of_ranks});
    ok(gnn_link_metrics_add(&m, z, 2, z, NULL, 3, &e) == GNN_E_INPUT &&
           !strcmp(e.msg, "3 negatives of 2 positives: not as many of each"),
       "negatives that are not as many of each positive are refused: %s", e.msg);
    gnn_link_metrics_release(&m);
}

/* Places without a negative are as if they were not there, whatever is in them. */
static void test_ragged(void)
{
    enum { P = 60, EACH = 7 };
    float p[P], n[P * EACH], y[P * EACH];
    struct gnn_link_metrics m;
    struct gnn_err e = {0};
    struct result by_list = {0};
    const struct scores s = {p, n, P, P * EACH, true, of_each, 0, y};
    begin(&m, &s);
    for (uint32_t i = 0; i < P; i++) {
        const uint32_t has = 1 + draw(EACH);
        p[i] = (float)draw(9);
        for (uint32_t k = 0; k < EACH; k++) {
            n[i * EACH + k] = (float)draw(9);
            y[i * EACH + k] = k < has ? 0 : NAN;
        }
        by_list.rc |= gnn_link_metrics_add(&m, p + i, 1, n + i * EACH, NULL, has, &e);
    }
    by_list.rc |= gnn_link_metrics_finish(&m, gnn_comm_self(), by_list.v, &by_list.n, &e);
    gnn_link_metrics_release(&m);
    for (uint64_t piece = 0; piece < 4; piece++) {
        struct scores some = s;
        some.piece = piece;
        const struct result r = run(some);
        ok(same(&r, &by_list), "places without negatives do not count, in pieces of %u",
           (unsigned)piece);
    }
    /* ranks: 1, of one that has none; 2 of two; 1.5 of one that is equal */
    const float own[] = {1, 1, 1}, others[] = {2, 2, 2, 0, 1, 9},
                there[] = {NAN, NAN, 0, 0, 0, NAN};
    struct result r = run((struct scores){own, others, 3, 6, true, of_ranks, 0, there});
    ok(near(get(&r, "mrr-realistic"), (1 + 1 / 2.0 + 1 / 1.5) / 3) &&
           get(&r, "hits@2-realistic") == 1,
       "a positive without negatives has rank 1");
    ok(refuses((struct scores){own, others, 2, 2, true, of_areas, 0, (float[]){NAN, NAN}},
               "no negatives"),
       "but all together must have some");
}

static bool reads(const char *text, bool each, enum gnn_link_metric metric, uint64_t k)
{
    struct gnn_link_measure m;
    return !gnn_link_measure_read(text, each, &m, &(struct gnn_err){0}) && m.metric == metric &&
           m.k == k;
}

static void test_words(void)
{
    static const char *const bad[] = {"",         "hits@", "hits@0",         "hits@5000000000",
                                      "hits@1.5", "auc1",  "mrr-optimistic", "hits@5-shared",
                                      "roc"};
    struct gnn_link_measure m;
    struct gnn_err e = {0};
    uint32_t taken = 0;
    ok(reads("auc", true, GNN_LINK_AUC, 0) && reads("ap-pooled", false, GNN_LINK_AP, 0) &&
           reads("mrr", true, GNN_LINK_MRR, 0) && reads("mrr-realistic", true, GNN_LINK_MRR, 0) &&
           reads("hits@50", false, GNN_LINK_HITS, 50) &&
           reads("hits@50-shared", false, GNN_LINK_HITS, 50) &&
           reads("hits@10-realistic", true, GNN_LINK_HITS, 10) &&
           reads(NULL, true, GNN_LINK_MRR, 0) && reads(NULL, false, GNN_LINK_AUC, 0),
       "gnn_link_measure_read takes words, names of results, and none");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        taken += !gnn_link_measure_read(bad[i], true, &m, &(struct gnn_err){0});
    ok(!taken, "gnn_link_measure_read refuses other words");
    ok(gnn_link_measure_read("mrr", false, &m, &e) == GNN_E_USAGE &&
           strstr(e.msg, "mrr requires negatives of each positive"),
       "and MRR of shared negatives: %s", e.msg);
    e = (struct gnn_err){0};
    ok(gnn_link_measure_read("hit@50", false, &m, &e) == GNN_E_USAGE &&
           strstr(e.msg, "unknown value 'hit@50'") && strstr(e.msg, "auc, ap, mrr, hits@K"),
       "an unknown word is answered with all: %s", e.msg);
}

static float *read_scores(const char *path, uint64_t *n)
{
    FILE *f = fopen(path, "rb");
    float *z = malloc(1 << 26);
    if (!f || !z)
        abort();
    *n = fread(z, sizeof *z, (1 << 26) / sizeof *z, f);
    fclose(f);
    return z;
}

static int print_values(char **arg)
{
    uint64_t positives, negatives;
    float *p = read_scores(arg[1], &positives), *n = read_scores(arg[2], &negatives);
    const struct result r = run((struct scores){p, n, positives, negatives, !strcmp(arg[0], "each"),
                                                (const char *const *)arg + 3, 5});
    for (uint32_t i = 0; !r.rc && i < r.n; i++)
        printf("%s %.17g\n", r.v[i].name, r.v[i].value);
    if (r.rc)
        fprintf(stderr, "%s\n", r.e.msg);
    free(p);
    free(n);
    return r.rc != 0;
}

int main(int argc, char **argv)
{
    if (argc > 4)
        return print_values(argv + 1);
    test_ranks();
    test_equal();
    test_definition();
    test_several();
    test_memory();
    test_clear();
    test_refusals();
    test_ragged();
    test_words();
    return tap_done();
}
