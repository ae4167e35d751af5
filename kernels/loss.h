/* SPDX-License-Identifier: Apache-2.0 */
/* Losses and their gradients with respect to the logits. */
#ifndef GNN_KERNELS_LOSS_H
#define GNN_KERNELS_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Softmax cross-entropy. z: logits (n, c); y: classes (n), negative = unlabelled, no loss. row_loss
 * (n) takes each row's loss. dz (n, c) or NULL: gradient of scale * sum of the losses. dz may be z.
 */
void gnn_softmax_ce(const float *z, size_t n, size_t c, const int32_t *y, float scale,
                    double *row_loss, float *dz);
/* Sigmoid cross-entropy per element, for binary (c = 1) and multi-label targets. y: targets (n, c)
 * in [0,1], NaN = unlabelled. The loss of a row is the mean over its labelled columns, as in
 * PyTorch's BCEWithLogitsLoss. */
void gnn_sigmoid_ce(const float *z, size_t n, size_t c, const float *y, float scale,
                    double *row_loss, float *dz);
/* Squared error of a regression. y: numbers (n, c), NaN = unlabelled. The loss of a row is the mean
 * over its labelled columns; the mean over rows that are labelled throughout is PyTorch's MSELoss.
 */
void gnn_squared_error(const float *z, size_t n, size_t c, const float *y, float scale,
                       double *row_loss, float *dz);
/* Losses that compare scores z of p positive links with those of the n negatives that follow them.
 * each > 0: n is p * each, and a positive has the next so many; else negative k is of positive k
 * modulo p. BPR (Rendle et al., UAI 2009): a negative's loss is softplus(z of the negative - z of
 * its positive), and a positive has none. softmax: a positive's loss is the softmax cross-entropy
 * of it among itself and its negatives, and these have none. y (p + n): labels, of which a NaN
 * tells that there is no negative in this place. row_loss (p + n), which is 0 where there is none;
 * dz (p + n) or NULL: gradient of scale * their sum. dz may be z. n is 0 if p is. */
void gnn_link_loss(const float *z, const float *y, size_t p, size_t n, size_t each, bool softmax,
                   float scale, double *row_loss, float *dz);
/* Class probabilities in place. */
void gnn_softmax(float *z, size_t n, size_t c);
void gnn_sigmoid(float *z, size_t count);

/* On a device. All pointers are to the caller's device-visible memory. Arrays have *n rows, at most
 * cap (n NULL: cap of them). A launcher only puts kernels on the stream (a cudaStream_t). The
 * results differ from those above by the last bits of exp and of sums; they depend on nothing but
 * the row. The squared error has the same bits. `bad` must hold UINT64_MAX at first and takes the
 * lowest row whose class is not below c; it counts as unlabelled. */
void gnn_cuda_softmax_ce(const float *z, const uint32_t *n, uint32_t cap, size_t c,
                         const int32_t *y, float scale, double *row_loss, float *dz, uint64_t *bad,
                         void *stream);
void gnn_cuda_sigmoid_ce(const float *z, const uint32_t *n, uint32_t cap, size_t c, const float *y,
                         float scale, double *row_loss, float *dz, void *stream);
void gnn_cuda_squared_error(const float *z, const uint32_t *n, uint32_t cap, size_t c,
                            const float *y, float scale, double *row_loss, float *dz, void *stream);
void gnn_cuda_link_loss(const float *z, const float *y, size_t p, size_t n, size_t each,
                        bool softmax, float scale, double *row_loss, float *dz, void *stream);

#ifdef __cplusplus
}
#endif

#endif
