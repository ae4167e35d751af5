/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling one hop along one edge type: count, pick, then relabel.cu's two kernels if the sources
 * are to be numbered.
 *
 * A batch is small and its reads are random, so time is latency: everything keeps many reads in
 * flight and does no more than O(fan-out) for a destination. Counting takes a thread for each.
 * Picking takes 8, 16 or 32 lanes, as the fan-out needs: each draws its own number, two collectives
 * find who must take Floyd's substitute, each reads one neighbour and sends off its claim in the
 * map of local numbers without waiting. An SM has 48 to 192 destinations in flight. All neighbours:
 * a thread for each edge, so that no long row holds up a block. Large fan-outs: a warp or a block
 * for each destination, with a hash set.
 *
 * Floyd's algorithm in parallel. Draw j is t_j <= b + j, with b = degree - k; it is taken unless it
 * is in the sample so far, else b + j is. It is there if an earlier draw is equal, or if it is b +
 * q for an earlier draw q that had to be replaced: so whether j is replaced follows from `an
 * earlier draw is equal` along the chain of links j -> t_j - b. */
#include "kernels/cuda/picker.cuh"

#include <algorithm>

namespace
{

constexpr uint32_t NONE = UINT32_MAX;
enum : uint32_t {
    WARP_SET_MAX = 256,   /* fan-outs for which a warp has its set in shared memory */
    BLOCK_SET_MAX = 4096, /* fan-outs for which a block has */
    GLOBAL_BLOCKS = 64    /* blocks with sets in global memory, beyond */
};
enum Kind : uint32_t {
    NODE,
    INDPTR,
    MANY
}; /* what the CPU looks for: the first two in each row of a chunk, then the last in their sum */

static_assert(GNN_CHUNK <= 64, "the number of a row in its chunk has six bits");

/* Errors of all threads become one: the lowest key wins (gnn_note), so a batch fails with the error
 * that the CPU would have found first. */
__device__ __forceinline__ void note(const gnn_work &w, uint32_t i, Kind kind)
{
    gnn_note(w.job.status, (uint64_t)(i / GNN_CHUNK) << 8 | (uint64_t)(kind == MANY) << 7 |
                               (i % GNN_CHUNK) << 1 | (kind == INDPTR));
}

/* Which row such a key is about, and what is wrong with it. */
__device__ __forceinline__ uint32_t noted_row(uint64_t key, Kind *kind)
{
    *kind = key >> 7 & 1 ? MANY : key & 1 ? INDPTR : NODE;
    return (uint32_t)(key >> 8) * GNN_CHUNK + (uint32_t)(key >> 1) % GNN_CHUNK;
}

/* The edges from x that destination i has to pass, which Row finds again. */
__device__ __forceinline__ gnn_skip find_skipped(const gnn_work &w, uint32_t i, uint32_t node,
                                                 const gnn_sample_part &a, const gnn_pick_range &x)
{
    gnn_skip skip = {nullptr, 0};
    const gnn_excluded *all = w.job.what.excluded;
    if (!all)
        return skip;
    if (gnn_excluded_may(all, node))
        skip = gnn_skip_passed(all, node, w.job.what.rule, a.indices, &x);
    w.s.skip[i] = skip;
    return skip;
}

/* Reads the offsets of destination i; returns its picks. */
__device__ __forceinline__ uint32_t read_row(const gnn_work &w, const gnn_entries &dst, uint32_t i)
{
    const uint32_t node = dst.node[i];
    const gnn_sample_part &a = w.job.what.graph.part[gnn_part_of(w.job.what.graph, node)];
    const uint64_t v = node - a.first;
    if (v >= a.count) {
        note(w, i, NODE);
        return 0;
    }
    gnn_sample_row row;
    gnn_pick_range x;
    if (!gnn_pick_timed(w.job.what.rule, &a.pick, &a.indptr[v], a.nedges, gnn_entry_time(&dst, i),
                        &x)) {
        note(w, i, INDPTR);
        return 0;
    }
    const gnn_skip skip = find_skipped(w, i, node, a, x);
    gnn_pick_last(w.job.what.rule, skip.n, &x);
    gnn_pick_weigh(w.job.what.rule, &a.pick, &x);
    x.degree -= min(skip.n, x.degree); /* less: of damaged numbers */
    /* A row may have a copy of its sources in device memory, where the graph itself is in the
     * host's. */
    const uint32_t resident = a.resident_at ? a.resident_at[v] : NONE;
    row.base = resident == NONE ? a.indices + x.first
                                : a.resident + resident * (uint64_t)GNN_SAMPLE_RESIDENT +
                                      (x.first - a.indptr[v]);
    row.degree = x.degree;
    row.orig = a.orig ? a.orig[v] : node;
    w.s.row[i] = row;
    if (w.s.weights) {
        gnn_weights of = gnn_weights_of(&a.pick, &x);
        gnn_weights_load(&of);
        w.s.weights[i] = of;
    }
    return gnn_pick_count(w.job.what.rule, row.degree);
}

/* The chunk of a tile at whose end the sum reaches 2^32 - 1. */
__device__ void find_many(const gnn_work &w, uint32_t n, uint64_t tile)
{
    const uint64_t first = tile * GNN_ROW_TILE, before = w.s.tile[tile];
    uint32_t i = (uint32_t)first;
    for (uint64_t next = first + GNN_CHUNK; next < n && next < first + GNN_ROW_TILE;
         next += GNN_CHUNK) {
        if (before + __ldcg(&w.s.before[next]) >= UINT32_MAX)
            break;
        i = (uint32_t)next;
    }
    note(w, i, MANY);
}

/* By one thread of the last block: what came of counting n rows? */
__device__ void finish_count(const gnn_work &w, const uint32_t *nodes, uint32_t n, uint64_t total)
{
    uint64_t key;
    if (w.job.status->code) {
        total = 0;
    } else if (n > w.job.what.n) {
        gnn_fail_batch(w, GNN_SAMPLE_CAPACITY, n, GNN_CUDA_CAPACITY_ROWS, 0);
        total = 0;
    } else if (gnn_noted(w.job.status, &key)) {
        Kind kind;
        const uint32_t i = noted_row(key, &kind);
        const uint32_t part = kind == INDPTR ? gnn_part_of(w.job.what.graph, nodes[i]) : 0;
        gnn_fail_batch(w,
                       kind == NODE     ? GNN_SAMPLE_NODE
                       : kind == INDPTR ? GNN_SAMPLE_INDPTR
                                        : GNN_SAMPLE_MANY,
                       nodes[i], 0, part);
        total = 0;
    } else if (total > w.job.capacity) {
        gnn_fail_batch(w, GNN_SAMPLE_CAPACITY, total, GNN_CUDA_CAPACITY_EDGES, 0);
        total = 0;
    }
    *w.job.edges = (uint32_t)total;
}

__global__ __launch_bounds__(GNN_BLOCK) void count_picks(const gnn_work w)
{
    __shared__ uint64_t warp[GNN_WARPS], cross;
    __shared__ uint32_t last;
    gnn_entries dst;
    const uint32_t rows = gnn_rows_of(w.job, &dst), *nodes = dst.node;
    const uint32_t n = w.job.status->code || rows > w.job.what.n ? 0 : rows;
    const uint64_t tiles = n / GNN_ROW_TILE + (n % GNN_ROW_TILE != 0);
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const uint64_t i = tile * GNN_ROW_TILE + threadIdx.x;
        uint64_t all;
        const uint64_t before =
            gnn_scan_block(i < n ? read_row(w, dst, (uint32_t)i) : 0, warp, &all);
        if (i < n)
            /* Saturated: a sum that overflows must not look like a small one to find_many. */
            w.s.before[i] = before < UINT32_MAX ? (uint32_t)before : UINT32_MAX;
        if (threadIdx.x == 0)
            w.s.tile[tile] = all;
    }
    /* The block that finishes last adds up the tiles: no second kernel, and no wait by the host. */
    if (!gnn_last_block(&w.job.status->ticket, &last))
        return;
    const uint64_t total = gnn_scan_tiles(w.s.tile, tiles, UINT32_MAX, warp, &cross);
    if (threadIdx.x)
        return;
    if (total >= UINT32_MAX)
        find_many(w, n, cross);
    finish_count(w, nodes, rows, total);
}

/* Lanes of a group of W hold draws t of their own number j < k: what does Floyd's algorithm take?
 * Groups that take all have their numbers for t, and keep them. The whole warp calls at once:
 * collectives of its groups would be done one after the other. */
template <unsigned W> __device__ __forceinline__ uint32_t floyd_lanes(uint32_t t, uint32_t b)
{
    const unsigned all = 0xffffffffu, lane = threadIdx.x % 32, j = lane % W, first = lane - j;
    const unsigned same =
        __match_any_sync(all, t) >> first & ((1u << j) - 1); /* of the own group */
    const unsigned link = t >= b && t - b < j ? first + (t - b) : lane;
    unsigned replaced = __ballot_sync(all, same != 0);
    for (;;) { /* as often as the longest chain has links: mostly once */
        const unsigned more = __ballot_sync(all, (replaced >> lane | replaced >> link) & 1);
        if (more == replaced)
            break;
        replaced = more;
    }
    return replaced >> lane & 1 ? b + j : t;
}

/* Up to W draws, or any number if the rule repeats. */
template <unsigned W, bool repeats>
__global__ __launch_bounds__(GNN_BLOCK, repeats ? 4 : 6) void pick_few(const gnn_work w)
{
    const Picker p(w);
    const unsigned j = threadIdx.x % W, group = threadIdx.x % 32 / W;
    const uint32_t k = gnn_pick_draws(p.rule);
    const uint64_t stride = gridDim.x * (uint64_t)(GNN_BLOCK / W);
    for (uint64_t i0 = (blockIdx.x * (uint64_t)GNN_BLOCK + threadIdx.x) / 32 * (32 / W); i0 < p.n;
         i0 += stride) {
        const bool in =
            i0 + group < p.n; /* at the end all lanes of a warp go on, for its collectives */
        /* A warp past the end works on the last row, without picks: its collectives need all
         * lanes. */
        const Row row(p, in ? (uint32_t)i0 + group : p.n - 1);
        const uint32_t picks = in ? row.picks : 0;
        if (repeats) {
            for (uint32_t q = j; q < picks; q += W)
                emit(p, row, row.start + q, row.nth(p, p.draw(row.orig, row.tree, row.degree, q)));
        } else {
            const uint32_t t = !row.drawn ? j
                               : j < k    ? p.draw(row.orig, row.tree, row.degree, j)
                                          : 0;
            const uint32_t x = floyd_lanes<W>(t, row.degree - k);
            if (j < picks)
                emit(p, row, row.start + j, row.nth(p, x));
        }
    }
}

/* The neighbours that come first in the row's order: a warp for each destination. */
__global__ __launch_bounds__(GNN_BLOCK) void pick_top(const gnn_work w)
{
    const Picker p(w);
    const unsigned all = 0xffffffffu, lane = threadIdx.x % 32;
    const uint64_t stride = gridDim.x * (uint64_t)GNN_WARPS;
    for (uint64_t i = blockIdx.x * (uint64_t)GNN_WARPS + threadIdx.x / 32; i < p.n; i += stride) {
        const Row row(p, (uint32_t)i);
        const gnn_sample_graph &g = w.job.what.graph;
        const gnn_sample_part &a = g.part[gnn_part_of(g, p.dst.node[i])];
        const uint64_t *ptr = &a.indptr[p.dst.node[i] - a.first],
                       n = row.drawn ? ptr[1] - ptr[0] : 0;
        const uint32_t before =
            row.drawn ? (uint32_t)(gnn_first_edge(w, a, p.dst, (uint32_t)i) - ptr[0]) : 0;
        const gnn_skip skip = row.skip(p);
        const uint32_t *first = skip.n ? row.first(p) : nullptr;
        uint32_t found = 0;
        for (uint64_t j = lane; j - lane < n && found < row.picks; j += 32) {
            const uint32_t x = j < n ? a.pick.order[ptr[0] + j] - before : NONE;
            const unsigned in = __ballot_sync(all, x < row.degree + skip.n &&
                                                       !(skip.n && gnn_skip_has(skip, first + x)));
            const uint32_t at = found + (uint32_t)__popc(in & ((1u << lane) - 1));
            if (in >> lane & 1 && at < row.picks)
                emit(p, row, row.start + at, x);
            found += (uint32_t)__popc(in);
        }
        for (uint32_t j = found + lane; j < row.picks;
             j += 32) /* all of them, or a damaged order */
            emit(p, row, row.start + j, row.drawn ? 0 : row.nth(p, j));
    }
}

/* All neighbours. */
__global__ __launch_bounds__(GNN_BLOCK) void pick_all(const gnn_work w)
{
    const Picker p(w);
    for (uint64_t e = blockIdx.x * (uint64_t)GNN_BLOCK + threadIdx.x; e < p.total;
         e += gridDim.x * (uint64_t)GNN_BLOCK) {
        const Row row(p, gnn_row_of(w.s, p.n, (uint32_t)e));
        emit(p, row, (uint32_t)e, row.nth(p, (uint32_t)e - row.start));
    }
}

/* A set of a row's draws: each slot holds the first of the draws that are equal, known by its
 * number. */
struct Set {
    volatile uint32_t *slot;
    uint32_t size, degree, b, orig, tree; /* b: the degree without the draws */
    const Picker &p;

    __device__ __forceinline__ uint32_t draw(uint32_t j) const
    {
        return p.draw(orig, tree, degree, j);
    }
    __device__ void add(uint32_t j)
    {
        const uint32_t t = draw(j);
        for (uint32_t h = gnn_pick_set_slot(t, size);; h = (h + 1) & (size - 1)) {
            const uint32_t old = atomicCAS((uint32_t *)&slot[h], NONE, j);
            if (old == NONE)
                return;
            if (draw(old) == t) {
                atomicMin((uint32_t *)&slot[h], j);
                return;
            }
        }
    }
    /* When all are in: what does Floyd's algorithm take for j? */
    __device__ uint32_t take(uint32_t j) const
    {
        const uint32_t mine = draw(j);
        uint32_t t = mine, at = j;
        for (;;) {
            uint32_t h = gnn_pick_set_slot(t, size), first = slot[h];
            while (first != at && draw(first) != t) {
                h = (h + 1) & (size - 1);
                first = slot[h];
            }
            if (first != at)
                return b + j;
            /* Follows the chain of substitutes: j is replaced if an earlier draw is equal, or if
             * its value was the substitute of an earlier draw that was itself replaced. */
            if (t < b || t - b >= at)
                return mine;
            at = t - b;
            t = draw(at);
        }
    }
};

/* Large fan-outs without replacement; a warp or a block for each destination, sets in shared or in
 * global memory. */
template <bool warps>
__global__ __launch_bounds__(GNN_BLOCK) void pick_many(const gnn_work w, uint32_t size, bool global)
{
    GNN_DYNAMIC_SHARED(uint32_t, shared);
    constexpr unsigned TEAM = warps ? 32u : +GNN_BLOCK, TEAMS = GNN_BLOCK / TEAM;
    const Picker p(w);
    const unsigned rank = threadIdx.x % TEAM, team = threadIdx.x / TEAM;
    uint32_t *slot = global ? w.s.set + blockIdx.x * (uint64_t)size : shared + team * size;
    const uint32_t k = gnn_pick_draws(p.rule);
    for (uint64_t i = blockIdx.x * (uint64_t)TEAMS + team; i < p.n;
         i += gridDim.x * (uint64_t)TEAMS) {
        const Row row(p, (uint32_t)i);
        Set set = {slot, size, row.degree, row.degree - k, row.orig, row.tree, p};
        if (row.drawn) {
            for (uint32_t h = rank; h < size; h += TEAM)
                slot[h] = NONE;
            if (warps)
                __syncwarp();
            else
                __syncthreads();
            for (uint32_t j = rank; j < k; j += TEAM)
                set.add(j);
            if (warps)
                __syncwarp();
            else
                __syncthreads();
        }
        for (uint32_t j = rank; j < row.picks; j += TEAM)
            emit(p, row, row.start + j, row.nth(p, row.drawn ? set.take(j) : j));
        if (warps)
            __syncwarp();
        else
            __syncthreads();
    }
}

/* What numbering would find, where there is none. */
__global__ void find_bad(const gnn_work w)
{
    uint64_t key;
    if (!w.job.status->code && gnn_noted(w.job.status, &key))
        gnn_fail_source(w, (uint32_t)key);
}

/* Lays the scratch out; returns its size. */
uint64_t lay_out(gnn_scratch *s, void *base, gnn_pick_rule rule, uint32_t rows, uint32_t capacity,
                 bool excludes)
{
    const uint32_t k = gnn_pick_draws(rule);
    uint64_t at = 0;
    const auto take = [&](uint64_t bytes) {
        void *p = static_cast<char *>(base) + at;
        at += (bytes + 15) / 16 * 16;
        return base ? p : nullptr;
    };
    s->base = static_cast<uint32_t *>(take(sizeof(uint32_t)));
    s->tile = static_cast<uint64_t *>(take((rows / (uint64_t)GNN_ROW_TILE + 1) * sizeof(uint64_t)));
    s->fresh =
        static_cast<uint64_t *>(take((capacity / (uint64_t)GNN_LIST_TILE + 1) * sizeof(uint64_t)));
    s->word = static_cast<uint2 *>(take((capacity / UINT64_C(32) + 1) * sizeof(uint2)));
    s->row = static_cast<gnn_sample_row *>(take(rows * sizeof(gnn_sample_row)));
    s->before = static_cast<uint32_t *>(take(rows * sizeof(uint32_t)));
    if (excludes)
        s->skip = static_cast<gnn_skip *>(take(rows * sizeof(gnn_skip)));
    if (rule.weighted)
        s->weights = static_cast<gnn_weights *>(take(rows * sizeof(gnn_weights)));
    else if (!gnn_pick_repeats(rule) && !gnn_pick_compares(rule) && k > BLOCK_SET_MAX)
        s->set = static_cast<uint32_t *>(
            take(gnn_pick_set_size(k) * (uint64_t)GLOBAL_BLOCKS * sizeof(uint32_t)));
    return at;
}

/* Groups as wide as the draws need. */
template <bool repeats> void launch_few(const gnn_work &w, uint32_t k, void *stream)
{
    const uint64_t rows = w.job.what.n;
    if (k <= 8)
        GNN_LAUNCH((pick_few<8, repeats>), gnn_grid(rows, GNN_BLOCK / 8), GNN_BLOCK, 0, stream, w);
    else if (k <= 16)
        GNN_LAUNCH((pick_few<16, repeats>), gnn_grid(rows, GNN_BLOCK / 16), GNN_BLOCK, 0, stream,
                   w);
    else
        GNN_LAUNCH((pick_few<32, repeats>), gnn_grid(rows, GNN_BLOCK / 32), GNN_BLOCK, 0, stream,
                   w);
}

void launch_pick(const gnn_work &w, void *stream)
{
    const uint64_t rows = w.job.what.n;
    const gnn_pick_rule rule = w.job.what.rule;
    const uint32_t k = gnn_pick_draws(rule);
    if (rule.weighted)
        gnn_cuda_pick_weighted(w, stream);
    else if (gnn_pick_compares(rule) && rule.kind == GNN_PICK_TOP)
        GNN_LAUNCH(pick_top, gnn_grid(rows, GNN_WARPS), GNN_BLOCK, 0, stream, w);
    else if (gnn_pick_compares(rule))
        gnn_cuda_pick_labor(w, stream);
    else if (gnn_pick_all(rule))
        GNN_LAUNCH(pick_all, gnn_grid(w.job.capacity, GNN_BLOCK), GNN_BLOCK, 0, stream, w);
    else if (gnn_pick_repeats(rule))
        launch_few<true>(w, k, stream);
    else if (k <= 32)
        launch_few<false>(w, k, stream);
    else {
        const uint32_t size = gnn_pick_set_size(k), bytes = size * (uint32_t)sizeof(uint32_t);
        if (k <= WARP_SET_MAX)
            GNN_LAUNCH(pick_many<true>, gnn_grid(rows, GNN_WARPS), GNN_BLOCK, GNN_WARPS * bytes,
                       stream, w, size, false);
        else if (k <= BLOCK_SET_MAX)
            GNN_LAUNCH(pick_many<false>, gnn_grid(rows, 1), GNN_BLOCK, bytes, stream, w, size,
                       false);
        else
            GNN_LAUNCH(pick_many<false>, std::min(gnn_grid(rows, 1), (unsigned)GLOBAL_BLOCKS),
                       GNN_BLOCK, 0, stream, w, size, true);
    }
}

} // namespace

uint64_t gnn_cuda_sample_scratch(gnn_pick_rule rule, uint32_t rows, uint32_t capacity,
                                 bool excludes)
{
    gnn_scratch s = {};
    return lay_out(&s, nullptr, rule, rows, capacity, excludes);
}

/* Queues the picks of a block, as far as the numbering of sources; which map they claim words in,
 * if any, says r. */
static gnn_work queue_picks(const gnn_cuda_sample_job *job, const gnn_cuda_relabel *r, void *stream)
{
    gnn_work w = {};
    w.job = *job;
    if (r)
        w.r = *r;
    w.entry = job->source;
    w.n = job->edges;
    w.out = job->indices;
    lay_out(&w.s, job->what.scratch, job->what.rule, job->what.n, job->capacity,
            job->what.excluded != nullptr);
    GNN_LAUNCH(count_picks, gnn_scan_grid(job->what.n, GNN_ROW_TILE), GNN_BLOCK, 0, stream, w);
    launch_pick(w, stream);
    return w;
}

void gnn_cuda_sample_block(const gnn_cuda_sample_job *job, const gnn_cuda_relabel *r, void *stream)
{
    const gnn_work w = queue_picks(job, r, stream);
    if (r)
        gnn_cuda_number_list(&w, stream);
    else
        GNN_LAUNCH(find_bad, 1, 1, 0, stream, w);
}

void gnn_cuda_induce_block(const gnn_cuda_sample_job *job, const gnn_cuda_relabel *r,
                           const gnn_cuda_kept *kept, void *stream)
{
    gnn_work w = queue_picks(job, nullptr, stream);
    w.r = *r;
    gnn_cuda_keep_known(&w, kept, stream);
}
