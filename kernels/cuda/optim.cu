/* SPDX-License-Identifier: Apache-2.0 */
/* Optimisers: one pass over the flat buffers, a parameter a thread, lines in step. The operations
 * are the CPU's one by one, each rounded. The sum of squares is made over pieces of a fixed size,
 * each in a fixed tree, and then over these. */
#include "kernels/optim.h"

#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256, PIECE = 16 * THREADS;

__global__ void __launch_bounds__(THREADS)
    adam(float *p, const float *grad, float *m, float *v, size_t n, gnn_adam_factors k)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS) {
        const float w = __fmul_rn(p[i], k.decay), g = __fadd_rn(grad[i], __fmul_rn(k.l2, w));
        const float mi = __fadd_rn(__fmul_rn(k.beta1, m[i]), __fmul_rn(k.rest1, g));
        const float vi = __fadd_rn(__fmul_rn(k.beta2, v[i]), __fmul_rn(__fmul_rn(k.rest2, g), g));
        m[i] = mi;
        v[i] = vi;
        const float low = __fadd_rn(__fmul_rn(__fsqrt_rn(vi), k.c2), k.eps);
        p[i] = __fadd_rn(w, -__fdiv_rn(__fmul_rn(k.c1, mi), low));
    }
}

__global__ void __launch_bounds__(THREADS)
    sgd(float *p, const float *g, float *m, size_t n, gnn_optim_step k)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS) {
        float d = __fadd_rn(g[i], __fmul_rn(k.weight_decay, p[i]));
        if (m)
            m[i] = d = k.t == 1 ? d : __fadd_rn(__fmul_rn(k.momentum, m[i]), d);
        p[i] = __fadd_rn(p[i], -__fmul_rn(k.lr, d));
    }
}

/* Sum over the block's threads, in thread 0. */
__device__ double block_sum(double v, double *work)
{
    v = gnn_warp_sum(v);
    if (threadIdx.x % 32 == 0)
        work[threadIdx.x / 32] = v;
    __syncthreads();
    double s = 0;
    for (unsigned w = 0; threadIdx.x == 0 && w < THREADS / 32; w++)
        s += work[w];
    __syncthreads();
    return s;
}

__global__ void __launch_bounds__(THREADS) square_pieces(const float *g, size_t n, double *piece)
{
    GNN_DYNAMIC_SHARED(double, work);
    for (size_t b = blockIdx.x; b * PIECE < n; b += gridDim.x) {
        double s = 0;
        for (size_t i = b * PIECE + threadIdx.x; i < (b + 1) * PIECE && i < n; i += THREADS)
            s = s + (double)g[i] * (double)g[i]; /* the product is exact: fused or not, the same */
        s = block_sum(s, work);
        if (threadIdx.x == 0)
            piece[b] = s;
    }
}

__global__ void __launch_bounds__(THREADS) sum_pieces(const double *piece, size_t n, double *out)
{
    GNN_DYNAMIC_SHARED(double, work);
    double s = 0;
    for (size_t i = threadIdx.x; i < n; i += THREADS)
        s += piece[i];
    s = block_sum(s, work);
    if (threadIdx.x == 0)
        *out = s;
}

__global__ void __launch_bounds__(THREADS)
    clip(float *g, size_t n, double most, const double *squares)
{
    const double norm = sqrt(*squares);
    if (!(norm > most))
        return;
    const float k = (float)(most / norm);
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS)
        g[i] = __fmul_rn(g[i], k);
}

} // namespace

void gnn_cuda_adam(float *p, const float *g, float *m, float *v, size_t n, bool decoupled,
                   const struct gnn_optim_step *s, void *stream)
{
    struct gnn_adam_factors f;
    gnn_adam_factors_make(s, decoupled, &f);
    if (n)
        GNN_LAUNCH(adam, gnn_grid(n, THREADS), THREADS, 0, stream, p, g, m, v, n, f);
}

void gnn_cuda_sgd(float *p, const float *g, float *m, size_t n, const struct gnn_optim_step *s,
                  void *stream)
{
    if (n)
        GNN_LAUNCH(sgd, gnn_grid(n, THREADS), THREADS, 0, stream, p, g, m, n, *s);
}

void gnn_cuda_square_sum(const float *g, size_t n, void *work, double *out, void *stream)
{
    const size_t pieces = (n + PIECE - 1) / PIECE, shared = THREADS / 32 * sizeof(double);
    double *piece = static_cast<double *>(work);
    if (n)
        GNN_LAUNCH(square_pieces, gnn_grid(pieces, 1), THREADS, shared, stream, g, n, piece);
    GNN_LAUNCH(sum_pieces, 1, THREADS, shared, stream, piece, pieces, out);
}

size_t gnn_cuda_square_sum_scratch(size_t n)
{
    return (n + PIECE - 1) / PIECE * sizeof(double);
}

void gnn_cuda_clip(float *g, size_t n, double most, const double *squares, void *stream)
{
    if (n)
        GNN_LAUNCH(clip, gnn_grid(n, THREADS), THREADS, 0, stream, g, n, most, squares);
}
