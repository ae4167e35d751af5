/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise passes over a layer's output: bias, activation, dropout, column sums, layer norm. */
#ifndef GNN_KERNELS_ACT_H
#define GNN_KERNELS_ACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/exp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Activation functions, with PyTorch's default constants. */
enum gnn_act {
    GNN_ACT_NONE, /* x */
    GNN_ACT_RELU, /* x > 0 ? x : 0, but a NaN stays one */
    GNN_ACT_ELU,  /* x > 0 ? x : exp(x) - 1 */
    GNN_ACT_LEAKY /* x > 0 ? x : x / 100 */
};
/* Names of those of hidden layers, from ReLU on. */
#define GNN_ACT_WORDS "relu|elu|leaky"
#define GNN_LEAKY_SLOPE 0.01f

static GNN_HD float gnn_act_of(float x, enum gnn_act act)
{
    switch (act) {
    case GNN_ACT_RELU:
        return x < 0 ? 0 : x;
    case GNN_ACT_ELU:
        return x > 0 ? x : gnn_expm1f(x);
    case GNN_ACT_LEAKY:
        return x > 0 ? x : gnn_mul_rn(GNN_LEAKY_SLOPE, x);
    default:
        return x;
    }
}
/* The gradient of x from that of y = scale * act(x): what was negative still is, or has become 0.
 */
static GNN_HD float gnn_act_grad(float dy, float y, enum gnn_act act, float scale)
{
    switch (act) {
    case GNN_ACT_RELU: /* 0, even if dy is infinite */
        return y > 0 ? gnn_mul_rn(dy, scale) : 0;
    case GNN_ACT_ELU: /* the derivative of exp(x) - 1 is that plus 1 */
        return gnn_mul_rn(dy, y > 0 ? scale : gnn_add_rn(y, scale));
    case GNN_ACT_LEAKY:
        return gnn_mul_rn(dy, y > 0 ? scale : gnn_mul_rn(GNN_LEAKY_SLOPE, scale));
    default:
        return gnn_mul_rn(dy, scale);
    }
}

/* Which draws a dropout mask uses: 16 bits a column, those of column 128*g + 16*c + l being bits
 * 16*c .. 16*c+15 of Philox at the counter (node[i], 16*g + l, 0, 0). A column is kept if they are
 * below keep16 (0: no dropout). */
struct gnn_dropout {
    uint32_t key[2];
    const uint32_t *node; /* (n) ids, stable over batches and parts */
    uint32_t keep16;
};

/* x (n, d), pitch d, in place: x = dropout(act(x + bias)). bias and drop may be NULL. Kept values
 * are scaled by 65536/keep16. */
void gnn_bias_act(float *x, size_t n, size_t d, const float *bias, enum gnn_act act,
                  const struct gnn_dropout *drop);
/* y = dropout(x), out of place. */
void gnn_dropout_copy(const float *x, size_t n, size_t d, const struct gnn_dropout *drop, float *y);
/* dx in place on dy, from y (n, d) = dropout(act(x)): dx = dy * act'(x) * scale where y was kept,
 * and 0 elsewhere; scale is 65536/keep16, or 1 without dropout. An element of y that is 0 may have
 * been dropped, or x was 0. ReLU makes 0 of both, so it needs y alone: `drop` is ignored. The other
 * functions have a slope there, so they need what was passed to gnn_bias_act as `drop` (NULL: no
 * dropout), and draw the mask again. */
void gnn_act_back(float *dy, const float *y, size_t n, size_t d, enum gnn_act act, float scale,
                  const struct gnn_dropout *drop);

enum { GNN_COLSUM_BLOCKS = 64 };
/* out[j] (+)= sum over i of x[i][j]. `work` has GNN_COLSUM_BLOCKS * d floats. Rows are summed in a
 * fixed tree of blocks, so the bits do not depend on the number of threads. */
void gnn_colsum(const float *x, size_t n, size_t d, float *work, float *out, bool acc);

/* Per row: xhat = (x - mean) * rstd, y = xhat * gamma + beta. rstd (n) and xhat (n, d) are kept for
 * the backward pass; xhat may be NULL (nothing kept), y may be x. eps as in PyTorch: rstd =
 * 1/sqrt(var + eps), biased variance. */
void gnn_layer_norm(const float *x, size_t n, size_t d, const float *gamma, const float *beta,
                    float eps, float *xhat, float *rstd, float *y);
/* dx in place on dy; dgamma, dbeta (d) are added to. work: GNN_COLSUM_BLOCKS * d floats. */
void gnn_layer_norm_back(float *dy, const float *xhat, const float *rstd, size_t n, size_t d,
                         const float *gamma, float *dgamma, float *dbeta, float *work);

/* On a device. All pointers are to the caller's device-visible memory, except `drop`, which is the
 * host's and read during the call. Arrays have *n rows, at most cap (n NULL: cap of them). A
 * launcher only puts kernels on the stream (a cudaStream_t). The bits are those of the functions
 * above (a NaN is one, but its payload may differ), except in layer norm, which sums up rows in
 * another order; its bits depend on nothing but the row. */
void gnn_cuda_bias_act(float *x, const uint32_t *n, uint32_t cap, size_t d, const float *bias,
                       enum gnn_act act, const struct gnn_dropout *drop, void *stream);
void gnn_cuda_dropout_copy(const float *x, const uint32_t *n, uint32_t cap, size_t d,
                           const struct gnn_dropout *drop, float *y, void *stream);
void gnn_cuda_act_back(float *dy, const float *y, const uint32_t *n, uint32_t cap, size_t d,
                       enum gnn_act act, float scale, const struct gnn_dropout *drop, void *stream);
void gnn_cuda_colsum(const float *x, const uint32_t *n, uint32_t cap, size_t d, float *work,
                     float *out, bool acc, void *stream);
void gnn_cuda_layer_norm(const float *x, const uint32_t *n, uint32_t cap, size_t d,
                         const float *gamma, const float *beta, float eps, float *xhat, float *rstd,
                         float *y, void *stream);
void gnn_cuda_layer_norm_back(float *dy, const float *xhat, const float *rstd, const uint32_t *n,
                              uint32_t cap, size_t d, const float *gamma, float *dgamma,
                              float *dbeta, float *work, void *stream);

#ifdef __cplusplus
}
#endif

#endif
