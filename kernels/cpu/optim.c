/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/optim.h"

#include <math.h>

#include "kernels/simd.h"

enum { STEP = 8192 };

GNN_SIMD static void adam(float *restrict p, const float *restrict grad, float *restrict m,
                          float *restrict v, size_t n, const struct gnn_adam_factors *f)
{
    const struct gnn_adam_factors k = *f;
    for (size_t i = 0; i < n; i++) {
        const float w = p[i] * k.decay, g = grad[i] + k.l2 * w;
        const float mi = k.beta1 * m[i] + k.rest1 * g;
        const float vi = k.beta2 * v[i] + k.rest2 * g * g;
        m[i] = mi;
        v[i] = vi;
        p[i] = w - k.c1 * mi / (sqrtf(vi) * k.c2 + k.eps);
    }
}

void gnn_adam_factors_make(const struct gnn_optim_step *s, bool decoupled,
                           struct gnn_adam_factors *f)
{
    f->decay = decoupled ? 1 - s->lr * s->weight_decay : 1;
    f->l2 = decoupled ? 0 : s->weight_decay;
    f->beta1 = s->beta1, f->rest1 = 1 - s->beta1;
    f->beta2 = s->beta2, f->rest2 = 1 - s->beta2;
    f->c1 = (float)((double)s->lr / (1 - pow((double)s->beta1, (double)s->t)));
    f->c2 = (float)(1 / sqrt(1 - pow((double)s->beta2, (double)s->t)));
    f->eps = s->eps;
}

void gnn_adam(float *p, const float *g, float *m, float *v, size_t n, bool decoupled,
              const struct gnn_optim_step *s)
{
    struct gnn_adam_factors f;
    gnn_adam_factors_make(s, decoupled, &f);
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < n; b += STEP)
        adam(p + b, g + b, m + b, v + b, n - b < STEP ? n - b : STEP, &f);
}

void gnn_sgd(float *p, const float *g, float *m, size_t n, const struct gnn_optim_step *s)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
        float d = g[i] + s->weight_decay * p[i];
        if (m)
            m[i] = d = s->t == 1 ? d : s->momentum * m[i] + d;
        p[i] -= s->lr * d;
    }
}

double gnn_square_sum(const float *g, size_t n)
{
    double total = 0;
    for (size_t b = 0; b < n; b += STEP) {
        double s = 0;
        for (size_t i = b; i < b + STEP && i < n; i++)
            s += (double)g[i] * (double)g[i];
        total += s;
    }
    return total;
}

void gnn_clip(float *g, size_t n, double most)
{
    const double norm = sqrt(gnn_square_sum(g, n));
    if (norm > most)
        for (size_t i = 0; i < n; i++)
            g[i] *= (float)(most / norm);
}
