/* SPDX-License-Identifier: Apache-2.0 */
/* GraphSAGE: out = lin_l(mean of neighbours) + lin_r(self), Hamilton et al. 2017, as PyG's
 * SAGEConv. The neighbours' sum or maximum may take the place of their mean; they may go through
 * relu(lin(x)) before; and rows of the result may be brought to length 1.
 *
 * Means and sums alone have tables of their own: the driver adds their bias. Tables with more come
 * from one set of operations; those that normalise add the bias themselves, before. */
#include <math.h>
#include <string.h>

#include "lib/model/layer.h"

enum { LIN_L, LIN_L_BIAS, LIN_R, LIN, LIN_BIAS };
/* Rows that are kept: what is multiplied by lin_l, results before they are added up, factors that
 * made them unit rows, their gradients, numbers of edges with the largest. */
enum { SUMS, UNIT, RNORM, UNIT_GRAD, ARG };

enum { AGGR, NORMALIZE, PROJECT, OPTIONS };
enum { MEAN, MAX, SUM };
static const struct gnn_layer_option options[OPTIONS] = {
    [AGGR] = {"aggr", "aggr", .choices = "mean|max|sum", .unrecorded = true,
              .help = "sage: how neighbours are aggregated (default: mean)"},
    [NORMALIZE] = {"normalize", "normalize", .flag = true, .unrecorded = true,
                   .help = "sage: divide rows of results by their Euclidean length"},
    [PROJECT] = {"project", "project", .flag = true,
                 .help = "sage: linear layer and ReLU before neighbours are aggregated"},
};

static bool is_chosen(const struct gnn_conv_run *c, unsigned option)
{
    return c->s->m->c.option[option] != 0;
}

static bool takes_max(const struct gnn_conv_run *c)
{
    return (int)c->s->m->c.option[AGGR] == MAX;
}

/* The sources, or what is sent of them, are aggregated before lin_l in any case. */
static bool sums_first(const struct gnn_conv_run *c)
{
    return takes_max(c) || is_chosen(c, PROJECT);
}

/* Kaiming's uniform distribution, as torch.nn.Linear has it. */
static void list_params(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    gnn_param_list_add(l, "lin_l.weight", s->out, s->src, 1 / sqrt(s->src), 0);
    gnn_param_list_add(l, "lin_l.bias", s->out, 0, 1 / sqrt(s->src), 0);
    gnn_param_list_add(l, "lin_r.weight", s->out, s->dst, 1 / sqrt(s->dst), 0);
    if (s->c->option[PROJECT] == 0)
        return;
    gnn_param_list_add(l, "lin.weight", s->src, s->src, 1 / sqrt(s->src), 0);
    gnn_param_list_add(l, "lin.bias", s->src, 0, 1 / sqrt(s->src), 0);
}

static void tell_project(struct gnn_model_config *c, const char *name, const struct gnn_tensor *t)
{
    (void)t;
    if (!strcmp(name, "lin.weight"))
        c->option[PROJECT] = 1;
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

static uint32_t message_width(const struct gnn_conv_run *c)
{
    if (is_chosen(c, PROJECT))
        return c->ds;
    return takes_max(c) ? 0 : gnn_linear_messages(c);
}

/* relu(lin(x)); the product's own ReLU could lose a NaN. */
static int send_rows(struct gnn_conv_run *c, const float *x, uint32_t n, float *out,
                     struct gnn_err *e)
{
    if (!is_chosen(c, PROJECT))
        return gnn_linear_send(c, x, n, out, e);
    const struct gnn_epilogue ep = {gnn_conv_param(c, LIN_BIAS), GNN_ACT_NONE};
    if (gnn_pass_gemm(c->s, false, true, n, c->ds, c->ds, x, gnn_conv_param(c, LIN), 0, out, &ep,
                      e))
        return e->code;
    c->s->o->bias_act(c->s->o, out, n, c->ds, NULL, GNN_ACT_RELU, NULL);
    return 0;
}

/* lin_l(neighbours) + lin_r(own). */
static int join_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                     const struct gnn_epilogue *ep, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const float *x = c->message ? c->messages : c->x;
    if (!sums_first(c))
        return make_rows(c, from, to, y, acc, ep, e);
    const bool marks = takes_max(c) && s->train && !c->gathered;
    float *sums = gnn_conv_scratch(c, SUMS, from, to, c->ds, e);
    float *arg = sums && marks ? gnn_conv_scratch(c, ARG, from, to, c->ds, e) : NULL;
    if (e->code)
        return e->code;
    if (!c->gathered && takes_max(c))
        gnn_adj_max(s->o, &c->adj, from, to, x, c->ds, sums, (uint32_t *)(void *)arg, false);
    else if (!c->gathered)
        gnn_adj_aggregate(s->o, &c->adj, from, to, x, c->ds, sums, false);
    if (gnn_pass_gemm(s, false, true, to - from, c->w, c->ds, sums, gnn_conv_param(c, LIN_L),
                      acc ? 1 : 0, y, NULL, e))
        return e->code;
    return gnn_pass_gemm(s, false, true, to - from, c->w, c->dd, c->own, gnn_conv_param(c, LIN_R),
                         1, y, ep, e);
}

static int unit_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                     const struct gnn_epilogue *ep, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const uint32_t n = to - from;
    const struct gnn_epilogue bias = {gnn_conv_param(c, LIN_L_BIAS), GNN_ACT_NONE};
    float *unit = gnn_conv_scratch(c, UNIT, from, to, c->w, e);
    float *rnorm = unit && c->s->train ? gnn_conv_scratch(c, RNORM, from, to, 1, e) : NULL;
    if (e->code || join_rows(c, from, to, unit, false, &bias, e))
        return e->code;
    o->unit_rows(o, unit, n, c->w, unit, rnorm);
    if (acc)
        o->add(o, unit, (uint64_t)n * c->w, y);
    else
        o->copy(o, y, unit, (uint64_t)n * c->w * sizeof *y);
    if (ep)
        o->bias_act(o, y, n, c->w, ep->bias, ep->act, NULL);
    return 0;
}

static int join_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                     struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const uint32_t n = to - from;
    if (!sums_first(c))
        return rows_back(c, from, to, dy, e);
    float *sums = gnn_conv_scratch(c, SUMS, from, to, c->ds, e);
    if (!sums ||
        gnn_pass_gemm(s, true, false, c->w, c->ds, n, dy, sums, 1, gnn_conv_grad(c, LIN_L), NULL,
                      e) ||
        gnn_pass_gemm(s, true, false, c->w, c->dd, n, dy, c->own, 1, gnn_conv_grad(c, LIN_R), NULL,
                      e))
        return e->code;
    if (!c->inputs && !c->message)
        return 0;
    /* The sums are not needed after this: their gradients take their place. */
    return gnn_pass_gemm(s, false, false, n, c->ds, c->w, dy, gnn_conv_param(c, LIN_L), 0, sums,
                         NULL, e);
}

static int unit_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                     struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const uint32_t n = to - from;
    const float *unit = gnn_conv_scratch(c, UNIT, from, to, c->w, e);
    const float *rnorm = unit ? gnn_conv_scratch(c, RNORM, from, to, 1, e) : NULL;
    float *du = rnorm ? gnn_conv_scratch(c, UNIT_GRAD, from, to, c->w, e) : NULL;
    if (!du ||
        o->fit(o, &s->work, GNN_COLSUM_BLOCKS * (uint64_t)c->w, sizeof(float), "gradients", e))
        return e->code;
    o->copy(o, du, dy, (uint64_t)n * c->w * sizeof *du);
    o->unit_rows_back(o, du, unit, rnorm, n, c->w);
    o->colsum(o, du, n, c->w, s->work.data, gnn_conv_grad(c, LIN_L_BIAS), true);
    return join_back(c, from, to, du, e);
}

/* The gradient of what neighbours are made of, from that of their sums or maxima. */
static void spread_sums(const struct gnn_conv_run *c, float *g, bool acc)
{
    const float *dsums = c->kept[SUMS].data;
    if (takes_max(c))
        gnn_adj_max_back(c->s->o, &c->adj, dsums, c->kept[ARG].data, c->ds, g, acc);
    else
        gnn_adj_spread(c->s->o, &c->adj, dsums, c->ds, g, acc);
}

/* The same through relu(lin(x)), from the gradient dm of what was sent. */
static int sent_back(struct gnn_conv_run *c, float *dm, float *g, bool acc, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const uint32_t n = c->adj.nsrc, d = c->ds;
    if (o->fit(o, &s->work, GNN_COLSUM_BLOCKS * (uint64_t)d, sizeof(float), "gradients", e))
        return e->code;
    o->act_back(o, dm, c->sent.data, n, d, GNN_ACT_RELU, 1, NULL);
    o->colsum(o, dm, n, d, s->work.data, gnn_conv_grad(c, LIN_BIAS), true);
    if (gnn_pass_gemm(s, true, false, d, d, n, dm, c->x, 1, gnn_conv_grad(c, LIN), NULL, e))
        return e->code;
    return g ? gnn_pass_gemm(s, false, false, n, d, d, dm, gnn_conv_param(c, LIN), acc ? 1 : 0, g,
                             NULL, e)
             : 0;
}

static int project_back(struct gnn_conv_run *c, float *g, bool acc, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    if (s->o->fit(s->o, &s->messages, (uint64_t)c->adj.nsrc * c->ds, sizeof(float), "gradients", e))
        return e->code;
    spread_sums(c, s->messages.data, false);
    return sent_back(c, s->messages.data, g, acc, e);
}

static const float *result_grad(const struct gnn_conv_run *c, const float *dy)
{
    return is_chosen(c, NORMALIZE) ? c->kept[UNIT_GRAD].data : dy;
}

static int more_sources_back(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                             struct gnn_err *e)
{
    if (!sums_first(c))
        return gnn_linear_sources_back(c, result_grad(c, dy), g, acc, e);
    if (is_chosen(c, PROJECT))
        return project_back(c, g, acc, e);
    if (g)
        spread_sums(c, g, acc);
    return 0;
}

static int more_gather(struct gnn_conv_run *c, bool first, struct gnn_err *e)
{
    const uint32_t n = c->adj.ndst;
    if (!takes_max(c))
        return gnn_linear_gather(c, first, e);
    float *most = gnn_conv_scratch(c, SUMS, 0, n, c->ds, e);
    float *arg = most ? gnn_conv_scratch(c, ARG, 0, n, c->ds, e) : NULL;
    if (arg)
        gnn_adj_max(c->s->o, &c->adj, 0, n, c->message ? c->messages : c->x, c->ds, most,
                    (uint32_t *)(void *)arg, !first);
    return e->code;
}

static int more_spread(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                       struct gnn_err *e)
{
    if (!sums_first(c))
        return gnn_linear_spread(c, result_grad(c, dy), g, acc, e);
    spread_sums(c, g, acc);
    return 0;
}

static int more_send_back(struct gnn_conv_run *c, float *dm, float *g, bool acc, struct gnn_err *e)
{
    return is_chosen(c, PROJECT) ? sent_back(c, dm, g, acc, e)
                                 : gnn_linear_send_back(c, dm, g, acc, e);
}

static int more_own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    return own_back(c, result_grad(c, dy), g, e);
}

static void count_floats(const struct gnn_conv_run *c, struct gnn_conv_floats *n)
{
    n->dst = c->message ? c->message : c->ds;
    n->dst += takes_max(c) ? c->ds : 0;
    n->dst += is_chosen(c, NORMALIZE) ? 2 * (uint64_t)c->w + 1 : 0;
}

static const struct gnn_layer *choose_table(const struct gnn_model_config *c);

/* What all tables have. */
#define SAGE_TABLE(how)                                                                            \
    .name = "sage", .module = "SAGEConv", .variant = choose_table, .norm = how, .own = true,       \
    .params = list_params, .weight = LIN_L, .option = options, .noptions = OPTIONS,                \
    .tell = tell_project
#define PLAIN_TABLE(how)                                                                           \
    {                                                                                              \
        SAGE_TABLE(how),                                                                           \
            .constant_sums = true, .linear = true, .buffers = 1, .bias = LIN_L_BIAS,               \
            .messages = gnn_linear_messages, .send = gnn_linear_send, .rows = make_rows,           \
            .rows_back = rows_back, .sources_back = gnn_linear_sources_back,                       \
            .late_back = gnn_linear_late_back, .own_back = own_back, .gather = gnn_linear_gather,  \
            .spread = gnn_linear_spread, .send_back = gnn_linear_send_back,                        \
    }
#define MORE_TABLE(how, number, last, make, back)                                                  \
    {                                                                                              \
        SAGE_TABLE(how), .constant_sums = true, .linear = !(number), .numbered = number,           \
                         .buffers = 2, .bias = last, .messages = message_width, .keeps = true,     \
                         .send = send_rows, .rows = make, .rows_back = back,                       \
                         .sources_back = more_sources_back, .own_back = more_own_back,             \
                         .gather = more_gather, .spread = more_spread,                             \
                         .send_back = more_send_back, .floats = count_floats,                      \
    }

const struct gnn_layer gnn_layer_sage = PLAIN_TABLE(GNN_ADJ_MEAN);
static const struct gnn_layer sage_sum = PLAIN_TABLE(GNN_ADJ_SUM);
static const struct gnn_layer more[2][SUM + 1] = {
    {[MEAN] = MORE_TABLE(GNN_ADJ_MEAN, false, LIN_L_BIAS, join_rows, join_back),
     [MAX] = MORE_TABLE(GNN_ADJ_SUM, true, LIN_L_BIAS, join_rows, join_back),
     [SUM] = MORE_TABLE(GNN_ADJ_SUM, false, LIN_L_BIAS, join_rows, join_back)},
    {[MEAN] = MORE_TABLE(GNN_ADJ_MEAN, false, GNN_NONE, unit_rows, unit_back),
     [MAX] = MORE_TABLE(GNN_ADJ_SUM, true, GNN_NONE, unit_rows, unit_back),
     [SUM] = MORE_TABLE(GNN_ADJ_SUM, false, GNN_NONE, unit_rows, unit_back)},
};

static const struct gnn_layer *choose_table(const struct gnn_model_config *c)
{
    const int aggr = (int)c->option[AGGR];
    const bool normalize = c->option[NORMALIZE] != 0;
    if (normalize || c->option[PROJECT] != 0 || aggr == MAX)
        return &more[normalize][aggr];
    return aggr == SUM ? &sage_sum : &gnn_layer_sage;
}
