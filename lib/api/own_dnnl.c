/* SPDX-License-Identifier: Apache-2.0 */
/* oneDNN of libgnn.so: loaded when a product is first computed, and out of sight of the rest of the
 * process, which may have another version of it, as PyTorch has. */
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>

#define TEXT(x) #x
#define SONAME(major) "libdnnl.so." TEXT(major)

typedef dnnl_status_t sgemm_fn(char, char, dnnl_dim_t, dnnl_dim_t, dnnl_dim_t, float, const float *,
                               dnnl_dim_t, const float *, dnnl_dim_t, float, float *, dnnl_dim_t);

static sgemm_fn *sgemm;

static void load_once(void)
{
    void *dnnl = dlopen(SONAME(DNNL_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
    if (dnnl)
        *(void **)&sgemm = dlsym(dnnl, "dnnl_sgemm");
}

dnnl_status_t dnnl_sgemm(char transa, char transb, dnnl_dim_t M, dnnl_dim_t N, dnnl_dim_t K,
                         float alpha, const float *A, dnnl_dim_t lda, const float *B,
                         dnnl_dim_t ldb, float beta, float *C, dnnl_dim_t ldc)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load_once);
    return sgemm ? sgemm(transa, transb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc)
                 : dnnl_unimplemented;
}
