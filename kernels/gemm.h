/* SPDX-License-Identifier: Apache-2.0 */
/* Dense matrix product, row-major: C = alpha * op(A) * op(B) + beta * C. */
#ifndef GNN_KERNELS_GEMM_H
#define GNN_KERNELS_GEMM_H

#include <stdbool.h>
#include <stddef.h>

/* op(A) is (m, k), op(B) is (k, n), C is (m, n); lda, ldb, ldc are row pitches in floats of the
 * matrices as they are stored (ta: A is stored (k, m)). Any of m, n, k may be 0. With beta 0, C
 * need not be initialised. Runs on OpenMP's current number of threads; equal calls with equal
 * thread counts give equal bits. Returns 0, or -1 when the library refuses (out of memory). */
int gnn_gemm(bool ta, bool tb, size_t m, size_t n, size_t k, float alpha, const float *a,
             size_t lda, const float *b, size_t ldb, float beta, float *c, size_t ldc);
/* Whether op(B)^T op(A)^T, which is C's transpose, is computed so much faster than C that C may be
 * transposed before and after; the bits are the same. alpha is 1. */
bool gnn_gemm_turns(bool ta, bool tb, size_t m, size_t n, size_t k);
/* to (n, m) = the transpose of from (m, n); ldf and ldt are their row pitches in floats. */
void gnn_transpose(const float *from, size_t m, size_t n, size_t ldf, float *to, size_t ldt);

#endif
