/* SPDX-License-Identifier: Apache-2.0 */
/* Counting what batches must not know: the future, and nodes of other sets. Not for use outside
 * lib/inspect. */
#ifndef GNN_LIB_INSPECT_LEAKS_H
#define GNN_LIB_INSPECT_LEAKS_H

#include "lib/data/batch.h"
#include "lib/inspect/inspect.h"

/* One kind of leak. */
struct gnn_leak {
    uint64_t count;
    char first[GNN_NAME_MAX + 256]; /* where the first is, if there is one */
};

/* Zeroed before _init. */
struct gnn_leaks {
    struct gnn_leak future;  /* edges that are not before their seed, as the rule says it */
    struct gnn_leak shared;  /* nodes that are seeds in several sets of the stream */
    struct gnn_leak overlap; /* nodes that are in several sets of one split of the store */
    /* (nodes of the seed type) the set that a seed belongs to; NULL: there is one set only */
    uint32_t *owner;
};

/* Looks through the sets of the store at once. GNN_E_USAGE if batches with the header m, which
 * `name` has, are without times. m belongs to the caller and fits the store. */
int gnn_leaks_init(struct gnn_leaks *l, const struct gnn_meta *m, const char *name,
                   const struct gnn_view *v, struct gnn_err *e) GNN_MUST_USE;
void gnn_leaks_release(struct gnn_leaks *l);
/* One more; where it is, if it is the first. */
void gnn_leak_add(struct gnn_leak *l, const char *fmt, ...) GNN_PRINTF(2, 3);
/* The seeds of batch number `nth`. */
void gnn_leaks_add_seeds(struct gnn_leaks *l, const struct gnn_meta *m, const struct gnn_batch *b,
                         uint64_t nth);
/* Adds the counts to the object `report`. */
int gnn_leaks_report(const struct gnn_leaks *l, json_t *report, struct gnn_err *e) GNN_MUST_USE;

static inline bool gnn_leaks_any(const struct gnn_leaks *l)
{
    return l->future.count || l->shared.count || l->overlap.count;
}

#endif
