/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of floats on their way between partitions: scaled, and as bf16, which halves them. Rounding
 * is stochastic (Gupta et al., "Deep Learning with Limited Numerical Precision", ICML 2015): of the
 * two bf16 next to a number, each is taken with the probability that makes their mean the number.
 * Sums of many rounded numbers therefore do not drift. */
#ifndef GNN_KERNELS_PACK_H
#define GNN_KERNELS_PACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which draws decide. Row i is known by first + id[i], over batches, partitions and ranks. Its
 * columns have 16 bits each, laid out as those of struct gnn_dropout (kernels/act.h). */
struct gnn_rounding {
    uint32_t key[2];
    const uint32_t *id; /* (n) */
    uint32_t first;
};

/* y[i] = scale x[row[i]] for n rows of d columns. x and y do not overlap. */
void gnn_pack_rows(const float *x, const uint32_t *row, size_t n, size_t d, float scale, float *y);
/* As gnn_pack_rows, as bf16; row NULL: x[i]. Numbers that are bf16 stay themselves: zeros,
 * infinities. A NaN stays a NaN. Finite numbers beyond the largest bf16 become that one. */
void gnn_pack_bf16(const float *x, const uint32_t *row, size_t n, size_t d, float scale,
                   const struct gnn_rounding *q, uint16_t *y);
/* y[row[i]] += x[i]; the rows are different ones. */
void gnn_add_bf16_rows(const uint16_t *x, const uint32_t *row, size_t n, size_t d, float *y);

/* On a device, of the caller's device-visible memory; q is the host's and read during the call, but
 * q->id the device's. Only puts kernels on the stream (a cudaStream_t). The bits are those of the
 * functions above (a NaN is one, but its payload may differ). */
void gnn_cuda_pack_rows(const float *x, const uint32_t *row, size_t n, size_t d, float scale,
                        float *y, void *stream);
void gnn_cuda_pack_bf16(const float *x, const uint32_t *row, size_t n, size_t d, float scale,
                        const struct gnn_rounding *q, uint16_t *y, void *stream);
void gnn_cuda_add_bf16_rows(const uint16_t *x, const uint32_t *row, size_t n, size_t d, float *y,
                            void *stream);

#ifdef __cplusplus
}
#endif

#endif
