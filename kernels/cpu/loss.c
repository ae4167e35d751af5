/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/loss.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/link_row.h"

static void softmax_row(const float *z, size_t c, int32_t y, float scale, double *loss, float *dz)
{
    if (y < 0) {
        *loss = 0;
        if (dz)
            memset(dz, 0, c * sizeof(*dz));
        return;
    }
    float m = z[0];
    double s = 0;
    for (size_t j = 1; j < c; j++)
        m = z[j] > m ? z[j] : m;
    for (size_t j = 0; j < c; j++)
        s += (double)expf(z[j] - m);
    *loss = log(s) + (double)(m - z[y]);
    if (!dz)
        return;
    const float r = (float)(1 / s);
    for (size_t j = 0; j < c; j++)
        dz[j] = scale * (expf(z[j] - m) * r - ((size_t)y == j ? 1.0f : 0.0f));
}

void gnn_softmax_ce(const float *z, size_t n, size_t c, const int32_t *y, float scale,
                    double *row_loss, float *dz)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        softmax_row(z + i * c, c, y[i], scale, row_loss + i, dz ? dz + i * c : NULL);
}

static float sigmoid_f32(float x)
{
    return x >= 0 ? 1 / (1 + expf(-x)) : expf(x) / (1 + expf(x));
}

/* The mean over labelled columns of the squared error of numbers, or else of the cross-entropy. */
static void column_row(const float *z, size_t c, const float *y, bool numbers, float scale,
                       double *loss, float *dz)
{
    size_t known = 0;
    double s = 0;
    for (size_t j = 0; j < c; j++) {
        const double error = (double)z[j] - (double)y[j];
        if (isnan(y[j]))
            continue;
        known++;
        s = numbers ? fma(error, error, s) /* as on a device */
                    : s + ((double)(z[j] > 0 ? z[j] : 0) - (double)z[j] * (double)y[j] +
                           log1p(exp(-fabs((double)z[j]))));
    }
    *loss = known ? s / (double)known : 0;
    const float k = (numbers ? 2 * scale : scale) / (float)known;
    for (size_t j = 0; dz && j < c; j++)
        dz[j] = isnan(y[j]) ? 0 : k * ((numbers ? z[j] : sigmoid_f32(z[j])) - y[j]);
}

static void column_loss(const float *z, size_t n, size_t c, const float *y, bool numbers,
                        float scale, double *row_loss, float *dz)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        column_row(z + i * c, c, y + i * c, numbers, scale, row_loss + i, dz ? dz + i * c : NULL);
}

void gnn_sigmoid_ce(const float *z, size_t n, size_t c, const float *y, float scale,
                    double *row_loss, float *dz)
{
    column_loss(z, n, c, y, false, scale, row_loss, dz);
}

void gnn_squared_error(const float *z, size_t n, size_t c, const float *y, float scale,
                       double *row_loss, float *dz)
{
    column_loss(z, n, c, y, true, scale, row_loss, dz);
}

void gnn_link_loss(const float *z, const float *y, size_t p, size_t n, size_t each, bool softmax,
                   float scale, double *row_loss, float *dz)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p; i++) {
        const struct gnn_link_row r = gnn_link_row_of(i, p, n, each);
        if (softmax)
            gnn_link_row_softmax(r, z, y, i, scale, row_loss, dz);
        else
            gnn_link_row_bpr(r, z, y, i, scale, row_loss, dz);
    }
}

void gnn_softmax(float *z, size_t n, size_t c)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
        float *v = z + i * c, m = v[0], s = 0;
        for (size_t j = 1; j < c; j++)
            m = v[j] > m ? v[j] : m;
        for (size_t j = 0; j < c; j++)
            s += v[j] = expf(v[j] - m);
        for (size_t j = 0; j < c; j++)
            v[j] /= s;
    }
}

void gnn_sigmoid(float *z, size_t count)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        z[i] = sigmoid_f32(z[i]);
}
