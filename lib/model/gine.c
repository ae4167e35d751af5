/* SPDX-License-Identifier: Apache-2.0 */
/* GINE: out = MLP((1 + eps) x + sum of relu(x_j + lin(e_ij))), Hu et al. 2020, as PyG's GINEConv
 * with edge_dim: the features of edges are brought to the width of nodes by a matrix and a bias.
 *
 * Rows of edges are made for a range of destinations at a time, forward and once more back; nothing
 * of edge size is kept. */
#include <math.h>

#include "lib/model/gin.h"

/* The matrix and the bias of edges come after GIN's parameters. */
enum { LIN_0 = 1, BIAS_1 = 4, NORM = 5 };
enum { EDGE_LIN, EDGE_BIAS };

static uint32_t edge_param(const struct gnn_model_config *c, uint32_t k)
{
    const uint32_t norm = c->batch_norm ? GNN_NORM_PARAMS : c->layer_norm ? GNN_NORM_MEAN : 0;
    return NORM + norm + k;
}

static void list_params(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    const uint32_t features = s->c->etype[s->r].features;
    const double bound = features ? 1 / sqrt(features) : 1;
    gnn_gin_params(s, l);
    gnn_param_list_add(l, "lin.weight", s->src, features ? features : 1, bound, 0);
    gnn_param_list_add(l, "lin.bias", s->src, 0, bound, 0);
}

static int check_shape(const struct gnn_conv_shape *s, struct gnn_err *e)
{
    const struct gnn_model_etype *t = &s->c->etype[s->r];
    if (t->features)
        return gnn_gin_check(s, e);
    return gnn_fail(e, GNN_E_USAGE,
                    "gine requires --edge-features, and features x of the edges %s/%s/%s; use gin",
                    s->c->ntype[t->src].name, t->rel, s->c->ntype[t->dst].name);
}

/* What edges add to their sources' rows: those that enter rows [from, to), which are n from number
 * *first on. NULL on failure, or if there are none. */
static float *make_terms(struct gnn_conv_run *c, uint32_t from, uint32_t to, uint32_t *first,
                         uint32_t *n, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_model_config *m = &s->m->c;
    const uint32_t f = c->adj.features;
    gnn_adj_edges_of(s->o, &c->adj, from, to, first, n);
    const struct gnn_epilogue bias = {gnn_conv_param(c, edge_param(m, EDGE_BIAS)), GNN_ACT_NONE};
    if (!*n ||
        s->o->fit(s->o, &s->edge_rows, (uint64_t)*n * c->ds, sizeof(float), "rows of edges", e) ||
        gnn_pass_gemm(s, false, true, *n, c->ds, f, c->adj.feature + (size_t)*first * f,
                      gnn_conv_param(c, edge_param(m, EDGE_LIN)), 0, s->edge_rows.data, &bias, e))
        return NULL;
    return s->edge_rows.data;
}

static int add_messages(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *sums, bool acc,
                        struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    uint32_t first, n;
    const float *z = make_terms(c, from, to, &first, &n, e);
    if (z)
        o->edge_relu(o, c->adj.seg, c->adj.nseg, from, to, c->x, c->adj.nsrc, z, first, c->ds, sums,
                     acc);
    else if (!e->code && !acc)
        o->zero(o, sums, (uint64_t)(to - from) * c->ds * sizeof *sums);
    return e->code;
}

static int sum_messages(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *sums,
                        struct gnn_err *e)
{
    return add_messages(c, from, to, sums, false, e);
}

/* In ranges of rows, as those of edges are made for. */
static int gather_sums(struct gnn_conv_run *c, bool first, struct gnn_err *e)
{
    EACH_CHUNK(from, to, c->adj.ndst, c->s->o) {
        float *sums = gnn_conv_scratch(c, GNN_GIN_SUMS, from, to, c->ds, e);
        if (!sums || add_messages(c, from, to, sums, !first, e))
            return e->code;
    }
    return 0;
}

static int open_hidden(struct gnn_conv_run *c, struct gnn_err *e)
{
    return gnn_gin_open(c, sum_messages, e);
}

static int make_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                     const struct gnn_epilogue *ep, struct gnn_err *e)
{
    return gnn_gin_rows(c, sum_messages, from, to, y, acc, ep, e);
}

/* Gradients of the edges that enter rows [from, to), and what they give to g. */
static int edges_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *g,
                      struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const struct gnn_model_config *m = &s->m->c;
    const uint32_t f = c->adj.features;
    const float *dy = (const float *)c->kept[GNN_GIN_SUMS].data + (size_t)from * c->ds;
    uint32_t first, n;
    float *z = make_terms(c, from, to, &first, &n, e);
    if (!z)
        return e->code;
    o->edge_relu_back(o, c->adj.seg, c->adj.nseg, from, to, c->x, c->adj.nsrc, z, first, dy, c->ds,
                      z);
    gnn_adj_clear_rest(o, &c->adj, c->ds, z);
    if (gnn_pass_gemm(s, true, false, c->ds, f, n, z, c->adj.feature + (size_t)first * f, 1,
                      gnn_conv_grad(c, edge_param(m, EDGE_LIN)), NULL, e) ||
        o->fit(o, &s->work, GNN_COLSUM_BLOCKS * (uint64_t)c->ds, sizeof(float), "gradients", e))
        return e->code;
    o->colsum(o, z, n, c->ds, s->work.data, gnn_conv_grad(c, edge_param(m, EDGE_BIAS)), true);
    if (g)
        o->edge_sum(o, c->adj.back, 1, 0, c->adj.nsrc, z, first, n, c->ds, g, true);
    return 0;
}

static int spread_sums(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                       struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    (void)dy;
    if (g && !acc)
        o->zero(o, g, (uint64_t)c->adj.nsrc * c->ds * sizeof *g);
    EACH_CHUNK(from, to, c->adj.ndst, o)
        if (edges_back(c, from, to, g, e))
            return e->code;
    return 0;
}

static int sources_back(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                        struct gnn_err *e)
{
    return gnn_gin_sums_back(c, e) ? e->code : spread_sums(c, dy, g, acc, e);
}

const struct gnn_layer gnn_layer_gine = {
    .name = "gine",
    .activates = true,
    .module = "GINEConv",
    .norm = GNN_ADJ_SUM,
    .own = true,
    .features = true,
    .needs_features = true,
    .numbered = true,
    .fetches = true,
    .buffers = 2,
    .params = list_params,
    .weight = LIN_0,
    .option = gnn_gin_options,
    .noptions = GNN_GIN_OPTIONS,
    .bias = BIAS_1,
    .check = check_shape,
    .open = open_hidden,
    .rows = make_rows,
    .rows_back = gnn_gin_rows_back,
    .sources_back = sources_back,
    .own_back = gnn_gin_own_back,
    .gather = gather_sums,
    .hidden = gnn_gin_hidden,
    .hidden_at = gnn_gin_hidden_at,
    .sums_back = gnn_gin_all_sums_back,
    .spread = spread_sums,
    .floats = gnn_gin_floats,
};
