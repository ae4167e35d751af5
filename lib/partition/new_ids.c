/* SPDX-License-Identifier: Apache-2.0 */
/* New ids: parts own contiguous ranges, inside a part the original order holds. */
#include "lib/base/mem.h"
#include "lib/partition/partition.h"

static int type_init(struct gnn_layout *l, uint32_t t, struct gnn_err *e)
{
    uint64_t n = l->view->base[t + 1] - l->view->base[t];
    const uint32_t *part = l->part + l->view->base[t];
    uint64_t *book = l->book[t] =
        gnn_alloc_zero((uint64_t)l->k + 1, sizeof *book, "partition book", e);
    uint32_t *to_new = l->to_new[t] = gnn_alloc(n, sizeof *to_new, "new ids", e);
    uint32_t *order = l->order[t] = gnn_alloc(n, sizeof *order, "new order", e);

    if (!book || !to_new || !order)
        return e->code;
    for (uint64_t i = 0; i < n; i++)
        book[part[i] + 1]++;
    for (uint32_t p = 0; p < l->k; p++)
        book[p + 1] += book[p];
    /* A stable counting sort that uses the book itself as its cursors and moves it back afterwards.
     */
    for (uint64_t i = 0; i < n; i++) {
        to_new[i] = (uint32_t)book[part[i]]++;
        order[to_new[i]] = (uint32_t)i;
    }
    for (uint32_t p = l->k; p > 0; p--)
        book[p] = book[p - 1];
    book[0] = 0;
    return GNN_OK;
}

int gnn_layout_init(struct gnn_layout *l, const struct gnn_view *v, uint32_t k,
                    const uint32_t *part, struct gnn_err *e)
{
    uint32_t nt = v->store->meta.schema.nntypes;
    *l = (struct gnn_layout){.view = v, .k = k, .part = part};
    l->to_new = gnn_alloc_zero(nt, sizeof *l->to_new, "node types", e);
    l->order = gnn_alloc_zero(nt, sizeof *l->order, "node types", e);
    l->book = gnn_alloc_zero(nt, sizeof *l->book, "node types", e);
    if (!l->to_new || !l->order || !l->book)
        return e->code;
    for (uint32_t t = 0; t < nt; t++)
        if (type_init(l, t, e))
            return e->code;
    return GNN_OK;
}

void gnn_layout_release(struct gnn_layout *l)
{
    uint32_t nt = l->view ? l->view->store->meta.schema.nntypes : 0;
    for (uint32_t t = 0; t < nt; t++) {
        if (l->to_new)
            gnn_free(l->to_new[t]);
        if (l->order)
            gnn_free(l->order[t]);
        if (l->book)
            gnn_free(l->book[t]);
    }
    gnn_free(l->to_new);
    gnn_free(l->order);
    gnn_free(l->book);
    *l = (struct gnn_layout){0};
}
