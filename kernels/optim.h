/* Optimisers over one flat parameter buffer. */
#ifndef GNN_KERNELS_OPTIM_H
#define GNN_KERNELS_OPTIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gnn_optim_step {
    float lr, weight_decay;
    float beta1, beta2, eps; /* Adam, AdamW (PyTorch's formulas) */
    float momentum;          /* SGD */
    uint64_t t;              /* step number, from 1 */
};

/* p -= update(g); m, v (n) are the moments, zero at first. decoupled: AdamW (decay applied to p); otherwise L2 (decay
 * added to g). */
void gnn_adam(float *p, const float *g, float *m, float *v, size_t n, bool decoupled,
              const struct gnn_optim_step *s);
/* m = momentum * m + g (m = g at t = 1); p -= lr * m. m may be NULL without momentum. */
void gnn_sgd(float *p, const float *g, float *m, size_t n, const struct gnn_optim_step *s);
/* Sum of squares, in double, in a fixed order. */
double gnn_square_sum(const float *g, size_t n);

#endif
