/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of neighbours that are no weighted sum (kernels/spmm.h): the largest of their rows;
 * their rows and those of the edges, added up and cut at 0; the mean of the edges' rows.
 *
 * Rows [from, to) of a layer of blocks are made, ascending over them, contiguous and of d columns;
 * row 0 of a result is row `from`. Of blocks, first, n, the offsets and indices are read, and
 * `edge` where that is said. An edge's number counts from 0 on over one block after the other, as
 * in gnn_csr_transpose. Runs on OpenMP threads; edges are taken in their order, so the bits do not
 * depend on the number of threads. */
#ifndef GNN_KERNELS_MESSAGE_H
#define GNN_KERNELS_MESSAGE_H

#include <stdbool.h>

#include "kernels/spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether v takes the place of the largest so far: a NaN is larger than all numbers. */
static GNN_HD bool gnn_max_is(float v, float most)
{
    return (v > most) | ((v != v) & (most == most)); /* no branch */
}

/* y[i][c] = the largest X[indices[e]][c] of row i's edges e, or 0 if it has none. arg, like y: the
 * number of that edge, the first one among equals; UINT32_MAX: none. NULL: nobody asks. Numbers
 * count from `number` on. acc: y and arg, which is asked for, are those of earlier edges, and only
 * what is larger takes their place. */
void gnn_max_rows(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                  const float *x, size_t d, float *y, uint32_t *arg, uint32_t number, bool acc);
/* Its gradient, through the transposed blocks with `edge`, whose rows are those of X:
 * dx[j][c] = sum over the edges of j, each of a row i, of dy[i][c] where arg[i][c] is that edge;
 * with `acc` they are added one by one to what is there. dy and arg have all rows i; `number` is
 * added to `edge`. Of equal largest neighbours only the first gets the gradient. PyTorch 2.2
 * divides it among them, so tests compare with PyTorch only where no two are equal. */
void gnn_max_back(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                  const float *dy, const uint32_t *arg, size_t d, float *dx, uint32_t number,
                  bool acc);

/* Z has a row for each of nz edges, from the one with the number zfirst on: of all edges, or of a
 * range of rows at a time, so that edges' rows need not all be there at once. */

/* y[i] = sum over the edges e of row i of relu(X[indices[e]] + z_e), all of which Z has; with `acc`
 * they are added one by one to what is there. A NaN stays one. */
void gnn_edge_relu(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                   const float *x, const float *z, uint32_t zfirst, size_t d, float *y, bool acc);
/* The gradient of Z: dz_e = dy[i] where X[indices[e]] + z_e > 0, and 0 elsewhere, for the edges of
 * rows [from, to). Row 0 of dy is row `from`. dz may be z. The gradient of X is gnn_edge_sum of dz
 * by the transposed blocks with `edge`. */
void gnn_edge_relu_back(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                        const float *x, const float *z, uint32_t zfirst, const float *dy, size_t d,
                        float *dz);
/* y[i] = sum over those edges e of row i that Z has of z_e; with `acc` they are added one by one to
 * what is there: range after range of edges makes the bits of all at once. An edge's number is
 * taken from `edge`, if there is one. */
void gnn_edge_sum(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                  const float *z, uint32_t zfirst, uint32_t nz, size_t d, float *y, bool acc);

/* y[i] = the mean of z_e over the edges e of row i, all of which Z has, except those from the row
 * to itself (indices[e] == i); 0 if there are no others. */
void gnn_edge_means(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                    const float *z, uint32_t zfirst, size_t d, float *y);

/* Z has space for `edges` edges: the rows of it that come after those of the blocks' edges become
 * 0, so that they add nothing to products over all of Z. */
void gnn_edge_rest(const struct gnn_csr *block, size_t nblocks, uint64_t edges, size_t d, float *z);

/* On a device: pointers, counts and `bad` as for gnn_cuda_spmm. Rows are [first, *nrows), *nrows
 * being at most cap (nrows NULL: cap). xrows: the rows of X, or of dy; edges to others are left out
 * and reported. The bits are those of the functions above; a NaN is one, but its payload may
 * differ. */
void gnn_cuda_max_rows(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                       const uint32_t *nrows, uint32_t cap, const float *x, uint32_t xrows,
                       size_t d, float *y, uint32_t *arg, uint32_t number, bool acc, uint64_t *bad,
                       void *stream);
void gnn_cuda_max_back(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                       const uint32_t *nrows, uint32_t cap, const float *dy, const uint32_t *arg,
                       uint32_t xrows, size_t d, float *dx, uint32_t number, bool acc,
                       uint64_t *bad, void *stream);
/* Edges with ReLU, on a device; dz is 0 for an edge that is left out. */
void gnn_cuda_edge_relu(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                        const uint32_t *nrows, uint32_t cap, const float *x, uint32_t xrows,
                        const float *z, uint32_t zfirst, size_t d, float *y, bool acc,
                        uint64_t *bad, void *stream);
void gnn_cuda_edge_relu_back(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                             const uint32_t *nrows, uint32_t cap, const float *x, uint32_t xrows,
                             const float *z, uint32_t zfirst, const float *dy, size_t d, float *dz,
                             uint64_t *bad, void *stream);
void gnn_cuda_edge_sum(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                       const uint32_t *nrows, uint32_t cap, const float *z, uint32_t zfirst,
                       uint32_t nz, size_t d, float *y, bool acc, void *stream);
void gnn_cuda_edge_means(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                         const uint32_t *nrows, uint32_t cap, const float *z, uint32_t zfirst,
                         size_t d, float *y, void *stream);
void gnn_cuda_edge_rest(const struct gnn_csr *block, uint32_t nblocks, uint64_t edges, size_t d,
                        float *z, void *stream);

#ifdef __cplusplus
}
#endif

#endif
