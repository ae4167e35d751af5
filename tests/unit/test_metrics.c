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

static void fill(struct gnn_score *s, enum gnn_task task, uint32_t outputs, const float *z,
                 enum gnn_dtype d, void *y, uint64_t n)
{
    struct gnn_err e = {0};
    struct gnn_labels l = {0};
    struct gnn_tensor t = {.name = "y",
                           .dtype = d,
                           .ndim = task == GNN_TASK_MULTILABEL ? 2 : 1,
                           .shape = {n, outputs},
                           .data = y};
    if (gnn_score_init(s, task, outputs, true, &e))
        abort();
    for (uint64_t i = 0; i < n; i++) { /* one row at a time: sums over batches */
        struct gnn_tensor row = t;
        row.shape[0] = 1;
        row.data = (char *)y + i * gnn_dtype_bytes(d) * (task == GNN_TASK_MULTILABEL ? outputs : 1);
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

int main(void)
{
    struct gnn_score s;
    struct gnn_err e = {0};

    float z3[] = {2, 1, 0, 0, 3, 1, 0, 1, 5, 1, 0, 0, 0, 9, 1, 3, 2, 1};
    int64_t y3[] = {0, 1, 2, 1, 1, -1};
    fill(&s, GNN_TASK_MULTICLASS, 3, z3, GNN_I64, y3, 6);
    ok(near(value(&s, GNN_ACCURACY), 0.8), "accuracy; unlabelled rows do not count");
    ok(near(value(&s, GNN_F1_MICRO), 0.8), "F1 micro of classes is accuracy");
    ok(near(value(&s, GNN_F1_MACRO), (2.0 / 3 + 0.8 + 1) / 3), "F1 macro");
    ok(isnan(value(&s, GNN_ROC_AUC)), "no ROC-AUC of three classes");
    gnn_score_release(&s);

    float z1[] = {0.1f, 0.4f, -0.35f, 0.8f, 0.4f};
    uint8_t y1[] = {0, 0, 1, 1, 1};
    fill(&s, GNN_TASK_BINARY, 1, z1, GNN_U8, y1, 5);
    ok(near(value(&s, GNN_ROC_AUC), 3.5 / 6), "ROC-AUC with a tie");
    ok(near(value(&s, GNN_ACCURACY), 0.4), "binary accuracy");
    ok(near(value(&s, GNN_F1_MACRO), 4.0 / 14), "F1 macro over both classes");
    gnn_score_release(&s);

    float bad[] = {0.1f, NAN, -0.35f, INFINITY, -INFINITY};
    fill(&s, GNN_TASK_BINARY, 1, bad, GNN_U8, y1, 5);
    ok(isnan(value(&s, GNN_ROC_AUC)), "ROC-AUC of a logit that is a NaN is not defined");
    gnn_score_release(&s);
    bad[1] = INFINITY;
    fill(&s, GNN_TASK_BINARY, 1, bad, GNN_U8, y1, 5);
    ok(near(value(&s, GNN_ROC_AUC), 1.5 / 6),
       "ROC-AUC of infinite logits, which are ranked like others");
    gnn_score_release(&s);
    ok(!gnn_metric_better(GNN_ROC_AUC, NAN, 0.5) && !gnn_metric_better(GNN_METRIC_LOSS, NAN, 0.5),
       "a value that is not defined is not better than another");

    float zm[] = {1, -1, 2, 1, -3, 1, -1, -2};
    float ym[] = {1, 0, 1, 0, NAN, 1, 0, 0};
    fill(&s, GNN_TASK_MULTILABEL, 2, zm, GNN_F32, ym, 4);
    ok(near(value(&s, GNN_ACCURACY), 6.0 / 7), "multi-label accuracy counts elements");
    ok(near(value(&s, GNN_F1_MICRO), 6.0 / 7), "F1 micro over tasks");
    ok(near(value(&s, GNN_F1_MACRO), (1 + 2.0 / 3) / 2), "F1 macro over tasks");
    ok(near(value(&s, GNN_ROC_AUC), (1 + 2.5 / 3) / 2), "ROC-AUC is the mean over tasks");
    gnn_score_clear(&s);
    ok(isnan(value(&s, GNN_ACCURACY)), "nothing added: not a number");
    gnn_score_release(&s);

    struct gnn_labels l = {0};
    int32_t big[] = {0, 3};
    struct gnn_tensor t = {
        .name = "node/n/y", .dtype = GNN_I32, .ndim = 1, .shape = {2}, .data = big};
    ok(gnn_labels_read(&l, GNN_TASK_MULTICLASS, 3, &t, 2, &e) == GNN_E_INPUT &&
           strstr(e.msg, "node/n/y: row 1"),
       "a class beyond the last is refused: %s", e.msg);
    e = (struct gnn_err){0};
    big[1] = -2;
    ok(gnn_labels_read(&l, GNN_TASK_MULTICLASS, 3, &t, 2, &e) == GNN_E_INPUT &&
           strstr(e.msg, "row 1: label -2"),
       "so is one below -1: %s", e.msg);
    e = (struct gnn_err){0};
    big[1] = -1;
    ok(!gnn_labels_read(&l, GNN_TASK_MULTICLASS, 3, &t, 2, &e), "and -1 is none %s", e.msg);
    float half[] = {-1, -0.5f};
    t.dtype = GNN_F32;
    t.data = half;
    ok(gnn_labels_read(&l, GNN_TASK_BINARY, 1, &t, 2, &e) == GNN_E_INPUT &&
           strstr(e.msg, "row 1: label -0.5"),
       "a target between -1, which is none, and 0 is refused: %s", e.msg);
    gnn_labels_release(&l);
    return tap_done();
}
