/* SPDX-License-Identifier: Apache-2.0 */
/* Factors of aggregation. A mean's needs the ends of a row only: a thread has one. GCN's counts
 * self loops among a row's edges: a warp has one, so that a long row is read in lines. */
#include "kernels/factors.h"

#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256;

struct Edges {
    const uint32_t *indices;
    const float *value;
    uint32_t n;
    bool some; /* the row is in a block */
};

__device__ Edges edges_of(const gnn_csr *block, uint32_t nblocks, uint32_t g)
{
    for (uint32_t b = 0; b < nblocks; b++) {
        const gnn_csr *a = &block[b];
        const uint32_t i = g - a->first;
        if (g < a->first || i >= a->n)
            continue;
        const uint64_t from = gnn_csr_offset(a, i);
        return Edges{a->indices + from, a->value ? a->value + from : nullptr,
                     (uint32_t)(gnn_csr_offset(a, i + 1) - from), true};
    }
    return Edges{nullptr, nullptr, 0, false};
}

__global__ void __launch_bounds__(THREADS)
    mean(const gnn_csr *block, uint32_t nblocks, uint32_t from, const uint32_t *n, uint32_t cap,
         float *row)
{
    const uint64_t rows = gnn_device_count(n, cap);
    for (uint64_t g = from + (uint64_t)blockIdx.x * THREADS + threadIdx.x; g < rows;
         g += (uint64_t)gridDim.x * THREADS) {
        const Edges e = edges_of(block, nblocks, (uint32_t)g);
        row[g] = e.n ? __fdiv_rn(1.0f, (float)e.n) : 0;
    }
}

__global__ void __launch_bounds__(THREADS)
    degrees(const uint32_t *degree, const uint32_t *n, uint32_t cap, float *isqrt)
{
    const uint64_t rows = gnn_device_count(n, cap);
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < rows;
         i += (uint64_t)gridDim.x * THREADS)
        isqrt[i] = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn((float)degree[i], 1.0f)));
}

__global__ void __launch_bounds__(THREADS)
    gcn(const gnn_csr *block, uint32_t nblocks, uint32_t from, const uint32_t *n, uint32_t cap,
        const float *isqrt, float *row, float *diag)
{
    const uint32_t rows = gnn_device_count(n, cap);
    for (GnnRows r = gnn_rows(32); from + r.row < rows; r.row += r.stride) {
        const uint32_t g = from + (uint32_t)r.row;
        const Edges e = edges_of(block, nblocks, g);
        const float is = isqrt[g], square = __fmul_rn(is, is);
        uint32_t loops = 0;
        for (uint64_t x = r.lane; x < e.n; x += 32)
            loops += e.indices[x] == g;
        loops = gnn_warp_sum(loops);
        if (r.lane)
            continue;
        const uint32_t m = e.n - loops;
        const float deg = __fadd_rn(rintf(__fdiv_rn(1.0f, square)), -1.0f);
        const float up = m ? __fdiv_rn(deg, (float)m) : 0;
        row[g] = e.some ? __fmul_rn(up, is) : 0;
        diag[g] = e.some
                      ? __fmul_rn(__fmul_rn(__fadd_rn(1.0f, -__fmul_rn((float)loops, up)), is), is)
                      : square;
    }
}

__global__ void __launch_bounds__(THREADS)
    weight_degrees(const float *degree, const uint32_t *n, uint32_t cap, float *isqrt)
{
    const uint64_t rows = gnn_device_count(n, cap);
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < rows;
         i += (uint64_t)gridDim.x * THREADS)
        isqrt[i] = degree[i] > 0 ? __fdiv_rn(1.0f, __fsqrt_rn(degree[i])) : 0;
}

/* Loops are few: their weights are added up in the order of the edges, as on the CPU. */
__global__ void __launch_bounds__(THREADS)
    weights(const gnn_csr *block, uint32_t nblocks, uint32_t from, const uint32_t *n, uint32_t cap,
            const float *isqrt, const uint32_t *count, const float *loop, float *row, float *diag)
{
    const uint32_t rows = gnn_device_count(n, cap);
    for (GnnRows r = gnn_rows(32); from + r.row < rows; r.row += r.stride) {
        const uint32_t g = from + (uint32_t)r.row;
        const Edges e = edges_of(block, nblocks, g);
        const float is = isqrt[g];
        uint32_t m = e.n;
        float loops = 0;
        for (uint32_t x = 0; x < e.n; x += 32) {
            const bool mine = x + r.lane < e.n && e.indices[x + r.lane] == g;
            const float w = mine ? e.value[x + r.lane] : 0;
            for (unsigned some = __ballot_sync(0xffffffffu, mine); some; some &= some - 1) {
                loops =
                    __fadd_rn(loops, __shfl_sync(0xffffffffu, w, (unsigned)__ffs((int)some) - 1));
                m--;
            }
        }
        if (r.lane)
            continue;
        const float up = m ? __fdiv_rn((float)count[g], (float)m) : 0,
                    left = e.some ? __fadd_rn(loop[g], -__fmul_rn(loops, up)) : loop[g];
        row[g] = e.some ? __fmul_rn(up, is) : 0;
        diag[g] = __fmul_rn(__fmul_rn(left, is), is);
    }
}

} // namespace

void gnn_cuda_weight_degrees(const float *degree, const uint32_t *n, uint32_t cap, float *isqrt,
                             void *stream)
{
    if (cap)
        GNN_LAUNCH(weight_degrees, gnn_grid(cap, THREADS), THREADS, 0, stream, degree, n, cap,
                   isqrt);
}

void gnn_cuda_weight_factors(const struct gnn_csr *block, uint32_t nblocks, uint32_t from,
                             const uint32_t *n, uint32_t cap, const float *isqrt,
                             const uint32_t *count, const float *loop, float *row, float *diag,
                             void *stream)
{
    if (cap > from)
        GNN_LAUNCH(weights, gnn_grid(cap - from, THREADS / 32), THREADS, 0, stream, block, nblocks,
                   from, n, cap, isqrt, count, loop, row, diag);
}

void gnn_cuda_mean_factors(const struct gnn_csr *block, uint32_t nblocks, uint32_t from,
                           const uint32_t *n, uint32_t cap, float *row, void *stream)
{
    if (cap > from)
        GNN_LAUNCH(mean, gnn_grid(cap - from, THREADS), THREADS, 0, stream, block, nblocks, from, n,
                   cap, row);
}

void gnn_cuda_gcn_degrees(const uint32_t *degree, const uint32_t *n, uint32_t cap, float *isqrt,
                          void *stream)
{
    if (cap)
        GNN_LAUNCH(degrees, gnn_grid(cap, THREADS), THREADS, 0, stream, degree, n, cap, isqrt);
}

void gnn_cuda_gcn_factors(const struct gnn_csr *block, uint32_t nblocks, uint32_t from,
                          const uint32_t *n, uint32_t cap, const float *isqrt, float *row,
                          float *diag, void *stream)
{
    if (cap > from)
        GNN_LAUNCH(gcn, gnn_grid(cap - from, THREADS / 32), THREADS, 0, stream, block, nblocks,
                   from, n, cap, isqrt, row, diag);
}
