/* SPDX-License-Identifier: Apache-2.0 */
/* Factors of aggregation: what the rows of a layer's blocks are scaled by. */
#ifndef GNN_KERNELS_FACTORS_H
#define GNN_KERNELS_FACTORS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Functions read only first, n, indptr, indices and, with weights, value of the blocks, which have
 * no rows but those of the result, [from, to). */

/* row[i], from <= i < to: 1/degree, 0 for a row without edges or outside all blocks. */
void gnn_mean_factors(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                      float *row);

/* isqrt[i] = (degree[i] + 1)^-1/2. */
void gnn_gcn_degrees(const uint32_t *degree, size_t n, float *isqrt);

/* With D = isqrt^-2 the number of a node's neighbours other than itself in the whole graph, plus
 * one, and k of those neighbours sampled, a row is (D-1)/k * sum of x_u/sqrt(D_u D_v) + x_v/D_v:
 * exact when all are there, unbiased otherwise. Self loops that were sampled are taken back through
 * the diagonal: A+I has one loop a node, as PyG's gcn_norm. Rows outside all blocks have the
 * diagonal only. */
void gnn_gcn_factors(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                     const float *isqrt, float *row, float *diag);

/* isqrt[i] = degree[i]^-1/2, 0 where it is not above 0. */
void gnn_weight_degrees(const float *degree, size_t n, float *isqrt);

/* Factors with weights of edges, the blocks' `value`, as PyG's gcn_norm: isqrt of the sums of
 * weights, in which a node's loop, with the weight loop[i], takes part; count[i] neighbours other
 * than itself in the whole graph. With k of these sampled, a row is
 *   count/k * sum of w x_u isqrt_u isqrt_v + loop_v isqrt_v^2 x_v. */
void gnn_weight_factors(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                        const float *isqrt, const uint32_t *count, const float *loop, float *row,
                        float *diag);

/* On a device. All pointers are the caller's device-visible memory, `block` too. Rows end at *n, or
 * at cap if that is less or n is NULL. A launcher only puts kernels on the stream (a
 * cudaStream_t). The bits are those of the functions above. */
void gnn_cuda_mean_factors(const struct gnn_csr *block, uint32_t nblocks, uint32_t from,
                           const uint32_t *n, uint32_t cap, float *row, void *stream);
void gnn_cuda_gcn_degrees(const uint32_t *degree, const uint32_t *n, uint32_t cap, float *isqrt,
                          void *stream);
void gnn_cuda_gcn_factors(const struct gnn_csr *block, uint32_t nblocks, uint32_t from,
                          const uint32_t *n, uint32_t cap, const float *isqrt, float *row,
                          float *diag, void *stream);

void gnn_cuda_weight_degrees(const float *degree, const uint32_t *n, uint32_t cap, float *isqrt,
                             void *stream);
void gnn_cuda_weight_factors(const struct gnn_csr *block, uint32_t nblocks, uint32_t from,
                             const uint32_t *n, uint32_t cap, const float *isqrt,
                             const uint32_t *count, const float *loop, float *row, float *diag,
                             void *stream);

#ifdef __cplusplus
}
#endif

#endif
