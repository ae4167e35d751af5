/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all .cu files: launching, so that the kernels also run where there is no CUDA
 * (tests/emu), and shapes of grids. Kernels take their sizes from device memory where an earlier
 * kernel made them: a grid is as large as the machine, and its threads stride over the work. */
#ifndef GNN_KERNELS_CUDA_CUDA_CUH
#define GNN_KERNELS_CUDA_CUDA_CUH

/* In front of a loop over registers. */
#ifdef __CUDACC__
#define GNN_UNROLL _Pragma("unroll")
#else
#define GNN_UNROLL
#endif

#ifndef GNN_LAUNCH
#include <cuda_runtime.h>
#define GNN_LAUNCH(kernel, grid, block, shared, stream, ...)                                       \
    (kernel<<<(grid), (block), (shared), (cudaStream_t)(stream)>>>(__VA_ARGS__))
#define GNN_DYNAMIC_SHARED(type, name)                                                             \
    extern __shared__ __align__(16) unsigned char gnn_shared_bytes[];                              \
    type *const name = reinterpret_cast<type *>(gnn_shared_bytes)
#endif

#include <stdint.h>

/* Blocks of a grid at most: every thread strides. */
#ifndef GNN_GRID_MAX
#define GNN_GRID_MAX 4096
#endif

/* Blocks for `work` items when one takes `each` of them. */
static inline unsigned gnn_grid(uint64_t work, uint64_t each)
{
    const uint64_t want = (work + each - 1) / each;
    return want < 1 ? 1 : want > GNN_GRID_MAX ? GNN_GRID_MAX : (unsigned)want;
}

/* A count that an earlier kernel made, or the capacity itself. */
static __device__ inline uint32_t gnn_device_count(const uint32_t *n, uint32_t cap)
{
    return n && *n < cap ? *n : cap;
}

/* Keeps the lowest position of anything bad, so that what is reported does not depend on who comes
 * first. */
static __device__ inline void gnn_device_bad(uint64_t *bad, uint64_t at)
{
    atomicMin(reinterpret_cast<unsigned long long *>(bad), (unsigned long long)at);
}

/* Rows are divided among sub-warps of `lanes` threads, and the columns of a row among these. */
struct GnnRows {
    uint64_t row, stride;
    unsigned lane;
};
static __device__ inline GnnRows gnn_rows(unsigned lanes)
{
    const unsigned groups = blockDim.x / lanes;
    return GnnRows{(uint64_t)blockIdx.x * groups + threadIdx.x / lanes,
                   (uint64_t)gridDim.x * groups, threadIdx.x % lanes};
}
/* Lanes for a row of so many units. */
static inline unsigned gnn_lanes(size_t units)
{
    unsigned lanes = 1;
    while (lanes < 32 && lanes < units)
        lanes *= 2;
    return lanes;
}

/* Sum over a whole warp, the same bits in each lane: a sum of two does not depend on their order.
 */
template <typename T> static __device__ inline T gnn_warp_sum(T v)
{
    for (unsigned d = 16; d; d /= 2)
        v = v + __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

/* V floats that travel together. */
template <unsigned V> struct alignas(V * sizeof(float)) GnnUnit {
    float v[V];
};
static inline bool gnn_vector(const void *a, const void *b)
{
    return ((uintptr_t)a | (uintptr_t)b) % 16 == 0;
}

#endif
