/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/node_set.h"

#include <string.h>

enum { SHIFT = 15, WORDS = 1 << (SHIFT - 6) };

/* The page of an id that has none yet. The table of pages ends with the last page that was needed.
 */
static uint64_t *page_new(struct gnn_node_set *s, uint32_t id, struct gnn_err *e)
{
    for (; s->room <= id >> SHIFT; s->room++)
        if (gnn_grow(&s->page, s->room, sizeof *s->page, "marks of nodes", e))
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
        uint64_t *p = id[i] >> SHIFT < s->room ? s->page[id[i] >> SHIFT] : NULL;
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

int gnn_node_set_repeat_in(struct gnn_node_set *s, const uint32_t *id, const uint32_t *tree,
                           uint64_t n, uint64_t *at, struct gnn_err *e)
{
    enum { AHEAD = 16 };
    unsigned bits = 6;
    while (UINT64_C(1) << bits < 2 * n)
        bits++;
    if (gnn_buf_fit(&s->pairs, UINT64_C(1) << bits, sizeof(uint64_t), "marks of nodes", e))
        return e->code;
    uint64_t *slot = s->pairs.data, ahead[AHEAD], i;
    memset(slot, 0, sizeof *slot << bits);
    for (i = 0; i < n + AHEAD; i++) {
        /* What was hashed AHEAD pairs ago: its slot has arrived. */
        const uint64_t old = i >= AHEAD ? ahead[i % AHEAD] : 0;
        if (i < n) {
            ahead[i % AHEAD] = ((uint64_t)tree[i] << 32 | id[i]) + 1;
            __builtin_prefetch(&slot[ahead[i % AHEAD] * 0x9E3779B97F4A7C15u >> (64 - bits)], 1);
        }
        if (i < AHEAD)
            continue;
        uint64_t h = old * 0x9E3779B97F4A7C15u >> (64 - bits);
        while (slot[h] && slot[h] != old)
            h = (h + 1) & ((UINT64_C(1) << bits) - 1);
        if (slot[h])
            break;
        slot[h] = old;
    }
    *at = i - AHEAD;
    return 0;
}

void gnn_node_set_release(struct gnn_node_set *s)
{
    for (uint32_t i = 0; i < s->room; i++)
        gnn_free(s->page[i]);
    gnn_free(s->page);
    gnn_buf_release(&s->pairs);
    *s = (struct gnn_node_set){0};
}
