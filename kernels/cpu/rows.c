/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/rows.h"

#include <math.h>
#include <string.h>

void gnn_fill(float *x, size_t n, float v)
{
    for (size_t i = 0; i < n; i++)
        x[i] = v;
}

void gnn_add(const float *restrict x, size_t n, float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

void gnn_add_scaled(const float *restrict x, size_t n, const float *eps, float *restrict y)
{
    const float factor = 1 + *eps;
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

void gnn_rows_to_unit_sum(float *x, size_t n, size_t d)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
        float s = 0;
        for (size_t j = 0; j < d; j++)
            s += x[i * d + j];
        const float r = 1 / (s > 1 ? s : 1); /* sums below one are left alone */
        for (size_t j = 0; j < d; j++)
            x[i * d + j] *= r;
    }
}

size_t gnn_first_not_finite(const float *x, size_t n)
{
    enum { STEP = 256 };
    size_t at = 0;
    while (at < n) {
        const size_t end = n - at < STEP ? n : at + STEP;
        uint32_t bad = 0;
        for (size_t i = at; i < end;
             i++) { /* on the bits: comparisons of floats are not vectorised */
            uint32_t bits;
            memcpy(&bits, x + i, sizeof bits);
            bad |= (bits & 0x7f800000) == 0x7f800000;
        }
        if (bad)
            break;
        at = end;
    }
    while (at < n && isfinite(x[at]))
        at++;
    return at;
}
