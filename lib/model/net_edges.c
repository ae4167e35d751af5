/* SPDX-License-Identifier: Apache-2.0 */
/* What layers use of a batch's edges: weights, features, ids. A relation's edges are put together
 * hop after hop, as layers number them; under the rule "new" a layer sees those of the first hops,
 * under "all" those of one. */
#include <stdio.h>
#include <string.h>

#include "lib/model/net_impl.h"

static uint64_t count_edges(const struct gnn_net *n, uint32_t r)
{
    uint64_t edges = 0;
    for (uint32_t h = 0; h < n->b->nhops; h++)
        edges += gnn_batch_block(n->b, h, r)->edges;
    return edges;
}

const char *gnn_net_remedy(const struct gnn_model_config *c, char *text, size_t capacity)
{
    const char *weight = c->edge_weight ? c->edge_weight : "";
    const bool degrees = gnn_adj_needs_degrees(c->layer->norm);
    snprintf(text, capacity, "use %sgnn-gather --fields x,y%s%s%s%s%s",
             *weight || c->edge_features ? "gnn-sample --edge-ids and " : "", *weight ? "," : "",
             weight, degrees ? ",degree" : "", degrees && *weight ? ":" : "",
             degrees ? weight : "");
    return text;
}

/* Rows of a field of all the relation's edges as f32, `width` columns. */
static int take_field(struct gnn_net *n, const struct gnn_meta *meta, uint32_t r, const char *field,
                      uint32_t width, struct gnn_buf *to, struct gnn_err *e)
{
    const struct gnn_ops *o = n->pass.o;
    char name[GNN_NAME_MAX + 1], key[GNN_ETYPE_KEY_CAPACITY], remedy[GNN_REMEDY_CAPACITY];
    uint64_t at = 0;
    if (o->fit(o, to, count_edges(n, r) * width, sizeof(float), "edges", e))
        return e->code;
    for (uint32_t h = 0; h < n->b->nhops; h++) {
        const uint64_t count = (uint64_t)gnn_batch_block(n->b, h, r)->edges * width;
        if (!count)
            continue;
        gnn_tensor_name(name, "hop/%u/%s/%s", h, gnn_etype_key(&meta->schema, r, key, sizeof key),
                        field);
        const struct gnn_tensor *x = gnn_tensors_find(&n->b->tensors, name);
        if (!x || x->shape[0] * (x->ndim == 2 ? x->shape[1] : 1) != count)
            return gnn_fail(e, GNN_E_INPUT,
                            "batches have no %s (%u wide), which the model needs: %s", name, width,
                            gnn_net_remedy(&n->pass.m->c, remedy, sizeof remedy));
        if (gnn_net_check_floats(x, e))
            return e->code;
        o->floats(o, x, count, (float *)to->data + at);
        at += count;
    }
    return 0;
}

static int take_ids(struct gnn_net *n, uint32_t r, struct gnn_err *e)
{
    const struct gnn_ops *o = n->pass.o;
    struct gnn_buf *to = &n->edge[r].id;
    uint64_t at = 0;
    if (o->fit(o, to, count_edges(n, r), sizeof(uint64_t), "edge ids", e))
        return e->code;
    for (uint32_t h = 0; h < n->b->nhops; h++) {
        const struct gnn_block *k = gnn_batch_block(n->b, h, r);
        if (k->edges && !k->id)
            return gnn_fail(e, GNN_E_INPUT,
                            "attention dropout requires edge ids in the batches: use gnn-sample "
                            "--edge-ids");
        if (k->edges)
            o->copy(o, (uint64_t *)to->data + at, k->id, k->edges * sizeof *k->id);
        at += k->edges;
    }
    return 0;
}

int gnn_net_edges(struct gnn_net *n, const struct gnn_meta *meta, uint32_t r, struct gnn_err *e)
{
    const struct gnn_model_config *c = &n->pass.m->c;
    struct gnn_net_edges *x = &n->edge[r];
    if ((c->edge_weight && take_field(n, meta, r, c->edge_weight, 1, &x->value, e)) ||
        (c->etype[r].features && take_field(n, meta, r, "x", c->etype[r].features, &x->feature, e)))
        return e->code;
    return n->pass.train && gnn_layer_needs_ids(c) ? take_ids(n, r, e) : 0;
}
