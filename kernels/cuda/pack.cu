/* SPDX-License-Identifier: Apache-2.0 */
/* A warp has a row, whose number it looks up. To round, each of its lanes makes Philox calls, which
 * are good for 8 columns, 16 apart, so that neighbouring lanes are at neighbouring columns. */
#include "kernels/pack.h"

#include "kernels/cuda/cuda.cuh"
#include "kernels/half_bits.h"
#include "kernels/rng.h"

namespace
{

constexpr unsigned THREADS = 256;

__global__ void __launch_bounds__(THREADS)
    pack_rows(const float *x, const uint32_t *row, size_t n, size_t d, float scale, float *y)
{
    for (GnnRows r = gnn_rows(32); r.row < n; r.row += r.stride)
        for (size_t j = r.lane; j < d; j += 32)
            y[r.row * d + j] = __fmul_rn(scale, x[row[r.row] * d + j]);
}

__global__ void __launch_bounds__(THREADS)
    pack_bf16(const float *x, const uint32_t *row, size_t n, size_t d, float scale, gnn_rounding q,
              uint16_t *y)
{
    const uint32_t key[2] = {q.key[0], q.key[1]};
    const size_t calls = (d + 127) / 128 * 16;
    for (GnnRows r = gnn_rows(32); r.row < n; r.row += r.stride) {
        const float *from = x + (row ? row[r.row] : r.row) * d;
        const uint32_t id = q.first + q.id[r.row];
        for (size_t w = r.lane; w < calls; w += 32) {
            const uint32_t counter[4] = {id, (uint32_t)w, 0, 0};
            const size_t first = w / 16 * 128 + w % 16;
            uint32_t word[4];
            if (first >= d)
                continue;
            gnn_philox(counter, key, word);
            GNN_UNROLL
            for (unsigned c = 0; c < 8; c++) {
                const size_t j = first + 16 * c;
                const uint32_t draw = word[c / 2] >> (c % 2 * 16) & 0xffff;
                if (j < d)
                    y[r.row * d + j] =
                        gnn_bf16_random(gnn_f32_bits(__fmul_rn(scale, from[j])), draw);
            }
        }
    }
}

__global__ void __launch_bounds__(THREADS)
    add_bf16_rows(const uint16_t *x, const uint32_t *row, size_t n, size_t d, float *y)
{
    for (GnnRows r = gnn_rows(32); r.row < n; r.row += r.stride)
        for (size_t j = r.lane; j < d; j += 32) {
            float *to = y + row[r.row] * d + j;
            *to = __fadd_rn(*to, gnn_bits_f32((uint32_t)x[r.row * d + j] << 16));
        }
}

} // namespace

void gnn_cuda_pack_rows(const float *x, const uint32_t *row, size_t n, size_t d, float scale,
                        float *y, void *stream)
{
    if (n && d)
        GNN_LAUNCH(pack_rows, gnn_grid(n, THREADS / 32), THREADS, 0, stream, x, row, n, d, scale,
                   y);
}

void gnn_cuda_pack_bf16(const float *x, const uint32_t *row, size_t n, size_t d, float scale,
                        const struct gnn_rounding *q, uint16_t *y, void *stream)
{
    if (n && d)
        GNN_LAUNCH(pack_bf16, gnn_grid(n, THREADS / 32), THREADS, 0, stream, x, row, n, d, scale,
                   *q, y);
}

void gnn_cuda_add_bf16_rows(const uint16_t *x, const uint32_t *row, size_t n, size_t d, float *y,
                            void *stream)
{
    if (n && d)
        GNN_LAUNCH(add_bf16_rows, gnn_grid(n, THREADS / 32), THREADS, 0, stream, x, row, n, d, y);
}
