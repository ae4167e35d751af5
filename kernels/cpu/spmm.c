/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregation on the CPU (kernels/spmm.h), and the transposed block of the backward pass. Rows are
 * summed in the order of their edges, by one thread each, so bits do not depend on the number of
 * threads. */
#include "kernels/spmm.h"

#include <string.h>

#include "kernels/simd.h"

/* Rows of a task are few, as degrees differ widely. Columns are summed up TILE at a time in the
 * first-level cache, or WHOLE in registers. */
enum { TILE = 256, WHOLE = 128, AHEAD = 12, CHUNK = 32 };
typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));
enum { LANES = 16, VECTORS = WHOLE / LANES };

GNN_INLINE float edge_factor(const struct gnn_csr *a, uint64_t e)
{
    const float v = a->value ? a->value[a->edge ? a->edge[e] : e] : 1;
    return a->col ? v * a->col[a->indices[e]] : v;
}

/* Rows short of the cache are fetched AHEAD edges before they are used, past the end of the row
 * too: `left` edges follow in the block. */
GNN_INLINE void fetch_ahead(const uint32_t *idx, size_t e, size_t left, const float *x, size_t ldx,
                            size_t w)
{
    if (e + AHEAD >= left)
        return;
    const char *p = (const char *)(x + (size_t)idx[e + AHEAD] * ldx);
    for (size_t b = 0; b < w * sizeof(float); b += 64)
        __builtin_prefetch(p + b);
}

/* s[0..w) = sum over ne edges of factor * x, from edge `first` on, w <= TILE columns from x on. */
GNN_INLINE void row_sum(const struct gnn_csr *a, uint64_t first, size_t ne, size_t left,
                        const float *x, size_t ldx, size_t w, float *restrict s)
{
    const uint32_t *idx = a->indices + first;
    const int weighted = a->col || a->value;
    for (size_t j = 0; j < w; j++)
        s[j] = 0;
    for (size_t e = 0; e < ne; e++) {
        const float *restrict v = x + (size_t)idx[e] * ldx;
        fetch_ahead(idx, e, left, x, ldx, w);
        if (weighted) {
            const float c = edge_factor(a, first + e);
            for (size_t j = 0; j < w; j++)
                s[j] += c * v[j];
        } else {
            for (size_t j = 0; j < w; j++)
                s[j] += v[j];
        }
    }
}

/* The same of WHOLE columns, of which `fetch` more are fetched: those that come next. */
GNN_INLINE void row_sum_whole(const struct gnn_csr *a, uint64_t first, size_t ne, size_t left,
                              const float *x, size_t ldx, size_t fetch, float *s)
{
    const uint32_t *idx = a->indices + first;
    const int weighted = a->col || a->value;
    lanes t[VECTORS] = {{0}};
    for (size_t e = 0; e < ne; e++) {
        const lanes *v = (const lanes *)(const void *)(x + (size_t)idx[e] * ldx);
        fetch_ahead(idx, e, left, x, ldx, fetch);
        if (weighted) {
            const float c = edge_factor(a, first + e);
            for (int k = 0; k < VECTORS; k++)
                t[k] += c * v[k];
        } else {
            for (int k = 0; k < VECTORS; k++)
                t[k] += v[k];
        }
    }
    memcpy(s, t, sizeof(t));
}

GNN_INLINE void put(float *restrict y, const float *restrict s, size_t w, float r, float dg,
                    const float *self, int acc)
{
    for (size_t j = 0; j < w; j++) {
        float v = r * s[j];
        if (self)
            v += dg * self[j];
        y[j] = acc ? y[j] + v : v;
    }
}

GNN_SIMD static void rows32(const struct gnn_csr *a, size_t from, size_t to, const float *x,
                            size_t ldx, size_t d, float *y, size_t ldy, int acc)
{
    float s[TILE];
    const uint64_t end = gnn_csr_offset(a, a->n);
    for (size_t i = from; i < to; i++) {
        const size_t g = a->first + i;
        const uint64_t b = gnn_csr_offset(a, (uint32_t)i), e = gnn_csr_offset(a, (uint32_t)i + 1);
        const float r = a->row ? a->row[g] : 1;
        const int self = a->diag && g < a->ndiag;
        for (size_t j = 0; j < d; j += TILE) {
            const size_t w = d - j < TILE ? d - j : TILE;
            if (w == TILE) {
                row_sum_whole(a, b, e - b, end - b, x + j, ldx, TILE, s);
                row_sum_whole(a, b, e - b, end - b, x + j + WHOLE, ldx, 0, s + WHOLE);
            } else if (w == WHOLE) {
                row_sum_whole(a, b, e - b, end - b, x + j, ldx, WHOLE, s);
            } else {
                row_sum(a, b, e - b, end - b, x + j, ldx, w, s);
            }
            put(y + g * ldy + j, s, w, r, self ? a->diag[g] : 0, self ? x + g * ldx + j : NULL,
                acc);
        }
    }
}

void gnn_spmm(const struct gnn_csr *a, const float *x, size_t ldx, size_t d, float *y, size_t ldy,
              int acc)
{
    const size_t n = a->n;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t c = 0; c < (n + CHUNK - 1) / CHUNK; c++) {
        size_t to = (c + 1) * CHUNK < n ? (c + 1) * CHUNK : n;
        rows32(a, c * CHUNK, to, x, ldx, d, y, ldy, acc);
    }
}

/* Rows [at, end) of a layer that belong to no block: only the term of the node itself is added. */
static void lone_rows(const struct gnn_csr *first, uint32_t at, uint32_t end, const float *x,
                      size_t d, float *y, int acc)
{
    const float *diag = first->diag;
    for (; at < end; at++, y += d) {
        const int self = diag && at < first->ndiag;
        for (size_t j = 0; j < d; j++)
            y[j] = (acc ? y[j] : 0) + (self ? diag[at] * x[at * d + j] : 0);
    }
}

void gnn_spmm_rows(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                   const float *x, size_t d, float *y, int acc)
{
    uint32_t at = from;
    for (size_t s = 0; s < nblocks; s++) {
        struct gnn_csr k = block[s];
        uint32_t b = k.first, e = k.first + k.n;
        b = b < from ? from : b > to ? to : b;
        e = e < from ? from : e > to ? to : e;
        if (b >= e)
            continue;
        lone_rows(block, at, b, x, d, y + (size_t)(at - from) * d, acc);
        if (k.indptr)
            k.indptr += b - k.first;
        else
            k.indptr64 += b - k.first;
        k.n = e - b;
        k.first = b;
        /* y is indexed by the row of the layer, and starts at row `from`. */
        gnn_spmm(&k, x, d, d, y - (size_t)from * d, d, acc);
        at = e;
    }
    lone_rows(block, at, to, x, d, y + (size_t)(at - from) * d, acc);
}

/* A counting sort by column. It is stable, so a column's rows ascend, and sums over them have a
 * fixed order. */
void gnn_csr_transpose(const struct gnn_csr *block, size_t nblocks, uint32_t ncols, uint32_t *tptr,
                       uint32_t *tidx, uint32_t *tedge)
{
    memset(tptr, 0, ((size_t)ncols + 1) * sizeof(*tptr));
    for (size_t b = 0; b < nblocks; b++) {
        const struct gnn_csr *a = &block[b];
        const uint64_t end = a->n ? gnn_csr_offset(a, a->n) : 0;
        for (uint64_t e = a->n ? gnn_csr_offset(a, 0) : 0; e < end; e++)
            tptr[a->indices[e] + 1]++;
    }
    for (uint32_t c = 0; c < ncols; c++)
        tptr[c + 1] += tptr[c];
    /* fill, using tptr[c] as the cursor of column c; then shift back */
    uint32_t number = 0;
    for (size_t b = 0; b < nblocks; b++) {
        const struct gnn_csr *a = &block[b];
        for (uint32_t i = 0; i < a->n; i++) {
            const uint64_t end = gnn_csr_offset(a, i + 1);
            for (uint64_t e = gnn_csr_offset(a, i); e < end; e++, number++) {
                const uint32_t at = tptr[a->indices[e]]++;
                tidx[at] = a->first + i;
                if (tedge)
                    tedge[at] = number;
            }
        }
    }
    memmove(tptr + 1, tptr, (size_t)ncols * sizeof(*tptr));
    tptr[0] = 0;
}
