/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/node_set.h"

#include <string.h>

enum { SHIFT = 15, WORDS = 1 << (SHIFT - 6) };

/* The page of an id that has none yet. The table of pages ends with the last page that was needed.
 */
static uint64_t *page_new(struct gnn_node_set *s, uint32_t id, struct gnn_err *e)
{
    for (; s->capacity <= id >> SHIFT; s->capacity++)
        if (gnn_grow(&s->page, s->capacity, sizeof *s->page, "marks of nodes", e))
            return NULL;
    uint64_t *p = s->page[id >> SHIFT] = gnn_alloc_zero(WORDS, sizeof *p, "marks of nodes", e);
    s->npages += p != NULL;
    return p;
}

/* Clears the bits of n ids: page by page or one by one, whichever is less. */
static void clear_bits(struct gnn_node_set *s, const uint32_t *id, uint64_t n)
{
    if ((uint64_t)s->npages * WORDS / 8 > n) {
        for (uint64_t i = 0; i < n; i++)
            s->page[id[i] >> SHIFT][id[i] >> 6 & (WORDS - 1)] =
                0; /* other ids' bits there go as well */
        return;
    }
    for (uint32_t p = 0, left = s->npages; left; p++)
        if (s->page[p]) {
            memset(s->page[p], 0, WORDS * sizeof **s->page);
            left--;
        }
}

int gnn_node_set_repeat(struct gnn_node_set *s, const uint32_t *id, uint64_t n, uint64_t *at,
                        struct gnn_err *e)
{
    uint64_t i = 0, there = 0;
    for (; i < n && !there; i++) {
        uint64_t *p = id[i] >> SHIFT < s->capacity ? s->page[id[i] >> SHIFT] : NULL;
        if (!p && !(p = page_new(s, id[i], e)))
            break;
        p += id[i] >> 6 & (WORDS - 1);
        there = *p >> (id[i] & 63) & 1;
        *p |= UINT64_C(1) << (id[i] & 63);
    }
    clear_bits(s, id, i);
    *at = i - there;
    return e->code;
}

int gnn_node_set_repeat_in(struct gnn_node_set *s, const struct gnn_entries *x, uint64_t n,
                           uint64_t *at, struct gnn_err *e)
{
    enum { AHEAD = 16 };
    unsigned bits = 6;
    while (UINT64_C(1) << bits < 2 * n)
        bits++;
    if (gnn_buf_fit(&s->slots, UINT64_C(1) << bits, sizeof(uint32_t), "marks of nodes", e))
        return e->code;
    uint32_t *slot = s->slots.data;
    uint64_t ahead[AHEAD], i;
    memset(slot, 0, sizeof *slot << bits);
    for (i = 0; i < n + AHEAD; i++) {
        /* What was hashed AHEAD entries ago: its slot has arrived. */
        uint64_t h = i >= AHEAD ? ahead[i % AHEAD] : 0;
        const uint64_t own = i - AHEAD;
        if (i < n) {
            ahead[i % AHEAD] = gnn_entry_hash(gnn_entry_hash_more(x, i), x->node[i]) >> (64 - bits);
            __builtin_prefetch(&slot[ahead[i % AHEAD]], 1);
        }
        if (i < AHEAD)
            continue;
        while (slot[h] && !gnn_entry_same(x, slot[h] - 1, x->node[own], x, own))
            h = (h + 1) & ((UINT64_C(1) << bits) - 1);
        if (slot[h])
            break;
        slot[h] = (uint32_t)own + 1;
    }
    *at = i - AHEAD;
    return 0;
}

void gnn_node_set_release(struct gnn_node_set *s)
{
    for (uint32_t i = 0; i < s->capacity; i++)
        gnn_free(s->page[i]);
    gnn_free(s->page);
    gnn_buf_release(&s->slots);
    *s = (struct gnn_node_set){0};
}
