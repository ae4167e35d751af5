#include "lib/cache/order.h"

#include <string.h>

#include "lib/comm/comm.h"

enum gnn_order_by gnn_order_parse(const char *text)
{
    static const char words[] = GNN_ORDER_WORDS;
    int by = GNN_ORDER_DEGREE;
    for (const char *w = words, *end; w; w = *end ? end + 1 : NULL, by++) {
        end = w + strcspn(w, "|");
        if (strlen(text) == (size_t)(end - w) && !strncmp(w, text, (size_t)(end - w)))
            return (enum gnn_order_by)by;
    }
    return GNN_ORDER_FILE;
}

void gnn_order_release(struct gnn_order *o)
{
    gnn_scores_release(&o->file);
}

/* 1 for the nodes in the part's halo, which are ranked by their ids; nothing else is to be cached.
 */
static int halo_scores(struct gnn_store *s, uint32_t part, struct gnn_scores *x, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    if (gnn_scores_init(x, c, e))
        return e->code;
    for (uint32_t t = 0; t < c->nntypes; t++) {
        const struct gnn_tensor *ids = gnn_store_findf(s, part, "halo/%s/ids", c->ntype[t].name);
        for (uint64_t i = 0; i < c->ntype[t].count; i++)
            x->of[t][i] = -1;
        for (uint64_t i = 0; ids && i < ids->shape[0]; i++) {
            const uint32_t id = ((const uint32_t *)ids->data)[i];
            if (id >= c->ntype[t].count)
                return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'halo/%s/ids': out of range",
                                gnn_store_part_path(s, part), c->ntype[t].name);
            x->of[t][id] = 1;
        }
    }
    return 0;
}

static int sum_scores(struct gnn_store *s, struct gnn_scores *x, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    int rc = 0;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        rc = gnn_comm_all_reduce(s->comm, x->of[t], c->ntype[t].count, GNN_REDUCE_F32, e);
    return rc;
}

static int make_scores(enum gnn_order_by by, const struct gnn_order_scope *w, struct gnn_scores *x,
                       struct gnn_err *e)
{
    if (by == GNN_ORDER_ACCESS)
        return w->store->comm->size > 1
                   ? gnn_access_of_rank(w->store, w->sampling, w->store->comm, x, e)
                   : gnn_access_of_batches(w->store, w->sampling, x, e);
    if (by == GNN_ORDER_HALO && w->one_part)
        return halo_scores(w->store, w->part, x, e);
    /* Over the edges that this rank has: only nodes of its halo, and its own, have some there. */
    return gnn_access_degree(w->store, w->sampling, x, e);
}

int gnn_order_scores(const struct gnn_order *o, const struct gnn_order_scope *w,
                     struct gnn_scores *made, const struct gnn_scores **x, struct gnn_err *e)
{
    *x = o->by == GNN_ORDER_FILE ? &o->file : o->by == GNN_ORDER_ACCESS ? w->access : NULL;
    if (*x)
        return 0;
    *x = made;
    int rc = make_scores(o->by, w, made, e);
    if (!rc && (w->all_ranks || o->by == GNN_ORDER_DEGREE))
        rc = sum_scores(w->store, made, e);
    return rc;
}
