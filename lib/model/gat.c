/* SPDX-License-Identifier: Apache-2.0 */
/* GAT: the mean of neighbours' projected rows, weighted by softmax over leaky(att_src . x'_j +
 * att_dst . x'_i) per head, Velickovic et al. 2018, as PyG's GATConv. In graphs of one node type
 * and relation one matrix projects sources and destinations, else each has its own. */
#include <math.h>

#include "lib/model/heads.h"
#include "lib/model/layout.h"

enum { LIN_SRC, ATT_SRC, ATT_DST, BIAS, LIN_DST };

/* Glorot's uniform distribution, as PyG has it. */
static void list_params(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    const struct gnn_heads h = gnn_heads_of(s->c, s->l, s->out);
    const bool one = gnn_model_one_type(s->c);
    gnn_param_list_add(l, one ? "lin.weight" : "lin_src.weight", h.d, s->src,
                       sqrt(6.0 / (s->src + h.d)), 0);
    gnn_param_list_add(l, "att_src", h.n, h.channels, sqrt(6.0 / (h.n + h.channels)), 0)->lead = 1;
    gnn_param_list_add(l, "att_dst", h.n, h.channels, sqrt(6.0 / (h.n + h.channels)), 0)->lead = 1;
    gnn_param_list_add(l, "bias", s->out, 0, 0, 0);
    if (!one)
        gnn_param_list_add(l, "lin_dst.weight", h.d, s->dst, sqrt(6.0 / (s->dst + h.d)), 0);
}

static bool projects_once(const struct gnn_conv_run *c)
{
    return gnn_model_one_type(&c->s->m->c);
}

static int send_rows(struct gnn_conv_run *c, const float *x, uint32_t n, float *out,
                     struct gnn_err *e)
{
    return gnn_pass_gemm(c->s, false, true, n, gnn_heads_of_run(c).d, c->ds, x,
                         gnn_conv_param(c, LIN_SRC), 0, out, NULL, e);
}

static int open_terms(struct gnn_conv_run *c, struct gnn_err *e)
{
    const struct gnn_heads h = gnn_heads_of_run(c);
    if (gnn_heads_open(c, e))
        return e->code;
    c->s->o->head_dots(c->s->o, c->messages, gnn_conv_param(c, ATT_SRC), 0, c->adj.nsrc, h.n,
                       h.channels, gnn_heads_of_sources(c));
    return 0;
}

static struct gnn_attention describe_scores(const struct gnn_conv_run *c, uint32_t from)
{
    struct gnn_attention a = gnn_heads_attention(c, GNN_ATTENTION_ADD);
    a.src = gnn_heads_of_sources(c);
    a.dst = gnn_heads_term(c, GNN_HEADS_DST, from);
    return a;
}

static int make_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                     const struct gnn_epilogue *ep, struct gnn_err *e)
{
    const struct gnn_heads h = gnn_heads_of_run(c);
    const float *targets = c->messages + (size_t)from * h.d;
    if (!projects_once(c)) {
        float *own = gnn_conv_room(c, GNN_HEADS_TARGETS, from, to, h.d, e);
        if (!own || gnn_pass_gemm(c->s, false, true, to - from, h.d, c->dd, c->own,
                                  gnn_conv_param(c, LIN_DST), 0, own, NULL, e))
            return e->code;
        targets = own;
    }
    c->s->o->head_dots(c->s->o, targets, gnn_conv_param(c, ATT_DST), 0, to - from, h.n, h.channels,
                       gnn_heads_term(c, GNN_HEADS_DST, from));
    const struct gnn_attention a = describe_scores(c, from);
    return gnn_heads_rows(c, &a, from, to, y, acc, ep, e);
}

/* From the gradient of the destinations' terms: that of their projected rows takes the place of
 * these. */
static int targets_back(struct gnn_conv_run *c, const float *ddst, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const struct gnn_heads h = gnn_heads_of_run(c);
    const uint32_t n = c->adj.ndst;
    float *rows = c->kept[GNN_HEADS_TARGETS].data;
    o->zero(o, rows, (uint64_t)n * h.d * sizeof *rows);
    o->head_outer(o, ddst, gnn_conv_param(c, ATT_DST), n, h.n, h.channels, rows);
    return gnn_pass_gemm(c->s, true, false, h.d, c->dd, n, rows, c->own, 1,
                         gnn_conv_grad(c, LIN_DST), NULL, e);
}

static int sources_back(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                        struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const struct gnn_heads h = gnn_heads_of_run(c);
    const struct gnn_attention a = describe_scores(c, 0);
    const bool once = projects_once(c);
    const uint32_t nsrc = c->adj.nsrc, ndst = c->adj.ndst;
    struct gnn_attention_back b;
    float *extra;
    if (gnn_heads_sources_back(c, &a, dy, 0, &b, &extra, e))
        return e->code;
    o->attention_targets(o, &a, c->adj.seg, c->adj.nseg, 0, ndst, &b, false);
    o->head_sums(o, b.dsrc, c->messages, nsrc, h.n, h.channels, s->work.data,
                 gnn_conv_grad(c, ATT_SRC), true);
    o->head_sums(o, b.ddst, once ? c->messages : c->kept[GNN_HEADS_TARGETS].data, ndst, h.n,
                 h.channels, s->work.data, gnn_conv_grad(c, ATT_DST), true);
    o->head_outer(o, b.dsrc, gnn_conv_param(c, ATT_SRC), nsrc, h.n, h.channels, b.dvalue);
    if (once)
        o->head_outer(o, b.ddst, gnn_conv_param(c, ATT_DST), ndst, h.n, h.channels, b.dvalue);
    else if (targets_back(c, b.ddst, e))
        return e->code;
    return gnn_heads_messages_back(c, b.dvalue, LIN_SRC, g, acc, e);
}

static int own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    (void)dy;
    return projects_once(c) ? 0
                            : gnn_pass_gemm(c->s, false, false, c->adj.ndst, c->dd,
                                            gnn_heads_of_run(c).d, c->kept[GNN_HEADS_TARGETS].data,
                                            gnn_conv_param(c, LIN_DST), 1, g, NULL, e);
}

static uint32_t recognise_layer(struct gnn_model_config *c, const struct gnn_tensor *const *t)
{
    return t[LIN_SRC] ? gnn_heads_recognise(c, t[ATT_SRC], t[BIAS]) : 0;
}

const struct gnn_layer gnn_layer_gat = {
    .name = "gat",
    .module = "GATConv",
    .norm = GNN_ADJ_SUM,
    .own = true,
    .ids = gnn_heads_ids,
    .keeps = true,
    .numbered = true,
    .rooms = 2,
    .params = list_params,
    .weight = LIN_SRC,
    .bias = BIAS,
    .recognise = recognise_layer,
    .option = gnn_heads_option,
    .noptions = GNN_HEADS_OPTIONS,
    .check = gnn_heads_check,
    .messages = gnn_heads_messages,
    .send = send_rows,
    .open = open_terms,
    .rows = make_rows,
    .rows_back = gnn_heads_rows_back,
    .sources_back = sources_back,
    .own_back = own_back,
};
