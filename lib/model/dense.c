/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions without edges: what a stage makes of a node's own row alone. As tables of the same
 * kind as layers they are summed up with these, and have the same drivers. */
#include <math.h>

#include "lib/model/layer.h"

enum { WEIGHT, BIAS };

/* As torch.nn.Linear begins. */
static void list_linear(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    gnn_param_list_add(l, "weight", s->out, s->dst, 1 / sqrt(s->dst), 0);
    gnn_param_list_add(l, "bias", s->out, 0, 1 / sqrt(s->dst), 0);
}

static void list_projection(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    gnn_param_list_add(l, "weight", s->out, s->dst, 1 / sqrt(s->dst), 0);
}

static void list_nothing(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    (void)s;
    (void)l;
}

int gnn_dense_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                   const struct gnn_epilogue *ep, struct gnn_err *e)
{
    return gnn_pass_gemm(c->s, false, true, to - from, c->w, c->dd, c->own,
                         gnn_conv_param(c, WEIGHT), acc ? 1 : 0, y, ep, e);
}

int gnn_dense_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                        struct gnn_err *e)
{
    return gnn_pass_gemm(c->s, true, false, c->w, c->dd, to - from, dy, c->own, 1,
                         gnn_conv_grad(c, WEIGHT), NULL, e);
}

int gnn_dense_own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    return gnn_pass_gemm(c->s, false, false, c->adj.ndst, c->dd, c->w, dy,
                         gnn_conv_param(c, WEIGHT), 1, g, NULL, e);
}

static int copy_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                     const struct gnn_epilogue *ep, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const uint64_t n = (uint64_t)(to - from) * c->w;
    if (acc)
        o->add(o, c->own, n, y);
    else
        o->copy(o, y, c->own, n * sizeof *y);
    if (ep)
        o->bias_act(o, y, to - from, c->w, ep->bias, ep->act, NULL);
    return e->code;
}

static int copy_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                     struct gnn_err *e)
{
    (void)c;
    (void)from;
    (void)to;
    (void)dy;
    return e->code;
}

static int copy_own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    c->s->o->add(c->s->o, dy, (uint64_t)c->adj.ndst * c->w, g);
    return e->code;
}

const struct gnn_layer gnn_layer_linear = {
    .name = "linear",
    .module = "Linear",
    .own = true,
    .params = list_linear,
    .weight = WEIGHT,
    .bias = BIAS,
    .rows = gnn_dense_rows,
    .rows_back = gnn_dense_rows_back,
    .own_back = gnn_dense_own_back,
};

const struct gnn_layer gnn_layer_projection = {
    .name = "projection",
    .module = "Linear",
    .own = true,
    .params = list_projection,
    .weight = WEIGHT,
    .bias = GNN_NONE,
    .rows = gnn_dense_rows,
    .rows_back = gnn_dense_rows_back,
    .own_back = gnn_dense_own_back,
};

const struct gnn_layer gnn_layer_identity = {
    .name = "identity",
    .module = "Identity",
    .own = true,
    .params = list_nothing,
    .weight = GNN_NONE,
    .bias = GNN_NONE,
    .rows = copy_rows,
    .rows_back = copy_back,
    .own_back = copy_own_back,
};
