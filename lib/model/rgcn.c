/* SPDX-License-Identifier: Apache-2.0 */
/* R-GCN, Schlichtkrull et al. 2018, as PyG's RGCNConv:
 *     out = root^T x + bias + sum over relations r of W_r^T (mean of neighbours along r),
 *     W_r = sum over b of comp[r, b] weight[b]; without bases it is weight[r].
 * One set of parameters serves all relations and node types of a layer, so that these have rows of
 * one width. Relations may be thousands: nothing is kept for each of them. W_r is made when it is
 * needed, and the means are made again in the backward pass. */
#include <math.h>
#include <string.h>

#include "lib/model/layer.h"
#include "lib/base/plural.h"

enum { WEIGHT, ROOT, BIAS, COMP };
/* Scratch: means of neighbours; W_r; its gradient. In full batches the means are kept. */
enum { MEANS, MATRIX, MATRIX_GRAD };

enum { BASES, OPTIONS };
static const struct gnn_layer_option options[OPTIONS] = {
    [BASES] = {"bases", "bases", .whole = true, .max = 1 << 16,
               .help =
                   "rgcn: number of bases; the matrix of an edge type is a weighted sum of them "
                   "(default: 0: each edge type has its own matrix)"},
};

static uint32_t count_bases(const struct gnn_model_config *c)
{
    return (uint32_t)c->option[BASES];
}

/* Glorot's distribution, and zeros, as RGCNConv begins. */
static void list_params(const struct gnn_conv_shape *s, struct gnn_param_list *l)
{
    const uint32_t bases = count_bases(s->c), relations = s->c->netypes;
    const double glorot = sqrt(6.0 / ((double)s->dst + s->out));
    struct gnn_param_spec *weight = gnn_param_list_add(l, "weight", s->dst, s->out, glorot, 0);
    weight->lead = bases ? bases : relations;
    weight->relations = !bases;
    gnn_param_list_add(l, "root", s->dst, s->out, glorot, 0);
    gnn_param_list_add(l, "bias", s->out, 0, 0, 0);
    if (bases)
        gnn_param_list_add(l, "comp", relations, bases, sqrt(6.0 / ((double)relations + bases)), 0)
            ->relations = true;
}

static void tell_bases(struct gnn_model_config *c, const char *name, const struct gnn_tensor *t)
{
    if (!strcmp(name, "comp") && t->ndim == 2 && (double)t->shape[1] <= options[BASES].max)
        c->option[BASES] = (double)t->shape[1];
}

/* root has a column for each output. */
static uint32_t recognise_width(struct gnn_model_config *c, const struct gnn_tensor *const *t)
{
    (void)c;
    return t[ROOT] && t[ROOT]->ndim == 2 && t[ROOT]->shape[1] <= 1u << 20
               ? (uint32_t)t[ROOT]->shape[1]
               : 0;
}

static uint32_t feature_width(const struct gnn_model_config *c, uint32_t t)
{
    return c->ntype[t].width ? c->ntype[t].width : 1;
}

/* Behind an encoder, and from the second layer on, all types have one width. */
static int check_widths(const struct gnn_conv_shape *s, struct gnn_err *e)
{
    const struct gnn_model_config *c = s->c;
    const uint32_t a = c->etype[0].src, ends[] = {c->etype[s->r].src, c->etype[s->r].dst};
    for (unsigned k = 0; s->l == 0 && !c->encoder && k < 2; k++)
        if (feature_width(c, ends[k]) != feature_width(c, a))
            return gnn_fail(e, GNN_E_USAGE,
                            "rgcn requires node types of the same width, but %s has %u and %s %u "
                            "feature%s; use --encoder N",
                            c->ntype[a].name, feature_width(c, a), c->ntype[ends[k]].name,
                            feature_width(c, ends[k]), gnn_plural(feature_width(c, ends[k])));
    return 0;
}

/* Scratch, the same for all convolutions; NULL on failure. */
static float *find_space(struct gnn_conv_run *c, unsigned k, uint64_t count, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    return s->o->fit(s->o, &s->buffer[k], count, sizeof(float), "rows of a layer", e)
               ? NULL
               : s->buffer[k].data;
}

static size_t matrix_size(const struct gnn_conv_run *c)
{
    return (size_t)c->ds * c->w;
}

static const float *relation_comp(const struct gnn_conv_run *c)
{
    return gnn_conv_param(c, COMP) + (size_t)c->conv->rel * count_bases(&c->s->m->c);
}

/* W_r; NULL on failure. */
static const float *make_matrix(struct gnn_conv_run *c, struct gnn_err *e)
{
    const uint32_t bases = count_bases(&c->s->m->c);
    const size_t size = matrix_size(c);
    const float *weight = gnn_conv_param(c, WEIGHT);
    if (!bases)
        return weight + c->conv->rel * size;
    float *w = find_space(c, MATRIX, size, e);
    if (!w ||
        gnn_pass_gemm(c->s, false, false, 1, size, bases, relation_comp(c), weight, 0, w, NULL, e))
        return NULL;
    return w;
}

/* Many of thousands of relations have no edge in a batch, or in a chunk of rows. */
static int add_nothing(const struct gnn_conv_run *c, uint32_t rows, float *y, bool acc,
                       const struct gnn_epilogue *ep)
{
    const struct gnn_ops *o = c->s->o;
    if (!acc)
        o->zero(o, y, (size_t)rows * c->w * sizeof *y);
    if (ep)
        o->bias_act(o, y, rows, c->w, ep->bias, ep->act, NULL);
    return 0;
}

/* Of rows [from, to); NULL on failure. */
static float *make_means(struct gnn_conv_run *c, uint32_t from, uint32_t to, struct gnn_err *e)
{
    if (c->gathered)
        return (float *)c->kept[MEANS].data + (size_t)from * c->ds;
    float *means = find_space(c, MEANS, (uint64_t)(to - from) * c->ds, e);
    if (means)
        gnn_adj_aggregate(c->s->o, &c->adj, from, to, c->x, c->ds, means, false);
    return means;
}

static int make_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                     const struct gnn_epilogue *ep, struct gnn_err *e)
{
    const uint32_t rows = to - from;
    if (!c->adj.edges && !c->gathered)
        return add_nothing(c, rows, y, acc, ep);
    const float *w = make_matrix(c, e), *means = w ? make_means(c, from, to, e) : NULL;
    if (!means)
        return e->code;
    return gnn_pass_gemm(c->s, false, false, rows, c->w, c->ds, means, w, acc ? 1 : 0, y, ep, e);
}

static int rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                     struct gnn_err *e)
{
    (void)c;
    (void)from;
    (void)to;
    (void)dy; /* sources_back has all of it at once */
    return e->code;
}

/* The gradient of W_r, a product of means and dy, is added up over chunks of rows. */
static int matrix_back(struct gnn_conv_run *c, const float *dy, float *dw, bool acc,
                       struct gnn_err *e)
{
    EACH_CHUNK(from, to, c->adj.ndst, c->s->o) {
        const float *means = make_means(c, from, to, e);
        if (!means || gnn_pass_gemm(c->s, true, false, c->ds, c->w, to - from, means,
                                    dy + (size_t)from * c->w, acc || from ? 1 : 0, dw, NULL, e))
            return e->code;
    }
    return 0;
}

/* Those of weight and comp. */
static int params_back(struct gnn_conv_run *c, const float *dy, struct gnn_err *e)
{
    const uint32_t bases = count_bases(&c->s->m->c);
    const size_t size = matrix_size(c);
    float *dweight = gnn_conv_grad(c, WEIGHT);
    if (!bases)
        return matrix_back(c, dy, dweight + c->conv->rel * size, true, e);
    float *dw = find_space(c, MATRIX_GRAD, size, e),
          *dcomp = gnn_conv_grad(c, COMP) + (size_t)c->conv->rel * bases;
    if (!dw || matrix_back(c, dy, dw, false, e) ||
        gnn_pass_gemm(c->s, true, false, bases, size, 1, relation_comp(c), dw, 1, dweight, NULL, e))
        return e->code;
    return gnn_pass_gemm(c->s, false, true, 1, bases, size, dw, gnn_conv_param(c, WEIGHT), 1, dcomp,
                         NULL, e);
}

static int sources_back(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                        struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const struct gnn_ops *o = s->o;
    if (!c->adj.edges || !c->adj.ndst) {
        if (g && !acc)
            o->zero(o, g, (size_t)c->adj.nsrc * c->ds * sizeof *g);
        return 0;
    }
    if (params_back(c, dy, e) || !g)
        return e->code;
    const float *w = make_matrix(c, e);
    if (!w ||
        o->fit(o, &s->messages, (uint64_t)c->adj.ndst * c->ds, sizeof(float), "gradients", e) ||
        gnn_pass_gemm(s, false, true, c->adj.ndst, c->ds, c->w, dy, w, 0, s->messages.data, NULL,
                      e))
        return e->code;
    gnn_adj_spread(o, &c->adj, s->messages.data, c->ds, g, acc);
    return 0;
}

static int gather_sums(struct gnn_conv_run *c, bool first, struct gnn_err *e)
{
    float *means = gnn_conv_scratch(c, MEANS, 0, c->adj.ndst, c->ds, e);
    if (means)
        gnn_adj_aggregate(c->s->o, &c->adj, 0, c->adj.ndst, c->x, c->ds, means, !first);
    return e->code;
}

/* The gradients of the means take their place. */
static int means_back(struct gnn_conv_run *c, const float *dy, struct gnn_err *e)
{
    if (!c->adj.ndst || params_back(c, dy, e) || !c->inputs)
        return e->code;
    const float *w = make_matrix(c, e);
    return w ? gnn_pass_gemm(c->s, false, true, c->adj.ndst, c->ds, c->w, dy, w, 0,
                             c->kept[MEANS].data, NULL, e)
             : e->code;
}

static int spread_sums(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                       struct gnn_err *e)
{
    (void)dy;
    gnn_adj_spread(c->s->o, &c->adj, c->kept[MEANS].data, c->ds, g, acc);
    return e->code;
}

static int root_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                     const struct gnn_epilogue *ep, struct gnn_err *e)
{
    return gnn_pass_gemm(c->s, false, false, to - from, c->w, c->dd, c->own,
                         gnn_conv_param(c, ROOT), acc ? 1 : 0, y, ep, e);
}

static int root_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                     struct gnn_err *e)
{
    return gnn_pass_gemm(c->s, true, false, c->dd, c->w, to - from, c->own, dy, 1,
                         gnn_conv_grad(c, ROOT), NULL, e);
}

static int root_own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e)
{
    return gnn_pass_gemm(c->s, false, true, c->adj.ndst, c->dd, c->w, dy, gnn_conv_param(c, ROOT),
                         1, g, NULL, e);
}

static const struct gnn_layer root = {
    .name = "root",
    .module = "RGCNConv",
    .own = true,
    .shared = true,
    .params = list_params,
    .weight = ROOT,
    .bias = BIAS,
    .rows = root_rows,
    .rows_back = root_back,
    .own_back = root_own_back,
};

const struct gnn_layer gnn_layer_rgcn = {
    .name = "rgcn",
    .module = "RGCNConv",
    .assumed = "RGCNConv(aggr=\"mean\") with relations in the order of the store's edge types",
    .norm = GNN_ADJ_MEAN,
    .shared = true,
    .root = &root,
    .buffers = 2,
    .params = list_params,
    .weight = ROOT,
    .recognise = recognise_width,
    .bias = GNN_NONE,
    .option = options,
    .noptions = OPTIONS,
    .tell = tell_bases,
    .check = check_widths,
    .rows = make_rows,
    .rows_back = rows_back,
    .sources_back = sources_back,
    .constant_sums = true,
    .linear = true,
    .gather = gather_sums,
    .sums_back = means_back,
    .spread = spread_sums,
};
