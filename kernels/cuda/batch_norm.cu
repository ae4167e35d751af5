/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm. Moments have a thread for each column of each of GNN_MOMENT_BLOCKS ranges of rows, as
 * the CPU has, with some rows in flight; the rest goes element by element, a sub-warp to a row. */
#include "kernels/batch_norm.h"

#include "kernels/batch_stat.h"
#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256, COLUMNS = 32, PARTS = 4; /* a block sums 32 columns of 4 ranges */
constexpr unsigned FLIGHT =
    32; /* rows in flight, for which a thread may have many registers: there are few threads */

/* n more rows of a column, in order. Rows that do not count are read all the same, or theirs would
 * have to wait for count; they and what is beyond n add +0, which changes no sum that began at +0.
 */
template <bool some>
__device__ void add_rows(const float *x, const float *by, const uint8_t *count, unsigned n,
                         size_t d, double *s, double *q)
{
    float v[FLIGHT], w[FLIGHT];
    bool in[FLIGHT];
    GNN_UNROLL
    for (unsigned k = 0; k < FLIGHT; k++) {
        in[k] = k < n && (!some || count[k]);
        v[k] = k < n ? x[k * d] : 0;
        w[k] = k < n ? by[k * d] : 0;
    }
    GNN_UNROLL
    for (unsigned k = 0; k < FLIGHT; k++) {
        const double a = in[k] ? v[k] : 0, b = in[k] ? w[k] : 0;
        *s += a;
        *q += a * b; /* exact, so contraction changes nothing */
    }
}

template <bool some>
__global__ void __launch_bounds__(COLUMNS *PARTS, 2)
    moment_ranges(const float *x, const float *by, const uint8_t *count, const uint32_t *n,
                  uint32_t cap, size_t d, double *work)
{
    constexpr unsigned GROUPS = GNN_MOMENT_BLOCKS / PARTS;
    const uint64_t rows = gnn_device_count(n, cap),
                   per = (rows + GNN_MOMENT_BLOCKS - 1) / GNN_MOMENT_BLOCKS;
    const uint64_t tiles = (d + COLUMNS - 1) / COLUMNS * GROUPS;
    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const size_t j = t / GROUPS * COLUMNS + threadIdx.x % COLUMNS;
        const unsigned b = (unsigned)(t % GROUPS) * PARTS + threadIdx.x / COLUMNS;
        const uint64_t from = b * per < rows ? b * per : rows,
                       to = from + per < rows ? from + per : rows;
        if (j >= d)
            continue;
        double s = 0, q = 0;
        uint64_t i = from; /* whole chunks, and the rest */
        for (; i + FLIGHT <= to; i += FLIGHT)
            add_rows<some>(x + i * d + j, by + i * d + j, some ? count + i : nullptr, FLIGHT, d, &s,
                           &q);
        add_rows<some>(x + i * d + j, by + i * d + j, some ? count + i : nullptr,
                       (unsigned)(to - i), d, &s, &q);
        work[(size_t)b * 2 * d + j] = s;
        work[((size_t)b * 2 + 1) * d + j] = q;
    }
}

__global__ void fold(const double *work, size_t d, double *sum)
{
    for (size_t j = (size_t)blockIdx.x * THREADS + threadIdx.x; j < 2 * d;
         j += (size_t)gridDim.x * THREADS) {
        double s = 0;
        for (unsigned b = 0; b < GNN_MOMENT_BLOCKS; b++)
            s += work[(size_t)b * 2 * d + j];
        sum[j] += s;
    }
}

__global__ void batch_stats(const double *sum, double rows, size_t d, float eps, float *stat)
{
    for (size_t j = (size_t)blockIdx.x * THREADS + threadIdx.x; j < d;
         j += (size_t)gridDim.x * THREADS)
        gnn_batch_stat(sum, rows, d, j, eps, stat);
}

__global__ void running_stats(const float *mean, const float *var, size_t d, float eps, float *stat)
{
    for (size_t j = (size_t)blockIdx.x * THREADS + threadIdx.x; j < d;
         j += (size_t)gridDim.x * THREADS)
        gnn_running_stat(mean, var, d, j, eps, stat);
}

__global__ void track(const float *stat, size_t d, float momentum, float *mean, float *var,
                      int64_t *batches)
{
    for (size_t j = (size_t)blockIdx.x * THREADS + threadIdx.x; j < d;
         j += (size_t)gridDim.x * THREADS)
        gnn_batch_track_one(stat, d, j, momentum, mean, var);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        ++*batches;
}

__global__ void grads(const double *sum, size_t d, float *dgamma, float *dbeta)
{
    for (size_t j = (size_t)blockIdx.x * THREADS + threadIdx.x; j < d;
         j += (size_t)gridDim.x * THREADS) {
        dbeta[j] = __fadd_rn(dbeta[j], (float)sum[j]);
        dgamma[j] = __fadd_rn(dgamma[j], (float)sum[d + j]);
    }
}

__global__ void back_stats(const double *sum, double rows, size_t d, float *stat)
{
    for (size_t j = (size_t)blockIdx.x * THREADS + threadIdx.x; j < d;
         j += (size_t)gridDim.x * THREADS)
        gnn_batch_back_stat(sum, rows, d, j, stat);
}

template <unsigned V>
__global__ void norm(const float *x, const uint32_t *n, uint32_t cap, size_t d, const float *stat,
                     const float *gamma, const float *beta, float *xhat, float *y, unsigned lanes)
{
    const uint32_t rows = gnn_device_count(n, cap);
    for (GnnRows r = gnn_rows(lanes); r.row < rows; r.row += r.stride)
        for (size_t u = r.lane; u < d / V; u += lanes) {
            GnnUnit<V> v = reinterpret_cast<const GnnUnit<V> *>(x + r.row * d)[u];
            GNN_UNROLL
            for (unsigned i = 0; i < V; i++)
                v.v[i] = __fmul_rn(__fadd_rn(v.v[i], -stat[u * V + i]), stat[d + u * V + i]);
            if (xhat)
                reinterpret_cast<GnnUnit<V> *>(xhat + r.row * d)[u] = v;
            GNN_UNROLL
            for (unsigned i = 0; i < V; i++)
                v.v[i] = __fadd_rn(__fmul_rn(v.v[i], gamma[u * V + i]), beta[u * V + i]);
            reinterpret_cast<GnnUnit<V> *>(y + r.row * d)[u] = v;
        }
}

template <unsigned V>
__global__ void norm_back(float *dy, const float *xhat, const uint8_t *count, const uint32_t *n,
                          uint32_t cap, size_t d, const float *stat, const float *gamma,
                          unsigned lanes)
{
    const uint32_t rows = gnn_device_count(n, cap);
    const float *rstd = stat + d, *a = stat + 3 * d, *b = stat + 4 * d;
    for (GnnRows r = gnn_rows(lanes); r.row < rows; r.row += r.stride) {
        const bool counts = !count || count[r.row];
        for (size_t u = r.lane; u < d / V; u += lanes) {
            GnnUnit<V> g = reinterpret_cast<const GnnUnit<V> *>(dy + r.row * d)[u];
            const GnnUnit<V> h = reinterpret_cast<const GnnUnit<V> *>(xhat + r.row * d)[u];
            GNN_UNROLL
            for (unsigned i = 0; i < V; i++) {
                const size_t j = u * V + i;
                const float t = counts ? __fadd_rn(a[j], __fmul_rn(h.v[i], b[j])) : 0;
                g.v[i] = __fmul_rn(__fadd_rn(g.v[i], -t), __fmul_rn(gamma[j], rstd[j]));
            }
            reinterpret_cast<GnnUnit<V> *>(dy + r.row * d)[u] = g;
        }
    }
}

} // namespace

void gnn_cuda_moments(const float *x, const float *by, const uint8_t *count, const uint32_t *n,
                      uint32_t cap, size_t d, double *work, double *sum, void *stream)
{
    if (!cap || !d)
        return;
    const unsigned grid = gnn_grid((d + COLUMNS - 1) / COLUMNS * (GNN_MOMENT_BLOCKS / PARTS), 1);
    if (count)
        GNN_LAUNCH(moment_ranges<true>, grid, COLUMNS * PARTS, 0, stream, x, by, count, n, cap, d,
                   work);
    else
        GNN_LAUNCH(moment_ranges<false>, grid, COLUMNS * PARTS, 0, stream, x, by, count, n, cap, d,
                   work);
    GNN_LAUNCH(fold, gnn_grid(2 * d, THREADS), THREADS, 0, stream, work, d, sum);
}

void gnn_cuda_batch_stats(const double *sum, double rows, size_t d, float eps, float *stat,
                          void *stream)
{
    GNN_LAUNCH(batch_stats, gnn_grid(d, THREADS), THREADS, 0, stream, sum, rows, d, eps, stat);
}

void gnn_cuda_running_stats(const float *mean, const float *var, size_t d, float eps, float *stat,
                            void *stream)
{
    GNN_LAUNCH(running_stats, gnn_grid(d, THREADS), THREADS, 0, stream, mean, var, d, eps, stat);
}

void gnn_cuda_batch_track(const float *stat, size_t d, float momentum, float *mean, float *var,
                          int64_t *batches, void *stream)
{
    GNN_LAUNCH(track, gnn_grid(d, THREADS), THREADS, 0, stream, stat, d, momentum, mean, var,
               batches);
}

void gnn_cuda_batch_norm_grads(const double *sum, size_t d, float *dgamma, float *dbeta,
                               void *stream)
{
    GNN_LAUNCH(grads, gnn_grid(d, THREADS), THREADS, 0, stream, sum, d, dgamma, dbeta);
}

void gnn_cuda_batch_back_stats(const double *sum, double rows, size_t d, float *stat, void *stream)
{
    GNN_LAUNCH(back_stats, gnn_grid(d, THREADS), THREADS, 0, stream, sum, rows, d, stat);
}

void gnn_cuda_batch_norm(const float *x, const uint32_t *n, uint32_t cap, size_t d,
                         const float *stat, const float *gamma, const float *beta, float *xhat,
                         float *y, void *stream)
{
    if (!cap || !d)
        return;
    if (d % 4 == 0 && gnn_vector(x, y) && gnn_vector(xhat, nullptr)) {
        const unsigned lanes = gnn_lanes(d / 4);
        GNN_LAUNCH(norm<4>, gnn_grid(cap, THREADS / lanes), THREADS, 0, stream, x, n, cap, d, stat,
                   gamma, beta, xhat, y, lanes);
    } else {
        const unsigned lanes = gnn_lanes(d);
        GNN_LAUNCH(norm<1>, gnn_grid(cap, THREADS / lanes), THREADS, 0, stream, x, n, cap, d, stat,
                   gamma, beta, xhat, y, lanes);
    }
}

void gnn_cuda_batch_norm_back(float *dy, const float *xhat, const uint8_t *count, const uint32_t *n,
                              uint32_t cap, size_t d, const float *stat, const float *gamma,
                              void *stream)
{
    if (!cap || !d)
        return;
    if (d % 4 == 0 && gnn_vector(dy, xhat)) {
        const unsigned lanes = gnn_lanes(d / 4);
        GNN_LAUNCH(norm_back<4>, gnn_grid(cap, THREADS / lanes), THREADS, 0, stream, dy, xhat,
                   count, n, cap, d, stat, gamma, lanes);
    } else {
        const unsigned lanes = gnn_lanes(d);
        GNN_LAUNCH(norm_back<1>, gnn_grid(cap, THREADS / lanes), THREADS, 0, stream, dy, xhat,
                   count, n, cap, d, stat, gamma, lanes);
    }
}
