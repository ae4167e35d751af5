/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a relation before the first layer: that its adjacency is sound, and its nodes'
 * degrees. */

#include "lib/store/csc_check.h"
#include "lib/store/degree.h"
#include "lib/predict/predict_impl.h"

const struct gnn_tensor *gnn_predict_adjacency(const struct gnn_predict *p, uint32_t part,
                                               uint32_t r, const char *what)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    return gnn_store_findf(p->s, part, "edge/%s/%s",
                           gnn_etype_key(&p->s->meta.schema, r, key, sizeof(key)), what);
}

static int check_adjacency(const struct gnn_predict *p, uint32_t r, struct gnn_err *e)
{
    struct gnn_store_adj a;
    for (uint32_t k = 0; k < p->s->nparts; k++)
        if (gnn_store_adjacency(p->s, k, r, &a, e))
            return e->code;
    return 0;
}

/* Brings n numbers of four bytes to where the operations are. */
static int bring_numbers(struct gnn_predict *p, struct gnn_buf *to, const void *numbers, uint64_t n,
                         struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    if (o->fit(o, to, n, 4, "degrees", e))
        return e->code;
    o->put(o, to->data, numbers, n * 4);
    return 0;
}

static int take_weights(struct gnn_predict *p, uint32_t r, uint64_t n, struct gnn_err *e)
{
    struct gnn_predict_rel *q = &p->rel[r];
    struct gnn_buf there = {0};
    float *degree = NULL, *loop = NULL;
    if (!gnn_store_weights(p->s, r, p->m->c.edge_weight, &degree, &loop, e) &&
        !bring_numbers(p, &q->loop, loop, n, e) && !bring_numbers(p, &there, degree, n, e))
        p->o.ops->weight_degrees(p->o.ops, there.data, n, q->node.data);
    p->o.ops->release(p->o.ops, &there);
    gnn_free(degree);
    gnn_free(loop);
    return e->code;
}

static int take_degrees(struct gnn_predict *p, uint32_t r, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const uint64_t n = p->s->meta.schema.ntype[p->s->meta.schema.etype[r].dst].count;
    struct gnn_predict_rel *q = &p->rel[r];
    uint32_t *degree;
    if (gnn_store_degrees(p->s, r, &degree, e))
        return e->code;
    if (!bring_numbers(p, &q->degree, degree, n, e) &&
        !o->fit(o, &q->node, n, sizeof(float), "degrees", e) && !p->m->c.edge_weight)
        o->gcn_degrees(o, q->degree.data, n, q->node.data);
    gnn_free(degree);
    if (!e->code && p->m->c.edge_weight)
        return take_weights(p, r, n, e);
    o->release(o, &q->degree); /* needed with weights only */
    return e->code;
}

int gnn_predict_relations(struct gnn_predict *p, struct gnn_err *e)
{
    p->rel = gnn_alloc_zero(p->m->c.netypes, sizeof *p->rel, "relations", e);
    for (uint32_t r = 0; !e->code && r < p->m->c.netypes; r++)
        if (!check_adjacency(p, r, e) && gnn_adj_needs_degrees(gnn_layer_variant(&p->m->c)->norm))
            (void)!take_degrees(p, r, e);
    return e->code;
}
