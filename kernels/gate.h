/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that are let through in part: by a function of themselves (GELU), or by a share that is
 * learned. The functions of one number are here, for host and device alike. */
#ifndef GNN_KERNELS_GATE_H
#define GNN_KERNELS_GATE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/exp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The normal distribution's function, the integral of its density up to x. */
static GNN_HD float gnn_normal(float x)
{
    return gnn_mul_rn(0.5f, gnn_add_rn(1, gnn_erff(gnn_mul_rn(x, 0.707106781f))));
}
/* x * normal(x), which is GELU, and its derivative. */
static GNN_HD float gnn_gelu_of(float x)
{
    return gnn_mul_rn(x, gnn_normal(x));
}
static GNN_HD float gnn_gelu_slope(float x)
{
    const float density = gnn_mul_rn(0.398942280f, gnn_expf(gnn_mul_rn(gnn_mul_rn(-0.5f, x), x)));
    return gnn_add_rn(gnn_normal(x), density == 0 ? 0 : gnn_mul_rn(x, density));
}
/* The share of *skip, 1 / (1 + exp(-*skip)), or with `rest` what is missing to 1. NULL: 1. */
static GNN_HD float gnn_share_of(const float *skip, bool rest)
{
    return skip ? 1 / gnn_add_rn(1, gnn_expf(rest ? *skip : -*skip)) : 1;
}

/* y = GELU(x); and dx += GELU'(x) * dy. */
void gnn_gelu(const float *x, size_t n, float *y);
void gnn_gelu_back(const float *x, const float *dy, size_t n, float *dx);
/* y = share * x, or added to it with acc. y may be x. */
void gnn_gate(const float *x, size_t n, const float *skip, bool rest, float *y, bool acc);
/* From *dot, the sum of x * dy of a gate: its part of the gradient of *skip, which is added. */
void gnn_gate_back(const float *dot, const float *skip, bool rest, float *dskip);

/* On a device, of the caller's device-visible memory: the same bits. A launcher only puts kernels
 * on the stream (a cudaStream_t). */
void gnn_cuda_gelu(const float *x, size_t n, float *y, void *stream);
void gnn_cuda_gelu_back(const float *x, const float *dy, size_t n, float *dx, void *stream);
void gnn_cuda_gate(const float *x, size_t n, const float *skip, bool rest, float *y, bool acc,
                   void *stream);
void gnn_cuda_gate_back(const float *dot, const float *skip, bool rest, float *dskip, void *stream);

#ifdef __cplusplus
}
#endif

#endif
