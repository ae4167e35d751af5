/* SPDX-License-Identifier: Apache-2.0 */
/* GATv2: as GAT, but the score is att . leaky(x_l,j + x_r,i) per head, Brody et al. 2022, as PyG's
 * GATv2Conv: the nonlinearity comes before the product. Both projections have a bias. With shared
 * weights they are the same, and state dicts have its parameters twice. Features of edges add
 * lin_edge e_ij within leaky, as with edge_dim: a row of d columns for each edge, of a range of
 * destinations at a time forward, and in the backward pass of all of the relation's edges. */
#include <math.h>
#include <string.h>

#include "lib/model/attention_layer.h"

enum { LIN_L, BIAS_L, LIN_R, BIAS_R, ATT, BIAS, LIN_EDGE };

static bool shares_weights(const struct gnn_model_config *c)
{
    return c->option[GNN_HEADS_SHARE] != 0;
}

/* Glorot's uniform distribution, as PyG has it. */
static void list_params(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    const struct gnn_heads h = gnn_heads_of(s->c, s->l, s->out);
    const bool shared = shares_weights(s->c);
    struct gnn_param_spec *p;
    gnn_param_list_add(l, "lin_l.weight", h.d, s->src, sqrt(6.0 / (s->src + h.d)), 0);
    gnn_param_list_add(l, "lin_l.bias", h.d, 0, 1 / sqrt(s->src), 0);
    p = gnn_param_list_add(l, "lin_r.weight", h.d, s->dst, sqrt(6.0 / (s->dst + h.d)), 0);
    p->shared = shared;
    p->with = LIN_L;
    p = gnn_param_list_add(l, "lin_r.bias", h.d, 0, 1 / sqrt(s->dst), 0);
    p->shared = shared;
    p->with = BIAS_L;
    gnn_param_list_add(l, "att", h.n, h.channels, sqrt(6.0 / (h.n + h.channels)), 0)->lead = 1;
    gnn_param_list_add(l, "bias", s->out, 0, 0, 0);
    const uint32_t f = s->c->etype[s->r].features;
    if (f)
        gnn_param_list_add(l, "lin_edge.weight", h.d, f, sqrt(6.0 / (f + h.d)), 0);
}

static int check_widths(const struct gnn_conv_shape *s, struct gnn_err *e)
{
    const struct gnn_model_etype *t = &s->c->etype[s->r];
    if (!shares_weights(s->c) || !s->src || !s->dst || s->src == s->dst)
        return gnn_heads_check(s, e);
    return gnn_fail(e, GNN_E_USAGE,
                    "--share-weights requires source and destination nodes of the same width, but "
                    "%s/%s/%s has %u and %u features; use --encoder N",
                    s->c->ntype[t->src].name, t->rel, s->c->ntype[t->dst].name, s->src, s->dst);
}

/* Projected destinations are among the messages. */
static bool projects_once(const struct gnn_conv_run *c)
{
    return shares_weights(&c->s->m->c) && gnn_heads_one_type(c);
}

static int send_rows(struct gnn_conv_run *c, const float *x, uint32_t n, float *out,
                     struct gnn_err *e)
{
    const struct gnn_epilogue ep = {.bias = gnn_conv_param(c, BIAS_L)};
    const uint32_t d = gnn_heads_of_run(c).d;
    EACH_CHUNK(from, to, n, c->s->o) { /* the bias comes while rows are cached */
        if (gnn_pass_gemm(c->s, false, true, to - from, d, c->ds, x + (size_t)from * c->ds,
                          gnn_conv_param(c, LIN_L), 0, out + (size_t)from * d, &ep, e))
            return e->code;
    }
    return 0;
}

/* Projected destinations, from row `from` on. */
static const float *targets_at(const struct gnn_conv_run *c, uint32_t from)
{
    const float *messages = c->gathered ? c->sent.data : c->messages,
                *rows = projects_once(c) ? messages : c->kept[GNN_HEADS_TARGETS].data;
    return rows + (size_t)from * gnn_heads_of_run(c).d;
}

static int add_edges(struct gnn_conv_run *c, uint32_t from, uint32_t to, bool edges,
                     struct gnn_attention *a, struct gnn_err *e)
{
    return c->adj.features ? gnn_heads_edges(c, gnn_conv_param(c, LIN_EDGE), gnn_heads_of_run(c).d,
                                             from, to, edges, a, e)
                           : 0;
}

/* Projects the destinations, whose own rows begin with row `from`. */
static int make_targets(struct gnn_conv_run *c, uint32_t from, uint32_t to, struct gnn_err *e)
{
    const uint32_t d = gnn_heads_of_run(c).d;
    const struct gnn_epilogue bias = {.bias = gnn_conv_param(c, BIAS_R)};
    float *own = gnn_conv_scratch(c, GNN_HEADS_TARGETS, from, to, d, e);
    return own ? gnn_pass_gemm(c->s, false, true, to - from, d, c->dd, c->own,
                               gnn_conv_param(c, LIN_R), 0, own, &bias, e)
               : e->code;
}

static int open_rows(struct gnn_conv_run *c, struct gnn_err *e)
{
    if (gnn_heads_open(c, e) || !c->gathered || projects_once(c))
        return e->code;
    return make_targets(c, 0, c->adj.ndst, e);
}

static int make_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                     const struct gnn_epilogue *ep, struct gnn_err *e)
{
    struct gnn_attention a = gnn_heads_attention(c, GNN_ATTENTION_V2);
    const bool once = projects_once(c);
    if (!c->gathered && !once && make_targets(c, from, to, e))
        return e->code;
    a.weight = gnn_conv_param(c, ATT);
    a.dst = once ? targets_at(c, from)
                 : gnn_conv_scratch(c, GNN_HEADS_TARGETS, from, to, gnn_heads_of_run(c).d, e);
    if (!a.dst || add_edges(c, from, to, !c->gathered, &a, e))
        return e->code;
    return gnn_heads_rows(c, &a, from, to, y, acc, ep, e);
}

static int gather_rows(struct gnn_conv_run *c, bool first, struct gnn_err *e)
{
    struct gnn_attention a = gnn_heads_attention(c, GNN_ATTENTION_V2);
    a.weight = gnn_conv_param(c, ATT);
    a.dst = targets_at(c, 0);
    return add_edges(c, 0, c->adj.ndst, true, &a, e) ? e->code : gnn_heads_gather(c, &a, first, e);
}

/* Where the gradients of the destinations' projected rows are, if destinations are to get
 * gradients: the rows before heads are averaged are needed no more, but if they are averaged, the
 * gradient of these is there. */
static float *target_grads(struct gnn_conv_run *c, struct gnn_err *e)
{
    const struct gnn_heads h = gnn_heads_of_run(c);
    return gnn_conv_scratch(c, h.mean ? GNN_HEADS_EDGES : GNN_HEADS_ROWS, 0, c->adj.ndst, h.d, e);
}

/* Scratch of the backward pass, beyond what attention layers have in common: what each edge and
 * self-loop tells its source, and what rows of a chunk give to att and to their own projection.
 * *shift: the gradient of the scores' biases. */
static int open_scratch(struct gnn_conv_run *c, const float *dy, struct gnn_attention_back *b,
                        float **shift, struct gnn_err *e)
{
    const struct gnn_heads h = gnn_heads_of_run(c);
    const uint64_t edges = c->adj.edges, loops = c->adj.ndst, most = c->s->o->chunk,
                   rows = loops < most ? loops : most, words = gnn_attention_signs(h.n, h.channels);
    float *at;
    if (gnn_heads_open_back(c, dy, (2 * rows + 1) * h.d + (edges + loops) * (h.n + words), b, &at,
                            e))
        return e->code;
    *shift = at, at += h.d;
    b->dweight = at, at += rows * h.d;
    b->ddst = at, at += rows * h.d;
    b->edge_weight = at, at += edges * h.n;
    b->loop_weight = at, at += loops * h.n;
    b->edge_sign = (uint32_t *)(void *)at, at += edges * words;
    b->loop_sign = (uint32_t *)(void *)at;
    b->weights = gnn_heads_term(c, GNN_HEADS_DDST, 0); /* scores have no other term */
    return 0;
}

/* Arrays of destinations, from row `from` on; the gradients of edges' rows and self-loops take the
 * place of these. */
static void begin_with(const struct gnn_conv_run *c, uint32_t from, struct gnn_attention *a,
                       struct gnn_attention_back *b)
{
    const size_t d = (size_t)a->heads * a->channels, heads = from * (size_t)a->heads;
    a->dst = targets_at(c, from);
    a->drop.node = a->drop.node ? a->drop.node + from : NULL;
    b->m += heads, b->z += heads, b->dots += heads, b->weights += heads;
    b->dy += from * d;
    b->loop_grad += heads, b->loop_weight += heads;
    b->loop_sign += from * gnn_attention_signs(a->heads, a->channels);
    if (c->adj.features)
        b->dedge = c->s->edge_rows.data;
    if (a->loop) {
        a->loop += from * d;
        b->dloop = (float *)c->s->edge_rows.data + (a->loop - a->edge);
    }
}

/* The gradients of rows [from, to) of the destinations, and of what makes them. */
static int targets_back(struct gnn_conv_run *c, const struct gnn_attention *a,
                        const struct gnn_attention_back *b, uint32_t from, uint32_t to,
                        float *shift, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const uint32_t n = to - from, d = a->heads * a->channels;
    float *work = c->s->work.data;
    struct gnn_attention now = *a;
    struct gnn_attention_back g = *b;
    float *all = c->inputs ? target_grads(c, e) : NULL;
    begin_with(c, from, &now, &g);
    if (e->code)
        return e->code;
    if (all && !c->other_part)
        g.ddst = all + (size_t)from * d;
    o->attention_targets(o, &now, c->adj.seg, c->adj.nseg, from, to, &g, false);
    if (all && c->other_part)
        o->add(o, g.ddst, (uint64_t)n * d, all + (size_t)from * d);
    o->colsum(o, g.dweight, n, d, work, gnn_conv_grad(c, ATT), true);
    o->colsum(o, g.ddst, n, d, work, shift, from > 0);
    o->head_sums(o, g.weights, g.dy, n, a->heads, a->channels, work, gnn_conv_grad(c, BIAS_L),
                 true);
    return gnn_pass_gemm(c->s, true, false, d, c->dd, n, g.ddst, c->own + (size_t)from * c->dd, 1,
                         gnn_conv_grad(c, projects_once(c) ? LIN_L : LIN_R), NULL, e);
}

/* The same of all destinations; sources are told their share. Both biases are in each score, and
 * the sources' in each weighted row, too. */
static int scores_back(struct gnn_conv_run *c, const struct gnn_attention *a,
                       const struct gnn_attention_back *b, float *shift, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const uint32_t n = c->adj.ndst, d = a->heads * a->channels;
    EACH_CHUNK(from, to, n, o)
        if (targets_back(c, a, b, from, to, shift, e))
            return e->code;
    if (n) {
        o->add(o, shift, d, gnn_conv_grad(c, BIAS_L));
        o->add(o, shift, d, gnn_conv_grad(c, BIAS_R));
    }
    return 0;
}

/* Gradients of the sources, and of their matrix; or dm, that of the messages themselves. */
static int messages_back(struct gnn_conv_run *c, const struct gnn_attention *a,
                         struct gnn_attention_back *b, float *g, bool acc, float *dm,
                         struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    EACH_CHUNK(from, to, c->adj.nsrc, o) {
        if (dm)
            b->dvalue = dm + (size_t)from * gnn_heads_of_run(c).d;
        o->attention_sources(o, a, c->adj.back, from, to, b, false);
        if (!dm && gnn_heads_messages_back(c, b->dvalue, from, to, LIN_L, g, acc, e))
            return e->code;
    }
    return 0;
}

static int edges_back(struct gnn_conv_run *c, const float *dy, float *g, bool acc, float *dm,
                      struct gnn_err *e)
{
    const uint32_t d = gnn_heads_of_run(c).d;
    struct gnn_attention a = gnn_heads_attention(c, GNN_ATTENTION_V2);
    struct gnn_attention_back b;
    float *shift = NULL;
    a.weight = gnn_conv_param(c, ATT);
    if (add_edges(c, 0, c->adj.ndst, true, &a, e) || open_scratch(c, dy, &b, &shift, e) ||
        scores_back(c, &a, &b, shift, e) ||
        (c->adj.features && gnn_heads_edges_back(c, &a, c->s->edge_rows.data, a.loop, d,
                                                 gnn_conv_grad(c, LIN_EDGE), e)))
        return e->code;
    return messages_back(c, &a, &b, g, acc, dm, e);
}

static int sources_back(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                        struct gnn_err *e)
{
    return edges_back(c, dy, g, acc, NULL, e);
}

static int spread_rows(struct gnn_conv_run *c, const float *dy, float *dm, bool acc,
                       struct gnn_err *e)
{
    (void)acc; /* messages' gradients are written once */
    return edges_back(c, dy, NULL, false, dm, e);
}

static int send_back(struct gnn_conv_run *c, float *dm, float *g, bool acc, struct gnn_err *e)
{
    return gnn_heads_send_back(c, dm, LIN_L, g, acc, e);
}

static int own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    const uint32_t weight = projects_once(c) ? LIN_L : LIN_R;
    const float *ddst = target_grads(c, e);
    (void)dy;
    return ddst ? gnn_pass_gemm(c->s, false, false, c->adj.ndst, c->dd, gnn_heads_of_run(c).d, ddst,
                                gnn_conv_param(c, weight), 1, g, NULL, e)
                : e->code;
}

/* Gradients lie where the rows were (target_grads). */
static bool drops_results(const struct gnn_conv_run *c)
{
    return !gnn_heads_of_run(c).mean && !c->inputs;
}

static void count_floats(const struct gnn_conv_run *c, struct gnn_conv_floats *n)
{
    const struct gnn_heads h = gnn_heads_of_run(c);
    n->dst = h.d + GNN_HEADS_EACH * (uint64_t)h.n;
    n->dst += projects_once(c) ? 0 : h.d;
    n->dst += h.mean && c->inputs ? h.d : 0; /* target_grads */
    n->src = h.n;
}

/* Weights that are twice the same are taken for shared ones, and so is lin_l alone: safetensors'
 * save_model leaves out a tensor whose memory is another one's. */
static uint32_t recognise_layer(struct gnn_model_config *c, const struct gnn_tensor *const *t)
{
    uint64_t left = 0, right = 0;
    if (!t[LIN_L] || !gnn_tensor_bytes(t[LIN_L], &left) ||
        (t[LIN_R] && !gnn_tensor_bytes(t[LIN_R], &right)))
        return 0;
    c->option[GNN_HEADS_SHARE] =
        !t[LIN_R] || (left == right && !memcmp(t[LIN_L]->data, t[LIN_R]->data, left));
    return gnn_heads_recognise(c, t[ATT], t[BIAS]);
}

const struct gnn_layer gnn_layer_gatv2 = {
    .name = "gatv2",
    .module = "GATv2Conv",
    .assumed = "GATv2Conv(fill_value=\"mean\")",
    .norm = GNN_ADJ_SUM,
    .own = true,
    .features = true,
    .ids = gnn_heads_ids,
    .keeps = true,
    .numbered = true,
    .attends = true,
    .buffers = 2,
    .params = list_params,
    .weight = LIN_L,
    .bias = BIAS,
    .recognise = recognise_layer,
    .beside = gnn_heads_beside,
    .idle = gnn_heads_idle,
    .tell = gnn_heads_tell,
    .option = gnn_heads_option,
    .noptions = GNN_HEADS_OPTIONS + 1,
    .check = check_widths,
    .messages = gnn_heads_messages,
    .send = send_rows,
    .open = open_rows,
    .fetches = true,
    .drops_own = true,
    .gather = gather_rows,
    .spread = spread_rows,
    .send_back = send_back,
    .again = gnn_heads_again,
    .drops_results = drops_results,
    .floats = count_floats,
    .rows = make_rows,
    .rows_back = gnn_heads_rows_back,
    .sources_back = sources_back,
    .own_back = own_back,
};
