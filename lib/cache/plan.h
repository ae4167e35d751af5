/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of caches: the rows they would hold and miss, for several orders of rows: as expected of
 * the way batches are drawn, and as measured in batches that were. First _init, then _add per
 * order, _parts, _count per batch, _finish; figures are there to be read until _release. One thread
 * at a time. */
#ifndef GNN_LIB_CACHE_PLAN_H
#define GNN_LIB_CACHE_PLAN_H

#include "lib/cache/cache.h"

enum { GNN_CACHE_PARTS_MAX = 64 };

struct gnn_cache_plan_opts {
    const struct gnn_rows *rows; /* lives as long as the plan */
    const uint64_t *size;        /* [nsizes] bytes, ascending: caches of all rows */
    /* [nremote] bytes, ascending: what each part replicates of other parts' rows. If there are any,
     * the store has 2 to GNN_CACHE_PARTS_MAX parts */
    const uint64_t *remote;
    uint32_t nsizes, nremote; /* at most GNN_CACHE_SIZES_MAX */
};

/* The figures of caches of one order, by size. */
struct gnn_cache_figures {
    uint32_t nsizes;
    uint64_t rows[GNN_CACHE_SIZES_MAX],
        bytes[GNN_CACHE_SIZES_MAX]; /* held; of parts: by all together */
    /* Rows missed; [nsizes]: without a cache; expected: NAN where accesses are not known. */
    double expected[GNN_CACHE_SIZES_MAX + 1], measured[GNN_CACHE_SIZES_MAX + 1];
};

struct gnn_cache_plan_order {
    struct gnn_order order;
    struct gnn_scores made;          /* of the whole store, unless the order or the plan has them */
    struct gnn_cache cache, *remote; /* remote: [nparts], or NULL */
    struct gnn_cache_tally tally, remote_tally;
    /* missed: `expected` in a batch, `measured` in all of them; nsizes 0 if the order is only for
     * remote rows */
    struct gnn_cache_figures whole;
    /* missed in an epoch by all parts, each taking the seeds it owns of each batch */
    struct gnn_cache_figures parts;
};

/* Readable: rows, sampling, seconds, order, norder, batches; after _finish expected_rows and
 * measured_rows. */
struct gnn_cache_plan {
    struct gnn_store *store;
    const struct gnn_sampling *sampling;
    const struct gnn_rows *rows;
    const uint64_t *size, *remote; /* as asked for; the caller's */
    uint32_t nsizes, nremote, norder;
    struct gnn_cache_plan_order *order;
    struct gnn_scores access; /* empty where they are not known */
    struct gnn_access_seeds seeds;
    double seconds; /* that the expected frequencies took */
    /* [nntypes] original id to store id, where batches carry original ids and they differ */
    uint32_t **inverse;
    struct gnn_buf *ids; /* [nntypes] */
    const uint32_t **id; /* [nntypes] store ids of the batch at hand */
    struct gnn_reach reach;
    uint64_t batches, nodes;             /* counted; nodes: those with rows */
    double expected_rows, measured_rows; /* of a batch; NAN where not known, or none was counted */
};

/* For batches drawn from s as m says; both outlive the plan. GNN_E_USAGE when the seeds are not a
 * set of the store, GNN_E_INPUT when the store is damaged. On failure, too, the plan is to be
 * released. O(hops * edges). */
int gnn_cache_plan_init(struct gnn_cache_plan *p, struct gnn_store *s, const struct gnn_sampling *m,
                        const struct gnn_cache_plan_opts *o, struct gnn_err *e) GNN_MUST_USE;
/* One more order, which is taken over, also on failure. */
int gnn_cache_plan_add(struct gnn_cache_plan *p, struct gnn_order *order,
                       struct gnn_err *e) GNN_MUST_USE;
/* Computes the rows that parts replicate, by all orders; nothing to do without `remote`. O(parts *
 * hops * edges). */
int gnn_cache_plan_parts(struct gnn_cache_plan *p, struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_INPUT for a node that the store does not have. */
int gnn_cache_plan_count(struct gnn_cache_plan *p, const struct gnn_batch *b,
                         struct gnn_err *e) GNN_MUST_USE;
/* Fills the figures. */
void gnn_cache_plan_finish(struct gnn_cache_plan *p);
/* Takes a zeroed object. */
void gnn_cache_plan_release(struct gnn_cache_plan *p);

#endif
