/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-gather --plan: what caches would hold and miss. */
#ifndef GNN_CMD_GATHER_PLAN_H
#define GNN_CMD_GATHER_PLAN_H

#include "cmd/cache_opts.h"
#include "lib/data/source.h"
#include "lib/store/store.h"

struct plan_opts {
    bool on;
    const struct cache_opts *cache; /* its size is a list, "0.1,1G", or NULL; and its orders */
    struct opt_doubles alpha;       /* replicated remote rows, as a share of a part's average */
    const char *fields;             /* whose rows; NULL: x */
};

/* Checks what was given, before anything is opened. */
void plan_check(const struct plan_opts *o);
/* Reads src to its end, frees it, and prints tables; objects go to --metrics. Does not return on
 * failure. */
void plan_run(struct gnn_source *src, struct gnn_store *s, const struct plan_opts *o);

#endif
