/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregation and transposed blocks. */
#include "gpu/case.h"
#include "gpu/blocks_case.h"

static const struct gnn_csr *first_block(const struct layer *l, uint32_t b)
{
    return blocks_at(&l->block[b], l->nblocks - b);
}

/* What the CPU makes of rows from `from` on: it goes block by block, and rows of none have the
 * diagonal of the first. */
static void sums_here(const struct layer *l, uint32_t from, const float *x, size_t ldx, size_t d,
                      float *y, size_t ldy, bool acc)
{
    float *all = host(l->rows * ldy * sizeof *all);
    bool *in = host(l->rows);
    memcpy(all + from * ldy, y, (l->rows - from) * ldy * sizeof *y);
    for (uint32_t b = 0; b < l->nblocks; b++) {
        const struct gnn_csr *a = &l->block[b];
        gnn_spmm(a, x, ldx, d, all, ldy, acc);
        memset(in + a->first, 1, a->n);
    }
    for (uint32_t i = 0; i < l->rows; i++)
        for (size_t j = 0; !in[i] && j < d; j++) {
            const struct gnn_csr *a = &l->block[0];
            all[i * ldy + j] = (acc ? all[i * ldy + j] : 0) +
                               (a->diag && i < a->ndiag ? a->diag[i] * x[i * ldx + j] : 0);
        }
    memcpy(y, all + from * ldy, (l->rows - from) * ldy * sizeof *y);
}

enum { ROW = 1, COL = 2, DIAG = 4, VALUE = 8, EDGE = 16 };
struct shape {
    uint32_t nblocks, rows, cols, degree, longest;
    size_t d, padx, pady;
    int factors;
    bool acc;
};

static void add_factors(struct layer *l, int factors, uint32_t xrows)
{
    uint64_t most = 0; /* offsets end below this */
    for (uint32_t b = 0; b < l->nblocks; b++) {
        const uint64_t end = gnn_csr_offset(&l->block[b], l->block[b].n);
        most = end > most ? end : most;
    }
    uint32_t *edge = array(most, sizeof *edge);
    for (uint64_t i = 0; i < most; i++)
        edge[i] = (uint32_t)(most - 1 - i);
    const float *value = numbers(most), *row = numbers(l->rows), *col = numbers(xrows),
                *diag = numbers(l->rows);
    for (uint32_t b = 0; b < l->nblocks; b++) {
        struct gnn_csr *a = &l->block[b];
        a->value = factors & VALUE ? value : NULL;
        a->edge = factors & EDGE ? edge : NULL;
        a->row = factors & ROW ? row : NULL;
        a->col = factors & COL ? col : NULL;
        a->diag = factors & DIAG ? diag : NULL;
        a->ndiag = factors & DIAG ? l->rows - l->rows / 4 : 0;
    }
}

/* All rows, and those from a later one on. */
static void aggregate(const struct shape *s)
{
    struct layer l = layer_of(s->nblocks, s->rows * size_scale, s->cols * size_scale, s->degree,
                              s->longest * size_scale);
    const size_t d = s->d, ldx = d + s->padx, ldy = d + s->pady;
    const uint32_t xrows = l.cols > l.rows ? l.cols : l.rows, from = l.rows / 3;
    float *x = special(numbers(xrows * ldx), d > 31 && s->longest ? xrows * ldx : 0),
          *y = numbers(l.rows * ldy), *z = numbers((l.rows - from) * ldy);
    uint64_t *bad = nothing_bad();
    add_factors(&l, s->factors, xrows);
    while (again()) {
        const struct gnn_csr *block = blocks_at(l.block, l.nblocks);
        gnn_cuda_spmm(block, l.nblocks, 0, counted(l.rows), bound(l.rows), at(x), xrows, ldx, d,
                      at(y), ldy, s->acc, at(bad), stream);
        gnn_cuda_spmm(block, l.nblocks, from, counted(l.rows), bound(l.rows), at(x), xrows, ldx, d,
                      at(z), ldy, s->acc, at(bad), stream);
    }
    sums_here(&l, 0, x, ldx, d, y, ldy, s->acc);
    sums_here(&l, from, x, ldx, d, z, ldy, s->acc);
    verdict("aggregation of %u rows in %u blocks, %u edges, %zu columns, factors %d%s", l.rows,
            l.nblocks, l.edges, d, s->factors, s->acc ? ", added up" : "");
}

/* Ids that are no rows of X, anywhere and in whole rows, are as if they were not there, and the
 * first is reported. Zeros have a sign. */
static void bad_columns(size_t d, bool weighted)
{
    const uint32_t cols = 50, longest = 300 * size_scale;
    struct layer l = layer_of(2, 30, cols, 40, longest), good = l;
    float *x = numbers(cols * d), *y = floats(l.rows * d), *z = floats(l.rows * d);
    const float *col = numbers(cols);
    uint64_t *bad = nothing_bad(), *later = nothing_bad();
    uint64_t told[2] = {UINT64_MAX, UINT64_MAX}; /* of both blocks, and of the second alone */
    for (size_t i = 0; i < cols * d; i++)
        x[i] = i % d % 3 == 0 || i % 5 == 0 ? -0.0f : x[i];
    for (uint32_t b = 0; b < 2; b++) {
        const struct gnn_csr *a = &l.block[b];
        uint32_t *idx = (uint32_t *)(uintptr_t)a->indices, n = 0,
                 *ptr = host((a->n + 1) * sizeof *ptr), *kept = host((l.edges + 1) * sizeof *kept);
        for (uint32_t i = 0; i < a->n; i++) {
            for (uint64_t e = gnn_csr_offset(a, i); e < gnn_csr_offset(a, i + 1); e++)
                if ((below(8) && i % 7 != 3) || (weighted && !b)) {
                    kept[n++] = idx[e];
                } else {
                    idx[e] = below(2) ? UINT32_MAX : cols;
                    told[0] = told[0] < ((uint64_t)b << 32 | e) ? told[0] : (uint64_t)b << 32 | e;
                    told[1] = b && told[1] > e ? e : told[1];
                }
            ptr[i + 1] = n;
        }
        good.block[b].indptr = ptr;
        good.block[b].indices = kept;
        l.block[b].col = good.block[b].col = weighted ? col : NULL;
    }
    while (again()) {
        gnn_cuda_spmm(first_block(&l, 0), 2, 0, counted(l.rows), bound(l.rows), at(x), cols, d, d,
                      at(y), d, 0, at(bad), stream);
        gnn_cuda_spmm(first_block(&l, 1), 1, 0, NULL, l.rows, at(x), cols, d, d, at(z), d, 0,
                      at(later), stream);
    }
    sums_here(&good, 0, x, d, d, y, d, false);
    good.block[0].n = 0;
    sums_here(&good, 0, x, d, d, z, d, false);
    *bad = told[0];
    *later = told[1];
    expect(told[1] < UINT64_MAX, "nothing is bad");
    verdict("aggregation leaves out ids out of range, %zu columns%s", d,
            weighted ? ", with factors" : "");
}

/* Without rows or blocks there are zeros, or nothing. */
static void no_blocks(void)
{
    const size_t d = 8;
    const struct gnn_csr none = {0};
    float *x = numbers(d), *y = filled(8 * d, 5);
    uint64_t *bad = nothing_bad();
    while (again()) {
        gnn_cuda_spmm(blocks_at(&none, 1), 1, 0, NULL, 3, at(x), 1, d, d, at(y), d, 0, at(bad),
                      stream);
        gnn_cuda_spmm(NULL, 0, 0, NULL, 0, at(x), 1, d, d, at(y), d, 0, at(bad), stream);
        gnn_cuda_spmm(NULL, 0, 0, NULL, 2, at(x), 1, d, d, at(y + 5 * d), d, 0, at(bad), stream);
    }
    memset(y, 0, 3 * d * sizeof *y);
    memset(y + 5 * d, 0, 2 * d * sizeof *y);
    verdict("aggregation without rows or blocks");
}

void case_spmm(void)
{
    static const struct shape shapes[] = {
        {1, 1, 1, 2, 0, 1, 0, 0, 0, false},
        {1, 40, 30, 7, 0, 1, 0, 3, ROW | COL | DIAG, false},
        {3, 30, 80, 20, 300, 2, 1, 0, ROW | COL | DIAG, true},
        {1, 33, 50, 15, 0, 3, 0, 0, ROW, true},
        {2, 20, 60, 12, 257, 7, 2, 1, COL, false},
        {3, 25, 70, 16, 0, 16, 0, 0, DIAG, false},
        {1, 50, 90, 10, 600, 32, 4, 8, ROW | COL | DIAG, true},
        {3, 20, 90, 11, 0, 47, 1, 0, ROW | DIAG, false},
        {2, 20, 90, 11, 300, 64, 0, 0, ROW | COL, false},
        {1, 20, 90, 11, 400, 64, 0, 0, ROW | COL, true},
        {4, 15, 50, 10, 0, 100, 0, 0, ROW | COL | DIAG, false},
        {2, 10, 50, 10, 513, 256, 0, 0, ROW | COL | DIAG, true},
        {1, 10, 50, 10, 300, 257, 0, 0, ROW | COL, false},
        {1, 5, 20, 10, 300, 1000, 0, 0, ROW | COL | DIAG, false},
        {1, 5, 20, 10, 0, 1000, 1, 3, 0, true},
        {3, 9, 20, 0, 0, 20, 0, 0, ROW | COL | DIAG, false},
        {3, 30, 80, 20, 300, 7, 0, 0, VALUE, false},
        {2, 33, 50, 15, 0, 3, 1, 0, VALUE, true},
        {2, 20, 60, 12, 257, 64, 0, 0, ROW | COL | DIAG | VALUE, false},
        {3, 25, 70, 16, 300, 16, 0, 0, VALUE | EDGE, false},
        {2, 10, 50, 10, 513, 256, 0, 0, ROW | COL | DIAG | VALUE | EDGE, true},
        {1, 5, 20, 10, 300, 1000, 1, 3, COL | VALUE | EDGE, false},
        {1, 4, 300, 9, 100000, 12, 0, 0, 0, false},
    };
    static const size_t widths[] = {3, 8, 47, 200};
    for (size_t i = 0; i < COUNT(shapes); i++)
        aggregate(&shapes[i]);
    for (size_t i = 0; i < COUNT(widths); i++) {
        bad_columns(widths[i], false);
        bad_columns(widths[i], true);
    }
    no_blocks();
}

/* ---- transposing ---- */

/* With more space for columns and edges than there are, with and without numbers. */
static void transpose(uint32_t nblocks, uint32_t rows, uint32_t cols, uint32_t degree,
                      uint32_t longest)
{
    struct layer l = layer_of(nblocks, rows, cols, degree, longest);
    uint32_t *idx = (uint32_t *)(uintptr_t)l.block[0].indices;
    for (uint32_t e = 0; e < l.block[0].indptr[l.block[0].n] && longest; e += 2)
        idx[e] = cols - 1; /* a long column */
    const uint32_t most = l.edges + 5000;
    uint32_t *ptr = array(cols + 1, sizeof *ptr), *row = array(most, sizeof *row),
             *edge = array(most, sizeof *edge), *ptr2 = array(3 * cols + 1, sizeof *ptr2),
             *row2 = array(l.edges, sizeof *row2);
    uint64_t *bad = nothing_bad();
    const bool second = longest < 50000; /* which takes its time under emulation */
    while (again()) {
        const struct gnn_csr *block = blocks_at(l.block, nblocks);
        gnn_cuda_csr_transpose(block, nblocks, counted(cols), cols, most, at(ptr), at(row),
                               at(edge), scratch(gnn_cuda_csr_transpose_scratch(most, true)),
                               at(bad), stream);
        if (second)
            gnn_cuda_csr_transpose(
                block, nblocks, up(&cols, sizeof cols), 3 * cols, l.edges, at(ptr2), at(row2), NULL,
                scratch(gnn_cuda_csr_transpose_scratch(l.edges, false)), at(bad), stream);
    }
    gnn_csr_transpose(l.block, nblocks, cols, ptr, row, edge);
    memcpy(ptr2, ptr, second * (cols + 1) * sizeof *ptr);
    memcpy(row2, row, second * l.edges * sizeof *row);
    verdict("transposing %u blocks of %u rows, %u columns, %u edges", nblocks, rows, cols, l.edges);
}

/* Columns out of range, too little space, and nothing at all. */
static void transpose_bad(void)
{
    const uint32_t cols = 20;
    struct layer l = layer_of(2, 50, cols, 9, 0);
    const uint64_t start = gnn_csr_offset(&l.block[1], 0), end = gnn_csr_offset(&l.block[1], 50);
    const uint32_t cap = l.block[0].indptr[50] - l.block[0].indptr[0] + 3;
    uint32_t *ptr = array(cols + 1, sizeof *ptr), *row = array(l.edges, sizeof *row),
             *ptr2 = array(cols + 1, sizeof *ptr2), *row2 = array(cap, sizeof *row2),
             *none = array(1, sizeof *none);
    uint64_t *bad = nothing_bad(), *more = nothing_bad(), *nothing = nothing_bad();
    uint32_t *idx = array(end, sizeof *idx);
    struct gnn_csr damaged[2] = {l.block[0], l.block[1]};
    memcpy(idx, l.block[1].indices, end * sizeof *idx);
    idx[start + 3] = idx[end - 1] = cols; /* the fourth, and the last */
    damaged[1].indices = idx;
    while (again()) {
        void *work = scratch(gnn_cuda_csr_transpose_scratch(l.edges, false));
        gnn_cuda_csr_transpose(blocks_at(damaged, 2), 2, NULL, cols, l.edges, at(ptr), at(row),
                               NULL, work, at(bad), stream);
        gnn_cuda_csr_transpose(blocks_at(l.block, 2), 2, NULL, cols, cap, at(ptr2), at(row2), NULL,
                               work, at(more), stream);
        gnn_cuda_csr_transpose(NULL, 0, NULL, 0, 0, at(none), at(row2), NULL, work, at(nothing),
                               stream);
    }
    const uint32_t *got = left(ptr);
    expect(got[cols] == l.edges - 2, "%u of %u edges", got[cols], l.edges);
    kept_apart(ptr);
    kept_apart(row);
    got = left(ptr2);
    expect(got[cols] == cap, "%u edges where there is space for %u", got[cols], cap);
    kept_apart(ptr2);
    kept_apart(row2);
    *bad = *more = UINT64_C(1) << 32 | (start + 3);
    *none = 0;
    verdict("transposing reports columns out of range and edges beyond its space");
}

/* What a transposed block gives is the adjoint: <A x, y> = <x, A' y>, with edges' values by their
 * numbers. The device goes on with what it has transposed itself. */
static void adjoint(void)
{
    const size_t d = 20;
    struct layer l = layer_of(3, 60 * size_scale, 250 * size_scale, 20, 280 * size_scale);
    const uint32_t n = l.cols;
    uint32_t *ptr = array(n + 1, sizeof *ptr), *row = array(l.edges, sizeof *row),
             *edge = array(l.edges, sizeof *edge);
    float *x = numbers(n * d), *y = numbers(l.rows * d), *ax = floats(l.rows * d),
          *ay = floats(n * d), *value = numbers(l.edges);
    const float *factor = numbers(l.rows), *col = numbers(n);
    uint64_t *bad = nothing_bad();
    for (uint32_t b = 0, k = 0; b < 3; b++) { /* each block's, at its offsets */
        struct gnn_csr *a = &l.block[b];
        float *v = numbers(gnn_csr_offset(a, a->n));
        for (uint64_t e = gnn_csr_offset(a, 0); e < gnn_csr_offset(a, a->n); e++)
            v[e] = value[k++];
        a->value = v;
        a->row = factor;
        a->col = col;
    }
    struct gnn_csr t = {.n = n, .indptr = ptr, .indices = row, .value = value, .edge = edge};
    t.row = col;
    t.col = factor;
    while (again()) {
        const struct gnn_csr *block = blocks_at(l.block, 3);
        gnn_cuda_spmm(block, 3, 0, NULL, l.rows, at(x), n, d, d, at(ax), d, 0, at(bad), stream);
        gnn_cuda_csr_transpose(block, 3, NULL, n, l.edges, at(ptr), at(row), at(edge),
                               scratch(gnn_cuda_csr_transpose_scratch(l.edges, true)), at(bad),
                               stream);
        gnn_cuda_spmm(blocks_at(&t, 1), 1, 0, NULL, n, at(y), l.rows, d, d, at(ay), d, 0, at(bad),
                      stream);
    }
    sums_here(&l, 0, x, d, d, ax, d, false);
    gnn_csr_transpose(l.block, 3, n, ptr, row, edge);
    gnn_spmm(&t, y, d, d, ay, d, 0);
    double a = 0, b = 0, size = 0;
    for (size_t i = 0; i < l.rows * d; i++) {
        a += (double)ax[i] * (double)y[i];
        size += fabs((double)ax[i] * (double)y[i]);
    }
    for (size_t i = 0; i < n * d; i++)
        b += (double)x[i] * (double)ay[i];
    expect(fabs(a - b) < 1e-6 * size && size > 1, "%g is not %g", a, b);
    verdict("aggregation by a transposed block is the adjoint");
}

void case_transpose(void)
{
    transpose(1, 1, 1, 2, 0);
    transpose(3, 40 * size_scale, 100 * size_scale, 9, 0);
    transpose(2, 60 * size_scale, 300 * size_scale, 9, 0);
    transpose(3, 700, 700, 9, 5000 * size_scale);
    transpose(1, 20, 66000, 30, 100000);
    transpose(2, 5, 7, 0, 0);
    transpose_bad();
    adjoint();
}
