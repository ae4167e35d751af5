/* Aggregation over a CSR block: sums, means and normalised sums of rows of X, forward and backward. */
#ifndef GNN_KERNELS_SPMM_H
#define GNN_KERNELS_SPMM_H

#include <stddef.h>
#include <stdint.h>

/* Row first+i of the result, 0 <= i < n, is
 *   row[first+i] * sum over e in [indptr[i], indptr[i+1]) of col[indices[e]] * X[indices[e]]
 *   + (first+i < ndiag ? diag[first+i] * X[first+i] : 0)
 * row, col and diag may be NULL: factors 1, 1 and 0. indptr may start anywhere. A mean is row = 1/degree; the symmetric
 * normalisation of GCN is row = col = degree^-1/2 with diag = 1/degree. The gradient of the operation is
 * the same operation on the transposed block with row and col exchanged. */
struct gnn_csr {
    uint32_t first, n;
    const uint32_t *indptr;
    const uint32_t *indices;
    const float *row, *col, *diag;
    uint32_t ndiag;
};

/* Y = A X, or Y += A X with `acc`. d columns; ldx and ldy are row pitches in floats. Runs on OpenMP threads; the
 * sum of a row is always made in edge order, so the bits do not depend on the number of threads. */
void gnn_spmm(const struct gnn_csr *a, const float *x, size_t ldx, size_t d, float *y, size_t ldy,
              int acc);
/* The same for 64-bit offsets: a store's adjacency. */
void gnn_spmm64(const uint64_t *indptr, const uint32_t *indices, size_t n, const float *row,
                const float *col, const float *x, size_t ldx, size_t d, float *y, size_t ldy, int acc);

/* Transposes the blocks of one layer (nblocks of them, rows ascending over the blocks, columns < ncols):
 * tptr (ncols+1) and tidx (all edges) list, per column, the rows that have it, ascending. Serial counting
 * sort, O(ncols + edges). */
void gnn_csr_transpose(const struct gnn_csr *block, size_t nblocks, uint32_t ncols, uint32_t *tptr,
                       uint32_t *tidx);

#endif
