/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of neighbours times a matrix. The matrix may come first: then the messages that are summed
 * up are the sources times the matrix. */
#include "lib/model/layer.h"

/* First when it makes rows narrower and the dearer products do not eat up the gain. An edge's
 * element costs about as much as 27 multiply-adds of a product (measured: 15 GB/s against
 * 200 GFLOP/s). */
uint32_t gnn_linear_messages(const struct gnn_conv_run *c)
{
    enum { EDGE = 27 };
    const uint64_t in = c->ds, out = c->w, ndst = c->adj.ndst, nsrc = c->adj.nsrc,
                   edges = c->adj.edges;
    if (out >= in)
        return 0;
    return nsrc * in * out + EDGE * edges * out < ndst * in * out + EDGE * edges * in ? c->w : 0;
}

int gnn_linear_send(struct gnn_conv_run *c, const float *x, uint32_t n, float *out,
                    struct gnn_err *e)
{
    return gnn_pass_gemm(c->s, false, true, n, c->w, c->ds, x, gnn_conv_param(c, c->layer->weight),
                         0, out, NULL, e);
}

/* What is summed up of a source, and where the sums are kept. */
static uint32_t sum_width(const struct gnn_conv_run *c)
{
    return c->message ? c->message : c->ds;
}

static float *sums_at(const struct gnn_conv_run *c, uint32_t from)
{
    return (float *)c->kept[0].data + (size_t)from * sum_width(c);
}

int gnn_linear_gather(struct gnn_conv_run *c, bool first, struct gnn_err *e)
{
    const uint32_t n = c->adj.ndst;
    float *sums = gnn_conv_scratch(c, 0, 0, n, sum_width(c), e);
    if (sums)
        gnn_adj_aggregate(c->s->o, &c->adj, 0, n, c->message ? c->messages : c->x, sum_width(c),
                          sums, !first);
    return e->code;
}

int gnn_linear_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                    const struct gnn_epilogue *ep, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    if (c->message) {
        if (c->gathered)
            o->put_columns(o, sums_at(c, from), c->w, to - from, c->w, y, c->w, acc);
        else
            gnn_adj_aggregate(o, &c->adj, from, to, c->messages, c->w, y, acc);
        if (ep)
            o->bias_act(o, y, to - from, c->w, ep->bias, ep->act, NULL);
        return 0;
    }
    float *sums = gnn_conv_scratch(c, 0, from, to, c->ds, e);
    if (!sums)
        return e->code;
    if (!c->gathered)
        gnn_adj_aggregate(o, &c->adj, from, to, c->x, c->ds, sums, false);
    return gnn_pass_gemm(c->s, false, true, to - from, c->w, c->ds, sums,
                         gnn_conv_param(c, c->layer->weight), acc ? 1 : 0, y, ep, e);
}

/* The sums are not needed after this: their gradients take their place. */
int gnn_linear_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                         struct gnn_err *e)
{
    const uint32_t rows = to - from, k = c->layer->weight;
    if (c->message)
        return 0;
    float *sums = gnn_conv_scratch(c, 0, from, to, c->ds, e);
    if (!sums || gnn_pass_gemm(c->s, true, false, c->w, c->ds, rows, dy, sums, 1,
                               gnn_conv_grad(c, k), NULL, e))
        return e->code;
    return c->inputs ? gnn_pass_gemm(c->s, false, false, rows, c->ds, c->w, dy,
                                     gnn_conv_param(c, k), 0, sums, NULL, e)
                     : 0;
}

int gnn_linear_spread(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                      struct gnn_err *e)
{
    gnn_adj_spread(c->s->o, &c->adj, c->message ? dy : c->kept[0].data, sum_width(c), g, acc);
    return e->code;
}

void gnn_linear_late_back(const struct gnn_conv_run *c, uint32_t from, uint32_t to, float *g,
                          bool acc)
{
    gnn_adj_spread_rows(c->s->o, &c->adj, from, to, c->kept[0].data, c->ds, g, acc);
}

int gnn_linear_send_back(struct gnn_conv_run *c, float *dm, float *g, bool acc, struct gnn_err *e)
{
    const uint32_t n = c->adj.nsrc, k = c->layer->weight;
    if (gnn_pass_gemm(c->s, true, false, c->w, c->ds, n, dm, c->x, 1, gnn_conv_grad(c, k), NULL, e))
        return e->code;
    return g ? gnn_pass_gemm(c->s, false, false, n, c->ds, c->w, dm, gnn_conv_param(c, k),
                             acc ? 1 : 0, g, NULL, e)
             : 0;
}

int gnn_linear_sources_back(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                            struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    if (!c->message) {
        if (g)
            gnn_adj_spread(o, &c->adj, c->kept[0].data, c->ds, g, acc);
        return 0;
    }
    if (o->fit(o, &s->messages, (uint64_t)c->adj.nsrc * c->w, sizeof(float), "gradients", e) ||
        gnn_linear_spread(c, dy, s->messages.data, false, e))
        return e->code;
    return gnn_linear_send_back(c, s->messages.data, g, acc, e);
}
