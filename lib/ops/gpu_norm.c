/* Norms in the device's column. */
#include "lib/ops/gpu_ops.h"

static void layer_norm(const struct gnn_ops *o, const float *x, uint32_t n, size_t d,
                       const float *gamma, const float *beta, float eps, float *xhat, float *rstd,
                       float *y)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_layer_norm(x, NULL, n, d, gamma, beta, eps, xhat, rstd, y, c->stream);
    ops_launched(c, "layer norm");
}

static void layer_norm_back(const struct gnn_ops *o, float *dy, const float *xhat,
                            const float *rstd, uint32_t n, size_t d, const float *gamma,
                            float *dgamma, float *dbeta, float *work)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_layer_norm_back(dy, xhat, rstd, NULL, n, d, gamma, dgamma, dbeta, work, c->stream);
    ops_launched(c, "layer norm");
}

static void moments(const struct gnn_ops *o, const float *x, const float *by, const uint8_t *count,
                    uint32_t n, size_t d, double *work, double *sum)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_moments(x, by, count, NULL, n, d, work, sum, c->stream);
    ops_launched(c, "moments");
}

static void batch_stats(const struct gnn_ops *o, const double *sum, double rows, size_t d,
                        float eps, float *stat)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_batch_stats(sum, rows, d, eps, stat, c->stream);
    ops_launched(c, "batch norm");
}

static void running_stats(const struct gnn_ops *o, const float *mean, const float *var, size_t d,
                          float eps, float *stat)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_running_stats(mean, var, d, eps, stat, c->stream);
    ops_launched(c, "batch norm");
}

static void batch_track(const struct gnn_ops *o, const float *stat, size_t d, float momentum,
                        float *mean, float *var, int64_t *batches)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_batch_track(stat, d, momentum, mean, var, batches, c->stream);
    ops_launched(c, "batch norm");
}

static void batch_norm(const struct gnn_ops *o, const float *x, uint32_t n, size_t d,
                       const float *stat, const float *gamma, const float *beta, float *xhat,
                       float *y)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_batch_norm(x, NULL, n, d, stat, gamma, beta, xhat, y, c->stream);
    ops_launched(c, "batch norm");
}

static void batch_norm_grads(const struct gnn_ops *o, const double *sum, size_t d, float *dgamma,
                             float *dbeta)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_batch_norm_grads(sum, d, dgamma, dbeta, c->stream);
    ops_launched(c, "batch norm");
}

static void batch_back_stats(const struct gnn_ops *o, const double *sum, double rows, size_t d,
                             float *stat)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_batch_back_stats(sum, rows, d, stat, c->stream);
    ops_launched(c, "batch norm");
}

static void batch_norm_back(const struct gnn_ops *o, float *dy, const float *xhat,
                            const uint8_t *count, uint32_t n, size_t d, const float *stat,
                            const float *gamma)
{
    struct ops_dev *c = ops_dev(o);
    if (ops_failed(c))
        return;
    gnn_cuda_batch_norm_back(dy, xhat, count, NULL, n, d, stat, gamma, c->stream);
    ops_launched(c, "batch norm");
}

void ops_fill_norms(struct gnn_ops *o)
{
    o->layer_norm = layer_norm;
    o->layer_norm_back = layer_norm_back;
    o->moments = moments;
    o->batch_stats = batch_stats;
    o->running_stats = running_stats;
    o->batch_track = batch_track;
    o->batch_norm = batch_norm;
    o->batch_norm_grads = batch_norm_grads;
    o->batch_back_stats = batch_back_stats;
    o->batch_norm_back = batch_norm_back;
}
