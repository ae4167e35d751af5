/* Dense matrix products on a device, in f32. gemm_cuda.c is cuBLASLt, which is loaded when the first product is prepared;
 * tests/emu/gemm_fake.cc the same without a device. */
#ifndef GNN_LIB_GPU_GEMM_H
#define GNN_LIB_GPU_GEMM_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* C = op(A) op(B) + beta C, then C += bias in every row, then ReLU. Row-major and contiguous, of the device's memory: op(A)
 * is (m, k), op(B) (k, n), C (m, n), none of them 0; ta: A is stored (k, m). bias (n) may be NULL; relu needs it, and
 * may make 0 of a NaN. */
struct gnn_dev_product {
    bool ta, tb, relu;
    size_t m, n, k;
    const float *a, *b, *bias;
    float beta, *c;
};

/* On the thread's device, for one stream. Inputs are taken as they are (0), rounded to TF32 (1) or to bf16 (2): enum
 * gnn_precision. GNN_E_DEVICE if the library cannot be had. */
int gnn_dev_gemm_new(void **h, int precision, struct gnn_err *e) GNN_MUST_USE;
void gnn_dev_gemm_free(void *h); /* takes NULL */
/* Puts the product on the stream. The bits depend on the shapes, the numbers and the kind of device only. *bare: the library knows
 * no way to add a bias to such a product, and it is without bias and ReLU. */
int gnn_dev_multiply(void *h, const struct gnn_dev_product *g, bool *bare, void *stream, struct gnn_err *e) GNN_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
