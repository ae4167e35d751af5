/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/pack.h"

#include "kernels/cpu/draws16.h"
#include "kernels/half_bits.h"

void gnn_pack_rows(const float *restrict x, const uint32_t *row, size_t n, size_t d, float scale,
                   float *restrict y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            y[i * d + j] = scale * x[row[i] * d + j];
}

enum { ROWS = 64 }; /* of a task */

GNN_INLINE void pack_row(const float *restrict x, size_t d, float scale, const uint32_t key[2],
                         uint32_t id, uint16_t *restrict y)
{
    uint16_t r[GNN_DRAWS];
    for (size_t j = 0; j < d; j += GNN_DRAWS) {
        const size_t w = d - j < GNN_DRAWS ? d - j : GNN_DRAWS;
        gnn_draws16(key, id, (uint32_t)(j / 8), r);
        for (size_t c = 0; c < w; c++)
            y[j + c] = gnn_bf16_random(gnn_f32_bits(scale * x[j + c]), r[c]);
    }
}

GNN_SIMD static void pack_some(const float *x, const uint32_t *row, size_t from, size_t to,
                               size_t d, float scale, const struct gnn_rounding *q, uint16_t *y)
{
    for (size_t i = from; i < to; i++)
        pack_row(x + (row ? row[i] : i) * d, d, scale, q->key, q->first + q->id[i], y + i * d);
}

void gnn_pack_bf16(const float *x, const uint32_t *row, size_t n, size_t d, float scale,
                   const struct gnn_rounding *q, uint16_t *y)
{
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < (n + ROWS - 1) / ROWS; b++)
        pack_some(x, row, b * ROWS, (b + 1) * ROWS < n ? (b + 1) * ROWS : n, d, scale, q, y);
}

void gnn_add_bf16_rows(const uint16_t *restrict x, const uint32_t *row, size_t n, size_t d,
                       float *restrict y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            y[row[i] * d + j] += gnn_bits_f32((uint32_t)x[i * d + j] << 16);
}
