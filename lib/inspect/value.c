/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/value.h"

#include <inttypes.h>
#include <stdio.h>

#include "formats/npy.h"
#include "kernels/int8_row.h"

double gnn_value(enum gnn_dtype d, const void *data, uint64_t i)
{
    double x = 0;
    gnn_npy_to_f64(d, (const char *)data + i * gnn_dtype_bytes(d), &x, 1);
    return x;
}

double gnn_element(const struct gnn_tensor *t, uint64_t i)
{
    if (!t->int8)
        return gnn_value(t->dtype, t->data, i);
    const char *row = (const char *)t->data + i / t->int8 * t->shape[1];
    return (double)((float)((const int8_t *)row)[i % t->int8] * *gnn_int8_scale(row, t->int8));
}

const char *gnn_value_text(enum gnn_dtype d, const void *data, uint64_t i, char *out,
                           size_t capacity)
{
    if (d == GNN_U64)
        snprintf(out, capacity, "%" PRIu64, ((const uint64_t *)data)[i]);
    else if (d == GNN_I64)
        snprintf(out, capacity, "%" PRId64, ((const int64_t *)data)[i]);
    else
        snprintf(out, capacity,
                 d == GNN_F64                   ? "%.17g"
                 : d == GNN_U32 || d == GNN_I32 ? "%.0f"
                                                : "%.9g",
                 gnn_value(d, data, i));
    return out;
}
