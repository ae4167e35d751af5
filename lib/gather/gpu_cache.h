/* How it is decided which rows devices keep: what one process (gather_cache.c) and several
 * (gather_share.c) have in common. */
#ifndef GNN_LIB_GATHER_GPU_CACHE_H
#define GNN_LIB_GATHER_GPU_CACHE_H

#include "lib/cache/cache.h"
#include "lib/gather/gpu_gather.h"

struct gather_caching {
    struct gpu_gather *x;
    const struct gnn_gather_cache *o;
    struct gnn_rows rows; /* what the fields of a node take, by type */
    struct gnn_scores own;
    const struct gnn_scores *score; /* NULL: not needed so far */
    uint32_t **order;               /* [nntypes] */
    uint64_t *ranked;               /* [nntypes] rows in it */
    uint64_t slot_bytes;            /* of all slot tables */
    struct gnn_err *e;
};

/* Bytes for rows on the device. */
int gpu_cache_budget(const struct gather_caching *k, unsigned unit, uint64_t *bytes) GNN_MUST_USE;
/* k->score, unless it is there. */
int gpu_cache_scores(struct gather_caching *k) GNN_MUST_USE;
/* k->order, by k->score, which is found first unless it is there. */
int gpu_cache_order(struct gather_caching *k) GNN_MUST_USE;
/* The type whose row comes next, when n[nntypes] of each are taken; -1: there is none. */
int64_t gpu_cache_next(const struct gather_caching *k, const uint64_t *n);
/* How many rows of each type a cache of so many bytes holds: the rule of gnn_cache_init. */
void gpu_cache_take(const struct gather_caching *k, uint64_t size, uint64_t *n);
/* The share of the budget that each of so many devices, which reach each other, should keep for
 * itself, as the policy says; if that is to weigh, as the type whose rows take most has it. */
double gpu_cache_share(const struct gather_caching *k, uint32_t devices, uint64_t bytes);

/* All of it, with several ranks (gather_share.c); collective. */
int gpu_cache_ranks(struct gather_caching *k) GNN_MUST_USE;

#endif
