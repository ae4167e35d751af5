/* SPDX-License-Identifier: Apache-2.0 */
/* An octet, or as many lanes as there are channels, has a head of a row. */
#include "kernels/heads.h"

#include "kernels/act.h"
#include "kernels/attention_edge.h"
#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256, OCTET = GNN_ATTENTION_LANES;

__global__ void __launch_bounds__(THREADS)
    dot_heads(const float *x, const float *y, size_t pitch, uint64_t items, uint32_t heads,
              uint32_t channels, float *out)
{
    const unsigned mask = 0xffu << (threadIdx.x % 32 / OCTET * OCTET);
    for (GnnRows r = gnn_rows(OCTET); r.row < items; r.row += r.stride) {
        const float *p = x + r.row * channels,
                    *q = y + r.row / heads * pitch + r.row % heads * channels;
        float s = 0;
        for (uint32_t c = r.lane; c < channels; c += OCTET)
            s = __fadd_rn(s, __fmul_rn(p[c], q[c]));
        for (unsigned d = OCTET / 2; d; d /= 2)
            s = __fadd_rn(s, __shfl_xor_sync(mask, s, d));
        if (r.lane == 0)
            out[r.row] = s;
    }
}

__global__ void __launch_bounds__(THREADS)
    outer_heads(const float *g, const float *w, uint64_t items, uint32_t heads, uint32_t channels,
                float *x, unsigned lanes)
{
    for (GnnRows r = gnn_rows(lanes); r.row < items; r.row += r.stride) {
        const float v = g[r.row], *by = w + r.row % heads * channels;
        float *to = x + r.row * channels;
        for (uint32_t c = r.lane; c < channels; c += lanes)
            to[c] = __fadd_rn(to[c], __fmul_rn(v, by[c]));
    }
}

/* A thread has a column of one of the GNN_COLSUM_BLOCKS ranges of rows. */
__global__ void __launch_bounds__(THREADS) sum_heads(const float *g, const float *x, uint64_t n,
                                                     uint32_t heads, uint32_t channels, float *work)
{
    const size_t d = (size_t)heads * channels;
    const uint64_t per = (n + GNN_COLSUM_BLOCKS - 1) / GNN_COLSUM_BLOCKS;
    for (uint64_t k = (uint64_t)blockIdx.x * THREADS + threadIdx.x; k < GNN_COLSUM_BLOCKS * d;
         k += (uint64_t)gridDim.x * THREADS) {
        const uint64_t b = k / d, j = k % d;
        const uint64_t from = b * per < n ? b * per : n, to = from + per < n ? from + per : n;
        float s = 0;
        for (uint64_t i = from; i < to; i++)
            s = __fadd_rn(s, __fmul_rn(g[i * heads + j / channels], x[i * d + j]));
        work[k] = s;
    }
}

__global__ void __launch_bounds__(THREADS)
    fold_heads(const float *work, size_t d, float *out, bool acc)
{
    for (size_t j = (size_t)blockIdx.x * THREADS + threadIdx.x; j < d;
         j += (size_t)gridDim.x * THREADS) {
        float s = 0;
        for (unsigned b = 0; b < GNN_COLSUM_BLOCKS; b++)
            s = __fadd_rn(s, work[b * d + j]);
        out[j] = acc ? __fadd_rn(out[j], s) : s;
    }
}

__global__ void __launch_bounds__(THREADS)
    mean_heads(const float *x, uint64_t items, uint32_t heads, uint32_t channels, float *out,
               bool acc)
{
    for (uint64_t k = (uint64_t)blockIdx.x * THREADS + threadIdx.x; k < items;
         k += (uint64_t)gridDim.x * THREADS) {
        const float *from = x + k / channels * heads * channels + k % channels;
        float s = from[0];
        for (size_t h = 1; h < heads; h++)
            s = __fadd_rn(s, from[h * channels]);
        s = __fdiv_rn(s, (float)heads);
        out[k] = acc ? __fadd_rn(out[k], s) : s;
    }
}

__global__ void __launch_bounds__(THREADS)
    spread_heads(const float *g, uint64_t items, uint32_t heads, uint32_t channels, float *x)
{
    const uint64_t d = (uint64_t)heads * channels;
    for (uint64_t k = (uint64_t)blockIdx.x * THREADS + threadIdx.x; k < items;
         k += (uint64_t)gridDim.x * THREADS)
        x[k] = __fdiv_rn(g[k / d * channels + k % channels], (float)heads);
}

} // namespace

void gnn_cuda_head_dots(const float *x, const float *y, size_t pitch, uint32_t n, uint32_t heads,
                        uint32_t channels, float *out, void *stream)
{
    const uint64_t items = (uint64_t)n * heads;
    if (items)
        GNN_LAUNCH(dot_heads, gnn_grid(items, THREADS / OCTET), THREADS, 0, stream, x, y, pitch,
                   items, heads, channels, out);
}

void gnn_cuda_head_outer(const float *g, const float *w, uint32_t n, uint32_t heads,
                         uint32_t channels, float *x, void *stream)
{
    const uint64_t items = (uint64_t)n * heads;
    const unsigned lanes = gnn_lanes(channels);
    if (items)
        GNN_LAUNCH(outer_heads, gnn_grid(items, THREADS / lanes), THREADS, 0, stream, g, w, items,
                   heads, channels, x, lanes);
}

void gnn_cuda_head_sums(const float *g, const float *x, uint32_t n, uint32_t heads,
                        uint32_t channels, float *work, float *out, bool acc, void *stream)
{
    const size_t d = (size_t)heads * channels;
    GNN_LAUNCH(sum_heads, gnn_grid(GNN_COLSUM_BLOCKS * d, THREADS), THREADS, 0, stream, g, x,
               (uint64_t)n, heads, channels, work);
    GNN_LAUNCH(fold_heads, gnn_grid(d, THREADS), THREADS, 0, stream, work, d, out, acc);
}

void gnn_cuda_head_means(const float *x, uint32_t n, uint32_t heads, uint32_t channels, float *out,
                         bool acc, void *stream)
{
    const uint64_t items = (uint64_t)n * channels;
    if (items)
        GNN_LAUNCH(mean_heads, gnn_grid(items, THREADS), THREADS, 0, stream, x, items, heads,
                   channels, out, acc);
}

void gnn_cuda_head_spread(const float *g, uint32_t n, uint32_t heads, uint32_t channels, float *x,
                          void *stream)
{
    const uint64_t items = (uint64_t)n * heads * channels;
    if (items)
        GNN_LAUNCH(spread_heads, gnn_grid(items, THREADS), THREADS, 0, stream, g, items, heads,
                   channels, x);
}
