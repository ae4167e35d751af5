/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/among.h"

#include <string.h>

struct key {
    uint32_t node, tree;
    int64_t time;
};

static struct key key_of(const struct gnn_batch_type *t, uint32_t node, uint64_t i)
{
    return (struct key){node, t->tree ? t->tree[i] : 0, t->time ? t->time[i] : 0};
}

static bool comes_before(struct key a, struct key b)
{
    return a.node != b.node   ? a.node < b.node
           : a.tree != b.tree ? a.tree < b.tree
                              : a.time < b.time;
}

static struct key key_at(const struct gnn_among *a, uint32_t local)
{
    return key_of(a->of, a->of->node[local], local);
}

/* Merges runs of `width` of the sorted half into the other half. */
static void merge_runs(const struct gnn_among *a, const uint32_t *from, uint32_t *to,
                       uint64_t width)
{
    for (uint64_t at = 0; at < a->n; at += 2 * width) {
        const uint64_t mid = at + width < a->n ? at + width : a->n,
                       end = at + 2 * width < a->n ? at + 2 * width : a->n;
        for (uint64_t i = at, l = at, r = mid; i < end; i++) {
            const bool right =
                l == mid || (r < end && comes_before(key_at(a, from[r]), key_at(a, from[l])));
            to[i] = from[right ? r++ : l++];
        }
    }
}

int gnn_among_set(struct gnn_among *a, const struct gnn_batch_type *of, uint64_t n,
                  struct gnn_err *e)
{
    a->of = of;
    a->n = n;
    if (gnn_buf_fit(&a->sorted, 2 * n, sizeof(uint32_t), "nodes of a batch", e))
        return e->code;
    uint32_t *list = a->sorted.data, *other = list + n;
    for (uint64_t i = 0; i < n; i++)
        list[i] = (uint32_t)i;
    for (uint64_t width = 1; width < n; width *= 2) {
        merge_runs(a, list, other, width);
        memcpy(list, other, n * sizeof *list);
    }
    return 0;
}

uint32_t gnn_among_find(const struct gnn_among *a, uint32_t node, const struct gnn_batch_type *like,
                        uint64_t i)
{
    const struct key want = key_of(like, node, i);
    const uint32_t *list = a->sorted.data;
    uint64_t low = 0, n = a->n;
    while (n) {
        const bool before = comes_before(key_at(a, list[low + n / 2]), want);
        low += before ? n / 2 + 1 : 0;
        n = before ? n - n / 2 - 1 : n / 2;
    }
    return low < a->n && !comes_before(want, key_at(a, list[low])) ? list[low] : UINT32_MAX;
}

void gnn_among_release(struct gnn_among *a)
{
    gnn_buf_release(&a->sorted);
    *a = (struct gnn_among){0};
}
