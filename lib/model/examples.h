/* SPDX-License-Identifier: Apache-2.0 */
/* The examples of a batch: what a task learns of, or is compared with. Training, weights and
 * predictions ask here how many there are and where their labels lie, and nowhere else. An example
 * is a seed of the target type, or a link with a label, and row i of the outputs of a pass has row
 * i of the labels; or, of models that tell links from negatives, one of these, and its label is
 * whether it is a positive. */
#ifndef GNN_LIB_MODEL_EXAMPLES_H
#define GNN_LIB_MODEL_EXAMPLES_H

#include "lib/data/batch.h"
#include "lib/model/model.h"
#include "lib/ops/ops.h"

struct gnn_examples {
    uint32_t n;         /* this rank's */
    uint32_t positives; /* told from negatives: how many come first; the others are negatives */
    /* Negatives of each positive, which follow one another; 0: negative i is of positive i modulo
     * their number */
    uint32_t each;
    bool ragged;           /* places of negatives can have none */
    uint64_t all;          /* of the batches of all ranks, by which the loss is divided */
    const uint32_t *draws; /* (n) how often each counts in training; NULL: once */
    /* Labels, (n or more) rows of what the task has, where the batch lies; NULL: it has none, or
     * these are links */
    const struct gnn_tensor *y;
    char label[GNN_NAME_MAX + 1]; /* their name, also where there are none */
};

/* GNN_E_USAGE unless batches with this header have examples of the model's task. */
int gnn_examples_fit(const struct gnn_model *m, const struct gnn_meta *meta,
                     struct gnn_err *e) GNN_MUST_USE;
/* The examples of a batch with this header; draws and y are the batch's. */
void gnn_batch_examples(const struct gnn_model *m, const struct gnn_meta *meta,
                        const struct gnn_batch *b, struct gnn_examples *x);
/* Fills y (x->n) with the labels of links that are told from negatives: 1, 0 and, where there is no
 * negative, NaN. */
void gnn_examples_mark(const struct gnn_examples *x, const struct gnn_meta *meta,
                       const struct gnn_batch *b, float *y);
/* GNN_E_INPUT unless they have labels of the model's task. */
int gnn_examples_labelled(const struct gnn_examples *x, const struct gnn_model *m,
                          struct gnn_err *e) GNN_MUST_USE;
/* Losses of examples whose outputs are z and whose labels are y, and their gradient, as
 * gnn_task_ops.loss says; of links, by the model's loss. GNN_E_INPUT if that compares positives
 * with negatives, and there are not as many of these as each should have. */
int gnn_examples_loss(const struct gnn_examples *x, const struct gnn_model *m,
                      const struct gnn_ops *o, const float *z, const void *y, float scale,
                      double *row_loss, float *dz, struct gnn_err *e) GNN_MUST_USE;
/* Weights of negatives and of positives in the mean of these losses of links, of which some have
 * none, as in gnn_score.class_weight; NULL: all count. */
const float *gnn_examples_weight(const struct gnn_model *m);

#endif
