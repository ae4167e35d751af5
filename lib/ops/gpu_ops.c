/* The device's column of lib/ops/ops.h: launchers of kernels/, on a stream of its own. */
#include <stdio.h>

#include "lib/gpu/gemm.h"
#include "lib/ops/gpu_reduce.h"

#include "kernels/factors.h"
#include "kernels/half.h"
#include "kernels/label.h"
#include "kernels/loss.h"
#include "kernels/rows.h"

static const char *const precisions[] = {
    [GNN_PRECISION_F32] = "f32", [GNN_PRECISION_TF32] = "tf32", [GNN_PRECISION_BF16] = "bf16"};

/* Multiplies in the precision that was asked for or, where the library cannot, in the next finer
 * one that it can. *bare: it cannot add a bias to this product, either, which is without bias and
 * ReLU. */
static int multiply(struct ops_dev *c, const struct gnn_dev_product *g, bool *bare,
                    struct gnn_err *e)
{
    for (int i = 0; i < 2 * (c->precision + 1); i++) {
        struct gnn_dev_product q = *g;
        bool can;
        q.precision = c->precision - i / 2;
        *bare = i % 2;
        if (*bare && !g->bias)
            continue;
        if (*bare) {
            q.bias = NULL;
            q.relu = false;
        }
        if (gnn_dev_multiply(c->gemm, &q, &can, c->stream, e))
            return e->code;
        if (can && q.precision < c->precision && !*c->note)
            snprintf(
                c->note, sizeof(c->note),
                "cuBLASLt does not multiply (%zu, %zu) by (%zu, %zu) in %s: such products are made in %s",
                g->m, g->k, g->k, g->n, precisions[c->precision], precisions[q.precision]);
        if (can)
            return 0;
    }
    return gnn_fail(e, GNN_E_DEVICE, "cuBLASLt does not multiply (%zu, %zu) by (%zu, %zu)", g->m,
                    g->k, g->k, g->n);
}

static int gemm(const struct gnn_ops *o, bool ta, bool tb, size_t m, size_t n, size_t k,
                const float *a, const float *b, float beta, float *y, const struct gnn_epilogue *ep,
                struct gnn_err *e)
{
    struct ops_dev *c = ops_dev(o);
    const struct gnn_dev_product g = {.ta = ta,
                                      .tb = tb,
                                      .m = m,
                                      .n = n,
                                      .k = k,
                                      .a = a,
                                      .b = b,
                                      .beta = beta,
                                      .c = y,
                                      .bias = ep ? ep->bias : NULL,
                                      .relu = ep && ep->relu && ep->bias};
    if (ops_failed(c))
        return gnn_fail(e, (enum gnn_status)c->err.code, "%s", c->err.msg);
    if (!m || !n)
        return 0;
    bool bare = !k;
    if (k && multiply(c, &g, &bare, e))
        return e->code;
    if (c->times) { /* batches differ in their numbers of rows */
        char name[80];
        snprintf(name, sizeof(name),
                 ta ? "product (%zu, rows) by (rows, %zu)" : "product (rows, %zu) by (%zu, %zu)",
                 ta ? m : k, ta ? n : k, n);
        ops_timed(c, name);
    }
    if (!k && beta == 0)
        o->zero(o, y, m * n * sizeof(*y));
    if (bare && ep)
        o->bias_act(o, y, (uint32_t)m, n, ep->bias, ep->relu, NULL);
    return 0;
}

static void aggregate(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                      uint32_t from, uint32_t to, const float *x, uint32_t xrows, size_t d,
                      float *y, bool acc)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_spmm(block, nblocks, from, NULL, to, x, xrows, d, d, y, d, acc, c->word + WORD_SPMM,
                  c->stream);
    char name[40];
    snprintf(name, sizeof(name), "aggregation, %zu wide", d);
    ops_launched(c, name);
}

static int transpose(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                     uint32_t ncols, uint32_t edges, uint32_t *tptr, uint32_t *tidx,
                     struct gnn_err *e)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return gnn_fail(e, (enum gnn_status)c->err.code, "%s", c->err.msg);
    if (o->fit(o, &c->scratch, gnn_cuda_csr_transpose_scratch(edges), 1, "transposing", e))
        return e->code;
    gnn_cuda_csr_transpose(block, nblocks, NULL, ncols, edges, tptr, tidx, c->scratch.data,
                           c->word + WORD_TRANSPOSE, c->stream);
    const int rc = gnn_dev_launched("transposing", e);
    ops_timed(c, "transposing");
    return rc;
}

static void mean_factors(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                         uint32_t nrows, float *row)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_mean_factors(block, nblocks, NULL, nrows, row, c->stream);
    ops_launched(c, "factors");
}

static void gcn_degrees(const struct gnn_ops *o, const uint32_t *degree, uint64_t n, float *isqrt)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_gcn_degrees(degree, NULL, (uint32_t)n, isqrt, c->stream);
    ops_launched(c, "factors");
}

static void gcn_factors(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                        uint32_t nrows, const float *isqrt, float *row, float *diag)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_gcn_factors(block, nblocks, NULL, nrows, isqrt, row, diag, c->stream);
    ops_launched(c, "factors");
}

static void bias_act(const struct gnn_ops *o, float *x, uint32_t n, size_t d, const float *bias,
                     bool relu, const struct gnn_dropout *drop)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_bias_act(x, NULL, n, d, bias, relu, drop, c->stream);
    ops_launched(c, "bias and activation");
}

static void dropout_copy(const struct gnn_ops *o, const float *x, uint32_t n, size_t d,
                         const struct gnn_dropout *drop, float *y)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_dropout_copy(x, NULL, n, d, drop, y, c->stream);
    ops_launched(c, "dropout");
}

static void relu_back(const struct gnn_ops *o, float *dy, const float *y, uint32_t n, size_t d,
                      float scale)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_relu_back(dy, y, NULL, n, d, scale, c->stream);
    ops_launched(c, "backward activation");
}

static void colsum(const struct gnn_ops *o, const float *x, uint32_t n, size_t d, float *work,
                   float *out, bool acc)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_colsum(x, NULL, n, d, work, out, acc, c->stream);
    ops_launched(c, "column sums");
}

static void fill(const struct gnn_ops *o, float *x, uint64_t n, float v)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_fill(x, n, v, c->stream);
    ops_launched(c, "filling");
}

static void add(const struct gnn_ops *o, const float *x, uint64_t n, float *y)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_add(x, n, y, c->stream);
    ops_launched(c, "adding");
}

static void unit_sums(const struct gnn_ops *o, float *x, uint32_t n, size_t d)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_rows_to_unit_sum(x, NULL, n, d, c->stream);
    ops_launched(c, "normalising features");
}

static void floats(const struct gnn_ops *o, const struct gnn_tensor *x, uint64_t n, float *out)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    if (x->dtype == GNN_F16)
        gnn_cuda_f16_to_f32(x->data, n, out, c->stream);
    else if (x->dtype == GNN_BF16)
        gnn_cuda_bf16_to_f32(x->data, n, out, c->stream);
    else
        o->copy(o, out, x->data, n * sizeof(*out));
    ops_launched(c, "widening features");
}

static void classes(const struct gnn_ops *o, const struct gnn_tensor *y, uint64_t n,
                    uint32_t nclasses, int32_t *out)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_label_classes(y->data, (enum gnn_label_type)y->dtype, n, nclasses, out, c->stream);
    ops_launched(c, "labels");
}

static void targets(const struct gnn_ops *o, const struct gnn_tensor *y, uint64_t n, float *out)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_label_targets(y->data, (enum gnn_label_type)y->dtype, n, out, c->stream);
    ops_launched(c, "labels");
}

static void softmax_ce(const struct gnn_ops *o, const float *z, uint32_t n, size_t c,
                       const int32_t *y, float scale, double *row_loss, float *dz)
{
    struct ops_dev *v = ops_dev(o);
    if (ops_failed(v))
        return;
    gnn_cuda_softmax_ce(z, NULL, n, c, y, scale, row_loss, dz, v->word + WORD_CLASS, v->stream);
    ops_launched(v, "the loss");
}

static void sigmoid_ce(const struct gnn_ops *o, const float *z, uint32_t n, size_t c,
                       const float *y, float scale, double *row_loss, float *dz)
{
    struct ops_dev *v = ops_dev(o);
    if (ops_failed(v))
        return;
    gnn_cuda_sigmoid_ce(z, NULL, n, c, y, scale, row_loss, dz, v->stream);
    ops_launched(v, "the loss");
}

static void clip(const struct gnn_ops *o, float *g, size_t n, double most)
{
    struct ops_dev *c = ops_dev(o);
    double *squares = (double *)(c->word + WORD_SQUARES);
    if (c->err.code ||
        o->fit(o, &c->scratch, gnn_cuda_square_sum_scratch(n), 1, "clipping", &c->err))
        return;
    gnn_cuda_square_sum(g, n, c->scratch.data, squares, c->stream);
    gnn_cuda_clip(g, n, most, squares, c->stream);
    ops_launched(c, "clipping");
}

static void adam(const struct gnn_ops *o, float *p, const float *g, float *m, float *v, size_t n,
                 bool decoupled, const struct gnn_optim_step *s)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_adam(p, g, m, v, n, decoupled, s, c->stream);
    ops_launched(c, "the optimiser");
}

static void sgd(const struct gnn_ops *o, float *p, const float *g, float *m, size_t n,
                const struct gnn_optim_step *s)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_sgd(p, g, m, n, s, c->stream);
    ops_launched(c, "the optimiser");
}

static const struct gnn_ops table = {
    .async = true,
    .chunk = UINT32_MAX,
    .gemm = gemm,
    .aggregate = aggregate,
    .transpose = transpose,
    .mean_factors = mean_factors,
    .gcn_degrees = gcn_degrees,
    .gcn_factors = gcn_factors,
    .bias_act = bias_act,
    .dropout_copy = dropout_copy,
    .relu_back = relu_back,
    .colsum = colsum,
    .fill = fill,
    .add = add,
    .unit_sums = unit_sums,
    .floats = floats,
    .classes = classes,
    .targets = targets,
    .softmax_ce = softmax_ce,
    .sigmoid_ce = sigmoid_ce,
    .clip = clip,
    .adam = adam,
    .sgd = sgd,
};

static int open_column(struct ops_dev *c, struct gnn_err *e)
{
    void *ring = NULL, *word = NULL, *seen = NULL;
    if (gnn_dev_use(c->d->number, e) || gnn_dev_stream_new(&c->stream, e))
        return e->code;
    int rc = gnn_dev_pin(&ring, RING, "operations", e);
    c->ring = ring;
    if (!rc)
        rc = gnn_dev_alloc(&word, NWORDS * sizeof(*c->word), "operations", e);
    c->word = word;
    if (!rc)
        rc = gnn_dev_pin(&seen, GNN_OPS_MARKS * NWORDS * sizeof(*c->seen), "operations", e);
    c->seen = seen;
    for (unsigned i = 0; !rc && i < RING_PARTS; i++)
        rc = gnn_dev_event_new(&c->part[i], e);
    for (unsigned i = 0; !rc && i < GNN_OPS_MARKS; i++)
        rc = gnn_dev_event_new(&c->mark[i], e);
    if (!rc)
        rc = gnn_dev_set(c->word, 0xff, NWORDS * sizeof(*c->word), c->stream, e);
    if (!rc)
        rc = ops_times_new(&c->times, e);
    return rc ? rc : gnn_dev_gemm_new(&c->gemm, e);
}

static const char *gpu_ops_note(const struct gnn_ops *o)
{
    return ops_dev(o)->note;
}

static void gpu_ops_free(struct gnn_ops *o)
{
    if (!o)
        return;
    struct ops_dev *c = o->dev;
    gnn_dev_stream_free(c->stream); /* waits for what is on it */
    gnn_dev_gemm_free(c->gemm);
    ops_times_free(c->times);
    for (unsigned i = 0; i < RING_PARTS; i++)
        gnn_dev_event_free(c->part[i]);
    for (unsigned i = 0; i < GNN_OPS_MARKS; i++)
        gnn_dev_event_free(c->mark[i]);
    o->release(o, &c->scratch);
    gnn_dev_free(c->word);
    gnn_dev_unpin(c->ring);
    gnn_dev_unpin(c->seen);
    gnn_free(c);
}

static struct gnn_ops *gpu_ops_new(struct gnn_gpu *g, enum gnn_precision precision,
                                   struct gnn_err *e)
{
    struct ops_dev *c = gnn_alloc_zero(1, sizeof(*c), "operations", e);
    if (!c)
        return NULL;
    c->ops = table;
    ops_fill_memory(&c->ops);
    ops_fill_norms(&c->ops);
    c->ops.sums_new = gpu_sums_new;
    c->ops.dev = c;
    c->d = &g->dev[0];
    c->precision = (int)precision;
    if (!open_column(c, e))
        return &c->ops;
    gpu_ops_free(&c->ops);
    return NULL;
}

const struct gnn_ops_gpu gnn_ops_gpu = {gpu_ops_new, gpu_ops_note, gpu_ops_times, gpu_ops_free};
