/* SPDX-License-Identifier: Apache-2.0 */
/* Words to numbers, in order of first occurrence. */
#ifndef GNN_LIB_IMPORT_WORDS_H
#define GNN_LIB_IMPORT_WORDS_H

#include "lib/base/mem.h"

/* Zeroed object: empty. */
struct gnn_words {
    struct gnn_buf byte, at,
        slot;                /* words back to back; u64 offsets [n+1]; u32 hash slots, 0 = free */
    uint64_t nbytes, nslots; /* nslots is a power of two */
    uint32_t n;
};

/* *id is the word's number, new or old. */
int gnn_words_add(struct gnn_words *w, const char *word, size_t len, uint32_t *id,
                  struct gnn_err *e) GNN_MUST_USE;
static inline const uint64_t *gnn_words_offsets(const struct gnn_words *w)
{
    return (const uint64_t *)w->at.data;
}
void gnn_words_release(struct gnn_words *w);

#endif
