/* SPDX-License-Identifier: Apache-2.0 */
/* GIN: out = MLP((1 + eps) x + sum of neighbours), Xu et al. 2019, as PyG's GINConv has it in its
 * model GIN: the MLP has two layers, with the norm and the activation of the model between them.
 * eps is trained, or constant.
 *
 * Batch norm needs all hidden rows before it can give the first. While training, the first layer of
 * the MLP is therefore done for all rows before the second, and in the backward pass the second
 * before the first. */
#include <math.h>

#include "lib/model/gin.h"

enum { EPS, LIN_0, BIAS_0, LIN_1, BIAS_1, NORM };
/* Rows that are kept: what enters the MLP, its hidden rows, their gradients. */
enum { SUMS = GNN_GIN_SUMS, HIDDEN, HIDDEN_GRAD };

static bool has_norm(const struct gnn_model_config *c)
{
    return c->layer_norm || c->batch_norm;
}

enum { TRAIN_EPS };
const struct gnn_layer_option gnn_gin_options[] = {
    [TRAIN_EPS] = {"train_eps", "train-eps", .flag = true, .training = true,
                   .help = "gin and gine: train eps (default: eps is constant)"},
};

static bool trains_eps(const struct gnn_conv_run *c)
{
    return c->s->m->c.option[TRAIN_EPS] != 0;
}

void gnn_gin_params(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    gnn_param_list_add(l, "eps", 1, 0, 0, 0)->trained = s->c->option[TRAIN_EPS] != 0;
    gnn_param_list_add(l, "nn.lins.0.weight", s->out, s->src, 1 / sqrt(s->src), 0);
    gnn_param_list_add(l, "nn.lins.0.bias", s->out, 0, 1 / sqrt(s->src), 0);
    gnn_param_list_add(l, "nn.lins.1.weight", s->out, s->out, 1 / sqrt(s->out), 0);
    gnn_param_list_add(l, "nn.lins.1.bias", s->out, 0, 1 / sqrt(s->out), 0);
    if (has_norm(s->c))
        gnn_param_list_norm(l, s->c, "nn.norms.0.", s->out);
}

/* Sources and destinations are added up. */
int gnn_gin_check(const struct gnn_conv_shape *s, struct gnn_err *e)
{
    const struct gnn_model_etype *t = &s->c->etype[s->r];
    if (!s->src || !s->dst || s->src == s->dst)
        return 0;
    return gnn_fail(e, GNN_E_USAGE,
                    "%s requires source and destination nodes of the same width, but %s/%s/%s has "
                    "%u and %u features; use --encoder N, or sage",
                    s->c->layer->name, s->c->ntype[t->src].name, t->rel, s->c->ntype[t->dst].name,
                    s->src, s->dst);
}

/* Hidden rows h; batch norm's are finished when the last of them has been made. */
static int make_hidden(struct gnn_conv_run *c, gnn_gin_sum *sum, uint32_t from, uint32_t to,
                       const float *own, float *h, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const uint32_t rows = to - from;
    float *sums = gnn_conv_scratch(c, SUMS, from, to, c->ds, e);
    if (!sums || (!c->gathered && sum(c, from, to, sums, e)))
        return e->code;
    o->add_scaled(o, own, (uint64_t)rows * c->ds, gnn_conv_param(c, EPS), sums);
    if (gnn_pass_gemm(c->s, false, true, rows, c->w, c->ds, sums, gnn_conv_param(c, LIN_0), 0, h,
                      gnn_activation_first(&c->inside), e))
        return e->code;
    gnn_activation_rows(c->s, &c->inside, from, to, h);
    return 0;
}

/* All hidden rows, as far as they can be made before batch norm's statistics are known. */
static int make_all_hidden(struct gnn_conv_run *c, gnn_gin_sum *sum, struct gnn_err *e)
{
    const uint32_t n = c->most;
    if (gnn_activation_open(c->s, &c->inside, n, e))
        return e->code;
    EACH_CHUNK(from, to, n, c->s->o) {
        float *h = gnn_conv_scratch(c, HIDDEN, from, to, c->w, e);
        if (!h || make_hidden(c, sum, from, to, c->own + (size_t)from * c->dd, h, e))
            return e->code;
    }
    return 0;
}

int gnn_gin_hidden(struct gnn_conv_run *c, struct gnn_err *e)
{
    return make_all_hidden(c, NULL, e);
}

int gnn_gin_open(struct gnn_conv_run *c, gnn_gin_sum *sum, struct gnn_err *e)
{
    struct gnn_activation *a = &c->inside;
    a->norm = has_norm(&c->s->m->c) ? c->first + NORM : UINT32_MAX;
    a->w = c->w;
    a->act = (enum gnn_act)c->s->m->c.act;
    a->bias = gnn_conv_param(c, BIAS_0);
    a->count = c->count;
    if (!c->s->train)
        return gnn_activation_open(c->s, a, c->most, e);
    if (c->gathered || make_all_hidden(c, sum, e))
        return e->code;
    return gnn_activation_close(c->s, a, c->most, c->kept[HIDDEN].data, e);
}

void gnn_gin_hidden_at(const struct gnn_conv_run *c, float **h, float **dh)
{
    *h = c->kept[HIDDEN].data;
    *dh = c->kept[HIDDEN_GRAD].data;
}

int gnn_gin_rows(struct gnn_conv_run *c, gnn_gin_sum *sum, uint32_t from, uint32_t to, float *y,
                 bool acc, const struct gnn_epilogue *ep, struct gnn_err *e)
{
    float *h = gnn_conv_scratch(c, HIDDEN, from, to, c->w, e);
    if (!h || (!c->s->train && make_hidden(c, sum, from, to, c->own, h, e)))
        return e->code;
    return gnn_pass_gemm(c->s, false, true, to - from, c->w, c->w, h, gnn_conv_param(c, LIN_1),
                         acc ? 1 : 0, y, ep, e);
}

int gnn_gin_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                      struct gnn_err *e)
{
    const float *h = gnn_conv_scratch(c, HIDDEN, from, to, c->w, e);
    float *dh = h ? gnn_conv_scratch(c, HIDDEN_GRAD, from, to, c->w, e) : NULL;
    if (!dh || gnn_pass_gemm(c->s, true, false, c->w, c->w, to - from, dy, h, 1,
                             gnn_conv_grad(c, LIN_1), NULL, e))
        return e->code;
    return gnn_pass_gemm(c->s, false, false, to - from, c->w, c->w, dy, gnn_conv_param(c, LIN_1), 0,
                         dh, NULL, e);
}

/* The first layer's gradients, for rows [from, to). Those of the sums take the place of these. */
static int sums_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const uint32_t rows = to - from;
    float *dh = c->kept[HIDDEN_GRAD].data, *sums = gnn_conv_scratch(c, SUMS, from, to, c->ds, e);
    dh += (size_t)from * c->w;
    gnn_activation_back(s, &c->inside, from, to, c->kept[HIDDEN].data, dh,
                        gnn_conv_grad(c, BIAS_0));
    if (!sums || gnn_pass_gemm(s, true, false, c->w, c->ds, rows, dh, sums, 1,
                               gnn_conv_grad(c, LIN_0), NULL, e))
        return e->code;
    if (!c->inputs && !trains_eps(c) && !c->adj.features)
        return 0;
    /* Gradients of the sums overwrite the sums, which are needed no more. */
    return gnn_pass_gemm(s, false, false, rows, c->ds, c->w, dh, gnn_conv_param(c, LIN_0), 0, sums,
                         NULL, e);
}

/* The gradient of eps is <dsums, own>: products are added up column by column, in double precision,
 * then the columns. */
static int eps_back(struct gnn_conv_run *c, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const size_t d = c->ds;
    if (o->fit(o, &s->work, GNN_MOMENT_BLOCKS * 2 * d, sizeof(double), "gradients", e) ||
        o->fit(o, &s->sums, 2 * d, sizeof(double), "gradients", e) ||
        o->fit(o, &s->messages, 2 * d, sizeof(float), "gradients", e))
        return e->code;
    float *columns = s->messages.data;
    o->zero(o, s->sums.data, 2 * d * sizeof(double));
    o->zero(o, columns, 2 * d * sizeof *columns);
    o->moments(o, c->kept[SUMS].data, c->own, NULL, c->adj.ndst, d, s->work.data, s->sums.data);
    o->batch_norm_grads(o, s->sums.data, d, columns, columns + d);
    o->colsum(o, columns, (uint32_t)d, 1, s->work.data, gnn_conv_grad(c, EPS), true);
    return 0;
}

int gnn_gin_sums_back(struct gnn_conv_run *c, struct gnn_err *e)
{
    if (gnn_activation_back_open(c->s, &c->inside, c->adj.ndst, c->kept[HIDDEN].data,
                                 c->kept[HIDDEN_GRAD].data, e))
        return e->code;
    return gnn_gin_all_sums_back(c, NULL, e);
}

int gnn_gin_all_sums_back(struct gnn_conv_run *c, const float *dy, struct gnn_err *e)
{
    (void)dy; /* rows_back has made what is needed of it */
    EACH_CHUNK(from, to, c->adj.ndst, c->s->o)
        if (sums_back(c, from, to, e))
            return e->code;
    return trains_eps(c) ? eps_back(c, e) : 0;
}

/* What enters the MLP, hidden rows and their gradients, and those rows normalised. */
void gnn_gin_floats(const struct gnn_conv_run *c, struct gnn_conv_floats *n)
{
    const struct gnn_model_config *m = &c->s->m->c;
    n->dst = c->ds + 2 * (uint64_t)c->w + (has_norm(m) ? c->w : 0) + m->layer_norm;
}

int gnn_gin_own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    (void)dy;
    c->s->o->add_scaled(c->s->o, c->kept[SUMS].data, (uint64_t)c->adj.ndst * c->ds,
                        gnn_conv_param(c, EPS), g);
    return e->code;
}

/* GIN's own: the sum of the neighbours as they are. */
static int sum_neighbours(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *sums,
                          struct gnn_err *e)
{
    gnn_adj_aggregate(c->s->o, &c->adj, from, to, c->x, c->ds, sums, false);
    return e->code;
}

static int open_hidden(struct gnn_conv_run *c, struct gnn_err *e)
{
    return gnn_gin_open(c, sum_neighbours, e);
}

static int gather_sums(struct gnn_conv_run *c, bool first, struct gnn_err *e)
{
    float *sums = gnn_conv_scratch(c, SUMS, 0, c->adj.ndst, c->ds, e);
    if (sums)
        gnn_adj_aggregate(c->s->o, &c->adj, 0, c->adj.ndst, c->x, c->ds, sums, !first);
    return e->code;
}

static int spread_sums(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                       struct gnn_err *e)
{
    (void)dy;
    if (g)
        gnn_adj_spread(c->s->o, &c->adj, c->kept[SUMS].data, c->ds, g, acc);
    return e->code;
}

static int make_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                     const struct gnn_epilogue *ep, struct gnn_err *e)
{
    return gnn_gin_rows(c, sum_neighbours, from, to, y, acc, ep, e);
}

static int sources_back(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                        struct gnn_err *e)
{
    return gnn_gin_sums_back(c, e) ? e->code : spread_sums(c, dy, g, acc, e);
}

const struct gnn_layer gnn_layer_gin = {
    .name = "gin",
    .activates = true,
    .module = "GINConv",
    .norm = GNN_ADJ_SUM,
    .own = true,
    .buffers = 2,
    .params = gnn_gin_params,
    .weight = LIN_0,
    .option = gnn_gin_options,
    .noptions = 1,
    .bias = BIAS_1,
    .check = gnn_gin_check,
    .open = open_hidden,
    .rows = make_rows,
    .rows_back = gnn_gin_rows_back,
    .sources_back = sources_back,
    .late_back = gnn_linear_late_back,
    .own_back = gnn_gin_own_back,
    .linear = true,
    .gather = gather_sums,
    .hidden = gnn_gin_hidden,
    .hidden_at = gnn_gin_hidden_at,
    .sums_back = gnn_gin_all_sums_back,
    .spread = spread_sums,
    .floats = gnn_gin_floats,
};
