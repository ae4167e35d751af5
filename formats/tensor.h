/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor: the one shape of data that files, pipes and programs exchange. */
#ifndef GNN_FORMATS_TENSOR_H
#define GNN_FORMATS_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Element types. The numbers are those of the GNB format (gnb(5)) and never change. */
enum gnn_dtype {
    GNN_U8 = 1,
    GNN_I8 = 2,
    GNN_U16 = 3,
    GNN_I16 = 4,
    GNN_U32 = 5,
    GNN_I32 = 6,
    GNN_U64 = 7,
    GNN_I64 = 8,
    GNN_F16 = 9,
    GNN_BF16 = 10,
    GNN_F32 = 11,
    GNN_F64 = 12,
};

enum {
    GNN_NDIM_MAX = 4,
    GNN_NAME_MAX = 4095
}; /* a name may hold those of a relation and its two node types */

/* Row-major, little-endian, dense. ndim 0 is a scalar (one element). */
struct gnn_tensor {
    const char *name;
    enum gnn_dtype dtype;
    uint32_t ndim;
    uint64_t shape[GNN_NDIM_MAX];
    void *data;
    uint64_t sum; /* XXH3-64 of the bytes, if has_sum: saves the writer a second pass */
    bool has_sum;
    /* elements of each row, if the rows are int8 with their scales (kernels/int8_row.h) and the
     * tensor has them as bytes; 0: all others */
    uint64_t int8;
};

/* Bytes of one element; 0 if d is not a dtype. */
size_t gnn_dtype_bytes(enum gnn_dtype d);
/* "u8" ... "f64"; "?" if d is not a dtype. */
const char *gnn_dtype_name(enum gnn_dtype d);
/* Reverse of gnn_dtype_name; returns 0 if there is no such dtype. */
enum gnn_dtype gnn_dtype_parse(const char *name);

/* Numbers in a row of a tensor of one or two dimensions. */
static inline uint64_t gnn_tensor_columns(const struct gnn_tensor *t)
{
    return t->int8 ? t->int8 : t->ndim == 2 ? t->shape[1] : 1;
}
/* Number of elements, or of bytes. False when it does not fit u64. */
bool gnn_tensor_count(const struct gnn_tensor *t, uint64_t *count);
bool gnn_tensor_bytes(const struct gnn_tensor *t, uint64_t *bytes);

#endif
