/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/heads.h"

#include <string.h>

#include "kernels/act.h"
#include "kernels/cpu/lanes.h"

enum { CHUNK = 64 };

GNN_SIMD static void dot_rows(const float *x, const float *y, size_t pitch, size_t from, size_t to,
                              uint32_t heads, uint32_t n, float *out)
{
    for (size_t i = from; i < to; i++)
        for (size_t h = 0; h < heads; h++)
            out[i * heads + h] = head_dot(x + (i * heads + h) * n, y + i * pitch + h * n, n);
}

void gnn_head_dots(const float *x, const float *y, size_t pitch, uint32_t n, uint32_t heads,
                   uint32_t channels, float *out)
{
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < ((size_t)n + CHUNK - 1) / CHUNK; b++)
        dot_rows(x, y, pitch, b * CHUNK, (b + 1) * CHUNK < n ? (b + 1) * CHUNK : n, heads, channels,
                 out);
}

GNN_SIMD static void outer_rows(const float *g, const float *restrict w, size_t from, size_t to,
                                uint32_t heads, uint32_t n, float *restrict x)
{
    for (size_t i = from * heads; i < to * heads; i++) {
        const float v = g[i], *restrict by = w + i % heads * n;
        for (size_t c = 0; c < n; c++)
            x[i * n + c] += v * by[c];
    }
}

void gnn_head_outer(const float *g, const float *w, uint32_t n, uint32_t heads, uint32_t channels,
                    float *x)
{
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < ((size_t)n + CHUNK - 1) / CHUNK; b++)
        outer_rows(g, w, b * CHUNK, (b + 1) * CHUNK < n ? (b + 1) * CHUNK : n, heads, channels, x);
}

GNN_SIMD static void sum_heads(const float *g, const float *x, size_t n, uint32_t heads,
                               uint32_t channels, float *restrict s)
{
    memset(s, 0, (size_t)heads * channels * sizeof(*s));
    for (size_t i = 0; i < n; i++)
        for (size_t h = 0; h < heads; h++) {
            const float v = g[i * heads + h], *restrict from = x + (i * heads + h) * channels;
            for (size_t c = 0; c < channels; c++)
                s[h * channels + c] += v * from[c];
        }
}

void gnn_head_sums(const float *g, const float *x, uint32_t n, uint32_t heads, uint32_t channels,
                   float *work, float *out, bool acc)
{
    const size_t d = (size_t)heads * channels,
                 per = ((size_t)n + GNN_COLSUM_BLOCKS - 1) / GNN_COLSUM_BLOCKS;
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < GNN_COLSUM_BLOCKS; b++) {
        const size_t from = b * per < n ? b * per : n, to = from + per < n ? from + per : n;
        sum_heads(g + from * heads, x + from * d, to - from, heads, channels, work + b * d);
    }
    for (size_t j = 0; j < d; j++) {
        float s = 0;
        for (size_t b = 0; b < GNN_COLSUM_BLOCKS; b++)
            s += work[b * d + j];
        out[j] = acc ? out[j] + s : s;
    }
}

GNN_SIMD static void mean_rows(const float *x, size_t from, size_t to, uint32_t heads, uint32_t n,
                               float *restrict out, bool acc)
{
    for (size_t i = from; i < to; i++)
        for (size_t c = 0; c < n; c++) {
            float s = x[i * heads * n + c];
            for (size_t h = 1; h < heads; h++)
                s += x[(i * heads + h) * n + c];
            s /= (float)heads;
            out[i * n + c] = acc ? out[i * n + c] + s : s;
        }
}

void gnn_head_means(const float *x, uint32_t n, uint32_t heads, uint32_t channels, float *out,
                    bool acc)
{
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < ((size_t)n + CHUNK - 1) / CHUNK; b++)
        mean_rows(x, b * CHUNK, (b + 1) * CHUNK < n ? (b + 1) * CHUNK : n, heads, channels, out,
                  acc);
}

GNN_SIMD static void spread_rows(const float *g, size_t from, size_t to, uint32_t heads, uint32_t n,
                                 float *restrict x)
{
    for (size_t i = from; i < to; i++)
        for (size_t h = 0; h < heads; h++)
            for (size_t c = 0; c < n; c++)
                x[(i * heads + h) * n + c] = g[i * n + c] / (float)heads;
}

void gnn_head_spread(const float *g, uint32_t n, uint32_t heads, uint32_t channels, float *x)
{
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < ((size_t)n + CHUNK - 1) / CHUNK; b++)
        spread_rows(g, b * CHUNK, (b + 1) * CHUNK < n ? (b + 1) * CHUNK : n, heads, channels, x);
}
