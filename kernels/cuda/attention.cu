/* SPDX-License-Identifier: Apache-2.0 */
/* Attention. A part of a warp, at least one octet, has a row and a head; neighbouring parts have
 * the next heads, so that rows of sources are read in whole lines. For each group of edges
 * (kernels/attention_edge.h) an octet makes the sums over channels of one edge after the other, a
 * lane has the scalars of an edge, and then columns, which are carried on in memory: what is read
 * and written there for a group is little beside the rows of its edges. */
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

/* Of a part of a warp, in shared memory. */
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

__device__ Part make_part(unsigned lanes, uint64_t *bad)
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

__device__ void find_row(Part &t, const gnn_csr *block, uint32_t nblocks, uint32_t row,
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

__device__ bool is_loop(const Part &t, unsigned e)
{
    return t.from + e == t.n;
}

/* The edges at positions from `from` on; false: there are none. */
__device__ bool take_group(Part &t, const gnn_attention &a, uint64_t from)
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

__device__ size_t row_width(const gnn_attention &a)
{
    return (size_t)a.heads * a.channels;
}

/* What edge e of the group has as features of the head, or NULL. */
template <Kind kind>
__device__ const float *edge_row(const Part &t, const gnn_attention &a, unsigned e)
{
    const size_t each = kind == V2 ? a.channels : 1, wide = each * a.heads;
    if (is_loop(t, e))
        return a.loop ? a.loop + t.own * wide + t.h * each : nullptr;
    return a.edge ? a.edge + (size_t)(t.g->number[e] - a.edge0) * wide + t.h * each : nullptr;
}

/* Row `row` of x (rows, d), from the head on. */
__device__ const float *head_of(const Part &t, const gnn_attention &a, const float *x, uint32_t row)
{
    return x + row * row_width(a) + (size_t)t.h * a.channels;
}

/* Columns of `value`, and those of the head there. */
template <Kind kind> __device__ size_t value_width(const gnn_attention &a)
{
    return kind == RAW ? a.channels : row_width(a);
}
template <Kind kind>
__device__ const float *value_of(const Part &t, const gnn_attention &a, uint32_t row)
{
    return kind == RAW ? a.value + (size_t)row * a.channels : head_of(t, a, a.value, row);
}

/* Every lane gets the octet's sum. */
__device__ float fold_octet(const Part &t, float s)
{
    for (unsigned d = OCTET / 2; d; d /= 2)
        s = __fadd_rn(s, __shfl_xor_sync(t.mask, s, d));
    return s;
}

/* out[e] of each edge: the sum over channels of what `term` gives of edge e and channel c. */
template <typename F>
__device__ void sum_channels(const Part &t, uint32_t channels, float *out, F term)
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

__device__ float v2_term(float x, float y, const float *edge, uint32_t c)
{
    const float u = __fadd_rn(x, y);
    return edge ? __fadd_rn(u, edge[c]) : u;
}

/* Scores into p and, but for V2, what they were made of into u. own: the row's own, x: the others'.
 */
template <Kind kind>
__device__ void score_group(const Part &t, const gnn_attention &a, const float *own, const float *x)
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

/* What the weight of edge e is multiplied by under dropout. */
__device__ float keep_factor(const Part &t, const gnn_attention &a, unsigned e)
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
__device__ float add_edges(const Part &t, const float *x, size_t pitch, float s, F term)
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

/* The maximum of the scores and of m, of all lanes. */
__device__ float highest(const Part &t, float m)
{
    for (unsigned e = t.lane; e < t.count; e += t.lanes)
        if (t.g->at[e] != NONE && t.g->p[e] > m)
            m = t.g->p[e];
    for (unsigned d = t.lanes / 2; d; d /= 2) {
        const float o = __shfl_xor_sync(t.mask, m, d);
        m = o > m ? o : m;
    }
    return m;
}

/* Scores become powers, p, and weights, w; *z and the powers. */
__device__ void weigh_group(const Part &t, const gnn_attention &a, float m, float *z)
{
    Group *g = t.g;
    for (unsigned e = t.lane; e < t.count; e += t.lanes)
        if (g->at[e] != NONE) {
            g->p[e] = gnn_expf(__fadd_rn(g->p[e], -m));
            g->w[e] = a.drop.keep16 ? __fmul_rn(g->p[e], keep_factor(t, a, e)) : g->p[e];
        }
    __syncwarp(t.mask);
    for (unsigned e = 0; e < t.count; e++)
        if (g->at[e] != NONE)
            *z = __fadd_rn(*z, g->p[e]);
}

struct Rows {
    const gnn_csr *block;
    uint32_t nblocks, from, to;
    uint64_t *bad;
};

template <Kind kind>
__global__ void __launch_bounds__(THREADS)
    forward_rows(gnn_attention a, Rows l, unsigned flags, float *y, float *m, float *z,
                 unsigned lanes)
{
    Part t = make_part(lanes, l.bad);
    const uint64_t items = (uint64_t)(l.to - l.from) * a.heads;
    const float *x = kind == V2 ? a.value : a.src;
    const size_t d = row_width(a);
    t.xrows = a.nsrc;
    for (GnnRows r = gnn_rows(lanes); r.row < items; r.row += r.stride) {
        const uint32_t row = l.from + (uint32_t)(r.row / a.heads);
        find_row(t, l.block, l.nblocks, row, l.from, (uint32_t)(r.row % a.heads));
        t.end = a.loops && flags & GNN_ATTENTION_LAST;
        const float *own = gnn_attention_wide(kind) ? head_of(t, a, a.dst, t.own) : a.dst + r.row;
        float *to = y + t.own * d + (size_t)t.h * a.channels;
        const bool fresh = flags & GNN_ATTENTION_FIRST;
        float most = fresh ? -INFINITY : m[r.row], sum = fresh ? 0 : z[r.row];
        for (uint32_t c = t.lane; fresh && c < a.channels; c += lanes)
            to[c] = 0;
        for (uint64_t at = 0; take_group(t, a, at); at += GROUP) {
            score_group<kind>(t, a, own, x);
            const float now = highest(t, most);
            const bool raised = now > most;
            const float f = raised ? gnn_expf(__fadd_rn(most, -now)) : 1;
            sum = raised ? __fmul_rn(sum, f) : sum;
            most = now;
            weigh_group(t, a, most, &sum);
            for (uint32_t c = t.lane; c < a.channels; c += lanes)
                to[c] = add_edges(t, value_of<kind>(t, a, 0) + c, value_width<kind>(a),
                                  raised ? __fmul_rn(to[c], f) : to[c],
                                  [&](float s, unsigned e, float v) {
                                      return __fadd_rn(s, __fmul_rn(t.g->w[e], v));
                                  });
        }
        const float k = sum == 0 ? 0 : __fdiv_rn(1, sum);
        for (uint32_t c = t.lane; flags & GNN_ATTENTION_LAST && c < a.channels; c += lanes)
            to[c] = __fmul_rn(to[c], k);
        __syncwarp(t.mask); /* all have read m and z */
        if (t.lane == 0) {
            m[r.row] = most;
            z[r.row] = sum;
        }
    }
}

/* ---- back, by sources ---- */

__device__ float *grad_of(const Part &t, const gnn_attention &a, const gnn_attention_back &b,
                          unsigned e)
{
    return is_loop(t, e) ? b.loop_grad + (size_t)t.own * a.heads + t.h
                         : b.edge_grad + (size_t)t.g->number[e] * a.heads + t.h;
}

/* Of edge e: p becomes its weight w, and the gradient of its score p, and is returned. i: the
 * destination's and the head's place in m, z and dots. */
template <Kind kind>
__device__ float grad_of_score(const Part &t, const gnn_attention &a, const gnn_attention_back &b,
                               unsigned e, size_t i)
{
    Group *g = t.g;
    const float p = gnn_expf(__fadd_rn(g->p[e], -b.m[i]));
    const float r = __fmul_rn(p, __fdiv_rn(1, b.z[i])), keep = keep_factor(t, a, e);
    const float ds = __fmul_rn(r, __fadd_rn(__fmul_rn(g->dot[e], keep), -b.dots[i]));
    g->w[e] = __fmul_rn(r, keep);
    return g->p[e] = gnn_attention_wide(kind) ? ds : gnn_leaky_back(g->u[e], a.slope, ds);
}

/* The same of a group, by sources; the gradients go to where the second pass finds them, too. */
template <Kind kind>
__device__ void grads_of_group(const Part &t, const gnn_attention &a, const gnn_attention_back &b)
{
    Group *g = t.g;
    const float *value = head_of(t, a, a.value, t.self);
    sum_channels(t, a.channels, g->dot, [&](unsigned e, uint32_t c) {
        return __fmul_rn(head_of(t, a, b.dy, g->at[e])[c], value[c]);
    });
    __syncwarp(t.mask);
    for (unsigned e = t.lane; e < t.count; e += t.lanes)
        *grad_of(t, a, b, e) =
            g->at[e] == NONE ? 0
                             : grad_of_score<kind>(t, a, b, e, (size_t)g->at[e] * a.heads + t.h);
    __syncwarp(t.mask);
}

/* s and the group's numbers p, times u if `by`. */
__device__ float add_scalars(const Part &t, float s, bool by)
{
    for (unsigned e = 0; e < t.count; e++)
        if (t.g->at[e] != NONE)
            s = __fadd_rn(s, by ? __fmul_rn(t.g->p[e], t.g->u[e]) : t.g->p[e]);
    return s;
}

/* What a column of V2 gets through the scores; u is its term there. */
__device__ float v2_back(const gnn_attention &a, float u, float ds, float w)
{
    return gnn_leaky_back(u, a.slope, __fmul_rn(ds, w));
}

/* The columns of a source, of which lanes have their own. */
template <Kind kind>
__device__ void add_grads(const Part &t, const gnn_attention &a, const gnn_attention_back &b,
                          uint32_t from)
{
    const Group *g = t.g;
    const size_t d = row_width(a), head = (size_t)t.h * a.channels, at = (t.self - from) * d + head;
    const float scale = kind == DOT ? a.weight[t.h] : 0;
    for (uint32_t c = t.lane; c < a.channels; c += t.lanes) {
        const float own = a.value[t.self * d + head + c],
                    w = kind == V2 ? a.weight[t.h * a.channels + c] : 0;
        b.dvalue[at + c] = add_edges(
            t, head_of(t, a, b.dy, 0) + c, d, b.dvalue[at + c], [&](float s, unsigned e, float v) {
                s = __fadd_rn(s, __fmul_rn(g->w[e], v));
                if (kind != V2)
                    return s;
                const float u =
                    v2_term(own, head_of(t, a, a.dst, g->at[e])[c], edge_row<kind>(t, a, e), c);
                return __fadd_rn(s, v2_back(a, u, g->p[e], w));
            });
        if (kind == DOT)
            b.dsrc[at + c] =
                add_edges(t, head_of(t, a, a.dst, 0) + c, d, b.dsrc[at + c],
                          [&](float s, unsigned e, float v) {
                              return __fadd_rn(s, __fmul_rn(__fmul_rn(g->p[e], scale), v));
                          });
    }
}

template <Kind kind>
__global__ void __launch_bounds__(THREADS)
    source_rows(gnn_attention a, Rows l, gnn_attention_back b, bool acc, unsigned lanes)
{
    Part t = make_part(lanes, l.bad);
    const uint64_t items = (uint64_t)(l.to - l.from) * a.heads;
    const size_t d = row_width(a);
    t.xrows = a.ndst;
    for (GnnRows r = gnn_rows(lanes); r.row < items; r.row += r.stride) {
        const uint32_t row = l.from + (uint32_t)(r.row / a.heads);
        find_row(t, l.block, l.nblocks, row, 0, (uint32_t)(r.row % a.heads));
        t.end = a.loops && row < a.ndst;
        const float *own = kind == ADD ? a.src + (size_t)row * a.heads + t.h
                                       : head_of(t, a, kind == V2 ? a.value : a.src, row);
        float *scalar = kind == ADD ? b.dsrc : kind == DOT ? b.dscale : nullptr;
        float sum = acc && scalar ? scalar[r.row] : 0;
        for (uint32_t c = t.lane; !acc && c < a.channels; c += lanes) {
            b.dvalue[(row - l.from) * d + t.h * a.channels + c] = 0;
            if (kind == DOT)
                b.dsrc[(row - l.from) * d + t.h * a.channels + c] = 0;
        }
        for (uint64_t at = 0; take_group(t, a, at); at += GROUP) {
            score_group<kind>(t, a, own, a.dst);
            grads_of_group<kind>(t, a, b);
            sum = kind == V2 ? 0 : add_scalars(t, sum, kind == DOT);
            add_grads<kind>(t, a, b, l.from);
        }
        __syncwarp(t.mask); /* all have read it */
        if (scalar && t.lane == 0)
            scalar[r.row] = sum;
    }
}

/* RAW: what the edge's destination has been told by it, of head h. */
__device__ float told(const Part &t, const gnn_attention &a, unsigned e, uint32_t h,
                      const float *edges, const float *loops)
{
    return is_loop(t, e) ? loops[(size_t)t.self * a.heads + h]
                         : edges[(size_t)t.g->number[e] * a.heads + h];
}

/* A part has a source: lanes its heads, then its columns. */
__global__ void __launch_bounds__(THREADS)
    raw_source_rows(gnn_attention a, Rows l, gnn_attention_back b, bool acc, unsigned lanes)
{
    Part t = make_part(lanes, l.bad);
    const uint32_t n = a.channels;
    t.xrows = a.ndst;
    for (GnnRows r = gnn_rows(lanes); r.row < l.to - l.from; r.row += r.stride) {
        const uint32_t row = l.from + (uint32_t)r.row;
        float *dsrc = b.dsrc + r.row * a.heads, *dvalue = b.dvalue ? b.dvalue + r.row * n : nullptr;
        find_row(t, l.block, l.nblocks, row, 0, 0);
        t.end = a.loops && row < a.ndst;
        for (uint32_t h = t.lane; !acc && h < a.heads; h += lanes)
            dsrc[h] = 0;
        for (uint32_t c = t.lane; dvalue && !acc && c < n; c += lanes)
            dvalue[c] = 0;
        for (uint64_t at = 0; take_group(t, a, at); at += GROUP) {
            for (uint32_t h = t.lane; h < a.heads; h += lanes)
                for (unsigned e = 0; e < t.count; e++)
                    if (t.g->at[e] != NONE)
                        dsrc[h] = __fadd_rn(dsrc[h], told(t, a, e, h, b.edge_grad, b.loop_grad));
            for (uint32_t c = t.lane; dvalue && c < n; c += lanes) {
                float s = dvalue[c];
                for (unsigned e = 0; e < t.count; e++)
                    for (uint32_t h = 0; t.g->at[e] != NONE && h < a.heads; h++)
                        s = __fadd_rn(s,
                                      __fmul_rn(told(t, a, e, h, b.edge_weight, b.loop_weight),
                                                b.dy[((size_t)t.g->at[e] * a.heads + h) * n + c]));
                dvalue[c] = s;
            }
        }
    }
}

/* ---- back, by destinations ---- */

/* A thread has a row and a head of ADD. */
__global__ void __launch_bounds__(THREADS)
    target_sums(gnn_attention a, Rows l, gnn_attention_back b, bool acc)
{
    Part t = make_part(1, l.bad);
    const uint64_t items = (uint64_t)(l.to - l.from) * a.heads;
    for (GnnRows r = gnn_rows(1); r.row < items; r.row += r.stride) {
        const uint32_t h = (uint32_t)(r.row % a.heads);
        find_row(t, l.block, l.nblocks, l.from + (uint32_t)(r.row / a.heads), l.from, h);
        float s = acc ? b.ddst[r.row] : 0;
        for (uint64_t e = 0; e < t.n; e++)
            s = __fadd_rn(
                s, b.edge_grad[(size_t)(t.number ? t.number[e] : t.first + e) * a.heads + h]);
        b.ddst[r.row] = a.loops ? __fadd_rn(s, b.loop_grad[r.row]) : s;
    }
}

/* Columns of V2: the gradients of dst, of the edge's own, and the row's part of that of weight. */
__device__ void target_group(const Part &t, const gnn_attention &a, const gnn_attention_back &b)
{
    const Group *g = t.g;
    const size_t d = row_width(a), head = (size_t)t.h * a.channels, at = t.own * d + head;
    for (uint32_t c = t.lane; c < a.channels; c += t.lanes) {
        const float own = a.dst[at + c], w = a.weight[head + c];
        float dw = b.dweight[at + c];
        b.ddst[at + c] =
            add_edges(t, a.value + head + c, d, b.ddst[at + c], [&](float s, unsigned e, float x) {
                const float u = v2_term(own, x, edge_row<V2>(t, a, e), c);
                const float v = v2_back(a, u, g->p[e], w);
                dw = __fadd_rn(dw, __fmul_rn(g->p[e], gnn_leaky(u, a.slope)));
                if (is_loop(t, e) && b.dloop)
                    b.dloop[at + c] = v;
                else if (!is_loop(t, e) && b.dedge)
                    b.dedge[(size_t)(g->number[e] - a.edge0) * d + head + c] = v;
                return __fadd_rn(s, v);
            });
        b.dweight[at + c] = dw;
        for (unsigned e = 0; b.dedge && e < t.count; e++)
            if (g->at[e] == NONE)
                b.dedge[(size_t)(g->number[e] - a.edge0) * d + head + c] = 0;
    }
}

__device__ void target_group_dot(const Part &t, const gnn_attention &a, const gnn_attention_back &b)
{
    const size_t d = row_width(a), head = (size_t)t.h * a.channels, at = t.own * d + head;
    const float scale = a.weight[t.h];
    for (uint32_t c = t.lane; c < a.channels; c += t.lanes)
        b.ddst[at + c] =
            add_edges(t, a.src + head + c, d, b.ddst[at + c], [&](float s, unsigned e, float v) {
                return __fadd_rn(s, __fmul_rn(__fmul_rn(t.g->p[e], scale), v));
            });
}

template <Kind kind>
__global__ void __launch_bounds__(THREADS)
    target_rows(gnn_attention a, Rows l, gnn_attention_back b, bool acc, unsigned lanes)
{
    Part t = make_part(lanes, l.bad);
    const uint64_t items = (uint64_t)(l.to - l.from) * a.heads;
    const size_t d = row_width(a);
    t.xrows = a.nsrc;
    for (GnnRows r = gnn_rows(lanes); r.row < items; r.row += r.stride) {
        const uint32_t h = (uint32_t)(r.row % a.heads);
        find_row(t, l.block, l.nblocks, l.from + (uint32_t)(r.row / a.heads), l.from, h);
        t.end = a.loops;
        const size_t to = t.own * d + (size_t)h * a.channels;
        for (uint32_t c = t.lane; !acc && c < a.channels; c += lanes) {
            b.ddst[to + c] = 0;
            if (kind == V2)
                b.dweight[to + c] = 0;
        }
        for (uint64_t at = 0; take_group(t, a, at); at += GROUP) {
            for (unsigned e = t.lane; e < t.count; e += lanes)
                t.g->p[e] = *grad_of(t, a, b, e);
            __syncwarp(t.mask);
            if constexpr (kind == V2)
                target_group(t, a, b);
            else
                target_group_dot(t, a, b);
        }
    }
}

/* RAW: rows of the sources are read here, once, beside what the destination has. */
__global__ void __launch_bounds__(THREADS)
    raw_target_rows(gnn_attention a, Rows l, gnn_attention_back b, bool acc, unsigned lanes)
{
    Part t = make_part(lanes, l.bad);
    const uint64_t items = (uint64_t)(l.to - l.from) * a.heads;
    t.xrows = a.nsrc;
    for (GnnRows r = gnn_rows(lanes); r.row < items; r.row += r.stride) {
        const uint32_t row = l.from + (uint32_t)(r.row / a.heads);
        find_row(t, l.block, l.nblocks, row, l.from, (uint32_t)(r.row % a.heads));
        t.end = a.loops;
        const float *dy = head_of(t, a, b.dy, t.own);
        float sum = acc ? b.ddst[r.row] : 0;
        for (uint64_t at = 0; take_group(t, a, at); at += GROUP) {
            Group *g = t.g;
            score_group<RAW>(t, a, a.dst + r.row, a.src);
            sum_channels(t, a.channels, g->dot, [&](unsigned e, uint32_t c) {
                return __fmul_rn(dy[c], value_of<RAW>(t, a, g->at[e])[c]);
            });
            __syncwarp(t.mask);
            for (unsigned e = t.lane; e < t.count; e += lanes) {
                const bool left_out = g->at[e] == NONE;
                *grad_of(t, a, b, e) = left_out ? 0 : grad_of_score<RAW>(t, a, b, e, r.row);
                if (b.edge_weight && is_loop(t, e))
                    b.loop_weight[r.row] = g->w[e];
                else if (b.edge_weight)
                    b.edge_weight[(size_t)g->number[e] * a.heads + t.h] = left_out ? 0 : g->w[e];
            }
            __syncwarp(t.mask);
            sum = add_scalars(t, sum, false);
        }
        __syncwarp(t.mask); /* all have read it */
        if (t.lane == 0)
            b.ddst[r.row] = sum;
    }
}

/* Lanes that have a row and a head. */
unsigned part_lanes(uint32_t channels)
{
    const unsigned lanes = gnn_lanes(channels);
    return lanes < OCTET ? OCTET : lanes;
}

} // namespace

/* An item for each part. */
#define LAUNCH_PARTS(kernel, items, lanes, stream, ...)                                            \
    GNN_LAUNCH((kernel), gnn_grid((items), THREADS / (lanes)), THREADS,                            \
               THREADS / (lanes) * sizeof(Group), stream, __VA_ARGS__, lanes)
/* For each kind but RAW its own kernel. */
#define LAUNCH_KIND(kernel, kind, items, lanes, stream, ...)                                       \
    do {                                                                                           \
        if ((kind) == ADD)                                                                         \
            LAUNCH_PARTS(kernel<ADD>, items, lanes, stream, __VA_ARGS__);                          \
        else if ((kind) == V2)                                                                     \
            LAUNCH_PARTS(kernel<V2>, items, lanes, stream, __VA_ARGS__);                           \
        else                                                                                       \
            LAUNCH_PARTS(kernel<DOT>, items, lanes, stream, __VA_ARGS__);                          \
    } while (0)

void gnn_cuda_attention_rows(const struct gnn_attention *a, const struct gnn_csr *block,
                             uint32_t nblocks, uint32_t from, uint32_t to, unsigned flags, float *y,
                             float *m, float *z, uint64_t *bad, void *stream)
{
    const unsigned lanes = part_lanes(a->channels);
    const Rows l = {block, nblocks, from, to, bad};
    const uint64_t items = (uint64_t)(to - from) * a->heads;
    if (from >= to)
        return;
    if (a->kind == RAW)
        LAUNCH_PARTS(forward_rows<RAW>, items, lanes, stream, *a, l, flags, y, m, z);
    else
        LAUNCH_KIND(forward_rows, a->kind, items, lanes, stream, *a, l, flags, y, m, z);
}

void gnn_cuda_attention_sources(const struct gnn_attention *a, const struct gnn_csr *back,
                                uint32_t from, uint32_t to, const struct gnn_attention_back *g,
                                bool acc, uint64_t *bad, void *stream)
{
    const unsigned lanes = part_lanes(a->channels);
    const Rows l = {back, 1, from, to, bad};
    const uint64_t items = (uint64_t)(to - from) * a->heads;
    if (from >= to)
        return;
    if (a->kind == RAW)
        LAUNCH_PARTS(raw_source_rows, to - from, lanes, stream, *a, l, *g, acc);
    else
        LAUNCH_KIND(source_rows, a->kind, items, lanes, stream, *a, l, *g, acc);
}

void gnn_cuda_attention_targets(const struct gnn_attention *a, const struct gnn_csr *block,
                                uint32_t nblocks, uint32_t from, uint32_t to,
                                const struct gnn_attention_back *g, bool acc, uint64_t *bad,
                                void *stream)
{
    const unsigned lanes = part_lanes(a->channels);
    const uint64_t items = (uint64_t)(to - from) * a->heads;
    const Rows l = {block, nblocks, from, to, bad};
    if (from >= to)
        return;
    if (a->kind == ADD)
        GNN_LAUNCH(target_sums, gnn_grid(items, THREADS), THREADS, 0, stream, *a, l, *g, acc);
    else if (a->kind == RAW)
        LAUNCH_PARTS(raw_target_rows, items, lanes, stream, *a, l, *g, acc);
    else
        LAUNCH_KIND(target_rows, a->kind, items, lanes, stream, *a, l, *g, acc);
}
