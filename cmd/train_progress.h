/* SPDX-License-Identifier: Apache-2.0 */
/* The line of progress of gnn-train, and what its time went into. */
#ifndef GNN_CMD_TRAIN_PROGRESS_H
#define GNN_CMD_TRAIN_PROGRESS_H

#include "lib/train/trainer.h"

/* Before the first step. epochs: the one after the last, 0 if the stream knows. */
void train_progress_begin(uint64_t epochs);
/* After a step: epoch of epochs, step, loss, best value so far, rate, time left. */
void train_progress_step(const struct gnn_trainer *t, uint64_t epoch, uint64_t step, uint64_t steps,
                         double loss);
/* At the end: says so if training waited for batches for so long that it is worth a change. Of the
 * whole run, in seconds. */
void train_progress_waited(const struct gnn_trainer *t, double waited, double all, bool store);

#endif
