/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/hash.h"

#include <string.h>

/* Of two numbers none is the same: they are in the table already. */
static bool never_same(const void *arg, uint32_t number)
{
    (void)arg, (void)number;
    return false;
}

/* At most seven eighths of the slots are filled; growth by half makes many small steps linear. */
int gnn_hash_fit(struct gnn_hash *h, uint64_t n, struct gnn_err *e)
{
    const uint64_t grown = h->capacity / 2 * 3, want = n + n / 2 + 16;
    struct gnn_hash to = {.capacity = grown > want ? grown : want, .n = h->n};
    if (n <= h->capacity / 8 * 7)
        return 0;
    if (!(to.slot = gnn_alloc_zero(to.capacity, sizeof *to.slot, "a hash table", e)))
        return e->code;
    for (uint64_t i = 0; i < h->capacity; i++)
        if (h->slot[i])
            *gnn_hash_find(&to, (uint32_t)(h->slot[i] >> 32), never_same, NULL) = h->slot[i];
    gnn_free(h->slot);
    *h = to;
    return 0;
}

void gnn_hash_clear(struct gnn_hash *h)
{
    if (h->n)
        memset(h->slot, 0, h->capacity * sizeof *h->slot);
    h->n = 0;
}

void gnn_hash_release(struct gnn_hash *h)
{
    gnn_free(h->slot);
    *h = (struct gnn_hash){0};
}
