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

static double value(const struct gnn_score *s, enum gnn_metric m)
{
    struct gnn_err e = {0};
    double v;
    if (gnn_score_value(s, m, &v, &e))
        abort();
    return v;
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

int main(void)
{
    test_regression();
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
