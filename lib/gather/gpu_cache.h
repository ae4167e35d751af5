/* How it is decided which rows devices keep: what one process (gather_cache.c) and several
 * (gather_share.c) have in common. */
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

/* Bytes for rows on the device. */
int gnn_gpu_cache_budget(const struct gather_caching *k, unsigned unit,
                         uint64_t *bytes) GNN_MUST_USE;
/* k->score, unless it is there. */
int gnn_gpu_cache_scores(struct gather_caching *k) GNN_MUST_USE;
/* k->ranked, unless it is there, and what that needs. */
int gnn_gpu_cache_rank(struct gather_caching *k) GNN_MUST_USE;
/* The share of the budget that each of so many devices, which reach each other, should keep for
 * itself, as the policy says; if that is to weigh, as the type whose rows take most has it. */
double gnn_gpu_cache_share(const struct gather_caching *k, uint32_t devices, uint64_t bytes);

/* All of it, with several ranks (gather_share.c); collective. */
int gnn_gpu_cache_ranks(struct gather_caching *k) GNN_MUST_USE;

#endif
