/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/attention_layer.h"

#include <math.h>
#include <string.h>

#include "kernels/rng.h"

enum { MEAN, CONCAT };

const struct gnn_layer_option gnn_heads_option[GNN_HEADS_OPTIONS + 1] = {
    [GNN_HEADS_COUNT] = {"heads", "heads", .whole = true, .init = 1, .min = 1,
                         .max = GNN_ATTENTION_HEADS,
                         .help = "gat, gatv2, hgt: number of attention heads (default: 1)"},
    [GNN_HEADS_LAST] = {"last_heads", "last-heads", .choices = "mean|concat",
                        .help = "gat, gatv2: heads of the last layer: the mean of heads that each "
                                "compute all outputs, or their concatenation (default: mean)"},
    [GNN_HEADS_SLOPE] = {"negative_slope", "negative-slope", .init = 0.2, .min = 0, .max = 1,
                         .help = "gat, gatv2: slope of the leaky ReLU of attention (default: 0.2)",
                         .unrecorded = true},
    [GNN_HEADS_DROPOUT] = {"attention_dropout", "attention-dropout", .training = true, .init = 0,
                           .min = 0, .max = 0.999,
                           .help = "gat, gatv2: dropout of attention weights (default: 0)"},
    [GNN_HEADS_LOOPS] = {"self_loops", "self-loops", .flag = true, .init = 1,
                         .help = "gat, gatv2: each node is its own neighbour once, in edge types "
                                 "within a node type (default; --no-self-loops)",
                         .unrecorded = true},
    [GNN_HEADS_RESIDUAL] = {"conv_residual", "conv-residual", .flag = true,
                            .help = "gat, gatv2: add the destinations' rows times a matrix to "
                                    "each convolution"},
    [GNN_HEADS_SHARE] = {"share_weights", "share-weights", .flag = true,
                         .help = "gatv2: the same matrix for sources and destinations"},
};

struct gnn_heads gnn_heads_of(const struct gnn_model_config *c, uint32_t l, uint32_t w)
{
    struct gnn_heads h = {.n = (uint32_t)c->option[GNN_HEADS_COUNT]};
    /* Of one head the mean is the head. */
    h.mean = l >= gnn_model_hidden(c) && c->option[GNN_HEADS_LAST] == MEAN && h.n > 1;
    h.channels = h.mean ? w : w / h.n;
    h.d = h.n * h.channels;
    return h;
}

struct gnn_heads gnn_heads_of_run(const struct gnn_conv_run *c)
{
    const struct gnn_model *m = c->s->m;
    return gnn_heads_of(&m->c, m->stage[c->conv->stage].layer, c->w);
}

const char *gnn_heads_idle(const struct gnn_model_config *c, uint32_t k)
{
    bool within = false;
    for (uint32_t r = 0; r < c->netypes; r++)
        within = within || c->etype[r].src == c->etype[r].dst;
    if (k == GNN_HEADS_LAST && c->has_head)
        return "with --head, heads of all layers are side by side";
    if (k == GNN_HEADS_LAST && c->option[GNN_HEADS_COUNT] == 1)
        return "there is one head";
    return k == GNN_HEADS_LOOPS && !within ? "no relation is within a node type" : NULL;
}

int gnn_heads_check(const struct gnn_conv_shape *s, struct gnn_err *e)
{
    const uint32_t n = (uint32_t)s->c->option[GNN_HEADS_COUNT];
    if (s->c->has_head && s->c->option[GNN_HEADS_LAST] != MEAN)
        return gnn_fail(e, GNN_E_USAGE,
                        "with a head after the layers, heads of all layers are side by side: "
                        "last-heads has no effect");
    if (gnn_heads_of(s->c, s->l, s->out).mean || s->out % n == 0)
        return 0;
    if (s->l < gnn_model_hidden(s->c))
        return gnn_fail(e, GNN_E_USAGE,
                        "%u heads side by side do not fill %u columns of hidden rows; use widths "
                        "that are multiples of %u",
                        n, s->out, n);
    return gnn_fail(e, GNN_E_USAGE,
                    "%u heads side by side do not fill %u outputs; use --last-heads mean", n,
                    s->out);
}

uint32_t gnn_heads_recognise(struct gnn_model_config *c, const struct gnn_tensor *att,
                             const struct gnn_tensor *bias)
{
    if (!att || !bias || att->ndim != 3 || att->shape[0] != 1 || bias->ndim != 1 ||
        !att->shape[1] || att->shape[1] > GNN_ATTENTION_HEADS || !bias->shape[0] ||
        bias->shape[0] > 1u << 20)
        return 0;
    const uint64_t n = att->shape[1], channels = att->shape[2], w = bias->shape[0];
    if (channels != w && (w % n || channels != w / n))
        return 0;
    c->option[GNN_HEADS_COUNT] = (double)n;
    /* That of the last layer stays. */
    c->option[GNN_HEADS_LAST] = n > 1 && channels != w ? CONCAT : MEAN;
    return (uint32_t)w;
}

bool gnn_heads_ids(const struct gnn_model_config *c)
{
    return c->option[GNN_HEADS_DROPOUT] > 0;
}

uint32_t gnn_heads_messages(const struct gnn_conv_run *c)
{
    return gnn_heads_of_run(c).d;
}

float *gnn_heads_of_sources(const struct gnn_conv_run *c)
{
    return c->kept[GNN_HEADS_SOURCES].data;
}

/* `most` rows of each, as a call that does not train has no more. */
float *gnn_heads_term(const struct gnn_conv_run *c, enum gnn_heads_term k, uint32_t from)
{
    const uint64_t row = (uint64_t)k * c->most + (c->s->train || c->gathered ? from : 0);
    return (float *)c->kept[GNN_HEADS_TERMS].data + row * gnn_heads_of_run(c).n;
}

int gnn_heads_open(struct gnn_conv_run *c, struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const uint64_t n = gnn_heads_of_run(c).n;
    return o->fit(o, &c->kept[GNN_HEADS_SOURCES], c->adj.nsrc * n, sizeof(float), "terms of heads",
                  e)
               ? e->code
               : o->fit(o, &c->kept[GNN_HEADS_TERMS], GNN_HEADS_EACH * c->most * n, sizeof(float),
                        "terms of heads", e);
}

static struct gnn_attention_drop find_dropout(const struct gnn_conv_run *c)
{
    const struct gnn_pass *s = c->s;
    const double p = s->m->c.option[GNN_HEADS_DROPOUT];
    struct gnn_attention_drop q = {.id = c->adj.id, .node = c->adj.node_id};
    if (!s->train || p <= 0)
        return q;
    gnn_rng_key(s->seed, s->epoch, s->step, c->conv->stage,
                gnn_rng_tag(GNN_RNG_ATTENTION, 0, c->conv->rel), q.key);
    const double keep = rint((1 - p) * 65536);
    q.keep16 = keep < 65536 ? (uint32_t)keep : 0;
    return q;
}

struct gnn_attention gnn_heads_attention(const struct gnn_conv_run *c, enum gnn_attention_kind kind)
{
    const double *option = c->s->m->c.option;
    const struct gnn_heads h = gnn_heads_of_run(c);
    return (struct gnn_attention){.kind = kind,
                                  .heads = h.n,
                                  .channels = kind == GNN_ATTENTION_RAW ? c->ds : h.channels,
                                  .slope = (float)option[GNN_HEADS_SLOPE],
                                  .value = kind == GNN_ATTENTION_RAW ? c->x : c->messages,
                                  .nsrc = c->adj.nsrc,
                                  .ndst = c->adj.ndst,
                                  .loops = option[GNN_HEADS_LOOPS] != 0 && gnn_heads_one_type(c) &&
                                           !c->other_part,
                                  .drop = find_dropout(c)};
}

int gnn_heads_gather(struct gnn_conv_run *c, const struct gnn_attention *a, bool first,
                     struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    float *rows = gnn_conv_scratch(c, GNN_HEADS_ROWS, 0, c->adj.ndst, gnn_heads_of_run(c).d, e);
    if (rows)
        o->attention(o, a, c->adj.seg, c->adj.nseg, 0, c->adj.ndst, first ? GNN_ATTENTION_FIRST : 0,
                     rows, gnn_heads_term(c, GNN_HEADS_M, 0), gnn_heads_term(c, GNN_HEADS_Z, 0));
    return e->code;
}

/* From n rows of all heads to results; they may be the same rows. */
static void results_of_rows(const struct gnn_conv_run *c, const float *rows, uint32_t n, float *y,
                            bool acc, const struct gnn_epilogue *ep)
{
    const struct gnn_ops *o = c->s->o;
    const struct gnn_heads h = gnn_heads_of_run(c);
    if (h.mean)
        o->head_means(o, rows, n, h.n, h.channels, y, acc);
    else if (acc)
        o->add(o, rows, (uint64_t)n * h.d, y);
    else if (y != rows)
        o->copy(o, y, rows, (uint64_t)n * h.d * sizeof *y);
    if (ep)
        o->bias_act(o, y, n, c->w, ep->bias, ep->act, NULL);
}

int gnn_heads_again(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y,
                    const struct gnn_epilogue *ep, struct gnn_err *e)
{
    const float *rows = gnn_conv_scratch(c, GNN_HEADS_ROWS, from, to, gnn_heads_of_run(c).d, e);
    if (rows)
        results_of_rows(c, rows, to - from, y, false, ep);
    return e->code;
}

int gnn_heads_rows(struct gnn_conv_run *c, const struct gnn_attention *a, uint32_t from,
                   uint32_t to, float *y, bool acc, const struct gnn_epilogue *ep,
                   struct gnn_err *e)
{
    const struct gnn_ops *o = c->s->o;
    const struct gnn_heads h = gnn_heads_of_run(c);
    const bool in_place = !c->s->train && !c->gathered && !h.mean && !acc;
    float *rows = in_place ? y : gnn_conv_scratch(c, GNN_HEADS_ROWS, from, to, h.d, e);
    struct gnn_attention now = *a;
    if (!rows)
        return e->code;
    now.drop.node = a->drop.node ? a->drop.node + from : NULL;
    /* All edges have been there but the self-loops: what is left is a block of no rows. */
    o->attention(o, &now, c->adj.seg, c->gathered ? 0 : c->adj.nseg, from, to,
                 c->gathered ? GNN_ATTENTION_LAST : GNN_ATTENTION_WHOLE, rows,
                 gnn_heads_term(c, GNN_HEADS_M, from), gnn_heads_term(c, GNN_HEADS_Z, from));
    results_of_rows(c, rows, to - from, y, acc, ep);
    return 0;
}

int gnn_heads_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                        struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const struct gnn_heads h = gnn_heads_of_run(c);
    const uint32_t n = to - from;
    float *rows = gnn_conv_scratch(c, GNN_HEADS_ROWS, from, to, h.d, e);
    if (!rows)
        return e->code;
    if (h.mean) {
        if (o->fit(o, &s->scratch, (uint64_t)n * h.d, sizeof(float), "gradients", e))
            return e->code;
        o->head_spread(o, dy, n, h.n, h.channels, s->scratch.data);
        dy = s->scratch.data;
    }
    o->head_dots(o, dy, rows, h.d, n, h.n, h.channels, gnn_heads_term(c, GNN_HEADS_DOTS, from));
    if (h.mean)
        o->copy(o, rows, dy, (uint64_t)n * h.d * sizeof *rows);
    return 0;
}

int gnn_heads_open_back(struct gnn_conv_run *c, const float *dy, uint64_t more,
                        struct gnn_attention_back *g, float **extra, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const struct gnn_heads h = gnn_heads_of_run(c);
    const uint64_t edges = gnn_adj_most_edges(&c->adj) * h.n, loops = (uint64_t)c->adj.ndst * h.n;
    const uint64_t rows = c->adj.nsrc < o->chunk ? c->adj.nsrc : o->chunk;
    if (o->fit(o, &s->messages, rows * h.d, sizeof(float), "gradients", e) ||
        o->fit(o, &s->scratch, edges + loops + rows * h.n + more, sizeof(float),
               "gradients of edges", e) ||
        o->fit(o, &s->work, GNN_COLSUM_BLOCKS * (uint64_t)h.d, sizeof(float), "gradients", e))
        return e->code;
    float *edge = s->scratch.data, *loop = edge + edges, *dsrc = loop + loops;
    *extra = dsrc + rows * h.n;
    *g = (struct gnn_attention_back){.m = gnn_heads_term(c, GNN_HEADS_M, 0),
                                     .z = gnn_heads_term(c, GNN_HEADS_Z, 0),
                                     .dots = gnn_heads_term(c, GNN_HEADS_DOTS, 0),
                                     .dy = h.mean ? c->kept[GNN_HEADS_ROWS].data : dy,
                                     .dvalue = s->messages.data,
                                     .dsrc = dsrc,
                                     .edge_grad = edge,
                                     .loop_grad = loop,
                                     .ddst = gnn_heads_term(c, GNN_HEADS_DDST, 0)};
    return 0;
}

int gnn_heads_messages_back(struct gnn_conv_run *c, const float *dm, uint32_t from, uint32_t to,
                            uint32_t weight, float *g, bool acc, struct gnn_err *e)
{
    const uint32_t d = gnn_heads_of_run(c).d, n = to - from;
    const size_t at = (size_t)from * c->ds;
    if (gnn_pass_gemm(c->s, true, false, d, c->ds, n, dm, c->x + at, 1, gnn_conv_grad(c, weight),
                      NULL, e))
        return e->code;
    return g ? gnn_pass_gemm(c->s, false, false, n, c->ds, d, dm, gnn_conv_param(c, weight),
                             acc ? 1 : 0, g + at, NULL, e)
             : 0;
}

int gnn_heads_send_back(struct gnn_conv_run *c, const float *dm, uint32_t weight, float *g,
                        bool acc, struct gnn_err *e)
{
    const uint32_t d = gnn_heads_of_run(c).d;
    EACH_CHUNK(from, to, c->adj.nsrc, c->s->o)
        if (gnn_heads_messages_back(c, dm + (size_t)from * d, from, to, weight, g, acc, e))
            return e->code;
    return 0;
}

/* Rows of edges, then those of self-loops, then the means of features that these are made of. */
int gnn_heads_edges(struct gnn_conv_run *c, const float *matrix, uint32_t wide, uint32_t from,
                    uint32_t to, bool edges, struct gnn_attention *a, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    const uint32_t f = c->adj.features, rows = a->loops ? to - from : 0;
    uint32_t first, n;
    if (!f)
        return 0;
    first = n = 0; /* unless there are edges */
    if (edges)
        gnn_adj_edges_of(o, &c->adj, from, to, &first, &n);
    const float *x = n ? c->adj.feature + (size_t)first * f : NULL;
    if (o->fit(o, &s->edge_rows, ((uint64_t)n + rows) * wide + (uint64_t)rows * f, sizeof(float),
               "rows of edges", e) ||
        (n && gnn_pass_gemm(s, false, true, n, wide, f, x, matrix, 0, s->edge_rows.data, NULL, e)))
        return e->code;
    a->edge = s->edge_rows.data;
    a->edge0 = first;
    if (!rows)
        return 0;
    float *loop = (float *)s->edge_rows.data + (size_t)n * wide, *mean = loop + (size_t)rows * wide;
    if (c->adj.loop_feature)
        o->copy(o, mean, c->adj.loop_feature + (size_t)from * f, (uint64_t)rows * f * sizeof *mean);
    else
        o->edge_means(o, c->adj.seg, c->adj.nseg, from, to, x, first, f, mean);
    a->loop = loop;
    return gnn_pass_gemm(s, false, true, rows, wide, f, mean, matrix, 0, loop, NULL, e);
}

int gnn_heads_edges_back(struct gnn_conv_run *c, const struct gnn_attention *a, float *dedge,
                         const float *dloop, uint32_t wide, float *dmatrix, struct gnn_err *e)
{
    const uint32_t f = c->adj.features, rows = c->adj.ndst;
    gnn_adj_clear_rest(c->s->o, &c->adj, wide, dedge);
    if (c->adj.edges && gnn_pass_gemm(c->s, true, false, wide, f, c->adj.edges, dedge,
                                      c->adj.feature, 1, dmatrix, NULL, e))
        return e->code;
    return a->loop ? gnn_pass_gemm(c->s, true, false, wide, f, rows, dloop,
                                   a->loop + (size_t)rows * wide, 1, dmatrix, NULL, e)
                   : 0;
}

static void list_residual(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    gnn_param_list_add(l, "res.weight", s->out, s->dst, sqrt(6.0 / (s->dst + s->out)), 0);
}

static const struct gnn_layer residual = {
    .name = "res",
    .module = "Linear",
    .own = true,
    .params = list_residual,
    .bias = GNN_NONE,
    .rows = gnn_dense_rows,
    .rows_back = gnn_dense_rows_back,
    .own_back = gnn_dense_own_back,
};

const struct gnn_layer *gnn_heads_beside(const struct gnn_model_config *c)
{
    return c->option[GNN_HEADS_RESIDUAL] != 0 ? &residual : NULL;
}

void gnn_heads_tell(struct gnn_model_config *c, const char *name, const struct gnn_tensor *t)
{
    (void)t;
    c->edge_features = c->edge_features || !strcmp(name, "lin_edge.weight");
    if (!strcmp(name, "res.weight"))
        c->option[GNN_HEADS_RESIDUAL] = 1;
}
