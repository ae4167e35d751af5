/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of gnn-train: a line and a metrics object per epoch, progress between. */
#ifndef GNN_CMD_TRAIN_TEXT_H
#define GNN_CMD_TRAIN_TEXT_H

#include "lib/train/trainer.h"

struct train_text {
    const struct gnn_trainer *t;
    bool waits; /* told that --patience waits for what is not defined */
    bool noted; /* that products are made in another precision than asked for */
    double started, trained, waited, evaluated;
    uint64_t epochs, steps, edges, flops;
};

void train_text_init(struct train_text *x, const struct gnn_trainer *t);
/* Hooks of lib/train/trainer.h; arg is the struct train_text. */
void train_text_step(void *arg, uint64_t epoch, uint64_t step, uint64_t steps, double loss,
                     double balance);
void train_text_epoch(void *arg, const struct gnn_train_epoch *r);
/* Prints the time that operations on a device have taken, if GNN_DEBUG_TIME asks for it. */
void train_text_times(const struct gnn_ops *ops);
/* stopped: by a signal, which is told elsewhere. */
void train_text_end(struct train_text *x, bool stopped);

#endif
