/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders (lib/model/decoder.h). The rows of both ends are copied side by side, multiplied, and
 * reduced by matrix products. Of negatives that share nodes, each row is copied once, and all their
 * scores are one product for each block of them (lib/model/link_blocks.h). In the backward pass,
 * the gradients of a node's copies are added up in the order of the links, as aggregation does it
 * over a block whose edges are these copies. */
#include "lib/model/decoder.h"

#include <math.h>
#include <string.h>

#include "lib/model/net_impl.h"

enum { WEIGHT_0, BIAS_0, WEIGHT_1, BIAS_1, SCALE = 0 };
/* Negatives of a block from which its products are faster than so many pairs: measured on a host;
 * on a device an estimate, by what it takes to begin three products. */
enum { LEAST_HOST = 128, LEAST_DEVICE = 4096 };
/* Buffers of a run. ENDS: copies of rows, (copies, d): of heads and then of tails; at either end
 * first those of pairs, then the columns of blocks. CELLS: scores of blocks, and then of pairs.
 * INDEX: numbers that the host makes. */
enum { ENDS, PRODUCT, HIDDEN, SPARE, SCORE, COSINE, ONES, INDEX, BLOCKS, CELLS };

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
    gnn_link_blocks_release(&r->blocks);
}

/* ---- a run ---- */

struct run {
    struct gnn_net *n;
    struct gnn_pass *s;
    struct gnn_decoder_run *r;
    struct gnn_err *e;
    const struct gnn_link_blocks *blocks;
    uint32_t links, d, last, scores; /* links: without those of blocks; scores: of each link */
    uint32_t type[2], rows[2];       /* node types of heads and tails, and their embeddings */
    uint32_t copies[2];              /* of rows */
    bool one;                        /* they are one type */
};

static struct run run_of(struct gnn_net *n, struct gnn_err *e)
{
    const struct gnn_model *m = n->pass.m;
    struct run x = {.n = n,
                    .s = &n->pass,
                    .r = &n->decoder,
                    .e = e,
                    .blocks = &n->decoder.blocks,
                    .links = n->decoder.blocks.pairs,
                    .d = m->c.outputs,
                    .last = m->nstages - 1,
                    .scores = m->c.scores,
                    .type = {m->c.heads, m->c.target},
                    .one = m->c.heads == m->c.target};
    for (unsigned k = 0; k < 2; k++) {
        x.rows[k] = net_rows(n, x.last, x.type[k]);
        x.copies[k] = x.links + (k == x.blocks->end ? x.blocks->n * x.blocks->width : 0);
    }
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

/* The copies at an end: 0, of heads; 1, of tails. */
static float *ends_of(const struct run *x, unsigned k)
{
    return data_of(x, ENDS) + (k ? (size_t)x->copies[0] * x->d : 0);
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

/* Where parts of INDEX are: the nodes of the copies, for each type its nodes' first copies, and
 * which these are, and the places in CELLS of all links. */
struct index {
    uint32_t *node, *first[2], *copy[2], *where;
};

static struct index lay_index(const struct run *x, uint32_t *base)
{
    const uint64_t copies = (uint64_t)x->copies[0] + x->copies[1];
    struct index i = {.node = base};
    i.first[0] = base + copies;
    i.copy[0] = i.first[0] + x->rows[0] + 1;
    i.first[1] = i.copy[0] + copies;
    i.copy[1] = i.first[1] + x->rows[1] + 1;
    i.where = i.copy[1] + copies;
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

/* The nodes that rows are copied of. Local numbers are below the rows of their type: gnn_batch_bind
 * has checked them. */
static void list_nodes(const struct run *x, uint32_t *node)
{
    const struct gnn_batch *b = x->n->b;
    const struct gnn_link_blocks *l = x->blocks;
    const uint32_t *pair = l->pair.data, *column = l->column.data;
    const uint64_t positives = b->rows[GNN_UNIT_PAIRS];
    for (uint64_t i = 0; i < x->links; i++) {
        const uint64_t k = l->n ? pair[i] : i;
        const uint32_t *ends = k < positives ? b->pair + 2 * k : b->negative + 2 * (k - positives);
        node[i] = ends[0];
        node[x->copies[0] + i] = ends[1];
    }
    for (uint64_t i = 0; i < (uint64_t)l->n * l->width; i++)
        node[(l->end ? x->copies[0] : 0) + x->links + i] = column[i];
}

static int make_index(const struct run *x)
{
    const struct gnn_ops *o = x->s->o;
    const uint64_t copies = (uint64_t)x->copies[0] + x->copies[1],
                   all = x->blocks->n ? x->blocks->all : 0,
                   words = 3 * copies + x->rows[0] + x->rows[1] + 2 + all;
    if (gnn_buf_fit(&x->r->host, words, sizeof(uint32_t), "links", x->e) ||
        o->fit(o, &x->r->buffer[INDEX], words, sizeof(uint32_t), "links", x->e))
        return x->e->code;
    const struct index i = lay_index(x, x->r->host.data);
    list_nodes(x, i.node);
    if (x->n->pass.train && x->one)
        sort_copies(i.node, copies, x->rows[0], i.first[0], i.copy[0]);
    for (unsigned k = 0; x->n->pass.train && !x->one && k < 2; k++)
        sort_copies(i.node + (k ? x->copies[0] : 0), x->copies[k], x->rows[k], i.first[k],
                    i.copy[k]);
    if (all)
        memcpy(i.where, x->blocks->where.data, all * sizeof *i.where);
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
    const uint64_t cells = (uint64_t)x->links * x->d,
                   copies = (uint64_t)x->copies[0] + x->copies[1];
    float *ends = fit_floats(x, ENDS, copies * x->d),
          *product = has_products(x) ? fit_floats(x, PRODUCT, cells) : ends;
    const uint32_t *node = lay_index(x, x->r->buffer[INDEX].data).node;
    if (!ends || !product)
        return x->e->code;
    for (unsigned k = 0; k < 2; k++) {
        const float *rows = find_embeddings(x, k);
        if (!rows)
            return x->e->code;
        o->take_rows(o, rows, node + (k ? x->copies[0] : 0), x->copies[k], x->d, ends_of(x, k));
    }
    if (has_products(x))
        o->multiply(o, ends, ends_of(x, 1), cells, product);
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

/* The rows of a block, its columns, and its cells. */
struct block {
    uint32_t rows;
    float *row, *column, *cell;
};
static struct block block_of(const struct run *x, uint32_t g)
{
    const struct gnn_link_blocks *l = x->blocks;
    const struct gnn_link_block *b = (const struct gnn_link_block *)l->block.data + g;
    return (struct block){b->rows, ends_of(x, !l->end) + (size_t)b->first * x->d,
                          ends_of(x, l->end) + (x->links + (size_t)g * l->width) * x->d,
                          data_of(x, CELLS) + (size_t)b->first * l->width};
}

/* Dot products of the ends of all links. */
static int dot_ends(const struct run *x, float *out)
{
    const struct gnn_link_blocks *l = x->blocks;
    if (!l->n)
        return sum_products(x, out);
    float *cells = fit_floats(x, CELLS, (uint64_t)l->cells + x->links);
    if (!cells || sum_products(x, cells + l->cells))
        return x->e->code;
    for (uint32_t g = 0; g < l->n; g++) {
        const struct block b = block_of(x, g);
        if (gnn_pass_gemm(x->s, false, true, b.rows, l->width, x->d, b.row, b.column, 0, b.cell,
                          NULL, x->e))
            return x->e->code;
    }
    x->s->o->take_rows(x->s->o, cells, lay_index(x, x->r->buffer[INDEX].data).where, l->all, 1,
                       out);
    return 0;
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
        (both && add_hidden(x, ends_of(x, 1), 1, hidden)))
        return x->e->code;
    return gnn_pass_gemm(x->s, false, true, x->links, x->scores, x->d, hidden,
                         param_of(x, WEIGHT_1), 0, score, &second, x->e);
}

static int score_cosine(const struct run *x, float *score)
{
    float *cosine = fit_floats(x, COSINE, x->blocks->all);
    if (!cosine || dot_ends(x, cosine))
        return x->e->code;
    return gnn_pass_gemm(x->s, false, true, x->blocks->all, 1, 1, cosine, param_of(x, SCALE), 0,
                         score, NULL, x->e);
}

/* Which links are scored by blocks: those whose scores are dot products. */
static int find_blocks(struct gnn_net *n, const struct gnn_meta *meta, struct gnn_err *e)
{
    const struct gnn_model_config *c = &n->pass.m->c;
    const struct gnn_batch *b = n->b;
    const bool told = gnn_model_tells_links(c);
    if (told && (c->decoder == GNN_DECODER_DOT || c->decoder == GNN_DECODER_COSINE))
        return gnn_link_blocks_find(&n->decoder.blocks, &meta->sampling, b,
                                    n->pass.o->async ? LEAST_DEVICE : LEAST_HOST, e);
    gnn_link_blocks_none(&n->decoder.blocks, (uint32_t)(b->rows[GNN_UNIT_PAIRS] +
                                                        (told ? b->rows[GNN_UNIT_NEGATIVES] : 0)));
    return 0;
}

int gnn_decoder_forward(struct gnn_net *n, const struct gnn_meta *meta, float **scores,
                        struct gnn_err *e)
{
    if (!n->b->pair)
        return gnn_fail(e, GNN_E_INPUT, "batches have no links");
    if (find_blocks(n, meta, e))
        return e->code;
    const struct run x = run_of(n, e);
    float *score = *scores = fit_floats(&x, SCORE, (uint64_t)x.blocks->all * x.scores);
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
    return dot_ends(&x, score);
}

/* ---- backward ---- */

/* From the gradient of dot products to those of PRODUCT and of blocks, in CELLS: 0 where no link
 * is. */
static int spread_sums(const struct run *x, const float *dsum)
{
    const struct gnn_ops *o = x->s->o;
    const struct gnn_link_blocks *l = x->blocks;
    float *cells = data_of(x, CELLS);
    if (l->n) {
        o->zero(o, cells, ((uint64_t)l->cells + x->links) * sizeof *cells);
        o->add_rows(o, dsum, lay_index(x, x->r->buffer[INDEX].data).where, l->all, 1, cells);
        dsum = cells + l->cells;
    }
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
        (both && hidden_back(x, dhidden, 1, ends_of(x, 1))))
        return x->e->code;
    return 0;
}

static int cosine_back(const struct run *x, const float *dscore)
{
    float *cosine = data_of(x, COSINE);
    if (gnn_pass_gemm(x->s, true, false, 1, 1, x->blocks->all, dscore, cosine, 1, grad_of(x, SCALE),
                      NULL, x->e) ||
        gnn_pass_gemm(x->s, false, true, x->blocks->all, 1, 1, dscore, param_of(x, SCALE), 0,
                      cosine, NULL, x->e))
        return x->e->code;
    return spread_sums(x, cosine);
}

/* The gradients of a block's columns take their place; those of its rows are added to drow. */
static int block_back(const struct run *x, uint32_t g, float *drow)
{
    const uint32_t width = x->blocks->width;
    const struct block b = block_of(x, g);
    if (gnn_pass_gemm(x->s, false, false, b.rows, x->d, width, b.cell, b.column, 1, drow, NULL,
                      x->e))
        return x->e->code;
    return gnn_pass_gemm(x->s, true, false, width, x->d, b.rows, b.cell, b.row, 0, b.column, NULL,
                         x->e);
}

/* The gradients of copies take their place: of one end, that of the products times the other. */
static int copies_back(const struct run *x)
{
    const struct gnn_ops *o = x->s->o;
    const struct gnn_link_block *block = x->blocks->block.data;
    if (!has_products(x)) /* they are there */
        return 0;
    const uint64_t cells = (uint64_t)x->links * x->d;
    float *spare = fit_floats(x, SPARE, cells), *product = data_of(x, PRODUCT),
          *other = ends_of(x, x->blocks->end), *rows = ends_of(x, !x->blocks->end);
    if (!spare)
        return x->e->code;
    o->multiply(o, product, other, cells, spare);
    o->multiply(o, product, rows, cells, other);
    for (uint32_t g = 0; g < x->blocks->n; g++)
        if (block_back(x, g, spare + (size_t)block[g].first * x->d))
            return x->e->code;
    o->copy(o, rows, spare, cells * sizeof *spare);
    return 0;
}

/* The gradients of the rows that end k is copied from, or of both ends' rows if these are one. */
static int rows_back(const struct run *x, unsigned k)
{
    const struct gnn_ops *o = x->s->o;
    const struct index i = lay_index(x, x->r->buffer[INDEX].data);
    const uint32_t copies = x->one ? x->copies[0] + x->copies[1] : x->copies[k];
    const struct gnn_csr block = {.n = x->rows[k], .indptr = i.first[k], .indices = i.copy[k]};
    float *dx = net_dy(x->n, x->last, x->type[k])->data;
    if (o->fit(o, &x->r->buffer[BLOCKS], 2, sizeof block, "links", x->e))
        return x->e->code;
    struct gnn_csr *at = (struct gnn_csr *)x->r->buffer[BLOCKS].data + k;
    o->put(o, at, &block, sizeof block);
    o->aggregate(o, at, 1, 0, x->rows[k], ends_of(x, k), copies, x->d, dx, false);
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
