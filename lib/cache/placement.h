/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows of one node type the devices of a clique hold, and in which slots of their memory. A
 * clique is a group of devices each of which reads every other's memory: it replicates the first
 * rows of an order on each device and shards the next over all of them. Needs no device. */
#ifndef GNN_LIB_CACHE_PLACEMENT_H
#define GNN_LIB_CACHE_PLACEMENT_H

#include "kernels/gather.h"
#include "lib/cache/fill.h"

/* Slots number the rows that are held: the replicated ones, then device 0's shard, device 1's, and
 * so on, each in the order. A device reads them as parts, the replicated one and all shards; from
 * device to device only the addresses differ. */
struct gnn_placement {
    uint32_t devices;
    uint64_t nrows, row_bytes;
    uint64_t nslots;
    /* [devices + 2] first slots of the parts, and their end: part 0 is replicated, 1 + d is device
     * d's shard */
    uint64_t *first;
    uint32_t *slot; /* [nrows] by row; UINT32_MAX: no device holds it */
    uint32_t *row;  /* [nslots] by slot */
};

struct gnn_placement_opts {
    uint32_t devices;      /* >= 1 */
    uint64_t nrows;        /* of the type */
    const uint32_t *order; /* [norder] rows, none of them twice; devices hold no others */
    uint64_t norder;
    uint64_t replicated; /* of the order, the first, which each device holds */
    /* [norder] of the next the device that holds it, or GNN_HOLDER_NONE; NULL: the devices by turns
     */
    const uint16_t *holder;
    uint64_t row_bytes;
};
/* c is to be released, on failure too. */
int gnn_placement_init(struct gnn_placement *c, const struct gnn_placement_opts *o,
                       struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_placement_release(struct gnn_placement *c);

static inline uint64_t gnn_placement_rows(const struct gnn_placement *c, uint32_t part)
{
    return c->first[part + 1] - c->first[part];
}
/* Part k as the device reads it, 0 <= k <= devices, where its rows, c->row + c->first[k], lie at
 * `data`. */
struct gnn_gather_part gnn_placement_part(const struct gnn_placement *c, uint32_t device,
                                          uint32_t k, const void *data);
/* Where the device finds the row. */
static inline enum gnn_tier gnn_placement_tier(const struct gnn_placement *c, uint32_t device,
                                               uint32_t row)
{
    const uint64_t s = c->slot[row];
    if (s == UINT32_MAX)
        return GNN_TIER_HOST;
    return s < c->first[1] || s - c->first[device + 1] < gnn_placement_rows(c, device + 1)
               ? GNN_TIER_DEVICE
               : GNN_TIER_PEER;
}
/* Bytes that the device gives. */
uint64_t gnn_placement_bytes(const struct gnn_placement *c, uint32_t device);

/* The share of a budget of bytes on each device that is best used for replicated rows, among
 * multiples of 1/128: where accesses - access[nrows], as expected or counted - cost least if one to
 * a row in tier i costs cost[i]; of equals the largest. o->replicated and ->holder are not read.
 * *total, unless NULL: what all accesses cost then. Thread-safe. */
double gnn_placement_share(const struct gnn_placement_opts *o, uint64_t budget, const float *access,
                           const double cost[GNN_TIERS_CUDA], double *total);

#endif
