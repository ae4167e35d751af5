/* SPDX-License-Identifier: Apache-2.0 */
/* Plain passes over rows of floats. */
#ifndef GNN_KERNELS_ROWS_H
#define GNN_KERNELS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/hd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 1 / |x| of a row whose sum of squares has the root `length`: a NaN stays one. Rows of no length
 * have GNN_RNORM_MOST. */
#define GNN_RNORM_MOST 1e12f
static GNN_HD float gnn_rnorm_of(float length)
{
    return length < 1e-12f ? GNN_RNORM_MOST : 1 / length;
}

/* x[i] = v. */
void gnn_fill(float *x, size_t n, float v);
/* y[i] += x[i]; x and y do not overlap. */
void gnn_add(const float *x, size_t n, float *y);
/* y[i] = a[i] b[i]; y may be a or b. */
void gnn_multiply(const float *a, const float *b, size_t n, float *y);
/* y[i] += (1 + *eps) x[i]; x and y do not overlap. */
void gnn_add_scaled(const float *x, size_t n, const float *eps, float *y);
/* y[i][j] = x[i][j], or y[i][j] += x[i][j] with `acc`, for n rows of w columns; ldx and ldy are row
 * pitches in floats. x and y do not overlap. */
void gnn_put_columns(const float *x, size_t ldx, size_t n, size_t w, float *y, size_t ldy,
                     bool acc);
/* Rows of d columns by their numbers: y[i] = x[row[i]], and y[row[i]] += x[i] for i < n, where the
 * numbers are different. x and y do not overlap. */
void gnn_take_rows(const float *x, const uint32_t *row, size_t n, size_t d, float *y);
void gnn_add_rows(const float *x, const uint32_t *row, size_t n, size_t d, float *y);
/* y[i] = max(x[i], y[i]); a NaN of either stays one. */
void gnn_raise(const float *x, size_t n, float *y);
/* The gradient, for one of several x of which y is the maximum: where taken[i] is 0 and x[i] is
 * y[i], dx[i] += dy[i] and taken[i] = 1. So the first x that has the maximum takes all of it. */
void gnn_raise_back(const float *dy, const float *y, const float *x, size_t n, float *taken,
                    float *dx);
/* Divides each row of x (n, d) by its sum, if that is above 1 (PyG's NormalizeFeatures). */
void gnn_rows_to_unit_sum(float *x, size_t n, size_t d);
/* y = x / |x| for each row of x (n, d), where |x| is its Euclidean length, or 1e-12 if that is more
 * (PyTorch's normalize). y may be x. rnorm (n) = 1 / |x| is kept for the backward pass; NULL: not.
 * 32 sums of every 32nd square, and these in a tree, so that a processor adds up as many at once
 * and the bits depend on nothing but the row. */
void gnn_unit_rows(const float *x, size_t n, size_t d, float *y, float *rnorm);
/* dx = (dy - y <y, dy>) rnorm in place on dy; dx = dy rnorm where |x| was 1e-12. */
void gnn_unit_rows_back(float *dy, const float *y, const float *rnorm, size_t n, size_t d);
/* Index of the first of x[n] that is infinite or a NaN; n if there is none. */
size_t gnn_first_not_finite(const float *x, size_t n);

/* On a device, of the caller's device-visible memory; only puts kernels on the stream (a
 * cudaStream_t). The bits are those of the functions above. Rows: *n of them, at most cap (n NULL:
 * cap). */
void gnn_cuda_fill(float *x, size_t n, float v, void *stream);
void gnn_cuda_add(const float *x, size_t n, float *y, void *stream);
void gnn_cuda_multiply(const float *a, const float *b, size_t n, float *y, void *stream);
void gnn_cuda_add_scaled(const float *x, size_t n, const float *eps, float *y, void *stream);
void gnn_cuda_put_columns(const float *x, size_t ldx, size_t n, size_t w, float *y, size_t ldy,
                          bool acc, void *stream);
void gnn_cuda_take_rows(const float *x, const uint32_t *row, size_t n, size_t d, float *y,
                        void *stream);
void gnn_cuda_add_rows(const float *x, const uint32_t *row, size_t n, size_t d, float *y,
                       void *stream);
void gnn_cuda_raise(const float *x, size_t n, float *y, void *stream);
void gnn_cuda_raise_back(const float *dy, const float *y, const float *x, size_t n, float *taken,
                         float *dx, void *stream);
void gnn_cuda_rows_to_unit_sum(float *x, const uint32_t *n, uint32_t cap, size_t d, void *stream);
void gnn_cuda_unit_rows(const float *x, const uint32_t *n, uint32_t cap, size_t d, float *y,
                        float *rnorm, void *stream);
void gnn_cuda_unit_rows_back(float *dy, const float *y, const float *rnorm, const uint32_t *n,
                             uint32_t cap, size_t d, void *stream);

#ifdef __cplusplus
}
#endif

#endif
