/* SPDX-License-Identifier: Apache-2.0 */
/* GAT: the mean of neighbours' projected rows, weighted by softmax over leaky(att_src . x'_j +
 * att_dst . x'_i) per head, Velickovic et al. 2018, as PyG's GATConv. In graphs of one node type
 * and relation one matrix projects sources and destinations, else each has its own. Features of
 * edges add att_edge . lin_edge e_ij to the scores, as with edge_dim. */
#include <math.h>

#include "lib/model/attention_layer.h"
#include "lib/model/layout.h"

enum { LIN_SRC, ATT_SRC, ATT_DST, BIAS, LIN_DST };
/* Those of edges' features come after these. */
enum { LIN_EDGE, ATT_EDGE };

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
    const uint32_t f = s->c->etype[s->r].features;
    if (!f)
        return;
    gnn_param_list_add(l, "lin_edge.weight", h.d, f, sqrt(6.0 / (f + h.d)), 0);
    gnn_param_list_add(l, "att_edge", h.n, h.channels, sqrt(6.0 / (h.n + h.channels)), 0)->lead = 1;
}

static uint32_t matrix_of_destinations(const struct gnn_conv_run *c)
{
    return gnn_model_one_type(&c->s->m->c) ? LIN_SRC : LIN_DST;
}

static uint32_t edge_param(const struct gnn_conv_run *c, uint32_t k)
{
    return (gnn_model_one_type(&c->s->m->c) ? LIN_DST : LIN_DST + 1) + k;
}

/* Sources are projected before rows are weighted, unless it is cheaper to sum up rows as they are,
 * once for each head, and to project the sums: destinations may be few beside sources. The costs of
 * both are those of one forward pass or, while training, of forward and backward pass, in
 * multiply-adds (gnn_linear_messages). */
static uint32_t choose_messages(const struct gnn_conv_run *c)
{
    enum { EDGE = 27 };
    const uint32_t h = gnn_heads_of_run(c).n, d = gnn_heads_of_run(c).d, in = c->ds;
    const uint64_t edges = c->adj.edges, passes = c->s->train ? 2 : 1,
                   inputs = c->s->train && c->inputs;
    const uint64_t projected = (passes + inputs) * c->adj.nsrc * in * d + EDGE * edges * passes * d;
    const uint64_t raw = (2 * passes - 1) * c->adj.ndst * in * d +
                         edges * in * ((EDGE + 4 * h) * passes + EDGE * h * inputs);
    return raw < projected && !c->gathered ? 0 : d;
}

static int send_rows(struct gnn_conv_run *c, const float *x, uint32_t n, float *out,
                     struct gnn_err *e)
{
    return gnn_pass_gemm(c->s, false, true, n, gnn_heads_of_run(c).d, c->ds, x,
                         gnn_conv_param(c, LIN_SRC), 0, out, NULL, e);
}

/* Terms of destinations, whose own rows begin with row `from`; and of the sources' messages. */
static int make_destinations(struct gnn_conv_run *c, uint32_t from, uint32_t to, struct gnn_err *e)
{
    return gnn_pass_gemm(c->s, false, true, to - from, gnn_heads_of_run(c).n, c->dd, c->own,
                         gnn_heads_folded(c, GNN_HEADS_OF_DST), 0,
                         gnn_heads_term(c, GNN_HEADS_DST, from), NULL, e);
}

static int make_sources(struct gnn_conv_run *c, struct gnn_err *e)
{
    const struct gnn_heads h = gnn_heads_of_run(c);
    if (c->s->o->fit(c->s->o, &c->kept[GNN_HEADS_SOURCES], (uint64_t)c->adj.nsrc * h.n,
                     sizeof(float), "terms of heads", e))
        return e->code;
    c->s->o->head_dots(c->s->o, c->messages, gnn_conv_param(c, ATT_SRC), 0, c->adj.nsrc, h.n,
                       h.channels, gnn_heads_of_sources(c));
    return 0;
}

/* What makes the terms of destinations and edges; and the sources' terms, of their messages or of
 * the sources themselves. */
static int open_terms(struct gnn_conv_run *c, struct gnn_err *e)
{
    const struct gnn_heads h = gnn_heads_of_run(c);
    const uint32_t n = c->adj.nsrc, features = c->s->m->c.etype[c->conv->rel].features;
    if (gnn_heads_open(c, e) ||
        gnn_heads_fold(c, GNN_HEADS_OF_DST, matrix_of_destinations(c), ATT_DST, c->dd, e) ||
        (features && gnn_heads_fold(c, GNN_HEADS_OF_EDGE, edge_param(c, LIN_EDGE),
                                    edge_param(c, ATT_EDGE), features, e)))
        return e->code;
    if (c->gathered)
        return make_destinations(c, 0, c->adj.ndst, e);
    if (c->message)
        return make_sources(c, e);
    if (gnn_heads_fold(c, GNN_HEADS_OF_SRC, LIN_SRC, ATT_SRC, c->ds, e))
        return e->code;
    return gnn_pass_gemm(c->s, false, true, n, h.n, c->ds, c->x,
                         gnn_heads_folded(c, GNN_HEADS_OF_SRC), 0, gnn_heads_of_sources(c), NULL,
                         e);
}

static struct gnn_attention describe_scores(const struct gnn_conv_run *c, uint32_t from)
{
    struct gnn_attention a =
        gnn_heads_attention(c, c->message ? GNN_ATTENTION_ADD : GNN_ATTENTION_RAW);
    a.src = gnn_heads_of_sources(c);
    a.dst = gnn_heads_term(c, GNN_HEADS_DST, from);
    return a;
}

static int add_edges(struct gnn_conv_run *c, uint32_t from, uint32_t to, bool edges,
                     struct gnn_attention *a, struct gnn_err *e)
{
    return gnn_heads_edges(c, gnn_heads_folded(c, GNN_HEADS_OF_EDGE), a->heads, from, to, edges, a,
                           e);
}

static int make_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                     const struct gnn_epilogue *ep, struct gnn_err *e)
{
    /* Gathered rows still lack their self-loops, with terms of the own sources. */
    if (c->gathered ? !from && make_sources(c, e) : make_destinations(c, from, to, e))
        return e->code;
    struct gnn_attention a = describe_scores(c, from);
    if (!c->message)
        return gnn_heads_raw_rows(c, &a, LIN_SRC, from, to, y, acc, ep, e);
    return add_edges(c, from, to, !c->gathered, &a, e)
               ? e->code
               : gnn_heads_rows(c, &a, from, to, y, acc, ep, e);
}

static int gather_rows(struct gnn_conv_run *c, bool first, struct gnn_err *e)
{
    if (make_sources(c, e))
        return e->code;
    struct gnn_attention a = describe_scores(c, 0);
    return add_edges(c, 0, c->adj.ndst, true, &a, e) ? e->code : gnn_heads_gather(c, &a, first, e);
}

static int rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                     struct gnn_err *e)
{
    const struct gnn_attention a = describe_scores(c, from);
    return c->message ? gnn_heads_rows_back(c, from, to, dy, e)
                      : gnn_heads_raw_rows_back(c, &a, LIN_SRC, from, to, dy, e);
}

/* Of messages: through weights and terms to them, and from there to the matrix and the sources,
 * while they are in the cache; or to dm, their own gradient. */
static int part_back(struct gnn_conv_run *c, const struct gnn_attention *a,
                     const struct gnn_adj_part *part, float *g, bool acc, float *dm,
                     struct gnn_attention_back *b, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const struct gnn_heads h = gnn_heads_of_run(c);
    for (uint32_t from = part->from, to; from < part->to; from = to) {
        to = part->to - from < o->chunk ? part->to : from + o->chunk;
        if (dm)
            b->dvalue = dm + (size_t)from * h.d;
        o->attention_sources(o, a, c->adj.back, from, to, b, false);
        o->head_sums(o, b->dsrc, c->messages + (size_t)from * h.d, to - from, h.n, h.channels,
                     c->s->work.data, gnn_conv_grad(c, ATT_SRC), true);
        o->head_outer(o, b->dsrc, gnn_conv_param(c, ATT_SRC), to - from, h.n, h.channels,
                      b->dvalue);
        if (!dm && gnn_heads_messages_back(c, b->dvalue, from, to, LIN_SRC, g, acc, e))
            return e->code;
    }
    return 0;
}

/* All parts, each of whose edges then add to the destinations' terms; self-loops, which are in the
 * own partition, come last. */
static int messages_back(struct gnn_conv_run *c, const struct gnn_attention *a, const float *dy,
                         float *g, bool acc, float *dm, struct gnn_attention_back *b,
                         struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    struct gnn_adj_part part;
    bool begun = c->other_part; /* what the own partition has begun */
    float *extra;
    if (gnn_heads_open_back(c, dy, 0, b, &extra, e))
        return e->code;
    for (uint32_t k = 0; gnn_adj_next_part(&c->adj, &k, &part);) {
        b->edge0 = part.edge0;
        b->edge1 = part.edge1;
        if (part_back(c, a, &part, g, acc, dm, b, e))
            return e->code;
        struct gnn_attention_back to = *b;
        to.loop_grad = part.last ? b->loop_grad : NULL;
        if (part.edge1 > part.edge0 || part.last) {
            o->attention_targets(o, a, part.seg, part.nseg, 0, c->adj.ndst, &to, begun);
            begun = true;
        }
    }
    return 0;
}

/* The gradients of the scores to those of att_edge and lin_edge. */
static int edges_back(struct gnn_conv_run *c, const struct gnn_attention *a,
                      const struct gnn_attention_back *b, struct gnn_err *e)
{
    const uint32_t heads = gnn_heads_of_run(c).n, f = c->adj.features;
    const struct gnn_ops *o = c->s->o;
    struct gnn_buf *to = &c->s->work;
    if (!f)
        return 0;
    if (o->fit(o, to, (uint64_t)heads * f, sizeof(float), "gradients", e))
        return e->code;
    o->zero(o, to->data, (uint64_t)heads * f * sizeof(float));
    return gnn_heads_edges_back(c, a, b->edge_grad, b->loop_grad, heads, to->data, e)
               ? e->code
               : gnn_heads_unfold(c, edge_param(c, LIN_EDGE), edge_param(c, ATT_EDGE), to->data, f,
                                  e);
}

static int destinations_back(struct gnn_conv_run *c, struct gnn_err *e)
{
    return gnn_heads_fold_back(c, GNN_HEADS_OF_DST, matrix_of_destinations(c), ATT_DST,
                               gnn_heads_term(c, GNN_HEADS_DDST, 0), c->adj.ndst, c->own, c->dd,
                               NULL, e);
}

static int sources_back(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                        struct gnn_err *e)
{
    struct gnn_attention a = describe_scores(c, 0);
    struct gnn_attention_back b;
    if (add_edges(c, 0, c->adj.ndst, true, &a, e) ||
        (c->message ? messages_back(c, &a, dy, g, acc, NULL, &b, e)
                    : gnn_heads_raw_sources_back(c, &a, g, acc, &b, e)) ||
        edges_back(c, &a, &b, e))
        return e->code;
    if (!c->message && gnn_heads_fold_back(c, GNN_HEADS_OF_SRC, LIN_SRC, ATT_SRC, b.dsrc,
                                           c->adj.nsrc, c->x, c->ds, g, e))
        return e->code;
    return destinations_back(c, e);
}

/* The first part is the own one: the gradients of the destinations' terms begin with it. */
static int spread_rows(struct gnn_conv_run *c, const float *dy, float *dm, bool acc,
                       struct gnn_err *e)
{
    struct gnn_attention_back b;
    (void)acc; /* messages' gradients are written once */
    if (make_sources(c, e))
        return e->code;
    struct gnn_attention a = describe_scores(c, 0);
    if (add_edges(c, 0, c->adj.ndst, true, &a, e) ||
        messages_back(c, &a, dy, NULL, false, dm, &b, e))
        return e->code;
    return edges_back(c, &a, &b, e);
}

static int send_back(struct gnn_conv_run *c, float *dm, float *g, bool acc, struct gnn_err *e)
{
    return gnn_heads_send_back(c, dm, LIN_SRC, g, acc, e) ? e->code : destinations_back(c, e);
}

static int own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    (void)dy;
    return gnn_pass_gemm(c->s, false, false, c->adj.ndst, c->dd, gnn_heads_of_run(c).n,
                         gnn_heads_term(c, GNN_HEADS_DDST, 0),
                         gnn_heads_folded(c, GNN_HEADS_OF_DST), 1, g, NULL, e);
}

/* The gradient of averaged heads lies where the rows were. */
static bool drops_results(const struct gnn_conv_run *c)
{
    return !gnn_heads_of_run(c).mean;
}

static void count_floats(const struct gnn_conv_run *c, struct gnn_conv_floats *n)
{
    const struct gnn_heads h = gnn_heads_of_run(c);
    n->dst = h.d + GNN_HEADS_EACH * (uint64_t)h.n;
    n->src = h.n;
}

static uint32_t recognise_layer(struct gnn_model_config *c, const struct gnn_tensor *const *t)
{
    return t[LIN_SRC] ? gnn_heads_recognise(c, t[ATT_SRC], t[BIAS]) : 0;
}

const struct gnn_layer gnn_layer_gat = {
    .name = "gat",
    .module = "GATConv",
    .assumed = "GATConv(fill_value=\"mean\")",
    .norm = GNN_ADJ_SUM,
    .own = true,
    .features = true,
    .ids = gnn_heads_ids,
    .keeps = true,
    .numbered = true,
    .attends = true,
    .parts = true,
    .transposes = true,
    .buffers = 1,
    .params = list_params,
    .weight = LIN_SRC,
    .bias = BIAS,
    .recognise = recognise_layer,
    .beside = gnn_heads_beside,
    .idle = gnn_heads_idle,
    .tell = gnn_heads_tell,
    .option = gnn_heads_option,
    .noptions = GNN_HEADS_OPTIONS,
    .check = gnn_heads_check,
    .messages = choose_messages,
    .send = send_rows,
    .open = open_terms,
    .rows = make_rows,
    .rows_back = rows_back,
    .sources_back = sources_back,
    .own_back = own_back,
    .fetches = true,
    .drops_own = true,
    .gather = gather_rows,
    .spread = spread_rows,
    .send_back = send_back,
    .again = gnn_heads_again,
    .drops_results = drops_results,
    .floats = count_floats,
};
