/* SPDX-License-Identifier: Apache-2.0 */
/* Dense matrix products on a device, in f32. gemm_cuda.c is cuBLASLt, which is loaded when the
 * first product is prepared; tests/emu/gemm_fake.cc the same without a device. */
#ifndef GNN_LIB_GPU_DEVICE_GEMM_H
#define GNN_LIB_GPU_DEVICE_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* C = op(A) op(B) + beta C, then C += bias in every row, then ReLU. Row-major, of the device's
 * memory: op(A) is (m, k), op(B) (k, n), C (m, n), none of them 0; ta: A is stored (k, m). lda, ldb
 * and ldc are row pitches in floats, as matrices are stored; 0: rows lie one after the other. bias
 * (n) may be NULL; relu needs it, and may make 0 of a NaN. precision: inputs are taken as they are
 * (0), or rounded to TF32 (1) or to bf16 (2) and multiplied by the tensor cores: enum
 * gnn_precision. */
struct gnn_dev_product {
    bool ta, tb, relu;
    int precision;
    size_t m, n, k, lda, ldb, ldc;
    const float *a, *b, *bias;
    float beta, *c;
};

/* On the thread's device, for one stream. GNN_E_DEVICE if the library cannot be had. */
int gnn_dev_gemm_new(void **h, struct gnn_err *e) GNN_MUST_USE;
void gnn_dev_gemm_free(void *h); /* takes NULL */
/* Puts the product on the stream, or does nothing and sets *can to false: the library has no way to
 * do it with this bias in this precision. The bits depend on the product's shape, the numbers, the
 * library and the kind of device only. */
int gnn_dev_multiply(void *h, const struct gnn_dev_product *g, bool *can, void *stream,
                     struct gnn_err *e) GNN_MUST_USE;

/* For measurements: the library's version, as it writes it, and what the last product was done
 * with, as cuBLASLt's CUBLASLT_NUMERICAL_IMPL_FLAGS_... say; 0: unknown. */
struct gnn_dev_gemm_info {
    uint64_t version, numerics;
};
void gnn_dev_gemm_ask(void *h, struct gnn_dev_gemm_info *info);
/* For measurements, too: a function of the library by its name, NULL if it has none of that name.
 */
void *gnn_dev_gemm_function(void *h, const char *name);

static inline size_t gnn_dev_product_lda(const struct gnn_dev_product *p)
{
    return p->lda ? p->lda : p->ta ? p->m : p->k;
}
static inline size_t gnn_dev_product_ldb(const struct gnn_dev_product *p)
{
    return p->ldb ? p->ldb : p->tb ? p->k : p->n;
}
static inline size_t gnn_dev_product_ldc(const struct gnn_dev_product *p)
{
    return p->ldc ? p->ldc : p->n;
}

#ifdef __cplusplus
}
#endif

#endif
