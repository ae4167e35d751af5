/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/task.h"

#include <math.h>

#include "kernels/loss.h"

/* Bits of metrics: all know the loss; then those of classes, of classes in an order, of numbers. */
enum {
    LOSS = 1 << GNN_METRIC_LOSS,
    CLASSES = LOSS | 1 << GNN_ACCURACY | 1 << GNN_F1_MICRO | 1 << GNN_F1_MACRO,
    ORDERS = CLASSES | 1 << GNN_ROC_AUC | 1 << GNN_AVERAGE_PRECISION | 1 << GNN_PRECISION_AT |
             1 << GNN_RECALL_AT | 1 << GNN_RECALL_AT_PRECISION,
    OF_LINKS = ORDERS | 1 << GNN_HITS_AT | 1 << GNN_MRR,
    NUMBERS = LOSS | 1 << GNN_RMSE | 1 << GNN_MAE | 1 << GNN_R2
};

/* ---- one class: multiclass, and binary, whose one output serves two classes ---- */

static double count_class(struct gnn_score *s, uint32_t got, uint32_t want,
                          const struct gnn_labels *y, uint64_t i)
{
    const uint32_t many = y->draws ? y->draws[i] : 1;
    s->known += many;
    if (got == want) {
        s->correct += many;
        s->tp[want] += many;
    } else {
        s->fp[got] += many;
        s->fn[want] += many;
    }
    return (s->class_weight ? (double)s->class_weight[want] : 1) * many;
}

static void softmax_loss(const struct gnn_ops *o, const float *z, uint32_t n, uint32_t outputs,
                         const void *y, float scale, double *row_loss, float *dz)
{
    o->softmax_ce(o, z, n, outputs, y, scale, row_loss, dz);
}

/* Of equal outputs the first wins, as in PyTorch's argmax on the CPU. */
static uint32_t greatest_of(const float *z, size_t w)
{
    uint32_t best = 0;
    for (uint32_t j = 1; j < w; j++)
        best = z[j] > z[best] ? j : best;
    return best;
}

static double count_multiclass(struct gnn_score *s, const float *z, const struct gnn_labels *y,
                               uint64_t i)
{
    return y->cls[i] < 0 ? 0
                         : count_class(s, greatest_of(z, s->outputs), (uint32_t)y->cls[i], y, i);
}

static void sigmoid_loss(const struct gnn_ops *o, const float *z, uint32_t n, uint32_t outputs,
                         const void *y, float scale, double *row_loss, float *dz)
{
    o->sigmoid_ce(o, z, n, outputs, y, scale, row_loss, dz);
}

/* Whether it is the second class, before rounding can hide which. */
static uint32_t is_positive(const float *z, size_t w)
{
    (void)w;
    return *z > 0;
}

static double count_binary(struct gnn_score *s, const float *z, const struct gnn_labels *y,
                           uint64_t i)
{
    const float t = y->target[i];
    return isnan(t) ? 0 : count_class(s, is_positive(z, 1), t > 0.5f, y, i);
}

static void sigmoid_probs(float *z, size_t n, size_t w)
{
    gnn_sigmoid(z, n * w);
}

/* ---- columns: multi-label and regression ---- */

static void count_label(struct gnn_score *s, uint32_t j, float z, float y, uint32_t many)
{
    const bool got = z > 0, want = y > 0.5f;
    s->correct += got == want ? many : 0;
    s->tp[j] += got && want ? many : 0;
    s->fp[j] += got && !want ? many : 0;
    s->fn[j] += !got && want ? many : 0;
}

/* A label of output j, which counts so often; its deviation as by Welford (1962), which does not
 * cancel, with weights as by West (1979). */
static void count_number(struct gnn_score *s, uint32_t j, float z, float y, uint32_t many)
{
    const double error = (double)z - (double)y, before = (double)y - s->mean[j], times = many;
    s->tp[j] += many;
    s->abs_error[j] += times * fabs(error);
    s->square_error[j] += times * (error * error);
    s->mean[j] += times * before / (double)s->tp[j];
    s->deviation[j] += times * before * ((double)y - s->mean[j]);
}

static double count_columns(struct gnn_score *s, const float *z, const struct gnn_labels *y,
                            uint64_t i)
{
    const uint32_t many = y->draws ? y->draws[i] : 1;
    uint64_t known = 0;
    for (uint32_t j = 0; j < s->outputs; j++) {
        const float t = y->target[i * s->outputs + j];
        if (isnan(t))
            continue;
        known += many;
        (s->abs_error ? count_number : count_label)(s, j, z[j], t, many);
    }
    s->known += known;
    return (double)known / s->outputs;
}

static void squared_loss(const struct gnn_ops *o, const float *z, uint32_t n, uint32_t outputs,
                         const void *y, float scale, double *row_loss, float *dz)
{
    o->squared_error(o, z, n, outputs, y, scale, row_loss, dz);
}

const struct gnn_task_ops gnn_tasks[] = {
    [GNN_TASK_MULTICLASS] = {GNN_ACCURACY, CLASSES, softmax_loss, count_multiclass, gnn_softmax,
                             greatest_of},
    [GNN_TASK_BINARY] = {GNN_ROC_AUC, ORDERS, sigmoid_loss, count_binary, sigmoid_probs,
                         is_positive},
    [GNN_TASK_MULTILABEL] = {GNN_ROC_AUC, ORDERS, sigmoid_loss, count_columns, sigmoid_probs},
    [GNN_TASK_REGRESSION] = {GNN_RMSE, NUMBERS, squared_loss, count_columns},
    [GNN_TASK_LINKS] = {GNN_ROC_AUC, OF_LINKS, sigmoid_loss, count_binary, sigmoid_probs,
                        is_positive},
};
