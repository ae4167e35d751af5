/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of rows in a loss, which is divided by their sum: 0 for a row without a label; else 1, or
 * the weight of its class, as in PyTorch's CrossEntropyLoss; of several columns, the share of them
 * that is labelled, so that all labels weigh the same. */
#ifndef GNN_KERNELS_WEIGHT_H
#define GNN_KERNELS_WEIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/label.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The weight of row i of labels y, in this form (struct gnn_labels). Classes: weight[k] of class k
 * below c; others are unlabelled. Targets or numbers (n, c): those that are not NaN are labelled;
 * with weights, a single target is of class 1 above 0.5, else of class 0. weight NULL: 1 for each
 * class.
 */
static GNN_HD float gnn_label_weight(const void *y, enum gnn_label_form form, size_t i, size_t c,
                                     const float *weight)
{
    const int32_t *k = (const int32_t *)y + i;
    const float *t = (const float *)y + i * c;
    uint32_t known = 0;
    if (form == GNN_LABEL_CLASS)
        return *k >= 0 && (size_t)*k < c ? (weight ? weight[*k] : 1) : 0;
    for (size_t j = 0; j < c; j++)
        known += t[j] == t[j];
    return !weight ? (float)known / (float)c : known ? weight[*t > 0.5f] : 0;
}
/* w[i]: that of row i, of n. */
void gnn_label_weights(const void *y, enum gnn_label_form form, size_t n, size_t c,
                       const float *weight, float *w);
/* Turns the gradient dz (n, c) of a mean over `rows` rows into that of the mean by their weights,
 * which sum up to *total: row i is multiplied by w[i] * rows / *total. All is 0 if *total is. */
void gnn_weigh_rows(const float *w, size_t n, size_t c, const double *total, double rows,
                    float *dz);

/* The functions above on a device, bit for bit the same. Launchers only put kernels on the stream
 * (a cudaStream_t). */
void gnn_cuda_label_weights(const void *y, enum gnn_label_form form, size_t n, size_t c,
                            const float *weight, float *w, void *stream);
void gnn_cuda_weigh_rows(const float *w, size_t n, size_t c, const double *total, double rows,
                         float *dz, void *stream);

#ifdef __cplusplus
}
#endif

#endif
