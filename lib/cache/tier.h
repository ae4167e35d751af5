/* SPDX-License-Identifier: Apache-2.0 */
/* The tier map: where the rows of one node type's fields lie, as a rank sees them, or one of its
 * devices. Gathering asks it for all rows of a type at once, and only where it knows no tier for
 * all of them, row by row. (A single process's devices look rows up in their caches as they read
 * them: kernels/cuda/gather.cu.) A new tier is one more enum gnn_tier (kernels/gather.h), one more
 * look here, and one more entry in lib/gather/tiers.c.
 * Owns nothing; thread-safe once it is set. */
#ifndef GNN_LIB_CACHE_TIER_H
#define GNN_LIB_CACHE_TIER_H

#include "lib/base/node_map.h"
#include "lib/cache/placement.h"
#include "lib/store/store.h"

struct gnn_tier_map {
    const struct gnn_store *store;
    uint32_t type;
    const struct gnn_placement *held;      /* by the devices of a clique; or NULL */
    uint32_t device;                       /* which of these asks */
    const struct gnn_node_map *replicated; /* copies of remote rows, by node; or NULL */
};

struct gnn_tier_row {
    enum gnn_tier tier;
    /* DEVICE, PEER: the slot; REPLICA: the copy; STORE, REMOTE: the rank that owns it */
    uint32_t at;
};
/* The tier of all rows; GNN_TIERS: they are in several. */
static inline enum gnn_tier gnn_tier_all(const struct gnn_tier_map *m)
{
    const struct gnn_store *s = m->store;
    return !m->held && !s->from && s->to == s->nparts ? GNN_TIER_STORE : GNN_TIERS;
}
static inline struct gnn_tier_row gnn_tier_find(const struct gnn_tier_map *m, uint32_t row)
{
    struct gnn_tier_row r;
    r.at = m->held ? m->held->slot[row] : UINT32_MAX;
    if (r.at != UINT32_MAX) {
        r.tier = gnn_placement_tier(m->held, m->device, row);
        return r;
    }
    r.at = gnn_store_rank_of(m->store, m->type, row);
    r.tier = r.at == m->store->comm->rank ? GNN_TIER_STORE : GNN_TIER_REMOTE;
    const uint32_t copy = r.tier == GNN_TIER_REMOTE && m->replicated
                              ? gnn_node_map_find(m->replicated, row)
                              : UINT32_MAX;
    if (copy != UINT32_MAX) {
        r.tier = GNN_TIER_REPLICA;
        r.at = copy;
    }
    return r;
}

/* All rows, in whichever tier. */
static inline uint64_t gnn_tier_rows(const struct gnn_tier_hits *h)
{
    uint64_t rows = 0;
    for (int k = 0; k < GNN_TIERS; k++)
        rows += h->rows[k];
    return rows;
}
static inline void gnn_tier_add(struct gnn_tier_hits *to, const struct gnn_tier_hits *h)
{
    for (int k = 0; k < GNN_TIERS; k++) {
        to->rows[k] += h->rows[k];
        to->bytes[k] += h->bytes[k];
    }
}

#endif
