/* SPDX-License-Identifier: Apache-2.0 */
/* Frontier entries: what batches start from, and what the next hop samples neighbours of. An entry
 * is a node, the latest time that its neighbours may have, and the tree (the seed) that it grows
 * in. Entries are columns: one that carries no information is NULL everywhere, takes no memory and
 * is not sent. Only the node is always there; no seeds and no pick rule use the others yet.
 *
 * This list defines them for CPU, GPU and the messages between ranks. */
#ifndef GNN_KERNELS_ENTRY_H
#define GNN_KERNELS_ENTRY_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/hd.h"

/* column(type, name) for each. */
#define GNN_ENTRY_COLUMNS(column)                                                                  \
    column(uint32_t, node) column(int64_t, time) column(uint32_t, tree)

struct gnn_entries {
#define GNN_ENTRY_MEMBER(type, name) type *name;
    GNN_ENTRY_COLUMNS(GNN_ENTRY_MEMBER)
#undef GNN_ENTRY_MEMBER
};

/* Lays n entries with the columns of `like` out from byte *at of a block of memory on, which begins
 * at a multiple of 8, and moves *at to their end. base NULL: only that. */
static inline struct gnn_entries gnn_entries_lay(void *base, uint64_t *at, struct gnn_entries like,
                                                 uint64_t n)
{
#define GNN_ENTRY_LAY(type, name)                                                                  \
    if (like.name) {                                                                               \
        *at = (*at + sizeof(type) - 1) / sizeof(type) * sizeof(type);                              \
        like.name = base ? (type *)(void *)((char *)base + *at) : NULL;                            \
        *at += n * sizeof(type);                                                                   \
    }
    GNN_ENTRY_COLUMNS(GNN_ENTRY_LAY)
#undef GNN_ENTRY_LAY
    return like;
}

/* The entries from number `first` on. */
static GNN_HD struct gnn_entries gnn_entries_from(struct gnn_entries e, uint64_t first)
{
#define GNN_ENTRY_ADVANCE(type, name) e.name = e.name ? e.name + first : NULL;
    GNN_ENTRY_COLUMNS(GNN_ENTRY_ADVANCE)
#undef GNN_ENTRY_ADVANCE
    return e;
}

/* Copies entry `from` of e to the first of *to, which has the same columns and moves on to the
 * next.
 */
static GNN_HD void gnn_entry_append(struct gnn_entries *to, const struct gnn_entries *e,
                                    uint64_t from)
{
#define GNN_ENTRY_APPEND(type, name)                                                               \
    if (to->name)                                                                                  \
        *to->name++ = e->name[from];
    GNN_ENTRY_COLUMNS(GNN_ENTRY_APPEND)
#undef GNN_ENTRY_APPEND
}

#endif
