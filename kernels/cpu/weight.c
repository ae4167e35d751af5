/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/weight.h"

void gnn_label_weights(const void *y, enum gnn_label_form form, size_t n, size_t c,
                       const float *weight, float *w)
{
    for (size_t i = 0; i < n; i++)
        w[i] = gnn_label_weight(y, form, i, c, weight);
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
