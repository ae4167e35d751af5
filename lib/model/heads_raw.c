/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over raw rows, and the terms of scores without projected rows
 * (lib/model/attention_layer.h). A row of sums has `heads` parts of ds columns each; each part is
 * multiplied by its head's part of the matrix. */
#include "lib/model/attention_layer.h"

/* ---- terms of scores ---- */

float *gnn_heads_folded(const struct gnn_conv_run *c, enum gnn_heads_fold k)
{
    const size_t n = gnn_heads_of_run(c).n;
    return (float *)c->kept[GNN_HEADS_FOLDED].data + (k > GNN_HEADS_OF_SRC ? n * c->ds : 0) +
           (k > GNN_HEADS_OF_DST ? n * c->dd : 0);
}

int gnn_heads_fold(struct gnn_conv_run *c, enum gnn_heads_fold k, uint32_t weight, uint32_t att,
                   uint32_t width, struct gnn_err *e)
{
    const struct gnn_heads h = gnn_heads_of_run(c);
    const uint32_t features = c->s->m->c.etype[c->conv->rel].features;
    const uint64_t capacity = (uint64_t)h.n * ((uint64_t)c->ds + c->dd + features);
    const size_t each = h.channels;
    if (c->s->o->fit(c->s->o, &c->kept[GNN_HEADS_FOLDED], capacity, sizeof(float),
                     "shares of scores", e))
        return e->code;
    for (uint32_t i = 0; i < h.n; i++)
        if (gnn_pass_gemm(c->s, false, false, 1, width, each, gnn_conv_param(c, att) + i * each,
                          gnn_conv_param(c, weight) + i * each * width, 0,
                          gnn_heads_folded(c, k) + (size_t)i * width, NULL, e))
            return e->code;
    return 0;
}

int gnn_heads_unfold(struct gnn_conv_run *c, uint32_t weight, uint32_t att, const float *dfolded,
                     uint32_t width, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_heads h = gnn_heads_of_run(c);
    const size_t each = h.channels;
    for (uint32_t i = 0; i < h.n; i++, dfolded += width) {
        const size_t at = i * each * width;
        if (gnn_pass_gemm(s, true, false, each, width, 1, gnn_conv_param(c, att) + i * each,
                          dfolded, 1, gnn_conv_grad(c, weight) + at, NULL, e) ||
            gnn_pass_gemm(s, false, true, 1, each, width, dfolded, gnn_conv_param(c, weight) + at,
                          1, gnn_conv_grad(c, att) + i * each, NULL, e))
            return e->code;
    }
    return 0;
}

int gnn_heads_fold_back(struct gnn_conv_run *c, enum gnn_heads_fold k, uint32_t weight,
                        uint32_t att, const float *dterm, uint32_t n, const float *x,
                        uint32_t width, float *g, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const uint32_t heads = gnn_heads_of_run(c).n;
    if (s->o->fit(s->o, &s->work, (uint64_t)heads * width, sizeof(float), "gradients", e) ||
        gnn_pass_gemm(s, true, false, heads, width, n, dterm, x, 0, s->work.data, NULL, e) ||
        gnn_heads_unfold(c, weight, att, s->work.data, width, e))
        return e->code;
    return g ? gnn_pass_gemm(s, false, false, n, width, heads, dterm, gnn_heads_folded(c, k), 1, g,
                             NULL, e)
             : 0;
}

/* ---- rows ---- */

/* Each head's part of the sums times its part of the matrix, to or onto its columns of y. */
static int project_sums(struct gnn_conv_run *c, const float *sums, uint32_t weight, uint32_t n,
                        float *y, bool acc, struct gnn_err *e)
{
    const struct gnn_heads h = gnn_heads_of_run(c);
    for (size_t i = 0; i < h.n; i++) {
        const struct gnn_product p = {.tb = true,
                                      .m = n,
                                      .n = h.channels,
                                      .k = c->ds,
                                      .a = sums + i * c->ds,
                                      .lda = (size_t)h.n * c->ds,
                                      .b = gnn_conv_param(c, weight) + i * h.channels * c->ds,
                                      .beta = acc ? 1 : 0,
                                      .c = y + i * h.channels,
                                      .ldc = h.d};
        if (gnn_pass_product(c->s, &p, e))
            return e->code;
    }
    return 0;
}

/* Sums of rows [from, to), and `now`, a with what is of these rows. Sums are not kept, as reading
 * neighbours again takes no longer than writing and reading sums, which are as wide as all heads'
 * sources. */
static int sum_rows(struct gnn_conv_run *c, const struct gnn_attention *a, uint32_t from,
                    uint32_t to, float *sums, struct gnn_attention *now, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    *now = *a;
    now->drop.node = a->drop.node ? a->drop.node + from : NULL;
    if (gnn_heads_edges(c, gnn_heads_folded(c, GNN_HEADS_OF_EDGE), gnn_heads_of_run(c).n, from, to,
                        true, now, e))
        return e->code;
    o->attention(o, now, c->adj.seg, c->adj.nseg, from, to, GNN_ATTENTION_WHOLE, sums,
                 gnn_heads_term(c, GNN_HEADS_M, from), gnn_heads_term(c, GNN_HEADS_Z, from));
    return 0;
}

static int make_rows(struct gnn_conv_run *c, const struct gnn_attention *a, uint32_t weight,
                     uint32_t from, uint32_t to, float *y, bool acc, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const struct gnn_heads h = gnn_heads_of_run(c);
    const size_t n = to - from, wide = (size_t)h.n * c->ds;
    if (o->fit(o, &s->scratch, n * (wide + (h.mean ? h.d : 0)), sizeof(float), "rows of heads", e))
        return e->code;
    float *sums = s->scratch.data, *rows = h.mean ? sums + n * wide : y;
    struct gnn_attention now;
    if (sum_rows(c, a, from, to, sums, &now, e) ||
        project_sums(c, sums, weight, to - from, rows, acc && !h.mean, e))
        return e->code;
    if (h.mean)
        o->head_means(o, rows, to - from, h.n, h.channels, y, acc);
    return 0;
}

/* Rows whose sums stay in a core's cache; on a device, whose chunks have all rows, as many as fill
 * it. With features of edges, a device does not know which edges enter some of the rows only. */
static uint32_t rows_at_once(const struct gnn_conv_run *c)
{
    const bool device = c->s->o->async;
    const size_t capacity = device ? 256 << 20 : 512 << 10,
                 row = (size_t)gnn_heads_of_run(c).n * c->ds * sizeof(float);
    return device && c->adj.features ? UINT32_MAX
           : row < capacity / 64     ? (uint32_t)(capacity / row)
                                     : 64;
}

int gnn_heads_raw_rows(struct gnn_conv_run *c, const struct gnn_attention *a, uint32_t weight,
                       uint32_t from, uint32_t to, float *y, bool acc,
                       const struct gnn_epilogue *ep, struct gnn_err *e)
{
    const uint32_t most = rows_at_once(c), heads = gnn_heads_of_run(c).n;
    for (uint32_t at = from, end; at < to; at = end) {
        struct gnn_attention now = *a;
        end = to - at < most ? to : at + most;
        now.dst += (size_t)(at - from) * heads;
        if (make_rows(c, &now, weight, at, end, y + (size_t)(at - from) * c->w, acc, e))
            return e->code;
    }
    if (ep)
        c->s->o->bias_act(c->s->o, y, to - from, c->w, ep->bias, ep->act, NULL);
    return 0;
}

/* The gradients of the matrix, from the sums, and of the sums, into dsums. */
static int sums_back(struct gnn_conv_run *c, const float *sums, uint32_t weight, uint32_t n,
                     const float *dy, float *dsums, struct gnn_err *e)
{
    const struct gnn_heads h = gnn_heads_of_run(c);
    for (size_t i = 0; i < h.n; i++) {
        const size_t at = i * h.channels * c->ds, wide = (size_t)h.n * c->ds;
        const struct gnn_product of_matrix = {.ta = true,
                                              .m = h.channels,
                                              .n = c->ds,
                                              .k = n,
                                              .a = dy + i * h.channels,
                                              .lda = h.d,
                                              .b = sums + i * c->ds,
                                              .ldb = wide,
                                              .beta = 1,
                                              .c = gnn_conv_grad(c, weight) + at};
        const struct gnn_product of_sums = {.m = n,
                                            .n = c->ds,
                                            .k = h.channels,
                                            .a = dy + i * h.channels,
                                            .lda = h.d,
                                            .b = gnn_conv_param(c, weight) + at,
                                            .c = dsums + i * c->ds,
                                            .ldc = wide};
        if (gnn_pass_product(c->s, &of_matrix, e) || gnn_pass_product(c->s, &of_sums, e))
            return e->code;
    }
    return 0;
}

/* What the backward pass has for each edge, from its passes by rows to the one by sources: weights
 * only if sources are to get gradients. */
static struct gnn_attention_back edge_terms(const struct gnn_conv_run *c)
{
    const size_t heads = gnn_heads_of_run(c).n, edges = c->adj.edges * heads,
                 loops = c->adj.ndst * heads;
    float *at = c->kept[GNN_HEADS_EDGES].data;
    return (struct gnn_attention_back){.edge_grad = at,
                                       .loop_grad = at + edges,
                                       .edge_weight = c->inputs ? at + edges + loops : NULL,
                                       .loop_weight = c->inputs ? at + 2 * edges + loops : NULL};
}

static int open_edge_terms(struct gnn_conv_run *c, struct gnn_err *e)
{
    const uint64_t n = (c->adj.edges + c->adj.ndst) * gnn_heads_of_run(c).n;
    return c->s->o->fit(c->s->o, &c->kept[GNN_HEADS_EDGES], n * (c->inputs ? 2 : 1), sizeof(float),
                        "gradients of edges", e);
}

/* All that needs the rows' sums, which are made again, and their gradients: these stay only if
 * sources are to get gradients. */
static int make_rows_back(struct gnn_conv_run *c, const struct gnn_attention *a, uint32_t weight,
                          uint32_t from, uint32_t to, const float *dy, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const struct gnn_heads h = gnn_heads_of_run(c);
    const size_t n = to - from, wide = (size_t)h.n * c->ds;
    float *dsums = NULL;
    if (o->fit(o, &s->scratch, n * ((c->inputs ? 1 : 2) * wide + (h.mean ? h.d : 0)), sizeof(float),
               "gradients", e) ||
        (c->inputs && !(dsums = gnn_conv_scratch(c, GNN_HEADS_ROWS, from, to, wide, e))))
        return e->code;
    float *sums = s->scratch.data, *spread = sums + (c->inputs ? 1 : 2) * n * wide;
    dsums = dsums ? dsums : sums + n * wide;
    if (h.mean) {
        o->head_spread(o, dy, to - from, h.n, h.channels, spread);
        dy = spread;
    }
    struct gnn_attention now;
    struct gnn_attention_back b = edge_terms(c);
    float *dots = gnn_heads_term(c, GNN_HEADS_DOTS, from);
    if (sum_rows(c, a, from, to, sums, &now, e) ||
        sums_back(c, sums, weight, to - from, dy, dsums, e))
        return e->code;
    o->head_dots(o, dsums, sums, wide, to - from, h.n, c->ds, dots);
    b.loop_grad += (size_t)from * h.n;
    b.loop_weight = b.loop_weight ? b.loop_weight + (size_t)from * h.n : NULL;
    b.m = gnn_heads_term(c, GNN_HEADS_M, from);
    b.z = gnn_heads_term(c, GNN_HEADS_Z, from);
    b.dots = dots;
    b.dy = dsums;
    b.ddst = gnn_heads_term(c, GNN_HEADS_DDST, from);
    o->attention_targets(o, &now, c->adj.seg, c->adj.nseg, from, to, &b, false);
    return 0;
}

int gnn_heads_raw_rows_back(struct gnn_conv_run *c, const struct gnn_attention *a, uint32_t weight,
                            uint32_t from, uint32_t to, const float *dy, struct gnn_err *e)
{
    const uint32_t most = rows_at_once(c), heads = gnn_heads_of_run(c).n;
    if (open_edge_terms(c, e))
        return e->code;
    for (uint32_t at = from, end; at < to; at = end) {
        struct gnn_attention now = *a;
        end = to - at < most ? to : at + most;
        now.dst += (size_t)(at - from) * heads;
        if (make_rows_back(c, &now, weight, at, end, dy + (size_t)(at - from) * c->w, e))
            return e->code;
    }
    return 0;
}

int gnn_heads_raw_sources_back(struct gnn_conv_run *c, const struct gnn_attention *a, float *g,
                               bool acc, struct gnn_attention_back *b, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const uint64_t n = (uint64_t)c->adj.nsrc * gnn_heads_of_run(c).n;
    if (o->fit(o, &s->scratch, n, sizeof(float), "gradients of terms", e))
        return e->code;
    *b = edge_terms(c);
    b->dy = c->kept[GNN_HEADS_ROWS].data;
    b->dvalue = g;
    b->dsrc = s->scratch.data;
    if (acc)
        o->zero(o, b->dsrc, n * sizeof *b->dsrc);
    o->attention_sources(o, a, c->adj.back, 0, c->adj.nsrc, b, acc);
    return 0;
}
