/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/gate.h"

#include "kernels/simd.h"

enum { STEP = 16384 }; /* numbers of a task */

GNN_SIMD static void gelu_step(const float *restrict x, size_t n, float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = gnn_gelu_of(x[i]);
}

GNN_SIMD static void slope_step(const float *restrict x, const float *restrict dy, size_t n,
                                float *restrict dx)
{
    for (size_t i = 0; i < n; i++)
        dx[i] += gnn_gelu_slope(x[i]) * dy[i];
}

static size_t step_of(size_t from, size_t n)
{
    return n - from < STEP ? n - from : STEP;
}

void gnn_gelu(const float *x, size_t n, float *y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += STEP)
        gelu_step(x + i, step_of(i, n), y + i);
}

void gnn_gelu_back(const float *x, const float *dy, size_t n, float *dx)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += STEP)
        slope_step(x + i, dy + i, step_of(i, n), dx + i);
}

void gnn_gate(const float *x, size_t n, const float *skip, bool rest, float *y, bool acc)
{
    const float share = gnn_share_of(skip, rest);
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        y[i] = acc ? y[i] + share * x[i] : share * x[i];
}

/* The derivative of a share is it times the other one. */
void gnn_gate_back(const float *dot, const float *skip, bool rest, float *dskip)
{
    const float slope = gnn_share_of(skip, false) * gnn_share_of(skip, true);
    *dskip += rest ? -(slope * *dot) : slope * *dot;
}
