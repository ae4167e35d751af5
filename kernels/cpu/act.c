/* SPDX-License-Identifier: Apache-2.0 */
/* Activations on the CPU (kernels/act.h): bias, activation functions, dropout, layer norm, and sums
 * over columns. Loops are written so that gcc can vectorise them. Sums over rows are made in
 * GNN_COLSUM_BLOCKS blocks, whatever the number of threads, and then added in the order of the
 * blocks, as devices do (kernels/cuda/act.cu): so bits do not depend on either. */
#include "kernels/act.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/draws16.h"

/* Rows of a task: enough work for one, and few enough to spread over the threads. */
enum { ROWS = 64 };

/* `act` is a constant wherever this is called: so each function has a loop of its own. */
GNN_INLINE void apply_act(float *restrict x, size_t d, enum gnn_act act)
{
    for (size_t j = 0; j < d; j++)
        x[j] = gnn_act_of(x[j], act);
}

GNN_INLINE void bias_act_row(float *restrict x, size_t d, const float *restrict bias,
                             enum gnn_act act)
{
    if (bias)
        for (size_t j = 0; j < d; j++)
            x[j] += bias[j];
    if (act == GNN_ACT_RELU)
        apply_act(x, d, GNN_ACT_RELU);
    else if (act == GNN_ACT_ELU)
        apply_act(x, d, GNN_ACT_ELU);
    else if (act == GNN_ACT_LEAKY)
        apply_act(x, d, GNN_ACT_LEAKY);
}

GNN_INLINE void drop_row(const float *x, size_t d, const struct gnn_dropout *q, uint32_t node,
                         float *y)
{
    /* Values that are kept are scaled up by 1 / (1 - p), so that nothing needs scaling in
     * evaluation. */
    const float scale = 65536.0f / (float)q->keep16;
    uint16_t r[GNN_DRAWS];
    for (size_t j = 0; j < d; j += GNN_DRAWS) {
        const size_t w = d - j < GNN_DRAWS ? d - j : GNN_DRAWS;
        gnn_draws16(q->key, node, (uint32_t)(j / 8), r);
        for (size_t c = 0; c < w; c++)
            y[j + c] = r[c] < q->keep16 ? x[j + c] * scale : 0;
    }
}

GNN_SIMD static void bias_act_rows(float *x, size_t from, size_t to, size_t d, const float *bias,
                                   enum gnn_act act, const struct gnn_dropout *q)
{
    for (size_t i = from; i < to; i++) {
        float *v = x + i * d;
        bias_act_row(v, d, bias, act);
        if (q && q->keep16)
            drop_row(v, d, q, q->node[i], v);
    }
}

void gnn_bias_act(float *x, size_t n, size_t d, const float *bias, enum gnn_act act,
                  const struct gnn_dropout *drop)
{
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < (n + ROWS - 1) / ROWS; b++)
        bias_act_rows(x, b * ROWS, (b + 1) * ROWS < n ? (b + 1) * ROWS : n, d, bias, act, drop);
}

GNN_SIMD static void dropout_rows(const float *x, size_t from, size_t to, size_t d,
                                  const struct gnn_dropout *q, float *y)
{
    for (size_t i = from; i < to; i++)
        drop_row(x + i * d, d, q, q->node[i], y + i * d);
}

void gnn_dropout_copy(const float *x, size_t n, size_t d, const struct gnn_dropout *drop, float *y)
{
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < (n + ROWS - 1) / ROWS; b++)
        dropout_rows(x, b * ROWS, (b + 1) * ROWS < n ? (b + 1) * ROWS : n, d, drop, y);
}

GNN_SIMD static void relu_back(float *restrict dy, const float *restrict y, size_t n, float scale)
{
    for (size_t i = 0; i < n; i++)
        dy[i] = gnn_act_grad(dy[i], y[i], GNN_ACT_RELU, scale);
}

GNN_INLINE void grad_row(float *restrict dy, const float *restrict y, size_t d, enum gnn_act act,
                         float scale)
{
    for (size_t j = 0; j < d; j++)
        dy[j] = gnn_act_grad(dy[j], y[j], act, scale);
}

/* What was dropped becomes 0, as it did on the way forward, but is not scaled again. */
GNN_INLINE void mask_row(float *dy, size_t d, const struct gnn_dropout *q, uint32_t node)
{
    uint16_t r[GNN_DRAWS];
    for (size_t j = 0; j < d; j += GNN_DRAWS) {
        const size_t w = d - j < GNN_DRAWS ? d - j : GNN_DRAWS;
        gnn_draws16(q->key, node, (uint32_t)(j / 8), r);
        for (size_t c = 0; c < w; c++)
            dy[j + c] = r[c] < q->keep16 ? dy[j + c] : 0;
    }
}

GNN_SIMD static void grad_rows(float *dy, const float *y, size_t from, size_t to, size_t d,
                               enum gnn_act act, float scale, const struct gnn_dropout *q)
{
    for (size_t i = from; i < to; i++) {
        float *g = dy + i * d;
        if (act == GNN_ACT_ELU)
            grad_row(g, y + i * d, d, GNN_ACT_ELU, scale);
        else if (act == GNN_ACT_LEAKY)
            grad_row(g, y + i * d, d, GNN_ACT_LEAKY, scale);
        else
            grad_row(g, y + i * d, d, GNN_ACT_NONE, scale);
        if (q && q->keep16)
            mask_row(g, d, q, q->node[i]);
    }
}

void gnn_act_back(float *dy, const float *y, size_t n, size_t d, enum gnn_act act, float scale,
                  const struct gnn_dropout *drop)
{
    enum { STEP = 16384 };
    const size_t count = n * d, blocks = act == GNN_ACT_RELU ? (count + STEP - 1) / STEP : 0;
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < blocks; b++)
        relu_back(dy + b * STEP, y + b * STEP, (b + 1) * STEP < count ? STEP : count - b * STEP,
                  scale);
    if (act == GNN_ACT_RELU)
        return;
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < (n + ROWS - 1) / ROWS; b++)
        grad_rows(dy, y, b * ROWS, (b + 1) * ROWS < n ? (b + 1) * ROWS : n, d, act, scale, drop);
}

GNN_SIMD static void sum_rows(const float *x, size_t n, size_t d, float *restrict s)
{
    memset(s, 0, d * sizeof(*s));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            s[j] += x[i * d + j];
}

void gnn_colsum(const float *x, size_t n, size_t d, float *work, float *out, bool acc)
{
    const size_t per = (n + GNN_COLSUM_BLOCKS - 1) / GNN_COLSUM_BLOCKS;
#pragma omp parallel for schedule(static)
    /* Blocks beyond the last row are empty and make sums of 0. */
    for (size_t b = 0; b < GNN_COLSUM_BLOCKS; b++) {
        const size_t from = b * per < n ? b * per : n, to = from + per < n ? from + per : n;
        sum_rows(x + from * d, to - from, d, work + b * d);
    }
    for (size_t j = 0; j < d; j++) {
        float s = 0;
        for (size_t b = 0; b < GNN_COLSUM_BLOCKS; b++)
            s += work[b * d + j];
        out[j] = acc ? out[j] + s : s;
    }
}

GNN_SIMD static void norm_row(const float *x, size_t d, const float *restrict g,
                              const float *restrict b, float eps, float *xhat, float *rstd,
                              float *y)
{
    float m = 0, v = 0;
    for (size_t j = 0; j < d; j++)
        m += x[j];
    m /= (float)d;
    for (size_t j = 0; j < d; j++)
        v += (x[j] - m) * (x[j] - m);
    const float r = 1 / sqrtf(v / (float)d + eps);
    *rstd = r;
    for (size_t j = 0; j < d; j++) {
        const float h = (x[j] - m) * r;
        if (xhat)
            xhat[j] = h;
        y[j] = h * g[j] + b[j];
    }
}

void gnn_layer_norm(const float *x, size_t n, size_t d, const float *gamma, const float *beta,
                    float eps, float *xhat, float *rstd, float *y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        norm_row(x + i * d, d, gamma, beta, eps, xhat ? xhat + i * d : NULL, rstd + i, y + i * d);
}

GNN_SIMD static void norm_sums(const float *dy, const float *xhat, size_t n, size_t d,
                               float *restrict s)
{
    memset(s, 0, d * sizeof(*s));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            s[j] += dy[i * d + j] * xhat[i * d + j];
}

GNN_SIMD static void norm_row_back(float *dy, const float *restrict xhat, float rstd, size_t d,
                                   const float *restrict g)
{
    /* The gradient of normalisation: dx = rstd * (dy*g - mean(dy*g) - xhat * mean(dy*g*xhat)). */
    float a = 0, b = 0;
    for (size_t j = 0; j < d; j++) {
        a += dy[j] * g[j];
        b += dy[j] * g[j] * xhat[j];
    }
    a /= (float)d;
    b /= (float)d;
    for (size_t j = 0; j < d; j++)
        dy[j] = rstd * (dy[j] * g[j] - a - xhat[j] * b);
}

void gnn_layer_norm_back(float *dy, const float *xhat, const float *rstd, size_t n, size_t d,
                         const float *gamma, float *dgamma, float *dbeta, float *work)
{
    const size_t per = (n + GNN_COLSUM_BLOCKS - 1) / GNN_COLSUM_BLOCKS;
    gnn_colsum(dy, n, d, work, dbeta, true);
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < GNN_COLSUM_BLOCKS; b++) {
        const size_t from = b * per < n ? b * per : n, to = from + per < n ? from + per : n;
        norm_sums(dy + from * d, xhat + from * d, to - from, d, work + b * d);
    }
    for (size_t j = 0; j < d; j++)
        for (size_t b = 0; b < GNN_COLSUM_BLOCKS; b++)
            dgamma[j] += work[b * d + j];
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        norm_row_back(dy + i * d, xhat + i * d, rstd[i], d, gamma);
}
