/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/node_map.h"

#include <string.h>

int gnn_node_map_init(struct gnn_node_map *m, uint64_t n, struct gnn_err *e)
{
    uint64_t size = 16;
    uint32_t shift = 28;
    for (; size < 2 * n && shift; shift--)
        size *= 2;
    *m = (struct gnn_node_map){.mask = (uint32_t)(size - 1), .shift = shift};
    m->key = gnn_alloc(size, sizeof *m->key, "a map of nodes", e);
    m->row = gnn_alloc(size, sizeof *m->row, "a map of nodes", e);
    if (!m->key || !m->row) {
        gnn_node_map_release(m);
        return e->code;
    }
    memset(m->key, 0xff, size * sizeof *m->key);
    return 0;
}

void gnn_node_map_release(struct gnn_node_map *m)
{
    gnn_free(m->key);
    gnn_free(m->row);
    *m = (struct gnn_node_map){0};
}
