/* SPDX-License-Identifier: Apache-2.0 */
/* oneDNN's sgemm: it picks its kernels from the processor's features at run time. */
#include "kernels/gemm.h"

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
