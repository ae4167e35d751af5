/* SPDX-License-Identifier: Apache-2.0 */
/* The .npy array format, versions 1 to 3 (NumPy's "A simple file format for NumPy arrays").
 * Objects, strings and structured types are not numbers and are refused. */
#ifndef GNN_FORMATS_NPY_H
#define GNN_FORMATS_NPY_H

#include "formats/tensor.h"

enum { GNN_NPY_MAGIC = 6, GNN_NPY_PREFIX = 12, GNN_NPY_HEADER_MAX = 1 << 16 };

struct gnn_npy {
    enum gnn_dtype dtype; /* booleans are u8 */
    bool is_bool;
    bool swap;    /* big-endian data */
    bool fortran; /* column-major data */
    uint32_t ndim;
    uint64_t shape[GNN_NDIM_MAX];
    uint64_t count, bytes; /* elements and bytes of data: checked not to overflow */
    uint32_t text; /* bytes of an element that is text, 'S' or 'U' (4 a character); 0: none */
    bool wide;     /* 'U' */
    bool objects;  /* pickled Python objects */
};

/* From the first GNN_NPY_PREFIX bytes of a file: the length of the whole header including the
 * prefix, 0 if these are not an .npy file's (or the header would be longer than
 * GNN_NPY_HEADER_MAX). */
uint32_t gnn_npy_header_bytes(const uint8_t prefix[GNN_NPY_PREFIX]);
/* Parses the whole header of n bytes. NULL, or what is wrong (a static text): text and objects are,
 * and are told by the fields. */
const char *gnn_npy_parse(struct gnn_npy *h, const uint8_t *header, uint32_t n);
/* Writes a version 1 header, a multiple of 64 bytes long, for a row-major little-endian array
 * (booleans as such if is_bool) into out; returns its length. out has space for 256 bytes. bf16 has
 * no NumPy type and is written as '<V2'. */
uint32_t gnn_npy_header(const struct gnn_npy *h, uint8_t *out);

/* Reverses the bytes of each of n elements. */
void gnn_npy_swap(void *data, uint64_t n, size_t size);
/* Widens n native elements to double, float or signed integers. _i64: false if one is not a whole
 * number in range (*bad is its index). */
void gnn_npy_to_f32(enum gnn_dtype d, const void *in, float *out, uint64_t n);
void gnn_npy_to_f64(enum gnn_dtype d, const void *in, double *out, uint64_t n);
bool gnn_npy_to_i64(enum gnn_dtype d, const void *in, int64_t *out, uint64_t n, uint64_t *bad);

#endif
