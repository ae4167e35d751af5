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

void gnn_column_weights(const float *y, size_t n, size_t c, float *w)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t known = 0;
        for (size_t j = 0; j < c; j++)
            known += isnan(y[i * c + j]) ? 0 : 1;
        w[i] = (float)known / (float)c;
    }
}

void gnn_weigh_rows(const float *w, size_t n, size_t c, const double *total, double rows, float *dz)
{
    const double share = *total > 0 ? rows / *total : 0;
    for (size_t i = 0; i < n; i++) {
        const float by = (float)((double)w[i] * share);
        for (size_t j = 0; by != 1 && j < c; j++)
            dz[i * c + j] *= by;
    }
}
