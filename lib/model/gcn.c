/* SPDX-License-Identifier: Apache-2.0 */
/* GCN: out = lin(D^-1/2 (A + I) D^-1/2 x) + bias, Kipf and Welling 2017, as PyG's GCNConv.
 * With edge weights, A holds these, and D their sums. */
#include <math.h>

#include "lib/model/layer.h"

enum { BIAS, LIN };

/* Glorot's uniform distribution, and zero. */
static void list_params(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    gnn_param_list_add(l, "bias", s->out, 0, 0, 0);
    gnn_param_list_add(l, "lin.weight", s->out, s->src, sqrt(6.0 / (s->src + s->out)), 0);
}

/* A node is a neighbour of itself. */
static int check_types(const struct gnn_conv_shape *s, struct gnn_err *e)
{
    const struct gnn_model_etype *t = &s->c->etype[s->r];
    if (t->src == t->dst)
        return 0;
    return gnn_fail(e, GNN_E_USAGE,
                    "gcn is defined for relations within one node type, not for %s/%s/%s; use sage",
                    s->c->ntype[t->src].name, t->rel, s->c->ntype[t->dst].name);
}

const struct gnn_layer gnn_layer_gcn = {
    .name = "gcn",
    .module = "GCNConv",
    .assumed = "GCNConv(normalize=True, add_self_loops=True, improved=False)",
    .norm = GNN_ADJ_SYMMETRIC,
    .weights = true,
    .buffers = 1,
    .params = list_params,
    .weight = LIN,
    .bias = BIAS,
    .check = check_types,
    .messages = gnn_linear_messages,
    .send = gnn_linear_send,
    .rows = gnn_linear_rows,
    .rows_back = gnn_linear_rows_back,
    .sources_back = gnn_linear_sources_back,
    .late_back = gnn_linear_late_back,
    .constant_sums = true,
    .linear = true,
    .gather = gnn_linear_gather,
    .spread = gnn_linear_spread,
    .send_back = gnn_linear_send_back,
};
