/* The host's column of lib/ops/ops.h: the kernels, done at once. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "kernels/factors.h"
#include "kernels/gemm.h"
#include "kernels/label.h"
#include "kernels/loss.h"
#include "kernels/rows.h"
#include "lib/ops/ops.h"
#include "lib/data/tensors.h"

static int fit(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n, size_t size,
               const char *what, struct gnn_err *e)
{
    (void)o;
    return gnn_buf_fit(b, n, size, what, e);
}

static void release(const struct gnn_ops *o, struct gnn_buf *b)
{
    (void)o;
    gnn_buf_release(b);
}

static void zero(const struct gnn_ops *o, void *to, uint64_t bytes)
{
    (void)o;
    if (bytes)
        memset(to, 0, bytes);
}

static void copy(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes)
{
    (void)o;
    if (bytes)
        memcpy(to, from, bytes);
}

static void mark(const struct gnn_ops *o, unsigned k)
{
    (void)o;
    (void)k;
}

static int wait(const struct gnn_ops *o, unsigned k, struct gnn_err *e)
{
    (void)o;
    (void)k;
    return e->code;
}

static int enter(const struct gnn_ops *o, const struct gnn_batch *b, struct gnn_err *e)
{
    (void)o;
    return b->place ? gnn_fail(e, GNN_E_DEVICE, "a batch on device %u is to be used on the host",
                               b->place->device)
                    : 0;
}

static void leave(const struct gnn_ops *o, const struct gnn_batch *b)
{
    (void)o;
    (void)b;
}

static pthread_once_t once_limit = PTHREAD_ONCE_INIT;
static bool limited;

static void find_limit(void)
{
    limited = gnn_mem_limited();
}

/* oneDNN generates code while it runs, 6 MB at the first product and less for new shapes later, and
 * does not look whether it got the memory for that. So where memory is limited, somebody has to
 * look before. */
static int check_room(struct gnn_err *e)
{
    static atomic_bool begun;
    pthread_once(&once_limit, find_limit);
    const unsigned mb = atomic_load(&begun) ? 2 : 8;
    if (limited && !gnn_mem_room((uint64_t)mb << 20))
        return gnn_fail(
            e, GNN_E_NOMEM,
            "out of memory: a matrix product needs another %u MB (see ulimit -v and -d)", mb);
    atomic_store(&begun, true);
    return 0;
}

static int gemm(const struct gnn_ops *o, bool ta, bool tb, size_t m, size_t n, size_t k,
                const float *a, const float *b, float beta, float *c, const struct gnn_epilogue *ep,
                struct gnn_err *e)
{
    (void)o;
    if (check_room(e))
        return e->code;
    if (gnn_gemm(ta, tb, m, n, k, 1, a, ta ? m : k, b, tb ? k : n, beta, c, n))
        return gnn_fail(e, GNN_E_NOMEM, "matrix product of %zu x %zu x %zu failed", m, n, k);
    if (ep)
        gnn_bias_act(c, m, n, ep->bias, ep->relu, NULL);
    return 0;
}

/* Rows [at, end) of a layer, which are in no block. */
static void lone_rows(const struct gnn_csr *first, uint32_t at, uint32_t end, const float *x,
                      size_t d, float *y, bool acc)
{
    const float *diag = first->diag;
    for (; at < end; at++, y += d) {
        const bool self = diag && at < first->ndiag;
        for (size_t j = 0; j < d; j++)
            y[j] = (acc ? y[j] : 0) + (self ? diag[at] * x[at * d + j] : 0);
    }
}

static void aggregate(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                      uint32_t from, uint32_t to, const float *x, uint32_t xrows, size_t d,
                      float *y, bool acc)
{
    uint32_t at = from;
    (void)o;
    (void)xrows;
    for (uint32_t s = 0; s < nblocks; s++) {
        struct gnn_csr k = block[s];
        uint32_t b = k.first, e = k.first + k.n;
        b = b < from ? from : b > to ? to : b;
        e = e < from ? from : e > to ? to : e;
        if (b >= e)
            continue;
        lone_rows(block, at, b, x, d, y + (size_t)(at - from) * d, acc);
        k.indptr += b - k.first;
        k.n = e - b;
        k.first = b;
        gnn_spmm(&k, x, d, d, y - (size_t)from * d, d, acc);
        at = e;
    }
    lone_rows(block, at, to, x, d, y + (size_t)(at - from) * d, acc);
}

static int transpose(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                     uint32_t ncols, uint32_t edges, uint32_t *tptr, uint32_t *tidx,
                     struct gnn_err *e)
{
    (void)o;
    (void)edges;
    gnn_csr_transpose(block, nblocks, ncols, tptr, tidx);
    return e->code;
}

static void mean_factors(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                         uint32_t nrows, float *row)
{
    (void)o;
    gnn_mean_factors(block, nblocks, nrows, row);
}

static void gcn_degrees(const struct gnn_ops *o, const uint32_t *degree, uint64_t n, float *isqrt)
{
    (void)o;
    gnn_gcn_degrees(degree, n, isqrt);
}

static void gcn_factors(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                        uint32_t nrows, const float *isqrt, float *row, float *diag)
{
    (void)o;
    gnn_gcn_factors(block, nblocks, nrows, isqrt, row, diag);
}

static void bias_act(const struct gnn_ops *o, float *x, uint32_t n, size_t d, const float *bias,
                     bool relu, const struct gnn_dropout *drop)
{
    (void)o;
    gnn_bias_act(x, n, d, bias, relu, drop);
}

static void dropout_copy(const struct gnn_ops *o, const float *x, uint32_t n, size_t d,
                         const struct gnn_dropout *drop, float *y)
{
    (void)o;
    gnn_dropout_copy(x, n, d, drop, y);
}

static void relu_back(const struct gnn_ops *o, float *dy, const float *y, uint32_t n, size_t d,
                      float scale)
{
    (void)o;
    gnn_relu_back(dy, y, n * d, scale);
}

static void colsum(const struct gnn_ops *o, const float *x, uint32_t n, size_t d, float *work,
                   float *out, bool acc)
{
    (void)o;
    gnn_colsum(x, n, d, work, out, acc);
}

static void layer_norm(const struct gnn_ops *o, const float *x, uint32_t n, size_t d,
                       const float *gamma, const float *beta, float eps, float *xhat, float *rstd,
                       float *y)
{
    (void)o;
    gnn_layer_norm(x, n, d, gamma, beta, eps, xhat, rstd, y);
}

static void layer_norm_back(const struct gnn_ops *o, float *dy, const float *xhat,
                            const float *rstd, uint32_t n, size_t d, const float *gamma,
                            float *dgamma, float *dbeta, float *work)
{
    (void)o;
    gnn_layer_norm_back(dy, xhat, rstd, n, d, gamma, dgamma, dbeta, work);
}

static void moments(const struct gnn_ops *o, const float *x, const float *by, const uint8_t *count,
                    uint32_t n, size_t d, double *work, double *sum)
{
    (void)o;
    gnn_moments(x, by, count, n, d, work, sum);
}

static void batch_stats(const struct gnn_ops *o, const double *sum, double rows, size_t d,
                        float eps, float *stat)
{
    (void)o;
    gnn_batch_stats(sum, rows, d, eps, stat);
}

static void running_stats(const struct gnn_ops *o, const float *mean, const float *var, size_t d,
                          float eps, float *stat)
{
    (void)o;
    gnn_running_stats(mean, var, d, eps, stat);
}

static void batch_track(const struct gnn_ops *o, const float *stat, size_t d, float momentum,
                        float *mean, float *var, int64_t *batches)
{
    (void)o;
    gnn_batch_track(stat, d, momentum, mean, var, batches);
}

static void batch_norm(const struct gnn_ops *o, const float *x, uint32_t n, size_t d,
                       const float *stat, const float *gamma, const float *beta, float *xhat,
                       float *y)
{
    (void)o;
    gnn_batch_norm(x, n, d, stat, gamma, beta, xhat, y);
}

static void batch_norm_grads(const struct gnn_ops *o, const double *sum, size_t d, float *dgamma,
                             float *dbeta)
{
    (void)o;
    gnn_batch_norm_grads(sum, d, dgamma, dbeta);
}

static void batch_back_stats(const struct gnn_ops *o, const double *sum, double rows, size_t d,
                             float *stat)
{
    (void)o;
    gnn_batch_back_stats(sum, rows, d, stat);
}

static void batch_norm_back(const struct gnn_ops *o, float *dy, const float *xhat,
                            const uint8_t *count, uint32_t n, size_t d, const float *stat,
                            const float *gamma)
{
    (void)o;
    gnn_batch_norm_back(dy, xhat, count, n, d, stat, gamma);
}

static void fill(const struct gnn_ops *o, float *x, uint64_t n, float v)
{
    (void)o;
    gnn_fill(x, n, v);
}

static void add(const struct gnn_ops *o, const float *x, uint64_t n, float *y)
{
    (void)o;
    gnn_add(x, n, y);
}

static void unit_sums(const struct gnn_ops *o, float *x, uint32_t n, size_t d)
{
    (void)o;
    gnn_rows_to_unit_sum(x, n, d);
}

static void floats(const struct gnn_ops *o, const struct gnn_tensor *x, uint64_t n, float *out)
{
    (void)o;
    (void)!gnn_tensor_floats(x, n, out);
}

static void classes(const struct gnn_ops *o, const struct gnn_tensor *y, uint64_t n,
                    uint32_t nclasses, int32_t *out)
{
    (void)o;
    gnn_label_classes(y->data, (enum gnn_label_type)y->dtype, n, nclasses, out);
}

static void targets(const struct gnn_ops *o, const struct gnn_tensor *y, uint64_t n, float *out)
{
    (void)o;
    gnn_label_targets(y->data, (enum gnn_label_type)y->dtype, n, out);
}

static void softmax_ce(const struct gnn_ops *o, const float *z, uint32_t n, size_t c,
                       const int32_t *y, float scale, double *row_loss, float *dz)
{
    (void)o;
    gnn_softmax_ce(z, n, c, y, scale, row_loss, dz);
}

static void sigmoid_ce(const struct gnn_ops *o, const float *z, uint32_t n, size_t c,
                       const float *y, float scale, double *row_loss, float *dz)
{
    (void)o;
    gnn_sigmoid_ce(z, n, c, y, scale, row_loss, dz);
}

static void clip(const struct gnn_ops *o, float *g, size_t n, double most)
{
    const double norm = sqrt(gnn_square_sum(g, n));
    (void)o;
    if (norm > most)
        for (size_t i = 0; i < n; i++)
            g[i] *= (float)(most / norm);
}

static void adam(const struct gnn_ops *o, float *p, const float *g, float *m, float *v, size_t n,
                 bool decoupled, const struct gnn_optim_step *s)
{
    (void)o;
    gnn_adam(p, g, m, v, n, decoupled, s);
}

static void sgd(const struct gnn_ops *o, float *p, const float *g, float *m, size_t n,
                const struct gnn_optim_step *s)
{
    (void)o;
    gnn_sgd(p, g, m, n, s);
}

const struct gnn_ops gnn_ops_cpu = {
    .chunk = 2048,
    .fit = fit,
    .release = release,
    .fit_host = fit,
    .release_host = release,
    .zero = zero,
    .copy = copy,
    .put = copy,
    .fetch = copy,
    .mark = mark,
    .wait = wait,
    .enter = enter,
    .leave = leave,
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
    .layer_norm = layer_norm,
    .layer_norm_back = layer_norm_back,
    .moments = moments,
    .batch_stats = batch_stats,
    .running_stats = running_stats,
    .batch_track = batch_track,
    .batch_norm = batch_norm,
    .batch_norm_grads = batch_norm_grads,
    .batch_back_stats = batch_back_stats,
    .batch_norm_back = batch_norm_back,
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
