/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that implement lib/train/trainer.h; nobody else includes it. */
#ifndef GNN_LIB_TRAIN_TRAIN_IMPL_H
#define GNN_LIB_TRAIN_TRAIN_IMPL_H

#include <stdio.h>

#include "lib/model/task.h"
#include "lib/train/trainer.h"

/* All that a run depends on but the bytes it starts from: must be the same when it goes on, and on
 * all ranks. */
char *gnn_train_run_text(const struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_INPUT "PATH: ..." names the first option in which the checkpoint's run (was) differs from
 * this run (is), with both values. The two texts are not the same. */
int gnn_train_run_differs(const struct gnn_trainer *t, const char *path, const char *was,
                          const char *is, struct gnn_err *e) GNN_MUST_USE;
/* Makes the directory of checkpoints unless it is there; fails if none can be written in it. */
int gnn_train_checkpoint_dir(const char *dir, struct gnn_err *e) GNN_MUST_USE;
/* Removes the checkpoint of an earlier run, if there is one; rank 0 does. */
int gnn_train_checkpoint_remove(const struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
/* A step on a batch, or only its loss. It is scored now or, where operations are async, when the
 * next batch or gnn_train_flush comes. */
int gnn_train_step(struct gnn_trainer *t, const struct gnn_batch *b,
                   struct gnn_err *e) GNN_MUST_USE;
int gnn_train_eval_batch(struct gnn_trainer *t, const struct gnn_batch *b,
                         struct gnn_err *e) GNN_MUST_USE;
/* Scores what has not been scored. */
int gnn_train_flush(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_RUN unless all parameters and moments, of the host, are finite. */
int gnn_train_check_params(const struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;

/* Steps of several ranks (lib/train/train_ranks.c). */
int gnn_train_ranks_init(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
void gnn_train_ranks_release(struct gnn_trainer *t);
/* Before each batch the ranks exchange what each of them does next: a batch (b, with its epoch,
 * step and split), or why it has none. _begin sends this rank's message and _end waits for the
 * others', unless that was done already. They set t->pace.stop and fail if the ranks cannot go on
 * together: with GNN_E_STOPPED if the input of one was cut, with GNN_E_INPUT if they are at
 * different batches.
 */
int gnn_train_pace_begin(struct gnn_trainer *t, enum train_next next, const struct gnn_batch *b,
                         struct gnn_err *e) GNN_MUST_USE;
int gnn_train_pace_end(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
/* The weighted loss of this rank's seeds in a training batch, summed, and the sum of their weights:
 * reported when those of all ranks are known, with the next batch. */
void gnn_train_pace_scored(struct gnn_trainer *t, const struct gnn_train_half *h, double loss,
                           double weight);
/* Sums up the weights of this rank's seeds of a training batch whose labels are in the host's
 * memory; _begin tells the others. */
int gnn_train_pace_weight(struct gnn_trainer *t, const struct gnn_batch *b,
                          struct gnn_err *e) GNN_MUST_USE;
/* After a batch: is the run to end here? The same on all ranks. */
bool gnn_train_stops(const struct gnn_trainer *t);
/* Waits until all gradients of this rank are computed. */
int gnn_train_own_gradient(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
/* All-reduces: of the gradients, which the backward pass has begun; of what a checkpoint keeps of
 * the epoch so far, t->train and t->r.seeds; of all that is reported of an epoch. */
int gnn_train_sum_gradient(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
int gnn_train_sum_train(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
int gnn_train_sum_epoch(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
/* After an all-reduce, or after reading a checkpoint: rank 0 keeps the sums, the others start again
 * from 0. */
void gnn_train_keep_own(struct gnn_trainer *t);
/* GNN_E_INPUT, "rank R and rank 0: mismatched WHAT", unless all have the same parameters, moments
 * and state. */
int gnn_train_agree(struct gnn_trainer *t, const char *what, struct gnn_err *e) GNN_MUST_USE;

/* An all-reduce of n numbers where the operations are, which a step waits for. */
int gnn_train_sum_in_step(struct gnn_trainer *t, double *x, uint64_t n,
                          struct gnn_err *e) GNN_MUST_USE;

/* Convolutions that no step has reached (lib/train/unreached.c). _reach: after the forward pass of
 * a step. _agree: the list becomes that of all ranks, if a step was made since the last time;
 * before an evaluation, as that leaves these edges out, and before the list is kept. */
int gnn_train_untrained_init(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
int gnn_train_untrained_reach(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
int gnn_train_untrained_agree(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
static inline uint64_t gnn_train_nconvs(const struct gnn_trainer *t)
{
    return (uint64_t)t->m->c.nlayers * t->m->c.netypes;
}

/* Weights of examples (lib/train/weights.c). _weights makes those of the labels in t->y, times
 * draws, and their sum; of links, those without a loss are not in the sum. _weigh turns the
 * gradient dz of the mean over the examples of all ranks into that of the mean by weights; the
 * ranks must be at the same batch. */
int gnn_train_weigh_init(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
void gnn_train_weigh_release(struct gnn_trainer *t);
int gnn_train_weights(struct gnn_trainer *t, const struct gnn_examples *x,
                      struct gnn_err *e) GNN_MUST_USE;
int gnn_train_weigh(struct gnn_trainer *t, const struct gnn_examples *x, float *dz,
                    struct gnn_err *e) GNN_MUST_USE;

/* The slabs that steps work on. _init makes them; _put copies the host's slabs to them; _fetch
 * copies them back, after all earlier operations are done. */
enum { GNN_TRAIN_SLABS = 4 };
struct gnn_train_slab {
    const char *name; /* in checkpoints; of the last, the parameters, NULL */
    float *host, **work;
    uint64_t n;
};
void gnn_train_slabs_list(struct gnn_trainer *t, struct gnn_train_slab s[GNN_TRAIN_SLABS]);
int gnn_train_slabs_init(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
void gnn_train_slabs_release(struct gnn_trainer *t);
void gnn_train_slabs_put(struct gnn_trainer *t);
int gnn_train_slabs_fetch(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;

#endif
