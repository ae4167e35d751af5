/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted picks (kernels/weights.h): a warp for each destination, whose lanes draw and search side
 * by side. What is in the sample lies where the sources will be. */
#include "kernels/cuda/picker.cuh"

namespace
{

constexpr unsigned ALL = 0xffffffffu;

__device__ __forceinline__ uint64_t sum_over_warp(uint64_t x)
{
    for (unsigned d = 16; d; d /= 2)
        x += __shfl_xor_sync(ALL, (unsigned long long)x, d);
    return x;
}

/* The sample of a warp's destination; all lanes know how many members there are. */
struct Sample {
    const Picker &p;
    const Row &row;
    const gnn_weights &of;
    volatile uint32_t *member;
    uint32_t n;
    unsigned lane;
    gnn_skip skip;         /* the edges that the row passes, */
    const uint32_t *first; /* counted from its first neighbour */

    /* The weight of what the row skips whose numbers begin at v or before. */
    __device__ uint64_t sum_of_skipped(uint64_t v) const
    {
        uint64_t sum = 0;
        for (uint32_t q = 0; q < skip.n; q++) {
            const uint32_t x = (uint32_t)(skip.edge[q] - first);
            const uint64_t begin = gnn_weight_begin(&of, x);
            sum += begin <= v ? of.sum[x] - begin : 0;
        }
        return sum;
    }
    /* Draw t, of all that the row does not skip. */
    __device__ __forceinline__ uint32_t find(uint32_t t) const
    {
        const uint64_t u = gnn_weight_draw(&of, p.key, row.orig, row.tree, t,
                                           of.total - sum_of_skipped(UINT64_MAX));
        uint64_t v = u;
        for (uint64_t next; (next = u + sum_of_skipped(v)) > v; v = next)
            ;
        return gnn_weight_find(&of, v);
    }
    /* Neighbour j, from 0, of those that have a weight and are not skipped. */
    __device__ __forceinline__ uint32_t nth(uint32_t j) const
    {
        for (uint32_t q = 0;
             q < skip.n && gnn_weight_nth(&of, j) >= (uint32_t)(skip.edge[q] - first); q++)
            j++;
        return gnn_weight_nth(&of, j);
    }
    __device__ bool has(uint32_t x) const
    {
        for (uint32_t q = 0; q < n; q++)
            if (member[q] == x)
                return true;
        return false;
    }
    /* Up to 32 draws from t on, in their order, of those before `end`. */
    __device__ void add_draws(uint32_t k, uint64_t t, uint64_t end)
    {
        const bool in = t + lane < end;
        /* Past the end lanes hold what no other one has. */
        const uint32_t x = in ? find((uint32_t)(t + lane)) : UINT32_MAX - lane;
        const unsigned before = (1u << lane) - 1, same = __match_any_sync(ALL, x) & before;
        const unsigned fresh = __ballot_sync(ALL, in && !same && !has(x));
        const uint32_t at = n + (uint32_t)__popc(fresh & before), all = n + (uint32_t)__popc(fresh);
        __syncwarp();
        if (fresh >> lane & 1 && at < k)
            member[at] = x;
        n = all < k ? all : k;
        __syncwarp();
    }
    /* Likewise, of members and of what the row skips. */
    __device__ uint64_t sum_of_gone(uint64_t v) const
    {
        uint64_t sum = 0;
        for (uint32_t q = lane; q < n; q += 32) {
            const uint32_t x = member[q];
            const uint64_t begin = gnn_weight_begin(&of, x);
            sum += begin <= v ? of.sum[x] - begin : 0;
        }
        return sum_over_warp(sum) + sum_of_skipped(v);
    }
    /* Draw t, of what is not in the sample. */
    __device__ void add_left(uint32_t t)
    {
        const uint64_t u =
            gnn_weight_draw(&of, p.key, row.orig, row.tree, t, of.total - sum_of_gone(UINT64_MAX));
        uint64_t v = u;
        for (uint64_t next; (next = u + sum_of_gone(v)) > v; v = next)
            ;
        const uint32_t x = gnn_weight_find(&of, v);
        __syncwarp();
        if (lane == 0)
            member[n] = x;
        n++;
        __syncwarp();
    }
    __device__ void draw(uint32_t k)
    {
        const uint64_t end = (uint64_t)GNN_WEIGHT_TRIES * k;
        for (uint64_t t = 0; n < k && t < end; t += 32)
            add_draws(k, t, end);
        for (uint64_t t = end; n < k; t++)
            add_left((uint32_t)t);
    }
};

template <bool repeats> __global__ __launch_bounds__(GNN_BLOCK) void pick_weighted(const gnn_work w)
{
    const Picker p(w);
    const unsigned lane = threadIdx.x % 32;
    const uint64_t stride = gridDim.x * (uint64_t)GNN_WARPS;
    for (uint64_t i = blockIdx.x * (uint64_t)GNN_WARPS + threadIdx.x / 32; i < p.n; i += stride) {
        const Row row(p, (uint32_t)i);
        const gnn_weights of = w.s.weights[i];
        Sample s = {p, row, of, w.job.source.node + row.start, 0, lane, row.skip(p), nullptr};
        if (s.skip.n)
            s.first = row.first(p);
        if (row.drawn && !repeats)
            s.draw(row.picks);
        for (uint32_t j = lane; j < row.picks; j += 32)
            emit(p, row, row.start + j, !row.drawn ? s.nth(j) : repeats ? s.find(j) : s.member[j]);
        __syncwarp();
    }
}

} // namespace

void gnn_cuda_pick_weighted(const gnn_work &w, void *stream)
{
    const unsigned grid = gnn_grid(w.job.what.n, GNN_WARPS);
    if (gnn_pick_repeats(w.job.what.rule))
        GNN_LAUNCH(pick_weighted<true>, grid, GNN_BLOCK, 0, stream, w);
    else
        GNN_LAUNCH(pick_weighted<false>, grid, GNN_BLOCK, 0, stream, w);
}
