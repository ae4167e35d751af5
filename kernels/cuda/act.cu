/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise passes. A sub-warp has a row, so that columns need no division, and reads whole
 * sectors: 16 bytes a lane where alignment allows, and under dropout the 8 columns, 16 apart, that
 * share one Philox call, each of them in step with the neighbouring lanes'. Column sums have a
 * thread for each column of each of GNN_COLSUM_BLOCKS ranges of rows, as the CPU has, with 64
 * elements in flight. */
#include "kernels/act.h"

#include "kernels/cuda/cuda.cuh"
#include "kernels/rng.h"

namespace
{

constexpr unsigned THREADS = 256;

template <unsigned V, gnn_act act>
__global__ void bias_act(float *x, const uint32_t *n, uint32_t cap, size_t d, const float *bias,
                         unsigned lanes)
{
    const uint32_t rows = gnn_device_count(n, cap);
    const size_t units = d / V;
    for (GnnRows r = gnn_rows(lanes); r.row < rows; r.row += r.stride)
        for (size_t u = r.lane; u < units; u += lanes) {
            GnnUnit<V> *at = reinterpret_cast<GnnUnit<V> *>(x + r.row * d) + u, v = *at;
            GNN_UNROLL
            for (unsigned i = 0; i < V; i++) {
                if (bias)
                    v.v[i] = __fadd_rn(v.v[i], bias[u * V + i]);
                v.v[i] = gnn_act_of(v.v[i], act);
            }
            *at = v;
        }
}

/* Work of a row under dropout: Philox calls w = 16*g + l, each good for the columns 128*g + l, +
 * 16, ... + 112. */
__host__ __device__ inline size_t calls_of(size_t d)
{
    return d % 128 < 16 ? d / 128 * 16 + d % 128 : (d + 127) / 128 * 16;
}

/* y = dropout(act(x + bias)); x may be y. `all`: no dropout at keep16 = 0. */
template <gnn_act act>
__global__ void dropout(const float *x, const uint32_t *n, uint32_t cap, size_t d,
                        const float *bias, bool all, gnn_dropout drop, float *y, unsigned lanes)
{
    const uint32_t rows = gnn_device_count(n, cap);
    const uint32_t key[2] = {drop.key[0], drop.key[1]};
    const uint32_t keep = drop.keep16 || !all ? drop.keep16 : 65536;
    const float scale = __fdiv_rn(65536.0f, (float)keep);
    const size_t calls = calls_of(d);
    for (GnnRows r = gnn_rows(lanes); r.row < rows; r.row += r.stride) {
        const uint32_t node = drop.node[r.row];
        for (size_t w = r.lane; w < calls; w += lanes) {
            const uint32_t counter[4] = {node, (uint32_t)w, 0, 0};
            const size_t first = w / 16 * 128 + w % 16;
            uint32_t word[4];
            float v[8], b[8];
            GNN_UNROLL
            for (unsigned c = 0; c < 8; c++) {
                v[c] = first + 16 * c < d ? x[r.row * d + first + 16 * c] : 0;
                b[c] = bias && first + 16 * c < d ? bias[first + 16 * c]
                                                  : 0; /* before any store: it might be to here */
            }
            gnn_philox(counter, key, word);
            GNN_UNROLL
            for (unsigned c = 0; c < 8; c++) {
                const size_t j = first + 16 * c;
                if (j >= d)
                    continue;
                v[c] = bias ? __fadd_rn(v[c], b[c]) : v[c];
                v[c] = gnn_act_of(v[c], act);
                const uint32_t draw = word[c / 2] >> (c % 2 * 16) & 0xffff;
                y[r.row * d + j] = draw < keep ? __fmul_rn(v[c], scale) : 0;
            }
        }
    }
}

template <unsigned V, gnn_act act>
__global__ void act_back(float *dy, const float *y, const uint32_t *n, uint32_t cap, size_t d,
                         float scale)
{
    const uint64_t count = (uint64_t)gnn_device_count(n, cap) * d;
    const uint64_t first = (uint64_t)blockIdx.x * THREADS + threadIdx.x,
                   stride = (uint64_t)gridDim.x * THREADS;
    for (uint64_t u = first; u < count / V; u += stride) {
        GnnUnit<V> g = reinterpret_cast<GnnUnit<V> *>(dy)[u];
        const GnnUnit<V> o = reinterpret_cast<const GnnUnit<V> *>(y)[u];
        GNN_UNROLL
        for (unsigned i = 0; i < V; i++)
            g.v[i] = gnn_act_grad(g.v[i], o.v[i], act, scale);
        reinterpret_cast<GnnUnit<V> *>(dy)[u] = g;
    }
    for (uint64_t i = count / V * V + first; i < count; i += stride)
        dy[i] = gnn_act_grad(dy[i], y[i], act, scale);
}

/* The same where 0 does not tell what was dropped. */
template <gnn_act act>
__global__ void mask_back(float *dy, const float *y, const uint32_t *n, uint32_t cap, size_t d,
                          float scale, gnn_dropout drop, unsigned lanes)
{
    const uint32_t rows = gnn_device_count(n, cap);
    const uint32_t key[2] = {drop.key[0], drop.key[1]};
    const size_t calls = calls_of(d);
    for (GnnRows r = gnn_rows(lanes); r.row < rows; r.row += r.stride) {
        const uint32_t node = drop.node[r.row];
        for (size_t w = r.lane; w < calls; w += lanes) {
            const uint32_t counter[4] = {node, (uint32_t)w, 0, 0};
            const size_t first = r.row * d + w / 16 * 128 + w % 16;
            uint32_t word[4];
            float g[8], o[8];
            GNN_UNROLL
            for (unsigned c = 0; c < 8; c++) {
                const bool in = first + 16 * c < (r.row + 1) * d;
                g[c] = in ? dy[first + 16 * c] : 0;
                o[c] = in ? y[first + 16 * c] : 0;
            }
            gnn_philox(counter, key, word);
            GNN_UNROLL
            for (unsigned c = 0; c < 8; c++) {
                const uint32_t draw = word[c / 2] >> (c % 2 * 16) & 0xffff;
                if (first + 16 * c < (r.row + 1) * d)
                    dy[first + 16 * c] =
                        draw < drop.keep16 ? gnn_act_grad(g[c], o[c], act, scale) : 0;
            }
        }
    }
}

constexpr unsigned COLUMNS = 32, PARTS = 4; /* a block sums 32 columns of 4 ranges */
/* Rows in flight, for which a thread may have many registers: there are few threads. */
template <bool product> constexpr unsigned FLIGHT = product ? 32 : 64;

/* s and n more rows of a column, x or x * by, in order. What is beyond n adds +0, which changes no
 * sum that began at +0. */
template <bool product>
__device__ float add_rows(const float *x, const float *by, unsigned n, size_t d, float s)
{
    float v[FLIGHT<product>], w[FLIGHT<product>];
    GNN_UNROLL
    for (unsigned k = 0; k < FLIGHT<product>; k++) {
        v[k] = k < n ? x[k * d] : 0;
        w[k] = product && k < n ? by[k * d] : 0;
    }
    GNN_UNROLL
    for (unsigned k = 0; k < FLIGHT<product>; k++)
        s = __fadd_rn(s, product ? __fmul_rn(v[k], w[k]) : v[k]);
    return s;
}

/* work[b][j]: sum over the rows of range b of x, or of x * by. */
template <bool product>
__global__ void __launch_bounds__(COLUMNS *PARTS, 2)
    sum_ranges(const float *x, const float *by, const uint32_t *n, uint32_t cap, size_t d,
               float *work)
{
    const uint64_t rows = gnn_device_count(n, cap),
                   per = (rows + GNN_COLSUM_BLOCKS - 1) / GNN_COLSUM_BLOCKS;
    const uint64_t tiles = (d + COLUMNS - 1) / COLUMNS * (GNN_COLSUM_BLOCKS / PARTS);
    for (uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const size_t j = t / (GNN_COLSUM_BLOCKS / PARTS) * COLUMNS + threadIdx.x % COLUMNS;
        const unsigned b =
            (unsigned)(t % (GNN_COLSUM_BLOCKS / PARTS)) * PARTS + threadIdx.x / COLUMNS;
        const uint64_t from = b * per < rows ? b * per : rows,
                       to = from + per < rows ? from + per : rows;
        if (j >= d)
            continue;
        float s = 0;
        uint64_t left = to - from;
        const float *p = x + from * d + j, *q = product ? by + from * d + j : x;
        for (; left >= FLIGHT<product>;
             left -= FLIGHT<product>, p += FLIGHT<product> * d, q += FLIGHT<product> * d)
            s = add_rows<product>(p, q, FLIGHT<product>, d, s);
        work[b * d + j] = add_rows<product>(p, q, (unsigned)left, d, s);
    }
}

/* The ranges' sums become one; `into`: added to what is there one by one, as the gradient of gamma
 * is. */
__global__ void fold(const float *work, size_t d, float *out, bool acc, bool into)
{
    for (size_t j = (size_t)blockIdx.x * THREADS + threadIdx.x; j < d;
         j += (size_t)gridDim.x * THREADS) {
        float s = into ? out[j] : 0;
        for (unsigned b = 0; b < GNN_COLSUM_BLOCKS; b++)
            s = __fadd_rn(s, work[b * d + j]);
        out[j] = acc && !into ? __fadd_rn(out[j], s) : s;
    }
}

template <bool product>
void launch_sums(const float *x, const float *by, const uint32_t *n, uint32_t cap, size_t d,
                 float *work, void *stream)
{
    GNN_LAUNCH(sum_ranges<product>,
               gnn_grid((d + COLUMNS - 1) / COLUMNS * (GNN_COLSUM_BLOCKS / PARTS), 1),
               COLUMNS * PARTS, 0, stream, x, by, n, cap, d, work);
}

template <gnn_act act>
void launch_act(float *x, const uint32_t *n, uint32_t cap, size_t d, const float *bias,
                const struct gnn_dropout *drop, void *stream)
{
    if (drop) {
        const unsigned lanes = gnn_lanes(calls_of(d));
        GNN_LAUNCH(dropout<act>, gnn_grid(cap, THREADS / lanes), THREADS, 0, stream, x, n, cap, d,
                   bias, true, *drop, x, lanes);
    } else if (d % 4 == 0 && gnn_vector(x, nullptr)) {
        const unsigned lanes = gnn_lanes(d / 4);
        GNN_LAUNCH((bias_act<4, act>), gnn_grid(cap, THREADS / lanes), THREADS, 0, stream, x, n,
                   cap, d, bias, lanes);
    } else {
        const unsigned lanes = gnn_lanes(d);
        GNN_LAUNCH((bias_act<1, act>), gnn_grid(cap, THREADS / lanes), THREADS, 0, stream, x, n,
                   cap, d, bias, lanes);
    }
}

template <gnn_act act>
void launch_back(float *dy, const float *y, const uint32_t *n, uint32_t cap, size_t d, float scale,
                 const struct gnn_dropout *drop, void *stream)
{
    const bool masked = drop && drop->keep16;
    if (act != GNN_ACT_RELU && masked) {
        const unsigned lanes = gnn_lanes(calls_of(d));
        GNN_LAUNCH(mask_back<act>, gnn_grid(cap, THREADS / lanes), THREADS, 0, stream, dy, y, n,
                   cap, d, scale, *drop, lanes);
    } else if (gnn_vector(dy, y))
        GNN_LAUNCH((act_back<4, act>), gnn_grid((uint64_t)cap * d, 4 * THREADS), THREADS, 0, stream,
                   dy, y, n, cap, d, scale);
    else
        GNN_LAUNCH((act_back<1, act>), gnn_grid((uint64_t)cap * d, THREADS), THREADS, 0, stream, dy,
                   y, n, cap, d, scale);
}

} // namespace

void gnn_cuda_bias_act(float *x, const uint32_t *n, uint32_t cap, size_t d, const float *bias,
                       enum gnn_act act, const struct gnn_dropout *drop, void *stream)
{
    static constexpr decltype(&launch_act<GNN_ACT_NONE>) launch[] = {
        launch_act<GNN_ACT_NONE>, launch_act<GNN_ACT_RELU>, launch_act<GNN_ACT_ELU>,
        launch_act<GNN_ACT_LEAKY>};
    if (cap && d)
        launch[act](x, n, cap, d, bias, drop, stream);
}

void gnn_cuda_dropout_copy(const float *x, const uint32_t *n, uint32_t cap, size_t d,
                           const struct gnn_dropout *drop, float *y, void *stream)
{
    if (!cap || !d)
        return;
    const unsigned lanes = gnn_lanes(calls_of(d));
    GNN_LAUNCH(dropout<GNN_ACT_NONE>, gnn_grid(cap, THREADS / lanes), THREADS, 0, stream, x, n, cap,
               d, nullptr, false, *drop, y, lanes);
}

void gnn_cuda_act_back(float *dy, const float *y, const uint32_t *n, uint32_t cap, size_t d,
                       enum gnn_act act, float scale, const struct gnn_dropout *drop, void *stream)
{
    static constexpr decltype(&launch_back<GNN_ACT_NONE>) launch[] = {
        launch_back<GNN_ACT_NONE>, launch_back<GNN_ACT_RELU>, launch_back<GNN_ACT_ELU>,
        launch_back<GNN_ACT_LEAKY>};
    if (cap && d)
        launch[act](dy, y, n, cap, d, scale, drop, stream);
}

void gnn_cuda_colsum(const float *x, const uint32_t *n, uint32_t cap, size_t d, float *work,
                     float *out, bool acc, void *stream)
{
    if (!d)
        return;
    launch_sums<false>(x, nullptr, n, cap, d, work, stream);
    GNN_LAUNCH(fold, gnn_grid(d, THREADS), THREADS, 0, stream, work, d, out, acc, false);
}

namespace
{

/* A warp has a row: lane l its columns l, l + 32, ...; then the lanes' sums in a tree. */
__global__ void __launch_bounds__(THREADS)
    norm_rows(const float *x, const uint32_t *n, uint32_t cap, size_t d, const float *gamma,
              const float *beta, float eps, float *xhat, float *rstd, float *y)
{
    const uint32_t rows = gnn_device_count(n, cap);
    for (GnnRows r = gnn_rows(32); r.row < rows; r.row += r.stride) {
        const float *in = x + r.row * d;
        float m = 0, v = 0;
        for (size_t j = r.lane; j < d; j += 32)
            m = __fadd_rn(m, in[j]);
        m = __fdiv_rn(gnn_warp_sum(m), (float)d);
        for (size_t j = r.lane; j < d; j += 32) {
            const float g = __fadd_rn(in[j], -m);
            v = __fadd_rn(v, __fmul_rn(g, g));
        }
        v = gnn_warp_sum(v);
        const float k = __fdiv_rn(1.0f, __fsqrt_rn(__fadd_rn(__fdiv_rn(v, (float)d), eps)));
        if (r.lane == 0)
            rstd[r.row] = k;
        for (size_t j = r.lane; j < d; j += 32) {
            const float h = __fmul_rn(__fadd_rn(in[j], -m), k);
            if (xhat)
                xhat[r.row * d + j] = h;
            y[r.row * d + j] = __fadd_rn(__fmul_rn(h, gamma[j]), beta[j]);
        }
    }
}

__global__ void __launch_bounds__(THREADS)
    norm_back(float *dy, const float *xhat, const float *rstd, const uint32_t *n, uint32_t cap,
              size_t d, const float *gamma)
{
    const uint32_t rows = gnn_device_count(n, cap);
    for (GnnRows r = gnn_rows(32); r.row < rows; r.row += r.stride) {
        float *g = dy + r.row * d, a = 0, b = 0;
        const float *h = xhat + r.row * d, k = rstd[r.row];
        for (size_t j = r.lane; j < d; j += 32) {
            const float t = __fmul_rn(g[j], gamma[j]);
            a = __fadd_rn(a, t);
            b = __fadd_rn(b, __fmul_rn(t, h[j]));
        }
        a = __fdiv_rn(gnn_warp_sum(a), (float)d);
        b = __fdiv_rn(gnn_warp_sum(b), (float)d);
        for (size_t j = r.lane; j < d; j += 32) {
            const float t = __fadd_rn(__fmul_rn(g[j], gamma[j]), -a);
            g[j] = __fmul_rn(k, __fadd_rn(t, -__fmul_rn(h[j], b)));
        }
    }
}

} // namespace

void gnn_cuda_layer_norm(const float *x, const uint32_t *n, uint32_t cap, size_t d,
                         const float *gamma, const float *beta, float eps, float *xhat, float *rstd,
                         float *y, void *stream)
{
    if (!cap || !d)
        return;
    GNN_LAUNCH(norm_rows, gnn_grid(cap, THREADS / 32), THREADS, 0, stream, x, n, cap, d, gamma,
               beta, eps, xhat, rstd, y);
}

void gnn_cuda_layer_norm_back(float *dy, const float *xhat, const float *rstd, const uint32_t *n,
                              uint32_t cap, size_t d, const float *gamma, float *dgamma,
                              float *dbeta, float *work, void *stream)
{
    if (!cap || !d)
        return;
    gnn_cuda_colsum(dy, n, cap, d, work, dbeta, true, stream);
    launch_sums<true>(dy, xhat, n, cap, d, work, stream);
    GNN_LAUNCH(fold, gnn_grid(d, THREADS), THREADS, 0, stream, work, d, dgamma, true, true);
    GNN_LAUNCH(norm_back, gnn_grid(cap, THREADS / 32), THREADS, 0, stream, dy, xhat, rstd, n, cap,
               d, gamma);
}
