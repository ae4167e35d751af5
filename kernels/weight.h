/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of classes in a loss: rows are weighted by their class, and a batch's loss is divided by
 * the sum of its rows' weights, as PyTorch's CrossEntropyLoss does it. */
#ifndef GNN_KERNELS_WEIGHT_H
#define GNN_KERNELS_WEIGHT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* w[i] = weight[y[i]], for classes y (n), of `classes`; others are unlabelled, w[i] = 0. */
void gnn_class_weights(const int32_t *y, size_t n, size_t classes, const float *weight, float *w);
/* The same for targets y (n) of a binary task: class 1 above 0.5, else 0; NaN = unlabelled. */
void gnn_target_weights(const float *y, size_t n, const float *weight, float *w);
/* Turns an unweighted loss of n rows, and its gradient dz (n, c) or NULL, into the weighted one:
 * row i is multiplied by w[i] * rows / *total. If the loss is the mean over `rows` rows whose
 * weights sum up to *total, this is the mean by weights. All is 0 if *total is. */
void gnn_weigh_rows(const float *w, size_t n, size_t c, const double *total, double rows,
                    double *row_loss, float *dz);

/* The same on a device, bit for bit. Launchers only put kernels on the stream (a cudaStream_t). */
void gnn_cuda_class_weights(const int32_t *y, size_t n, size_t classes, const float *weight,
                            float *w, void *stream);
void gnn_cuda_target_weights(const float *y, size_t n, const float *weight, float *w, void *stream);
void gnn_cuda_weigh_rows(const float *w, size_t n, size_t c, const double *total, double rows,
                         double *row_loss, float *dz, void *stream);

#ifdef __cplusplus
}
#endif

#endif
