/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of links (lib/model/link_metrics.h). Ranks are counted as they come. Their reciprocals
 * are added up as integers, which have the same sum in any order. */
#include "lib/model/link_metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/text.h"
#include "lib/base/plural.h"
#include "lib/base/suggest.h"

#define WORD_OF(id, word, number) word,
static const char *const words[] = {GNN_LINK_METRICS(WORD_OF, WORD_OF)};

struct convention {
    const char *name, *text;
};
/* Of ranks: how a negative that equals the positive counts. */
enum { OPTIMISTIC, REALISTIC, PESSIMISTIC };
#define RANK "rank among the positive's negatives: 1 + those above it"
static const struct convention ties[GNN_LINK_TIES] = {
    {"optimistic", RANK},
    {"realistic", RANK " + half of those equal to it (OGB, TGB)"},
    {"pessimistic", RANK " + those equal to it"}};
/* Of metrics over all negatives. Without a name, there is no such metric. */
static const struct convention pooled[GNN_LINK_METRIC_N] = {
    [GNN_LINK_AUC] = {"pooled", "all positives with all negatives; ties count half"},
    [GNN_LINK_AP] = {"pooled", "all positives with all negatives; each score is a threshold"},
    [GNN_LINK_HITS] = {"shared", "positives above the K-th highest of all negatives (OGB)"}};

static bool is_ranked(enum gnn_link_metric m, bool each)
{
    return each && (m == GNN_LINK_MRR || m == GNN_LINK_HITS);
}

static const struct convention *convention_of(enum gnn_link_metric m, bool each)
{
    return is_ranked(m, each) ? &ties[REALISTIC] : &pooled[m];
}

/* What follows the word of m->metric: its number, and perhaps a convention. */
static bool read_rest(const char *p, bool each, struct gnn_link_measure *m)
{
    const char *name = convention_of(m->metric, each)->name;
    if (m->metric == GNN_LINK_HITS) {
        p = gnn_text_u64(p, &m->k);
        if (!p || !m->k || m->k > UINT32_MAX)
            return false;
    }
    return !*p || (name && *p == '-' && !strcmp(p + 1, name));
}

int gnn_link_measure_read(const char *text, bool each, struct gnn_link_measure *m,
                          struct gnn_err *e)
{
    struct gnn_suggest known = {.word = text};
    *m = (struct gnn_link_measure){.metric = each ? GNN_LINK_MRR : GNN_LINK_AUC};
    if (!text)
        return 0;
    for (uint32_t k = 0; k < GNN_LINK_METRIC_N; k++) {
        const size_t n = strlen(words[k]);
        m->metric = (enum gnn_link_metric)k;
        if (strncmp(text, words[k], n) != 0 || !read_rest(text + n, each, m))
            continue;
        return convention_of(m->metric, each)->name
                   ? 0
                   : gnn_fail(e, GNN_E_USAGE, "--metric: %s requires negatives of each positive",
                              text);
    }
    gnn_suggest_words(&known, GNN_LINK_METRIC_WORDS);
    return gnn_fail(e, GNN_E_USAGE, "--metric: unknown value '%s'%s", text,
                    gnn_suggest_text(&known, "one of"));
}

/* ---- pieces ---- */

void gnn_link_metrics_init(struct gnn_link_metrics *m, const struct gnn_link_measure *measure,
                           uint32_t n, bool each)
{
    enum { SORTED = 4096 }; /* fewer are not worth a sort */
    *m = (struct gnn_link_metrics){.measures = n, .each = each};
    for (uint32_t i = 0; i < n; i++) {
        m->measure[i] = measure[i];
        m->areas |= measure[i].metric == GNN_LINK_AUC || measure[i].metric == GNN_LINK_AP;
        if (measure[i].metric == GNN_LINK_HITS && !each && measure[i].k > m->shared_k)
            m->shared_k = measure[i].k;
    }
    m->positive.most = UINT64_MAX;
    m->negative.most = m->areas ? UINT64_MAX : m->shared_k > SORTED ? m->shared_k : SORTED;
}

void gnn_link_metrics_clear(struct gnn_link_metrics *m)
{
    m->most_each = 0;
    m->count = (struct gnn_link_counts){0};
    gnn_link_scores_clear(&m->positive);
    gnn_link_scores_clear(&m->negative);
}

void gnn_link_metrics_release(struct gnn_link_metrics *m)
{
    gnn_link_scores_release(&m->positive);
    gnn_link_scores_release(&m->negative);
    memset(m, 0, sizeof *m);
}

static int check_numbers(const char *what, const float *z, uint64_t n, uint64_t before,
                         struct gnn_err *e)
{
    for (uint64_t i = 0; i < n; i++)
        if (isnan(z[i]))
            return gnn_fail(e, GNN_E_INPUT, "%s %llu: score is NaN", what,
                            (unsigned long long)(before + i));
    return 0;
}

static int check_piece(const struct gnn_link_metrics *m, const float *positive, uint64_t positives,
                       const float *negative, uint64_t negatives, struct gnn_err *e)
{
    if (m->each && positives && !negatives)
        return gnn_fail(e, GNN_E_INPUT, "no negatives");
    if (m->each && (positives ? negatives % positives : negatives))
        return gnn_fail(e, GNN_E_INPUT, "%llu negative%s of %llu positive%s: not as many of each",
                        (unsigned long long)negatives, gnn_plural(negatives),
                        (unsigned long long)positives, gnn_plural(positives));
    return check_numbers("positive", positive, positives, m->count.positives, e)
               ? e->code
               : check_numbers("negative", negative, negatives, m->count.negatives, e);
}

static void count_rank(struct gnn_link_metrics *m, uint64_t above, uint64_t equal)
{
    for (uint32_t t = 0; t < GNN_LINK_TIES; t++) {
        /* Twice the rank, so that halves are whole, and 2^64 divided by it. */
        const uint64_t rank = 2 + 2 * above + t * equal, reciprocal = (0 - rank) / rank + 1;
        m->count.reciprocal[t][0] += reciprocal & UINT32_MAX;
        m->count.reciprocal[t][1] += reciprocal >> 32;
        for (uint32_t i = 0; i < m->measures; i++)
            m->count.hits[t][i] +=
                m->measure[i].metric == GNN_LINK_HITS && rank <= 2 * m->measure[i].k;
    }
}

static void count_ranks(struct gnn_link_metrics *m, const float *positive, uint64_t positives,
                        const float *negative, const float *y, uint64_t each)
{
    for (uint64_t i = 0; i < positives; i++, negative += each, y += y ? each : 0) {
        uint64_t above = 0, equal = 0, many = each;
        for (uint64_t k = 0; !y && k < each; k++) {
            above += negative[k] > positive[i];
            equal += negative[k] == positive[i];
        }
        for (uint64_t k = 0; y && k < each; k++) {
            const bool there = !isnan(y[k]);
            above += there && negative[k] > positive[i];
            equal += there && negative[k] == positive[i];
            many -= !there;
        }
        m->most_each = many > m->most_each ? many : m->most_each;
        count_rank(m, above, equal);
    }
}

/* Keeps the scores of negatives, and counts them: those between places that have none. */
static int add_negatives(struct gnn_link_metrics *m, const float *z, const float *y, uint64_t n,
                         struct gnn_err *e)
{
    for (uint64_t i = 0, end; i < n; i = end + 1) {
        for (end = i; end < n && !(y && isnan(y[end])); end++)
            ;
        if ((m->areas || m->shared_k) && gnn_link_scores_add(&m->negative, z + i, end - i, e))
            return e->code;
        m->count.negatives += end - i;
    }
    return 0;
}

int gnn_link_metrics_add(struct gnn_link_metrics *m, const float *positive, uint64_t positives,
                         const float *negative, const float *y, uint64_t negatives,
                         struct gnn_err *e)
{
    if (check_piece(m, positive, positives, negative, negatives, e))
        return e->code;
    if (((m->areas || m->shared_k) && gnn_link_scores_add(&m->positive, positive, positives, e)) ||
        add_negatives(m, negative, y, negatives, e))
        return e->code;
    if (m->each && positives)
        count_ranks(m, positive, positives, negative, y, negatives / positives);
    m->count.positives += positives;
    return 0;
}

/* ---- results ---- */

static int sum_counts(struct gnn_link_metrics *m, struct gnn_comm *c, struct gnn_err *e)
{
    return gnn_comm_all_reduce(c, &m->count, sizeof m->count / sizeof(uint64_t), GNN_REDUCE_U64,
                               e) ||
                   gnn_comm_all_reduce(c, &m->most_each, 1, GNN_REDUCE_MAX, e)
               ? e->code
               : 0;
}

static int check_counts(const struct gnn_link_metrics *m, struct gnn_err *e)
{
    const uint64_t most = m->each ? m->most_each : m->count.negatives;
    if (!m->count.positives || !m->count.negatives)
        return gnn_fail(e, GNN_E_INPUT, "no %s", m->count.positives ? "negatives" : "positives");
    for (uint32_t i = 0; i < m->measures; i++)
        if (m->measure[i].metric == GNN_LINK_HITS && m->measure[i].k > most)
            return gnn_fail(e, GNN_E_INPUT, "hits@%llu: %llu negative%s%s, expected as many as K",
                            (unsigned long long)m->measure[i].k, (unsigned long long)most,
                            gnn_plural(most), m->each ? " of each positive" : "");
    return 0;
}

static void set_value(struct gnn_link_value *v, const struct gnn_link_measure *measure,
                      const struct convention *convention, double value)
{
    char number[24] = "";
    if (measure->metric == GNN_LINK_HITS)
        snprintf(number, sizeof number, "%llu", (unsigned long long)measure->k);
    snprintf(v->name, sizeof v->name, "%s%s-%s", words[measure->metric], number, convention->name);
    v->convention = convention->text;
    v->value = value;
}

static double ranked_value(const struct gnn_link_metrics *m, uint32_t i, uint32_t tie)
{
    const uint64_t *r = m->count.reciprocal[tie];
    const double n = (double)m->count.positives;
    return m->measure[i].metric == GNN_LINK_HITS
               ? (double)m->count.hits[tie][i] / n
               : ((double)r[1] * 0x1p-31 + (double)r[0] * 0x1p-63) / n;
}

/* All measures that need the scores themselves. */
static int set_pooled(struct gnn_link_metrics *m, struct gnn_comm *c, struct gnn_link_value *value,
                      struct gnn_err *e)
{
    struct gnn_link_scores all = {0}, top = {0};
    struct gnn_link_areas a = {0};
    gnn_link_scores_sort(&m->positive);
    gnn_link_scores_sort(&m->negative);
    int rc = gnn_link_scores_gather(&all, &m->positive, UINT64_MAX, c, e);
    if (!rc && m->shared_k)
        rc = gnn_link_scores_gather(&top, &m->negative, m->shared_k, c, e);
    if (!rc && m->areas)
        rc = gnn_link_areas(&a, &all, &m->negative, m->count.negatives, c, e);
    for (uint32_t i = 0; !rc && i < m->measures; i++) {
        const struct gnn_link_measure *s = &m->measure[i];
        if (!is_ranked(s->metric, m->each))
            set_value(&value[i], s, &pooled[s->metric],
                      s->metric == GNN_LINK_AUC  ? a.auc
                      : s->metric == GNN_LINK_AP ? a.ap
                                                 : gnn_link_scores_above(&all, &top, s->k));
    }
    gnn_link_scores_release(&all);
    gnn_link_scores_release(&top);
    return rc;
}

int gnn_link_metrics_finish(struct gnn_link_metrics *m, struct gnn_comm *c,
                            struct gnn_link_value *value, uint32_t *n, struct gnn_err *e)
{
    *n = m->measures;
    if (sum_counts(m, c, e) || check_counts(m, e) ||
        ((m->areas || m->shared_k) && set_pooled(m, c, value, e)))
        return e->code;
    for (uint32_t i = 0; i < m->measures; i++) {
        double v[GNN_LINK_TIES];
        if (!is_ranked(m->measure[i].metric, m->each))
            continue;
        for (uint32_t t = 0; t < GNN_LINK_TIES; t++)
            v[t] = ranked_value(m, i, t);
        set_value(&value[i], &m->measure[i], &ties[REALISTIC], v[REALISTIC]);
        if (v[OPTIMISTIC] > v[PESSIMISTIC]) {
            set_value(&value[(*n)++], &m->measure[i], &ties[OPTIMISTIC], v[OPTIMISTIC]);
            set_value(&value[(*n)++], &m->measure[i], &ties[PESSIMISTIC], v[PESSIMISTIC]);
        }
    }
    return 0;
}

int gnn_link_metrics_one(struct gnn_link_metrics *m, struct gnn_comm *c, struct gnn_measured *v,
                         struct gnn_err *e)
{
    struct gnn_link_value all[GNN_LINK_VALUES];
    uint32_t n;
    if (gnn_link_metrics_finish(m, c, all, &n, e))
        return e->code;
    *v = (struct gnn_measured){all->value, all->value, all->value};
    if (n > 1) {
        v->optimistic = all[1].value;
        v->pessimistic = all[2].value;
    }
    return 0;
}
