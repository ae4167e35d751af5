/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/weight.h"

#include <math.h>

void gnn_class_weights(const int32_t *y, size_t n, size_t classes, const float *weight, float *w)
{
    for (size_t i = 0; i < n; i++)
        w[i] = y[i] >= 0 && (size_t)y[i] < classes ? weight[y[i]] : 0;
}

void gnn_target_weights(const float *y, size_t n, const float *weight, float *w)
{
    for (size_t i = 0; i < n; i++)
        w[i] = isnan(y[i]) ? 0 : weight[y[i] > 0.5f];
}

void gnn_weigh_rows(const float *w, size_t n, size_t c, const double *total, double rows,
                    double *row_loss, float *dz)
{
    const double share = *total > 0 ? rows / *total : 0;
    for (size_t i = 0; i < n; i++) {
        const double by = (double)w[i] * share;
        row_loss[i] *= by;
        for (size_t j = 0; dz && j < c; j++)
            dz[i * c + j] *= (float)by;
    }
}
