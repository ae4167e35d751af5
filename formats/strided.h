/* SPDX-License-Identifier: Apache-2.0 */
/* Strided arrays: tensors as NumPy and PyTorch keep them, whose elements need not lie in row-major
 * order, and their rows in that order. */
#ifndef GNN_FORMATS_STRIDED_H
#define GNN_FORMATS_STRIDED_H

#include "formats/tensor.h"

/* Elements in memory that somebody else owns, little-endian. Element (i, j, ...) stands
 * i * stride[0] + j * stride[1] + ... elements behind data; gnn_strided_fits says that all of them
 * are inside. data need not be aligned. */
struct gnn_strided {
    enum gnn_dtype dtype; /* booleans are u8 */
    bool is_bool;
    bool dense; /* elements follow one another in row-major order */
    uint32_t ndim;
    uint64_t shape[GNN_NDIM_MAX];
    uint64_t stride[GNN_NDIM_MAX]; /* in elements */
    uint64_t count;                /* elements */
    const uint8_t *data;
};

/* Checks dtype, ndim, shape and stride against `bytes` bytes at data, and sets count and dense.
 * NULL, or what is wrong (a static text). An array has at most as many elements as there are in
 * these bytes, so that to copy it takes no more memory than they do: one that repeats its elements,
 * as PyTorch's expand() makes it, is refused. */
const char *gnn_strided_fits(struct gnn_strided *s, uint64_t bytes);
/* Sets the strides of an array whose elements follow one another, with the first index running
 * fastest (`fortran`) or the last. False if its elements cannot be counted. */
bool gnn_strided_set_order(struct gnn_strided *s, bool fortran);

/* A tensor of the same elements where they lie, not to be written to; false if not dense. */
bool gnn_strided_tensor(const struct gnn_strided *s, const char *name, struct gnn_tensor *t);

/* Rows: items along the first dimension; a scalar is one row. */
uint64_t gnn_strided_rows(const struct gnn_strided *s);
/* Bytes of one row when its elements follow one another. */
uint64_t gnn_strided_row_bytes(const struct gnn_strided *s);
/* Copies n rows from `first` on to out, in row-major order. The rows must exist. Thread-safe. */
void gnn_strided_copy(const struct gnn_strided *s, uint64_t first, uint64_t n, void *out);

#endif
