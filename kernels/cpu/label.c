/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/label.h"

void gnn_label_classes(const void *y, enum gnn_label_type type, size_t n, uint32_t classes,
                       int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = gnn_label_class(gnn_label_value(y, type, i), classes);
}

void gnn_label_targets(const void *y, enum gnn_label_type type, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = gnn_label_target(gnn_label_value(y, type, i));
}

void gnn_label_numbers(const void *y, enum gnn_label_type type, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = gnn_label_number(gnn_label_value(y, type, i));
}
