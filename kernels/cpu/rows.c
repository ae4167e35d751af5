/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/rows.h"

#include <math.h>
#include <string.h>

#include "kernels/simd.h"

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

void gnn_multiply(const float *a, const float *b, size_t n, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = a[i] * b[i];
}

void gnn_add_scaled(const float *restrict x, size_t n, const float *eps, float *restrict y)
{
    const float factor = 1 + *eps;
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

void gnn_put_columns(const float *restrict x, size_t ldx, size_t n, size_t w, float *restrict y,
                     size_t ldy, bool acc)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < w; j++)
            y[i * ldy + j] = acc ? y[i * ldy + j] + x[i * ldx + j] : x[i * ldx + j];
}

void gnn_take_rows(const float *restrict x, const uint32_t *row, size_t n, size_t d,
                   float *restrict y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        memcpy(y + i * d, x + row[i] * d, d * sizeof *y);
}

void gnn_add_rows(const float *restrict x, const uint32_t *row, size_t n, size_t d,
                  float *restrict y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            y[row[i] * d + j] += x[i * d + j];
}

void gnn_raise(const float *restrict x, size_t n, float *restrict y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] > y[i] || x[i] != x[i] ? x[i] : y[i];
}

void gnn_raise_back(const float *restrict dy, const float *restrict y, const float *restrict x,
                    size_t n, float *restrict taken, float *restrict dx)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        if (taken[i] == 0 && x[i] == y[i]) {
            dx[i] += dy[i];
            taken[i] = 1;
        }
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

enum { LANES = 32 };

/* <a, b>: each lane adds up its columns, and then the lanes are folded, as a warp does. */
GNN_INLINE float lanes_product(const float *restrict a, const float *restrict b, size_t d)
{
    float s[LANES] = {0};
    for (size_t j = 0; j + LANES <= d; j += LANES)
        for (size_t l = 0; l < LANES; l++)
            s[l] += a[j + l] * b[j + l];
    for (size_t j = d / LANES * LANES; j < d; j++)
        s[j % LANES] += a[j] * b[j];
    for (size_t w = LANES / 2; w; w /= 2)
        for (size_t l = 0; l < w; l++)
            s[l] += s[l + w];
    return s[0];
}

GNN_SIMD static float unit_row(const float *x, size_t d, float *y)
{
    const float r = gnn_rnorm_of(sqrtf(lanes_product(x, x, d)));
    for (size_t j = 0; j < d; j++)
        y[j] = x[j] * r;
    return r;
}

void gnn_unit_rows(const float *x, size_t n, size_t d, float *y, float *rnorm)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
        const float r = unit_row(x + i * d, d, y + i * d);
        if (rnorm)
            rnorm[i] = r;
    }
}

GNN_SIMD static void unit_row_back(float *restrict dy, const float *restrict y, size_t d, float r)
{
    /* A row without length was divided by a constant. */
    const float s = r == GNN_RNORM_MOST ? 0 : lanes_product(y, dy, d);
    for (size_t j = 0; j < d; j++)
        dy[j] = (dy[j] - y[j] * s) * r;
}

void gnn_unit_rows_back(float *dy, const float *y, const float *rnorm, size_t n, size_t d)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        unit_row_back(dy + i * d, y + i * d, d, rnorm[i]);
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
