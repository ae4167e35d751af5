/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics against values worked out by hand (and equal to scikit-learn's). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/metrics.h"
#include "tap.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-6 || (isnan(a) && isnan(b));
}

static bool has_columns(enum gnn_task task)
{
    return task == GNN_TASK_MULTILABEL || task == GNN_TASK_REGRESSION;
}

static void fill(struct gnn_score *s, enum gnn_task task, uint32_t outputs, const float *z,
                 enum gnn_dtype d, void *y, uint64_t n)
{
    struct gnn_err e = {0};
    struct gnn_labels l = {0};
    struct gnn_tensor t = {.name = "y",
                           .dtype = d,
                           .ndim = has_columns(task) ? 2 : 1,
                           .shape = {n, outputs},
                           .data = y};
    if (gnn_score_init(s, task, outputs, true, &e))
        abort();
    for (uint64_t i = 0; i < n; i++) { /* one row at a time: sums over batches */
        struct gnn_tensor row = t;
        row.shape[0] = 1;
        row.data = (char *)y + i * gnn_dtype_bytes(d) * (has_columns(task) ? outputs : 1);
        if (gnn_labels_read(&l, task, outputs, &row, 1, &e) ||
            gnn_score_add(s, z + i * outputs, &l, 1, NULL, &e))
            abort();
    }
    gnn_labels_release(&l);
}

static double value_at(const struct gnn_score *s, enum gnn_metric m, double at)
{
    struct gnn_err e = {0};
    struct gnn_measured v;
    if (gnn_score_value(s, (struct gnn_measure){m, at}, &v, &e))
        abort();
    return v.value;
}

static double value(const struct gnn_score *s, enum gnn_metric m)
{
    return value_at(s, m, 0);
}

/* Values are NumPy's, over what is not nan. */
static void test_regression(void)
{
    struct gnn_score s;
    float z[] = {1, 10, 2.5f, 20, 2, 31, 0, 44}, y[] = {1.5f, 12, 2, NAN, 4, 30, NAN, 40};
    fill(&s, GNN_TASK_REGRESSION, 2, z, GNN_F32, y, 4);
    /* errors: -.5 .5 -2; -2 1 4 */
    ok(near(value(&s, GNN_RMSE), sqrt((0.25 + 0.25 + 4 + 4 + 1 + 16) / 6)) &&
           near(value(&s, GNN_MAE), 10.0 / 6),
       "gnn_score_value gives RMSE and MAE over all labelled elements");
    ok(near(value(&s, GNN_R2), (1 - 4.5 / 3.5 + 1 - 21 / (1208.0 / 3)) / 2),
       "gnn_score_value gives the mean of R2 over the outputs");
    ok(isnan(value(&s, GNN_ACCURACY)) && isnan(value(&s, GNN_ROC_AUC)) &&
           gnn_metric_defined(GNN_R2, GNN_TASK_REGRESSION) &&
           gnn_metric_defined(GNN_METRIC_LOSS, GNN_TASK_REGRESSION) &&
           !gnn_metric_defined(GNN_ACCURACY, GNN_TASK_REGRESSION) &&
           !gnn_metric_defined(GNN_R2, GNN_TASK_BINARY),
       "gnn_metric_defined tells the metrics of a regression from those of classes");
    ok(gnn_metric_better(GNN_RMSE, 1, 2) && gnn_metric_better(GNN_MAE, 1, 2) &&
           gnn_metric_better(GNN_R2, 2, 1) && !gnn_metric_better(GNN_RMSE, NAN, 2),
       "gnn_metric_better prefers small errors and a large R2");
    gnn_score_clear(&s);
    ok(isnan(value(&s, GNN_RMSE)) && isnan(value(&s, GNN_R2)),
       "gnn_score_value gives no error when nothing was added");
    gnn_score_release(&s);
    float same[] = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    fill(&s, GNN_TASK_REGRESSION, 1, z, GNN_F32, same, 7);
    ok(isnan(value(&s, GNN_R2)), "gnn_score_value gives no R2 of labels that are all the same");
    gnn_score_release(&s);
    float far[] = {16777213, 16777214, 16777212, 16777215};
    fill(&s, GNN_TASK_REGRESSION, 1, far, GNN_F32,
         (float[]){16777212, 16777213, 16777214, 16777215}, 4);
    ok(near(value(&s, GNN_R2), 1 - 6 / 5.0), "gnn_score_value gives R2 of labels far from 0");
    gnn_score_release(&s);

    struct gnn_labels l = {0};
    struct gnn_err e = {0};
    double huge[] = {-1, 1e39};
    struct gnn_tensor t = {
        .name = "node/n/y", .dtype = GNN_F64, .ndim = 1, .shape = {2}, .data = huge};
    ok(gnn_labels_read(&l, GNN_TASK_REGRESSION, 1, &t, 2, &e) == GNN_E_INPUT &&
           strstr(e.msg, "row 1: label 1e+39"),
       "gnn_labels_read refuses a number that f32 cannot hold: %s", e.msg);
    ok(!gnn_labels_read(&l, GNN_TASK_REGRESSION, 1, &t, 1, &(struct gnn_err){0}) &&
           l.target[0] == -1,
       "gnn_labels_read takes -1 for a number of a regression");
    gnn_labels_release(&l);
}

/* The losses of rows as kernels/loss.h gives them: of several columns, means over those labelled.
 */
static void test_loss(void)
{
    struct gnn_err e = {0};
    struct gnn_score s;
    float z[8] = {0}, two[] = {1, NAN, NAN, NAN, 3, 4, NAN, 5};
    int32_t cls[] = {1, -1, 0, 0};
    const struct gnn_labels columns = {.target = two}, classes = {.cls = cls};
    const float weight[] = {2, 5};
    if (gnn_score_init(&s, GNN_TASK_REGRESSION, 2, false, &e) ||
        gnn_score_add(&s, z, &columns, 4, (double[]){1, 0, (9 + 16) / 2.0, 25}, &e))
        abort();
    ok(s.known == 4 && s.labelled == 3 && s.rows == 4 && near(gnn_score_loss(&s), 51 / 4.0) &&
           near(value(&s, GNN_RMSE), sqrt(51 / 4.0)),
       "gnn_score_loss is the mean over all labels of several columns");
    gnn_score_release(&s);
    if (gnn_score_init(&s, GNN_TASK_MULTICLASS, 2, false, &e) ||
        gnn_score_add(&s, z, &classes, 4, (double[]){1, 0, 3, 5}, &e))
        abort();
    ok(near(gnn_score_loss(&s), 9 / 3.0) && s.labelled == 3,
       "gnn_score_loss is the mean over the rows with a label");
    gnn_score_clear(&s);
    ok(isnan(gnn_score_loss(&s)) && gnn_score_weight(&s) == 0,
       "gnn_score_loss is not defined over nothing");
    s.class_weight = weight;
    if (gnn_score_add(&s, z, &classes, 4, (double[]){1, 0, 3, 5}, &e))
        abort();
    ok(near(gnn_score_loss(&s), (5 * 1 + 2 * 3 + 2 * 5) / 9.0),
       "gnn_score_loss is the mean by the weights of classes");
    gnn_score_clear(&s);
    if (gnn_score_add(&s, z, &(struct gnn_labels){.cls = cls + 1}, 1, (double[]){0}, &e))
        abort();
    ok(isnan(gnn_score_loss(&s)) && s.rows == 1,
       "gnn_score_loss is not defined over rows without a label");
    gnn_score_release(&s);
}

enum { RANKED = 60 };

/* What scikit-learn and torchmetrics compute, from the definition: each value is a threshold, at
 * which all values not below are taken. Among the k highest, one of several equal values is as
 * likely as another. */
static double oracle(enum gnn_metric m, double at, const float *z, const float *y, uint32_t n)
{
    double positive = 0, area = 0, most = 0, among = 0, known = 0;
    for (uint32_t i = 0; i < n; i++) {
        known += !isnan(y[i]);
        positive += y[i] == 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        double taken = 0, found = 0, above = 0, equal = 0;
        for (uint32_t k = 0; k < n && !isnan(y[i]); k++) {
            if (isnan(y[k]))
                continue;
            taken += z[k] >= z[i];
            found += z[k] >= z[i] && y[k] == 1;
            above += z[k] > z[i];
            equal += z[k] == z[i];
        }
        if (y[i] == 1) {
            area += found / taken;
            among += fmin(1, fmax(0, (at - above) / equal));
        }
        if (!isnan(y[i]) && found / taken >= at && found / positive > most)
            most = found / positive;
    }
    if (m == GNN_PRECISION_AT)
        return known >= at ? among / at : (double)NAN;
    if (!(positive > 0))
        return NAN;
    return m == GNN_AVERAGE_PRECISION ? area / positive
           : m == GNN_RECALL_AT       ? among / positive
                                      : most;
}

static uint32_t draw(uint32_t below)
{
    static uint32_t x = 7;
    x = (uint32_t)((uint64_t)x * 48271 % 2147483647);
    return x % below;
}

static void test_ranking(void)
{
    static const struct gnn_measure all[] = {{GNN_AVERAGE_PRECISION, 0},
                                             {GNN_PRECISION_AT, 1},
                                             {GNN_PRECISION_AT, 7},
                                             {GNN_PRECISION_AT, 45},
                                             {GNN_RECALL_AT, 1},
                                             {GNN_RECALL_AT, 10},
                                             {GNN_RECALL_AT, 1000},
                                             {GNN_RECALL_AT_PRECISION, 0.5},
                                             {GNN_RECALL_AT_PRECISION, 0.9},
                                             {GNN_RECALL_AT_PRECISION, 1}};
    struct gnn_score s;
    float z[RANKED], y[RANKED];
    uint32_t wrong = 0, defined = 0;
    for (uint32_t turn = 0; turn < 400; turn++) {
        const uint32_t n = 1 + draw(RANKED), levels = 1 + draw(turn % 3 ? 6 : 1000),
                       rare = 1 + draw(9);
        for (uint32_t i = 0; i < n; i++) {
            z[i] = (float)draw(levels) - 3;
            y[i] = draw(7) == 0 ? (float)NAN : draw(rare) == 0;
        }
        fill(&s, GNN_TASK_BINARY, 1, z, GNN_F32, y, n);
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            const double got = value_at(&s, all[k].metric, all[k].at),
                         want = oracle(all[k].metric, all[k].at, z, y, n);
            wrong += !near(got, want);
            defined += isnan(want) ? 0 : 1;
        }
        gnn_score_release(&s);
    }
    ok(!wrong && defined > 2000,
       "metrics that rank are those of the definition, with ties: %u of %u", wrong, defined);
    /* The example of scikit-learn's average_precision_score. */
    fill(&s, GNN_TASK_BINARY, 1, (float[]){0.1f, 0.4f, 0.35f, 0.8f}, GNN_F32, (float[]){0, 0, 1, 1},
         4);
    ok(near(value(&s, GNN_AVERAGE_PRECISION), 5 / 6.0) &&
           near(value_at(&s, GNN_PRECISION_AT, 2), 0.5) &&
           near(value_at(&s, GNN_RECALL_AT, 3), 1) && isnan(value_at(&s, GNN_PRECISION_AT, 5)) &&
           near(value_at(&s, GNN_RECALL_AT_PRECISION, 0.7), 0.5),
       "gnn_score_value ranks the example of scikit-learn");
    gnn_score_release(&s);
    /* Of several columns, those with both labels count. */
    fill(&s, GNN_TASK_MULTILABEL, 3, (float[]){1, 1, 1, 2, 2, 2, 3, 3, 3}, GNN_F32,
         (float[]){1, 1, 0, 0, 1, 0, 1, NAN, 0}, 3);
    ok(near(value(&s, GNN_AVERAGE_PRECISION), (1 + 2 / 3.0) / 2),
       "average precision of several columns is the mean over those with both labels");
    gnn_score_release(&s);
}

static bool reads(const char *name, struct gnn_measure want)
{
    struct gnn_measure m;
    char text[48];
    return gnn_measure_read(name, &m) && m.metric == want.metric && near(m.at, want.at) &&
           !strcmp(gnn_measure_name(m, text), name);
}

static void test_names(void)
{
    static const char *const bad[] = {"",
                                      "precision@",
                                      "precision@0",
                                      "recall@-1",
                                      "recall@1.5",
                                      "recall@precision=0",
                                      "recall@precision=1.1",
                                      "recall@precision=nan",
                                      "recall@precision=",
                                      "roc-auc1",
                                      "precision@9 ",
                                      "precision@99999999999999999999"};
    struct gnn_measure m;
    ok(reads("accuracy", (struct gnn_measure){GNN_ACCURACY, 0}) &&
           reads("r2", (struct gnn_measure){GNN_R2, 0}) &&
           reads("average-precision", (struct gnn_measure){GNN_AVERAGE_PRECISION, 0}) &&
           reads("precision@100", (struct gnn_measure){GNN_PRECISION_AT, 100}) &&
           reads("recall@1000000", (struct gnn_measure){GNN_RECALL_AT, 1e6}) &&
           reads("recall@precision=0.9", (struct gnn_measure){GNN_RECALL_AT_PRECISION, 0.9}),
       "gnn_measure_read reads what gnn_measure_name writes");
    uint32_t taken = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        taken += gnn_measure_read(bad[i], &m);
    ok(!taken, "gnn_measure_read refuses other names and numbers");
}

int main(void)
{
    test_regression();
    test_loss();
    test_ranking();
    test_names();
    struct gnn_score s;
    struct gnn_err e = {0};

    float z3[] = {2, 1, 0, 0, 3, 1, 0, 1, 5, 1, 0, 0, 0, 9, 1, 3, 2, 1};
    int64_t y3[] = {0, 1, 2, 1, 1, -1};
    fill(&s, GNN_TASK_MULTICLASS, 3, z3, GNN_I64, y3, 6);
    ok(near(value(&s, GNN_ACCURACY), 0.8),
       "gnn_score_value gives the accuracy and leaves out rows without a label");
    ok(near(value(&s, GNN_F1_MICRO), 0.8),
       "gnn_score_value gives the accuracy for F1 micro of classes");
    ok(near(value(&s, GNN_F1_MACRO), (2.0 / 3 + 0.8 + 1) / 3),
       "gnn_score_value gives F1 macro of classes");
    ok(isnan(value(&s, GNN_ROC_AUC)), "gnn_score_value gives no ROC-AUC of three classes");
    gnn_score_release(&s);

    float z1[] = {0.1f, 0.4f, -0.35f, 0.8f, 0.4f};
    uint8_t y1[] = {0, 0, 1, 1, 1};
    fill(&s, GNN_TASK_BINARY, 1, z1, GNN_U8, y1, 5);
    ok(near(value(&s, GNN_ROC_AUC), 3.5 / 6), "gnn_score_value gives ROC-AUC with a tie");
    ok(near(value(&s, GNN_ACCURACY), 0.4), "gnn_score_value gives the accuracy of a binary task");
    ok(near(value(&s, GNN_F1_MACRO), 4.0 / 14),
       "gnn_score_value gives F1 macro over both classes of a binary task");
    gnn_score_release(&s);

    float bad[] = {0.1f, NAN, -0.35f, INFINITY, -INFINITY};
    fill(&s, GNN_TASK_BINARY, 1, bad, GNN_U8, y1, 5);
    ok(isnan(value(&s, GNN_ROC_AUC)), "gnn_score_value gives no ROC-AUC when a logit is a NaN");
    gnn_score_release(&s);
    bad[1] = INFINITY;
    fill(&s, GNN_TASK_BINARY, 1, bad, GNN_U8, y1, 5);
    ok(near(value(&s, GNN_ROC_AUC), 1.5 / 6),
       "gnn_score_value ranks infinite logits like others for ROC-AUC");
    gnn_score_release(&s);
    ok(!gnn_metric_better(GNN_ROC_AUC, NAN, 0.5) && !gnn_metric_better(GNN_METRIC_LOSS, NAN, 0.5),
       "gnn_metric_better takes a value that is not defined for no better than another");

    float zm[] = {1, -1, 2, 1, -3, 1, -1, -2};
    float ym[] = {1, 0, 1, 0, NAN, 1, 0, 0};
    fill(&s, GNN_TASK_MULTILABEL, 2, zm, GNN_F32, ym, 4);
    ok(near(value(&s, GNN_ACCURACY), 6.0 / 7),
       "gnn_score_value counts elements for the accuracy of several labels");
    ok(near(value(&s, GNN_F1_MICRO), 6.0 / 7),
       "gnn_score_value gives F1 micro over several labels");
    ok(near(value(&s, GNN_F1_MACRO), (1 + 2.0 / 3) / 2),
       "gnn_score_value gives F1 macro over several labels");
    ok(near(value(&s, GNN_ROC_AUC), (1 + 2.5 / 3) / 2),
       "gnn_score_value gives the mean ROC-AUC over several labels");
    gnn_score_clear(&s);
    ok(isnan(value(&s, GNN_ACCURACY)), "gnn_score_value gives no accuracy when nothing was added");
    gnn_score_release(&s);

    struct gnn_labels l = {0};
    int32_t big[] = {0, 3};
    struct gnn_tensor t = {
        .name = "node/n/y", .dtype = GNN_I32, .ndim = 1, .shape = {2}, .data = big};
    ok(gnn_labels_read(&l, GNN_TASK_MULTICLASS, 3, &t, 2, &e) == GNN_E_INPUT &&
           strstr(e.msg, "node/n/y: row 1"),
       "gnn_labels_read refuses a class beyond the last: %s", e.msg);
    e = (struct gnn_err){0};
    big[1] = -2;
    ok(gnn_labels_read(&l, GNN_TASK_MULTICLASS, 3, &t, 2, &e) == GNN_E_INPUT &&
           strstr(e.msg, "row 1: label -2"),
       "gnn_labels_read refuses a class below -1: %s", e.msg);
    e = (struct gnn_err){0};
    big[1] = -1;
    ok(!gnn_labels_read(&l, GNN_TASK_MULTICLASS, 3, &t, 2, &e),
       "gnn_labels_read takes -1 for no label %s", e.msg);
    float half[] = {-1, -0.5f};
    t.dtype = GNN_F32;
    t.data = half;
    ok(gnn_labels_read(&l, GNN_TASK_BINARY, 1, &t, 2, &e) == GNN_E_INPUT &&
           strstr(e.msg, "row 1: label -0.5"),
       "gnn_labels_read refuses a target between -1 and 0: %s", e.msg);
    gnn_labels_release(&l);
    return tap_done();
}
