/* SPDX-License-Identifier: Apache-2.0 */
/* Compaction of sparse ids: the id of a node is the rank of its key among all keys. Keys below 2^32
 * are bits in pages that exist only where keys do; larger ones a sorted list. */
#ifndef GNN_LIB_IMPORT_IDMAP_H
#define GNN_LIB_IMPORT_IDMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/mem.h"

enum { GNN_IDMAP_WORDS = 1 << 10 };

struct gnn_idmap_page {
    uint64_t bits[GNN_IDMAP_WORDS];
    uint16_t before[GNN_IDMAP_WORDS]; /* keys in the page before each word */
    uint32_t rank;                    /* keys before the page */
};

struct gnn_idmap {
    struct gnn_idmap_page **page; /* [npages], by the upper bits of a key */
    uint64_t npages;
    struct gnn_buf big; /* [nbig] u64, keys of 2^32 and more */
    uint64_t nbig;
    uint64_t nsmall, n; /* after _finish */
    bool dense;         /* the keys are 0..n-1 */
};

/* Zeroed object: empty. Keys above 2^63-1 are GNN_E_INPUT. */
int gnn_idmap_add(struct gnn_idmap *m, const uint64_t *key, uint64_t n,
                  struct gnn_err *e) GNN_MUST_USE;
void gnn_idmap_finish(struct gnn_idmap *m);
/* Bits that are set. Code for every x86-64 lacks the instruction, and the compiler's own call takes
 * twice as long. */
static inline uint32_t gnn_idmap_bits(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    return (uint32_t)(((x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) *
                          UINT64_C(0x0101010101010101) >>
                      56);
}
/* Rank of a key that was added; UINT64_MAX for any other. Thread-safe after _finish. _big: of a key
 * of 2^32 or more. */
uint64_t gnn_idmap_find_big(const struct gnn_idmap *m, uint64_t key);
static inline uint64_t gnn_idmap_find(const struct gnn_idmap *m, uint64_t key)
{
    if (key >> 32)
        return gnn_idmap_find_big(m, key);
    const struct gnn_idmap_page *page = key >> 16 < m->npages ? m->page[key >> 16] : NULL;
    const unsigned w = key >> 6 & (GNN_IDMAP_WORDS - 1);
    /* Ids before its page, before its word, and before its bit. */
    if (!page || !(page->bits[w] >> (key & 63) & 1))
        return UINT64_MAX;
    return (uint64_t)page->rank + page->before[w] +
           gnn_idmap_bits(page->bits[w] & ((UINT64_C(1) << (key & 63)) - 1));
}
/* Fills [n] keys, ascending. */
void gnn_idmap_keys(const struct gnn_idmap *m, int64_t *key);
void gnn_idmap_release(struct gnn_idmap *m);

#endif
