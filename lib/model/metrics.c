/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and scores (lib/model/metrics.h): labels are checked and brought to one type, predictions
 * are counted into true and false positives per class, and metrics are made from these counts. Only
 * metrics that rank need all predictions, so only then they are kept. */
#include "lib/comm/comm.h"
#include "lib/data/meta.h"
#include "lib/model/link_metrics.h"
#include "lib/model/link_recall.h"
#include "lib/model/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/text.h"
#include "kernels/label.h"
#include "lib/data/label_check.h"
#include "lib/model/ranking.h"
#include "lib/model/task.h"
#include "lib/base/plural.h"
#include "lib/base/suggest.h"

_Static_assert((int)GNN_LABEL_U8 == (int)GNN_U8 && (int)GNN_LABEL_I64 == (int)GNN_I64 &&
                   (int)GNN_LABEL_BF16 == (int)GNN_BF16 && (int)GNN_LABEL_F64 == (int)GNN_F64,
               "one numbering of element types");

int gnn_labels_fit(const struct gnn_tensor *y, enum gnn_task task, uint32_t outputs, uint64_t n,
                   struct gnn_err *e)
{
    const uint64_t has = y->ndim == 2 ? y->shape[1] : 1;
    const uint32_t width = gnn_labels_width(task, outputs);
    if (y->ndim < 1 || y->ndim > 2 || y->shape[0] < n || has != width || y->dtype == GNN_F16)
        return gnn_fail(e, GNN_E_INPUT, "%s: expected labels with %llu row%s and %u column%s",
                        y->name, (unsigned long long)n, gnn_plural(n), width, gnn_plural(width));
    return 0;
}

/* Checked after the conversion, on the host; `y` is for the message, which quotes the label as it
 * was stored. */
int gnn_labels_check(const struct gnn_labels *l, enum gnn_task task, uint32_t outputs, uint64_t n,
                     const char *name, const void *y, enum gnn_dtype dtype, struct gnn_err *e)
{
    const struct gnn_task_labels *k = &gnn_task_labels[task];
    const uint32_t width = gnn_labels_width(task, outputs);
    char wrong[64];
    for (uint64_t i = 0; i < n * width; i++) {
        const double x = gnn_label_get(task, l->target, i),
                     v = y ? gnn_label_value(y, (enum gnn_label_type)dtype, i) : x;
        if (gnn_label_wrong(task, v, x, k->classes ? k->classes : outputs, wrong))
            return gnn_fail(e, GNN_E_INPUT, "%s: row %llu: %s", name,
                            (unsigned long long)(i / width), wrong);
    }
    return 0;
}

int gnn_labels_read(struct gnn_labels *l, enum gnn_task task, uint32_t outputs,
                    const struct gnn_tensor *y, uint64_t n, struct gnn_err *e)
{
    const uint64_t all = n * gnn_labels_width(task, outputs);
    if (gnn_labels_fit(y, task, outputs, n, e) ||
        gnn_buf_fit(&l->buf, all, sizeof(float), "labels", e))
        return e->code;
    l->target = l->buf.data;
    gnn_labels_form(y->data, (enum gnn_label_type)y->dtype, all, gnn_task_labels[task].form,
                    outputs, l->buf.data);
    return gnn_labels_check(l, task, outputs, n, y->name, y->data, y->dtype, e);
}

void gnn_labels_release(struct gnn_labels *l)
{
    gnn_buf_release(&l->buf);
    memset(l, 0, sizeof(*l));
}

int gnn_score_init(struct gnn_score *s, enum gnn_task task, uint32_t outputs, bool keep,
                   struct gnn_err *e)
{
    memset(s, 0, sizeof(*s));
    s->task = task;
    s->outputs = outputs;
    s->classes = gnn_task_labels[task].classes ? gnn_task_labels[task].classes : outputs;
    s->keep = keep && gnn_metric_defined(GNN_ROC_AUC, task);
    s->tp = gnn_alloc_zero(3 * (uint64_t)s->classes, sizeof(*s->tp), "score counts", e);
    if (!s->tp)
        return e->code;
    s->fp = s->tp + s->classes;
    s->fn = s->fp + s->classes;
    if (!gnn_task_numbers(task))
        return 0;
    s->abs_error = gnn_alloc_zero(4 * (uint64_t)outputs, sizeof(*s->abs_error), "score sums", e);
    if (!s->abs_error)
        return e->code;
    s->square_error = s->abs_error + outputs;
    s->deviation = s->square_error + outputs;
    s->mean = s->deviation + outputs;
    return 0;
}

int gnn_score_links(struct gnn_score *s, struct gnn_measure m, struct gnn_err *e)
{
    const struct gnn_link_measure of = {m.metric == GNN_MRR                 ? GNN_LINK_MRR
                                        : m.metric == GNN_HITS_AT           ? GNN_LINK_HITS
                                        : m.metric == GNN_AVERAGE_PRECISION ? GNN_LINK_AP
                                                                            : GNN_LINK_AUC,
                                        (uint64_t)m.at};
    if (m.metric == GNN_RECALL_AT && m.each) {
        s->keep = false;
        s->recall = gnn_alloc_zero(1, sizeof *s->recall, "scores of links", e);
        if (s->recall)
            s->recall->k = (uint64_t)m.at;
        return e->code;
    }
    if (!gnn_metric_links(m.metric) && m.metric != GNN_ROC_AUC && m.metric != GNN_AVERAGE_PRECISION)
        return 0;
    if (!(s->link = gnn_alloc_zero(1, sizeof *s->link, "scores of links", e)))
        return e->code;
    s->keep = false;
    gnn_link_metrics_init(s->link, &of, 1, m.each);
    return 0;
}

void gnn_score_clear(struct gnn_score *s)
{
    if (s->link)
        gnn_link_metrics_clear(s->link);
    if (s->recall)
        gnn_link_recall_clear(s->recall);
    s->summed = false;
    s->rows = s->labelled = s->known = s->correct = 0;
    s->loss = 0;
    if (s->tp)
        memset(s->tp, 0, 3 * sizeof(*s->tp) * s->classes);
    if (s->abs_error)
        memset(s->abs_error, 0, sizeof(*s->abs_error) * gnn_score_sums(s));
}

void gnn_score_release(struct gnn_score *s)
{
    if (s->link)
        gnn_link_metrics_release(s->link);
    if (s->recall)
        gnn_link_recall_release(s->recall);
    gnn_free(s->recall);
    gnn_free(s->link);
    gnn_free(s->tp);
    gnn_free(s->abs_error);
    gnn_buf_release(&s->z);
    gnn_buf_release(&s->y);
    memset(s, 0, sizeof(*s));
}

double gnn_score_weight(const struct gnn_score *s)
{
    double sum = 0;
    if (!s->class_weight)
        return gnn_task_columns(s->task) ? (double)s->known / s->outputs : (double)s->known;
    for (uint32_t k = 0; k < s->classes; k++)
        sum += (double)s->class_weight[k] * (double)(s->tp[k] + s->fn[k]);
    return sum;
}

/* Links, of which the positives come first. */
static int add_links(struct gnn_score *s, const float *z, const struct gnn_labels *y, uint64_t n,
                     struct gnn_err *e)
{
    uint64_t positives = 0;
    while (positives < n && y->target[positives] > 0.5f)
        positives++;
    const float *negative = z + positives, *there = y->target + positives;
    bool all = true; /* places of negatives have one */
    for (uint64_t i = 0; i < n - positives; i++)
        all &= !isnan(there[i]);
    there = all ? NULL : there;
    if (s->recall)
        return gnn_link_recall_add(s->recall, y->node, z, positives, negative, there, n - positives,
                                   e);
    return gnn_link_metrics_add(s->link, z, positives, negative, there, n - positives, e);
}

/* Whether there is a row: a link without a label is a place without a negative. */
static bool is_row(const struct gnn_score *s, const struct gnn_labels *y, uint64_t i)
{
    return s->task != GNN_TASK_LINKS || !isnan(y->target[i]);
}

/* Appends the rows between places that have none, after those before. */
static int keep_rows(struct gnn_score *s, const float *z, const struct gnn_labels *y, uint64_t n,
                     struct gnn_err *e)
{
    const uint64_t w = s->outputs;
    uint64_t to = s->rows;
    if (gnn_buf_reserve(&s->z, (s->rows + n) * w, sizeof(float), "predictions", e) ||
        gnn_buf_reserve(&s->y, (s->rows + n) * w, sizeof(float), "labels", e))
        return e->code;
    for (uint64_t i = 0, end; i < n; to += end - i, i = end + 1) {
        for (end = i; end < n && is_row(s, y, end); end++)
            ;
        memcpy((float *)s->z.data + to * w, z + i * w, (end - i) * w * sizeof(float));
        memcpy((float *)s->y.data + to * w, y->target + i * w, (end - i) * w * sizeof(float));
    }
    return 0;
}

int gnn_score_add(struct gnn_score *s, const float *z, const struct gnn_labels *y, uint64_t n,
                  const double *row_loss, struct gnn_err *e)
{
    const uint64_t w = s->outputs;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t before = s->known;
        const double weight = gnn_tasks[s->task].count(s, z + i * w, y, i);
        if (s->known > before)
            s->labelled += y->draws ? y->draws[i] : 1;
        if (row_loss)
            s->loss += row_loss[i] * weight;
    }
    if ((s->link || s->recall) && add_links(s, z, y, n, e))
        return e->code;
    if (s->keep && keep_rows(s, z, y, n, e))
        return e->code;
    for (uint64_t i = 0; i < n; i++)
        s->rows += !is_row(s, y, i) ? 0 : y->draws ? y->draws[i] : 1;
    return 0;
}

static double f1_score(uint64_t tp, uint64_t fp, uint64_t fn)
{
    return tp || fp || fn ? 2.0 * (double)tp / (double)(2 * tp + fp + fn) : NAN;
}

static double f1_mean(const struct gnn_score *s, bool macro)
{
    uint64_t tp = 0, fp = 0, fn = 0, n = 0;
    double sum = 0;
    for (uint32_t c = 0; c < s->classes; c++) {
        const double v = f1_score(s->tp[c], s->fp[c], s->fn[c]);
        tp += s->tp[c];
        fp += s->fp[c];
        fn += s->fn[c];
        if (!isnan(v)) {
            sum += v;
            n++;
        }
    }
    return !macro ? f1_score(tp, fp, fn) : n ? sum / (double)n : NAN;
}

/* One output's values with its labels. False if one is a NaN, which has no rank. */
static bool list_output(const struct gnn_score *s, uint32_t output, struct gnn_ranked *p,
                        uint64_t *n)
{
    const float *z = s->z.data, *y = s->y.data;
    *n = 0;
    for (uint64_t i = output; i < s->rows * s->outputs; i += s->outputs) {
        if (isnan(y[i]))
            continue;
        if (isnan(z[i]))
            return false;
        p[(*n)++] = (struct gnn_ranked){z[i], y[i]};
    }
    return true;
}

/* Over all links so far; NAN of none. */
static int link_value(const struct gnn_score *s, struct gnn_measured *v, struct gnn_err *e)
{
    if ((!s->link && !s->recall) || !s->rows)
        return 0;
    if (s->summed)
        *v = s->of_all;
    if (s->recall && !s->summed)
        return gnn_link_recall_value(s->recall, gnn_comm_self(), v, e);
    return s->summed ? 0 : gnn_link_metrics_one(s->link, gnn_comm_self(), v, e);
}

static int rank_mean(const struct gnn_score *s, struct gnn_measure m, double *value,
                     struct gnn_err *e)
{
    double sum = 0;
    uint32_t n = 0;
    if (!s->keep)
        return 0;
    struct gnn_ranked *p = gnn_alloc(s->rows, sizeof(*p), "ranks", e);
    if (!p)
        return e->code;
    for (uint32_t t = 0; t < s->outputs; t++) {
        uint64_t many;
        if (!list_output(s, t, p, &many))
            continue;
        const uint64_t positive = gnn_ranking_sort(p, many);
        const bool one = positive == 0 || positive == many;
        const double v =
            one && s->outputs > 1 ? (double)NAN : gnn_ranking_value(m, p, many, positive);
        if (!isnan(v)) {
            sum += v;
            n++;
        }
    }
    gnn_free(p);
    *value = n ? sum / n : NAN;
    return 0;
}

/* Mean over all labelled elements of what `sum` sums up for each output. */
static double error_mean(const struct gnn_score *s, const double *sum)
{
    double all = 0;
    for (uint32_t j = 0; j < s->outputs; j++)
        all += sum[j];
    return s->known ? all / (double)s->known : NAN;
}

/* Mean of 1 - squared errors / squared deviations. Labels that differ by no more than rounding,
 * which is far less than two f32 can, are all the same. */
static double r2_mean(const struct gnn_score *s)
{
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t j = 0; j < s->outputs; j++)
        if (s->deviation[j] > 1e-25 * (double)s->tp[j] * s->mean[j] * s->mean[j]) {
            sum += 1 - s->square_error[j] / s->deviation[j];
            n++;
        }
    return n ? sum / n : NAN;
}

double gnn_score_loss(const struct gnn_score *s)
{
    const double weight = gnn_score_weight(s);
    return weight > 0 ? s->loss / weight : (double)NAN;
}

static int plain_value(const struct gnn_score *s, struct gnn_measure m, double *value,
                       struct gnn_err *e)
{
    *value = NAN;
    if (!gnn_metric_defined(m.metric, s->task))
        return 0;
    if (gnn_metric_ranks(m.metric))
        return rank_mean(s, m, value, e);
    if (m.metric == GNN_ACCURACY)
        *value = s->known ? (double)s->correct / (double)s->known : (double)NAN;
    else if (m.metric == GNN_F1_MICRO || m.metric == GNN_F1_MACRO)
        *value = f1_mean(s, m.metric == GNN_F1_MACRO);
    else if (m.metric == GNN_METRIC_LOSS)
        *value = gnn_score_loss(s);
    else if (m.metric == GNN_RMSE)
        *value = sqrt(error_mean(s, s->square_error));
    else if (m.metric == GNN_MAE)
        *value = error_mean(s, s->abs_error);
    else
        *value = r2_mean(s);
    return 0;
}

int gnn_score_value(const struct gnn_score *s, struct gnn_measure m, struct gnn_measured *v,
                    struct gnn_err *e)
{
    double value;
    *v = (struct gnn_measured){NAN, NAN, NAN};
    if (gnn_metric_defined(m.metric, s->task) &&
        (s->link || s->recall || gnn_metric_links(m.metric)))
        return link_value(s, v, e);
    if (plain_value(s, m, &value, e))
        return e->code;
    *v = (struct gnn_measured){value, value, value};
    return 0;
}

bool gnn_metric_defined(enum gnn_metric m, enum gnn_task task)
{
    return gnn_tasks[task].metrics >> m & 1;
}

#define NAME_OF(id, name, value, example) name,
static const char *const names[] = {GNN_METRICS(NAME_OF, NAME_OF, NAME_OF)};

static bool has_number(enum gnn_metric m)
{
    return m >= GNN_PRECISION_AT && m <= GNN_HITS_AT;
}

const char *gnn_measure_name(struct gnn_measure m, char out[48])
{
    const bool links = gnn_metric_links(m.metric) || (m.each && m.metric == GNN_RECALL_AT);
    const char *convention = !links ? "" : m.each || m.metric == GNN_MRR ? "-realistic" : "-shared";
    if (has_number(m.metric))
        snprintf(out, 48, "%s%.15g%s", names[m.metric], m.at, convention);
    else
        snprintf(out, 48, "%s%s", names[m.metric], convention);
    return out;
}

/* A count or, of a precision, a share. */
static bool read_number(const char *text, bool share, double *v)
{
    char line[40];
    uint64_t whole = 0;
    if (snprintf(line, sizeof line, "%s\n", text) >= (int)sizeof line)
        return false;
    const char *end = share ? gnn_text_f64(line, v) : gnn_text_u64(line, &whole);
    if (!share)
        *v = (double)whole;
    return end && *end == '\n' && !end[1] && *v > 0 && *v <= (share ? 1 : 1e15);
}

bool gnn_measure_read(const char *name, struct gnn_measure *m)
{
    for (int k = GNN_R2; k >= 0; k--) { /* of two that begin alike, the longer one first */
        const size_t n = strlen(names[k]);
        *m = (struct gnn_measure){.metric = (enum gnn_metric)k};
        if (strncmp(name, names[k], n) != 0)
            continue;
        if (has_number(m->metric))
            return read_number(name + n, k == GNN_RECALL_AT_PRECISION, &m->at);
        if (!name[n])
            return true;
    }
    return false;
}

/* How many negatives the links of a split have together. */
static uint64_t count_negatives(const struct gnn_sampling *s, uint32_t split)
{
    const struct gnn_drawn d = gnn_sampling_drawn(s, split);
    const uint64_t n = s->split_seeds[split], b = s->batch_size;
    return d.total ? d.total
                   : n / b * gnn_drawn_negatives(d, 0, b) + gnn_drawn_negatives(d, 0, n % b);
}

int gnn_measure_of_links(struct gnn_measure *m, bool named, const struct gnn_sampling *s,
                         struct gnn_err *e)
{
    const uint32_t split = s->nsplits > 1;
    uint64_t all = 0, each = 0; /* of the set that has most, as not all need be measured */
    for (uint32_t i = split; i < s->nsplits; i++) {
        const uint64_t n = count_negatives(s, i), own = gnn_drawn_each(gnn_sampling_drawn(s, i));
        all = n > all ? n : all;
        each = own > each ? own : each;
    }
    m->each = each;
    if (each && m->metric == GNN_RECALL_AT && s->links.end == GNN_NEGATIVE_BOTH &&
        !gnn_sampling_gives(s, split))
        return gnn_fail(e, GNN_E_USAGE,
                        "--metric recall@%.0f is of each node and its negatives, which "
                        "--negative-end both does not draw",
                        m->at);
    if (each && m->metric == GNN_HITS_AT && m->at > (double)each)
        return gnn_fail(e, GNN_E_USAGE,
                        "--metric hits@%.0f: links have %llu negatives at most: "
                        "--negatives, or --eval-negatives triplet:%.0f",
                        m->at, (unsigned long long)each, m->at);
    if (!each && m->metric == GNN_HITS_AT && all && m->at > (double)all)
        return gnn_fail(
            e, GNN_E_USAGE,
            "--metric hits@%.0f requires as many negatives, and the links of a set have "
            "at most %llu",
            m->at, (unsigned long long)all);
    if (!named && each)
        m->metric = GNN_MRR;
    return m->metric != GNN_MRR || each
               ? 0
               : gnn_fail(e, GNN_E_USAGE,
                          "--metric mrr requires negatives of each link: --negatives triplet:K");
}

/* "accuracy|...|precision@K|..." */
#define WORD(id, name, value, example) name value
#define NEXT_WORD(id, name, value, example) "|" name value

int gnn_task_metric(enum gnn_task task, const char *text, struct gnn_measure *m, struct gnn_err *e)
{
    struct gnn_suggest words = {.word = text};
    *m = (struct gnn_measure){.metric = gnn_tasks[task].usual};
    if (text && !gnn_measure_read(text, m)) {
        gnn_suggest_words(&words, GNN_METRICS(WORD, NEXT_WORD, NEXT_WORD));
        return gnn_fail(e, GNN_E_USAGE, "--metric: unknown value '%s'%s", text,
                        gnn_suggest_text(&words, "one of"));
    }
    return !task || gnn_metric_defined(m->metric, task)
               ? 0
               : gnn_fail(e, GNN_E_USAGE, "metric %s is not defined for %s tasks", text,
                          gnn_task_name(task));
}
