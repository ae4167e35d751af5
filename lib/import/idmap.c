/* SPDX-License-Identifier: Apache-2.0 */
/* From the ids of a file to 0, 1, 2 ... in ascending order (lib/import/idmap.h). Ids below
 * 2^32 are bits in pages of 65536, which a prefix sum turns into ranks; larger ones are a sorted
 * list. So dense ids cost a bit each, and sparse ones a page. */
#include "lib/import/idmap.h"

#include <stdlib.h>

/* Space for the page of a key below 2^32. */
static int grow_pages(struct gnn_idmap *m, uint64_t key, struct gnn_err *e)
{
    for (; m->npages <= key >> 16; m->npages++)
        if (gnn_grow(&m->page, m->npages, sizeof *m->page, "node ids", e))
            return GNN_E_NOMEM;
    return GNN_OK;
}

static int cmp_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the large keys and leaves one of equal ones. */
static void squeeze_big(struct gnn_idmap *m)
{
    uint64_t *big = m->big.data, k = 0;
    if (m->nbig)
        qsort(big, m->nbig, sizeof *big, cmp_u64);
    for (uint64_t i = 0; i < m->nbig; i++)
        if (!k || big[i] != big[k - 1])
            big[k++] = big[i];
    m->nbig = k;
}

static int add_big(struct gnn_idmap *m, uint64_t key, struct gnn_err *e)
{
    if (key > INT64_MAX)
        return gnn_fail(e, GNN_E_INPUT, "id %llu is too large", (unsigned long long)key);
    /* Sorted and without duplicates first, as edges repeat their nodes; grown only if that frees
     * less than half. */
    if ((m->nbig + 1) * sizeof key > m->big.cap) {
        squeeze_big(m);
        if (m->nbig >= m->big.cap / sizeof key / 2 &&
            gnn_buf_reserve(&m->big, 2 * m->nbig + (1 << 12), sizeof key, "node ids", e))
            return GNN_E_NOMEM;
    }
    ((uint64_t *)m->big.data)[m->nbig++] = key;
    return GNN_OK;
}

int gnn_idmap_add(struct gnn_idmap *m, const uint64_t *key, uint64_t n, struct gnn_err *e)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t k = key[i];
        if (k >> 32) {
            int rc = add_big(m, k, e);
            if (rc)
                return rc;
            continue;
        }
        if (__builtin_expect(k >> 16 >= m->npages, 0) && grow_pages(m, k, e))
            return e->code;
        struct gnn_idmap_page **page = &m->page[k >> 16];
        if (__builtin_expect(!*page, 0)) {
            *page = gnn_alloc_zero(1, sizeof **page, "node ids", e);
            if (!*page)
                return GNN_E_NOMEM;
        }
        (*page)->bits[k >> 6 & (GNN_IDMAP_WORDS - 1)] |= 1ull << (k & 63);
    }
    return GNN_OK;
}

void gnn_idmap_finish(struct gnn_idmap *m)
{
    uint64_t n = 0, top = 0;
    for (uint64_t p = 0; p < m->npages; p++) {
        struct gnn_idmap_page *page = m->page[p];
        if (!page)
            continue;
        uint32_t in = 0;
        page->rank = (uint32_t)n;
        for (unsigned w = 0; w < GNN_IDMAP_WORDS; w++) {
            page->before[w] = (uint16_t)in;
            in += gnn_idmap_bits(page->bits[w]);
            if (page->bits[w])
                top = (p << 16 | w << 6) + 64 - (uint64_t)__builtin_clzll(page->bits[w]);
        }
        n += in;
    }
    squeeze_big(m);
    m->nsmall = n;
    /* Dense ids need no map: they are what they are mapped to. */
    m->n = n + m->nbig;
    m->dense = !m->nbig && top == n;
}

uint64_t gnn_idmap_find_big(const struct gnn_idmap *m, uint64_t key)
{
    const uint64_t *big = m->big.data,
                   *at = m->nbig ? bsearch(&key, big, m->nbig, sizeof key, cmp_u64) : NULL;
    return at ? m->nsmall + (uint64_t)(at - big) : UINT64_MAX;
}

void gnn_idmap_keys(const struct gnn_idmap *m, int64_t *key)
{
    for (uint64_t p = 0; p < m->npages; p++)
        for (unsigned w = 0; m->page[p] && w < GNN_IDMAP_WORDS; w++)
            for (uint64_t b = m->page[p]->bits[w]; b; b &= b - 1)
                *key++ = (int64_t)((p << 16 | w << 6) + (uint64_t)__builtin_ctzll(b));
    for (uint64_t i = 0; i < m->nbig; i++)
        *key++ = ((const int64_t *)m->big.data)[i];
}

void gnn_idmap_release(struct gnn_idmap *m)
{
    for (uint64_t p = 0; p < m->npages; p++)
        gnn_free(m->page[p]);
    gnn_free(m->page);
    gnn_buf_release(&m->big);
    *m = (struct gnn_idmap){0};
}
