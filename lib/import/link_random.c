/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/link_random.h"

#include <string.h>

#include "kernels/perm.h"
#include "lib/base/mem.h"
#include "lib/base/rand.h"

int gnn_sort_ascending(uint64_t *v, uint64_t n, struct gnn_err *e)
{
    uint64_t *from = v, *to = gnn_alloc(n, sizeof *to, "pairs of nodes", e), *spare = to;
    if (!to)
        return e->code;
    for (unsigned byte = 0; byte < 8; byte++) {
        uint64_t at[256] = {0}, sum = 0;
        for (uint64_t i = 0; i < n; i++)
            at[from[i] >> 8 * byte & 255]++;
        if (!n || at[from[0] >> 8 * byte & 255] == n)
            continue;
        for (unsigned b = 0; b < 256; b++) {
            const uint64_t many = at[b];
            at[b] = sum;
            sum += many;
        }
        for (uint64_t i = 0; i < n; i++)
            to[at[from[i] >> 8 * byte & 255]++] = from[i];
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
    gnn_free(spare);
    return 0;
}

int gnn_link_pairs_sort(struct gnn_link_pairs *x, uint64_t n, struct gnn_err *e)
{
    x->n = 0;
    if (gnn_sort_ascending(x->key, n, e))
        return e->code;
    for (uint64_t i = 0; i < n; i++)
        if (!i || x->key[i] != x->key[x->n - 1])
            x->key[x->n++] = x->key[i];
    return 0;
}

int gnn_link_pairs_place(struct gnn_link_pairs *x, const struct gnn_link_places *p, uint64_t seed,
                         struct gnn_err *e)
{
    /* The key's second word spells "links", so that no other use of the seed draws the same. */
    struct gnn_rand r = gnn_rand_key(seed, 0x6c696e6b73, 0);
    const uint32_t key[2] = {(uint32_t)gnn_rand_next(&r), (uint32_t)gnn_rand_next(&r)};
    struct gnn_perm perm;
    if (!(x->of = gnn_alloc(x->n, 1, "sets of pairs", e)))
        return e->code;
    if (x->n)
        gnn_perm_init(&perm, x->n, key);
    for (uint64_t i = 0; i < x->n; i++) {
        const uint64_t at = gnn_perm_at(&perm, i);
        x->of[i] = (uint8_t)(at < p->apart      ? LINK_APART
                             : at < p->until[0] ? GNN_LINKS_TRAIN
                             : at < p->until[1] ? GNN_LINKS_VALID
                                                : GNN_LINKS_TEST);
    }
    return 0;
}

uint8_t gnn_link_pairs_find(const struct gnn_link_pairs *x, uint64_t key)
{
    uint64_t low = 0, high = x->n;
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        if (x->key[mid] < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low < x->n && x->key[low] == key ? x->of[low] : GNN_LINKS_TRAIN;
}

void gnn_link_pairs_release(struct gnn_link_pairs *x)
{
    gnn_free(x->key);
    gnn_free(x->of);
    *x = (struct gnn_link_pairs){0};
}
