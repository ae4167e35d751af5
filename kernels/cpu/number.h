/* SPDX-License-Identifier: Apache-2.0 */
/* The numbering of entries in order of first occurrence, inline for what looks them up as they
 * come. */
#ifndef GNN_KERNELS_CPU_NUMBER_H
#define GNN_KERNELS_CPU_NUMBER_H

#include "kernels/cpu/isa.h"
#include "kernels/sample.h"
#include "kernels/simd.h"

/* A numbering by a map, in registers while many nodes are numbered. */
struct gnn_numbering {
    uint32_t *map, *nodes, mask, tag, count;
};
static inline struct gnn_numbering gnn_numbering_of(const struct gnn_relabel *r)
{
    const struct gnn_numbering x = {r->map, r->list.node, ((uint32_t)1 << r->bits) - 1,
                                    r->gen << r->bits, r->count};
    return x;
}
/* The local number of a node. No branch depends on the data: whether it is new is a coin toss. */
static inline uint32_t gnn_number_node(struct gnn_numbering *x, uint32_t node)
{
    const uint32_t m = x->map[node], fresh = (m & ~x->mask) != x->tag, was = m & x->mask,
                   local = was ^ ((was ^ x->count) & (0u - fresh));
    x->map[node] = x->tag | local;
    x->nodes[x->count] = node;
    x->count += fresh;
    return local;
}

/* Local numbers of id[n], all below r->nnodes, into out. */
static inline void gnn_number(struct gnn_relabel *r, const uint32_t *id, uint32_t n, uint32_t *out)
{
    struct gnn_numbering x = gnn_numbering_of(r);
    for (uint32_t j = 0; j < n; j++)
        out[j] = gnn_number_node(&x, id[j]);
    r->count = x.count;
}

/* ---- entries with other columns: a hash table ---- */

/* Slots have 16 bits of generation, 16 of the hash, and the local number. Eight of them, a line of
 * memory, are a bucket, which is filled from its first slot on and can be compared at once. Entries
 * of a tree come one after the other, and there may be many more than the caches hold: so they have
 * a window of the table, which follows from the other columns, and in it a bucket, which follows
 * from the node. Where that and the next one are full, the search goes on at a place in the whole
 * table. */
enum { GNN_BUCKET = 8, GNN_WINDOW_TRIES = 2 * GNN_BUCKET };

/* The hash of an entry: bits of it in the high 16 bits, and the start of its search. more:
 * gnn_entry_hash_more. */
static inline uint64_t gnn_slot_hash(const struct gnn_relabel *r, uint64_t more, uint32_t node)
{
    const uint64_t hash = gnn_entry_hash(more, node);
    return (hash & 0xffff0000u) << 32 |
           (((more >> r->shift) + (hash >> (64 - r->window))) & (r->slots - GNN_BUCKET));
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

/* The number of an entry; UINT32_MAX if it has none. */
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
 * `row` and later ones. First: their hashes, with fetches of the memory that the search reads. */
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
/* Then: their numbers, which may replace them. Returns the last row. _on is the same with
 * the instructions of a level that the processor has, for the tests. */
uint32_t gnn_number_sources(struct gnn_relabel *r, const struct gnn_entries *dst,
                            const uint32_t *indptr, uint32_t row, uint32_t first,
                            const uint32_t *source, uint32_t n, const uint64_t *hash,
                            uint32_t *out);
uint32_t gnn_number_sources_on(enum gnn_isa isa, struct gnn_relabel *r,
                               const struct gnn_entries *dst, const uint32_t *indptr, uint32_t row,
                               uint32_t first, const uint32_t *source, uint32_t n,
                               const uint64_t *hash, uint32_t *out);

#endif
