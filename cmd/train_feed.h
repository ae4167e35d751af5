/* SPDX-License-Identifier: Apache-2.0 */
/* Where gnn-train's batches come from: a stream, or a sampler and a gatherer in this process. */
#ifndef GNN_CMD_TRAIN_FEED_H
#define GNN_CMD_TRAIN_FEED_H

#include "cmd/cache.h"
#include "cmd/opt.h"
#include "lib/train/feed.h"

struct train_feed {
    const char *input, *store_path, *split, *device;
    struct opt_list fanout, eval;
    struct opt_range epochs;
    uint32_t batch, prefetch;
    uint64_t seed, graph_cache;
    int frontier, dtype, graph_memory;
    bool shuffle, drop_last, verify;
    struct cache_opts cache;
    struct opt_doubles replicate;
    const char *edge_weight;            /* batches need this weight of edges; NULL: none */
    bool edge_ids, degrees, count_once; /* batches need that: set before train_feed_open */
    bool goes_on; /* a run, from this training batch on: likewise; with a store */
    uint64_t first_epoch, first_step;
    /* what comes of it */
    struct gnn_comm *comm; /* set before train_feed_open */
    struct gnn_tier_hits gathered;
    struct gnn_gather_copying copying;
    struct gnn_sample_remote_stats sampled;
    struct gnn_gpu *gpu; /* or NULL; the batches lie on its first device */
    struct gnn_store store;
    char *eval_name; /* of the set that is evaluated by default, if it had to be made */
    struct gnn_gather_stats stats;
    struct gnn_graph_report graph;
};

/* What gnn-train's options fill, and those of them that are about batches from a store; in a table
 * of their own, those about the memory of devices and ranks. */
extern struct train_feed train_feed;
extern const struct opt train_feed_opts[], train_cache_opts[];

/* Ends the program unless the options fit each other. */
void train_feed_check(const struct train_feed *f);
/* Opens the device, the store and the source, or ends the program. */
struct gnn_source *train_feed_open(struct train_feed *f);
/* After the last batch: tells what devices found where, frees all but the store. */
void train_feed_close(struct train_feed *f, struct gnn_source *src);

#endif
