/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm: each column is brought to mean 0 and variance 1 over the rows of a batch, which may
 * be spread over ranks. Ioffe and Szegedy, 2015; PyTorch's definitions. */
#ifndef GNN_KERNELS_BATCH_NORM_H
#define GNN_KERNELS_BATCH_NORM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GNN_MOMENT_BLOCKS = 64 };
/* sum[j] += sum over i of x[i][j], sum[d+j] += sum over i of x[i][j] * by[i][j], for x and by (n,
 * d). count (n): rows with 0 are left out; NULL: none. Products are exact, sums in double
 * precision, so that variances may be taken from sums of squares, and sums of parts of a batch be
 * added up. work: GNN_MOMENT_BLOCKS * 2 * d. Rows are summed in a fixed tree of blocks, as in
 * gnn_colsum. */
void gnn_moments(const float *x, const float *by, const uint8_t *count, size_t n, size_t d,
                 double *work, double *sum);

/* Statistics derived from moments and used for all rows: stat (GNN_BATCH_STATS, d) has mean,
 * 1/sqrt(biased variance + eps), unbiased variance, and, for the backward pass, the means of dy and
 * of dy * xhat. */
enum { GNN_BATCH_STATS = 5 };
/* The first three, from the moments (x by x) of `rows` rows, at least 2. */
void gnn_batch_stats(const double *sum, double rows, size_t d, float eps, float *stat);
/* The first two, from running statistics. */
void gnn_running_stats(const float *mean, const float *var, size_t d, float eps, float *stat);
/* A step of running statistics towards those of a batch: mean += (stat's - mean) * momentum, var
 * likewise with the unbiased variance; one batch more. */
void gnn_batch_track(const float *stat, size_t d, float momentum, float *mean, float *var,
                     int64_t *batches);

/* xhat = (x - mean) * rstd, y = xhat * gamma + beta. xhat may be NULL, y may be x. */
void gnn_batch_norm(const float *x, size_t n, size_t d, const float *stat, const float *gamma,
                    const float *beta, float *xhat, float *y);
/* The parameters' gradients, from the moments (dy by xhat): dbeta += sum[0..d), dgamma +=
 * sum[d..2d). */
void gnn_batch_norm_grads(const double *sum, size_t d, float *dgamma, float *dbeta);
/* The last two of stat, from those moments of all `rows` rows that were normalised together. rows
 * 0: the statistics were running ones, on which no row has an influence. */
void gnn_batch_back_stats(const double *sum, double rows, size_t d, float *stat);
/* dx in place on dy. count as above: of equal rows in several places, one passes the statistics'
 * share of the gradient on. */
void gnn_batch_norm_back(float *dy, const float *xhat, const uint8_t *count, size_t n, size_t d,
                         const float *stat, const float *gamma);

/* On a device, with the same bits. As in kernels/act.h; what is passed by value is the launch's. */
void gnn_cuda_moments(const float *x, const float *by, const uint8_t *count, const uint32_t *n,
                      uint32_t cap, size_t d, double *work, double *sum, void *stream);
void gnn_cuda_batch_stats(const double *sum, double rows, size_t d, float eps, float *stat,
                          void *stream);
void gnn_cuda_running_stats(const float *mean, const float *var, size_t d, float eps, float *stat,
                            void *stream);
void gnn_cuda_batch_track(const float *stat, size_t d, float momentum, float *mean, float *var,
                          int64_t *batches, void *stream);
void gnn_cuda_batch_norm(const float *x, const uint32_t *n, uint32_t cap, size_t d,
                         const float *stat, const float *gamma, const float *beta, float *xhat,
                         float *y, void *stream);
void gnn_cuda_batch_norm_grads(const double *sum, size_t d, float *dgamma, float *dbeta,
                               void *stream);
void gnn_cuda_batch_back_stats(const double *sum, double rows, size_t d, float *stat, void *stream);
void gnn_cuda_batch_norm_back(float *dy, const float *xhat, const uint8_t *count, const uint32_t *n,
                              uint32_t cap, size_t d, const float *stat, const float *gamma,
                              void *stream);

#ifdef __cplusplus
}
#endif

#endif
