/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of caches, and the options for what devices keep. */
#ifndef GNN_CMD_CACHE_OPTS_H
#define GNN_CMD_CACHE_OPTS_H

#include "cmd/opt.h"
#include "lib/gather/gatherer.h"

/* For the table of options, in this order. */
#define CACHE_POLICY_CHOICE "auto|replicate|shard"

enum { CACHE_ORDERS_MAX = 16 };

struct cache_opts {
    const char *size;      /* "4G", "0.2", "none", "auto"; NULL: auto */
    int policy;            /* which of CACHE_POLICY_CHOICE */
    struct opt_list order; /* --cache-order: GNN_ORDER_WORDS, FILE; none: what is usual */
    const char *one_order; /* the same where it can be given once; or NULL */
    bool replicate;        /* the order is also that of replicated remote rows */
    struct gnn_order read; /* out, for devices: owns what FILE has */
};

/* A number up to 1 without a suffix is a share, *share; any other a number of bytes, and *share is
 * -1. Ends the program if text is neither. */
void cache_size(const char *text, double *share, uint64_t *bytes);

/* Options of the devices' caches. Reads FILE, into c->read, which o points to; it is to be released
 * when the gatherer has been made. Does not return on failure. With s NULL only what can be told
 * without a store is checked. */
void cache_read(struct cache_opts *c, struct gnn_store *s, struct gnn_gather_cache *o);
/* The rows of others that each rank replicates: --replicate, and the order, by default "access" or,
 * where that is not known, "halo". Ends the program if they are contradictory. */
void cache_replicate(const struct opt_doubles *share, struct cache_opts *c,
                     struct gnn_gather_replicate *o);

/* For --plan: up to CACHE_ORDERS_MAX; by default all that need no FILE,
 * and "access" only if that is known. */
struct opt_list cache_plan_orders(const struct cache_opts *c, bool access_known);
/* One of them, its FILE read; to be released. Does not return on failure. */
void cache_order_read(const char *name, struct gnn_store *s, struct gnn_order *o);

/* Once the source is there: says if GPUs of ranks do not read each other's caches. */
void cache_note(const struct gnn_gather_stats *s);
/* Tells with -v, or to stdout, and to --metrics, what devices kept and found. */
void cache_report(const struct gnn_gather_stats *s, bool to_stdout);

#endif
