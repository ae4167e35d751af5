/* SPDX-License-Identifier: Apache-2.0 */
/* Of the edges of a block those that come from nodes of the batch. All that may be there have been
 * picked, as ids with the columns of their destinations. One kernel looks each up in the map, which
 * it only reads, writes its number over the id, marks it and counts; its last block adds up the
 * tiles. The next kernel moves what is marked to where that many marked ones come before, which
 * keeps the order, and so it is with the offsets of rows. Traffic for an edge: one random word of
 * the map, and for one that stays, its place. */
#include "kernels/cuda/work.cuh"

namespace
{

constexpr uint32_t NONE = UINT32_MAX;

/* The number of the entry at position p of the list; at least `count`: it has none. */
__device__ __forceinline__ uint32_t find_number(const gnn_work &w, uint32_t tag, uint32_t count,
                                                uint32_t p)
{
    const uint32_t v = w.entry.node[p];
    if (v >= w.r.nnodes || !count) /* a type that no batch has has no map either */
        return NONE;
    if (!w.r.slots)
        return w.r.map[v] - tag;
    if (!gnn_is_keyed(&w.r)) {
        uint32_t i = gnn_slot_first(w.r, v), k;
        while ((k = w.r.key[i]) != v && k != NONE)
            i = (i + 1) & (w.r.slots - 1);
        return k == v ? w.r.map[i] - tag : NONE;
    }
    for (uint32_t i = gnn_entry_slot(w, p);; i = (i + 1) & (w.r.slots - 1)) {
        const uint32_t k = w.r.map[i];
        if (k >= count || gnn_entry_same(&w.r.list, k, v, &w.entry, p))
            return k;
    }
}

/* By one thread of the last block: what came of looking at n edges? */
__device__ void finish_find(const gnn_work &w, uint32_t n, uint64_t total, uint32_t capacity)
{
    uint64_t key;
    if (!w.job.status->code) {
        if (gnn_noted(w.job.status, &key))
            gnn_fail_source(w, (uint32_t)key);
        else if (total > capacity)
            gnn_fail_batch(w, GNN_SAMPLE_CAPACITY, total, GNN_CUDA_CAPACITY_KEPT, 0);
    }
    *w.s.base = n;
    *w.job.edges = w.job.status->code ? 0 : (uint32_t)total;
}

__global__ __launch_bounds__(GNN_BLOCK) void find_known(const gnn_work w, uint32_t capacity)
{
    __shared__ uint32_t of_warp[GNN_WARPS], last;
    __shared__ uint64_t sums[GNN_WARPS], cross;
    const uint32_t tag = *w.r.tag, count = *w.r.count;
    uint64_t key;
    /* Nothing is written over a place that a failure is told of by. */
    const uint32_t n = gnn_noted(w.job.status, &key) ? 0 : gnn_list_length(w);
    for (uint64_t tile = blockIdx.x; tile * GNN_LIST_TILE < n; tile += gridDim.x) {
        const uint64_t first = tile * GNN_LIST_TILE + threadIdx.x / 32 * 128,
                       from = first + threadIdx.x % 32;
        uint32_t v[4], ballot[4];
        for (unsigned k = 0; k < 4; k++)
            v[k] = from + k * 32 < n ? find_number(w, tag, count, (uint32_t)(from + k * 32)) : NONE;
        for (unsigned k = 0; k < 4; k++) {
            ballot[k] = __ballot_sync(0xffffffffu, v[k] < count);
            if (v[k] < count)
                w.entry.node[from + k * 32] = v[k];
        }
        gnn_mark_tile(w.s, tile, first, n, ballot, of_warp);
    }
    if (!gnn_last_block(&w.job.status->ticket, &last))
        return;
    const uint64_t tiles = n / GNN_LIST_TILE + (n % GNN_LIST_TILE != 0);
    const uint64_t total = gnn_scan_tiles(w.s.fresh, tiles, UINT64_MAX, sums, &cross);
    if (threadIdx.x == 0)
        finish_find(w, n, total, capacity);
}

__global__ __launch_bounds__(GNN_BLOCK) void move_known(const gnn_work w, const gnn_cuda_kept to)
{
    gnn_entries dst;
    const bool dead = w.job.status->code != 0;
    const uint32_t all = gnn_rows_of(w.job, &dst), rows = all < w.job.what.n ? all : w.job.what.n,
                   n = *w.s.base, kept = *w.job.edges;
    const uint64_t i0 = blockIdx.x * (uint64_t)GNN_BLOCK + threadIdx.x,
                   stride = gridDim.x * (uint64_t)GNN_BLOCK;
    for (uint64_t i = i0; i <= rows; i += stride) {
        const uint32_t p = w.job.what.indptr[i];
        w.job.what.indptr[i] = dead ? 0 : p < n ? gnn_marked_before(w.s, p) : kept;
    }
    for (uint64_t p = i0; !dead && p < n; p += stride)
        if (w.s.word[p / 32].x >> p % 32 & 1) {
            const uint32_t at = gnn_marked_before(w.s, (uint32_t)p);
            to.indices[at] = w.entry.node[p];
            if (to.ids)
                to.ids[at] = w.job.ids[p];
        }
}

} // namespace

void gnn_cuda_keep_known(const gnn_work *w, const gnn_cuda_kept *kept, void *stream)
{
    const uint64_t most = w->job.capacity > w->job.what.n ? w->job.capacity : w->job.what.n;
    GNN_LAUNCH(find_known, gnn_scan_grid(w->job.capacity, GNN_LIST_TILE), GNN_BLOCK, 0, stream, *w,
               kept->capacity);
    GNN_LAUNCH(move_known, gnn_grid(most, GNN_BLOCK), GNN_BLOCK, 0, stream, *w, *kept);
}
