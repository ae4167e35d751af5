/* SPDX-License-Identifier: Apache-2.0 */
/* From some of the nodes of a type to rows of something that is kept of them. */
#ifndef GNN_LIB_BASE_NODE_MAP_H
#define GNN_LIB_BASE_NODE_MAP_H

#include <string.h>

#include "lib/base/hash.h"

/* Zeroed object = empty. Read-only once filled; thread-safe then. */
struct gnn_node_map {
    struct gnn_hash rows;
};

/* Nodes with one hash are the same node, as the factor is odd. */
static inline uint32_t gnn_node_map_hash(uint32_t node)
{
    return node * 0x9e3779b1u;
}
static inline uint64_t *gnn_node_map_slot(const struct gnn_node_map *m, uint32_t node)
{
    return gnn_hash_find(&m->rows, gnn_node_map_hash(node), NULL, NULL);
}
/* Space for n nodes: twice as much, as most nodes that are asked for are not there. */
GNN_MUST_USE static inline int gnn_node_map_init(struct gnn_node_map *m, uint64_t n,
                                                 struct gnn_err *e)
{
    memset(m, 0, sizeof *m);
    return gnn_hash_fit(&m->rows, 2 * n, e);
}
static inline void gnn_node_map_release(struct gnn_node_map *m)
{
    gnn_hash_release(&m->rows);
}
/* False if the node is there already. */
static inline bool gnn_node_map_add(struct gnn_node_map *m, uint32_t node, uint32_t row)
{
    uint64_t *slot = gnn_node_map_slot(m, node);
    if (*slot)
        return false;
    gnn_hash_put(&m->rows, slot, gnn_node_map_hash(node), row);
    return true;
}
/* The row of a node, or UINT32_MAX. */
static inline uint32_t gnn_node_map_find(const struct gnn_node_map *m, uint32_t node)
{
    return m->rows.n ? gnn_hash_number(gnn_node_map_slot(m, node)) : UINT32_MAX;
}

#endif
