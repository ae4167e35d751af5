/* SPDX-License-Identifier: Apache-2.0 */
/* Attention's backward passes (kernels/cuda/attention.cuh). */
#include "kernels/cuda/attention.cuh"

namespace
{

/* ---- back, by sources ---- */

__device__ float *grad_of(const Part &t, const gnn_attention &a, const gnn_attention_back &b,
                          unsigned e)
{
    return is_loop(t, e) ? b.loop_grad + (size_t)t.own * a.heads + t.h
                         : b.edge_grad + (size_t)(t.g->number[e] - b.edge0) * a.heads + t.h;
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

/* The columns of a source, of which lanes have their own. */
template <Kind kind>
__device__ void add_grads(const Part &t, const gnn_attention &a, const gnn_attention_back &b,
                          uint32_t from)
{
    const Group *g = t.g;
    const size_t d = row_width(a), head = (size_t)t.h * a.channels, at = (t.self - from) * d + head;
    const float scale = kind == DOT ? a.weight[t.h] : 0;
    for (uint32_t c = t.lane; c < a.channels; c += t.lanes) {
        b.dvalue[at + c] = add_edges(
            t, head_of(t, a, b.dy, 0) + c, d, b.dvalue[at + c],
            [&](float s, unsigned e, float v) { return __fadd_rn(s, __fmul_rn(g->w[e], v)); });
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
        const float *own =
            kind == ADD ? a.src + (size_t)row * a.heads + t.h : head_of(t, a, a.src, row);
        float *scalar = kind == ADD ? b.dsrc : b.dscale;
        float sum = acc && scalar ? scalar[r.row] : 0;
        for (uint32_t c = t.lane; !acc && c < a.channels; c += lanes) {
            b.dvalue[(row - l.from) * d + t.h * a.channels + c] = 0;
            if (kind == DOT)
                b.dsrc[(row - l.from) * d + t.h * a.channels + c] = 0;
        }
        for (uint64_t at = 0; take_group(t, a, at); at += GROUP) {
            score_group<kind>(t, a, own, a.dst);
            grads_of_group<kind>(t, a, b);
            sum = add_scalars(t, sum, kind == DOT);
            add_grads<kind>(t, a, b, l.from);
        }
        __syncwarp(t.mask); /* all have read it */
        if (scalar && t.lane == 0)
            scalar[r.row] = sum;
    }
}

/* RAW and V2: what the edge's destination has said of it, of head h. */
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

/* V2: signs of eight columns of a head are a byte, bytes of heads follow one another. `row` is that
 * of a self-loop. */
__device__ uint8_t *signs_of(const Part &t, const gnn_attention &a, const gnn_attention_back &b,
                             unsigned e, uint32_t row)
{
    const bool loop = is_loop(t, e);
    uint32_t *words = (loop ? b.loop_sign : b.edge_sign) +
                      (loop ? row : t.g->number[e]) * gnn_attention_signs(a.heads, a.channels);
    return (uint8_t *)words + (size_t)t.h * ((a.channels + OCTET - 1) / OCTET);
}

/* A part has a row and a head of V2. */
__global__ void __launch_bounds__(THREADS)
    v2_source_rows(gnn_attention a, Rows l, gnn_attention_back b, bool acc, unsigned lanes)
{
    Part t = make_part(lanes, l.bad);
    const uint64_t items = (uint64_t)(l.to - l.from) * a.heads;
    const size_t d = row_width(a);
    t.xrows = a.ndst;
    for (GnnRows r = gnn_rows(lanes); r.row < items; r.row += r.stride) {
        const uint32_t row = l.from + (uint32_t)(r.row / a.heads), h = (uint32_t)(r.row % a.heads);
        find_row(t, l.block, l.nblocks, row, 0, h);
        t.end = a.loops && row < a.ndst;
        const size_t to = (row - l.from) * d + (size_t)h * a.channels;
        for (uint32_t c = t.lane; !acc && c < a.channels; c += lanes)
            b.dvalue[to + c] = 0;
        for (uint64_t at = 0; take_group(t, a, at); at += GROUP) {
            Group *g = t.g;
            for (unsigned e = t.lane; e < t.count; e += lanes)
                if (g->at[e] != NONE) {
                    g->p[e] = told(t, a, e, h, b.edge_grad, b.loop_grad);
                    g->w[e] = told(t, a, e, h, b.edge_weight, b.loop_weight);
                }
            __syncwarp(t.mask);
            for (uint32_t c = t.lane; c < a.channels; c += lanes) {
                float sum = 0;
                const float s =
                    add_edges(t, head_of(t, a, b.dy, 0) + c, d, b.dvalue[to + c],
                              [&](float y, unsigned e, float v) {
                                  const unsigned bits = signs_of(t, a, b, e, t.self)[c / OCTET];
                                  const float up = bits >> c % OCTET & 1 ? 1.0f : -1.0f;
                                  sum = __fadd_rn(sum, gnn_leaky_back(up, a.slope, g->p[e]));
                                  return __fadd_rn(y, __fmul_rn(g->w[e], v));
                              });
                b.dvalue[to + c] =
                    __fadd_rn(s, __fmul_rn(a.weight[(size_t)h * a.channels + c], sum));
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
        for (uint64_t e = 0; e < t.n; e++) {
            const uint32_t at = (t.number ? t.number[e] : t.first + (uint32_t)e) - b.edge0;
            if (!b.edge1 || at < b.edge1 - b.edge0)
                s = __fadd_rn(s, b.edge_grad[(size_t)at * a.heads + h]);
        }
        b.ddst[r.row] = a.loops && b.loop_grad ? __fadd_rn(s, b.loop_grad[r.row]) : s;
    }
}

/* Columns of V2: the gradients of dst, of the edge's own, the row's part of that of weight, and the
 * signs. All lanes go through all columns, as an octet's signs are told together. */
__device__ void target_group(const Part &t, const gnn_attention &a, const gnn_attention_back &b)
{
    const Group *g = t.g;
    const size_t d = row_width(a), head = (size_t)t.h * a.channels;
    const unsigned octet = threadIdx.x % 32 / OCTET * OCTET;
    for (uint32_t c0 = t.lane; c0 - t.lane < a.channels; c0 += t.lanes) {
        const bool in = c0 < a.channels;
        const uint32_t c = in ? c0 : 0;
        const size_t at = t.own * d + head + c;
        const float own = a.dst[at], w = a.weight[head + c];
        float dw = b.dweight[at];
        const float sum = add_edges(t, a.value + head + c, d, 0, [&](float s, unsigned e, float x) {
            const float u = v2_term(own, x, edge_row<V2>(t, a, e), c);
            const unsigned up = __ballot_sync(t.mask, in && u > 0) >> octet & 0xff;
            const float v = gnn_leaky_back(u, a.slope, g->p[e]);
            dw = __fadd_rn(dw, __fmul_rn(g->p[e], gnn_leaky(u, a.slope)));
            if (in && c % OCTET == 0)
                signs_of(t, a, b, e, t.own)[c / OCTET] = (uint8_t)up;
            if (in && is_loop(t, e) && b.dloop)
                b.dloop[at] = __fmul_rn(v, w);
            else if (in && !is_loop(t, e) && b.dedge)
                b.dedge[(size_t)(g->number[e] - a.edge0) * d + head + c] = __fmul_rn(v, w);
            return __fadd_rn(s, v);
        });
        if (in) {
            b.ddst[at] = __fadd_rn(b.ddst[at], __fmul_rn(w, sum));
            b.dweight[at] = dw;
        }
        for (unsigned e = 0; in && b.dedge && e < t.count; e++)
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

__global__ void __launch_bounds__(THREADS)
    dot_target_rows(gnn_attention a, Rows l, gnn_attention_back b, bool acc, unsigned lanes)
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
        for (uint32_t c = t.lane; !acc && c < a.channels; c += lanes)
            b.ddst[to + c] = 0;
        for (uint64_t at = 0; take_group(t, a, at); at += GROUP) {
            for (unsigned e = t.lane; e < t.count; e += lanes)
                if (is_loop(t, e) || !b.edge1 || t.g->number[e] - b.edge0 < b.edge1 - b.edge0)
                    t.g->p[e] = *grad_of(t, a, b, e);
                else
                    t.g->at[e] = NONE; /* without space now */
            __syncwarp(t.mask);
            target_group_dot(t, a, b);
        }
    }
}

/* Of the group's edges, from their scores: gradients of these and weights, which sources are told,
 * too. */
template <Kind kind>
__device__ void tell_sources(const Part &t, const gnn_attention &a, const gnn_attention_back &b,
                             size_t row)
{
    Group *g = t.g;
    for (unsigned e = t.lane; e < t.count; e += t.lanes) {
        const bool left_out = g->at[e] == NONE;
        *grad_of(t, a, b, e) = left_out ? 0 : grad_of_score<kind>(t, a, b, e, row);
        if (b.edge_weight && is_loop(t, e))
            b.loop_weight[row] = g->w[e];
        else if (b.edge_weight)
            b.edge_weight[(size_t)g->number[e] * a.heads + t.h] = left_out ? 0 : g->w[e];
    }
    __syncwarp(t.mask);
}

/* s and the group's weights. */
__device__ float add_weights(const Part &t, float s)
{
    for (unsigned e = 0; e < t.count; e++)
        if (t.g->at[e] != NONE)
            s = __fadd_rn(s, t.g->w[e]);
    return s;
}

/* RAW and V2: rows of the sources are read here, once, beside what the destination has. */
template <Kind kind>
__global__ void __launch_bounds__(THREADS)
    scored_target_rows(gnn_attention a, Rows l, gnn_attention_back b, bool acc, unsigned lanes)
{
    Part t = make_part(lanes, l.bad);
    const uint64_t items = (uint64_t)(l.to - l.from) * a.heads;
    float *scalar = kind == V2 ? b.weights : b.ddst;
    t.xrows = a.nsrc;
    for (GnnRows r = gnn_rows(lanes); r.row < items; r.row += r.stride) {
        const uint32_t row = l.from + (uint32_t)(r.row / a.heads), h = (uint32_t)(r.row % a.heads);
        find_row(t, l.block, l.nblocks, row, l.from, h);
        t.end = a.loops;
        const float *dy = head_of(t, a, b.dy, t.own);
        const float *own = kind == V2 ? head_of(t, a, a.dst, t.own) : a.dst + r.row;
        const size_t to = t.own * row_width(a) + (size_t)h * a.channels;
        float sum = acc ? scalar[r.row] : 0;
        for (uint32_t c = t.lane; kind == V2 && !acc && c < a.channels; c += lanes)
            b.ddst[to + c] = b.dweight[to + c] = 0;
        for (uint64_t at = 0; take_group(t, a, at); at += GROUP) {
            score_group<kind>(t, a, own, kind == V2 ? a.value : a.src);
            sum_channels(t, a.channels, t.g->dot, [&](unsigned e, uint32_t c) {
                return __fmul_rn(dy[c], value_of<kind>(t, a, t.g->at[e])[c]);
            });
            __syncwarp(t.mask);
            tell_sources<kind>(t, a, b, r.row);
            sum = kind == V2 ? add_weights(t, sum) : add_scalars(t, sum, false);
            if constexpr (kind == V2)
                target_group(t, a, b);
        }
        __syncwarp(t.mask); /* all have read it */
        if (t.lane == 0)
            scalar[r.row] = sum;
    }
}

} // namespace

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
    else if (a->kind == V2)
        LAUNCH_PARTS(v2_source_rows, items, lanes, stream, *a, l, *g, acc);
    else if (a->kind == ADD)
        LAUNCH_PARTS(source_rows<ADD>, items, lanes, stream, *a, l, *g, acc);
    else
        LAUNCH_PARTS(source_rows<DOT>, items, lanes, stream, *a, l, *g, acc);
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
        LAUNCH_PARTS(scored_target_rows<RAW>, items, lanes, stream, *a, l, *g, acc);
    else if (a->kind == V2)
        LAUNCH_PARTS(scored_target_rows<V2>, items, lanes, stream, *a, l, *g, acc);
    else
        LAUNCH_PARTS(dot_target_rows, items, lanes, stream, *a, l, *g, acc);
}
