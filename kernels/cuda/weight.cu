/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of rows: a thread has a row, or an element of the gradient. */
#include "kernels/weight.h"

#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256;

__global__ void class_weights(const int32_t *y, size_t n, size_t classes, const float *weight,
                              float *w)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS)
        w[i] = y[i] >= 0 && (size_t)y[i] < classes ? weight[y[i]] : 0;
}

__global__ void target_weights(const float *y, size_t n, const float *weight, float *w)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS)
        w[i] = y[i] != y[i] ? 0 : weight[y[i] > 0.5f];
}

__global__ void column_weights(const float *y, size_t n, size_t c, float *w)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS) {
        uint32_t known = 0;
        for (size_t j = 0; j < c; j++)
            known += y[i * c + j] == y[i * c + j];
        w[i] = __fdiv_rn((float)known, (float)c);
    }
}

/* Element i of the gradient, c of which are a row's. */
__global__ void weigh_rows(const float *w, size_t n, size_t c, const double *total, double rows,
                           float *dz)
{
    const double share = *total > 0 ? rows / *total : 0;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n * c;
         i += (size_t)gridDim.x * THREADS)
        dz[i] *= (float)((double)w[i / c] * share);
}

} // namespace

void gnn_cuda_class_weights(const int32_t *y, size_t n, size_t classes, const float *weight,
                            float *w, void *stream)
{
    if (n)
        GNN_LAUNCH(class_weights, gnn_grid(n, THREADS), THREADS, 0, stream, y, n, classes, weight,
                   w);
}

void gnn_cuda_target_weights(const float *y, size_t n, const float *weight, float *w, void *stream)
{
    if (n)
        GNN_LAUNCH(target_weights, gnn_grid(n, THREADS), THREADS, 0, stream, y, n, weight, w);
}

void gnn_cuda_column_weights(const float *y, size_t n, size_t c, float *w, void *stream)
{
    if (n)
        GNN_LAUNCH(column_weights, gnn_grid(n, THREADS), THREADS, 0, stream, y, n, c, w);
}

void gnn_cuda_weigh_rows(const float *w, size_t n, size_t c, const double *total, double rows,
                         float *dz, void *stream)
{
    if (n && c)
        GNN_LAUNCH(weigh_rows, gnn_grid((uint64_t)n * c, THREADS), THREADS, 0, stream, w, n, c,
                   total, rows, dz);
}
