/* SPDX-License-Identifier: Apache-2.0 */
/* Counting what batches must not know: the future, nodes of other sets, and the links that are
 * asked for. Not for use outside lib/inspect. */
#ifndef GNN_LIB_INSPECT_LEAKS_H
#define GNN_LIB_INSPECT_LEAKS_H

#include "lib/inspect/inspect.h"
#include "lib/inspect/link_leaks.h"

/* Zeroed before _init. */
struct gnn_leaks {
    struct gnn_leak future;         /* edges that are not before their seed, as the rule says it */
    struct gnn_leak shared;         /* nodes that are seeds in several sets of the stream */
    struct gnn_leak overlap;        /* nodes that are in several sets of one split of the store */
    struct gnn_leak links;          /* links that are */
    struct gnn_leak messages;       /* edges of the store that its sets valid and test ask for */
    struct gnn_link_leaks of_links; /* of batches of links */
    const struct gnn_meta *m;       /* of the stream, or NULL: a store alone */
    bool has_links;                 /* the store has sets of links */
    /* (nodes of the seed type) the set that a seed belongs to; NULL: there is one set only */
    uint32_t *owner;
};

/* Looks through the sets of the store of the view at once. GNN_E_USAGE if batches with the header
 * m, which `name` has, are without times, and not of links. m, if not NULL, belongs to the caller
 * and fits the store; time: as gnn_link_leaks_init takes it. */
int gnn_leaks_init(struct gnn_leaks *l, const struct gnn_meta *m, const char *name,
                   const struct gnn_view *v, const int64_t *const *time,
                   struct gnn_err *e) GNN_MUST_USE;
void gnn_leaks_release(struct gnn_leaks *l);
/* The seeds of batch number `nth`. */
int gnn_leaks_add_seeds(struct gnn_leaks *l, const struct gnn_batch *b, uint64_t nth,
                        struct gnn_err *e) GNN_MUST_USE;
/* Adds the counts to the object `report`; *any: whether there is a leak. */
int gnn_leaks_report(const struct gnn_leaks *l, json_t *report, bool *any,
                     struct gnn_err *e) GNN_MUST_USE;

#endif
