/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of f32 to the two 16-bit types and back. Narrowing rounds to the nearest, ties to even;
 * beyond the range is infinity; a NaN stays a NaN. Widening is exact. In and out do not overlap.
 * Thread-safe; widening large arrays is shared out among OpenMP's threads. */
#ifndef GNN_KERNELS_HALF_H
#define GNN_KERNELS_HALF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void gnn_f32_to_f16(const float *in, uint64_t n, uint16_t *out);
void gnn_f32_to_bf16(const float *in, uint64_t n, uint16_t *out);
/* The numbers of bf16, as f32. */
void gnn_f32_round_bf16(const float *in, uint64_t n, float *out);
void gnn_f16_to_f32(const uint16_t *in, uint64_t n, float *out);
void gnn_bf16_to_f32(const uint16_t *in, uint64_t n, float *out);
/* out[i] = in[i] * scale, rounded to f32, and then to the narrower type. */
void gnn_i8_to_f32(const int8_t *in, uint64_t n, float scale, float *out);
void gnn_i8_to_f16(const int8_t *in, uint64_t n, float scale, uint16_t *out);
void gnn_i8_to_bf16(const int8_t *in, uint64_t n, float scale, uint16_t *out);
/* A row to int8: out[i] = in[i] / scale to the nearest, ties to even. Returns the scale, the
 * largest magnitude / 127, or 0 for a row of zeros; NaN, and out is unfinished, where not all is
 * finite. */
float gnn_f32_to_i8(const float *in, uint64_t n, int8_t *out);

/* Widening on a device, of the caller's device-visible memory; only puts kernels on the stream (a
 * cudaStream_t). */
void gnn_cuda_f16_to_f32(const uint16_t *in, uint64_t n, float *out, void *stream);
void gnn_cuda_bf16_to_f32(const uint16_t *in, uint64_t n, float *out, void *stream);
/* Rows (kernels/int8_row.h) of `width` elements, n elements altogether. */
void gnn_cuda_i8_to_f32(const void *rows, uint64_t n, uint32_t width, float *out, void *stream);

#ifdef __cplusplus
}
#endif

#endif
