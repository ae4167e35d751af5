/* SPDX-License-Identifier: Apache-2.0 */
/* Which batches gnn-train asks for where it makes them from a store (cmd/feed.h). */
#ifndef GNN_CMD_TRAIN_FEED_H
#define GNN_CMD_TRAIN_FEED_H

#include "cmd/feed.h"

struct train_feed {
    const char *split;
    struct opt_list fanout, eval;
    struct opt_range epochs;
    uint64_t seed;
    const char *output; /* the model's file, or NULL: before train_feed_open */
    bool blank;   /* after train_feed_open with a store: the first evaluated set has no label */
    bool goes_on; /* a run, from this training batch on: set before train_feed_open; with a store */
    uint64_t first_epoch, first_step;
    char *eval_name; /* of the set that is evaluated by default, if it had to be made */
};

/* The options of gnn-train that are about its batches. */
extern struct train_feed train_feed;
extern const struct opt train_feed_opts[];

/* Ends the program unless the options fit each other, those of cmd/feed.h among them. */
void train_feed_check(const struct train_feed *f);
/* Opens the device, the store and the source, or ends the program. */
struct gnn_source *train_feed_open(struct train_feed *f);
/* After the last batch: feed_close, and what was made here. */
void train_feed_close(struct train_feed *f, struct gnn_source *src);

#endif
