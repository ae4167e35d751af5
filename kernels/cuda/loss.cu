/* SPDX-License-Identifier: Apache-2.0 */
/* Losses: a warp has a row, but for the squared error, where a thread has one: outputs of a
 * regression are few, and it then adds in the CPU's order. A thread also has a positive link with
 * its negatives. Logits are few (a row for each seed) and lie in the caches after the first pass,
 * so each pass reads them again instead of keeping rows of any width in registers. */
#include "kernels/loss.h"

#include "kernels/cuda/cuda.cuh"
#include "kernels/link_row.h"

namespace
{

constexpr unsigned THREADS = 256;

__device__ float warp_max(float v)
{
    for (unsigned d = 16; d; d /= 2) {
        const float o = __shfl_xor_sync(0xffffffffu, v, d);
        v = o > v ? o : v;
    }
    return v;
}

/* The largest of a row. A NaN is left out here and comes in through the sum of the powers. */
__device__ float row_max(const float *z, size_t c, unsigned lane)
{
    float m = -INFINITY;
    for (size_t j = lane; j < c; j += 32)
        m = z[j] > m ? z[j] : m;
    return warp_max(m);
}

__device__ float sigmoid_of(float x)
{
    return x >= 0 ? __fdiv_rn(1, __fadd_rn(1, expf(-x)))
                  : __fdiv_rn(expf(x), __fadd_rn(1, expf(x)));
}

__global__ void __launch_bounds__(THREADS)
    softmax_ce(const float *z, const uint32_t *n, uint32_t cap, size_t c, const int32_t *y,
               float scale, double *row_loss, float *dz, uint64_t *bad)
{
    const uint32_t rows = gnn_device_count(n, cap);
    for (GnnRows r = gnn_rows(32); r.row < rows; r.row += r.stride) {
        const float *in = z + r.row * c;
        float *out = dz ? dz + r.row * c : nullptr;
        const int32_t label = y[r.row];
        if (label < 0 || (uint64_t)label >= c) {
            if (r.lane == 0) {
                row_loss[r.row] = 0;
                if (label >= 0)
                    gnn_device_bad(bad, r.row);
            }
            for (size_t j = r.lane; dz && j < c; j += 32)
                out[j] = 0;
            continue;
        }
        const float m = row_max(in, c, r.lane), own = in[label];
        double s = 0;
        for (size_t j = r.lane; j < c; j += 32)
            s += (double)expf(__fadd_rn(in[j], -m));
        s = gnn_warp_sum(s);
        if (r.lane == 0)
            row_loss[r.row] = log(s) + (double)__fadd_rn(m, -own);
        if (!dz)
            continue;
        __syncwarp(); /* all have read the logit of the class, which dz may overwrite */
        const float k = (float)(1 / s);
        for (size_t j = r.lane; j < c; j += 32) {
            const float p = __fmul_rn(expf(__fadd_rn(in[j], -m)), k);
            out[j] = __fmul_rn(scale, __fadd_rn(p, (size_t)label == j ? -1.0f : 0.0f));
        }
    }
}

__global__ void __launch_bounds__(THREADS)
    sigmoid_ce(const float *z, const uint32_t *n, uint32_t cap, size_t c, const float *y,
               float scale, double *row_loss, float *dz)
{
    const uint32_t rows = gnn_device_count(n, cap);
    for (GnnRows r = gnn_rows(32); r.row < rows; r.row += r.stride) {
        const float *in = z + r.row * c, *want = y + r.row * c;
        unsigned known = 0;
        double s = 0;
        for (size_t j = r.lane; j < c; j += 32) {
            const float t = want[j];
            if (t != t) /* NaN: unlabelled */
                continue;
            const double x = (double)in[j];
            known++;
            s += (in[j] > 0 ? x : 0) - x * (double)t + log1p(exp(-fabs(x)));
        }
        known = gnn_warp_sum(known);
        s = gnn_warp_sum(s);
        if (r.lane == 0)
            row_loss[r.row] = known ? s / (double)known : 0;
        if (!dz)
            continue;
        for (size_t j = r.lane; j < c; j += 32) {
            const float t = want[j];
            dz[r.row * c + j] = t != t ? 0
                                       : __fmul_rn(__fdiv_rn(scale, (float)known),
                                                   __fadd_rn(sigmoid_of(in[j]), -t));
        }
    }
}

__global__ void __launch_bounds__(THREADS)
    squared_error(const float *z, const uint32_t *n, uint32_t cap, size_t c, const float *y,
                  float scale, double *row_loss, float *dz)
{
    const uint32_t rows = gnn_device_count(n, cap);
    for (GnnRows r = gnn_rows(1); r.row < rows; r.row += r.stride) {
        const float *in = z + r.row * c, *want = y + r.row * c;
        unsigned known = 0;
        double s = 0;
        for (size_t j = 0; j < c; j++) {
            const float t = want[j];
            if (t != t) /* NaN: unlabelled */
                continue;
            const double error = (double)in[j] - (double)t;
            known++;
            s = fma(error, error, s);
        }
        row_loss[r.row] = known ? s / (double)known : 0;
        const float k = __fdiv_rn(__fmul_rn(2, scale), (float)known);
        for (size_t j = 0; dz && j < c; j++) {
            const float t = want[j];
            dz[r.row * c + j] = t != t ? 0 : __fmul_rn(k, __fadd_rn(in[j], -t));
        }
    }
}

__global__ void __launch_bounds__(THREADS)
    link_loss(const float *z, const float *y, size_t p, size_t n, size_t each, bool softmax,
              float scale, double *row_loss, float *dz)
{
    for (GnnRows r = gnn_rows(1); r.row < p; r.row += r.stride) {
        const gnn_link_row own = gnn_link_row_of(r.row, p, n, each);
        if (softmax)
            gnn_link_row_softmax(own, z, y, r.row, scale, row_loss, dz);
        else
            gnn_link_row_bpr(own, z, y, r.row, scale, row_loss, dz);
    }
}

} // namespace

void gnn_cuda_softmax_ce(const float *z, const uint32_t *n, uint32_t cap, size_t c,
                         const int32_t *y, float scale, double *row_loss, float *dz, uint64_t *bad,
                         void *stream)
{
    if (cap && c)
        GNN_LAUNCH(softmax_ce, gnn_grid(cap, THREADS / 32), THREADS, 0, stream, z, n, cap, c, y,
                   scale, row_loss, dz, bad);
}

void gnn_cuda_sigmoid_ce(const float *z, const uint32_t *n, uint32_t cap, size_t c, const float *y,
                         float scale, double *row_loss, float *dz, void *stream)
{
    if (cap && c)
        GNN_LAUNCH(sigmoid_ce, gnn_grid(cap, THREADS / 32), THREADS, 0, stream, z, n, cap, c, y,
                   scale, row_loss, dz);
}

void gnn_cuda_squared_error(const float *z, const uint32_t *n, uint32_t cap, size_t c,
                            const float *y, float scale, double *row_loss, float *dz, void *stream)
{
    if (cap && c)
        GNN_LAUNCH(squared_error, gnn_grid(cap, THREADS), THREADS, 0, stream, z, n, cap, c, y,
                   scale, row_loss, dz);
}

void gnn_cuda_link_loss(const float *z, const float *y, size_t p, size_t n, size_t each,
                        bool softmax, float scale, double *row_loss, float *dz, void *stream)
{
    if (p)
        GNN_LAUNCH(link_loss, gnn_grid(p, THREADS), THREADS, 0, stream, z, y, p, n, each, softmax,
                   scale, row_loss, dz);
}
