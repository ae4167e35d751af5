/* SPDX-License-Identifier: Apache-2.0 */
/* Gates: a thread has a number. */
#include "kernels/gate.h"

#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256;

__device__ size_t first_number()
{
    return (size_t)blockIdx.x * THREADS + threadIdx.x;
}

__device__ size_t next_number()
{
    return (size_t)gridDim.x * THREADS;
}

__global__ void gelu(const float *x, size_t n, float *y)
{
    for (size_t i = first_number(); i < n; i += next_number())
        y[i] = gnn_gelu_of(x[i]);
}

__global__ void gelu_back(const float *x, const float *dy, size_t n, float *dx)
{
    for (size_t i = first_number(); i < n; i += next_number())
        dx[i] = __fadd_rn(dx[i], __fmul_rn(gnn_gelu_slope(x[i]), dy[i]));
}

__global__ void gate(const float *x, size_t n, const float *skip, bool rest, float *y, bool acc)
{
    const float share = gnn_share_of(skip, rest);
    for (size_t i = first_number(); i < n; i += next_number()) {
        const float v = __fmul_rn(share, x[i]);
        y[i] = acc ? __fadd_rn(y[i], v) : v;
    }
}

__global__ void gate_back(const float *dot, const float *skip, bool rest, float *dskip)
{
    if (first_number() != 0)
        return;
    const float slope = __fmul_rn(gnn_share_of(skip, false), gnn_share_of(skip, true)),
                g = __fmul_rn(slope, *dot);
    *dskip = __fadd_rn(*dskip, rest ? -g : g);
}

} // namespace

void gnn_cuda_gelu(const float *x, size_t n, float *y, void *stream)
{
    if (n)
        GNN_LAUNCH(gelu, gnn_grid(n, THREADS), THREADS, 0, stream, x, n, y);
}

void gnn_cuda_gelu_back(const float *x, const float *dy, size_t n, float *dx, void *stream)
{
    if (n)
        GNN_LAUNCH(gelu_back, gnn_grid(n, THREADS), THREADS, 0, stream, x, dy, n, dx);
}

void gnn_cuda_gate(const float *x, size_t n, const float *skip, bool rest, float *y, bool acc,
                   void *stream)
{
    if (n)
        GNN_LAUNCH(gate, gnn_grid(n, THREADS), THREADS, 0, stream, x, n, skip, rest, y, acc);
}

void gnn_cuda_gate_back(const float *dot, const float *skip, bool rest, float *dskip, void *stream)
{
    GNN_LAUNCH(gate_back, 1, 32, 0, stream, dot, skip, rest, dskip);
}
