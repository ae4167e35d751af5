/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of gnn-train when a signal stops it. */
#ifndef GNN_CMD_TRAIN_STOP_H
#define GNN_CMD_TRAIN_STOP_H

#include <stddef.h>

#include "lib/train/trainer.h"

/* "after epoch 12 of 100", or "in epoch 13 of 100, after 5 of its 12 steps"; epochs: 0 if unknown.
 * Returns text. */
const char *train_stop_at(const struct gnn_trainer *t, uint64_t epochs, char *text,
                          size_t capacity);
/* For sig_tell_late: why the program does not end yet. */
void train_stop_late(void);
/* The end, with status 75, after a checkpoint was written. */
void train_stop_saved(const struct gnn_trainer *t, uint64_t epochs) __attribute__((noreturn));
/* The end, by the signal, after the model was written to the file `name`, or, unless `written`, was
 * left out for what that file holds. Collective. */
void train_stop_written(const struct gnn_trainer *t, uint64_t epochs, const char *name,
                        bool written) __attribute__((noreturn));

#endif
