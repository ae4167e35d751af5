/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tasks: what is learned of the examples of a batch, and what predictions are. To add
 * one: a number in enum gnn_task and a line in gnn_task_labels, which say what its labels are, and
 * an entry here. No other code asks which task it is.
 *
 * An example is a row of outputs with its labels (lib/model/examples.h). All functions may be
 * called by several threads. */
#ifndef GNN_LIB_MODEL_TASK_H
#define GNN_LIB_MODEL_TASK_H

#include "lib/model/metrics.h"
#include "lib/ops/ops.h"

struct gnn_task_ops {
    enum gnn_metric usual; /* the metric reported by default */
    uint32_t metrics;      /* all metrics that are defined, as bits 1 << metric */

    /* Computes the losses of outputs z (n, outputs) for labels y in the form that gnn_task_labels
     * has, in the memory of o: of each example, a mean over its labels; and, unless dz is NULL, the
     * gradient of scale times their sum, (n, outputs), which may take the place of z. The caller
     * knows the denominator of losses. */
    void (*loss)(const struct gnn_ops *o, const float *z, uint32_t n, uint32_t outputs,
                 const void *y, float scale, double *row_loss, float *dz);
    /* Counts example i, whose outputs are z, and returns what it weighs in the loss
     * (kernels/weight.h); 0: no label. */
    double (*count)(struct gnn_score *s, const float *z, const struct gnn_labels *y, uint64_t i);

    /* Predictions. probs: turns outputs (n, w) into probabilities, in place; NULL: they are values,
     * and there are no classes. best, of tasks with one class: the class that the outputs of an
     * example, as they are, stand for. */
    void (*probs)(float *z, size_t n, size_t w);
    uint32_t (*best)(const float *z, size_t w);
};
/* By number; empty for none. */
extern const struct gnn_task_ops gnn_tasks[];

/* The metric of this name or, if text is NULL, the usual one. GNN_E_USAGE unless it is defined for
 * the task; of GNN_TASK_NONE, which stands for any, unless it is a metric. */
int gnn_task_metric(enum gnn_task task, const char *text, struct gnn_measure *m,
                    struct gnn_err *e) GNN_MUST_USE;

#endif
