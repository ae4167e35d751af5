/* SPDX-License-Identifier: Apache-2.0 */
/* Times, along which the in-edges of a node may be ordered: values of a field of integers or of
 * real numbers, compared exactly as what they are. */
#ifndef GNN_LIB_DATA_TIME_H
#define GNN_LIB_DATA_TIME_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/tensor.h"
#include "kernels/pick.h"

static inline bool gnn_time_dtype(enum gnn_dtype t)
{
    return t != GNN_F16 && t != GNN_BF16 && gnn_dtype_bytes(t) != 0;
}

/* Row i of a column as a number that is ordered as the column's values are, 0 and -0 being equal.
 * False for NaN, which has no place in an order. dtype: one that gnn_time_dtype accepts. */
static inline bool gnn_time_key(enum gnn_dtype dtype, const void *rows, uint64_t i, uint64_t *key)
{
    const uint64_t top = (uint64_t)1 << 63;
    int64_t whole;
    double real;
    switch (dtype) {
    case GNN_U64:
        *key = ((const uint64_t *)rows)[i];
        return true;
    case GNN_I64:
        whole = ((const int64_t *)rows)[i];
        break;
    case GNN_U32:
        whole = ((const uint32_t *)rows)[i];
        break;
    case GNN_I32:
        whole = ((const int32_t *)rows)[i];
        break;
    case GNN_U16:
        whole = ((const uint16_t *)rows)[i];
        break;
    case GNN_I16:
        whole = ((const int16_t *)rows)[i];
        break;
    case GNN_U8:
        whole = ((const uint8_t *)rows)[i];
        break;
    case GNN_I8:
        whole = ((const int8_t *)rows)[i];
        break;
    default:
        real = dtype == GNN_F32 ? (double)((const float *)rows)[i] : ((const double *)rows)[i];
        *key = (uint64_t)gnn_time_order(true, gnn_time_bits(real)) ^ top;
        return !isnan(real);
    }
    *key = (uint64_t)whole ^ top;
    return true;
}

#endif
