/* How many neighbours a destination yields and from what range each is drawn: the same on every
 * device. */
#ifndef GNN_KERNELS_PICK_H
#define GNN_KERNELS_PICK_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/rng.h"

/* Are these the offsets of a row inside an array of nedges? */
static GNN_HD bool gnn_pick_row_ok(uint64_t begin, uint64_t end, uint64_t nedges)
{
    return begin <= end && end <= nedges && end - begin <= UINT32_MAX;
}

/* Picks of a destination. */
static GNN_HD uint32_t gnn_pick_count(uint32_t degree, int32_t fanout, bool replace)
{
    if (fanout < 0)
        return degree;
    if (replace)
        return degree ? (uint32_t)fanout : 0;
    return degree < (uint32_t)fanout ? degree : (uint32_t)fanout;
}

/* Does this destination draw, or does it take all (or nothing)? */
static GNN_HD bool gnn_pick_draws(uint32_t degree, int32_t fanout, bool replace)
{
    if (fanout <= 0)
        return false;
    return replace ? degree > 0 : degree > (uint32_t)fanout;
}

/* Draw j of k is below this: Floyd's ranges grow by one up to the degree. */
static GNN_HD uint32_t gnn_pick_range(uint32_t degree, uint32_t k, uint32_t j, bool replace)
{
    return replace ? degree : degree - k + j + 1;
}

/* Slots of a hash set of k numbers, a power of two; and where the search for one begins. */
static GNN_HD uint32_t gnn_pick_set_size(uint32_t k)
{
    uint32_t t = 64;
    while (t < 2 * (uint64_t)k)
        t *= 2;
    return t;
}
static GNN_HD uint32_t gnn_pick_set_slot(uint32_t v, uint32_t size)
{
    return v * 0x9E3779B1u & (size - 1);
}

#endif
