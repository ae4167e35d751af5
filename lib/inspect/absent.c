/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/absent.h"

#include <stdlib.h>

/* An edge of the links' type or, reversed, of one whose edges run back. */
struct item {
    uint32_t reversed, src, dst, tree;
    int64_t time;
};

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->reversed != y->reversed)
        return x->reversed < y->reversed ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->tree != y->tree)
        return x->tree < y->tree ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

int gnn_absent_set(struct gnn_absent *x, const struct gnn_meta *m, enum gnn_exclude which,
                   const struct gnn_view *v, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_links *l = &m->sampling.links;
    x->m = m;
    x->n = 0;
    if (!l->type || !which || !b->rows[GNN_UNIT_PAIRS])
        return GNN_OK;
    const struct gnn_etype *t = &m->schema.etype[l->etype];
    const uint32_t type[2] = {t->src, t->dst};
    const uint64_t n = b->rows[GNN_UNIT_PAIRS];
    if (gnn_buf_fit(&x->sorted, 2 * n, sizeof(struct item), "links", e))
        return e->code;
    struct item *to = x->sorted.data;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t store[2], orig[2];
        for (unsigned k = 0; k < 2; k++) {
            const uint32_t id = b->type[type[k]].node[b->pair[2 * i + k]];
            const bool original = m->sampling.original_ids;
            store[k] = original ? gnn_view_store_id(v, type[k], id) : id;
            orig[k] = original ? id : gnn_view_orig(v, type[k], id);
        }
        const struct gnn_batch_type *tails = &b->type[t->dst];
        const uint32_t tail = b->pair[2 * i + 1], tree = x->by_tree ? tails->tree[tail] : 0;
        const int64_t at = tails->time && !l->any_time ? tails->time[tail] : 0;
        to[x->n++] = (struct item){0, store[0], orig[1], tree, at};
        if (which == GNN_EXCLUDE_REVERSE)
            to[x->n++] = (struct item){1, store[1], orig[0], tree, at};
    }
    qsort(to, x->n, sizeof *to, compare_items);
    return GNN_OK;
}

static bool is_among(const struct gnn_absent *x, struct item item)
{
    return bsearch(&item, x->sorted.data, x->n, sizeof item, compare_items) != NULL;
}

bool gnn_absent_has(const struct gnn_absent *x, uint32_t et, uint32_t src, uint32_t dst,
                    const int64_t *time, uint32_t tree)
{
    if (!x->n)
        return false;
    const struct gnn_sampling *m = &x->m->sampling;
    const struct gnn_etype *t = &x->m->schema.etype[et];
    const int64_t at = time && !m->links.any_time ? gnn_time_of_entry(m->rule.time.real, *time) : 0;
    const uint32_t in = x->by_tree ? tree : 0;
    return (et == m->links.etype && is_among(x, (struct item){0, src, dst, in, at})) ||
           ((et == m->links.etype ? t->src == t->dst : et == m->links.reverse) &&
            is_among(x, (struct item){1, src, dst, in, at}));
}

void gnn_absent_release(struct gnn_absent *x)
{
    gnn_buf_release(&x->sorted);
}
