/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of features a cache holds, and how many of those that batches ask for it misses: all
 * that can be said without a device. */
#ifndef GNN_LIB_CACHE_CACHE_H
#define GNN_LIB_CACHE_CACHE_H

#include "lib/cache/order.h"
#include "lib/data/batch.h"

/* The bytes of a row, by node type; 0 where nothing is gathered of the type. */
struct gnn_rows {
    uint64_t *bytes;           /* [nntypes] */
    uint64_t count, all_bytes; /* rows and bytes of all types that have some */
};
/* Bytes of the fields in a list such as "x,time", of node types, labels y left out (seeds' only).
 * NULL: "x". GNN_E_USAGE when no type has one of them. */
int gnn_rows_init(struct gnn_rows *r, const struct gnn_schema *c, const char *fields,
                  struct gnn_err *e) GNN_MUST_USE;
void gnn_rows_release(struct gnn_rows *r);

enum { GNN_CACHE_SIZES_MAX = 64, GNN_CACHE_OWN = 254 };

/* Caches of several sizes, each filled in the order of the scores, over all node types, until the
 * next row has no space: a larger one holds what a smaller one does. */
struct gnn_cache {
    uint32_t nsizes, ntypes;
    /* [ntypes] -> (nodes): the first size that holds the row; nsizes: none; GNN_CACHE_OWN: the part
     * owns the row; level[t] NULL: the type has no rows */
    uint8_t **level;
    uint64_t rows[GNN_CACHE_SIZES_MAX], bytes[GNN_CACHE_SIZES_MAX];
};
/* size[nsizes]: bytes, ascending. part: copies that this part makes: it needs none of the rows that
 * it owns, nor of those with score 0; -1: caches of all rows. */
int gnn_cache_init(struct gnn_cache *k, struct gnn_store *s, const struct gnn_rows *r,
                   const struct gnn_scores *x, const uint64_t *size, uint32_t nsizes, int64_t part,
                   struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_cache_release(struct gnn_cache *k);
/* missed[i]: rows a batch is expected to ask for that the cache of size i does not hold, from what
 * gnn_access_expected says; missed[nsizes]: that no cache at all holds; NAN if p is empty. Rows
 * that the part owns are not counted. */
void gnn_cache_expected(const struct gnn_cache *k, const struct gnn_schema *c,
                        const struct gnn_scores *p, double *missed);

/* The rows that real batches ask for, by level. One thread at a time. */
struct gnn_cache_tally {
    uint64_t level[256];
};
/* Adds n nodes of type t, by store id (below the type's count); only those whose `with` has one of
 * `bits`, if with is not NULL. */
void gnn_cache_count(const struct gnn_cache *k, uint32_t t, const uint32_t *id, uint64_t n,
                     const uint64_t *with, uint64_t bits, struct gnn_cache_tally *y);
/* As of gnn_cache_expected. */
void gnn_cache_missed(const struct gnn_cache *k, const struct gnn_cache_tally *y, uint64_t *missed);

/* For each node of a batch a bit per part: whether the seeds that the part owns lead to it. A part
 * that takes the seeds it owns of each batch gathers exactly these under GNN_FRONTIER_ALL. Under
 * _NEW a node that seeds of two parts lead to, in different hops, is followed for the first only,
 * so a part gathers a little more than these. */
struct gnn_reach {
    uint32_t ntypes;
    struct gnn_buf *bits, *before; /* [ntypes] -> u64 (nodes of the batch) */
};
int gnn_reach_init(struct gnn_reach *r, uint32_t ntypes, struct gnn_err *e) GNN_MUST_USE;
void gnn_reach_release(struct gnn_reach *r);
/* id: [ntypes] store ids of the batch's nodes. The store has at most 64 parts. Sets r->bits. */
int gnn_reach_find(struct gnn_reach *r, const struct gnn_store *s, const struct gnn_batch *b,
                   uint32_t seed_ntype, const uint32_t *const *id, struct gnn_err *e) GNN_MUST_USE;

#endif
