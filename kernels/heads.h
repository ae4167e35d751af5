/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that consist of heads, as attention has them: d = heads * channels columns. */
#ifndef GNN_KERNELS_HEADS_H
#define GNN_KERNELS_HEADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* out (n, heads): sums over the channels of x * y, both (n, d); pitch is that of y: d, or 0 for one
 * row that serves all. */
void gnn_head_dots(const float *x, const float *y, size_t pitch, uint32_t n, uint32_t heads,
                   uint32_t channels, float *out);
/* x (n, d) += g (n, heads) * w (d). */
void gnn_head_outer(const float *g, const float *w, uint32_t n, uint32_t heads, uint32_t channels,
                    float *x);
/* out (d) = the sum over rows of g (n, heads) * x (n, d), added to what is there with acc; `work`
 * and the tree are gnn_colsum's. */
void gnn_head_sums(const float *g, const float *x, uint32_t n, uint32_t heads, uint32_t channels,
                   float *work, float *out, bool acc);
/* out (n, channels): the mean over the heads of x (n, d), or added to what is there with acc. */
void gnn_head_means(const float *x, uint32_t n, uint32_t heads, uint32_t channels, float *out,
                    bool acc);
/* Its gradient: each head of x (n, d) becomes g (n, channels) / heads. */
void gnn_head_spread(const float *g, uint32_t n, uint32_t heads, uint32_t channels, float *x);

/* On a device: the same bits, of device-visible memory. A launcher only puts kernels on the stream
 * (a cudaStream_t). */
void gnn_cuda_head_dots(const float *x, const float *y, size_t pitch, uint32_t n, uint32_t heads,
                        uint32_t channels, float *out, void *stream);
void gnn_cuda_head_outer(const float *g, const float *w, uint32_t n, uint32_t heads,
                         uint32_t channels, float *x, void *stream);
void gnn_cuda_head_sums(const float *g, const float *x, uint32_t n, uint32_t heads,
                        uint32_t channels, float *work, float *out, bool acc, void *stream);
void gnn_cuda_head_means(const float *x, uint32_t n, uint32_t heads, uint32_t channels, float *out,
                         bool acc, void *stream);
void gnn_cuda_head_spread(const float *g, uint32_t n, uint32_t heads, uint32_t channels, float *x,
                          void *stream);

#ifdef __cplusplus
}
#endif

#endif
