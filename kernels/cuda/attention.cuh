/* SPDX-License-Identifier: Apache-2.0 */
/* Attention, what its kernels have in common. A part of a warp, at least one octet, has a row and a
 * head; neighbouring parts have the next heads, so that rows of sources are read in whole lines.
 * For each group of edges (kernels/attention_edge.h) an octet makes the sums over channels of one
 * edge after the other, a lane has the scalars of an edge, and then columns, which are carried on
 * in memory: what is read and written there for a group is little beside the rows of its edges. */
#ifndef GNN_KERNELS_CUDA_ATTENTION_CUH
#define GNN_KERNELS_CUDA_ATTENTION_CUH

#include "kernels/attention.h"

#include "kernels/attention_edge.h"
#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 128, GROUP = GNN_ATTENTION_GROUP, OCTET = GNN_ATTENTION_LANES;
constexpr unsigned FLIGHT = 4;
constexpr uint32_t NONE = UINT32_MAX; /* in place of an edge that is left out */

using Kind = gnn_attention_kind;
constexpr Kind ADD = GNN_ATTENTION_ADD, RAW = GNN_ATTENTION_RAW, V2 = GNN_ATTENTION_V2,
               DOT = GNN_ATTENTION_DOT;

/* The group of edges of a part of a warp, in shared memory. */
struct Group {
    uint32_t at[GROUP], number[GROUP];
    float u[GROUP], p[GROUP], w[GROUP], dot[GROUP];
};

/* A part of a warp and its row. */
struct Part {
    Group *g;
    unsigned mask, lanes, lane;
    const gnn_csr *block; /* NULL: the row is in none */
    const uint32_t *index, *number;
    uint64_t n;
    uint32_t first;     /* the number of its first edge, unless `number` */
    uint32_t self, own; /* the row, also as counted from the first row of the call's arrays */
    uint32_t h, xrows;  /* rows of the others */
    bool end;           /* a self-loop comes at the end */
    uint64_t from;      /* of the group at work: */
    unsigned count;     /* positions */
    uint32_t place;     /* the block's */
    uint64_t *bad;
};

__device__ inline Part make_part(unsigned lanes, uint64_t *bad)
{
    GNN_DYNAMIC_SHARED(Group, groups);
    Part t = {};
    t.lanes = lanes;
    t.lane = threadIdx.x % lanes;
    t.g = groups + threadIdx.x / lanes;
    t.mask = (lanes == 32 ? 0xffffffffu : (1u << lanes) - 1) << (threadIdx.x % 32 - t.lane);
    t.bad = bad;
    return t;
}

__device__ inline void find_row(Part &t, const gnn_csr *block, uint32_t nblocks, uint32_t row,
                                uint32_t from, uint32_t h)
{
    uint64_t base = 0;
    t.block = nullptr;
    t.n = 0;
    t.self = row;
    t.own = row - from;
    t.h = h;
    for (uint32_t b = 0; b < nblocks; b++) {
        const gnn_csr *k = &block[b];
        const uint64_t zero = k->n ? gnn_csr_offset(k, 0) : 0;
        const uint32_t i = row - k->first;
        if (row >= k->first && i < k->n) {
            const uint64_t at = gnn_csr_offset(k, i);
            t.block = k;
            t.place = b;
            t.index = k->indices + at;
            t.number = k->edge ? k->edge + at : nullptr;
            t.first = (uint32_t)(base + at - zero);
            t.n = gnn_csr_offset(k, i + 1) - at;
            return;
        }
        base += k->n ? gnn_csr_offset(k, k->n) - zero : 0;
    }
}

__device__ inline bool is_loop(const Part &t, unsigned e)
{
    return t.from + e == t.n;
}

/* The edges at positions from `from` on; false: there are none. */
__device__ inline bool take_group(Part &t, const gnn_attention &a, uint64_t from)
{
    const uint64_t end = t.n + t.end;
    t.from = from;
    t.count = from >= end ? 0 : end - from < GROUP ? (unsigned)(end - from) : GROUP;
    __syncwarp(t.mask); /* all have read the last one */
    for (unsigned e = t.lane; e < t.count; e += t.lanes) {
        uint32_t at = t.self;
        if (!is_loop(t, e)) {
            at = t.index[from + e];
            t.g->number[e] = t.number ? t.number[from + e] : t.first + (uint32_t)(from + e);
            if (at >= t.xrows)
                gnn_device_bad(t.bad,
                               (uint64_t)t.place << 32 |
                                   (uint32_t)((uint64_t)(t.index - t.block->indices) + from + e));
            if (at >= t.xrows || (a.loops && at == t.self))
                at = NONE;
        }
        t.g->at[e] = at;
    }
    __syncwarp(t.mask);
    return t.count != 0;
}

__device__ inline size_t row_width(const gnn_attention &a)
{
    return (size_t)a.heads * a.channels;
}

/* The features of edge e of the group for the head, or NULL. */
template <Kind kind>
__device__ inline const float *edge_row(const Part &t, const gnn_attention &a, unsigned e)
{
    const size_t each = kind == V2 ? a.channels : 1, wide = each * a.heads;
    if (is_loop(t, e))
        return a.loop ? a.loop + t.own * wide + t.h * each : nullptr;
    return a.edge ? a.edge + (size_t)(t.g->number[e] - a.edge0) * wide + t.h * each : nullptr;
}

/* Row `row` of x (rows, d), from the head on. */
__device__ inline const float *head_of(const Part &t, const gnn_attention &a, const float *x,
                                       uint32_t row)
{
    return x + row * row_width(a) + (size_t)t.h * a.channels;
}

/* Columns of `value`, and those of the head there. */
template <Kind kind> __device__ inline size_t value_width(const gnn_attention &a)
{
    return kind == RAW ? a.channels : row_width(a);
}
template <Kind kind>
__device__ inline const float *value_of(const Part &t, const gnn_attention &a, uint32_t row)
{
    return kind == RAW ? a.value + (size_t)row * a.channels : head_of(t, a, a.value, row);
}

/* Every lane gets the octet's sum. */
__device__ inline float fold_octet(const Part &t, float s)
{
    for (unsigned d = OCTET / 2; d; d /= 2)
        s = __fadd_rn(s, __shfl_xor_sync(t.mask, s, d));
    return s;
}

/* out[e] of each edge: the sum over channels of what `term` gives of edge e and channel c. */
template <typename F>
__device__ inline void sum_channels(const Part &t, uint32_t channels, float *out, F term)
{
    const unsigned octets = t.lanes / OCTET, l = t.lane % OCTET;
    for (unsigned e0 = 0; e0 < t.count; e0 += octets) {
        const unsigned e = e0 + t.lane / OCTET;
        float s = 0;
        if (e < t.count && t.g->at[e] != NONE)
            for (uint32_t c = l; c < channels; c += OCTET)
                s = __fadd_rn(s, term(e, c));
        s = fold_octet(t, s);
        if (e < t.count && l == 0)
            out[e] = s;
    }
}

__device__ inline float v2_term(float x, float y, const float *edge, uint32_t c)
{
    const float u = __fadd_rn(x, y);
    return edge ? __fadd_rn(u, edge[c]) : u;
}

/* Scores into p and, except in V2, what they were made of into u. own: the row's own, x: the
 * others'.
 */
template <Kind kind>
__device__ inline void score_group(const Part &t, const gnn_attention &a, const float *own,
                                   const float *x)
{
    Group *g = t.g;
    if (kind == V2) {
        const float *w = a.weight + (size_t)t.h * a.channels;
        sum_channels(t, a.channels, g->p, [&](unsigned e, uint32_t c) {
            const float u =
                v2_term(own[c], head_of(t, a, x, g->at[e])[c], edge_row<kind>(t, a, e), c);
            return __fmul_rn(w[c], gnn_leaky(u, a.slope));
        });
    } else if (kind == DOT) {
        sum_channels(t, a.channels, g->u, [&](unsigned e, uint32_t c) {
            return __fmul_rn(own[c], head_of(t, a, x, g->at[e])[c]);
        });
    }
    __syncwarp(t.mask);
    for (unsigned e = t.lane; e < t.count; e += t.lanes) {
        if (g->at[e] == NONE)
            continue;
        if (!gnn_attention_wide(kind)) {
            g->u[e] =
                v2_term(*own, x[(size_t)g->at[e] * a.heads + t.h], edge_row<kind>(t, a, e), 0);
            g->p[e] = gnn_leaky(g->u[e], a.slope);
        } else if (kind == DOT) {
            g->p[e] = __fmul_rn(a.weight[t.h], g->u[e]);
        }
    }
    __syncwarp(t.mask);
}

/* The factor of edge e's weight under dropout. */
__device__ inline float keep_factor(const Part &t, const gnn_attention &a, unsigned e)
{
    const gnn_attention_drop &q = a.drop;
    if (!q.keep16)
        return 1;
    const bool loop = is_loop(t, e);
    const uint64_t id = loop ? q.node[t.own] : q.id ? q.id[t.g->number[e]] : t.g->number[e];
    const uint32_t counter[4] = {(uint32_t)id, (uint32_t)(id >> 32), t.h / 8, loop};
    const uint32_t key[2] = {q.key[0], q.key[1]};
    uint32_t word[4];
    gnn_philox(counter, key, word);
    const uint32_t k = t.h % 8 / 2, two = k & 2   ? (k & 1 ? word[3] : word[2])
                                          : k & 1 ? word[1]
                                                  : word[0];
    return (two >> (t.h % 2 * 16) & 0xffff) < q.keep16 ? __fdiv_rn(65536.0f, (float)q.keep16) : 0;
}

/* s and, of each edge in order, what `term` gives of the edge and its row of x; FLIGHT rows are on
 * their way at once. x is at the head's column already, `pitch` floats a row. */
template <typename F>
__device__ inline float add_edges(const Part &t, const float *x, size_t pitch, float s, F term)
{
    const Group *g = t.g;
    for (unsigned e = 0; e < t.count; e += FLIGHT) {
        float v[FLIGHT];
        GNN_UNROLL
        for (unsigned k = 0; k < FLIGHT; k++) {
            const bool good = e + k < t.count && g->at[e + k] != NONE;
            v[k] = good ? __ldg(x + g->at[e + k] * pitch) : 0;
        }
        GNN_UNROLL
        for (unsigned k = 0; k < FLIGHT; k++)
            if (e + k < t.count && g->at[e + k] != NONE)
                s = term(s, e + k, v[k]);
    }
    return s;
}

struct Rows {
    const gnn_csr *block;
    uint32_t nblocks, from, to;
    uint64_t *bad;
};

/* Lanes that have a row and a head. */
inline unsigned part_lanes(uint32_t channels)
{
    const unsigned lanes = gnn_lanes(channels);
    return lanes < OCTET ? OCTET : lanes;
}

} // namespace

/* An item for each part. */
#define LAUNCH_PARTS(kernel, items, lanes, stream, ...)                                            \
    GNN_LAUNCH((kernel), gnn_grid((items), THREADS / (lanes)), THREADS,                            \
               THREADS / (lanes) * sizeof(Group), stream, __VA_ARGS__, lanes)

#endif
