/* Losses and their gradients with respect to the logits. */
#ifndef GNN_KERNELS_LOSS_H
#define GNN_KERNELS_LOSS_H

#include <stddef.h>
#include <stdint.h>

/* Softmax cross-entropy. z: logits (n, c); y: classes (n), negative = unlabelled, no loss. row_loss (n) takes each row's
 * loss. dz (n, c) or NULL: gradient of scale * sum of the losses. dz may be z. */
void gnn_softmax_ce(const float *z, size_t n, size_t c, const int32_t *y, float scale, double *row_loss,
                    float *dz);
/* Sigmoid cross-entropy per element, for binary (c = 1) and multi-label targets. y: targets (n, c) in [0,1], NaN =
 * unlabelled. The loss of a row is the mean over its labelled columns, as in PyTorch's BCEWithLogitsLoss. */
void gnn_sigmoid_ce(const float *z, size_t n, size_t c, const float *y, float scale, double *row_loss,
                    float *dz);
/* Class probabilities in place. */
void gnn_softmax(float *z, size_t n, size_t c);
void gnn_sigmoid(float *z, size_t count);

#endif
