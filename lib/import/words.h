/* SPDX-License-Identifier: Apache-2.0 */
/* Words to numbers, in order of first occurrence. Memory: the bytes of the words and 24 for each.
 */
#ifndef GNN_LIB_IMPORT_WORDS_H
#define GNN_LIB_IMPORT_WORDS_H

#include "formats/text.h"
#include "lib/base/hash.h"

/* The table of hashes is in shares, by the upper bits of a hash, that grow one by one: what the old
 * and the new share take together is little. */
enum { GNN_WORDS_SHARES = 64 };

/* Zeroed object: empty. */
struct gnn_words {
    struct gnn_buf byte, at; /* words back to back; u64 offsets [n+1] */
    struct gnn_hash share[GNN_WORDS_SHARES];
    uint64_t nbytes;
    uint32_t n;
};

/* id[i] is the number of word i, new or old; UINT32_MAX (_find): it is not there. Many at once are
 * faster than one by one, as memory answers them together. _find is thread-safe. Errors:
 * GNN_E_INPUT for more than 2^32-3 different words. */
int gnn_words_add(struct gnn_words *w, const struct gnn_word *word, uint64_t n, uint32_t *id,
                  struct gnn_err *e) GNN_MUST_USE;
void gnn_words_find(const struct gnn_words *w, const struct gnn_word *word, uint64_t n,
                    uint32_t *id);
/* Word i < n, valid until one is added. */
static inline struct gnn_word gnn_words_get(const struct gnn_words *w, uint64_t i)
{
    const uint64_t *at = (const uint64_t *)w->at.data;
    const struct gnn_word word = {(const char *)w->byte.data + at[i], at[i + 1] - at[i]};
    return word;
}
/* Puts the words from number `from` on in the order of their bytes. Returns what is to be added to
 * `from` for the new number of each of them, in their old order, to be freed with gnn_free; NULL on
 * failure. */
uint32_t *gnn_words_sort(struct gnn_words *w, uint32_t from, struct gnn_err *e) GNN_MUST_USE;
void gnn_words_release(struct gnn_words *w);

#endif
