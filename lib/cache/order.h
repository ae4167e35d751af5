/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows are worth caching first: an order, the scores that it gives to nodes, and a ranking of
 * rows by these scores. lib/cache/fill.h fills caches along a ranking.
 *
 * An order owns the scores of its file; a ranking points to rows and scores, which outlive it. */
#ifndef GNN_LIB_CACHE_ORDER_H
#define GNN_LIB_CACHE_ORDER_H

#include "lib/cache/access.h"

enum gnn_order_by {
    GNN_ORDER_DEGREE, /* gnn_access_degree, of the whole graph */
    GNN_ORDER_ACCESS, /* expected access frequencies */
    GNN_ORDER_HALO, /* gnn_access_degree of a part's or a rank's edges: for copies of remote rows */
    GNN_ORDER_FILE  /* numbers of the caller's, as lib/cache/frequency.h reads them */
};
/* The words for them, in this order; any other text names a file. */
#define GNN_ORDER_WORDS "degree|access|halo"
enum gnn_order_by gnn_order_parse(const char *text);

/* Zeroed object = degree. */
struct gnn_order {
    enum gnn_order_by by;
    struct gnn_scores file; /* GNN_ORDER_FILE */
};
void gnn_order_release(struct gnn_order *o);

/* Is it only for rows of other parts? */
static inline bool gnn_order_remote_only(enum gnn_order_by by)
{
    return by == GNN_ORDER_HALO;
}

/* Whose batches an order is for. */
struct gnn_order_scope {
    struct gnn_store *store;
    const struct gnn_sampling *sampling;
    bool all_ranks; /* for the batches of all ranks together, not only for this rank's */
    bool one_part;  /* for the batches of part `part` of a store that is open as a whole */
    uint32_t part;
    const struct gnn_scores *access; /* expected frequencies, if they are known; or NULL */
};
/* *x: scores of all nodes: those in o or w, or `made`, which is to be released in any case and is
 * empty before. Collective over the ranks that have the store open. */
int gnn_order_scores(const struct gnn_order *o, const struct gnn_order_scope *w,
                     struct gnn_scores *made, const struct gnn_scores **x,
                     struct gnn_err *e) GNN_MUST_USE;

/* Rows of all node types, by their scores: highest first, equal ones by original id, so that parts
 * change nothing; by store id for copies of remote rows, and where several ranks have the parts, as
 * none of them knows all original ids. */
struct gnn_ranking {
    uint32_t ntypes;
    const uint64_t *bytes; /* [ntypes] of a row; 0: the type has none */
    const struct gnn_scores *score;
    uint32_t **row; /* [ntypes] -> (n) store ids */
    uint64_t *n;    /* [ntypes] */
};
/* from < to: for copies that parts [from, to) make of remote rows, so their own rows, and those
 * with score 0, are left out. Rows with a negative score always are. bytes and x outlive k, which
 * is to be released on failure too. */
int gnn_ranking_init(struct gnn_ranking *k, struct gnn_store *s, const uint64_t *bytes,
                     const struct gnn_scores *x, uint32_t from, uint32_t to,
                     struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_ranking_release(struct gnn_ranking *k);

#endif
