/* Sizes of caches, and the options for what devices keep. */
#ifndef GNN_CMD_CACHE_H
#define GNN_CMD_CACHE_H

#include "cmd/opt.h"
#include "lib/gather/gatherer.h"

/* For the table of options, in this order. */
#define CACHE_POLICY_CHOICE "auto|replicate|shard"

struct cache_opts {
    const char *size;      /* "4G", "0.2", "none", "auto"; NULL: auto */
    int policy;            /* which of CACHE_POLICY_CHOICE */
    struct opt_list order; /* at most one of "degree", "access", FILE; none: degree */
    bool copies; /* the order is also that of copies that ranks keep, where it may be "halo" */
};

/* A number up to 1 without a suffix is a share, *share; any other a number of bytes, and *share is
 * -1. Ends the program if text is neither. */
void cache_size(const char *text, double *share, uint64_t *bytes);

/* "halo", which is for copies only, is "degree" for devices. Reads FILE, into `scores`, which is to
 * be released when the gatherer has been made; does not return on failure. With s NULL only what
 * can be told without a store is checked. */
void cache_read(const struct cache_opts *c, struct gnn_store *s, struct gnn_scores *scores,
                struct gnn_gather_cache *o);

/* Once the source is there: says if GPUs of ranks do not read each other's caches. */
void cache_note(const struct gnn_gather_stats *s);
/* Tells with -v, or to stdout, and to --metrics, what devices kept and found. */
void cache_report(const struct gnn_gather_stats *s, bool to_stdout);

#endif
