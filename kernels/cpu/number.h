/* SPDX-License-Identifier: Apache-2.0 */
/* The numbering of nodes in order of first occurrence, inline for what looks them up as they come.
 */
#ifndef GNN_KERNELS_CPU_NUMBER_H
#define GNN_KERNELS_CPU_NUMBER_H

#include "kernels/sample.h"

/* Local numbers of id[n], all below r->nnodes, into out. No branch depends on the data: whether a
 * node is new is a coin toss. */
static inline void gnn_number(struct gnn_relabel *r, const uint32_t *id, uint32_t n, uint32_t *out)
{
    uint32_t *__restrict map = r->map, *__restrict nodes = r->list.node;
    const uint32_t mask = ((uint32_t)1 << r->bits) - 1, tag = r->gen << r->bits;
    uint32_t count = r->count;
    for (uint32_t j = 0; j < n; j++) {
        const uint32_t v = id[j], m = map[v];
        const uint32_t fresh = (m & ~mask) != tag;
        const uint32_t local = (m & mask) ^ (((m & mask) ^ count) & (0u - fresh));
        map[v] = tag | local;
        nodes[count] = v;
        count += fresh;
        out[j] = local;
    }
    r->count = count;
}

#endif
