/* SPDX-License-Identifier: Apache-2.0 */
/* Batches for a program that passes them through a model: from a stream, or from a sampler and a
 * gatherer in this process, which read a store. */
#ifndef GNN_CMD_FEED_H
#define GNN_CMD_FEED_H

#include "cmd/cache_opts.h"
#include "cmd/opt.h"
#include "lib/model/model.h"
#include "lib/train/local_source.h"

struct feed {
    const char *input, *store_path, *device;
    uint32_t prefetch;
    uint64_t graph_cache;
    int dtype, graph_memory;
    bool verify, huge_pages;
    struct cache_opts cache;
    struct opt_doubles replicate;
    const char *edge_weight;            /* batches need this weight of edges; NULL: none */
    bool edge_ids, degrees, count_once; /* batches need that: set before feed_open */
    bool in_place;                      /* features may stay in place: likewise */
    bool seeds_only; /* batches are seeds with labels, without neighbours, in the host's memory */
    struct gnn_comm *comm; /* set before feed_open */
    /* what comes of it */
    struct gnn_tier_hits gathered;
    struct gnn_gather_copying copying;
    struct gnn_sample_remote_stats sampled;
    struct gnn_gpu *gpu;    /* or NULL; the batches lie on its first device */
    struct gnn_store store; /* if there is store_path */
    struct gnn_gather_stats stats;
    struct gnn_graph_report graph;
};

/* The feed that the options fill; the options, and those of them about making batches from a store.
 */
extern struct feed feed;
extern const struct opt feed_opts[], feed_cache_opts[];

/* Ends the program unless the options fit each other. */
void feed_check(void);
/* Ends the program if one of the options was given that have no effect, or cannot be used: WHY. */
void feed_refuse(const char *why);
/* Declares what batches must bring for this model. */
void feed_needs(const struct gnn_model_config *c);
/* The type that features are converted to; 0: they are as stored. _convert sets it, as an option
 * would. */
enum gnn_dtype feed_dtype(void);
void feed_convert(enum gnn_dtype d);
/* Opens the device and, with --store, the store; or ends the program. */
void feed_start(void);
/* The batches; s says how they are drawn from the store, and gets what the options say of this
 * process (NULL with a stream). Ends the program on failure. */
struct gnn_source *feed_open(struct gnn_sampler_opts *s);
/* As cli_fail, after work on the store: if that is found to be damaged, it is the reason. */
void feed_fail(const struct gnn_err *e) __attribute__((noreturn));
/* After the last batch: tells what devices found where, frees all but the store. src may be NULL:
 * there were none. */
void feed_close(struct gnn_source *src);

#endif
