/* SPDX-License-Identifier: Apache-2.0 */
/* Jumping knowledge, Xu et al. 2018, as PyG's JumpingKnowledge: the rows that all layers computed
 * for a node, concatenated, or their element-wise maximum. The share of each layer is a convolution
 * without edges. */
#include "lib/model/layer.h"

static void list_nothing(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    (void)s;
    (void)l;
}

static int share_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                      struct gnn_err *e)
{
    (void)c;
    (void)from;
    (void)to;
    (void)dy;
    return e->code;
}

/* Layers have columns of their own, so nothing is added up. */
static int put_columns(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                       const struct gnn_epilogue *ep, struct gnn_err *e)
{
    (void)acc;
    (void)ep; /* nothing follows jumping knowledge */
    c->s->o->put_columns(c->s->o, c->own, c->dd, to - from, c->dd, y + c->conv->column, c->w,
                         false);
    return e->code;
}

static int take_columns(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    c->s->o->put_columns(c->s->o, dy + c->conv->column, c->w, c->adj.ndst, c->dd, g, c->dd, true);
    return e->code;
}

static int raise_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                      const struct gnn_epilogue *ep, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const uint64_t n = (uint64_t)(to - from) * c->w;
    (void)ep;
    if (acc)
        o->raise(o, c->own, n, y);
    else
        o->copy(o, y, c->own, n * sizeof *y);
    return e->code;
}

/* The first layer that has the maximum gets the gradient; which have it is marked in scratch that
 * the layers' shares, one after the other, hand on. */
static int raise_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const uint64_t n = (uint64_t)c->adj.ndst * c->w;
    if (s->o->fit(s->o, &s->messages, n, sizeof(float), "gradients", e))
        return e->code;
    if (c->begins)
        s->o->zero(s->o, s->messages.data, n * sizeof(float));
    s->o->raise_back(s->o, dy, c->out, c->own, n, s->messages.data, g);
    return 0;
}

const struct gnn_layer gnn_layer_jk_cat = {
    .name = "cat",
    .module = "JumpingKnowledge",
    .own = true,
    .params = list_nothing,
    .weight = GNN_NONE,
    .bias = GNN_NONE,
    .rows = put_columns,
    .rows_back = share_back,
    .own_back = take_columns,
};

const struct gnn_layer gnn_layer_jk_max = {
    .name = "max",
    .module = "JumpingKnowledge",
    .own = true,
    .params = list_nothing,
    .weight = GNN_NONE,
    .bias = GNN_NONE,
    .rows = raise_rows,
    .rows_back = share_back,
    .own_back = raise_back,
};
