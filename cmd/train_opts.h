/* SPDX-License-Identifier: Apache-2.0 */
/* The options of gnn-train, beside the settings of model and training (cmd/train_model.h). */
#ifndef GNN_CMD_TRAIN_OPTS_H
#define GNN_CMD_TRAIN_OPTS_H

#include "lib/train/trainer.h"

struct train_opts {
    const char *output, *class_weights;
    uint32_t threads;
    double timeout;
    int precision; /* number of the word */
    bool resume;
};
extern struct train_opts train;

/* Reads the command line, and ends the program unless its parts fit each other. */
void train_opts_read(int argc, char **argv);
/* Completes train_set.o with what follows from the batches and the model. */
void train_opts_finish(const struct gnn_meta *meta, const struct gnn_model *m);
/* Whether epochs are compared: by the first evaluated set, if it has a label. */
bool train_opts_select(const struct gnn_sampling *s);
/* The epoch after the last one; 0: the stream knows. */
uint64_t train_opts_end(void);

#endif
