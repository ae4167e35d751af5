/* SPDX-License-Identifier: Apache-2.0 */
/* Plain passes, 16 bytes a thread where alignment allows. A row's sum is made in order, as on the
 * CPU: a warp reads 32 columns at once, and each of its lanes adds them up one after the other. */
#include "kernels/rows.h"

#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256;

template <unsigned V> __global__ void fill(float *x, size_t n, float v)
{
    const size_t first = (size_t)blockIdx.x * THREADS + threadIdx.x,
                 stride = (size_t)gridDim.x * THREADS;
    GnnUnit<V> all;
    GNN_UNROLL
    for (unsigned i = 0; i < V; i++)
        all.v[i] = v;
    for (size_t u = first; u < n / V; u += stride)
        reinterpret_cast<GnnUnit<V> *>(x)[u] = all;
    for (size_t i = n / V * V + first; i < n; i += stride)
        x[i] = v;
}

/* y += x, or y += (1 + *eps) x if eps is not NULL. */
template <unsigned V> __global__ void add(const float *x, size_t n, const float *eps, float *y)
{
    const float factor = eps ? __fadd_rn(1.0f, *eps) : 1.0f;
    const size_t first = (size_t)blockIdx.x * THREADS + threadIdx.x,
                 stride = (size_t)gridDim.x * THREADS;
    for (size_t u = first; u < n / V; u += stride) {
        const GnnUnit<V> a = reinterpret_cast<const GnnUnit<V> *>(x)[u];
        GnnUnit<V> b = reinterpret_cast<GnnUnit<V> *>(y)[u];
        GNN_UNROLL
        for (unsigned i = 0; i < V; i++)
            b.v[i] = __fadd_rn(b.v[i], __fmul_rn(factor, a.v[i]));
        reinterpret_cast<GnnUnit<V> *>(y)[u] = b;
    }
    for (size_t i = n / V * V + first; i < n; i += stride)
        y[i] = __fadd_rn(y[i], __fmul_rn(factor, x[i]));
}

template <unsigned V> __global__ void multiply(const float *a, const float *b, size_t n, float *y)
{
    const size_t first = (size_t)blockIdx.x * THREADS + threadIdx.x,
                 stride = (size_t)gridDim.x * THREADS;
    for (size_t u = first; u < n / V; u += stride) {
        GnnUnit<V> x = reinterpret_cast<const GnnUnit<V> *>(a)[u];
        const GnnUnit<V> z = reinterpret_cast<const GnnUnit<V> *>(b)[u];
        GNN_UNROLL
        for (unsigned i = 0; i < V; i++)
            x.v[i] = __fmul_rn(x.v[i], z.v[i]);
        reinterpret_cast<GnnUnit<V> *>(y)[u] = x;
    }
    for (size_t i = n / V * V + first; i < n; i += stride)
        y[i] = __fmul_rn(a[i], b[i]);
}

__global__ void __launch_bounds__(THREADS)
    unit_sums(float *x, const uint32_t *n, uint32_t cap, size_t d)
{
    const uint32_t rows = gnn_device_count(n, cap);
    for (GnnRows r = gnn_rows(32); r.row < rows; r.row += r.stride) {
        float *v = x + r.row * d, s = 0;
        for (size_t j = 0; j < d; j += 32) {
            const float mine = j + r.lane < d ? v[j + r.lane] : 0;
            const unsigned some = d - j < 32 ? (unsigned)(d - j) : 32;
            for (unsigned k = 0; k < some; k++)
                s = __fadd_rn(s, __shfl_sync(0xffffffffu, mine, k));
        }
        const float f = __fdiv_rn(1.0f, s > 1 ? s : 1);
        for (size_t j = r.lane; j < d; j += 32)
            v[j] = __fmul_rn(v[j], f);
    }
}

/* <a, b> of two rows, in each lane of a warp. */
__device__ float warp_product(const float *a, const float *b, size_t d, unsigned lane)
{
    float s = 0;
    for (size_t j = lane; j < d; j += 32)
        s = __fadd_rn(s, __fmul_rn(a[j], b[j]));
    return gnn_warp_sum(s);
}

__global__ void __launch_bounds__(THREADS)
    unit_rows(const float *x, const uint32_t *n, uint32_t cap, size_t d, float *y, float *rnorm)
{
    const uint32_t rows = gnn_device_count(n, cap);
    for (GnnRows r = gnn_rows(32); r.row < rows; r.row += r.stride) {
        const float *v = x + r.row * d;
        const float k = gnn_rnorm_of(__fsqrt_rn(warp_product(v, v, d, r.lane)));
        if (rnorm && r.lane == 0)
            rnorm[r.row] = k;
        for (size_t j = r.lane; j < d; j += 32)
            y[r.row * d + j] = __fmul_rn(v[j], k);
    }
}

__global__ void __launch_bounds__(THREADS)
    unit_rows_back(float *dy, const float *y, const float *rnorm, const uint32_t *n, uint32_t cap,
                   size_t d)
{
    const uint32_t rows = gnn_device_count(n, cap);
    for (GnnRows r = gnn_rows(32); r.row < rows; r.row += r.stride) {
        float *g = dy + r.row * d;
        const float *v = y + r.row * d, k = rnorm[r.row], product = warp_product(v, g, d, r.lane),
                    s = k == GNN_RNORM_MOST ? 0 : product;
        for (size_t j = r.lane; j < d; j += 32)
            g[j] = __fmul_rn(__fadd_rn(g[j], -__fmul_rn(v[j], s)), k);
    }
}

__global__ void __launch_bounds__(THREADS)
    put_columns(const float *x, size_t ldx, size_t n, size_t w, float *y, size_t ldy, bool acc)
{
    const uint32_t rows = (uint32_t)n;
    for (GnnRows r = gnn_rows(32); r.row < rows; r.row += r.stride)
        for (size_t j = r.lane; j < w; j += 32) {
            const float v = x[r.row * ldx + j];
            float *to = &y[r.row * ldy + j];
            *to = acc ? __fadd_rn(*to, v) : v;
        }
}

/* Between rows by their numbers, in y or in x, and rows one after the other. */
template <bool ADD>
__global__ void __launch_bounds__(THREADS)
    move_rows(const float *x, const uint32_t *row, size_t n, size_t d, float *y)
{
    const uint32_t rows = (uint32_t)n;
    for (GnnRows r = gnn_rows(32); r.row < rows; r.row += r.stride) {
        const size_t there = row[r.row] * d, here = r.row * d;
        for (size_t j = r.lane; j < d; j += 32)
            if (ADD)
                y[there + j] = __fadd_rn(y[there + j], x[here + j]);
            else
                y[here + j] = x[there + j];
    }
}

__global__ void raise_to(const float *x, size_t n, float *y)
{
    const size_t stride = (size_t)gridDim.x * THREADS;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += stride)
        y[i] = x[i] > y[i] || x[i] != x[i] ? x[i] : y[i];
}

__global__ void raise_back(const float *dy, const float *y, const float *x, size_t n, float *taken,
                           float *dx)
{
    const size_t stride = (size_t)gridDim.x * THREADS;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += stride)
        if (taken[i] == 0 && x[i] == y[i]) {
            dx[i] = __fadd_rn(dx[i], dy[i]);
            taken[i] = 1;
        }
}

} // namespace

void gnn_cuda_put_columns(const float *x, size_t ldx, size_t n, size_t w, float *y, size_t ldy,
                          bool acc, void *stream)
{
    if (n && w)
        GNN_LAUNCH(put_columns, gnn_grid(n, THREADS / 32), THREADS, 0, stream, x, ldx, n, w, y, ldy,
                   acc);
}

void gnn_cuda_take_rows(const float *x, const uint32_t *row, size_t n, size_t d, float *y,
                        void *stream)
{
    if (n && d)
        GNN_LAUNCH(move_rows<false>, gnn_grid(n, THREADS / 32), THREADS, 0, stream, x, row, n, d,
                   y);
}

void gnn_cuda_add_rows(const float *x, const uint32_t *row, size_t n, size_t d, float *y,
                       void *stream)
{
    if (n && d)
        GNN_LAUNCH(move_rows<true>, gnn_grid(n, THREADS / 32), THREADS, 0, stream, x, row, n, d, y);
}

void gnn_cuda_raise(const float *x, size_t n, float *y, void *stream)
{
    if (n)
        GNN_LAUNCH(raise_to, gnn_grid(n, THREADS), THREADS, 0, stream, x, n, y);
}

void gnn_cuda_raise_back(const float *dy, const float *y, const float *x, size_t n, float *taken,
                         float *dx, void *stream)
{
    if (n)
        GNN_LAUNCH(raise_back, gnn_grid(n, THREADS), THREADS, 0, stream, dy, y, x, n, taken, dx);
}

void gnn_cuda_fill(float *x, size_t n, float v, void *stream)
{
    if (!n)
        return;
    if (gnn_vector(x, nullptr))
        GNN_LAUNCH(fill<4>, gnn_grid(n, 4 * THREADS), THREADS, 0, stream, x, n, v);
    else
        GNN_LAUNCH(fill<1>, gnn_grid(n, THREADS), THREADS, 0, stream, x, n, v);
}

void gnn_cuda_add(const float *x, size_t n, float *y, void *stream)
{
    gnn_cuda_add_scaled(x, n, nullptr, y, stream);
}

void gnn_cuda_multiply(const float *a, const float *b, size_t n, float *y, void *stream)
{
    if (!n)
        return;
    if (gnn_vector(a, b) && gnn_vector(b, y))
        GNN_LAUNCH(multiply<4>, gnn_grid(n, 4 * THREADS), THREADS, 0, stream, a, b, n, y);
    else
        GNN_LAUNCH(multiply<1>, gnn_grid(n, THREADS), THREADS, 0, stream, a, b, n, y);
}

void gnn_cuda_add_scaled(const float *x, size_t n, const float *eps, float *y, void *stream)
{
    if (!n)
        return;
    if (gnn_vector(x, y))
        GNN_LAUNCH(add<4>, gnn_grid(n, 4 * THREADS), THREADS, 0, stream, x, n, eps, y);
    else
        GNN_LAUNCH(add<1>, gnn_grid(n, THREADS), THREADS, 0, stream, x, n, eps, y);
}

void gnn_cuda_rows_to_unit_sum(float *x, const uint32_t *n, uint32_t cap, size_t d, void *stream)
{
    if (cap && d)
        GNN_LAUNCH(unit_sums, gnn_grid(cap, THREADS / 32), THREADS, 0, stream, x, n, cap, d);
}

void gnn_cuda_unit_rows(const float *x, const uint32_t *n, uint32_t cap, size_t d, float *y,
                        float *rnorm, void *stream)
{
    if (cap)
        GNN_LAUNCH(unit_rows, gnn_grid(cap, THREADS / 32), THREADS, 0, stream, x, n, cap, d, y,
                   rnorm);
}

void gnn_cuda_unit_rows_back(float *dy, const float *y, const float *rnorm, const uint32_t *n,
                             uint32_t cap, size_t d, void *stream)
{
    if (cap)
        GNN_LAUNCH(unit_rows_back, gnn_grid(cap, THREADS / 32), THREADS, 0, stream, dy, y, rnorm, n,
                   cap, d);
}
