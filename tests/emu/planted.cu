/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with and without a fault, to show that the emulation finds it. */
#include "kernels/cuda/scan.cuh"

#include "emu/planted.h"

/* Each thread adds what its neighbour put into shared memory; `guarded` has the barrier in between.
 */
template <bool guarded> __global__ void neighbours(const unsigned *in, unsigned *out)
{
    GNN_DYNAMIC_SHARED(unsigned, s);
    const unsigned t = threadIdx.x, n = blockDim.x, i = blockIdx.x * n + t;
    s[t] = in[i];
    if (guarded)
        __syncthreads();
    out[i] = in[i] + s[(t + 1) % n];
}

/* Adds up a warp's numbers in five steps of a tree; lane 0 writes. */
__global__ void warp_sums(const unsigned *in, unsigned *out)
{
    unsigned v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (unsigned d = 16; d; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0)
        out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v;
}

/* The same, by the instruction for it. */
__global__ void warp_reductions(const unsigned *in, unsigned *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x,
                   v = __reduce_add_sync(0xffffffffu, in[i]);
    if (threadIdx.x % 32 == 31)
        out[i / 32] = v;
}

/* Counts without and with an atomic: read, let others go first, write. */
__global__ void lost_update(unsigned *count, unsigned *exact)
{
    const unsigned old = *count;
    atomicAdd(exact, 1u);
    *count = old + 1;
}

/* Each block puts a number into memory, and the last one adds them up. */
template <bool fenced>
__global__ void last_adds_up(unsigned *of_block, uint32_t *ticket, unsigned *sum)
{
    __shared__ uint32_t last;
    if (threadIdx.x == 0)
        of_block[blockIdx.x] = blockIdx.x + 1;
    if (fenced)
        gnn_last_block(ticket, &last);
    else {
        __syncthreads();
        if (threadIdx.x == 0)
            last = atomicAdd(ticket, 1u) == gridDim.x - 1;
        __syncthreads();
    }
    if (last && threadIdx.x == 0)
        for (unsigned b = 0; b < gridDim.x; b++)
            *sum += __ldcg(&of_block[b]);
}

/* A block waits for nobody, and reads what its neighbour writes. */
__global__ void reads_neighbour(unsigned *of_block, unsigned *out)
{
    of_block[blockIdx.x] = 1;
    out[blockIdx.x] = of_block[(blockIdx.x + 1) % gridDim.x];
}

/* Blocks write to the same word; `alone`: only the first. */
__global__ void same_word(bool alone, unsigned *out)
{
    if (!alone || blockIdx.x == 0)
        *out = blockIdx.x;
}

/* Has 2 KB of static shared memory, and dynamic. */
__global__ void much_shared(unsigned *out)
{
    __shared__ unsigned s[512];
    GNN_DYNAMIC_SHARED(unsigned, d);
    for (unsigned i = threadIdx.x; i < 512; i += blockDim.x)
        s[i] = i;
    d[threadIdx.x] = s[threadIdx.x];
    out[threadIdx.x] = d[threadIdx.x];
}

__global__ void nothing(int)
{
}

/* Numbers equal lanes. */
__global__ void matches(const unsigned *in, unsigned *out)
{
    out[threadIdx.x] = __match_any_sync(0xffffffffu, in[threadIdx.x]);
}

/* Only half of the threads come to the barrier; the others wait at the next one. */
__global__ void divergent(unsigned *out)
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        out[threadIdx.x] = 1;
    if (threadIdx.x >= 16)
        __syncthreads();
}

void planted_neighbours(bool guarded, unsigned blocks, unsigned threads, const unsigned *in,
                        unsigned *out)
{
    if (guarded)
        GNN_LAUNCH(neighbours<true>, blocks, threads, threads * sizeof(unsigned), nullptr, in, out);
    else
        GNN_LAUNCH(neighbours<false>, blocks, threads, threads * sizeof(unsigned), nullptr, in,
                   out);
}
void planted_warp_sums(unsigned blocks, unsigned threads, const unsigned *in, unsigned *out)
{
    GNN_LAUNCH(warp_sums, blocks, threads, 0, nullptr, in, out);
}
void planted_warp_reductions(unsigned blocks, unsigned threads, const unsigned *in, unsigned *out)
{
    GNN_LAUNCH(warp_reductions, blocks, threads, 0, nullptr, in, out);
}
void planted_lost_update(unsigned blocks, unsigned threads, unsigned *count, unsigned *exact)
{
    GNN_LAUNCH(lost_update, blocks, threads, 0, nullptr, count, exact);
}
void planted_last_adds_up(bool fenced, unsigned blocks, unsigned *of_block, unsigned *ticket,
                          unsigned *sum)
{
    if (fenced)
        GNN_LAUNCH(last_adds_up<true>, blocks, 32, 0, nullptr, of_block, ticket, sum);
    else
        GNN_LAUNCH(last_adds_up<false>, blocks, 32, 0, nullptr, of_block, ticket, sum);
}
void planted_reads_neighbour(unsigned blocks, unsigned *of_block, unsigned *out)
{
    GNN_LAUNCH(reads_neighbour, blocks, 1, 0, nullptr, of_block, out);
}
void planted_same_word(bool alone, unsigned blocks, unsigned *out)
{
    GNN_LAUNCH(same_word, blocks, 1, 0, nullptr, alone, out);
}
bool planted_opt_in(int bytes)
{
    return cudaFuncSetAttribute(much_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) ==
           cudaSuccess;
}
void planted_much_shared(size_t bytes, unsigned *out)
{
    GNN_LAUNCH(much_shared, 1, 32, bytes, nullptr, out);
}
void planted_shape(const unsigned grid[3], const unsigned block[3])
{
    GNN_LAUNCH(nothing, dim3(grid[0], grid[1], grid[2]), dim3(block[0], block[1], block[2]), 0,
               nullptr, 0);
}
void planted_matches(const unsigned *in, unsigned *out)
{
    GNN_LAUNCH(matches, 1, 32, 0, nullptr, in, out);
}
void planted_divergent(unsigned *out)
{
    GNN_LAUNCH(divergent, 1, 32, 0, nullptr, out);
}
