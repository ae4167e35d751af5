/* SPDX-License-Identifier: Apache-2.0 */
/* Picks of LABOR (kernels/labor.h): a warp for each destination, or a block where there are many
 * neighbours. The variate up to which they are taken is found byte by byte from the top: how many
 * of those left have each value of the byte is counted, until as many are left as may be taken.
 * Variates are computed anew each time; mostly twice. */
#include "kernels/cuda/picker.cuh"
#include "kernels/labor.h"

#include <climits>

namespace
{

constexpr unsigned ALL = 0xffffffffu;
enum : uint32_t { LONG = 2048, /* neighbours from which on a block takes the row */ BINS = 256 };

/* What a row takes: all variates below `low`, and the first `ties` of those from low to high. */
struct Range {
    uint64_t low, high;
    uint32_t ties;
};

template <bool warps> __device__ __forceinline__ void sync_team()
{
    if (warps)
        __syncwarp();
    else
        __syncthreads();
}

template <bool warps> struct Team {
    static constexpr unsigned SIZE = warps ? 32u : +GNN_BLOCK, IN_BLOCK = GNN_BLOCK / SIZE;
    static constexpr size_t SHARED =
        IN_BLOCK * BINS * sizeof(uint32_t) + GNN_WARPS * sizeof(uint64_t); /* bytes of a block */
    const Picker &p;
    uint32_t *count; /* [BINS] shared memory of the team */
    uint64_t *scan;  /* [GNN_WARPS] of the block */
    unsigned rank;

    __device__ __forceinline__ uint64_t variate(const Row &row, uint32_t x) const
    {
        return gnn_labor_of(p.key, p.w.job.what.graph.orig, p.nsrc,
                            __ldg(&row.base[row.nth(p, x)]));
    }

    /* The bin in which the number `left` is, from 1, if the counts are laid end to end; left
     * becomes its number there. Each warp finds it for itself. */
    __device__ uint32_t find_bin(uint32_t *left) const
    {
        constexpr uint32_t EACH = BINS / 32;
        const unsigned lane = threadIdx.x % 32;
        uint32_t own = 0, b;
        for (b = 0; b < EACH; b++)
            own += count[lane * EACH + b];
        uint32_t sum = own;
        for (unsigned d = 1; d < 32; d *= 2) {
            const uint32_t more = __shfl_up_sync(ALL, sum, d);
            sum += lane >= d ? more : 0;
        }
        const unsigned first = (unsigned)__ffs((int)__ballot_sync(ALL, sum >= *left)) - 1;
        *left -= __shfl_sync(ALL, sum - own, first);
        for (b = first * EACH; count[b] < *left; b++)
            *left -= count[b];
        return b;
    }

    __device__ Range find_range(const Row &row) const
    {
        Range r = {0, UINT64_MAX, row.picks};
        for (int shift = 56; shift >= 0; shift -= 8) {
            for (uint32_t b = rank; b < BINS; b += SIZE)
                count[b] = 0;
            sync_team<warps>();
            for (uint32_t x = rank; x < row.degree; x += SIZE) {
                const uint64_t v = variate(row, x);
                if (v >= r.low && v <= r.high)
                    atomicAdd(&count[v >> shift & (BINS - 1)], 1u);
            }
            sync_team<warps>();
            const uint32_t b = find_bin(&r.ties);
            const bool enough = count[b] == r.ties;
            r.low |= (uint64_t)b << shift;
            r.high = r.low | ((UINT64_C(1) << shift) - 1);
            sync_team<warps>();
            if (enough)
                break;
        }
        return r;
    }

    /* Over the threads before this one: how many of each; and over all. */
    __device__ __forceinline__ void add_up(bool less, bool tie, uint32_t *before_less,
                                           uint32_t *before_tie, uint32_t *all_less,
                                           uint32_t *all_tie) const
    {
        if (warps) {
            const unsigned l = __ballot_sync(ALL, less), t = __ballot_sync(ALL, tie),
                           before = (1u << rank) - 1;
            *before_less = (uint32_t)__popc(l & before);
            *before_tie = (uint32_t)__popc(t & before);
            *all_less = (uint32_t)__popc(l);
            *all_tie = (uint32_t)__popc(t);
            return;
        }
        uint64_t all;
        const uint64_t before = gnn_scan_block((uint64_t)tie << 32 | (uint64_t)less, scan, &all);
        *before_less = (uint32_t)before;
        *before_tie = (uint32_t)(before >> 32);
        *all_less = (uint32_t)all;
        *all_tie = (uint32_t)(all >> 32);
    }

    __device__ void pick(const Row &row) const
    {
        const Range r = find_range(row);
        uint32_t lesser = 0, ties = 0;
        for (uint32_t from = 0; from < row.degree && lesser + min(ties, r.ties) < row.picks;
             from += SIZE) {
            const uint32_t x = from + rank;
            const bool in = x < row.degree;
            const uint64_t v = in ? variate(row, x) : UINT64_MAX;
            const bool less = in && v < r.low, tie = in && !less && v <= r.high;
            uint32_t l, t, all_l, all_t;
            add_up(less, tie, &l, &t, &all_l, &all_t);
            if (less || (tie && ties + t < r.ties))
                emit(p, row, row.start + lesser + l + min(ties + t, r.ties), row.nth(p, x));
            lesser += all_l;
            ties += all_t;
        }
    }
};

template <bool warps> __global__ __launch_bounds__(GNN_BLOCK) void pick_labor(const gnn_work w)
{
    constexpr unsigned SIZE = Team<warps>::SIZE, TEAMS = Team<warps>::IN_BLOCK;
    GNN_DYNAMIC_SHARED(uint64_t, scan);
    uint32_t *const count = reinterpret_cast<uint32_t *>(scan + GNN_WARPS);
    const Picker p(w);
    const unsigned of = threadIdx.x / SIZE;
    const Team<warps> team = {p, count + of * BINS, scan, threadIdx.x % SIZE};
    for (uint64_t i = blockIdx.x * (uint64_t)TEAMS + of; i < p.n;
         i += gridDim.x * (uint64_t)TEAMS) {
        const Row row(p, (uint32_t)i);
        if (warps != (!row.drawn || row.degree < LONG))
            continue;
        if (row.drawn)
            team.pick(row);
        else
            for (uint32_t j = team.rank; j < row.picks; j += SIZE)
                emit(p, row, row.start + j, row.nth(p, j));
        sync_team<warps>();
    }
}

} // namespace

void gnn_cuda_pick_labor(const gnn_work &w, void *stream)
{
    GNN_LAUNCH(pick_labor<true>, gnn_grid(w.job.what.n, GNN_WARPS), GNN_BLOCK, Team<true>::SHARED,
               stream, w);
    GNN_LAUNCH(pick_labor<false>, gnn_grid(w.job.what.n, GNN_WARPS), GNN_BLOCK, Team<false>::SHARED,
               stream, w);
}
