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
    uint64_t *big; /* keys of 2^32 and more */
    uint64_t nbig, room, sorted;
    uint64_t nsmall, n; /* after _finish */
    bool dense;         /* the keys are 0..n-1 */
};

/* Zeroed object: empty. Keys above 2^63-1 are GNN_E_INPUT. */
int gnn_idmap_add(struct gnn_idmap *m, const uint64_t *key, uint64_t n,
                  struct gnn_err *e) GNN_MUST_USE;
void gnn_idmap_finish(struct gnn_idmap *m);
/* Rank of a key that was added; UINT64_MAX for any other. Thread-safe after _finish. */
uint64_t gnn_idmap_find(const struct gnn_idmap *m, uint64_t key);
/* Fills [n] keys, ascending. */
void gnn_idmap_keys(const struct gnn_idmap *m, int64_t *key);
void gnn_idmap_release(struct gnn_idmap *m);

#endif
