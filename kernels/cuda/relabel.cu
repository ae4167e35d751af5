/* SPDX-License-Identifier: Apache-2.0 */
/* Numbering by first occurrence. A word of the map is a batch's tag in the high bits and, below,
 * either a local number, below `base` while a list is being numbered, or base + the position in the
 * list at which somebody claims it. Every position does one atomic minimum that nothing waits for
 * (in sampling, where the source is read); the next kernel asks which positions kept their claim
 * and counts them, its last block adds up the tiles, and the last one writes numbers. That one does
 * not read the map again: it goes from the position that won to its number through 8 bytes per 32
 * positions, which stay in the first two caches. Traffic for an id: two random words of the map, a
 * third if new, but for a type's last list.
 *
 * Entries with other columns claim slots of a hash table in a kernel of their own, when all of the
 * list is there to be compared with, and leave their slots in the output. There are no tags: the
 * table is empty at the start of a batch. */
#include "kernels/cuda/work.cuh"

namespace
{

constexpr uint32_t NONE = UINT32_MAX;
constexpr uint32_t FEW_SEEDS = 2 * GNN_LIST_TILE; /* about as many as one block numbers before three
                                                     kernels have started in turn */

__host__ __device__ inline uint64_t map_words(const gnn_cuda_relabel &r)
{
    return r.slots ? r.slots : r.nnodes;
}

/* Tags descend, so that older words lose against newer; at 0 the map starts anew. 0 bits of tag:
 * each time. A hash table's keys start anew with each batch. */
__global__ __launch_bounds__(GNN_BLOCK) void begin(const gnn_cuda_relabel r, uint32_t step,
                                                   uint32_t *ticket)
{
    __shared__ uint32_t last;
    const uint32_t tag = *r.tag;
    const uint64_t words = map_words(r), from = blockIdx.x * (uint64_t)GNN_BLOCK + threadIdx.x;
    for (uint64_t i = from; tag == 0 && i < words; i += gridDim.x * (uint64_t)GNN_BLOCK)
        r.map[i] = NONE;
    for (uint64_t i = from; r.key && i < r.slots; i += gridDim.x * (uint64_t)GNN_BLOCK)
        r.key[i] = NONE;
    if (!gnn_last_block(ticket, &last) || threadIdx.x)
        return;
    *r.tag = tag ? tag - step : 0u - step;
    *r.count = 0;
}

__device__ __forceinline__ void claim_list(const gnn_work &w)
{
    const uint32_t n = gnn_list_length(w), tag = *w.r.tag, base = *w.r.count;
    for (uint64_t p = blockIdx.x * (uint64_t)GNN_BLOCK + threadIdx.x; p < n;
         p += gridDim.x * (uint64_t)GNN_BLOCK) {
        const uint32_t v = w.entry.node[p];
        if (v >= w.r.nnodes)
            gnn_note(w.job.status, p);
        else if (gnn_is_keyed(&w.r))
            gnn_claim_entry(w, base, (uint32_t)p);
        else
            gnn_claim(w.r, tag, base, v, (uint32_t)p);
    }
}

/* The place of the first bad pick e, or seed e. */
__device__ void fail_at(const gnn_work &w, uint32_t e)
{
    if (w.job.what.indptr)
        gnn_fail_source(w, e);
    else
        gnn_fail_batch(w, GNN_SAMPLE_SEED, w.entry.node[e], e, 0);
}

/* By the last block: adds up, and takes the new nodes in. */
__device__ void finish_count(const gnn_work &w, uint32_t n)
{
    __shared__ uint64_t warp[GNN_WARPS], cross;
    const uint32_t base = *w.r.count;
    const uint64_t tiles = n / GNN_LIST_TILE + (n % GNN_LIST_TILE != 0);
    const uint64_t fresh = gnn_scan_tiles(w.s.fresh, tiles, UINT64_MAX, warp, &cross);
    uint64_t key;
    if (threadIdx.x || w.job.status->code)
        return;
    *w.s.base = base;
    if (gnn_noted(w.job.status, &key))
        fail_at(w, (uint32_t)key);
    else if (!w.job.what.indptr && *w.n > w.job.capacity)
        gnn_fail_batch(w, GNN_SAMPLE_CAPACITY, *w.n, GNN_CUDA_CAPACITY_SEEDS, 0);
    else if (base + fresh > w.r.capacity)
        gnn_fail_batch(w, GNN_SAMPLE_CAPACITY, base + fresh, GNN_CUDA_CAPACITY_NODES, 0);
    else
        *w.r.count = base + (uint32_t)fresh;
}

/* The map's word of the entry at position p, which has been claimed. */
__device__ __forceinline__ uint32_t word_of(const gnn_work &w, uint64_t p)
{
    return w.r.map[gnn_is_keyed(&w.r) ? w.out[p] : gnn_slot(w.r, w.entry.node[p])];
}

/* Which positions kept their claim? A warp looks at 128 of them, a block at a tile. Returns how
 * many there are in the list. */
__device__ __forceinline__ uint32_t count_list(const gnn_work &w)
{
    __shared__ uint32_t of_warp[GNN_WARPS];
    const uint32_t tag = *w.r.tag, base = *w.r.count, lane = threadIdx.x % 32,
                   warp = threadIdx.x / 32;
    uint64_t key;
    const uint32_t n = gnn_noted(w.job.status, &key) ? 0 : gnn_list_length(w);
    for (uint64_t tile = blockIdx.x; tile * GNN_LIST_TILE < n; tile += gridDim.x) {
        const uint64_t first = tile * GNN_LIST_TILE + warp * 128, from = first + lane;
        uint32_t v[4], ballot[4];
        for (unsigned k = 0; k < 4; k++)
            v[k] = from + k * 32 < n ? word_of(w, from + k * 32) - tag : NONE;
        for (unsigned k = 0; k < 4; k++) {
            const uint64_t p = from + k * 32;
            const bool kept = p < n && v[k] == base + (uint32_t)p;
            ballot[k] = __ballot_sync(0xffffffffu, kept);
            /* Those that will write to their slot still need to know it. */
            if (w.out && p < n && !(kept && gnn_is_keyed(&w.r)))
                w.out[p] = v[k];
        }
        gnn_mark_tile(w.s, tile, first, n, ballot, of_warp);
    }
    return n;
}

/* The number of the new id at position p. */
__device__ __forceinline__ uint32_t number_at(const gnn_scratch &s, uint32_t base, uint32_t p)
{
    return base + gnn_marked_before(s, p);
}

__device__ __forceinline__ void write_list(const gnn_work &w)
{
    const bool dead = w.job.status->code != 0;
    const uint32_t n = *w.n < w.job.capacity ? *w.n : w.job.capacity, tag = *w.r.tag,
                   base = *w.s.base;
    if (blockIdx.x == 0)
        for (uint32_t t = threadIdx.x; t < w.r.ncounts; t += GNN_BLOCK)
            w.r.counts[t] = w.r.live[t];
    for (uint64_t i = blockIdx.x * (uint64_t)GNN_BLOCK + threadIdx.x; i < n;
         i += gridDim.x * (uint64_t)GNN_BLOCK) {
        const uint32_t p = (uint32_t)i;
        if (dead) {
            if (w.out)
                w.out[p] = 0;
            continue;
        }
        if (w.s.word[p / 32].x >> p % 32 & 1) {
            const uint32_t v = w.entry.node[p], local = number_at(w.s, base, p);
            gnn_entry_put(&w.r.list, local, v, &w.entry, p);
            if (!w.r.last)
                w.r.map[gnn_is_keyed(&w.r) ? w.out[p] : gnn_slot(w.r, v)] = tag | local;
            if (w.out)
                w.out[p] = local;
        } else if (w.out && w.out[p] >= base)
            w.out[p] = number_at(w.s, base, w.out[p] - base);
    }
}

__global__ __launch_bounds__(GNN_BLOCK) void claim_entries(const gnn_work w)
{
    claim_list(w);
}

__global__ __launch_bounds__(GNN_BLOCK) void count_new(const gnn_work w)
{
    __shared__ uint32_t last;
    const uint32_t n = count_list(w);
    if (gnn_last_block(&w.job.status->ticket, &last))
        finish_count(w, n);
}

__global__ __launch_bounds__(GNN_BLOCK) void write_numbers(const gnn_work w)
{
    write_list(w);
}

/* All of it, by one block. */
__global__ __launch_bounds__(GNN_BLOCK) void number_few(const gnn_work w)
{
    claim_list(w);
    __syncthreads();
    finish_count(w, count_list(w));
    __syncthreads();
    write_list(w);
}

} // namespace

void gnn_cuda_number_list(const gnn_work *w, void *stream)
{
    if (gnn_is_keyed(&w->r))
        GNN_LAUNCH(claim_entries, gnn_grid(w->job.capacity, GNN_BLOCK), GNN_BLOCK, 0, stream, *w);
    GNN_LAUNCH(count_new, gnn_scan_grid(w->job.capacity, GNN_LIST_TILE), GNN_BLOCK, 0, stream, *w);
    GNN_LAUNCH(write_numbers, gnn_grid(w->job.capacity, GNN_BLOCK), GNN_BLOCK, 0, stream, *w);
}

uint32_t gnn_cuda_relabel_bits(uint64_t capacity, uint64_t list)
{
    if (capacity > UINT32_MAX || list > UINT32_MAX - capacity) /* all ones mean nothing */
        return 0;
    uint32_t bits = 10;
    while ((UINT64_C(1) << bits) - 1 < capacity + list)
        bits++;
    return bits;
}

uint32_t gnn_cuda_relabel_slots(uint64_t nnodes, uint64_t capacity, uint64_t list)
{
    const uint64_t most =
        capacity < nnodes && list < nnodes - capacity ? capacity + list : nnodes; /* ids at once */
    uint64_t slots = 64;
    while (slots < 2 * most)
        slots *= 2;
    return 2 * slots * 2 <= nnodes ? (uint32_t)slots : 0;
}

uint32_t gnn_cuda_relabel_table(uint64_t capacity, uint64_t list)
{
    uint64_t slots = 64;
    while (slots < 2 * (capacity + list))
        slots *= 2;
    return slots <= UINT32_C(1) << 31 ? (uint32_t)slots : 0;
}

void gnn_cuda_begin_batch(const gnn_cuda_relabel *r, gnn_cuda_sample_status *status, void *stream)
{
    const uint32_t step = r->bits < 32 ? UINT32_C(1) << r->bits : 0;
    const uint64_t each = r->slots ? 16 : 256; /* a direct map starts anew once in many batches: few
                                                  blocks, mostly for nothing */
    GNN_LAUNCH(begin, gnn_scan_grid(map_words(*r), each * GNN_BLOCK), GNN_BLOCK, 0, stream, *r,
               step, &status->ticket);
}

static uint64_t words_bytes(uint32_t capacity)
{
    return (capacity / UINT64_C(32) + 2) / 2 * 2 * sizeof(uint2);
}
uint64_t gnn_cuda_relabel_scratch(uint32_t capacity)
{
    return 16 + words_bytes(capacity) +
           (capacity / (uint64_t)GNN_LIST_TILE + 1) * sizeof(uint64_t) +
           capacity * sizeof(uint32_t);
}

void gnn_cuda_relabel_seeds(const gnn_cuda_relabel *r, gnn_entries e, const uint32_t *n,
                            uint32_t capacity, void *scratch, gnn_cuda_sample_status *status,
                            void *stream)
{
    gnn_work w = {};
    char *at = static_cast<char *>(scratch);
    w.s.base = reinterpret_cast<uint32_t *>(at);
    w.s.word = reinterpret_cast<uint2 *>(at + 16);
    w.s.fresh = reinterpret_cast<uint64_t *>(at + 16 + words_bytes(capacity));
    if (gnn_is_keyed(r))
        w.out = reinterpret_cast<uint32_t *>(w.s.fresh + capacity / (uint64_t)GNN_LIST_TILE + 1);
    w.job.capacity = capacity;
    w.job.status = status;
    w.r = *r;
    w.entry = e;
    w.n = n;
    if (capacity <= FEW_SEEDS) {
        GNN_LAUNCH(number_few, 1, GNN_BLOCK, 0, stream, w);
        return;
    }
    if (!gnn_is_keyed(r))
        GNN_LAUNCH(claim_entries, gnn_grid(capacity, GNN_BLOCK), GNN_BLOCK, 0, stream, w);
    gnn_cuda_number_list(&w, stream);
}
