/* SPDX-License-Identifier: Apache-2.0 */
/* Optimisers over one flat parameter buffer. */
#ifndef GNN_KERNELS_OPTIM_H
#define GNN_KERNELS_OPTIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gnn_optim_step {
    float lr, weight_decay;
    float beta1, beta2, eps; /* Adam, AdamW (PyTorch's formulas) */
    float momentum;          /* SGD */
    uint64_t t;              /* step number, from 1 */
};

/* p -= update(g); m, v (n) are the moments, zero at first. decoupled: AdamW (decay applied to p);
 * otherwise L2 (decay added to g). */
void gnn_adam(float *p, const float *g, float *m, float *v, size_t n, bool decoupled,
              const struct gnn_optim_step *s);
/* m = momentum * m + g (m = g at t = 1); p -= lr * m. m may be NULL without momentum. */
void gnn_sgd(float *p, const float *g, float *m, size_t n, const struct gnn_optim_step *s);
/* Sum of squares, in double, in a fixed order. */
double gnn_square_sum(const float *g, size_t n);
/* g *= (float)(most / norm) if the norm, the root of the sum of squares, is more than `most`. */
void gnn_clip(float *g, size_t n, double most);

/* The factors of a step of Adam; made on the host, as they take powers. */
struct gnn_adam_factors {
    float decay, l2, beta1, rest1, beta2, rest2, c1, c2, eps;
};
void gnn_adam_factors_make(const struct gnn_optim_step *s, bool decoupled,
                           struct gnn_adam_factors *f);

/* On a device. All pointers are to the caller's device-visible memory, except *s, which is the
 * host's and read during the call. A launcher only puts kernels on the stream (a cudaStream_t). The
 * bits of a step are those of the functions above. The square sum has its own order, which depends
 * on n alone; it is left in *out. work: as many bytes as _scratch says, aligned to 8. */
void gnn_cuda_adam(float *p, const float *g, float *m, float *v, size_t n, bool decoupled,
                   const struct gnn_optim_step *s, void *stream);
void gnn_cuda_sgd(float *p, const float *g, float *m, size_t n, const struct gnn_optim_step *s,
                  void *stream);
void gnn_cuda_square_sum(const float *g, size_t n, void *work, double *out, void *stream);
size_t gnn_cuda_square_sum_scratch(size_t n);
/* gnn_clip, the sum of squares being *squares. */
void gnn_cuda_clip(float *g, size_t n, double most, const double *squares, void *stream);

#ifdef __cplusplus
}
#endif

#endif
