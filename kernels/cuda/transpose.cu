/* SPDX-License-Identifier: Apache-2.0 */
/* The transposed block: edges sorted by column, stably, so that a column's rows ascend as they
 * came. A radix sort by digits of up to 8 bits, as few as the number of columns needs; each pass
 * counts the digits of RANGES ranges of edges, sums up the counts digit by digit, and puts every
 * edge after those of lower digits, of earlier ranges, and before it in its own. Lanes with equal
 * digits find each other by match: no atomic decides an order. Cost is in edges, whatever the
 * degrees. */
#include "kernels/cuda/cuda.cuh"
#include "kernels/spmm.h"

namespace
{

constexpr unsigned THREADS = 256, WARPS = THREADS / 32, RANGES = 256, DIGITS = 256;
constexpr unsigned ROUNDS = 8, TILE = THREADS * ROUNDS;
static_assert(RANGES == THREADS && DIGITS == THREADS, "a thread has a range, or a digit");

struct Scratch {
    uint32_t *edges; /* [1] how many there are */
    /* [DIGITS][RANGES] edges of the digit in the range, then in the ranges before */
    uint32_t *count;
    uint32_t *total; /* [DIGITS] */
    uint32_t *key[2], *row, *edge;
};

/* What is sorted by the keys: rows, and the edges' numbers unless NULL. */
struct Payload {
    uint32_t *row, *edge;
};

Scratch carve(void *scratch, uint32_t cap)
{
    /* One allocation of the caller, in 32-bit words. */
    uint32_t *p = static_cast<uint32_t *>(scratch);
    Scratch s;
    s.edges = p;
    s.count = s.edges + 1;
    s.total = s.count + DIGITS * RANGES;
    s.key[0] = s.total + DIGITS;
    s.key[1] = s.key[0] + cap;
    s.row = s.key[1] + cap;
    s.edge = s.row + cap;
    return s;
}

struct Blocks {
    const gnn_csr *block;
    uint32_t nblocks;
    const uint32_t *ncols;
    uint32_t cap_cols, cap_edges;
    uint64_t *bad;
};

/* The row of a that has edge e. */
__device__ uint32_t row_of(const gnn_csr *a, uint64_t e)
{
    uint32_t low = 0, high = a->n;
    while (high - low > 1) {
        const uint32_t mid = low + (high - low) / 2;
        if (gnn_csr_offset(a, mid) <= e)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Lists (column, row) of all edges, one block after the other. Bad columns become cap_cols, the
 * last. */
__global__ void list_edges(const Blocks q, uint32_t *key, const Payload to, uint32_t *edges)
{
    const uint32_t ncols = gnn_device_count(q.ncols, q.cap_cols);
    const uint64_t first = (uint64_t)blockIdx.x * THREADS + threadIdx.x,
                   stride = (uint64_t)gridDim.x * THREADS;
    uint64_t base = 0;
    for (uint32_t b = 0; b < q.nblocks; b++) {
        const gnn_csr *a = &q.block[b];
        const uint64_t from = a->n ? gnn_csr_offset(a, 0) : 0,
                       n = a->n ? gnn_csr_offset(a, a->n) - from : 0;
        /* Edges beyond the capacity are reported, not written. */
        const uint64_t capacity = q.cap_edges - base, take = n < capacity ? n : capacity;
        if (take < n && first == 0)
            gnn_device_bad(q.bad, (uint64_t)b << 32 | (uint32_t)(from + take));
        for (uint64_t i = first; i < take; i += stride) {
            const uint64_t e = from + i;
            uint32_t c = a->indices[e];
            if (c >= ncols) {
                gnn_device_bad(q.bad, (uint64_t)b << 32 | (uint32_t)e);
                c = q.cap_cols;
            }
            key[base + i] = c;
            to.row[base + i] = a->first + row_of(a, e);
            if (to.edge)
                to.edge[base + i] = (uint32_t)(base + i);
        }
        base += take;
    }
    if (first == 0)
        *edges = (uint32_t)base;
}

/* Edges are dealt out evenly, but by whole tiles: few edges are few ranges. */
__device__ uint64_t range_begin(uint32_t edges, unsigned r)
{
    const uint64_t each = (edges / RANGES + TILE) / TILE * TILE, at = each * r;
    return at < edges ? at : edges;
}

__global__ void __launch_bounds__(THREADS)
    count_digits(const uint32_t *edges, const uint32_t *key, unsigned shift, uint32_t mask,
                 uint32_t *count)
{
    GNN_DYNAMIC_SHARED(uint32_t, n);
    const uint64_t from = range_begin(*edges, blockIdx.x), to = range_begin(*edges, blockIdx.x + 1);
    if (from == to) {
        count[threadIdx.x * RANGES + blockIdx.x] = 0;
        return;
    }
    n[threadIdx.x] = 0;
    __syncthreads();
    for (uint64_t e = from + threadIdx.x; e < to; e += THREADS)
        atomicAdd(&n[key[e] >> shift & mask], 1u);
    __syncthreads();
    count[threadIdx.x * RANGES + blockIdx.x] = n[threadIdx.x];
}

/* Sum of v over the lanes up to this one. */
__device__ uint32_t sum_lanes(uint32_t v)
{
    for (unsigned d = 1; d < 32; d *= 2) {
        const uint32_t o = __shfl_up_sync(0xffffffffu, v, d);
        v += threadIdx.x % 32 >= d ? o : 0;
    }
    return v;
}

/* A warp has a digit: its counts in the first `ranges` become the sums of those before, and their
 * total. */
__global__ void __launch_bounds__(THREADS)
    sum_ranges(uint32_t *count, uint32_t *total, unsigned ranges)
{
    constexpr unsigned EACH = RANGES / 32;
    const unsigned digit = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t *p = count + digit * RANGES + lane * EACH, n[EACH], sum = 0;
    for (unsigned i = 0; i < EACH; i++)
        sum += n[i] = lane * EACH + i < ranges ? p[i] : 0;
    uint32_t before = sum_lanes(sum);
    if (lane == 31)
        total[digit] = before;
    before -= sum;
    for (unsigned i = 0; i < EACH; i++) {
        p[i] = before;
        before += n[i];
    }
}

/* Moves a range's edges to their places, a tile at a time. A warp has ROUNDS * 32 edges of the
 * tile, in order. */
__global__ void __launch_bounds__(THREADS)
    move_edges(const uint32_t *edges, const uint32_t *key, const Payload in, unsigned shift,
               uint32_t mask, const uint32_t *count, const uint32_t *total, uint32_t *key_out,
               const Payload out)
{
    GNN_DYNAMIC_SHARED(uint32_t, shared);
    uint32_t *n = shared, *work = shared + WARPS * DIGITS; /* n: [WARPS][DIGITS] */
    const unsigned t = threadIdx.x, lane = t % 32;
    uint32_t *mine = n + t / 32 * DIGITS;
    const uint64_t from = range_begin(*edges, blockIdx.x), to = range_begin(*edges, blockIdx.x + 1);
    if (from == to)
        return;
    /* where this range's next edge with digit t goes */
    const uint32_t upto = sum_lanes(total[t]);
    if (lane == 31)
        work[t / 32] = upto;
    __syncthreads();
    uint32_t next = upto - total[t] + count[t * RANGES + blockIdx.x];
    for (unsigned w = 0; w < t / 32; w++)
        next += work[w];

    for (uint64_t tile = from; tile < to; tile += TILE) {
        const uint64_t first = tile + t / 32 * (ROUNDS * 32) + lane;
        uint32_t k[ROUNDS], v[ROUNDS], before[ROUNDS], number[ROUNDS];
        for (unsigned w = 0; w < WARPS; w++)
            n[w * DIGITS + t] = 0;
        GNN_UNROLL
        for (unsigned i = 0; i < ROUNDS; i++)
            k[i] = first + i * 32 < to ? key[first + i * 32] : 0;
        GNN_UNROLL
        for (unsigned i = 0; i < ROUNDS; i++)
            v[i] = first + i * 32 < to ? in.row[first + i * 32]
                                       : 0; /* before any store: it might be to here */
        GNN_UNROLL
        for (unsigned i = 0; i < ROUNDS; i++)
            number[i] = in.edge && first + i * 32 < to ? in.edge[first + i * 32] : 0;
        __syncthreads();
        GNN_UNROLL
        for (unsigned i = 0; i < ROUNDS; i++) {
            const bool some = first + i * 32 < to;
            const uint32_t digit = some ? k[i] >> shift & mask : UINT32_MAX;
            /* Lanes of a warp with the same digit find each other. The first of them reserves
             * places for all in shared memory, in the order of the lanes, so the sort is stable. */
            const unsigned same = __match_any_sync(0xffffffffu, digit);
            const uint32_t had = some ? mine[digit] : 0;
            before[i] = had + (uint32_t)__popc(same & ((1u << lane) - 1));
            __syncwarp();
            if (some && lane + 1 == (unsigned)__ffs((int)same))
                mine[digit] = had + (uint32_t)__popc(same);
            __syncwarp();
        }
        __syncthreads();
        /* Warps in turn: digit t's places for warp w follow those of the warps before it. */
        for (unsigned w = 0; w < WARPS; w++) {
            const uint32_t had = n[w * DIGITS + t];
            n[w * DIGITS + t] = next;
            next += had;
        }
        __syncthreads();
        GNN_UNROLL
        for (unsigned i = 0; i < ROUNDS; i++) {
            if (first + i * 32 >= to)
                continue;
            const uint32_t at = mine[k[i] >> shift & mask] + before[i];
            key_out[at] = k[i];
            out.row[at] = v[i];
            if (out.edge)
                out.edge[at] = number[i];
        }
        __syncthreads();
    }
}

/* tptr[c]: how many sorted keys are below c. */
__global__ void find_columns(const uint32_t *edges, const uint32_t *key, const uint32_t *ncols,
                             uint32_t cap_cols, uint32_t *tptr)
{
    const uint64_t n = (uint64_t)gnn_device_count(ncols, cap_cols) + 1;
    for (uint64_t c = (uint64_t)blockIdx.x * THREADS + threadIdx.x; c < n;
         c += (uint64_t)gridDim.x * THREADS) {
        uint32_t low = 0, high = *edges;
        while (low < high) {
            const uint32_t mid = low + (high - low) / 2;
            if (key[mid] < c)
                low = mid + 1;
            else
                high = mid;
        }
        tptr[c] = low;
    }
}

} // namespace

size_t gnn_cuda_csr_transpose_scratch(uint32_t cap_edges, int with_edges)
{
    return (1 + (size_t)DIGITS * RANGES + DIGITS + (with_edges ? 4 : 3) * (size_t)cap_edges) *
           sizeof(uint32_t);
}

void gnn_cuda_csr_transpose(const struct gnn_csr *block, uint32_t nblocks, const uint32_t *ncols,
                            uint32_t cap_cols, uint32_t cap_edges, uint32_t *tptr, uint32_t *tidx,
                            uint32_t *tedge, void *scratch, uint64_t *bad, void *stream)
{
    const Scratch s = carve(scratch, cap_edges);
    const Blocks q = {block, nblocks, ncols, cap_cols, cap_edges, bad};
    unsigned bits = 1; /* of the keys 0 .. cap_cols */
    while (bits < 32 && cap_cols >> bits)
        bits++;
    /* Passes of equal width: 9 bits are two passes of 5, not one of 8 and one of 1. */
    const unsigned passes = (bits + 7) / 8, width = (bits + passes - 1) / passes;
    const unsigned tiles = cap_edges / TILE + 1,
                   ranges = tiles < RANGES ? tiles : RANGES; /* that can have edges */
    const uint32_t mask = (1u << width) - 1;
    /* so that the last pass writes to tidx */
    const Payload last = {tidx, tedge}, other = {s.row, tedge ? s.edge : nullptr};
    const Payload list[2] = {passes % 2 ? other : last, passes % 2 ? last : other};

    GNN_LAUNCH(list_edges, gnn_grid(cap_edges, THREADS), THREADS, 0, stream, q, s.key[0], list[0],
               s.edges);
    for (unsigned p = 0; p < passes; p++) {
        const uint32_t *key = s.key[p % 2];
        const unsigned shift = p * width;
        GNN_LAUNCH(count_digits, ranges, THREADS, DIGITS * sizeof(uint32_t), stream, s.edges, key,
                   shift, mask, s.count);
        GNN_LAUNCH(sum_ranges, DIGITS / WARPS, THREADS, 0, stream, s.count, s.total, ranges);
        GNN_LAUNCH(move_edges, ranges, THREADS, (WARPS * DIGITS + WARPS) * sizeof(uint32_t), stream,
                   s.edges, key, list[p % 2], shift, mask, s.count, s.total, s.key[1 - p % 2],
                   list[1 - p % 2]);
    }
    GNN_LAUNCH(find_columns, gnn_grid((uint64_t)cap_cols + 1, THREADS), THREADS, 0, stream, s.edges,
               s.key[passes % 2], ncols, cap_cols, tptr);
}
