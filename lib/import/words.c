/* SPDX-License-Identifier: Apache-2.0 */
/* Words to numbers (lib/import/words.h): the hashes are in lib/base/hash.h's table, in shares. */
#include "lib/import/words.h"

#include <stdlib.h>
#include <string.h>

#include "formats/xxh.h"

enum { AHEAD = 32 }; /* words asked for at once */

struct wanted {
    const struct gnn_words *w;
    const struct gnn_word *word;
};

/* Short words, as most are, without a call. */
static bool same_bytes(const char *a, const char *b, size_t n)
{
    if (n < 8 || n > 16)
        return !memcmp(a, b, n);
    uint64_t x[2], y[2];
    memcpy(&x[0], a, 8);
    memcpy(&x[1], a + n - 8, 8);
    memcpy(&y[0], b, 8);
    memcpy(&y[1], b + n - 8, 8);
    return x[0] == y[0] && x[1] == y[1];
}

static bool is_wanted(const void *arg, uint32_t i)
{
    const struct wanted *a = arg;
    const struct gnn_word known = gnn_words_get(a->w, i);
    return known.n == a->word->n && same_bytes(known.p, a->word->p, known.n);
}

/* Where a word is or belongs. */
static uint64_t *slot_of(const struct gnn_words *w, const struct gnn_word *word, uint64_t hash)
{
    return gnn_hash_find(&w->share[hash >> 58], (uint32_t)hash, is_wanted,
                         &(struct wanted){w, word});
}

static int add_word(struct gnn_words *w, const struct gnn_word *word, uint64_t hash, uint32_t *id,
                    struct gnn_err *e)
{
    struct gnn_hash *s = &w->share[hash >> 58];
    int rc = gnn_hash_fit(s, s->n + 1, e);
    if (rc)
        return rc;
    uint64_t *slot = slot_of(w, word, hash);
    if (!*slot) {
        if (w->n >= UINT32_MAX - 2)
            return gnn_fail(e, GNN_E_INPUT, "more than 4294967293 different words");
        rc = gnn_buf_reserve(&w->byte, w->nbytes + word->n, 1, "words", e);
        if (!rc)
            rc = gnn_buf_reserve(&w->at, (uint64_t)w->n + 2, sizeof(uint64_t), "words", e);
        if (rc)
            return rc;
        uint64_t *at = w->at.data;
        at[0] = 0;
        memcpy((char *)w->byte.data + w->nbytes, word->p, word->n);
        w->nbytes += word->n;
        gnn_hash_put(s, slot, (uint32_t)hash, w->n);
        at[++w->n] = w->nbytes;
    }
    *id = gnn_hash_number(slot);
    return GNN_OK;
}

/* The hashes of n words. What the search for each reads first, its slot, its offsets, its bytes, is
 * asked of memory for all before any is waited for. */
static void ask_ahead(const struct gnn_words *w, const struct gnn_word *word, uint64_t n,
                      uint64_t *hash)
{
    const uint64_t *at = w->at.data;
    uint32_t known[AHEAD];
    for (uint64_t i = 0; i < n; i++) {
        hash[i] = XXH3_64bits(word[i].p, word[i].n);
        const struct gnn_hash *s = &w->share[hash[i] >> 58];
        if (s->capacity)
            __builtin_prefetch(gnn_hash_home(s, (uint32_t)hash[i]));
    }
    for (uint64_t i = 0; i < n; i++) {
        const struct gnn_hash *s = &w->share[hash[i] >> 58];
        known[i] = s->capacity ? gnn_hash_number(gnn_hash_find(s, (uint32_t)hash[i], NULL, NULL))
                               : UINT32_MAX;
        if (known[i] != UINT32_MAX)
            __builtin_prefetch(&at[known[i]]);
    }
    for (uint64_t i = 0; i < n; i++)
        if (known[i] != UINT32_MAX)
            __builtin_prefetch((const char *)w->byte.data + at[known[i]]);
}

int gnn_words_add(struct gnn_words *w, const struct gnn_word *word, uint64_t n, uint32_t *id,
                  struct gnn_err *e)
{
    uint64_t hash[AHEAD];
    int rc = GNN_OK;
    for (uint64_t at = 0; !rc && at < n; at += AHEAD) {
        const uint64_t k = n - at < AHEAD ? n - at : AHEAD;
        ask_ahead(w, word + at, k, hash);
        for (uint64_t i = 0; !rc && i < k; i++)
            rc = add_word(w, &word[at + i], hash[i], &id[at + i], e);
    }
    return rc;
}

void gnn_words_find(const struct gnn_words *w, const struct gnn_word *word, uint64_t n,
                    uint32_t *id)
{
    uint64_t hash[AHEAD];
    for (uint64_t at = 0; at < n; at += AHEAD) {
        const uint64_t k = n - at < AHEAD ? n - at : AHEAD;
        ask_ahead(w, word + at, k, hash);
        for (uint64_t i = 0; i < k; i++)
            id[at + i] = w->share[hash[i] >> 58].capacity
                             ? gnn_hash_number(slot_of(w, &word[at + i], hash[i]))
                             : UINT32_MAX;
    }
}

struct ranked {
    struct gnn_word word;
    uint32_t id;
};

static int by_bytes(const void *a, const void *b)
{
    const struct gnn_word *x = &((const struct ranked *)a)->word,
                          *y = &((const struct ranked *)b)->word;
    const int way = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
    return way ? way : (x->n > y->n) - (x->n < y->n);
}

uint32_t *gnn_words_sort(struct gnn_words *w, uint32_t from, struct gnn_err *e)
{
    const uint32_t n = w->n > from ? w->n - from : 0;
    uint32_t *rank = gnn_alloc_zero(n, sizeof *rank, "words", e);
    if (n < 2)
        return rank;
    uint64_t *at = (uint64_t *)w->at.data + from;
    const uint64_t first = at[0];
    struct ranked *r = gnn_alloc(n, sizeof *r, "words", e);
    char *byte = gnn_alloc(w->nbytes - first, 1, "words", e);
    for (uint32_t i = 0; !e->code && i < n; i++)
        r[i] = (struct ranked){gnn_words_get(w, from + i), i};
    if (!e->code)
        qsort(r, n, sizeof *r, by_bytes);
    for (uint64_t i = 0, to = 0; !e->code && i < n; i++) {
        memcpy(byte + to, r[i].word.p, r[i].word.n);
        to += r[i].word.n;
        at[i + 1] = first + to;
        rank[r[i].id] = (uint32_t)i;
    }
    if (!e->code)
        memcpy((char *)w->byte.data + first, byte, w->nbytes - first);
    for (int k = 0; !e->code && k < GNN_WORDS_SHARES; k++)
        for (uint64_t i = 0; i < w->share[k].capacity; i++) {
            uint64_t *slot = &w->share[k].slot[i];
            if ((uint32_t)*slot > from)
                *slot = *slot >> 32 << 32 | (from + 1 + rank[gnn_hash_number(slot) - from]);
        }
    gnn_free(r);
    gnn_free(byte);
    if (!e->code)
        return rank;
    gnn_free(rank);
    return NULL;
}

void gnn_words_release(struct gnn_words *w)
{
    gnn_buf_release(&w->byte);
    gnn_buf_release(&w->at);
    for (int k = 0; k < GNN_WORDS_SHARES; k++)
        gnn_hash_release(&w->share[k]);
    *w = (struct gnn_words){0};
}
