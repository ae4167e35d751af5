/* SPDX-License-Identifier: Apache-2.0 */
/* Frontier entries: batches start from them, and the next hop samples their neighbours. An entry is
 * a node, the time that those of its in-edges are compared with, and the tree (the seed) that it
 * grows in. Entries are columns: one that carries no information is NULL everywhere, takes no
 * memory and is not sent. Only the node is always there. Entries are the same if they are in all
 * columns. The entry that an edge leads to has all columns but the node from the entry that the
 * edge was picked for, or the time from the edge (gnn_pick_time.by_edge).
 *
 * This list defines them for CPU, GPU and the messages between ranks. */
#ifndef GNN_KERNELS_ENTRY_H
#define GNN_KERNELS_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/hd.h"

/* column(type, name) for each; and for those beside the node. */
#define GNN_ENTRY_MORE(column) column(int64_t, time) column(uint32_t, tree)
#define GNN_ENTRY_COLUMNS(column) column(uint32_t, node) GNN_ENTRY_MORE(column)

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

/* Is there no column beside the node? */
static GNN_HD bool gnn_entries_plain(const struct gnn_entries *e)
{
    bool plain = true;
#define GNN_ENTRY_ABSENT(type, name) plain = plain && !e->name;
    GNN_ENTRY_MORE(GNN_ENTRY_ABSENT)
#undef GNN_ENTRY_ABSENT
    return plain;
}

/* The tree that entry i is in, which is part of the key of its draws: 0 of those without a tree. */
static GNN_HD uint32_t gnn_entry_tree(const struct gnn_entries *e, uint64_t i)
{
    return e->tree ? e->tree[i] : 0;
}

/* The time of entry i, where entries have times. */
static GNN_HD int64_t gnn_entry_time(const struct gnn_entries *e, uint64_t i)
{
    return e->time ? e->time[i] : 0;
}

/* Entry `at` of *to becomes a node with the other columns of entry `from` of e. */
static GNN_HD void gnn_entry_put(const struct gnn_entries *to, uint64_t at, uint32_t node,
                                 const struct gnn_entries *e, uint64_t from)
{
    to->node[at] = node;
#define GNN_ENTRY_PUT(type, name)                                                                  \
    if (to->name)                                                                                  \
        to->name[at] = e->name[from];
    GNN_ENTRY_MORE(GNN_ENTRY_PUT)
#undef GNN_ENTRY_PUT
}

/* Is entry `at` of *list that node with the other columns of entry `from` of e? */
static GNN_HD bool gnn_entry_same(const struct gnn_entries *list, uint64_t at, uint32_t node,
                                  const struct gnn_entries *e, uint64_t from)
{
    bool same = list->node[at] == node;
#define GNN_ENTRY_SAME(type, name) same = same && (!list->name || list->name[at] == e->name[from]);
    GNN_ENTRY_MORE(GNN_ENTRY_SAME)
#undef GNN_ENTRY_SAME
    return same;
}

/* A hash of entry i in the columns beside the node; and of the whole entry with that. Their high
 * bits are the best; those of trees 0, 1, ... are spread evenly, as multiples of the golden ratio
 * are. */
static GNN_HD uint64_t gnn_entry_hash_more(const struct gnn_entries *e, uint64_t i)
{
    uint64_t h = 0;
#define GNN_ENTRY_HASH(type, name)                                                                 \
    if (e->name)                                                                                   \
        h = ((h ^ h >> 32) + (uint64_t)e->name[i]) * 0x9E3779B97F4A7C15u;
    GNN_ENTRY_MORE(GNN_ENTRY_HASH)
#undef GNN_ENTRY_HASH
    return h;
}
static GNN_HD uint64_t gnn_entry_hash(uint64_t more, uint32_t node)
{
    return (more ^ node) * 0xBF58476D1CE4E5B9u; /* of SplitMix64 */
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
