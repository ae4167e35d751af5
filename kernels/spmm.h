/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregation over a CSR block: sums, means and normalised sums of rows of X, forward and backward.
 */
#ifndef GNN_KERNELS_SPMM_H
#define GNN_KERNELS_SPMM_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/hd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Row first+i of the result, 0 <= i < n, is
 *   row[first+i] * sum over e in [offset(i), offset(i+1)) of
 *                      value(e) * col[indices[e]] * X[indices[e]]
 *   + (first+i < ndiag ? diag[first+i] * X[first+i] : 0)
 * Offsets are those of indptr, or of indptr64; they may start anywhere, and a row has less than
 * 2^32 edges. row, col and diag may be NULL: factors 1, 1 and 0. A mean is row = 1/degree; the
 * symmetric normalisation of GCN is row = col = degree^-1/2 with diag = 1/degree. value(e), the
 * edge's own, is value[e], or value[edge[e]] if there is `edge`, or 1 if there is no `value`. The
 * gradient of the operation is the same operation on the transposed block with row and col
 * exchanged, the same `value`, and what gnn_csr_transpose says of edges as `edge`. */
struct gnn_csr {
    uint32_t first, n;
    const uint32_t *indptr;
    const uint64_t *indptr64; /* used if indptr is NULL */
    const uint32_t *indices;
    const float *value;
    const uint32_t *edge;
    const float *row, *col, *diag;
    uint32_t ndiag;
};

static GNN_HD uint64_t gnn_csr_offset(const struct gnn_csr *a, uint32_t i)
{
    return a->indptr ? a->indptr[i] : a->indptr64[i];
}
static GNN_HD uint64_t gnn_csr_edges(const struct gnn_csr *a)
{
    return a->n ? gnn_csr_offset(a, a->n) - gnn_csr_offset(a, 0) : 0;
}

/* Y = A X, or Y += A X with `acc`. d columns; ldx and ldy are row pitches in floats. Runs on OpenMP
 * threads; the sum of a row is always made in edge order, so the bits do not depend on the number
 * of threads. */
void gnn_spmm(const struct gnn_csr *a, const float *x, size_t ldx, size_t d, float *y, size_t ldy,
              int acc);
/* As gnn_spmm, for rows [from, to) of a layer of nblocks blocks, rows ascending over them, into y,
 * whose row 0 is row `from`; contiguous rows. A row that is in no block has no edges, only the
 * diagonal of block 0, so there is at least one block (of no rows, perhaps). */
void gnn_spmm_rows(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                   const float *x, size_t d, float *y, int acc);
/* As gnn_spmm_rows, of rows of bf16, whose numbers are widened: the bits are those of the same
 * numbers in f32. */
void gnn_spmm_rows_bf16(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                        const uint16_t *x, size_t d, float *y, int acc);
/* Transposes the blocks of one layer (nblocks of them, rows ascending over the blocks, columns <
 * ncols, less than 2^32 edges): tptr (ncols+1) and tidx (all edges) list, per column, the rows that
 * have it, ascending; tedge, unless NULL, which edges these are, numbered from 0 on over one block
 * after the other. Serial counting sort, O(ncols + edges). */
void gnn_csr_transpose(const struct gnn_csr *block, size_t nblocks, uint32_t ncols, uint32_t *tptr,
                       uint32_t *tidx, uint32_t *tedge);

/* On a device. All pointers are the caller's device-visible memory, `block` too: its counts may be
 * what an earlier kernel wrote. A launcher only puts kernels on the stream (a cudaStream_t). `bad`
 * must hold UINT64_MAX at first; what is found wrong leaves its position there, block << 32 | edge
 * (its lowest 32 bits), the lowest of all: an index that is no row of X (left out of the sum), or
 * the first edge beyond a capacity. */

/* Y = A X, or Y += A X, for rows [first, *nrows) of a layer, *nrows being at most cap (nrows NULL:
 * cap); row 0 of Y is row `first`. A row that is in none of the nblocks blocks has no edges, only
 * the diagonal of block 0. All blocks have values, or none. X has xrows rows and ldx below 2^30; X
 * and Y do not overlap. The bits are gnn_spmm's; a NaN is one, but its payload may differ. */
void gnn_cuda_spmm(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                   const uint32_t *nrows, uint32_t cap, const float *x, uint32_t xrows, size_t ldx,
                   size_t d, float *y, size_t ldy, int acc, uint64_t *bad, void *stream);

/* gnn_csr_transpose for *ncols columns, at most cap_cols (ncols NULL: cap_cols of them), and at
 * most cap_edges edges, the first of them if there are more. tptr has cap_cols+1 elements, of which
 * *ncols+1 are written, tidx and tedge cap_edges. */
void gnn_cuda_csr_transpose(const struct gnn_csr *block, uint32_t nblocks, const uint32_t *ncols,
                            uint32_t cap_cols, uint32_t cap_edges, uint32_t *tptr, uint32_t *tidx,
                            uint32_t *tedge, void *scratch, uint64_t *bad, void *stream);
/* Bytes of its scratch memory, which is aligned to 4. with_edges: tedge is not NULL. */
size_t gnn_cuda_csr_transpose_scratch(uint32_t cap_edges, int with_edges);

#ifdef __cplusplus
}
#endif

#endif
