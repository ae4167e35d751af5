#include "kernels/optim.h"

#include <math.h>

#include "kernels/simd.h"

enum { STEP = 8192 };

GNN_SIMD static void adam(float *restrict p, const float *restrict grad, float *restrict m,
                          float *restrict v, size_t n, bool decoupled, const struct gnn_optim_step *s,
                          float c1, float c2)
{
    const float decay = decoupled ? 1 - s->lr * s->weight_decay : 1, l2 = decoupled ? 0 : s->weight_decay;
    for (size_t i = 0; i < n; i++) {
        const float w = p[i] * decay, g = grad[i] + l2 * w;
        const float mi = s->beta1 * m[i] + (1 - s->beta1) * g;
        const float vi = s->beta2 * v[i] + (1 - s->beta2) * g * g;
        m[i] = mi;
        v[i] = vi;
        p[i] = w - c1 * mi / (sqrtf(vi) * c2 + s->eps);
    }
}

void gnn_adam(float *p, const float *g, float *m, float *v, size_t n, bool decoupled,
              const struct gnn_optim_step *s)
{
    const float c1 = (float)((double)s->lr / (1 - pow((double)s->beta1, (double)s->t)));
    const float c2 = (float)(1 / sqrt(1 - pow((double)s->beta2, (double)s->t)));
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < n; b += STEP)
        adam(p + b, g + b, m + b, v + b, n - b < STEP ? n - b : STEP, decoupled, s, c1, c2);
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
