/* SPDX-License-Identifier: Apache-2.0 */
/* HGT: attention over the edges of all relations into a node at once, Hu et al. 2020, as PyG's
 * HGTConv. Each node type has matrices for keys, queries and values, and one for the result; each
 * relation multiplies the keys and values of its sources by a matrix for each head, and scores by a
 * number for each head.
 *
 * A layer is three stages. The first makes keys, queries and values of each type's rows, side by
 * side. In the second each relation is a convolution; those into a type continue one softmax,
 * whose maxima, sums and queries are with the first of them (gnn_conv_run.lead), and whose rows are
 * the stage's own. The third makes share * (W gelu(h) + b) + (1 - share) * x of a row h and the
 * layer's input x, where these are equally wide, and W gelu(h) + b where they are not; share is the
 * logistic function of a number of each type. */
#include <math.h>

#include "lib/model/attention_layer.h"

enum { KEY, QUERY, VALUE, PARTS }; /* columns of the first stage, d of each */
enum { P_REL };
enum { K_REL, V_REL }; /* of all relations: matrix h * relations + r is of head h */

static struct gnn_heads heads_of_run(const struct gnn_conv_run *c)
{
    const uint32_t n = (uint32_t)c->s->m->c.option[GNN_HEADS_COUNT];
    return (struct gnn_heads){.n = n, .channels = c->w / n, .d = c->w};
}

static int check_width(const struct gnn_conv_shape *s, struct gnn_err *e)
{
    const uint32_t n = (uint32_t)s->c->option[GNN_HEADS_COUNT];
    if (s->out % n == 0)
        return 0;
    return gnn_fail(e, GNN_E_USAGE, "%u heads side by side do not fill %u columns%s", n, s->out,
                    s->l < gnn_model_hidden(s->c) ? "; use widths that are multiples of them"
                                                  : " of outputs; use --head 0");
}

/* ---- first stage ---- */

static void list_kqv(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    gnn_param_list_add(l, "kqv_lin.lins.*.weight", s->out, s->dst, 1 / sqrt(s->dst), 0);
    gnn_param_list_add(l, "kqv_lin.lins.*.bias", s->out, 0, 1 / sqrt(s->dst), 0);
}

static const struct gnn_layer kqv_table = {
    .name = "hgt.kqv",
    .module = "HeteroDictLinear",
    .keyed = true,
    .own = true,
    .params = list_kqv,
    .weight = 0,
    .bias = 1,
    .rows = gnn_dense_rows,
    .rows_back = gnn_dense_rows_back,
    .own_back = gnn_dense_own_back,
};

/* ---- second stage ---- */

static void list_relation(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    gnn_param_list_add(l, "p_rel.*", 1, (uint32_t)s->c->option[GNN_HEADS_COUNT], 0, 1);
}

static void list_relations(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    const uint32_t n = (uint32_t)s->c->option[GNN_HEADS_COUNT], c = s->out / n;
    static const char *const names[] = {"k_rel.weight", "v_rel.weight"};
    for (unsigned k = 0; k < 2; k++) {
        struct gnn_param_spec *x = gnn_param_list_add(l, names[k], c, c, 1 / sqrt(c), 0);
        x->lead = n * s->c->netypes;
        x->relations = true;
    }
}

/* What a convolution keeps: its keys, then its values (nsrc, d); its matrices of both (d, d), whose
 * blocks on the diagonal are those of the heads, and the factors of its scores. What the lead
 * keeps: numbers of each destination and head; queries, and their gradients; in full batches the
 * weighted sums so far. */
enum { SOURCES, MATRICES, TERMS, QUERIES, QUERY_GRADS, SUMS };
enum { TERM_M, TERM_Z, TERM_DOTS, TERM_COUNT };

/* Where row `from` is in what the lead keeps. Batches have one relation after the other, each for
 * all rows; gnn-predict has all relations for the rows of a call. */
static size_t lead_row(const struct gnn_conv_run *c, uint32_t from)
{
    return c->most < c->adj.ndst ? 0 : from;
}

static float *term_at(const struct gnn_conv_run *c, unsigned k, uint32_t from)
{
    const size_t row = (size_t)k * c->most + lead_row(c, from);
    return (float *)c->lead->kept[TERMS].data + row * heads_of_run(c).n;
}

static float *matrix_at(const struct gnn_conv_run *c, unsigned k)
{
    return (float *)c->kept[MATRICES].data + k * (size_t)c->w * c->w;
}

static float *sources_at(const struct gnn_conv_run *c, unsigned k)
{
    return (float *)c->kept[SOURCES].data + k * (size_t)c->adj.nsrc * c->w;
}

static const float *factors_at(const struct gnn_conv_run *c)
{
    return matrix_at(c, 2);
}

/* Copies between blocks on the diagonal of `wide` (d, d) and the relation's matrices; or, back,
 * adds the former to the latter. */
static void move_blocks(const struct gnn_conv_run *c, const float *from, float *to, bool back)
{
    const struct gnn_heads h = heads_of_run(c);
    const size_t n = h.channels, d = h.d, relations = c->s->m->c.netypes;
    for (uint32_t k = 0; k < h.n; k++) {
        const size_t block = k * n * (d + 1), matrix = (k * relations + c->conv->rel) * n * n;
        if (back)
            c->s->o->put_columns(c->s->o, from + block, d, n, n, to + matrix, n, true);
        else
            c->s->o->put_columns(c->s->o, from + matrix, n, n, n, to + block, d, false);
    }
}

/* y += x / sqrt(channels), a number for each head; `one` is scratch. */
static void add_factors(const struct gnn_conv_run *c, const float *x, float *one, float *y)
{
    const struct gnn_ops *o = c->s->o;
    const struct gnn_heads h = heads_of_run(c);
    o->fill(o, one, 1, (float)(1 / sqrt(h.channels)));
    o->head_outer(o, one, x, 1, 1, h.n, y);
}

/* Keys or values of n rows x times the relation's matrices, into rows of `pitch` floats. */
static int multiply_sources(struct gnn_conv_run *c, unsigned k, const float *x, uint32_t n,
                            float *to, size_t pitch, struct gnn_err *e)
{
    const size_t d = c->w;
    const struct gnn_product p = {.m = n,
                                  .n = d,
                                  .k = d,
                                  .a = x + (k ? VALUE : KEY) * d,
                                  .b = matrix_at(c, k),
                                  .c = to,
                                  .lda = PARTS * d,
                                  .ldb = d,
                                  .ldc = pitch};
    return gnn_pass_product(c->s, &p, e);
}

static int make_sources(struct gnn_conv_run *c, unsigned k, struct gnn_err *e)
{
    const size_t d = c->w;
    EACH_CHUNK(from, to, c->adj.nsrc, c->s->o)
        if (multiply_sources(c, k, c->x + from * (PARTS * d), to - from,
                             sources_at(c, k) + from * d, d, e))
            return e->code;
    return 0;
}

/* Of the relation; and its factors. */
static int make_matrices(struct gnn_conv_run *c, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const struct gnn_heads h = heads_of_run(c);
    const uint64_t d = h.d, n = 2 * d * d + h.n + 1;
    if (o->fit(o, &c->kept[MATRICES], n, sizeof(float), "matrices", e))
        return e->code;
    float *factors = matrix_at(c, 2);
    o->zero(o, c->kept[MATRICES].data, n * sizeof(float));
    add_factors(c, gnn_conv_param(c, P_REL), factors + h.n, factors);
    move_blocks(c, gnn_conv_common(c, K_REL), matrix_at(c, 0), false);
    move_blocks(c, gnn_conv_common(c, V_REL), matrix_at(c, 1), false);
    return 0;
}

static int open_lead(struct gnn_conv_run *c, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const struct gnn_heads h = heads_of_run(c);
    return o->fit(o, &c->kept[TERMS], (uint64_t)TERM_COUNT * c->most * h.n, sizeof(float),
                  "terms of heads", e)
               ? e->code
               : o->fit(o, &c->kept[QUERIES], c->most * (uint64_t)h.d, sizeof(float), "queries", e);
}

static void take_queries(struct gnn_conv_run *c, uint32_t from, uint32_t to)
{
    const size_t d = c->w;
    c->s->o->put_columns(c->s->o, c->own + QUERY * d, PARTS * d, to - from, d,
                         (float *)c->kept[QUERIES].data + lead_row(c, from) * d, d, false);
}

static int open_relation(struct gnn_conv_run *c, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const uint64_t floats = 2 * (uint64_t)c->w * c->adj.nsrc;
    if (c->begins && open_lead(c, e))
        return e->code;
    if (c->gathered) {
        if (c->begins)
            take_queries(c, 0, c->adj.ndst);
        return 0;
    }
    if (o->fit(o, &c->kept[SOURCES], floats, sizeof(float), "keys and values", e) ||
        make_matrices(c, e))
        return e->code;
    return make_sources(c, 0, e) ? e->code : make_sources(c, 1, e);
}

static struct gnn_attention describe_scores(const struct gnn_conv_run *c, uint32_t from)
{
    const struct gnn_heads h = heads_of_run(c);
    return (struct gnn_attention){.kind = GNN_ATTENTION_DOT,
                                  .heads = h.n,
                                  .channels = h.channels,
                                  .src = sources_at(c, 0),
                                  .dst = (const float *)c->lead->kept[QUERIES].data +
                                         lead_row(c, from) * h.d,
                                  .weight = factors_at(c),
                                  .value = sources_at(c, 1),
                                  .nsrc = c->adj.nsrc,
                                  .ndst = c->adj.ndst};
}

/* The sums of all relations, when the last of them has been gathered. */
static int finish_sums(struct gnn_conv_run *c, const struct gnn_attention *a, uint32_t from,
                       uint32_t to, float *y)
{
    const struct gnn_ops *o = c->s->o;
    float *sums = (float *)c->lead->kept[SUMS].data + (size_t)from * c->w;
    if (!c->ends)
        return 0;
    o->attention(o, a, c->adj.seg, 0, from, to, GNN_ATTENTION_LAST, sums, term_at(c, TERM_M, from),
                 term_at(c, TERM_Z, from));
    o->copy(o, y, sums, (uint64_t)(to - from) * c->w * sizeof *y);
    return 0;
}

static int relation_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                         const struct gnn_epilogue *ep, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const struct gnn_attention a = describe_scores(c, from);
    (void)acc; /* the lead begins */
    (void)ep;  /* nothing follows this stage */
    if (c->gathered)
        return finish_sums(c, &a, from, to, y);
    if (c->begins)
        take_queries(c, from, to);
    o->attention(o, &a, c->adj.seg, c->adj.nseg, from, to,
                 (c->begins ? GNN_ATTENTION_FIRST : 0) | (c->ends ? GNN_ATTENTION_LAST : 0), y,
                 term_at(c, TERM_M, from), term_at(c, TERM_Z, from));
    return e->code;
}

static int relation_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                              struct gnn_err *e)
{
    (void)c;
    (void)from;
    (void)to;
    (void)dy;
    return e->code;
}

/* From the gradient dm of keys or values that the matrices have made to those of the matrices, and
 * of what they were made of; rows (nsrc, d) and wide (d, d) are scratch. */
static int matrices_back(struct gnn_conv_run *c, unsigned k, const float *dm, float *rows,
                         float *wide, float *g, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const uint32_t n = c->adj.nsrc;
    const size_t d = c->w, at = (k ? VALUE : KEY) * d;
    o->put_columns(o, c->x + at, PARTS * d, n, d, rows, d, false);
    if (gnn_pass_gemm(s, true, false, d, d, n, rows, dm, 0, wide, NULL, e))
        return e->code;
    move_blocks(c, wide, gnn_conv_common_grad(c, k ? V_REL : K_REL), true);
    if (gnn_pass_gemm(s, false, true, n, d, d, dm, matrix_at(c, k), 0, rows, NULL, e))
        return e->code;
    o->put_columns(o, rows, d, n, d, g + at, PARTS * d, true);
    return 0;
}

/* What the relations into a type have in common: <dy, y> of each head, and where gradients of the
 * queries are added up. */
static int lead_back(struct gnn_conv_run *c, const float *dy, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const struct gnn_heads h = heads_of_run(c);
    if (o->fit(o, &c->kept[QUERY_GRADS], (uint64_t)c->adj.ndst * h.d, sizeof(float), "gradients",
               e))
        return e->code;
    o->head_dots(o, dy, c->out, h.d, c->adj.ndst, h.n, h.channels, term_at(c, TERM_DOTS, 0));
    return 0;
}

/* Gradients of keys and values, (nsrc, d) each, one after the other; and of the score's factor and
 * the queries, to which those of the lead's first sources are the first. */
static int edges_back(struct gnn_conv_run *c, const float *dy, bool first, float *dkey,
                      struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const struct gnn_heads h = heads_of_run(c);
    const struct gnn_attention a = describe_scores(c, 0);
    const uint64_t nsrc = c->adj.nsrc, edges = gnn_adj_most_edges(&c->adj) * h.n,
                   each = edges + nsrc * h.n;
    if (o->fit(o, &s->scratch, each + h.n + 1, sizeof(float), "gradients of edges", e) ||
        o->fit(o, &s->work, GNN_COLSUM_BLOCKS * (uint64_t)h.n, sizeof(float), "gradients", e))
        return e->code;
    float *edge = s->scratch.data, *dscale = edge + edges, *sum = edge + each;
    struct gnn_attention_back b = {.m = term_at(c, TERM_M, 0),
                                   .z = term_at(c, TERM_Z, 0),
                                   .dots = term_at(c, TERM_DOTS, 0),
                                   .dy = dy,
                                   .dvalue = dkey + nsrc * h.d,
                                   .dsrc = dkey,
                                   .dscale = dscale,
                                   .edge_grad = edge,
                                   .ddst = c->lead->kept[QUERY_GRADS].data};
    struct gnn_adj_part part;
    for (uint32_t k = 0; gnn_adj_next_part(&c->adj, &k, &part);) {
        b.edge0 = part.edge0;
        b.edge1 = part.edge1;
        b.dsrc = dkey + (size_t)part.from * h.d;
        b.dvalue = b.dsrc + nsrc * h.d;
        b.dscale = dscale + (size_t)part.from * h.n;
        o->attention_sources(o, &a, c->adj.back, part.from, part.to, &b, false);
        if (part.edge1 > part.edge0 || part.last) {
            o->attention_targets(o, &a, part.seg, part.nseg, 0, c->adj.ndst, &b, !first);
            first = false;
        }
    }
    o->colsum(o, dscale, c->adj.nsrc, h.n, s->work.data, sum, false);
    add_factors(c, sum, sum + h.n, gnn_conv_grad(c, P_REL));
    return 0;
}

static int relation_sources_back(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                                 struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const uint64_t nsrc = c->adj.nsrc, d = c->w;
    if ((c->begins && lead_back(c, dy, e)) ||
        o->fit(o, &s->messages, 3 * nsrc * d + d * d, sizeof(float), "gradients", e))
        return e->code;
    float *dkey = s->messages.data, *rows = dkey + 2 * nsrc * d, *wide = rows + nsrc * d;
    if (edges_back(c, dy, c->begins, dkey, e))
        return e->code;
    if (!acc)
        o->zero(o, g, nsrc * PARTS * d * sizeof *g);
    return matrices_back(c, 0, dkey, rows, wide, g, e)
               ? e->code
               : matrices_back(c, 1, dkey + nsrc * d, rows, wide, g, e);
}

/* ---- the same in full batches: messages are a source's key and value ---- */

static uint32_t message_width(const struct gnn_conv_run *c)
{
    return c->gathered ? 2 * c->w : 0;
}

static int send_rows(struct gnn_conv_run *c, const float *x, uint32_t n, float *out,
                     struct gnn_err *e)
{
    const size_t d = c->w;
    if (make_matrices(c, e) || multiply_sources(c, 0, x, n, out, 2 * d, e))
        return e->code;
    return multiply_sources(c, 1, x, n, out + d, 2 * d, e);
}

/* Keys and values of the sources that are there. */
static int part_messages(struct gnn_conv_run *c, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const uint32_t n = c->adj.nsrc;
    const size_t d = c->w;
    if (o->fit(o, &c->kept[SOURCES], 2 * d * n, sizeof(float), "keys and values", e))
        return e->code;
    for (unsigned k = 0; k < 2; k++)
        o->put_columns(o, c->messages + k * d, 2 * d, n, d, sources_at(c, k), d, false);
    return 0;
}

static int gather_rows(struct gnn_conv_run *c, bool first, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    if (part_messages(c, e) || o->fit(o, &c->lead->kept[SUMS], (uint64_t)c->adj.ndst * c->w,
                                      sizeof(float), "rows of a layer", e))
        return e->code;
    const struct gnn_attention a = describe_scores(c, 0);
    o->attention(o, &a, c->adj.seg, c->adj.nseg, 0, c->adj.ndst,
                 c->begins && first ? GNN_ATTENTION_FIRST : 0, c->lead->kept[SUMS].data,
                 term_at(c, TERM_M, 0), term_at(c, TERM_Z, 0));
    return 0;
}

static int sums_back(struct gnn_conv_run *c, const float *dy, struct gnn_err *e)
{
    return c->begins ? lead_back(c, dy, e) : 0;
}

static int spread_rows(struct gnn_conv_run *c, const float *dy, float *dm, bool acc,
                       struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const uint64_t n = c->adj.nsrc, d = c->w;
    (void)acc; /* messages' gradients are written once */
    if (part_messages(c, e) || o->fit(o, &s->messages, 2 * n * d, sizeof(float), "gradients", e) ||
        edges_back(c, dy, c->begins && !c->other_part, s->messages.data, e))
        return e->code;
    for (unsigned k = 0; k < 2; k++)
        o->put_columns(o, (float *)s->messages.data + k * n * d, d, n, d, dm + k * d, 2 * d, false);
    return 0;
}

static int send_back(struct gnn_conv_run *c, float *dm, float *g, bool acc, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const uint64_t n = c->adj.nsrc, d = c->w;
    if (o->fit(o, &s->messages, 2 * n * d + d * d, sizeof(float), "gradients", e))
        return e->code;
    float *part = s->messages.data, *rows = part + n * d, *wide = rows + n * d;
    if (!acc)
        o->zero(o, g, n * PARTS * d * sizeof *g);
    for (unsigned k = 0; k < 2; k++) {
        o->put_columns(o, dm + k * d, 2 * d, n, d, part, d, false);
        if (matrices_back(c, k, part, rows, wide, g, e))
            return e->code;
    }
    return 0;
}

/* When the last relation has added its part. */
static int relation_own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    const size_t d = c->w;
    (void)dy;
    if (c->ends)
        c->s->o->put_columns(c->s->o, c->lead->kept[QUERY_GRADS].data, d, c->adj.ndst, d,
                             g + QUERY * d, PARTS * d, true);
    return e->code;
}

/* Keys and values apart; sums, queries and their gradients with the lead. */
static void count_floats(const struct gnn_conv_run *c, struct gnn_conv_floats *n)
{
    n->src = 2 * (uint64_t)c->w;
    n->dst = c->begins ? 3 * (uint64_t)c->w + TERM_COUNT * heads_of_run(c).n : 0;
}

/* ---- third stage ---- */

enum { OUT, OUT_BIAS };
enum { SKIP };
enum { HIDDEN, RESULT }; /* rows that are kept, then their gradients */

static void list_out(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    gnn_param_list_add(l, "out_lin.lins.*.weight", s->out, s->dst, 1 / sqrt(s->dst), 0);
    gnn_param_list_add(l, "out_lin.lins.*.bias", s->out, 0, 1 / sqrt(s->dst), 0);
}

static void list_nothing(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    (void)s;
    (void)l;
}

static void list_skip(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    (void)s;
    gnn_param_list_add(l, "skip.*", 1, 0, 0, 1);
}

/* The number that the share is made of; NULL: the layer's input is of another width, and the share
 * is 1. */
static const float *skip_of(const struct gnn_conv_run *c)
{
    const struct gnn_model *m = c->s->m;
    const struct gnn_stage *s = &m->stage[c->conv->stage];
    for (uint32_t i = 0; i < s->nconvs; i++) {
        const struct gnn_conv *v = &m->conv[s->conv + i];
        if (v->dst == c->conv->dst && v->layer == gnn_layer_hgt.skip)
            return gnn_conv_common(c, SKIP);
    }
    return NULL;
}

/* The gradient of the share, from rows x that have been multiplied by it or, with `rest`, by the
 * rest. */
static int share_back(struct gnn_conv_run *c, const float *x, const float *dy, uint32_t n,
                      bool rest, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    if (o->fit(o, &s->scratch, n + UINT64_C(1), sizeof(float), "gradients", e) ||
        o->fit(o, &s->work, GNN_COLSUM_BLOCKS, sizeof(float), "gradients", e))
        return e->code;
    float *dot = s->scratch.data, *sum = dot + n;
    o->head_dots(o, x, dy, c->w, n, 1, c->w, dot);
    o->colsum(o, dot, n, 1, s->work.data, sum, false);
    o->gate_back(o, sum, gnn_conv_common(c, SKIP), rest, gnn_conv_common_grad(c, SKIP));
    return 0;
}

static int out_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                    const struct gnn_epilogue *ep, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const uint32_t n = to - from, d = c->w;
    const struct gnn_epilogue bias = {.bias = gnn_conv_param(c, OUT_BIAS)};
    float *hidden = gnn_conv_scratch(c, HIDDEN, from, to, c->dd, e),
          *result = hidden ? gnn_conv_scratch(c, RESULT, from, to, d, e) : NULL;
    if (!result)
        return e->code;
    o->gelu(o, c->own, (uint64_t)n * c->dd, hidden);
    if (gnn_pass_gemm(c->s, false, true, n, d, c->dd, hidden, gnn_conv_param(c, OUT), 0, result,
                      &bias, e))
        return e->code;
    o->gate(o, result, (uint64_t)n * d, skip_of(c), false, y, acc);
    if (ep)
        o->bias_act(o, y, n, d, ep->bias, ep->act, NULL);
    return 0;
}

static int out_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                         struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const uint32_t n = to - from, d = c->w;
    const float *skip = skip_of(c);
    float *hidden = gnn_conv_scratch(c, HIDDEN, from, to, c->dd, e),
          *result = hidden ? gnn_conv_scratch(c, RESULT, from, to, d, e) : NULL;
    if (!result || (skip && share_back(c, result, dy, n, false, e)) ||
        o->fit(o, &s->work, GNN_COLSUM_BLOCKS * (uint64_t)d, sizeof(float), "gradients", e))
        return e->code;
    o->gate(o, dy, (uint64_t)n * d, skip, false, result, false);
    o->colsum(o, result, n, d, s->work.data, gnn_conv_grad(c, OUT_BIAS), true);
    if (gnn_pass_gemm(s, true, false, d, c->dd, n, result, hidden, 1, gnn_conv_grad(c, OUT), NULL,
                      e))
        return e->code;
    return gnn_pass_gemm(s, false, false, n, c->dd, d, result, gnn_conv_param(c, OUT), 0, hidden,
                         NULL, e);
}

static int out_own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    (void)dy;
    c->s->o->gelu_back(c->s->o, c->own, c->kept[HIDDEN].data, (uint64_t)c->adj.ndst * c->dd, g);
    return e->code;
}

static int skip_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                     const struct gnn_epilogue *ep, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const uint32_t n = to - from;
    o->gate(o, c->own, (uint64_t)n * c->w, gnn_conv_common(c, SKIP), true, y, acc);
    if (ep)
        o->bias_act(o, y, n, c->w, ep->bias, ep->act, NULL);
    return e->code;
}

static int skip_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                          struct gnn_err *e)
{
    return share_back(c, c->own, dy, to - from, true, e);
}

static int skip_own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    c->s->o->gate(c->s->o, dy, (uint64_t)c->adj.ndst * c->w, gnn_conv_common(c, SKIP), true, g,
                  true);
    return e->code;
}

static void count_out_floats(const struct gnn_conv_run *c, struct gnn_conv_floats *n)
{
    n->dst = (uint64_t)c->dd + c->w;
}

static const struct gnn_layer out_table = {
    .name = "hgt.out",
    .module = "HeteroDictLinear",
    .keyed = true,
    .own = true,
    .buffers = 2,
    .params = list_out,
    .common = list_skip,
    .weight = OUT,
    .bias = GNN_NONE,
    .rows = out_rows,
    .rows_back = out_rows_back,
    .own_back = out_own_back,
    .floats = count_out_floats,
};

static const struct gnn_layer skip_table = {
    .name = "hgt.skip",
    .module = "ParameterDict",
    .keyed = true,
    .own = true,
    .params = list_nothing,
    .common = list_skip,
    .weight = GNN_NONE,
    .bias = GNN_NONE,
    .rows = skip_rows,
    .rows_back = skip_rows_back,
    .own_back = skip_own_back,
};

/* By p_rel of any relation, (1, heads), and k_rel, (heads * relations, channels, channels). */
static uint32_t recognise_layer(struct gnn_model_config *c, const struct gnn_tensor *const *t)
{
    const struct gnn_tensor *p = t[P_REL], *k = t[1 + K_REL];
    if (!p || !k || p->ndim != 2 || p->shape[0] != 1 || !p->shape[1] ||
        p->shape[1] > GNN_ATTENTION_HEADS || k->ndim != 3 || k->shape[1] > 1u << 14)
        return 0;
    c->option[GNN_HEADS_COUNT] = (double)p->shape[1];
    return (uint32_t)(p->shape[1] * k->shape[1]);
}

const struct gnn_layer gnn_layer_hgt = {
    .name = "hgt",
    .module = "HGTConv",
    .assumed = "HGTConv with relations in the order of the store's edge types",
    .norm = GNN_ADJ_SUM,
    .own = true,
    .numbered = true,
    .attends = true,
    .parts = true,
    .buffers = 2,
    .params = list_relation,
    .common = list_relations,
    .keyed = true,
    .before = &kqv_table,
    .after = &out_table,
    .skip = &skip_table,
    .widen = PARTS,
    .weight = P_REL,
    .bias = GNN_NONE,
    .recognise = recognise_layer,
    .option = gnn_heads_option,
    .noptions = 1,
    .check = check_width,
    .fetches = true,
    .drops_own = true,
    .messages = message_width,
    .send = send_rows,
    .gather = gather_rows,
    .sums_back = sums_back,
    .spread = spread_rows,
    .send_back = send_back,
    .floats = count_floats,
    .open = open_relation,
    .rows = relation_rows,
    .rows_back = relation_rows_back,
    .sources_back = relation_sources_back,
    .own_back = relation_own_back,
};
