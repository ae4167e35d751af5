/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of rows in a loss, which is divided by their sum: 0 for a row without a label; else 1, or
 * the weight of its class, as in PyTorch's CrossEntropyLoss; of several columns, the share of them
 * that is labelled, so that all labels weigh the same. */
#ifndef GNN_KERNELS_WEIGHT_H
#define GNN_KERNELS_WEIGHT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* w[i] = weight[y[i]], for classes y (n), of `classes`; others are unlabelled, w[i] = 0. */
void gnn_class_weights(const int32_t *y, size_t n, size_t classes, const float *weight, float *w);
/* As gnn_class_weights, for targets y (n) of a binary task: class 1 above 0.5, else 0; NaN =
 * unlabelled. */
void gnn_target_weights(const float *y, size_t n, const float *weight, float *w);
/* w[i]: share of the targets or numbers y (n, c) of row i that are labelled, which are not NaN. */
void gnn_column_weights(const float *y, size_t n, size_t c, float *w);
/* Turns the gradient dz (n, c) of a mean over `rows` rows into that of the mean by their weights,
 * which sum up to *total: row i is multiplied by w[i] * rows / *total. All is 0 if *total is. */
void gnn_weigh_rows(const float *w, size_t n, size_t c, const double *total, double rows,
                    float *dz);

/* The functions above on a device, bit for bit the same. Launchers only put kernels on the stream
 * (a cudaStream_t). */
void gnn_cuda_class_weights(const int32_t *y, size_t n, size_t classes, const float *weight,
                            float *w, void *stream);
void gnn_cuda_target_weights(const float *y, size_t n, const float *weight, float *w, void *stream);
void gnn_cuda_column_weights(const float *y, size_t n, size_t c, float *w, void *stream);
void gnn_cuda_weigh_rows(const float *w, size_t n, size_t c, const double *total, double rows,
                         float *dz, void *stream);

#ifdef __cplusplus
}
#endif

#endif
