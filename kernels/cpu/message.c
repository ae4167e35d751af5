/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on the CPU (kernels/message.h). One thread has a row and goes over its edges in order;
 * neighbours' rows are fetched AHEAD edges before they are used, past the end of a row too. */
#include "kernels/message.h"

#include <string.h>

#include "kernels/act.h"
#include "kernels/csr_row.h"
#include "kernels/simd.h"

/* CHUNK rows are a task: few, as degrees differ widely. */
enum { AHEAD = 12, CHUNK = 32 };

GNN_INLINE void fetch_row(const void *x, size_t row, size_t bytes)
{
    const char *p = (const char *)x + row * bytes;
    for (size_t b = 0; b < bytes; b += 64)
        __builtin_prefetch(p + b);
}

GNN_INLINE void fetch_ahead(const struct gnn_csr_row *r, uint32_t e, const void *x, size_t bytes)
{
    if (r->left - e > AHEAD)
        fetch_row(x, r->indices[e + AHEAD], bytes);
}

GNN_INLINE void take_larger(const float *restrict v, size_t d, uint32_t number, float *restrict y,
                            uint32_t *restrict arg)
{
    if (arg)
        for (size_t j = 0; j < d; j++)
            arg[j] = gnn_max_is(v[j], y[j]) ? number : arg[j];
    for (size_t j = 0; j < d; j++)
        y[j] = gnn_max_is(v[j], y[j]) ? v[j] : y[j];
}

/* Of columns without an edge so far, the first has the largest whatever it is. */
static void begin_row(const float *x, size_t d, uint32_t number, float *y, uint32_t *arg)
{
    for (size_t j = 0; j < d; j++)
        if (arg[j] == UINT32_MAX) {
            y[j] = x[j];
            arg[j] = number;
        }
}

GNN_SIMD static void max_row(const struct gnn_csr_row *r, const float *x, size_t d, float *y,
                             uint32_t *arg, uint32_t base, bool acc)
{
    const uint32_t number = base + r->number;
    if (acc && r->n)
        begin_row(x + r->indices[0] * d, d, number, y, arg);
    if (!acc && r->n)
        memcpy(y, x + r->indices[0] * d, d * sizeof *y);
    if (!acc && !r->n)
        memset(y, 0, d * sizeof *y);
    for (size_t j = 0; arg && !acc && j < d; j++)
        arg[j] = r->n ? number : UINT32_MAX;
    for (uint32_t e = acc ? 0 : 1; e < r->n; e++) {
        fetch_ahead(r, e, x, d * sizeof *x);
        take_larger(x + r->indices[e] * d, d, number + e, y, arg);
    }
}

void gnn_max_rows(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                  const float *x, size_t d, float *y, uint32_t *arg, uint32_t number, bool acc)
{
#pragma omp parallel for schedule(dynamic, CHUNK)
    for (uint32_t i = from; i < to; i++) {
        const struct gnn_csr_row r = gnn_csr_row_of(block, (uint32_t)nblocks, i);
        const size_t at = (i - from) * d;
        max_row(&r, x, d, y + at, arg ? arg + at : NULL, number, acc);
    }
}

GNN_INLINE void add_chosen(const float *restrict dy, const uint32_t *restrict arg, uint32_t number,
                           size_t d, float *restrict dx)
{
    for (size_t j = 0; j < d; j++)
        dx[j] += arg[j] == number ? dy[j] : 0;
}

GNN_SIMD static void max_row_back(const struct gnn_csr_row *r, const float *dy, const uint32_t *arg,
                                  size_t d, float *dx, uint32_t number, bool acc)
{
    if (!acc)
        memset(dx, 0, d * sizeof *dx);
    for (uint32_t e = 0; e < r->n; e++) {
        const size_t at = r->indices[e] * d;
        fetch_ahead(r, e, dy, d * sizeof *dy);
        fetch_ahead(r, e, arg, d * sizeof *arg);
        add_chosen(dy + at, arg + at, number + r->edge[e], d, dx);
    }
}

void gnn_max_back(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                  const float *dy, const uint32_t *arg, size_t d, float *dx, uint32_t number,
                  bool acc)
{
#pragma omp parallel for schedule(dynamic, CHUNK)
    for (uint32_t j = from; j < to; j++) {
        const struct gnn_csr_row r = gnn_csr_row_of(block, (uint32_t)nblocks, j);
        max_row_back(&r, dy, arg, d, dx + (j - from) * d, number, acc);
    }
}

GNN_INLINE void add_message(const float *restrict x, const float *restrict z, size_t d,
                            float *restrict y)
{
    for (size_t j = 0; j < d; j++)
        y[j] += gnn_act_of(x[j] + z[j], GNN_ACT_RELU);
}

GNN_SIMD static void relu_row(const struct gnn_csr_row *r, const float *x, const float *z, size_t d,
                              float *y, bool acc)
{
    if (!acc)
        memset(y, 0, d * sizeof *y);
    for (uint32_t e = 0; e < r->n; e++) {
        fetch_ahead(r, e, x, d * sizeof *x);
        add_message(x + r->indices[e] * d, z + e * d, d, y);
    }
}

void gnn_edge_relu(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                   const float *x, const float *z, uint32_t zfirst, size_t d, float *y, bool acc)
{
#pragma omp parallel for schedule(dynamic, CHUNK)
    for (uint32_t i = from; i < to; i++) {
        const struct gnn_csr_row r = gnn_csr_row_of(block, (uint32_t)nblocks, i);
        const float *first = r.n ? z + (r.number - zfirst) * d : z;
        relu_row(&r, x, first, d, y + (i - from) * d, acc);
    }
}

GNN_SIMD static void relu_row_back(const struct gnn_csr_row *r, const float *x, const float *z,
                                   const float *restrict dy, size_t d, float *dz)
{
    for (uint32_t e = 0; e < r->n; e++, z += d, dz += d) {
        const float *v = x + r->indices[e] * d;
        fetch_ahead(r, e, x, d * sizeof *x);
#pragma omp simd
        for (size_t j = 0; j < d; j++) /* dz may be z */
            dz[j] = v[j] + z[j] > 0 ? dy[j] : 0;
    }
}

void gnn_edge_relu_back(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                        const float *x, const float *z, uint32_t zfirst, const float *dy, size_t d,
                        float *dz)
{
#pragma omp parallel for schedule(dynamic, CHUNK)
    for (uint32_t i = from; i < to; i++) {
        const struct gnn_csr_row r = gnn_csr_row_of(block, (uint32_t)nblocks, i);
        const size_t at = r.n ? (r.number - zfirst) * d : 0;
        relu_row_back(&r, x, z + at, dy + (i - from) * d, d, dz + at);
    }
}

GNN_INLINE void add_row(const float *restrict z, size_t d, float *restrict y)
{
    for (size_t j = 0; j < d; j++)
        y[j] += z[j];
}

GNN_SIMD static void sum_row(const struct gnn_csr_row *r, const float *z, uint32_t zfirst,
                             uint32_t nz, size_t d, float *y, bool acc)
{
    if (!acc)
        memset(y, 0, d * sizeof *y);
    for (uint32_t e = 0; e < r->n; e++) {
        if (r->edge && r->left - e > AHEAD && r->edge[e + AHEAD] - zfirst < nz)
            fetch_row(z, r->edge[e + AHEAD] - zfirst, d * sizeof *z);
        add_row(z + ((r->edge ? r->edge[e] : r->number + e) - zfirst) * d, d, y);
    }
}

void gnn_edge_sum(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                  const float *z, uint32_t zfirst, uint32_t nz, size_t d, float *y, bool acc)
{
#pragma omp parallel for schedule(dynamic, CHUNK)
    for (uint32_t i = from; i < to; i++) {
        struct gnn_csr_row r = gnn_csr_row_of(block, (uint32_t)nblocks, i);
        gnn_csr_row_cut(&r, zfirst, nz);
        sum_row(&r, z, zfirst, nz, d, y + (i - from) * d, acc);
    }
}

GNN_SIMD static void mean_row(const struct gnn_csr_row *r, uint32_t row, const float *z, size_t d,
                              float *y)
{
    uint32_t n = 0;
    memset(y, 0, d * sizeof *y);
    for (uint32_t e = 0; e < r->n; e++) {
        if (r->indices[e] == row)
            continue;
        add_row(z + e * d, d, y);
        n++;
    }
    for (size_t j = 0; n && j < d; j++)
        y[j] /= (float)n;
}

void gnn_edge_means(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                    const float *z, uint32_t zfirst, size_t d, float *y)
{
#pragma omp parallel for schedule(dynamic, CHUNK)
    for (uint32_t i = from; i < to; i++) {
        const struct gnn_csr_row r = gnn_csr_row_of(block, (uint32_t)nblocks, i);
        mean_row(&r, i, r.n ? z + (r.number - zfirst) * d : z, d, y + (i - from) * d);
    }
}

void gnn_edge_rest(const struct gnn_csr *block, size_t nblocks, uint64_t edges, size_t d, float *z)
{
    uint64_t n = 0;
    for (size_t b = 0; b < nblocks; b++)
        n += gnn_csr_edges(&block[b]);
    if (n < edges)
        memset(z + n * d, 0, (edges - n) * d * sizeof *z);
}
