/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/factors.h"

#include <math.h>
#include <string.h>

void gnn_mean_factors(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                      float *row)
{
    memset(row + from, 0, (to - from) * sizeof(*row));
    for (size_t b = 0; b < nblocks; b++) {
        const struct gnn_csr *k = &block[b];
        for (uint32_t i = 0; i < k->n; i++) {
            const uint64_t d = gnn_csr_offset(k, i + 1) - gnn_csr_offset(k, i);
            row[k->first + i] = d ? 1.0f / (float)d : 0;
        }
    }
}

void gnn_gcn_degrees(const uint32_t *degree, size_t n, float *isqrt)
{
    for (size_t i = 0; i < n; i++)
        isqrt[i] = 1 / sqrtf((float)degree[i] + 1);
}

void gnn_gcn_factors(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                     const float *isqrt, float *row, float *diag)
{
    for (size_t i = from; i < to; i++) {
        row[i] = 0;
        diag[i] = isqrt[i] * isqrt[i];
    }
    for (size_t b = 0; b < nblocks; b++) {
        const struct gnn_csr *k = &block[b];
        for (uint32_t i = 0; i < k->n; i++) {
            const uint32_t g = k->first + i;
            const uint64_t end = gnn_csr_offset(k, i + 1);
            uint64_t x = gnn_csr_offset(k, i), loops = 0, m = end - x;
            for (; x < end; x++)
                loops += k->indices[x] == g;
            m -= loops;
            const float deg = rintf(1 / (isqrt[g] * isqrt[g])) - 1;
            const float up = m ? deg / (float)m : 0;
            row[g] = up * isqrt[g];
            diag[g] = (1 - (float)loops * up) * isqrt[g] * isqrt[g];
        }
    }
}

void gnn_weight_degrees(const float *degree, size_t n, float *isqrt)
{
    for (size_t i = 0; i < n; i++)
        isqrt[i] = degree[i] > 0 ? 1 / sqrtf(degree[i]) : 0;
}

void gnn_weight_factors(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                        const float *isqrt, const uint32_t *count, const float *loop, float *row,
                        float *diag)
{
    for (size_t i = from; i < to; i++) {
        row[i] = 0;
        diag[i] = loop[i] * isqrt[i] * isqrt[i];
    }
    for (size_t b = 0; b < nblocks; b++) {
        const struct gnn_csr *k = &block[b];
        for (uint32_t i = 0; i < k->n; i++) {
            const uint32_t g = k->first + i;
            const uint64_t end = gnn_csr_offset(k, i + 1);
            uint64_t x = gnn_csr_offset(k, i), m = end - x;
            float loops = 0; /* those that were sampled are taken back through the diagonal */
            for (; x < end; x++)
                if (k->indices[x] == g) {
                    loops += k->value[x];
                    m--;
                }
            const float up = m ? (float)count[g] / (float)m : 0;
            row[g] = up * isqrt[g];
            diag[g] = (loop[g] - loops * up) * isqrt[g] * isqrt[g];
        }
    }
}
