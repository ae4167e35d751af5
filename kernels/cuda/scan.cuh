/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of what came before, over a block and over the tiles of a list; and who is the last block of
 * a kernel. No order of threads or blocks shows in a result. */
#ifndef GNN_KERNELS_CUDA_SCAN_CUH
#define GNN_KERNELS_CUDA_SCAN_CUH

#include <cstdint>

#include "kernels/cuda/cuda.cuh"

enum : unsigned {
    GNN_BLOCK = 256, /* threads */
    GNN_WARPS = GNN_BLOCK / 32
};

/* Blocks of a kernel that asks which is the last: some eight for each multiprocessor, as each costs
 * an atomic. */
static inline unsigned gnn_scan_grid(uint64_t work, uint64_t each)
{
    const unsigned n = gnn_grid(work, each);
    return n < 1024 ? n : 1024;
}

/* The sum of v over the threads before this one; all of the block's threads must call. warp:
 * GNN_WARPS in shared memory, free again on return. */
static __device__ __forceinline__ uint64_t gnn_scan_block(uint64_t v, uint64_t *warp,
                                                          uint64_t *total)
{
    const unsigned lane = threadIdx.x % 32, w = threadIdx.x / 32;
    uint64_t sum = v, before = 0, all = 0;
    for (unsigned d = 1; d < 32; d *= 2) {
        const uint64_t left = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d)
            sum += left;
    }
    if (lane == 31)
        warp[w] = sum;
    __syncthreads();
    for (unsigned k = 0; k < GNN_WARPS; k++) {
        if (k < w)
            before += warp[k];
        all += warp[k];
    }
    __syncthreads();
    *total = all;
    return before + sum - v;
}

/* Is this the last block of the kernel to come here? It then sees all that the others wrote before.
 * ticket is 0 before the kernel and after it. last: a word of shared memory. */
static __device__ __forceinline__ bool gnn_last_block(uint32_t *ticket, uint32_t *last)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        *last = atomicAdd(ticket, 1u) == gridDim.x - 1;
        if (*last)
            atomicExch(ticket, 0u);
        __threadfence();
    }
    __syncthreads();
    return *last != 0;
}

/* By one block: replaces the sums of n tiles by those of all tiles before each; returns the sum of
 * all. *cross becomes the tile in which the sum reaches limit, if it does (*cross and warp are in
 * shared memory). */
static __device__ inline uint64_t gnn_scan_tiles(uint64_t *tile, uint64_t n, uint64_t limit,
                                                 uint64_t *warp, uint64_t *cross)
{
    constexpr unsigned ITEMS =
        4; /* for each thread: one round does for a quarter of a million rows, in few registers */
    uint64_t carry = 0;
    for (uint64_t from = 0; from < n; from += GNN_BLOCK * ITEMS) {
        const uint64_t at = from + threadIdx.x * (uint64_t)ITEMS;
        uint64_t v[ITEMS], sum = 0, total;
        for (unsigned k = 0; k < ITEMS; k++) {
            v[k] = at + k < n ? __ldcg(&tile[at + k]) : 0;
            sum += v[k];
        }
        uint64_t before = carry + gnn_scan_block(sum, warp, &total);
        for (unsigned k = 0; k < ITEMS && at + k < n; k++) {
            tile[at + k] = before;
            if (before < limit && before + v[k] >= limit)
                *cross = at + k;
            before += v[k];
        }
        carry += total;
    }
    __syncthreads();
    return carry;
}

#endif
