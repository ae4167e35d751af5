/* SPDX-License-Identifier: Apache-2.0 */
/* GraphSAGE: out = lin_l(mean of neighbours) + lin_r(self), Hamilton et al. 2017, as PyG's
 * SAGEConv.
 */
#include <math.h>

#include "lib/model/layer.h"

enum { LIN_L, LIN_L_BIAS, LIN_R };

/* Kaiming's uniform distribution, as torch.nn.Linear has it. */
static void list_params(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    gnn_param_list_add(l, "lin_l.weight", s->out, s->src, 1 / sqrt(s->src), 0);
    gnn_param_list_add(l, "lin_l.bias", s->out, 0, 1 / sqrt(s->src), 0);
    gnn_param_list_add(l, "lin_r.weight", s->out, s->dst, 1 / sqrt(s->dst), 0);
}

static int make_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                     const struct gnn_epilogue *ep, struct gnn_err *e)
{
    if (gnn_linear_rows(c, from, to, y, acc, NULL, e))
        return e->code;
    return gnn_pass_gemm(c->s, false, true, to - from, c->w, c->dd, c->own,
                         gnn_conv_param(c, LIN_R), 1, y, ep, e);
}

static int rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                     struct gnn_err *e)
{
    if (gnn_linear_rows_back(c, from, to, dy, e))
        return e->code;
    return gnn_pass_gemm(c->s, true, false, c->w, c->dd, to - from, dy, c->own, 1,
                         gnn_conv_grad(c, LIN_R), NULL, e);
}

static int own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    return gnn_pass_gemm(c->s, false, false, c->adj.ndst, c->dd, c->w, dy, gnn_conv_param(c, LIN_R),
                         1, g, NULL, e);
}

const struct gnn_layer gnn_layer_sage = {
    .name = "sage",
    .module = "SAGEConv",
    .norm = GNN_ADJ_MEAN,
    .own = true,
    .rooms = 1,
    .params = list_params,
    .weight = LIN_L,
    .bias = LIN_L_BIAS,
    .messages = gnn_linear_messages,
    .send = gnn_linear_send,
    .rows = make_rows,
    .rows_back = rows_back,
    .sources_back = gnn_linear_sources_back,
    .own_back = own_back,
};
