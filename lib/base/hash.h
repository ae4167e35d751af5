/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table of numbers, 0 to 2^32-2: which of its own objects, by their numbers, the caller has
 * to look at for a hash. Open addressing with linear probing; a slot holds 32 bits of a hash beside
 * the number, so that other objects are rarely looked at. Nothing is taken out. */
#ifndef GNN_LIB_BASE_HASH_H
#define GNN_LIB_BASE_HASH_H

#include <stdbool.h>

#include "lib/base/mem.h"

/* Zeroed object = empty. Read-only once filled; thread-safe then. */
struct gnn_hash {
    uint64_t *slot; /* [capacity] hash << 32 | number + 1; 0: free */
    uint64_t capacity, n;
};

/* Makes space for n numbers in all. Slots move. */
int gnn_hash_fit(struct gnn_hash *h, uint64_t n, struct gnn_err *e) GNN_MUST_USE;
/* Empty again; the space stays (_clear), or not. */
void gnn_hash_clear(struct gnn_hash *h);
void gnn_hash_release(struct gnn_hash *h);

/* The first slot in which a hash may be, for prefetching. There must be space for some number. */
static inline uint64_t *gnn_hash_home(const struct gnn_hash *h, uint32_t hash)
{
    return &h->slot[(uint64_t)hash * h->capacity >> 32];
}
/* The slot of the number that has this hash and is the `same` (arg, number), or of the first that
 * has it, if `same` is NULL; else the free one where it belongs: *slot is 0 then. There must be
 * capacity for one more. */
static inline uint64_t *gnn_hash_find(const struct gnn_hash *h, uint32_t hash,
                                      bool (*same)(const void *arg, uint32_t number),
                                      const void *arg)
{
    uint64_t *slot = gnn_hash_home(h, hash);
    while (*slot && !(*slot >> 32 == hash && (!same || same(arg, (uint32_t)*slot - 1))))
        slot = slot + 1 == h->slot + h->capacity ? h->slot : slot + 1;
    return slot;
}
/* The number in a slot; UINT32_MAX: it is free. */
static inline uint32_t gnn_hash_number(const uint64_t *slot)
{
    return (uint32_t)*slot - 1;
}
/* Fills the free slot that gnn_hash_find has found for the hash. */
static inline void gnn_hash_put(struct gnn_hash *h, uint64_t *slot, uint32_t hash, uint32_t number)
{
    *slot = (uint64_t)hash << 32 | ((uint64_t)number + 1);
    h->n++;
}

#endif
