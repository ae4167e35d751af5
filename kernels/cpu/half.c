/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/half.h"

#include <float.h>
#include <math.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "kernels/cpu/isa.h"
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

#ifdef GNN_AVX2
enum { LANES = 8 };

GNN_AVX2 static inline void widen_lanes(const int8_t *in, __m256 scale, float *out)
{
    const __m256i wide = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)in));
    _mm256_storeu_ps(out, _mm256_mul_ps(_mm256_cvtepi32_ps(wide), scale));
}

/* By hand, as what compilers make of the loop takes longer than the row's way from memory. n is at
 * least LANES. */
GNN_AVX2 static void i8_to_f32_avx2(const int8_t *in, uint64_t n, float scale, float *out)
{
    const __m256 s = _mm256_set1_ps(scale);
    uint64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        widen_lanes(in + i, s, out + i);
    if (i < n) /* some of them once more */
        widen_lanes(in + n - LANES, s, out + n - LANES);
}
#endif

void gnn_i8_to_f32(const int8_t *in, uint64_t n, float scale, float *out)
{
#ifdef GNN_AVX2
    if (n >= LANES && gnn_isa_best() != GNN_ISA_PORTABLE) {
        i8_to_f32_avx2(in, n, scale, out);
        return;
    }
#endif
    for (uint64_t i = 0; i < n; i++)
        out[i] = (float)in[i] * scale;
}

/* By way of f32, some at a time. */
static void narrow_i8(const int8_t *in, uint64_t n, float scale, uint16_t *out,
                      void (*narrow)(const float *in, uint64_t n, uint16_t *out))
{
    float v[256];
    const uint64_t most = sizeof v / sizeof *v;
    for (uint64_t i = 0; i < n; i += most) {
        const uint64_t k = n - i < most ? n - i : most;
        gnn_i8_to_f32(in + i, k, scale, v);
        narrow(v, k, out + i);
    }
}

void gnn_i8_to_f16(const int8_t *in, uint64_t n, float scale, uint16_t *out)
{
    narrow_i8(in, n, scale, out, gnn_f32_to_f16);
}

void gnn_i8_to_bf16(const int8_t *in, uint64_t n, float scale, uint16_t *out)
{
    narrow_i8(in, n, scale, out, gnn_f32_to_bf16);
}

/* Of the largest magnitude, as bits: those of infinity and of NaN are larger than all others. */
GNN_SIMD static uint32_t largest_bits(const float *restrict in, uint64_t n)
{
    uint32_t most = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t u = gnn_f32_bits(in[i]) & 0x7fffffffu;
        most = u > most ? u : most;
    }
    return most;
}

GNN_SIMD static void divide_row(const float *restrict in, uint64_t n, double scale,
                                int8_t *restrict out)
{
    /* Adding 1.5 * 2^52 rounds to a whole number, ties to even, in the low bits. */
    for (uint64_t i = 0; i < n; i++)
        out[i] = (int8_t)(int)(((double)in[i] / scale + 0x1.8p52) - 0x1.8p52);
}

/* Near the ends of the range, where a scale is rounded by more than its last bits allow, the next
 * one: 127 scales must be finite, and the largest element at most 127 of them. */
static float scale_of(float largest)
{
    float scale = largest / 127;
    if (scale * 127 > FLT_MAX)
        scale = gnn_bits_f32(gnn_f32_bits(scale) - 1);
    while ((double)largest / (double)scale >= 127.5)
        scale = gnn_bits_f32(gnn_f32_bits(scale) + 1);
    return scale;
}

float gnn_f32_to_i8(const float *in, uint64_t n, int8_t *out)
{
    const uint32_t most = largest_bits(in, n);
    if (most >= 0x7f800000u)
        return NAN;
    if (!most) {
        memset(out, 0, n);
        return 0;
    }
    const float scale = scale_of(gnn_bits_f32(most));
    divide_row(in, n, (double)scale, out);
    return scale;
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
