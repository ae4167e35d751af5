/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/label.h"

void gnn_labels_form(const void *y, enum gnn_label_type type, size_t n, enum gnn_label_form form,
                     uint32_t classes, void *out)
{
    for (size_t i = 0; i < n; i++)
        gnn_label_put(out, i, gnn_label_value(y, type, i), form, classes);
}
