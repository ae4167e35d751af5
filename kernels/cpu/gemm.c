/* SPDX-License-Identifier: Apache-2.0 */
/* oneDNN's sgemm: it picks its kernels from the processor's features at run time. */
#include "kernels/gemm.h"

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <string.h>

static void scale_rows(size_t m, size_t n, float beta, float *c, size_t ldc)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
}

int gnn_gemm(bool ta, bool tb, size_t m, size_t n, size_t k, float alpha, const float *a,
             size_t lda, const float *b, size_t ldb, float beta, float *c, size_t ldc)
{
    if (m == 0 || n == 0)
        return 0;
    if (k == 0) {
        scale_rows(m, n, beta, c, ldc);
        return 0;
    }
    dnnl_status_t s =
        dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', (dnnl_dim_t)m, (dnnl_dim_t)n, (dnnl_dim_t)k,
                   alpha, a, (dnnl_dim_t)lda, b, (dnnl_dim_t)ldb, beta, c, (dnnl_dim_t)ldc);
    return s == dnnl_success ? 0 : -1;
}

/* ---- products whose transpose is faster: gradients of weights ---- */

/* oneDNN makes columns in blocks of BLOCK, and gives each thread whole blocks. So with 100 columns
 * two threads take as long as with 192: 121 GFLOP/s where 256 columns, of 100 rows, make 187. */
enum { BLOCK = 48, VECTOR = 16 };
/* To transpose C twice takes as long as to multiply matrices that are deeper by so much, for each
 * thread (measured: 8.5 % of a product of depth 512 on one thread, 17 % on two). */
enum { TWICE = 45 };
/* Up to so many threads, oneDNN adds up in the same order whichever way C lies. */
enum { THREADS = 4 };

static size_t divide_up(size_t n, size_t by)
{
    return (n + by - 1) / by;
}

/* The columns that threads are busy with for n of them; one thread alone needs not fill up a block
 * of whole vectors. */
static size_t busy_columns(size_t n, size_t threads)
{
    if (threads == 1 && n % VECTOR == 0)
        return n;
    return threads * divide_up(divide_up(n, BLOCK), threads) * BLOCK;
}

bool gnn_gemm_turns(bool ta, bool tb, size_t m, size_t n, size_t k)
{
    /* Others have kernels for what is left of a block that add up in another order. */
    const unsigned needs = dnnl_cpu_isa_avx512_core;
    const size_t threads = omp_in_parallel() ? 1 : (size_t)omp_get_max_threads();
    if (!ta || tb || threads > THREADS || ((unsigned)dnnl_get_effective_cpu_isa() & needs) != needs)
        return false;
    return busy_columns(n, threads) * m * k > busy_columns(m, threads) * n * (k + TWICE * threads);
}

void gnn_transpose(const float *from, size_t m, size_t n, size_t ldf, float *to, size_t ldt)
{
    enum { TILE = 16 };
#pragma omp parallel for schedule(static)
    for (size_t j = 0; j < n; j += TILE)
        for (size_t i = 0; i < m; i += TILE)
            for (size_t q = j; q < n && q < j + TILE; q++)
                for (size_t p = i; p < m && p < i + TILE; p++)
                    to[q * ldt + p] = from[p * ldf + q];
}
