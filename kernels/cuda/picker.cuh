/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the kernels that pick neighbours. */
#ifndef GNN_KERNELS_CUDA_PICKER_CUH
#define GNN_KERNELS_CUDA_PICKER_CUH

#include "kernels/cuda/work.cuh"

namespace
{

/* The state of a pick kernel's threads. */
struct Picker {
    const gnn_work &w;
    const gnn_pick_rule rule;
    gnn_entries dst;
    uint32_t n, total, tag, base, key[2];
    uint64_t nsrc;
    bool claims; /* numbers follow from nodes, so each pick claims one at once */

    __device__ __forceinline__ Picker(const gnn_work &work) : w(work), rule(work.job.what.rule)
    {
        const uint32_t rows = gnn_rows_of(w.job, &dst), most = w.job.what.n,
                       i0 = blockIdx.x * GNN_BLOCK + threadIdx.x;
        n = rows < most ? rows : most;
        total = *w.job.edges;
        claims = w.r.map && !gnn_is_keyed(&w.r);
        tag = claims ? *w.r.tag : 0;
        base = claims ? *w.r.count : 0;
        nsrc = w.job.what.graph.nsrc;
        key[0] = w.job.what.key[0];
        key[1] = w.job.what.key[1];
        const bool dead = w.job.status->code != 0;
        /* count_picks could not write indptr: where a row starts is known when all tiles have been
         * added up. */
        for (uint64_t i = i0; i <= n; i += gridDim.x * (uint64_t)GNN_BLOCK)
            w.job.what.indptr[i] = dead ? 0 : i < n ? gnn_row_start(w.s, (uint32_t)i) : total;
        if (dead)
            n = total = 0;
    }
    __device__ __forceinline__ uint32_t draw(uint32_t orig, uint32_t tree, uint32_t degree,
                                             uint32_t j) const
    {
        return gnn_pick_draw(rule, key, orig, tree, degree, j);
    }
};

/* A destination being worked on. */
struct Row {
    const uint32_t *base;
    uint32_t number, degree, orig, tree, start, picks;
    bool drawn;
    uint64_t edge; /* of the first neighbour, for edge ids and times */
    const uint64_t *id;
    const int64_t *time;

    __device__ __forceinline__ Row(const Picker &p, uint32_t i)
    {
        const gnn_sample_row row = p.w.s.row[i];
        number = i;
        tree = gnn_entry_tree(&p.dst, i);
        base = row.base;
        degree = row.degree;
        orig = row.orig;
        start = gnn_row_start(p.w.s, i);
        picks = gnn_pick_count(p.rule, degree);
        drawn = gnn_pick_is_drawn(p.rule, degree);
        if (p.w.job.ids || p.rule.time.by_edge) {
            const uint32_t node = p.dst.node[i];
            const gnn_sample_part &part =
                p.w.job.what.graph.part[gnn_part_of(p.w.job.what.graph, node)];
            edge = part.resident_at ? gnn_first_edge(p.w, part, p.dst, i)
                                    : (uint64_t)(base - part.indices);
            id = part.id;
            time = part.pick.time;
        }
    }
    /* The excluded edges that it passes, which are none of its degree. Here and below: nothing is
     * kept in registers for them, as most jobs have none. */
    __device__ __forceinline__ gnn_skip skip(const Picker &p) const
    {
        return p.w.s.skip ? p.w.s.skip[number] : gnn_skip{nullptr, 0};
    }
    /* Its first neighbour, as excluded edges are told. */
    __device__ const uint32_t *first(const Picker &p) const
    {
        const gnn_sample_graph &g = p.w.job.what.graph;
        const gnn_sample_part &part = g.part[gnn_part_of(g, p.dst.node[number])];
        return part.resident_at ? part.indices + gnn_first_edge(p.w, part, p.dst, number) : base;
    }
    /* The position of neighbour j, from 0, of those that it may pick. */
    __device__ __forceinline__ uint32_t nth(const Picker &p, uint32_t j) const
    {
        if (!p.w.s.skip)
            return j;
        const gnn_skip s = p.w.s.skip[number];
        return s.n ? gnn_skip_nth(s, first(p), j) : j;
    }
};

/* Pick e of the block is the neighbour at x of the row. A bad source leaves x for who tells of it,
 * and the batch is over. */
__device__ __forceinline__ void emit(const Picker &p, const Row &row, uint32_t e, uint32_t x)
{
    const uint32_t v = __ldg(&row.base[x]);
    if (v >= p.nsrc) {
        gnn_note(p.w.job.status, e);
        gnn_entry_put(&p.w.job.source, e, x, &p.dst, row.number);
        return;
    }
    gnn_entry_put(&p.w.job.source, e, v, &p.dst, row.number);
    if (p.rule.time.by_edge)
        p.w.job.source.time[e] = gnn_time_of_entry(p.rule.time.real, row.time[row.edge + x]);
    if (p.w.job.ids)
        p.w.job.ids[e] = row.id ? row.id[row.edge + x] : row.edge + x;
    if (p.claims)
        gnn_claim(p.w.r, p.tag, p.base, v, e);
}

} // namespace

/* Picks of a rule that is weighted. */
void gnn_cuda_pick_weighted(const gnn_work &w, void *stream);
/* Picks of a rule that compares. */
void gnn_cuda_pick_labor(const gnn_work &w, void *stream);

#endif
