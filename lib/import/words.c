/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/read/words.h"

#include <string.h>
#include "formats/xxh.h"

/* Where a word is or belongs. */
static uint32_t *slot_of(const struct gnn_words *w, const char *word, size_t len)
{
    uint32_t *slot = w->slot.data;
    const uint64_t *at = gnn_words_offsets(w);
    for (uint64_t i = XXH3_64bits(word, len);; i++) {
        uint32_t *s = &slot[i & (w->nslots - 1)];
        if (!*s || (at[*s] - at[*s - 1] == len &&
                    !memcmp((const char *)w->byte.data + at[*s - 1], word, len)))
            return s;
    }
}

static int grow_table(struct gnn_words *w, struct gnn_err *e)
{
    struct gnn_buf old = w->slot;
    uint64_t nslots = w->nslots ? 2 * w->nslots : 1024;
    w->slot = (struct gnn_buf){0};
    int rc = gnn_buf_reserve(&w->slot, nslots, sizeof(uint32_t), "words", e);
    if (rc) {
        w->slot = old;
        return rc;
    }
    memset(w->slot.data, 0, nslots * sizeof(uint32_t));
    w->nslots = nslots;
    const uint64_t *at = gnn_words_offsets(w);
    for (uint32_t i = 0; i < w->n; i++)
        *slot_of(w, (const char *)w->byte.data + at[i], at[i + 1] - at[i]) = i + 1;
    gnn_buf_release(&old);
    return GNN_OK;
}

int gnn_words_add(struct gnn_words *w, const char *word, size_t len, uint32_t *id,
                  struct gnn_err *e)
{
    int rc = gnn_buf_reserve(&w->at, (uint64_t)w->n + 2, sizeof(uint64_t), "words", e);
    if (rc)
        return rc;
    if (!w->n)
        *(uint64_t *)w->at.data = 0;
    if (w->n >= w->nslots / 2 && (rc = grow_table(w, e)))
        return rc;
    uint32_t *s = slot_of(w, word, len);
    if (!*s) {
        if (w->n >= UINT32_MAX - 2)
            return gnn_fail(e, GNN_E_INPUT, "more than 4294967293 different words");
        rc = gnn_buf_reserve(&w->byte, w->nbytes + len, 1, "words", e);
        if (rc)
            return rc;
        memcpy((char *)w->byte.data + w->nbytes, word, len);
        w->nbytes += len;
        *s = ++w->n;
        ((uint64_t *)w->at.data)[w->n] = w->nbytes;
    }
    *id = *s - 1;
    return GNN_OK;
}

void gnn_words_release(struct gnn_words *w)
{
    gnn_buf_release(&w->byte);
    gnn_buf_release(&w->at);
    gnn_buf_release(&w->slot);
    *w = (struct gnn_words){0};
}
