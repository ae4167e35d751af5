/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders (lib/model/decoder.h). The rows of both ends are copied side by side, multiplied, and
 * reduced by matrix products. In the backward pass, the gradients of a node's copies are added up
 * in the order of the links, as aggregation does it over a block whose edges are these copies. */
#include "lib/model/decoder.h"

#include <math.h>

#include "lib/model/net_impl.h"

enum { WEIGHT_0, BIAS_0, WEIGHT_1, BIAS_1, SCALE = 0 };
/* Buffers of a run. ENDS: (2 n, d), heads and then tails. INDEX: numbers that the host makes. */
enum { ENDS, PRODUCT, HIDDEN, SPARE, SCORE, COSINE, ONES, INDEX, BLOCKS };

void gnn_decoder_params(const struct gnn_model_config *c, struct gnn_param_list *l)
{
    const uint32_t d = c->outputs;
    const double bound = 1 / sqrt(d);
    if (c->decoder == GNN_DECODER_COSINE)
        (void)gnn_param_list_add(l, "scale", 1, 0, 0, 1);
    if (c->decoder != GNN_DECODER_MLP && c->decoder != GNN_DECODER_CONCAT)
        return;
    const uint32_t inputs = c->decoder == GNN_DECODER_CONCAT ? 2 * d : d;
    const double first = 1 / sqrt(inputs);
    (void)gnn_param_list_add(l, "lins.0.weight", d, inputs, first, 0);
    (void)gnn_param_list_add(l, "lins.0.bias", d, 0, first, 0);
    (void)gnn_param_list_add(l, "lins.1.weight", c->scores, d, bound, 0);
    (void)gnn_param_list_add(l, "lins.1.bias", c->scores, 0, bound, 0);
}

void gnn_decoder_release(struct gnn_net *n)
{
    const struct gnn_ops *o = n->pass.o;
    struct gnn_decoder_run *r = &n->decoder;
    for (unsigned i = 0; i < GNN_DECODER_BUFFERS; i++)
        o->release(o, &r->buffer[i]);
    for (unsigned k = 0; k < 2; k++) {
        o->release(o, &r->unit[k]);
        o->release(o, &r->rnorm[k]);
    }
    gnn_buf_release(&r->host);
}

/* ---- a run ---- */

struct run {
    struct gnn_net *n;
    struct gnn_pass *s;
    struct gnn_decoder_run *r;
    struct gnn_err *e;
    uint32_t links, d, last, scores; /* scores: of each link */
    uint32_t type[2], rows[2];       /* node types of heads and tails, and their embeddings */
    bool one;                        /* they are one type */
};

static struct run run_of(struct gnn_net *n, struct gnn_err *e)
{
    const struct gnn_model *m = n->pass.m;
    struct run x = {.n = n,
                    .s = &n->pass,
                    .r = &n->decoder,
                    .e = e,
                    .links = n->decoder.n,
                    .d = m->c.outputs,
                    .last = m->nstages - 1,
                    .scores = m->c.scores,
                    .type = {m->c.heads, m->c.target},
                    .one = m->c.heads == m->c.target};
    for (unsigned k = 0; k < 2; k++)
        x.rows[k] = net_rows(n, x.last, x.type[k]);
    return x;
}

/* A buffer for so many floats, or NULL. */
static float *fit_floats(const struct run *x, unsigned buffer, uint64_t n)
{
    struct gnn_buf *b = &x->r->buffer[buffer];
    return x->s->o->fit(x->s->o, b, n, sizeof(float), "scores of links", x->e) ? NULL : b->data;
}

static float *data_of(const struct run *x, unsigned buffer)
{
    return x->r->buffer[buffer].data;
}

static float *tails_of(const struct run *x)
{
    return data_of(x, ENDS) + (size_t)x->links * x->d;
}

static const float *param_of(const struct run *x, unsigned k)
{
    return gnn_pass_param(x->s, x->s->m->decoder + k);
}

static float *grad_of(const struct run *x, unsigned k)
{
    return gnn_pass_grad(x->s, x->s->m->decoder + k);
}

/* ---- which rows ---- */

/* Where parts of INDEX are: the nodes of the copies, and for each type its nodes' first copies, and
 * which these are. */
struct index {
    uint32_t *node, *first[2], *copy[2];
};

static struct index lay_index(const struct run *x, uint32_t *base)
{
    const uint64_t copies = 2 * (uint64_t)x->links;
    struct index i = {.node = base};
    i.first[0] = base + copies;
    i.copy[0] = i.first[0] + x->rows[0] + 1;
    i.first[1] = i.copy[0] + copies;
    i.copy[1] = i.first[1] + x->rows[1] + 1;
    return i;
}

/* Counting sort: the copies from node[from] on, `many` of them, by their nodes. Copies are numbered
 * from 0. */
static void sort_copies(const uint32_t *node, uint64_t many, uint32_t rows, uint32_t *first,
                        uint32_t *copy)
{
    for (uint32_t v = 0; v <= rows; v++)
        first[v] = 0;
    for (uint64_t i = 0; i < many; i++)
        first[node[i] + 1]++;
    for (uint32_t v = 0; v < rows; v++)
        first[v + 1] += first[v];
    for (uint64_t i = 0; i < many; i++)
        copy[first[node[i]]++] = (uint32_t)i;
    for (uint32_t v = rows; v > 0; v--)
        first[v] = first[v - 1];
    first[0] = 0;
}

/* Local numbers are below the rows of their type: gnn_batch_bind has checked them. */
static int make_index(const struct run *x)
{
    const struct gnn_batch *b = x->n->b;
    const struct gnn_ops *o = x->s->o;
    const uint64_t n = x->links, positives = b->rows[GNN_UNIT_PAIRS];
    const uint64_t words = 6 * n + x->rows[0] + x->rows[1] + 2;
    if (gnn_buf_fit(&x->r->host, words, sizeof(uint32_t), "links", x->e) ||
        o->fit(o, &x->r->buffer[INDEX], words, sizeof(uint32_t), "links", x->e))
        return x->e->code;
    const struct index i = lay_index(x, x->r->host.data);
    for (uint64_t k = 0; k < n; k++) {
        const uint32_t *pair = k < positives ? b->pair + 2 * k : b->negative + 2 * (k - positives);
        i.node[k] = pair[0];
        i.node[n + k] = pair[1];
    }
    if (x->n->pass.train && x->one)
        sort_copies(i.node, 2 * n, x->rows[0], i.first[0], i.copy[0]);
    for (unsigned k = 0; x->n->pass.train && !x->one && k < 2; k++)
        sort_copies(i.node + k * n, n, x->rows[k], i.first[k], i.copy[k]);
    o->put(o, x->r->buffer[INDEX].data, x->r->host.data, words * sizeof(uint32_t));
    return 0;
}

/* ---- forward ---- */

/* The embeddings of an end, of unit length if the decoder compares directions; NULL on failure. */
static const float *find_embeddings(const struct run *x, unsigned k)
{
    const struct gnn_ops *o = x->s->o;
    const float *rows = net_act(x->n, x->last, x->type[k])->out.data;
    struct gnn_buf *unit = &x->r->unit[x->one ? 0 : k], *rnorm = &x->r->rnorm[x->one ? 0 : k];
    if (x->s->m->c.decoder != GNN_DECODER_COSINE)
        return rows;
    if (k && x->one)
        return unit->data;
    if (o->fit(o, unit, (uint64_t)x->rows[k] * x->d, sizeof(float), "embeddings", x->e) ||
        o->fit(o, rnorm, x->rows[k], sizeof(float), "embeddings", x->e))
        return NULL;
    o->unit_rows(o, rows, x->rows[k], x->d, unit->data, rnorm->data);
    return unit->data;
}

static bool has_products(const struct run *x)
{
    return x->s->m->c.decoder != GNN_DECODER_CONCAT;
}

/* Rows of both ends, and, of decoders that have them, the products of their elements. */
static int multiply_ends(const struct run *x)
{
    const struct gnn_ops *o = x->s->o;
    const uint64_t cells = (uint64_t)x->links * x->d;
    float *ends = fit_floats(x, ENDS, 2 * cells),
          *product = has_products(x) ? fit_floats(x, PRODUCT, cells) : ends;
    const uint32_t *node = lay_index(x, x->r->buffer[INDEX].data).node;
    if (!ends || !product)
        return x->e->code;
    for (unsigned k = 0; k < 2; k++) {
        const float *rows = find_embeddings(x, k);
        if (!rows)
            return x->e->code;
        o->take_rows(o, rows, node + k * (uint64_t)x->links, x->links, x->d, ends + k * cells);
    }
    if (has_products(x))
        o->multiply(o, ends, ends + cells, cells, product);
    return 0;
}

/* Sums of the rows of PRODUCT. */
static int sum_products(const struct run *x, float *out)
{
    float *ones = fit_floats(x, ONES, x->d);
    if (!ones)
        return x->e->code;
    x->s->o->fill(x->s->o, ones, x->d, 1);
    return gnn_pass_gemm(x->s, false, true, x->links, 1, x->d, data_of(x, PRODUCT), ones, 0, out,
                         NULL, x->e);
}

/* The part of the first layer that both ends share, k, or that is of the heads, 0, and of the
 * tails, 1: from `a`, times its columns of A, plus what is there already. */
static int add_hidden(const struct run *x, const float *a, unsigned k, float *hidden)
{
    const struct gnn_epilogue act = {param_of(x, BIAS_0), GNN_ACT_RELU};
    const bool both = !has_products(x);
    const struct gnn_product p = {.tb = true,
                                  .m = x->links,
                                  .n = x->d,
                                  .k = x->d,
                                  .a = a,
                                  .b = param_of(x, WEIGHT_0) + (size_t)k * x->d,
                                  .ldb = both ? 2 * (size_t)x->d : 0,
                                  .beta = k ? 1 : 0,
                                  .c = hidden,
                                  .ep = k || !both ? &act : NULL};
    return gnn_pass_product(x->s, &p, x->e);
}

static int score_mlp(const struct run *x, float *score)
{
    const struct gnn_epilogue second = {param_of(x, BIAS_1), GNN_ACT_NONE};
    const bool both = !has_products(x);
    float *hidden = fit_floats(x, HIDDEN, (uint64_t)x->links * x->d);
    if (!hidden || add_hidden(x, data_of(x, both ? ENDS : PRODUCT), 0, hidden) ||
        (both && add_hidden(x, tails_of(x), 1, hidden)))
        return x->e->code;
    return gnn_pass_gemm(x->s, false, true, x->links, x->scores, x->d, hidden,
                         param_of(x, WEIGHT_1), 0, score, &second, x->e);
}

static int score_cosine(const struct run *x, float *score)
{
    float *cosine = fit_floats(x, COSINE, x->links);
    if (!cosine || sum_products(x, cosine))
        return x->e->code;
    return gnn_pass_gemm(x->s, false, true, x->links, 1, 1, cosine, param_of(x, SCALE), 0, score,
                         NULL, x->e);
}

int gnn_decoder_forward(struct gnn_net *n, float **scores, struct gnn_err *e)
{
    const struct gnn_batch *b = n->b;
    if (!b->pair)
        return gnn_fail(e, GNN_E_INPUT, "batches have no links");
    n->decoder.n =
        (uint32_t)(b->rows[GNN_UNIT_PAIRS] +
                   (gnn_model_tells_links(&n->pass.m->c) ? b->rows[GNN_UNIT_NEGATIVES] : 0));
    const struct run x = run_of(n, e);
    float *score = *scores = fit_floats(&x, SCORE, (uint64_t)x.links * x.scores);
    if (!score || make_index(&x) || multiply_ends(&x))
        return e->code;
    switch (n->pass.m->c.decoder) {
    case GNN_DECODER_MLP:
    case GNN_DECODER_CONCAT:
        return score_mlp(&x, score);
    case GNN_DECODER_COSINE:
        return score_cosine(&x, score);
    case GNN_DECODER_DOT:
    case GNN_DECODER_NONE:
        break;
    }
    return sum_products(&x, score);
}

/* ---- backward ---- */

/* From the gradient of sums of rows of PRODUCT to that of PRODUCT. */
static int spread_sums(const struct run *x, const float *dsum)
{
    return gnn_pass_gemm(x->s, false, false, x->links, x->d, 1, dsum, data_of(x, ONES), 0,
                         data_of(x, PRODUCT), NULL, x->e);
}

static int add_column_sums(const struct run *x, const float *dy, uint32_t d, float *g)
{
    const struct gnn_ops *o = x->s->o;
    if (o->fit(o, &x->s->work, GNN_COLSUM_BLOCKS * (uint64_t)d, sizeof(float), "gradients", x->e))
        return x->e->code;
    o->colsum(o, dy, x->links, d, x->s->work.data, g, true);
    return 0;
}

/* Likewise, back to `a`, in whose place its gradient comes, and to these columns of A. */
static int hidden_back(const struct run *x, const float *dhidden, unsigned k, float *a)
{
    const size_t pitch = has_products(x) ? x->d : 2 * (size_t)x->d, column = (size_t)k * x->d;
    const struct gnn_product grad = {.ta = true,
                                     .m = x->d,
                                     .n = x->d,
                                     .k = x->links,
                                     .a = dhidden,
                                     .b = a,
                                     .beta = 1,
                                     .c = grad_of(x, WEIGHT_0) + column,
                                     .ldc = pitch},
                             back = {.m = x->links,
                                     .n = x->d,
                                     .k = x->d,
                                     .a = dhidden,
                                     .b = param_of(x, WEIGHT_0) + column,
                                     .ldb = pitch,
                                     .c = a};
    return gnn_pass_product(x->s, &grad, x->e) || gnn_pass_product(x->s, &back, x->e) ? x->e->code
                                                                                      : 0;
}

static int mlp_back(const struct run *x, const float *dscore)
{
    const struct gnn_ops *o = x->s->o;
    const bool both = !has_products(x);
    float *hidden = data_of(x, HIDDEN), *dhidden = fit_floats(x, SPARE, (uint64_t)x->links * x->d);
    if (!dhidden ||
        gnn_pass_gemm(x->s, true, false, x->scores, x->d, x->links, dscore, hidden, 1,
                      grad_of(x, WEIGHT_1), NULL, x->e) ||
        add_column_sums(x, dscore, x->scores, grad_of(x, BIAS_1)) ||
        gnn_pass_gemm(x->s, false, false, x->links, x->d, x->scores, dscore, param_of(x, WEIGHT_1),
                      0, dhidden, NULL, x->e))
        return x->e->code;
    o->act_back(o, dhidden, hidden, x->links, x->d, GNN_ACT_RELU, 1, NULL);
    if (add_column_sums(x, dhidden, x->d, grad_of(x, BIAS_0)) ||
        hidden_back(x, dhidden, 0, data_of(x, both ? ENDS : PRODUCT)) ||
        (both && hidden_back(x, dhidden, 1, tails_of(x))))
        return x->e->code;
    return 0;
}

static int cosine_back(const struct run *x, const float *dscore)
{
    float *cosine = data_of(x, COSINE);
    if (gnn_pass_gemm(x->s, true, false, 1, 1, x->links, dscore, cosine, 1, grad_of(x, SCALE), NULL,
                      x->e) ||
        gnn_pass_gemm(x->s, false, true, x->links, 1, 1, dscore, param_of(x, SCALE), 0, cosine,
                      NULL, x->e))
        return x->e->code;
    return spread_sums(x, cosine);
}

/* The gradients of copies take their place: of heads, that of the products times the tails. */
static int copies_back(const struct run *x)
{
    const struct gnn_ops *o = x->s->o;
    if (!has_products(x)) /* they are there */
        return 0;
    const uint64_t cells = (uint64_t)x->links * x->d;
    float *spare = fit_floats(x, SPARE, cells), *product = data_of(x, PRODUCT),
          *heads = data_of(x, ENDS);
    if (!spare)
        return x->e->code;
    o->multiply(o, product, tails_of(x), cells, spare);
    o->multiply(o, product, heads, cells, tails_of(x));
    o->copy(o, heads, spare, cells * sizeof *spare);
    return 0;
}

/* The gradients of the rows that end k is copied from, or of both ends' rows if these are one. */
static int rows_back(const struct run *x, unsigned k)
{
    const struct gnn_ops *o = x->s->o;
    const struct index i = lay_index(x, x->r->buffer[INDEX].data);
    const uint32_t copies = x->one ? 2 * x->links : x->links;
    const struct gnn_csr block = {.n = x->rows[k], .indptr = i.first[k], .indices = i.copy[k]};
    float *dx = net_dy(x->n, x->last, x->type[k])->data;
    if (o->fit(o, &x->r->buffer[BLOCKS], 2, sizeof block, "links", x->e))
        return x->e->code;
    struct gnn_csr *at = (struct gnn_csr *)x->r->buffer[BLOCKS].data + k;
    o->put(o, at, &block, sizeof block);
    o->aggregate(o, at, 1, 0, x->rows[k], k ? tails_of(x) : data_of(x, ENDS), copies, x->d, dx,
                 false);
    if (x->s->m->c.decoder == GNN_DECODER_COSINE)
        o->unit_rows_back(o, dx, x->r->unit[k].data, x->r->rnorm[k].data, x->rows[k], x->d);
    return 0;
}

int gnn_decoder_backward(struct gnn_net *n, struct gnn_err *e)
{
    const struct run x = run_of(n, e);
    const float *dscore = data_of(&x, SCORE);
    const enum gnn_decoder decoder = n->pass.m->c.decoder;
    if (decoder == GNN_DECODER_MLP || decoder == GNN_DECODER_CONCAT ? mlp_back(&x, dscore)
        : decoder == GNN_DECODER_COSINE                             ? cosine_back(&x, dscore)
                                                                    : spread_sums(&x, dscore))
        return e->code;
    if (copies_back(&x) || rows_back(&x, 0) || (!x.one && rows_back(&x, 1)))
        return e->code;
    return 0;
}
