/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of a batch, and what is measured of predictions against them. */
#ifndef GNN_LIB_MODEL_METRICS_H
#define GNN_LIB_MODEL_METRICS_H

#include "lib/base/mem.h"
#include "lib/data/schema.h"

/* All metrics: the name, and its argument in manuals and as an example. PRECISION_AT: the precision
 * among the K highest outputs. RECALL_AT: the share of all positive ones that is among these.
 * Of links with negatives of each: the share of each node's (lib/model/link_recall.h).
 * RECALL_AT_PRECISION: the highest recall at any threshold with a precision of at least P. Of links
 * alone (lib/model/link_metrics.h): HITS_AT, the share of positives among the K best of their
 * negatives, or above the K-th best of negatives that all share; MRR, the mean of 1 / rank. */
#define GNN_METRICS(FIRST, NEXT, LAST)                                                             \
    FIRST(GNN_ACCURACY, "accuracy", "", "")                                                        \
    NEXT(GNN_F1_MICRO, "f1-micro", "", "")                                                         \
    NEXT(GNN_F1_MACRO, "f1-macro", "", "")                                                         \
    NEXT(GNN_ROC_AUC, "roc-auc", "", "")                                                           \
    NEXT(GNN_AVERAGE_PRECISION, "average-precision", "", "")                                       \
    NEXT(GNN_PRECISION_AT, "precision@", "K", "100")                                               \
    NEXT(GNN_RECALL_AT, "recall@", "K", "100")                                                     \
    NEXT(GNN_RECALL_AT_PRECISION, "recall@precision=", "P", "0.9")                                 \
    NEXT(GNN_HITS_AT, "hits@", "K", "50")                                                          \
    NEXT(GNN_MRR, "mrr", "", "")                                                                   \
    NEXT(GNN_METRIC_LOSS, "loss", "", "")                                                          \
    NEXT(GNN_RMSE, "rmse", "", "")                                                                 \
    NEXT(GNN_MAE, "mae", "", "")                                                                   \
    LAST(GNN_R2, "r2", "", "")
#define GNN_METRIC_ID(id, name, value, example) id,
enum gnn_metric { GNN_METRICS(GNN_METRIC_ID, GNN_METRIC_ID, GNN_METRIC_ID) };
/* A metric and, if its name has one, the number in it. */
struct gnn_measure {
    enum gnn_metric metric;
    double at;
    bool each; /* of links: negatives are of one positive each (triplet:K), not shared by all */
};
/* A value that was measured. Of ranks of links, negatives that score what their positive does can
 * be below it (optimistic) or above it (pessimistic), and half of them are for the value; of other
 * metrics, all three are the same. NaN: not defined. */
struct gnn_measured {
    double value, optimistic, pessimistic;
};

/* Labels of n rows in the form the losses take. Zeroed object = empty. */
struct gnn_labels {
    struct gnn_buf buf;
    union {
        int32_t *cls;  /* (n) multiclass: class, negative = unlabelled */
        float *target; /* (n, outputs) binary, multi-label and regression: NaN = unlabelled */
    };
    const uint32_t *draws; /* (n) how often each row counts; NULL: once */
    /* (positives) of links: the node at the end that their negatives have, too, by a number that is
     * the same in all batches; may be NULL unless it is asked for (gnn_score_by_node). */
    const uint32_t *node;
};
/* From a label tensor (n or more rows; integers or floats; NaN and, except in regression, -1 mean
 * unlabelled). A class that is not below `outputs`, a target outside 0..1, or an infinite number is
 * GNN_E_INPUT "NAME: row R: ...". */
int gnn_labels_read(struct gnn_labels *l, enum gnn_task task, uint32_t outputs,
                    const struct gnn_tensor *y, uint64_t n, struct gnn_err *e) GNN_MUST_USE;
void gnn_labels_release(struct gnn_labels *l);
/* As gnn_labels_read, in steps, for labels that are not in the host's memory: GNN_E_INPUT unless y
 * has n rows of as many labels as the task has; and, once they are in the form above
 * (kernels/label.h), unless all are in range. y: where they come from, NULL if it is not at hand.
 */
int gnn_labels_fit(const struct gnn_tensor *y, enum gnn_task task, uint32_t outputs, uint64_t n,
                   struct gnn_err *e) GNN_MUST_USE;
int gnn_labels_check(const struct gnn_labels *l, enum gnn_task task, uint32_t outputs, uint64_t n,
                     const char *name, const void *y, enum gnn_dtype dtype,
                     struct gnn_err *e) GNN_MUST_USE;

/* Labels of a row. */
static inline uint32_t gnn_labels_width(enum gnn_task task, uint32_t outputs)
{
    return gnn_task_columns(task) ? outputs : 1;
}

/* Counts over batches. Multiclass and binary (two classes, split at logit 0) count per class;
 * multi-label counts the positive side of each task; regression counts the labelled rows of each
 * output in tp. */
struct gnn_score {
    enum gnn_task task;
    uint32_t outputs, classes;
    bool keep; /* keep every logit: metrics that rank, if the task has some, need them */
    const float *class_weight; /* one for each class, by which losses are weighted; NULL: none */
    /* rows added; rows with a label, not kept in checkpoints; labels, of which a row can have
     * several */
    uint64_t rows, labelled, known;
    uint64_t correct;
    uint64_t *tp, *fp, *fn; /* [classes] */
    double loss;            /* summed over rows by their weights (kernels/weight.h) */
    /* [outputs] of a regression, else NULL; one array from abs_error on: sums of errors, sum of
     * squared deviations of labels from their mean, mean */
    double *abs_error, *square_error, *deviation, *mean;
    struct gnn_buf z, y;            /* (rows, outputs) when keep */
    struct gnn_link_metrics *link;  /* of GNN_HITS_AT and GNN_MRR; else NULL */
    struct gnn_link_recall *recall; /* of GNN_RECALL_AT of each node's links; else NULL */
    bool summed;                    /* of links: of all ranks, whose metric is of_all */
    struct gnn_measured of_all;
};
/* Doubles from abs_error on. */
static inline uint64_t gnn_score_sums(const struct gnn_score *s)
{
    return s->abs_error ? 4 * (uint64_t)s->outputs : 0;
}
int gnn_score_init(struct gnn_score *s, enum gnn_task task, uint32_t outputs, bool keep,
                   struct gnn_err *e) GNN_MUST_USE;
/* After _init, of links: prepares for this metric alone, if it is one that compares all positives
 * with negatives: one of gnn_metric_links, ROC-AUC or average precision; or recall@K of each node's
 * links. */
int gnn_score_links(struct gnn_score *s, struct gnn_measure m, struct gnn_err *e) GNN_MUST_USE;
/* Whether labels must say which nodes links are of. */
static inline bool gnn_score_by_node(const struct gnn_score *s)
{
    return s->recall;
}
void gnn_score_clear(struct gnn_score *s);
void gnn_score_release(struct gnn_score *s);
/* The denominator of `loss`: the sum of the rows' weights. */
double gnn_score_weight(const struct gnn_score *s);
/* Adds n rows of logits z. row_loss, as the losses of kernels/loss.h give it, may be NULL. */
int gnn_score_add(struct gnn_score *s, const float *z, const struct gnn_labels *y, uint64_t n,
                  const double *row_loss, struct gnn_err *e) GNN_MUST_USE;
/* The metric over everything added; NaN when it is not defined (nothing labelled, one class only, a
 * logit that is a NaN). F1 macro averages over the classes that occur; metrics that rank average,
 * of several outputs, over those with both labels (OGB's rule). ROC-AUC counts ties half and needs
 * both labels; the others need a positive one, but precision among k any k. RMSE and MAE are over
 * all labelled elements; R2 averages over the outputs whose labels are not all equal.
 * GNN_METRIC_LOSS: the mean loss over all labels, by their weights.
 * GNN_E_NOMEM: metrics that rank sort a copy of the outputs. */
int gnn_score_value(const struct gnn_score *s, struct gnn_measure m, struct gnn_measured *v,
                    struct gnn_err *e) GNN_MUST_USE;
/* The mean loss, which needs no memory. */
double gnn_score_loss(const struct gnn_score *s);
/* Whether the metric depends on the order of all outputs, which must then be kept. */
static inline bool gnn_metric_ranks(enum gnn_metric m)
{
    return m >= GNN_ROC_AUC && m <= GNN_MRR;
}
/* Whether it is of links alone. */
static inline bool gnn_metric_links(enum gnn_metric m)
{
    return m == GNN_HITS_AT || m == GNN_MRR;
}
bool gnn_metric_defined(enum gnn_metric m, enum gnn_task task);
/* A value that is not defined is never better. */
static inline bool gnn_metric_better(enum gnn_metric m, double a, double b)
{
    return m == GNN_METRIC_LOSS || m == GNN_RMSE || m == GNN_MAE ? a < b : a > b;
}
/* Its name, such as "accuracy" or "precision@100", of links with its convention, "mrr-realistic";
 * returns out. And back, without a convention: false if it is none. */
const char *gnn_measure_name(struct gnn_measure m, char out[48]);
bool gnn_measure_read(const char *name, struct gnn_measure *m) GNN_MUST_USE;
/* Makes a metric one of evaluated sets of links; it becomes MRR, if there are negatives of one
 * positive each, and no metric was named. GNN_E_USAGE if it is MRR and there are not; hits of more
 * than there are; or recall of nodes that negatives do not have. */
struct gnn_sampling;
int gnn_measure_of_links(struct gnn_measure *m, bool named, const struct gnn_sampling *s,
                         struct gnn_err *e) GNN_MUST_USE;

/* The option, which fills a text: names as choices, of which the numbers are examples. */
#define GNN_METRIC_OPTION(text)                                                                                             \
    {                                                                                                                       \
        OPT_STR, 0, "metric", (text), "NAME",                                                                               \
            "metric to report: " GNN_METRICS(                                                                               \
                GNN_METRIC_SAID, GNN_METRIC_SAID_NEXT,                                                                      \
                GNN_METRIC_SAID_LAST) " (default: accuracy; roc-auc for binary and multilabel tasks; rmse for regression)", \
            GNN_METRICS(GNN_METRIC_WORD, GNN_METRIC_NEXT_WORD, GNN_METRIC_NEXT_WORD)                                        \
    }
#define GNN_METRIC_SAID(id, name, value, example) name value
#define GNN_METRIC_SAID_NEXT(id, name, value, example) ", " name value
#define GNN_METRIC_SAID_LAST(id, name, value, example) " or " name value
#define GNN_METRIC_WORD(id, name, value, example) name example
#define GNN_METRIC_NEXT_WORD(id, name, value, example) "|" name example

#endif
