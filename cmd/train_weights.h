/* SPDX-License-Identifier: Apache-2.0 */
/* The weights of classes that gnn-train --class-weights names, and a hint if classes have few
 * labels. */
#ifndef GNN_CMD_TRAIN_WEIGHTS_H
#define GNN_CMD_TRAIN_WEIGHTS_H

#include "lib/data/meta.h"

#define WEIGHTS_OPT(text)                                                                            \
    {                                                                                                \
        OPT_STR, 0, "class-weights", (text), "W,...",                                                \
            "weights of the classes in the loss; balanced: inverse to their counts (default: none)", \
            "none|balanced"                                                                          \
    }

/* Before a store is opened: ends the program unless the text is a list of weights, or a word that
 * fits the other options. */
void train_weights_check(const char *text);

/* One weight for each class, or NULL: none. Ends the program unless the text fits the task.
 * Balanced weights are of the labels of train_feed's training set; all ranks take part. Lives as
 * long as the process. */
const float *train_weights_read(const char *text, const struct gnn_schema *c);

/* Prints a line if a class has so few labels in train_feed's training set that the defaults are not
 * the best settings. A stream does not have the counts: a line if it has fewer seeds than that for
 * all classes together. All ranks take part. */
void train_weights_tell_few(const struct gnn_schema *c, const struct gnn_sampling *s);

#endif
