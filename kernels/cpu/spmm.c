/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregation on the CPU (kernels/spmm.h), and the transposed block of the backward pass. Rows are
 * summed in the order of their edges, by one thread each, so bits do not depend on the number of
 * threads. */
#include "kernels/spmm.h"

#include <string.h>

#include "kernels/half_bits.h"
#include "kernels/simd.h"

/* Rows of a task are few, as degrees differ widely. At most TILE columns are summed up at a time,
 * in registers. */
enum { TILE = 256, AHEAD = 12, CHUNK = 32 };
typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint32_t words __attribute__((vector_size(64), aligned(2), may_alias));
enum { LANES = 16, MOST = TILE / LANES };

/* Rows that are summed up, of f32 or bf16, and the columns of them that are looked at. */
struct rows {
    const char *x;
    size_t pitch, w; /* in numbers */
    int half;
};

GNN_INLINE size_t bytes_of(size_t n, int half)
{
    return n * (half ? sizeof(uint16_t) : sizeof(float));
}

GNN_INLINE float edge_factor(const struct gnn_csr *a, uint64_t e)
{
    const float v = a->value ? a->value[a->edge ? a->edge[e] : e] : 1;
    return a->col ? v * a->col[a->indices[e]] : v;
}

GNN_INLINE float number_at(const char *x, size_t j, int half)
{
    return half ? gnn_bits_f32((uint32_t)((const uint16_t *)(const void *)x)[j] << 16)
                : ((const float *)(const void *)x)[j];
}

/* Rows short of the cache are fetched AHEAD edges before they are used, past the end of the row
 * too: `left` edges follow in the block. They go to the second-level cache, which has more reads
 * under way than the first. */
GNN_INLINE void fetch_ahead(const uint32_t *idx, size_t e, size_t left, const struct rows *r)
{
    if (e + AHEAD >= left)
        return;
    const char *p = r->x + idx[e + AHEAD] * bytes_of(r->pitch, r->half);
    for (size_t b = 0; b < bytes_of(r->w, r->half); b += 64)
        __builtin_prefetch(p + b, 0, 2);
}

/* s[0..w) = sum over ne edges of factor * x, from edge `first` on. */
GNN_INLINE void row_sum(const struct gnn_csr *a, uint64_t first, size_t ne, size_t left,
                        const struct rows *r, float *restrict s)
{
    const uint32_t *idx = a->indices + first;
    const int weighted = a->col || a->value;
    for (size_t j = 0; j < r->w; j++)
        s[j] = 0;
    for (size_t e = 0; e < ne; e++) {
        const char *v = r->x + idx[e] * bytes_of(r->pitch, r->half);
        const float c = weighted ? edge_factor(a, first + e) : 1;
        fetch_ahead(idx, e, left, r);
        for (size_t j = 0; j < r->w; j++)
            s[j] += weighted ? c * number_at(v, j, r->half) : number_at(v, j, r->half);
    }
}

/* Adds n * LANES columns from v on to t. Of bf16, a pair of lanes gets the even and the odd columns
 * of LANES words. */
GNN_INLINE void add_lanes(lanes *t, int n, const char *v, float c, int weighted, int half)
{
    for (int k = 0; k < n; k += half ? 2 : 1) {
        lanes x, odd = {0};
        if (half) {
            const words u =
                *(const words *)(const void *)(v + (size_t)k * LANES * sizeof(uint16_t));
            x = (lanes)(u << 16);
            odd = (lanes)(u & 0xffff0000u);
        } else {
            x = *(const lanes *)(const void *)(v + (size_t)k * sizeof x);
        }
        if (weighted) {
            x = c * x;
            odd = c * odd;
        }
        t[k] += x;
        if (half)
            t[k + 1] += odd;
    }
}

GNN_INLINE void put_lanes(const lanes *t, int n, float *s, int half)
{
    if (!half) {
        memcpy(s, t, (size_t)n * sizeof *t);
        return;
    }
    for (int k = 0; k < n; k += 2)
        for (int i = 0; i < LANES; i++) {
            s[k * LANES + 2 * i] = t[k][i];
            s[k * LANES + 2 * i + 1] = t[k + 1][i];
        }
}

/* The same in 2 n registers of LANES columns: the first half of them has the first columns, the
 * second the last ones, and both what is between. n * LANES <= w <= 2 * n * LANES. */
GNN_INLINE void row_sum_lanes(const struct gnn_csr *a, uint64_t first, size_t ne, size_t left,
                              const struct rows *r, int n, float *s)
{
    const uint32_t *idx = a->indices + first;
    const int weighted = a->col || a->value, half = r->half;
    const size_t last = r->w - (size_t)n * LANES;
    lanes t[MOST] = {{0}};
    for (size_t e = 0; e < ne; e++) {
        const char *v = r->x + idx[e] * bytes_of(r->pitch, half);
        const float c = weighted ? edge_factor(a, first + e) : 1;
        fetch_ahead(idx, e, left, r);
        add_lanes(t, n, v, c, weighted, half);
        add_lanes(t + n, n, v + bytes_of(last, half), c, weighted, half);
    }
    put_lanes(t, n, s, half);
    put_lanes(t + n, n, s + last, half);
}

GNN_INLINE void row_sum_of(const struct gnn_csr *a, uint64_t first, size_t ne, size_t left,
                           const struct rows *r, float *s)
{
    if (r->w > 8 * LANES)
        row_sum_lanes(a, first, ne, left, r, 8, s);
    else if (r->w > 4 * LANES)
        row_sum_lanes(a, first, ne, left, r, 4, s);
    else if (r->w > 2 * LANES)
        row_sum_lanes(a, first, ne, left, r, 2, s);
    else
        row_sum(a, first, ne, left, r, s);
}

/* self: the node's own row, or NULL. */
GNN_INLINE void put(float *restrict y, const float *restrict s, size_t w, float r, float dg,
                    const char *self, int half, int acc)
{
    for (size_t j = 0; j < w; j++) {
        float v = r * s[j];
        if (self)
            v += dg * number_at(self, j, half);
        y[j] = acc ? y[j] + v : v;
    }
}

struct task {
    const struct gnn_csr *a;
    const char *x;
    size_t ldx, d;
    float *y;
    size_t ldy;
    int acc;
};

GNN_INLINE void sum_rows(const struct task *k, size_t from, size_t to, int half)
{
    const struct gnn_csr *a = k->a;
    float s[TILE];
    const uint64_t end = gnn_csr_offset(a, a->n);
    for (size_t i = from; i < to; i++) {
        const size_t g = a->first + i;
        const uint64_t b = gnn_csr_offset(a, (uint32_t)i), e = gnn_csr_offset(a, (uint32_t)i + 1);
        const float r = a->row ? a->row[g] : 1;
        const int self = a->diag && g < a->ndiag;
        for (size_t j = 0; j < k->d; j += TILE) {
            const size_t w = k->d - j < TILE ? k->d - j : TILE;
            const struct rows x = {k->x + bytes_of(j, half), k->ldx, w, half};
            row_sum_of(a, b, e - b, end - b, &x, s);
            put(k->y + g * k->ldy + j, s, w, r, self ? a->diag[g] : 0,
                self ? x.x + bytes_of(g * k->ldx, half) : NULL, half, k->acc);
        }
    }
}

GNN_SIMD static void sum_rows_f32(const struct task *k, size_t from, size_t to)
{
    sum_rows(k, from, to, 0);
}

GNN_SIMD static void sum_rows_bf16(const struct task *k, size_t from, size_t to)
{
    sum_rows(k, from, to, 1);
}

static void sum_block(const struct task *k, int half)
{
    const size_t n = k->a->n;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t c = 0; c < (n + CHUNK - 1) / CHUNK; c++) {
        const size_t to = (c + 1) * CHUNK < n ? (c + 1) * CHUNK : n;
        if (half)
            sum_rows_bf16(k, c * CHUNK, to);
        else
            sum_rows_f32(k, c * CHUNK, to);
    }
}

void gnn_spmm(const struct gnn_csr *a, const float *x, size_t ldx, size_t d, float *y, size_t ldy,
              int acc)
{
    const struct task k = {a, (const char *)x, ldx, d, y, ldy, acc};
    sum_block(&k, 0);
}

/* Rows [at, end) of a layer that belong to no block: only the term of the node itself is added. */
static void lone_rows(const struct gnn_csr *first, uint32_t at, uint32_t end, const char *x,
                      size_t d, float *y, int acc, int half)
{
    const float *diag = first->diag;
    for (; at < end; at++, y += d) {
        const int self = diag && at < first->ndiag;
        for (size_t j = 0; j < d; j++)
            y[j] = (acc ? y[j] : 0) + (self ? diag[at] * number_at(x, at * d + j, half) : 0);
    }
}

static void sum_blocks(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                       const char *x, size_t d, float *y, int acc, int half)
{
    uint32_t at = from;
    for (size_t s = 0; s < nblocks; s++) {
        struct gnn_csr k = block[s];
        uint32_t b = k.first, e = k.first + k.n;
        b = b < from ? from : b > to ? to : b;
        e = e < from ? from : e > to ? to : e;
        if (b >= e)
            continue;
        lone_rows(block, at, b, x, d, y + (size_t)(at - from) * d, acc, half);
        if (k.indptr)
            k.indptr += b - k.first;
        else
            k.indptr64 += b - k.first;
        k.n = e - b;
        k.first = b;
        /* y is indexed by the row of the layer, and starts at row `from`. */
        const struct task t = {&k, x, d, d, y - (size_t)from * d, d, acc};
        sum_block(&t, half);
        at = e;
    }
    lone_rows(block, at, to, x, d, y + (size_t)(at - from) * d, acc, half);
}

void gnn_spmm_rows(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                   const float *x, size_t d, float *y, int acc)
{
    sum_blocks(block, nblocks, from, to, (const char *)x, d, y, acc, 0);
}

void gnn_spmm_rows_bf16(const struct gnn_csr *block, size_t nblocks, uint32_t from, uint32_t to,
                        const uint16_t *x, size_t d, float *y, int acc)
{
    sum_blocks(block, nblocks, from, to, (const char *)x, d, y, acc, 1);
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
