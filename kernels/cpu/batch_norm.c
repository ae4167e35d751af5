/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm on the CPU (kernels/batch_norm.h). Moments of all rows come first, in double precision
 * and in blocks that do not depend on the number of threads; formulas for one column are shared
 * with the device's kernels (gnn_batch_stat and its kin), so that both make the same bits. */
#include "kernels/batch_norm.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/batch_stat.h"
#include "kernels/simd.h"

enum { ROWS = 64 };

GNN_SIMD static void moment_rows(const float *x, const float *by, const uint8_t *count, size_t n,
                                 size_t d, double *restrict s)
{
    double *restrict q = s + d;
    memset(s, 0, 2 * d * sizeof(*s));
    for (size_t i = 0; i < n; i++, x += d, by += d) {
        /* Over ranks a node's row is present on several; only one of them counts it. */
        if (count && !count[i])
            continue;
        for (size_t j = 0; j < d; j++) {
            s[j] += (double)x[j];
            q[j] += (double)x[j] * (double)by[j];
        }
    }
}

void gnn_moments(const float *x, const float *by, const uint8_t *count, size_t n, size_t d,
                 double *work, double *sum)
{
    const size_t per = (n + GNN_MOMENT_BLOCKS - 1) / GNN_MOMENT_BLOCKS;
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < GNN_MOMENT_BLOCKS; b++) {
        const size_t from = b * per < n ? b * per : n, to = from + per < n ? from + per : n;
        moment_rows(x + from * d, by + from * d, count ? count + from : NULL, to - from, d,
                    work + b * 2 * d);
    }
    for (size_t j = 0; j < 2 * d; j++) {
        double s = 0;
        for (size_t b = 0; b < GNN_MOMENT_BLOCKS; b++)
            s += work[b * 2 * d + j];
        sum[j] += s;
    }
}

void gnn_batch_stats(const double *sum, double rows, size_t d, float eps, float *stat)
{
    for (size_t j = 0; j < d; j++)
        gnn_batch_stat(sum, rows, d, j, eps, stat);
}

void gnn_running_stats(const float *mean, const float *var, size_t d, float eps, float *stat)
{
    for (size_t j = 0; j < d; j++)
        gnn_running_stat(mean, var, d, j, eps, stat);
}

void gnn_batch_track(const float *stat, size_t d, float momentum, float *mean, float *var,
                     int64_t *batches)
{
    for (size_t j = 0; j < d; j++)
        gnn_batch_track_one(stat, d, j, momentum, mean, var);
    ++*batches;
}

GNN_SIMD static void norm_rows(const float *x, size_t n, size_t d, const float *restrict stat,
                               const float *restrict g, const float *restrict b, float *xhat,
                               float *y)
{
    for (size_t i = 0; i < n; i++, x += d, y += d) {
        /* While nothing is trained there is no xhat, and y is made in place. */
        float *h = xhat ? xhat + i * d : y;
        for (size_t j = 0; j < d; j++)
            h[j] = (x[j] - stat[j]) * stat[d + j];
        for (size_t j = 0; j < d; j++)
            y[j] = h[j] * g[j] + b[j];
    }
}

void gnn_batch_norm(const float *x, size_t n, size_t d, const float *stat, const float *gamma,
                    const float *beta, float *xhat, float *y)
{
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < (n + ROWS - 1) / ROWS; b++) {
        const size_t at = b * ROWS * d;
        norm_rows(x + at, (b + 1) * ROWS < n ? ROWS : n - b * ROWS, d, stat, gamma, beta,
                  xhat ? xhat + at : NULL, y + at);
    }
}

void gnn_batch_norm_grads(const double *sum, size_t d, float *dgamma, float *dbeta)
{
    for (size_t j = 0; j < d; j++) {
        dbeta[j] += (float)sum[j];
        dgamma[j] += (float)sum[d + j];
    }
}

void gnn_batch_back_stats(const double *sum, double rows, size_t d, float *stat)
{
    for (size_t j = 0; j < d; j++)
        gnn_batch_back_stat(sum, rows, d, j, stat);
}

GNN_SIMD static void norm_rows_back(float *restrict dy, const float *restrict xhat,
                                    const uint8_t *count, size_t n, size_t d,
                                    const float *restrict stat, const float *restrict g)
{
    /* The means of dy and of dy * xhat: dx = (dy - mean(dy) - xhat * mean(dy * xhat)) * gamma *
     * rstd. */
    const float *restrict a = stat + 3 * d, *restrict b = stat + 4 * d;
    for (size_t i = 0; i < n; i++, dy += d, xhat += d) {
        const bool counts = !count || count[i];
        for (size_t j = 0; j < d; j++) {
            /* The statistics' share of the gradient is passed on by the row that was counted, and
             * by no copy of it. */
            const float t = counts ? a[j] + xhat[j] * b[j] : 0;
            dy[j] = (dy[j] - t) * (g[j] * stat[d + j]);
        }
    }
}

void gnn_batch_norm_back(float *dy, const float *xhat, const uint8_t *count, size_t n, size_t d,
                         const float *stat, const float *gamma)
{
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < (n + ROWS - 1) / ROWS; b++)
        norm_rows_back(dy + b * ROWS * d, xhat + b * ROWS * d, count ? count + b * ROWS : NULL,
                       (b + 1) * ROWS < n ? ROWS : n - b * ROWS, d, stat, gamma);
}
