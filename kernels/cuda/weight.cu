/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of rows: a thread has a row, or an element of the gradient. */
#include "kernels/weight.h"

#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256;

__global__ void label_weights(const void *y, enum gnn_label_form form, size_t n, size_t c,
                              const float *weight, float *w)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS)
        w[i] = gnn_label_weight(y, form, i, c, weight);
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

void gnn_cuda_label_weights(const void *y, enum gnn_label_form form, size_t n, size_t c,
                            const float *weight, float *w, void *stream)
{
    if (n)
        GNN_LAUNCH(label_weights, gnn_grid(n, THREADS), THREADS, 0, stream, y, form, n, c, weight,
                   w);
}

void gnn_cuda_weigh_rows(const float *w, size_t n, size_t c, const double *total, double rows,
                         float *dz, void *stream)
{
    if (n && c)
        GNN_LAUNCH(weigh_rows, gnn_grid((uint64_t)n * c, THREADS), THREADS, 0, stream, w, n, c,
                   total, rows, dz);
}
