/* Shared by the files that implement lib/trainer.h; nobody else includes it. */
#ifndef GNN_LIB_TRAIN_IMPL_H
#define GNN_LIB_TRAIN_IMPL_H

#include <stdio.h>

#include "lib/trainer.h"

/* Learning rate of optimiser step t (from 1). */
double train_rate(const struct gnn_train_opts *o, uint64_t t, uint64_t epoch);
/* Makes the directory of checkpoints unless it is there; fails if none can be written in it. */
int train_checkpoint_dir(const struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
/* A step on a batch, or only its loss. It is scored now or, where operations are async, when the next batch or train_flush
 * comes. */
int train_step(struct gnn_trainer *t, const struct gnn_batch *b, struct gnn_err *e) GNN_MUST_USE;
int train_eval(struct gnn_trainer *t, const struct gnn_batch *b, struct gnn_err *e) GNN_MUST_USE;
/* Scores what has not been scored. */
int train_flush(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;

/* The slabs that steps work on: made; the host's brought there; and back, with everything before done. */
int train_slabs_init(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
void train_slabs_release(struct gnn_trainer *t);
void train_slabs_put(struct gnn_trainer *t);
int train_slabs_fetch(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;

#endif
