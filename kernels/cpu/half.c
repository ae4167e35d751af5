/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/half.h"

#include "kernels/half_bits.h"
#include "kernels/simd.h"

enum { PIECE = 1 << 16 }; /* worth a thread */

GNN_SIMD static void f32_to_f16(const float *restrict in, uint64_t n, uint16_t *restrict out)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = gnn_f16_of(gnn_f32_bits(in[i]));
}

GNN_SIMD static void f32_to_bf16(const float *restrict in, uint64_t n, uint16_t *restrict out)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = gnn_bf16_of(gnn_f32_bits(in[i]));
}

GNN_SIMD static void f32_round_bf16(const float *restrict in, uint64_t n, float *restrict out)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = gnn_bits_f32((uint32_t)gnn_bf16_of(gnn_f32_bits(in[i])) << 16);
}

GNN_SIMD static void f16_to_f32(const uint16_t *restrict in, uint64_t n, float *restrict out)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = gnn_f32_of_f16(in[i]);
}

GNN_SIMD static void bf16_to_f32(const uint16_t *restrict in, uint64_t n, float *restrict out)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = gnn_bits_f32((uint32_t)in[i] << 16);
}

void gnn_f32_to_f16(const float *in, uint64_t n, uint16_t *out)
{
    f32_to_f16(in, n, out);
}

void gnn_f32_to_bf16(const float *in, uint64_t n, uint16_t *out)
{
    f32_to_bf16(in, n, out);
}

void gnn_f32_round_bf16(const float *in, uint64_t n, float *out)
{
    f32_round_bf16(in, n, out);
}

GNN_SIMD static void i8_to_f32(const int8_t *restrict in, uint64_t n, float scale,
                               float *restrict out)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = (float)in[i] * scale;
}

void gnn_i8_to_f32(const int8_t *in, uint64_t n, float scale, float *out)
{
    i8_to_f32(in, n, scale, out);
}

void gnn_f16_to_f32(const uint16_t *in, uint64_t n, float *out)
{
    if (n <= PIECE) { /* a row: no time to call for others */
        f16_to_f32(in, n, out);
        return;
    }
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < n; i += PIECE)
        f16_to_f32(in + i, n - i < PIECE ? n - i : PIECE, out + i);
}

void gnn_bf16_to_f32(const uint16_t *in, uint64_t n, float *out)
{
    if (n <= PIECE) {
        bf16_to_f32(in, n, out);
        return;
    }
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < n; i += PIECE)
        bf16_to_f32(in + i, n - i < PIECE ? n - i : PIECE, out + i);
}
