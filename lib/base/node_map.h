/* SPDX-License-Identifier: Apache-2.0 */
/* From some of the nodes of a type to rows of something that is kept of them: open addressing with
 * linear probing. */
#ifndef GNN_LIB_BASE_NODE_MAP_H
#define GNN_LIB_BASE_NODE_MAP_H

#include <stdbool.h>

#include "lib/base/mem.h"

/* Zeroed object = empty. Read-only once filled; thread-safe then. */
struct gnn_node_map {
    uint32_t *key, *row;  /* [mask + 1]; key UINT32_MAX: free */
    uint32_t mask, shift; /* of 32 - log2(mask + 1) */
    uint64_t n;
};
/* Room for n nodes. */
int gnn_node_map_init(struct gnn_node_map *m, uint64_t n, struct gnn_err *e) GNN_MUST_USE;
void gnn_node_map_release(struct gnn_node_map *m);

static inline uint32_t gnn_node_map_slot(const struct gnn_node_map *m, uint32_t node)
{
    uint32_t at = (node * 0x9e3779b1u) >> m->shift;
    while (m->key[at] != node && m->key[at] != UINT32_MAX)
        at = (at + 1) & m->mask;
    return at;
}
/* False if the node is there already. */
static inline bool gnn_node_map_add(struct gnn_node_map *m, uint32_t node, uint32_t row)
{
    const uint32_t at = gnn_node_map_slot(m, node);
    if (m->key[at] == node)
        return false;
    m->key[at] = node;
    m->row[at] = row;
    m->n++;
    return true;
}
/* The row of a node, or UINT32_MAX. */
static inline uint32_t gnn_node_map_find(const struct gnn_node_map *m, uint32_t node)
{
    if (!m->n)
        return UINT32_MAX;
    const uint32_t at = gnn_node_map_slot(m, node);
    return m->key[at] == node ? m->row[at] : UINT32_MAX;
}

#endif
