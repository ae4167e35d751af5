/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: maxima, rows of edges added to those of sources, their means. */
#include "gpu/case.h"
#include "gpu/blocks_case.h"
#include "kernels/message.h"

struct shape {
    uint32_t n, cols, degree, longest;
    size_t d;
};

static struct layer layer_for(const struct shape *s)
{
    return layer_of(2, s->n * size_scale, s->cols * size_scale, s->degree, s->longest * size_scale);
}

/* Numbers of which many are equal, and some that are none. */
static float *equals(size_t n)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    float *x = floats(n);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((int)below(9) - 4) / 4 * (below(2) ? 1.0f : -1.0f);
    for (size_t i = 7; i + 3 < n; i += 101)
        memcpy(x + i, odd, sizeof odd);
    return x;
}

/* The maximum of all rows and of those from a later one on, with and without who it was; then on
 * from there, with other rows; and the gradients, of all columns and of some. */
static void maxima(const struct shape *s)
{
    struct layer l = layer_for(s);
    const uint32_t from = l.rows / 3, half = l.cols / 2;
    const size_t d = s->d, out = l.rows * d, in = l.cols * d;
    float *x = equals(in), *x2 = equals(in), *dy = numbers(out), *y = floats(out),
          *plain = floats(out), *part = floats(out - from * d), *dx = numbers(in),
          *dx2 = floats(in), *some = floats(in - half * d), *more = floats(out);
    uint32_t *arg = array(out, sizeof *arg), *arg2 = array(out - from * d, sizeof *arg2),
             *arg3 = array(out, sizeof *arg3);
    uint64_t *bad = nothing_bad();
    while (again()) {
        const struct gnn_csr *block = blocks_at(l.block, 2), *back = blocks_at(&l.back, 1);
        const uint32_t *n = counted(l.rows), most = bound(l.rows);
        gnn_cuda_max_rows(block, 2, 0, n, most, at(x), l.cols, d, at(y), at(arg), 0, false, at(bad),
                          stream);
        gnn_cuda_max_rows(block, 2, 0, n, most, at(x), l.cols, d, at(plain), NULL, 0, false,
                          at(bad), stream);
        gnn_cuda_max_rows(block, 2, from, n, most, at(x), l.cols, d, at(part), at(arg2), 0, false,
                          at(bad), stream);
        gnn_cuda_max_back(back, 1, 0, NULL, l.cols, at(dy), at(arg), l.rows, d, at(dx), 0, true,
                          at(bad), stream);
        gnn_cuda_max_back(back, 1, half, NULL, l.cols, at(dy), at(arg), l.rows, d, at(some), 0,
                          false, at(bad), stream);
        gnn_cuda_max_rows(block, 2, 0, NULL, l.rows, at(x), l.cols, d, at(more), at(arg3), 0, false,
                          at(bad), stream);
        gnn_cuda_max_rows(block, 2, 0, NULL, l.rows, at(x2), l.cols, d, at(more), at(arg3), l.edges,
                          true, at(bad), stream);
        gnn_cuda_max_back(back, 1, 0, NULL, l.cols, at(dy), at(arg3), l.rows, d, at(dx2), l.edges,
                          false, at(bad), stream);
    }
    gnn_max_rows(l.block, 2, 0, l.rows, x, d, y, arg, 0, false);
    memcpy(plain, y, out * sizeof *y);
    memcpy(part, y + from * d, (out - from * d) * sizeof *y);
    memcpy(arg2, arg + from * d, (out - from * d) * sizeof *arg);
    gnn_max_back(&l.back, 1, 0, l.cols, dy, arg, d, dx, 0, true);
    gnn_max_back(&l.back, 1, half, l.cols, dy, arg, d, some, 0, false);
    memcpy(more, y, out * sizeof *y);
    memcpy(arg3, arg, out * sizeof *arg);
    gnn_max_rows(l.block, 2, 0, l.rows, x2, d, more, arg3, l.edges, true);
    gnn_max_back(&l.back, 1, 0, l.cols, dy, arg3, d, dx2, l.edges, false);
    verdict("maxima and their gradients: %u edges, %zu columns", l.edges, d);
}

static uint32_t edges_of(const struct layer *l, uint32_t from, uint32_t to)
{
    uint64_t n = 0;
    for (uint32_t b = 0; b < l->nblocks; b++) {
        const struct gnn_csr *a = &l->block[b];
        for (uint32_t i = 0; i < a->n; i++)
            if (a->first + i >= from && a->first + i < to)
                n += gnn_csr_offset(a, i + 1) - gnn_csr_offset(a, i);
    }
    return (uint32_t)n;
}

/* The messages of edges, all at once in the first run and in ranges of rows in the second, with the
 * rows of a range's edges alone; the CPU takes them at once, and its sums in ranges, too. */
static void edge_relu(const struct shape *s)
{
    struct layer l = layer_for(s);
    const size_t d = s->d, out = l.rows * d, in = l.cols * d, all = l.edges * d;
    float *x = equals(in), *z = numbers(all), *y = numbers(out), *dy = numbers(out),
          *dz = floats(all), *dx = numbers(in), *sums = floats(out);
    uint64_t *bad = nothing_bad();
    float *ranges = memcpy(host(in * sizeof *ranges), dx, in * sizeof *dx);
    while (again()) {
        const struct gnn_csr *block = blocks_at(l.block, 2), *back = blocks_at(&l.back, 1);
        const uint32_t parts = turn ? 5 : 1;
        for (uint32_t k = 0, first = 0; k < parts; k++) {
            const uint32_t from = l.rows * k / parts, to = l.rows * (k + 1) / parts,
                           n = edges_of(&l, from, to);
            const size_t skip = first * d;
            gnn_cuda_edge_relu(block, 2, from, NULL, to, at(x), l.cols, at(z + skip), first, d,
                               at(y + from * d), true, at(bad), stream);
            gnn_cuda_edge_relu_back(block, 2, from, NULL, to, at(x), l.cols, at(z + skip), first,
                                    at(dy + from * d), d, at(dz + skip), at(bad), stream);
            gnn_cuda_edge_sum(back, 1, 0, NULL, l.cols, at(dz + skip), first, n, d, at(dx), true,
                              stream);
            first += n;
        }
        /* by destination, where no `edge` tells numbers */
        gnn_cuda_edge_sum(block, 2, 0, counted(l.rows), bound(l.rows), at(z), 0, l.edges, d,
                          at(sums), false, stream);
    }
    gnn_edge_relu(l.block, 2, 0, l.rows, x, z, 0, d, y, true);
    gnn_edge_relu_back(l.block, 2, 0, l.rows, x, z, 0, dy, d, dz);
    gnn_edge_sum(&l.back, 1, 0, l.cols, dz, 0, l.edges, d, dx, true);
    gnn_edge_sum(l.block, 2, 0, l.rows, z, 0, l.edges, d, sums, false);
    for (uint32_t k = 0, first = 0; k < 3; k++) {
        const uint32_t n = edges_of(&l, l.rows * k / 3, l.rows * (k + 1) / 3);
        gnn_edge_sum(&l.back, 1, 0, l.cols, dz + first * d, first, n, d, ranges, true);
        first += n;
    }
    for (size_t i = 0; i < in; i++)
        expect(!memcmp(&ranges[i], &dx[i], sizeof *dx) || (isnan(ranges[i]) && isnan(dx[i])),
               "the CPU has other sums in ranges");
    verdict("messages of edges and their gradients: %u edges, %zu columns", l.edges, d);
}

/* Gradients take the place of edges' rows; means, also of the rows of the second block alone; and
 * what is left of an array with space for more edges. */
static void edge_rows(const struct shape *s)
{
    struct layer l = layer_for(s);
    const uint32_t part = l.block[1].first, more = 700 * size_scale,
                   xrows = l.cols > l.rows ? l.cols : l.rows;
    const size_t d = s->d, first = edges_of(&l, 0, part) * d, all = l.edges * d;
    uint32_t *idx = (uint32_t *)(uintptr_t)l.block[1].indices;
    for (uint32_t i = 0; i < l.block[1].n; i++) /* self-loops, the only edges of some rows */
        for (uint64_t e = gnn_csr_offset(&l.block[1], i); e < gnn_csr_offset(&l.block[1], i + 1);
             e += 3)
            idx[e] = part + i;
    float *x = numbers(xrows * d), *dy = numbers(l.rows * d), *z = numbers(all), *dz = copy(z, all),
          *y = floats(l.rows * d), *some = floats((l.rows - part) * d),
          *rest = numbers(all + more * d), *little = copy(rest, all + d), *none = copy(rest, all);
    uint64_t *bad = nothing_bad();
    while (again()) {
        const struct gnn_csr *block = blocks_at(l.block, 2);
        gnn_cuda_edge_relu_back(block, 2, 0, NULL, l.rows, at(x), xrows, at(dz), 0, at(dy), d,
                                at(dz), at(bad), stream);
        gnn_cuda_edge_means(block, 2, 0, counted(l.rows), bound(l.rows), at(z), 0, d, at(y),
                            stream);
        gnn_cuda_edge_means(block, 2, part, NULL, l.rows, at(z + first), (uint32_t)(first / d), d,
                            at(some), stream);
        gnn_cuda_edge_rest(block, 2, l.edges + more, d, at(rest), stream);
        gnn_cuda_edge_rest(block, 2, l.edges + 1, d, at(little), stream);
        gnn_cuda_edge_rest(block, 2, l.edges, d, at(none), stream);
    }
    gnn_edge_relu_back(l.block, 2, 0, l.rows, x, z, 0, dy, d, dz);
    gnn_edge_means(l.block, 2, 0, l.rows, z, 0, d, y);
    memcpy(some, y + part * d, (l.rows - part) * d * sizeof *y);
    memcpy(little, rest, all * sizeof *rest);
    gnn_edge_rest(l.block, 2, l.edges + more, d, rest);
    memset(little + all, 0, d * sizeof *little);
    for (size_t k = 0; k < all + more * d; k++)
        expect((rest[k] == 0) == (k >= all), "the CPU clears other edges");
    verdict("rows of edges: %u edges, %zu columns", l.edges, d);
}

/* An edge to a row that X does not have is as if it were not there, and the first is reported. */
static void bad_edges(void)
{
    const size_t d = 8;
    const uint32_t cols = 20;
    struct layer l = layer_of(2, 10, cols, 9, 30), good = l;
    float *x = filled(cols * d, -1), *z = filled(l.edges * d, 3), *y = floats(l.rows * d),
          *sum = floats(l.rows * d), *dy = filled(l.rows * d, 1), *dz = floats(l.edges * d);
    uint32_t *arg = array(l.rows * d, sizeof *arg);
    uint64_t *bad = nothing_bad(), *bad2 = nothing_bad(), *bad3 = nothing_bad();
    const uint64_t e = gnn_csr_offset(&l.block[1], 5), end = gnn_csr_offset(&l.block[1], 10);
    const uint32_t number = (uint32_t)(gnn_csr_edges(&l.block[0]) + e -
                                       gnn_csr_offset(&l.block[1], 0)), /* of a long row's first */
        gone[] = {number, number + 5};
    uint32_t *idx = array(end, sizeof *idx);
    memcpy(idx, l.block[1].indices, end * sizeof *idx);
    idx[e] = cols, idx[e + 5] = UINT32_MAX;
    l.block[1].indices = idx;
    while (again()) {
        const struct gnn_csr *block = blocks_at(l.block, 2);
        gnn_cuda_max_rows(block, 2, 0, NULL, l.rows, at(x), cols, d, at(y), at(arg), 0, false,
                          at(bad), stream);
        gnn_cuda_edge_relu(block, 2, 0, NULL, l.rows, at(x), cols, at(z), 0, d, at(sum), false,
                           at(bad2), stream);
        gnn_cuda_edge_relu_back(block, 2, 0, NULL, l.rows, at(x), cols, at(z), 0, at(dy), d, at(dz),
                                at(bad3), stream);
    }
    const uint32_t row = (good.block[1].first + 5);
    gnn_max_rows(good.block, 2, 0, l.rows, x, d, y, arg, 0, false);
    gnn_edge_relu(good.block, 2, 0, l.rows, x, z, 0, d, sum, false);
    gnn_edge_relu_back(good.block, 2, 0, l.rows, x, z, 0, dy, d, dz);
    for (size_t c = 0; c < d; c++) {
        arg[row * d + c] = number + 1;
        sum[row * d + c] = 2 * 28;
        dz[gone[0] * d + c] = dz[gone[1] * d + c] = 0;
    }
    *bad = *bad2 = *bad3 = UINT64_C(1) << 32 | e;
    verdict("messages leave out ids out of range");
}

static void no_blocks(void)
{
    const size_t d = 8;
    struct layer l = layer_of(2, 10, 20, 9, 30);
    float *x = numbers(20 * d), *y = filled(6 * d, 5);
    uint32_t *arg = words(6 * d);
    uint64_t *bad = nothing_bad();
    while (again()) {
        gnn_cuda_max_rows(NULL, 0, 0, NULL, 2, at(x), 20, d, at(y), at(arg), 0, false, at(bad),
                          stream);
        gnn_cuda_max_rows(blocks_at(l.block, 2), 2, 3, NULL, 3, at(x), 20, d, at(y + 4 * d), NULL,
                          0, false, at(bad), stream);
    }
    memset(y, 0, 2 * d * sizeof *y);
    memset(arg, 0xff, 2 * d * sizeof *arg);
    verdict("messages without blocks or rows");
}

void case_message(void)
{
    static const struct shape shapes[] = {
        {1, 1, 2, 0, 1},       {20, 30, 9, 3, 3},   {30, 50, 7, 300, 4},
        {25, 40, 12, 20, 16},  {9, 30, 5, 400, 47}, {20, 60, 9, 0, 64},
        {12, 20, 20, 50, 100}, {6, 9, 8, 40, 257},  {5, 9, 9, 10, 1000}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        maxima(&shapes[i]);
        edge_relu(&shapes[i]);
        edge_rows(&shapes[i]);
    }
    bad_edges();
    no_blocks();
}
