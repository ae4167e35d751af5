/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by sampling and numbering on the device: the scratch of a job, and how failures are kept.
 */
#ifndef GNN_KERNELS_CUDA_WORK_CUH
#define GNN_KERNELS_CUDA_WORK_CUH

#include "kernels/cuda/scan.cuh"
#include "kernels/owner.h"
#include "kernels/pick.h"
#include "kernels/sample.h"

enum : unsigned {
    /* destinations whose picks are added up together: a multiple of GNN_CHUNK */
    GNN_ROW_TILE = GNN_BLOCK,
    /* ids numbered together: four independent reads of the map for each thread */
    GNN_LIST_TILE = 4 * GNN_BLOCK,
    GNN_CHUNK = 64 /* destinations after which the CPU looks at the sum of their picks */
};

struct gnn_scratch {
    uint32_t *base; /* nodes numbered before the list */
    uint64_t *tile; /* [rows / GNN_ROW_TILE] picks, then picks of the tiles before */
    /* [capacity / GNN_LIST_TILE] marked positions of a list: where it is numbered, new ids; then
     * those of the tiles before */
    uint64_t *fresh;
    uint2 *word; /* [capacity / 32] which of 32 are marked; marked ones before them in their tile */
    struct gnn_sample_row *row;  /* [rows] */
    struct gnn_weights *weights; /* [rows] of a rule that is weighted, or NULL */
    struct gnn_skip *skip;       /* [rows] excluded edges of jobs that have some, or NULL */
    uint32_t *before;            /* [rows] picks of the rows before in the tile, at most 2^32 - 1 */
    uint32_t *set;               /* sets of drawn neighbours, where shared memory is too small */
};

/* A job as its kernels get it: by value. For a list of seeds most of job is empty. */
struct gnn_work {
    struct gnn_cuda_sample_job job;
    struct gnn_cuda_relabel r;
    struct gnn_scratch s;
    struct gnn_entries entry; /* [*n] to be numbered */
    const uint32_t *n;
    /* [*n] local numbers, or NULL; of entries with other columns, their slots before, so not NULL
     */
    uint32_t *out;
};

/* Does the numbering look at other columns than the node? */
static GNN_HD bool gnn_is_keyed(const struct gnn_cuda_relabel *r)
{
    return !gnn_entries_plain(&r->list);
}

/* Queues the numbering of w's list, whose positions are in the map, or, if it is keyed, are not. */
void gnn_cuda_number_list(const struct gnn_work *w, void *stream);
/* Queues what leaves of w's list, which has been picked, what w's map knows. */
void gnn_cuda_keep_known(const struct gnn_work *w, const struct gnn_cuda_kept *kept, void *stream);

/* Keeps the failure that the CPU would find first: key ascends in its order. */
static __device__ __forceinline__ void gnn_note(struct gnn_cuda_sample_status *st, uint64_t key)
{
    atomicMax((unsigned long long *)&st->first, ~(unsigned long long)key);
}

/* Reads the failure that threads of earlier kernels, or of other blocks that are through, have
 * noted. */
static __device__ __forceinline__ bool gnn_noted(const struct gnn_cuda_sample_status *st,
                                                 uint64_t *key)
{
    const uint64_t first = __ldcg(&st->first);
    *key = ~first;
    return first != 0;
}

/* By one thread, when no other one of the kernel looks at the code any more. */
static __device__ inline void gnn_fail_batch(const struct gnn_work &w, enum gnn_sample_status code,
                                             uint64_t node, uint64_t edge, uint32_t part)
{
    struct gnn_cuda_sample_status *st = w.job.status;
    st->code = code;
    st->block = w.job.block;
    st->at.node = node;
    st->at.edge = edge;
    st->at.part = part;
}

static __device__ __forceinline__ uint32_t gnn_part_of(const struct gnn_sample_graph &g, uint32_t v)
{
    return g.nparts == 1 ? 0 : gnn_owner_find(&g.part->first, sizeof *g.part, g.nparts, v);
}

/* The job's destinations: how many, and the first. */
static __device__ __forceinline__ uint32_t gnn_rows_of(const struct gnn_cuda_sample_job &job,
                                                       struct gnn_entries *dst)
{
    const uint32_t first = job.first ? *job.first : 0, end = *job.end;
    *dst = gnn_entries_from(job.what.dst, first);
    return end > first ? end - first : 0;
}

/* Where the picks of row i go. */
static __device__ __forceinline__ uint32_t gnn_row_start(const struct gnn_scratch &s, uint32_t i)
{
    return (uint32_t)s.tile[i / GNN_ROW_TILE] + s.before[i];
}

/* The row that pick e belongs to: the last of n that starts there or before. */
static __device__ __forceinline__ uint32_t gnn_row_of(const struct gnn_scratch &s, uint32_t n,
                                                      uint32_t e)
{
    uint32_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const uint32_t mid = hi - (hi - lo) / 2;
        if (gnn_row_start(s, mid) <= e)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* The edge of the first eligible neighbour of entry i. */
static __device__ __forceinline__ uint64_t gnn_first_edge(const struct gnn_work &w,
                                                          const gnn_sample_part &a,
                                                          const struct gnn_entries &dst, uint32_t i)
{
    const uint32_t node = dst.node[i];
    gnn_pick_range x;
    (void)gnn_pick_timed(w.job.what.rule, &a.pick, &a.indptr[node - a.first], a.nedges,
                         gnn_entry_time(&dst, i), &x);
    gnn_pick_last(w.job.what.rule, w.s.skip ? w.s.skip[i].n : 0, &x);
    return x.first;
}

/* Pick e of the block is the first bad one: it has left its position in the row. */
static __device__ inline void gnn_fail_source(const struct gnn_work &w, uint32_t e)
{
    struct gnn_entries dst;
    const uint32_t n = gnn_rows_of(w.job, &dst), i = gnn_row_of(w.s, n, e);
    const uint32_t part = gnn_part_of(w.job.what.graph, dst.node[i]);
    const uint64_t edge = gnn_first_edge(w, w.job.what.graph.part[part], dst, i);
    gnn_fail_batch(w, GNN_SAMPLE_SOURCE, dst.node[i], edge + w.job.source.node[e], part);
}

/* How many are in the list, if all is well. */
static __device__ __forceinline__ uint32_t gnn_list_length(const struct gnn_work &w)
{
    const uint32_t n = *w.n;
    return w.job.status->code || n > w.job.capacity ? 0 : n;
}

/* By a block, of a tile of a list of n: a warp looks at 128 positions, from `first` on, and ballot
 * k says which of 32 are marked. of_warp: GNN_WARPS in shared memory, free again on return. */
static __device__ __forceinline__ void gnn_mark_tile(const struct gnn_scratch &s, uint64_t tile,
                                                     uint64_t first, uint32_t n,
                                                     const uint32_t ballot[4], uint32_t *of_warp)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t sum = 0;
    GNN_UNROLL
    for (unsigned k = 0; k < 4; k++)
        sum += (uint32_t)__popc(ballot[k]);
    if (lane == 0)
        of_warp[warp] = sum;
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (unsigned k = 0; k < GNN_WARPS; k++) {
        before += k < warp ? of_warp[k] : 0;
        all += of_warp[k];
    }
    uint2 word = {};
    GNN_UNROLL
    for (unsigned k = 0; k < 4; k++) {
        if (lane == k)
            word = uint2{ballot[k], before};
        before += (uint32_t)__popc(ballot[k]);
    }
    if (lane < 4 && first + lane * 32 < n)
        s.word[first / 32 + lane] = word;
    if (threadIdx.x == 0)
        s.fresh[tile] = all;
    __syncthreads();
}

/* When the tiles have been added up: marked positions before p, which is in the list. */
static __device__ __forceinline__ uint32_t gnn_marked_before(const struct gnn_scratch &s,
                                                             uint32_t p)
{
    const uint2 word = s.word[p / 32];
    return (uint32_t)s.fresh[p / GNN_LIST_TILE] + word.y +
           (uint32_t)__popc(word.x & ((1u << p % 32) - 1));
}

/* Where the search for id v in the hash table begins; one goes on to the next slot. */
static __device__ __forceinline__ uint32_t gnn_slot_first(const struct gnn_cuda_relabel &r,
                                                          uint32_t v)
{
    return __umulhi(v * 0x9E3779B1u, r.slots);
}

/* The map's word of id v, which is in the map. */
static __device__ __forceinline__ uint32_t gnn_slot(const struct gnn_cuda_relabel &r, uint32_t v)
{
    if (!r.slots)
        return v;
    uint32_t i = gnn_slot_first(r, v);
    while (r.key[i] != v)
        i = (i + 1) & (r.slots - 1);
    return i;
}

/* Claims the map's word of id v for position p of the list, if it has no number and no earlier
 * position. */
static __device__ __forceinline__ void gnn_claim(const struct gnn_cuda_relabel &r, uint32_t tag,
                                                 uint32_t base, uint32_t v, uint32_t p)
{
    uint32_t i = v;
    if (r.slots) {
        i = gnn_slot_first(r, v);
        for (uint32_t k; (k = __ldcg(&r.key[i])) != v; i = (i + 1) & (r.slots - 1)) {
            if (k == UINT32_MAX)
                k = atomicCAS(&r.key[i], UINT32_MAX, v);
            if (k == UINT32_MAX || k == v)
                break;
        }
    }
    atomicMin(&r.map[i], tag | (base + p));
}

/* Where the search for entry p of the list begins, by all of its columns; likewise. */
static __device__ __forceinline__ uint32_t gnn_entry_slot(const struct gnn_work &w, uint32_t p)
{
    const uint64_t more = gnn_entry_hash_more(&w.entry, p);
    return (uint32_t)(gnn_entry_hash(more, w.entry.node[p]) >> 32) & (w.r.slots - 1);
}

/* gnn_claim of entry p of the list, by all of its columns. A slot that is not empty says where an
 * entry is that hashes there: its number, or base + its position. Several positions that have the
 * same entry meet in one slot, which keeps the first. Leaves the slot in w.out[p]. */
static __device__ __forceinline__ void gnn_claim_entry(const struct gnn_work &w, uint32_t base,
                                                       uint32_t p)
{
    const uint32_t node = w.entry.node[p];
    uint32_t i = gnn_entry_slot(w, p);
    for (;; i = (i + 1) & (w.r.slots - 1)) {
        uint32_t k = __ldcg(&w.r.map[i]);
        if (k == UINT32_MAX)
            k = atomicCAS(&w.r.map[i], UINT32_MAX, base + p);
        if (k == UINT32_MAX)
            break;
        if (k < base ? gnn_entry_same(&w.r.list, k, node, &w.entry, p)
                     : gnn_entry_same(&w.entry, k - base, node, &w.entry, p)) {
            atomicMin(&w.r.map[i], base + p);
            break;
        }
    }
    w.out[p] = i;
}

#endif
