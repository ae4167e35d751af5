/* SPDX-License-Identifier: Apache-2.0 */
/* The numbering of entries in order of first occurrence, inline for what looks them up as they
 * come. */
#ifndef GNN_KERNELS_CPU_NUMBER_H
#define GNN_KERNELS_CPU_NUMBER_H

#include "kernels/sample.h"
#include "kernels/simd.h"

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

/* ---- entries with other columns: a hash table ---- */

/* Slots have 16 bits of generation, 16 of the hash, and the local number. Entries of a tree come
 * one after the other, and there may be many more than the caches hold: so they have a window of
 * the table, which follows from the other columns, and in it a place, which follows from the node.
 * Where a window is too full for an entry, a few slots on, the search goes on at a place in the
 * whole table. */
enum { GNN_WINDOW_TRIES = 8 };

/* Of an entry: bits of the hash in the high 16 bits, and where its search begins. more:
 * gnn_entry_hash_more. */
static inline uint64_t gnn_slot_hash(const struct gnn_relabel *r, uint64_t more, uint32_t node)
{
    const uint64_t hash = gnn_entry_hash(more, node);
    return (hash & 0xffff0000u) << 32 |
           (((more >> r->shift) + (hash >> (64 - r->window))) & (r->slots - 1));
}
static inline const uint64_t *gnn_slot_first(const struct gnn_relabel *r, uint64_t hash)
{
    return &r->slot[hash & (r->slots - 1)];
}
/* Try t of the search, from 0; `at` is the one before. */
static inline uint64_t gnn_slot_next(const struct gnn_relabel *r, uint64_t hash, uint64_t at,
                                     uint32_t t)
{
    return (t == 0                  ? hash
            : t == GNN_WINDOW_TRIES ? gnn_entry_hash(hash, 0) >> 20
                                    : at + 1) &
           (r->slots - 1);
}
static inline uint64_t gnn_slot_tag(const struct gnn_relabel *r, uint64_t hash)
{
    return (uint64_t)r->gen << 48 | hash >> 48 << 32;
}

/* The local number of the entry that is a node and the other columns of entry i of e. */
static inline uint32_t gnn_number_entry(struct gnn_relabel *r, uint64_t hash, uint32_t node,
                                        const struct gnn_entries *e, uint64_t i)
{
    const uint64_t tag = gnn_slot_tag(r, hash);
    for (uint64_t at = 0, t = 0;; t++) {
        at = gnn_slot_next(r, hash, at, (uint32_t)t);
        const uint64_t s = r->slot[at];
        if (s >> 48 != r->gen) {
            r->slot[at] = tag | r->count;
            gnn_entry_put(&r->list, r->count, node, e, i);
            return r->count++;
        }
        if ((s ^ tag) >> 32 == 0 && gnn_entry_same(&r->list, (uint32_t)s, node, e, i))
            return (uint32_t)s;
    }
}

/* The same, if it has one; UINT32_MAX if not. */
static inline uint32_t gnn_number_find(const struct gnn_relabel *r, uint64_t hash, uint32_t node,
                                       const struct gnn_entries *e, uint64_t i)
{
    const uint64_t tag = gnn_slot_tag(r, hash);
    for (uint64_t at = 0, t = 0;; t++) {
        at = gnn_slot_next(r, hash, at, (uint32_t)t);
        const uint64_t s = r->slot[at];
        if (s >> 48 != r->gen)
            return UINT32_MAX;
        if ((s ^ tag) >> 32 == 0 && gnn_entry_same(&r->list, (uint32_t)s, node, e, i))
            return (uint32_t)s;
    }
}

/* Sources that follow one another in a block, from number `first` on; they belong to rows of dst,
 * `row` and later ones. First their hashes, and what the search reads is fetched; ... */
static inline void gnn_hash_sources(const struct gnn_relabel *r, const struct gnn_entries *dst,
                                    const uint32_t *indptr, uint32_t row, uint32_t first,
                                    const uint32_t *source, uint32_t n, uint64_t *hash)
{
    for (uint32_t j = 0; j < n;) {
        while (indptr[row + 1] <= first + j)
            row++;
        const uint32_t left = indptr[row + 1] - first, end = left < n ? left : n;
        const uint64_t more = gnn_entry_hash_more(dst, row);
        for (; j < end; j++) {
            hash[j] = gnn_slot_hash(r, more, source[j]);
            __builtin_prefetch(gnn_slot_first(r, hash[j]), 1, 3);
        }
    }
}
/* Numbers of sources j to end - 1, which have the other columns of entry i of e. Most are found, or
 * are new, where their search begins; which of the two is a coin toss, so no branch depends on it.
 * list: that of r. */
GNN_INLINE void gnn_number_row(struct gnn_relabel *r, struct gnn_entries list,
                               const struct gnn_entries *e, uint64_t i, const uint32_t *source,
                               const uint64_t *hash, uint32_t j, uint32_t end, uint32_t *out)
{
    const uint64_t gen = (uint64_t)r->gen << 48, mask = r->slots - 1;
    uint64_t *slot = r->slot;
    uint32_t count = r->count;
    /* Copies, which no store may change. */
#define GNN_ENTRY_OWN(type, name) type own_##name = e->name ? e->name[i] : 0;
    GNN_ENTRY_MORE(GNN_ENTRY_OWN)
#undef GNN_ENTRY_OWN
#define GNN_ENTRY_OWN(type, name) .name = &own_##name,
    const struct gnn_entries own = {GNN_ENTRY_MORE(GNN_ENTRY_OWN)};
#undef GNN_ENTRY_OWN
    for (; j < end; j++) {
        const uint32_t node = source[j];
        const uint64_t at = hash[j] & mask, tag = gen | hash[j] >> 48 << 32, s = slot[at];
        const uint32_t found = ((s ^ gen) >> 48) == 0, other = found & (((s ^ tag) >> 32) != 0);
        const uint32_t local = count ^ ((count ^ (uint32_t)s) & (0u - found));
        if (__builtin_expect(!other, 1)) {
            slot[at] = tag | local;
            gnn_entry_put(&list, count, node, &own,
                          0); /* there is room for it, though it be none */
            count += !found;
            if (__builtin_expect(gnn_entry_same(&list, local, node, &own, 0), 1)) {
                out[j] = local;
                continue;
            }
        }
        r->count = count;
        out[j] = gnn_number_entry(r, hash[j], node, e, i);
        count = r->count;
    }
    r->count = count;
}
/* ... then their numbers, which may replace them. Returns the last row. */
GNN_INLINE uint32_t gnn_number_rows(struct gnn_relabel *r, struct gnn_entries list,
                                    struct gnn_entries dst, const uint32_t *indptr, uint32_t row,
                                    uint32_t first, const uint32_t *source, uint32_t n,
                                    const uint64_t *hash, uint32_t *out)
{
    for (uint32_t j = 0; j < n;) {
        while (indptr[row + 1] <= first + j)
            row++;
        const uint32_t left = indptr[row + 1] - first, end = left < n ? left : n;
        gnn_number_row(r, list, &dst, row, source, hash, j, end, out);
        j = end;
    }
    return row;
}
static inline uint32_t gnn_number_sources(struct gnn_relabel *r, const struct gnn_entries *dst,
                                          const uint32_t *indptr, uint32_t row, uint32_t first,
                                          const uint32_t *source, uint32_t n, const uint64_t *hash,
                                          uint32_t *out)
{
    /* Compiled for lists without one of the columns, too. */
    struct gnn_entries list = r->list;
    if (!list.time) {
        list.time = NULL;
        return gnn_number_rows(r, list, *dst, indptr, row, first, source, n, hash, out);
    }
    if (!list.tree) {
        list.tree = NULL;
        return gnn_number_rows(r, list, *dst, indptr, row, first, source, n, hash, out);
    }
    return gnn_number_rows(r, list, *dst, indptr, row, first, source, n, hash, out);
}

#endif
