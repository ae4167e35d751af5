/* SPDX-License-Identifier: Apache-2.0 */
/* Attention, forward (kernels/cuda/attention.cuh). */
#include "kernels/cuda/attention.cuh"

namespace
{

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

} // namespace

void gnn_cuda_attention_rows(const struct gnn_attention *a, const struct gnn_csr *block,
                             uint32_t nblocks, uint32_t from, uint32_t to, unsigned flags, float *y,
                             float *m, float *z, uint64_t *bad, void *stream)
{
    const unsigned lanes = part_lanes(a->channels);
    const Rows l = {block, nblocks, from, to, bad};
    const uint64_t items = (uint64_t)(to - from) * a->heads;
    if (from >= to)
        return;
    if (a->kind == ADD)
        LAUNCH_PARTS(forward_rows<ADD>, items, lanes, stream, *a, l, flags, y, m, z);
    else if (a->kind == RAW)
        LAUNCH_PARTS(forward_rows<RAW>, items, lanes, stream, *a, l, flags, y, m, z);
    else if (a->kind == V2)
        LAUNCH_PARTS(forward_rows<V2>, items, lanes, stream, *a, l, flags, y, m, z);
    else
        LAUNCH_PARTS(forward_rows<DOT>, items, lanes, stream, *a, l, flags, y, m, z);
}
