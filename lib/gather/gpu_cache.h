/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU feature cache. gpu_fill.c fills it for one process, gpu_shard.c for several ranks;
 * gpu_cache.c has their common parts. */
#ifndef GNN_LIB_GATHER_GPU_CACHE_H
#define GNN_LIB_GATHER_GPU_CACHE_H

#include "lib/cache/cache.h"
#include "lib/cache/fill.h"
#include "lib/gather/gpu_gather.h"

struct gather_caching {
    struct gpu_gather *x;
    const struct gnn_gather_cache *o;
    struct gnn_rows rows; /* what the fields of a node take, by type */
    struct gnn_scores own;
    const struct gnn_scores *score; /* NULL: not needed so far */
    struct gnn_ranking ranked;      /* by score, once it is needed */
    uint64_t slot_bytes;            /* of all slot tables */
    struct gnn_err *e;
};

/* May devices cache rows of the table? */
static inline bool gather_cacheable(const struct gather_table *t)
{
    return !t->job->edge && !t->job->label;
}

/* Bytes for rows on the device. */
int gnn_gpu_cache_budget(const struct gather_caching *k, unsigned unit,
                         uint64_t *bytes) GNN_MUST_USE;
/* k->score, unless it is there. */
int gnn_gpu_cache_scores(struct gather_caching *k) GNN_MUST_USE;
/* k->ranked, unless it is there, and what that needs. */
int gnn_gpu_cache_rank(struct gather_caching *k) GNN_MUST_USE;
/* The share of each device's budget for replicated rows, in a clique of so many, as the policy
 * says; where that leaves it open, by the type whose rows take most. */
double gnn_gpu_cache_share(const struct gather_caching *k, uint32_t devices, uint64_t bytes);

/* Adds the rows that a clique holds, and the bytes on its fullest device, to k's statistics. own:
 * devices of this process. */
void gnn_gpu_cache_count(const struct gather_caching *k, uint64_t replicated, uint64_t sharded,
                         uint64_t bytes, uint32_t own);

/* Chooses the rows to cache, copies them and sets all views, for the devices of one process. */
int gnn_gpu_cache_cliques(struct gather_caching *k) GNN_MUST_USE;
/* As gnn_gpu_cache_cliques, for the devices of several ranks (gpu_shard.c); collective. */
int gnn_gpu_cache_ranks(struct gather_caching *k) GNN_MUST_USE;

/* Fills the cache by `fill`, one of the two above, and opens the rows that are never cached. */
int gnn_gpu_gather_cache(struct gpu_gather *x, const struct gnn_gather_cache *o,
                         int (*fill)(struct gather_caching *k), struct gnn_err *e) GNN_MUST_USE;

/* UINT64_MAX where it is more than that. */
static inline uint64_t gather_capped_product(uint64_t a, uint64_t b)
{
    uint64_t c;
    return __builtin_mul_overflow(a, b, &c) ? UINT64_MAX : c;
}

static inline uint64_t gather_capped_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
