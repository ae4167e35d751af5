/* SPDX-License-Identifier: Apache-2.0 */
/* Words to numbers (lib/import/words.h). A slot has a part of the hash beside the number, so that a
 * word that is not the one looked for is rarely read. Slots are probed one after the other from
 * where the hash falls. */
#include "lib/import/words.h"

#include <stdlib.h>
#include <string.h>

#include "formats/xxh.h"

enum { AHEAD = 32, FIRST_ROOM = 32 }; /* words asked for at once; slots of a new share */

static struct gnn_words_share *share_of(const struct gnn_words *w, uint64_t hash)
{
    return (struct gnn_words_share *)(uintptr_t)&w->share[hash >> 58];
}

static uint64_t home_of(const struct gnn_words_share *s, uint64_t hash)
{
    return ((uint64_t)(uint32_t)hash * s->room) >> 32;
}

/* Where a word is or belongs. */
static uint64_t *slot_of(const struct gnn_words *w, const struct gnn_word *word, uint64_t hash)
{
    const struct gnn_words_share *s = share_of(w, hash);
    for (uint64_t i = home_of(s, hash);; i = i + 1 == s->room ? 0 : i + 1) {
        uint64_t *p = &s->slot[i];
        if (!*p)
            return p;
        if (*p >> 32 != (uint32_t)hash)
            continue;
        const struct gnn_word known = gnn_words_get(w, (uint32_t)*p - 1);
        if (known.n == word->n && !memcmp(known.p, word->p, word->n))
            return p;
    }
}

/* Room for one more word; a share is at most seven eighths full. */
static int grow_share(struct gnn_words_share *s, struct gnn_err *e)
{
    if (s->used + 1 <= s->room / 8 * 7)
        return GNN_OK;
    const struct gnn_words_share old = *s;
    const uint64_t room = old.room ? old.room / 2 * 3 : FIRST_ROOM;
    uint64_t *slot = gnn_alloc_zero(room, sizeof *slot, "words", e);
    if (!slot)
        return GNN_E_NOMEM;
    s->slot = slot;
    s->room = room;
    for (uint64_t k = 0; k < old.room; k++) {
        if (!old.slot[k])
            continue;
        uint64_t i = home_of(s, old.slot[k] >> 32);
        while (slot[i])
            i = i + 1 == room ? 0 : i + 1;
        slot[i] = old.slot[k];
    }
    gnn_free(old.slot);
    return GNN_OK;
}

static int add_word(struct gnn_words *w, const struct gnn_word *word, uint64_t hash, uint32_t *id,
                    struct gnn_err *e)
{
    struct gnn_words_share *s = share_of(w, hash);
    int rc = grow_share(s, e);
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
        at[++w->n] = w->nbytes;
        s->used++;
        *slot = hash << 32 | w->n;
    }
    *id = (uint32_t)*slot - 1;
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
        const struct gnn_words_share *s = share_of(w, hash[i]);
        if (s->room)
            __builtin_prefetch(&s->slot[home_of(s, hash[i])]);
    }
    for (uint64_t i = 0; i < n; i++) {
        const struct gnn_words_share *s = share_of(w, hash[i]);
        known[i] = 0;
        for (uint64_t k = s->room ? home_of(s, hash[i]) : 0; k < s->room && s->slot[k]; k++)
            if (s->slot[k] >> 32 == (uint32_t)hash[i]) {
                known[i] = (uint32_t)s->slot[k];
                __builtin_prefetch(&at[known[i] - 1]);
                break;
            }
    }
    for (uint64_t i = 0; i < n; i++)
        if (known[i])
            __builtin_prefetch((const char *)w->byte.data + at[known[i] - 1]);
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
        for (uint64_t i = 0; i < k; i++) {
            const uint64_t *slot =
                share_of(w, hash[i])->room ? slot_of(w, &word[at + i], hash[i]) : NULL;
            id[at + i] = slot && *slot ? (uint32_t)*slot - 1 : UINT32_MAX;
        }
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

int gnn_words_sort(struct gnn_words *w, uint32_t from, struct gnn_err *e)
{
    const uint32_t n = w->n > from ? w->n - from : 0;
    if (n < 2)
        return GNN_OK;
    uint64_t *at = (uint64_t *)w->at.data + from;
    const uint64_t first = at[0];
    struct ranked *r = gnn_alloc(n, sizeof *r, "words", e);
    uint32_t *rank = gnn_alloc(n, sizeof *rank, "words", e);
    char *byte = gnn_alloc(w->nbytes - first, 1, "words", e);
    int rc = r && rank && byte ? GNN_OK : GNN_E_NOMEM;
    for (uint32_t i = 0; !rc && i < n; i++)
        r[i] = (struct ranked){gnn_words_get(w, from + i), i};
    if (!rc)
        qsort(r, n, sizeof *r, by_bytes);
    for (uint64_t i = 0, to = 0; !rc && i < n; i++) {
        memcpy(byte + to, r[i].word.p, r[i].word.n);
        to += r[i].word.n;
        at[i + 1] = first + to;
        rank[r[i].id] = (uint32_t)i;
    }
    if (!rc)
        memcpy((char *)w->byte.data + first, byte, w->nbytes - first);
    for (int k = 0; !rc && k < GNN_WORDS_SHARES; k++)
        for (uint64_t i = 0; i < w->share[k].room; i++) {
            uint64_t *slot = &w->share[k].slot[i];
            const uint32_t id = (uint32_t)*slot;
            if (id > from)
                *slot = *slot >> 32 << 32 | (from + 1 + rank[id - 1 - from]);
        }
    gnn_free(r);
    gnn_free(rank);
    gnn_free(byte);
    return rc;
}

void gnn_words_release(struct gnn_words *w)
{
    gnn_buf_release(&w->byte);
    gnn_buf_release(&w->at);
    for (int k = 0; k < GNN_WORDS_SHARES; k++)
        gnn_free(w->share[k].slot);
    *w = (struct gnn_words){0};
}
