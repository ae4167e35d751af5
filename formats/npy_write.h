/* The head of a .npy file (NumPy's format 1.0); the array's bytes follow it as they are. */
#ifndef GNN_FORMATS_NPY_WRITE_H
#define GNN_FORMATS_NPY_WRITE_H

#include "formats/tensor.h"

enum { GNN_NPY_HEAD_MAX = 256 };

/* Writes the head of an array with t's dtype and shape (little-endian, C order) and returns its length, a multiple of
 * 64. NumPy has no bf16: its bits go as u2. */
size_t gnn_npy_head(const struct gnn_tensor *t, unsigned char out[GNN_NPY_HEAD_MAX]);

#endif
