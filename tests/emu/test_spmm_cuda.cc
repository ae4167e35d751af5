/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregation and transposed blocks on the emulated device: the CPU's bits. */
#include <algorithm>

#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/spmm.h"
#include "tap.h"

namespace
{

/* A layer of blocks with gaps between them, some without rows. */
struct Graph {
    std::vector<std::vector<uint32_t>> ptr, idx;
    std::vector<std::vector<uint64_t>> wide; /* the same offsets, of every second block */
    std::vector<gnn_csr> block;
    uint32_t rows = 0, cols = 0, edges = 0;
};

Graph make(Random &r, uint32_t nblocks, uint32_t rows, uint32_t cols, uint32_t degree, uint32_t big)
{
    Graph g;
    g.ptr.resize(nblocks);
    g.wide.resize(nblocks);
    g.idx.resize(nblocks);
    for (uint32_t b = 0; b < nblocks; b++) {
        const uint32_t n = nblocks > 2 && b == 1 ? 0 : rows,
                       start = b * 5; /* offsets may start anywhere */
        g.ptr[b].push_back(start);
        g.idx[b].reserve(start + 1); /* not NULL */
        g.idx[b].resize(start, UINT32_MAX);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t deg = i == 2 && big ? big
                                 : degree      ? r.below(degree) * (r.below(4) != 0)
                                               : 0;
            for (uint32_t k = 0; k < deg; k++)
                g.idx[b].push_back(r.below(3) ? r.below(cols) : r.below(1 + cols / 50));
            g.ptr[b].push_back((uint32_t)g.idx[b].size());
        }
        g.rows += b % 2 * 3; /* rows of no block */
        g.wide[b].assign(g.ptr[b].begin(), g.ptr[b].end());
        gnn_csr a = {};
        a.first = g.rows, a.n = n, a.indices = g.idx[b].data();
        a.indptr = b % 2 ? nullptr : g.ptr[b].data();
        a.indptr64 = b % 2 ? g.wide[b].data() : nullptr;
        g.block.push_back(a);
        g.rows += n;
        g.edges += (uint32_t)g.idx[b].size() - start;
    }
    g.cols = cols;
    return g;
}

/* The CPU's result, and what is said of rows in no block. */
void expect(const Graph &g, const float *x, size_t ldx, size_t d, float *y, size_t ldy, int acc)
{
    std::vector<bool> in(g.rows, false);
    for (const gnn_csr &a : g.block) {
        gnn_spmm(&a, x, ldx, d, y, ldy, acc);
        for (uint32_t i = 0; i < a.n; i++)
            in[a.first + i] = true;
    }
    for (uint32_t i = 0; i < g.rows; i++)
        for (size_t j = 0; !in[i] && j < d; j++) {
            const gnn_csr &a = g.block[0];
            y[i * ldy + j] = (acc ? y[i * ldy + j] : 0) +
                             (a.diag && i < a.ndiag ? a.diag[i] * x[i * ldx + j] : 0);
        }
}

struct Shape {
    uint32_t nblocks, rows, cols, degree, big;
    size_t d, padx, pady, offx, offy;
    int factors, acc;
};

void test_shape(const Shape &s)
{
    Random r(s.rows + s.d);
    Graph g = make(r, s.nblocks, s.rows, s.cols, s.degree, s.big);
    const size_t ldx = s.d + s.padx, ldy = s.d + s.pady;
    const uint32_t xrows = s.cols > g.rows ? s.cols : g.rows;
    Array<float> x(xrows * ldx, s.offx), row(g.rows), col(xrows), diag(g.rows), was(g.rows * ldy),
        want(g.rows * ldy);
    size_t most = 0; /* offsets end below this */
    for (const std::vector<uint32_t> &idx : g.idx)
        most = std::max(most, idx.size());
    Array<float> value(most);
    Array<uint32_t> edge(most);
    r.numbers(x), r.numbers(row), r.numbers(col), r.numbers(diag), r.numbers(was), r.numbers(value);
    for (uint32_t i = 0; i < most; i++)
        edge[i] = (uint32_t)most - 1 - i;
    for (gnn_csr &a : g.block) {
        a.value = s.factors & 8 ? value.data() : nullptr;
        a.edge = s.factors & 16 ? edge.data() : nullptr;
        a.row = s.factors & 1 ? row.data() : nullptr;
        a.col = s.factors & 2 ? col.data() : nullptr;
        a.diag = s.factors & 4 ? diag.data() : nullptr;
        a.ndiag = s.factors & 4 ? g.rows - g.rows / 4 : 0;
    }
    memcpy(want.data(), was.data(), was.n * sizeof(float));
    expect(g, x.data(), ldx, s.d, want.data(), ldy, s.acc);
    size_t bad = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Array<float> y(was.n, s.offy);
        uint64_t status = UINT64_MAX;
        memcpy(y.data(), was.data(), was.n * sizeof(float));
        emu::set_seed(seed);
        emu::grid_max = seed == 1 ? 1 : 5 * (unsigned)seed;
        gnn_cuda_spmm(g.block.data(), s.nblocks, 0, seed == 1 ? nullptr : &g.rows,
                      g.rows * (uint32_t)seed, x.data(), xrows, ldx, s.d, y.data(), ldy, s.acc,
                      &status, nullptr);
        bad += differences(y.data(), want.data(), was.n) + !y.whole() + (status != UINT64_MAX);
        const uint32_t first = g.rows / (uint32_t)(seed + 1); /* only the rows from here on */
        Array<float> z((g.rows - first) * ldy, s.offy);
        memcpy(z.data(), was.data() + first * ldy, z.n * sizeof(float));
        gnn_cuda_spmm(g.block.data(), s.nblocks, first, seed == 1 ? nullptr : &g.rows,
                      g.rows * (uint32_t)seed, x.data(), xrows, ldx, s.d, z.data(), ldy, s.acc,
                      &status, nullptr);
        bad += differences(z.data(), want.data() + first * ldy, z.n) + !z.whole() +
               (status != UINT64_MAX);
    }
    ok(bad == 0,
       "gnn_cuda_spmm gives the bits of the CPU for %u blocks of %u rows, degree %u and %u, "
       "%zu columns, factors %d, acc %d",
       s.nblocks, s.rows, s.degree, s.big, s.d, s.factors, s.acc);
}

void test_long()
{
    Random r(7);
    Graph g = make(r, 1, 4, 300, 9, 100000);
    const size_t d = 12;
    Array<float> x(300 * d), y(g.rows * d), want(g.rows * d);
    uint64_t bad = UINT64_MAX;
    r.numbers(x);
    gnn_spmm(g.block.data(), x.data(), d, d, want.data(), d, 0);
    gnn_cuda_spmm(g.block.data(), 1, 0, nullptr, g.rows, x.data(), 300, d, d, y.data(), d, 0, &bad,
                  nullptr);
    ok(!differences(y.data(), want.data(), y.n) && y.whole() && bad == UINT64_MAX,
       "gnn_cuda_spmm aggregates a row of 100,000 edges");
}

void test_special()
{
    const size_t d = 8;
    Random r(3);
    Graph g = make(r, 1, 40, 50, 400, 300);
    Array<float> x(50 * d), y(g.rows * d), want(g.rows * d);
    uint64_t bad = UINT64_MAX;
    r.numbers(x);
    x[3 * d + 1] = NAN, x[5 * d + 2] = INFINITY, x[9 * d + 3] = -INFINITY, x[7 * d + 3] = INFINITY;
    gnn_spmm(g.block.data(), x.data(), d, d, want.data(), d, 0);
    gnn_cuda_spmm(g.block.data(), 1, 0, nullptr, g.rows, x.data(), 50, d, d, y.data(), d, 0, &bad,
                  nullptr);
    ok(!differences(y.data(), want.data(), y.n) && std::isnan(y[2 * d + 1]),
       "gnn_cuda_spmm lets NaN and infinity through");

    /* two bad ones in a long row: left out, the first reported */
    const uint32_t at = g.ptr[0][2] + 17, later = g.ptr[0][2] + 290;
    g.idx[0][later] = 50;
    g.idx[0][at] = UINT32_MAX;
    x.fill(1);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        emu::set_seed(seed);
        emu::grid_max = seed == 1 ? 1 : 5 * (unsigned)seed;
        bad = UINT64_MAX;
        gnn_cuda_spmm(g.block.data(), 1, 0, nullptr, g.rows, x.data(), 50, d, d, y.data(), d, 0,
                      &bad, nullptr);
        ok(bad == at && y[2 * d] == 298 && y.whole(),
           "gnn_cuda_spmm leaves out ids out of range and reports the first");
    }
    const gnn_csr none = {};
    y.fill(5);
    gnn_cuda_spmm(&none, 1, 0, nullptr, 3, x.data(), 50, d, d, y.data(), d, 0, &bad, nullptr);
    gnn_cuda_spmm(nullptr, 0, 0, nullptr, 0, x.data(), 50, d, d, y.data(), d, 0, &bad, nullptr);
    gnn_cuda_spmm(nullptr, 0, 0, nullptr, 2, x.data(), 50, d, d, y.data() + 5 * d, d, 0, &bad,
                  nullptr);
    ok(y[0] == 0 && y[3 * d - 1] == 0 && y[3 * d] == 5 && y[5 * d] == 0 && y[7 * d] == 5,
       "gnn_cuda_spmm writes zeros or nothing without rows or blocks");
}

/* Bad indices anywhere, with factors in the second block only, and whole rows of them, are as if
 * they were not there. Zeros have the CPU's sign. */
void test_bad(size_t d, bool weighted)
{
    Random r(d);
    Graph g = make(r, 2, 30, 50, 40, 300), good;
    Array<float> x(50 * d), col(50), y(g.rows * d), want(g.rows * d);
    uint64_t first = UINT64_MAX;
    r.numbers(x), r.numbers(col);
    for (size_t i = 0; i < x.n; i++)
        x[i] = i % d % 3 == 0 || i % 5 == 0 ? -0.0f : x[i];
    good.ptr.resize(2), good.idx.resize(2), good.rows = g.rows;
    for (uint32_t b = 0; b < 2; b++) {
        good.ptr[b].push_back(0), good.idx[b].reserve(1);
        for (uint32_t i = 0; i < g.block[b].n; i++) {
            for (uint32_t e = g.ptr[b][i]; e < g.ptr[b][i + 1]; e++)
                if ((r.below(8) && i % 7 != 3) || (weighted && b == 0)) {
                    good.idx[b].push_back(g.idx[b][e]);
                } else {
                    g.idx[b][e] = r.below(2) ? UINT32_MAX : 50;
                    first = std::min(first, (uint64_t)b << 32 | e);
                }
            good.ptr[b].push_back((uint32_t)good.idx[b].size());
        }
        g.block[b].col = weighted ? col.data() : nullptr;
        good.block.push_back(g.block[b]);
        good.block[b].indptr = good.ptr[b].data(), good.block[b].indices = good.idx[b].data();
    }
    expect(good, x.data(), d, d, want.data(), d, 0);
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        uint64_t bad = UINT64_MAX;
        emu::set_seed(seed);
        emu::grid_max = seed == 1 ? 1 : 5 * (unsigned)seed;
        y.fill(7);
        gnn_cuda_spmm(g.block.data(), 2, 0, nullptr, g.rows, x.data(), 50, d, d, y.data(), d, 0,
                      &bad, nullptr);
        wrong += differences(y.data(), want.data(), y.n) + !y.whole() + (bad != first);
        bad = UINT64_MAX; /* the second block alone */
        gnn_cuda_spmm(&g.block[1], 1, g.block[1].first, nullptr, g.rows, x.data(), 50, d, d,
                      y.data(), d, 0, &bad, nullptr);
        wrong += differences(y.data(), want.data() + g.block[1].first * d, g.block[1].n * d) +
                 (bad > UINT32_MAX);
    }
    ok(wrong == 0 && first < UINT64_MAX,
       "gnn_cuda_spmm leaves out ids out of range anywhere, %zu columns%s", d,
       weighted ? " with factors" : "");
}

void test_transpose(uint32_t nblocks, uint32_t rows, uint32_t cols, uint32_t degree, uint32_t big)
{
    Random r(rows + cols);
    Graph g = make(r, nblocks, rows, cols, degree, big);
    if (big)
        for (uint32_t k = 0; k < big; k += 2) /* and a long column */
            g.idx[0][g.ptr[0][0] + k % (uint32_t)(g.idx[0].size() - g.ptr[0][0])] = cols - 1;
    Array<uint32_t> tptr(cols + 1), tidx(g.edges), tedge(g.edges);
    gnn_csr_transpose(g.block.data(), nblocks, cols, tptr.data(), tidx.data(), tedge.data());
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= (big > 50000 ? 1 : 3); seed++) {
        const uint32_t cap_cols = seed == 3 ? cols * 300 : cols,
                       cap = g.edges + (seed == 2 ? 5000 : 0);
        Array<uint32_t> p(cap_cols + 1), e(cap), number(cap);
        const bool numbered = seed != 2;
        Array<char> scratch(gnn_cuda_csr_transpose_scratch(cap, numbered));
        uint64_t bad = UINT64_MAX;
        emu::set_seed(seed);
        emu::grid_max = seed == 1 ? 1 : 5 * (unsigned)seed;
        gnn_cuda_csr_transpose(g.block.data(), nblocks, seed == 1 ? nullptr : &cols, cap_cols, cap,
                               p.data(), e.data(), numbered ? number.data() : nullptr,
                               scratch.data(), &bad, nullptr);
        wrong += numbered && g.edges &&
                 memcmp(number.data(), tedge.data(), g.edges * sizeof(uint32_t)) != 0;
        wrong += !number.whole();
        wrong += memcmp(p.data(), tptr.data(), (cols + 1) * sizeof(uint32_t)) != 0;
        wrong += g.edges && memcmp(e.data(), tidx.data(), g.edges * sizeof(uint32_t)) != 0;
        wrong += !p.whole() + !e.whole() + !scratch.whole() + (bad != UINT64_MAX);
    }
    ok(wrong == 0, "gnn_cuda_csr_transpose transposes %u blocks of %u rows, %u columns, %u edges",
       nblocks, rows, cols, g.edges);
}

void test_transpose_bad()
{
    Random r(5);
    Graph g = make(r, 2, 50, 20, 9, 0);
    uint32_t cols = 20;
    Array<uint32_t> want(cols + 1), widx(g.edges), p(cols + 1), e(g.edges);
    Array<char> scratch(gnn_cuda_csr_transpose_scratch(g.edges, false));
    uint64_t bad = UINT64_MAX;
    /* the second block's edge 3, and the last: out of range, gone */
    const uint32_t at = g.ptr[1][0] + 3, last = g.ptr[1][50] - 1;
    const uint32_t hidden[2] = {g.idx[1][at], g.idx[1][last]};
    g.idx[1][at] = g.idx[1][last] = cols;
    gnn_cuda_csr_transpose(g.block.data(), 2, nullptr, cols, g.edges, p.data(), e.data(), nullptr,
                           scratch.data(), &bad, nullptr);
    ok(bad == (1ull << 32 | at) && p[cols] == g.edges - 2 && p.whole() && e.whole(),
       "gnn_cuda_csr_transpose reports columns out of range");
    g.idx[1][at] = hidden[0], g.idx[1][last] = hidden[1];
    bad = UINT64_MAX;
    const uint32_t cap = g.ptr[0][50] + 3;
    Array<uint32_t> few(cap);
    gnn_cuda_csr_transpose(g.block.data(), 2, nullptr, cols, cap, p.data(), few.data(), nullptr,
                           scratch.data(), &bad, nullptr);
    ok(bad == (1ull << 32 | at) && p[cols] == cap && few.whole(),
       "gnn_cuda_csr_transpose reports edges beyond its capacity");
    bad = UINT64_MAX;
    gnn_cuda_csr_transpose(nullptr, 0, nullptr, 0, 0, p.data(), few.data(), nullptr, scratch.data(),
                           &bad, nullptr);
    ok(bad == UINT64_MAX && p[0] == 0,
       "gnn_cuda_csr_transpose writes empty lists without blocks or columns");
}

/* <A x, g> = <x, A^T g>: the backward pass is the adjoint, with edges' values by their numbers too.
 */
void test_adjoint(bool values)
{
    Random r(11);
    Graph g = make(r, 3, 60, 150, 20, 280);
    const size_t d = 20;
    const uint32_t n = 150 > g.rows ? 150 : g.rows;
    Array<float> x(n * d), y(g.rows * d), gy(g.rows * d), dx(n * d), row(g.rows), col(n),
        value(g.edges);
    Array<uint32_t> tptr(n + 1), tidx(g.edges), tedge(g.edges);
    Array<char> scratch(gnn_cuda_csr_transpose_scratch(g.edges, values));
    std::vector<std::vector<float>> of(3); /* each block's, at its offsets */
    uint64_t bad = UINT64_MAX;
    size_t number = 0;
    r.numbers(x), r.numbers(gy), r.numbers(row), r.numbers(col), r.numbers(value);
    for (uint32_t b = 0; b < 3; b++) {
        gnn_csr &a = g.block[b];
        of[b].resize(g.idx[b].size() + 1);
        for (uint32_t e = g.ptr[b][0]; e < g.ptr[b][a.n]; e++)
            of[b][e] = value[number++];
        a.row = row.data(), a.col = col.data(), a.value = values ? of[b].data() : nullptr;
    }
    gnn_cuda_spmm(g.block.data(), 3, 0, nullptr, g.rows, x.data(), n, d, d, y.data(), d, 0, &bad,
                  nullptr);
    gnn_cuda_csr_transpose(g.block.data(), 3, nullptr, n, g.edges, tptr.data(), tidx.data(),
                           values ? tedge.data() : nullptr, scratch.data(), &bad, nullptr);
    gnn_csr t = {};
    t.n = n, t.indptr = tptr.data(), t.indices = tidx.data(), t.row = col.data();
    t.col = row.data(), t.value = values ? value.data() : nullptr;
    t.edge = values ? tedge.data() : nullptr;
    gnn_cuda_spmm(&t, 1, 0, nullptr, n, gy.data(), g.rows, d, d, dx.data(), d, 0, &bad, nullptr);
    double a = 0, b = 0;
    for (size_t i = 0; i < g.rows * d; i++)
        a += (double)y[i] * (double)gy[i];
    for (size_t i = 0; i < n * d; i++)
        b += (double)x[i] * (double)dx[i];
    ok(std::fabs(a - b) < 1e-3 && std::fabs(a) > 0.1 && bad == UINT64_MAX && number == g.edges,
       "gnn_cuda_spmm by a transposed block is the adjoint%s (%g, %g)",
       values ? ", with values of edges" : "", a, b);
}

} // namespace

int main()
{
    const Shape shapes[] = {
        {1, 1, 1, 2, 0, 1, 0, 0, 0, 0, 0, 0},         {1, 40, 30, 7, 0, 1, 0, 3, 0, 1, 7, 0},
        {3, 30, 80, 20, 300, 2, 1, 0, 1, 0, 7, 1},    {1, 33, 50, 15, 0, 3, 0, 0, 0, 0, 1, 1},
        {2, 20, 60, 12, 257, 7, 2, 1, 3, 2, 2, 0},    {3, 25, 70, 16, 0, 16, 0, 0, 0, 0, 4, 0},
        {1, 50, 90, 10, 600, 32, 4, 8, 0, 0, 7, 1},   {3, 20, 90, 11, 0, 47, 1, 0, 0, 0, 5, 0},
        {2, 20, 90, 11, 300, 64, 0, 0, 0, 0, 3, 0},   {1, 20, 90, 11, 400, 64, 0, 0, 1, 0, 3, 1},
        {4, 15, 50, 10, 0, 100, 0, 0, 0, 0, 7, 0},    {2, 10, 50, 10, 513, 256, 0, 0, 0, 0, 7, 1},
        {1, 10, 50, 10, 300, 257, 0, 0, 0, 0, 3, 0},  {1, 5, 20, 10, 300, 1000, 0, 0, 0, 0, 7, 0},
        {1, 5, 20, 10, 0, 1000, 1, 3, 2, 2, 0, 1},    {3, 9, 20, 0, 0, 20, 0, 0, 0, 0, 7, 0},
        {3, 30, 80, 20, 300, 7, 0, 0, 0, 0, 8, 0},    {2, 33, 50, 15, 0, 3, 1, 0, 0, 0, 8, 1},
        {2, 20, 60, 12, 257, 64, 0, 0, 0, 0, 15, 0},  {3, 25, 70, 16, 300, 16, 0, 0, 0, 0, 24, 0},
        {2, 10, 50, 10, 513, 256, 0, 0, 0, 0, 31, 1}, {1, 5, 20, 10, 300, 1000, 1, 3, 2, 2, 26, 0},
    };
    for (const Shape &s : shapes)
        test_shape(s);
    test_long();
    test_special();
    for (size_t d : {3u, 8u, 47u, 200u})
        test_bad(d, false), test_bad(d, true);
    test_transpose(1, 1, 1, 2, 0);
    test_transpose(3, 40, 100, 9, 0);
    test_transpose(2, 60, 300, 9, 0);
    test_transpose(3, 700, 700, 9, 5000);
    test_transpose(1, 20, 66000, 30, 100000);
    test_transpose(2, 5, 7, 0, 0);
    test_transpose_bad();
    test_adjoint(false);
    test_adjoint(true);
    return tap_done();
}
