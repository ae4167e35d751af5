/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on the emulated device: the CPU's bits. */
#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/message.h"
#include "tap.h"

namespace
{

/* A layer of two blocks, one of them with wide offsets, which start anywhere; rows of no block
 * before, between and behind them, rows without edges, a long row, edges that are there twice; and
 * the transposed block. */
struct Graph {
    std::vector<uint32_t> ptr[2], idx[2], tptr, tidx, tedge;
    std::vector<uint64_t> wide;
    gnn_csr block[2], back;
    uint32_t rows, cols, edges;

    Graph(Random &r, uint32_t n, uint32_t ncols, uint32_t degree, uint32_t longest)
        : rows(2), cols(ncols), edges(0)
    {
        for (uint32_t b = 0; b < 2; b++) {
            const uint32_t start = 3 * b;
            ptr[b].push_back(start);
            idx[b].assign(start, UINT32_MAX);
            for (uint32_t i = 0; i < n; i++) {
                const uint32_t deg = i == 1 ? longest : r.below(3) ? r.below(degree) : 0;
                for (uint32_t k = 0; k < deg; k++)
                    idx[b].push_back(k && r.below(4) == 0 ? idx[b].back() : r.below(cols));
                ptr[b].push_back((uint32_t)idx[b].size());
            }
            edges += ptr[b].back() - start;
            block[b] = gnn_csr{};
            block[b].first = rows, block[b].n = n;
            rows += n + 3;
        }
        wide.assign(ptr[1].begin(), ptr[1].end());
        block[0].indptr = ptr[0].data(), block[1].indptr64 = wide.data();
        block[0].indices = idx[0].data(), block[1].indices = idx[1].data();
        tptr.resize(cols + 1), tidx.resize(edges + 1), tedge.resize(edges + 1);
        gnn_csr_transpose(block, 2, cols, tptr.data(), tidx.data(), tedge.data());
        back = gnn_csr{};
        back.n = cols, back.indptr = tptr.data();
        back.indices = tidx.data(), back.edge = tedge.data();
    }
    Graph(const Graph &) = delete;
};

struct Shape {
    uint32_t n, cols, degree, longest;
    size_t d, off;
};
const Shape shapes[] = {{1, 1, 2, 0, 1, 0},       {20, 30, 9, 3, 3, 1},   {30, 50, 7, 300, 4, 0},
                        {25, 40, 12, 20, 16, 1},  {9, 30, 5, 400, 47, 0}, {20, 60, 9, 0, 64, 0},
                        {12, 20, 20, 50, 100, 0}, {6, 9, 8, 40, 257, 2},  {5, 9, 9, 10, 1000, 0}};

void vary(uint64_t seed)
{
    emu::set_seed(seed);
    emu::grid_max = seed == 1 ? 1 : 5 * (unsigned)seed;
}

void copy(Array<float> &to, Array<float> &from)
{
    memcpy(to.data(), from.data(), from.n * sizeof(float));
}

/* Numbers of which many are equal, a NaN, both infinities and both zeros. */
void special(Random &r, Array<float> &x)
{
    for (size_t i = 0; i < x.n; i++)
        x[i] = (float)((int)r.below(9) - 4) / 4 * (r.below(2) ? 1.0f : -1.0f);
    for (size_t i = 7; i + 3 < x.n; i += 101)
        x[i] = NAN, x[i + 1] = INFINITY, x[i + 2] = -INFINITY;
}

void test_max(const Shape &s)
{
    Random r(s.n + s.d);
    Graph g(r, s.n, s.cols, s.degree, s.longest);
    const size_t out = g.rows * s.d, in = g.cols * s.d;
    Array<float> x(in, s.off), want(out), dy(out, s.off), was(in), dx(in);
    Array<uint32_t> arg(out, s.off);
    special(r, x), r.numbers(dy), r.numbers(was);
    gnn_max_rows(g.block, 2, 0, g.rows, x.data(), s.d, want.data(), arg.data(), 0, false);
    copy(dx, was);
    gnn_max_back(&g.back, 1, 0, g.cols, dy.data(), arg.data(), s.d, dx.data(), 0, true);
    size_t wrong = 0;
    uint64_t bad = UINT64_MAX;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        const uint32_t from = seed == 3 ? g.rows / 3 : 0, more = seed == 2 ? 50 : 0;
        const uint32_t *count = seed == 2 ? &g.rows : nullptr;
        Array<float> y(out - from * s.d, s.off), back(in, s.off);
        Array<uint32_t> a(out - from * s.d, s.off);
        vary(seed);
        gnn_cuda_max_rows(g.block, 2, from, count, g.rows + more, x.data(), g.cols, s.d, y.data(),
                          a.data(), 0, false, &bad, nullptr);
        wrong += differences(y.data(), want.data() + from * s.d, y.n) + !y.whole() + !a.whole();
        wrong += memcmp(a.data(), arg.data() + from * s.d, a.n * sizeof(uint32_t)) != 0;
        gnn_cuda_max_rows(g.block, 2, from, count, g.rows + more, x.data(), g.cols, s.d, y.data(),
                          nullptr, 0, false, &bad, nullptr);
        wrong += differences(y.data(), want.data() + from * s.d, y.n);
        copy(back, was);
        gnn_cuda_max_back(&g.back, 1, 0, nullptr, g.cols, dy.data(), arg.data(), g.rows, s.d,
                          back.data(), 0, true, &bad, nullptr);
        wrong += differences(back.data(), dx.data(), in) + !back.whole();
    }
    gnn_max_back(&g.back, 1, g.cols / 2, g.cols, dy.data(), arg.data(), s.d, dx.data(), 0, false);
    Array<float> half((g.cols - g.cols / 2) * s.d);
    gnn_cuda_max_back(&g.back, 1, g.cols / 2, nullptr, g.cols, dy.data(), arg.data(), g.rows, s.d,
                      half.data(), 0, false, &bad, nullptr);
    wrong += differences(half.data(), dx.data(), half.n) + !half.whole();
    /* On from there, with other rows. */
    Array<float> y(out), more(in);
    Array<uint32_t> a(out);
    copy(y, want);
    memcpy(a.data(), arg.data(), out * sizeof(uint32_t));
    special(r, x);
    gnn_max_rows(g.block, 2, 0, g.rows, x.data(), s.d, want.data(), arg.data(), g.edges, true);
    gnn_cuda_max_rows(g.block, 2, 0, nullptr, g.rows, x.data(), g.cols, s.d, y.data(), a.data(),
                      g.edges, true, &bad, nullptr);
    gnn_max_back(&g.back, 1, 0, g.cols, dy.data(), arg.data(), s.d, dx.data(), g.edges, false);
    gnn_cuda_max_back(&g.back, 1, 0, nullptr, g.cols, dy.data(), a.data(), g.rows, s.d, more.data(),
                      g.edges, false, &bad, nullptr);
    wrong += differences(y.data(), want.data(), out) + differences(more.data(), dx.data(), in) +
             (memcmp(a.data(), arg.data(), out * sizeof(uint32_t)) != 0);
    ok(!wrong && bad == UINT64_MAX,
       "gnn_cuda_max_rows and gnn_cuda_max_back give the bits of the CPU for %u edges, %zu columns",
       g.edges, s.d);
}

/* The messages of edges, all at once or by ranges of rows, whose edges' rows are there meanwhile.
 */
void test_edge_relu(const Shape &s)
{
    Random r(s.n * 3 + s.d);
    Graph g(r, s.n, s.cols, s.degree, s.longest);
    const size_t out = g.rows * s.d, in = g.cols * s.d, all = g.edges * s.d;
    Array<float> x(in, s.off), z(all, s.off), want(out), dy(out, s.off), dz(all), dx(in), was(in);
    special(r, x), r.numbers(dy), r.numbers(z), r.numbers(was);
    r.numbers(want);
    Array<float> first(out);
    copy(first, want), copy(dx, was);
    gnn_edge_relu(g.block, 2, 0, g.rows, x.data(), z.data(), 0, s.d, want.data(), true);
    gnn_edge_relu_back(g.block, 2, 0, g.rows, x.data(), z.data(), 0, dy.data(), s.d, dz.data());
    gnn_edge_sum(&g.back, 1, 0, g.cols, dz.data(), 0, g.edges, s.d, dx.data(), true);
    size_t wrong = 0;
    uint64_t bad = UINT64_MAX;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Array<float> y(out, s.off), dz2(all, s.off), dx2(in, s.off), dx3(in);
        copy(y, first), copy(dz2, z), copy(dx2, was), copy(dx3, was);
        const uint32_t ranges = (uint32_t)seed * 2 - 1;
        for (uint32_t k = 0, at = 0; k < ranges; k++) {
            const uint32_t from = g.rows * k / ranges, to = g.rows * (k + 1) / ranges;
            uint32_t n = 0;
            for (uint32_t b = 0; b < 2; b++)
                for (uint32_t i = 0; i < s.n; i++)
                    if (g.block[b].first + i >= from && g.block[b].first + i < to)
                        n += g.ptr[b][i + 1] - g.ptr[b][i];
            float *zk = dz2.data() + at * s.d;
            vary(seed);
            gnn_cuda_edge_relu(g.block, 2, from, nullptr, to, x.data(), g.cols, zk, at, s.d,
                               y.data() + from * s.d, true, &bad, nullptr);
            gnn_cuda_edge_relu_back(g.block, 2, from, nullptr, to, x.data(), g.cols, zk, at,
                                    dy.data() + from * s.d, s.d, zk, &bad, nullptr);
            gnn_cuda_edge_sum(&g.back, 1, 0, nullptr, g.cols, zk, at, n, s.d, dx2.data(), true,
                              nullptr);
            gnn_edge_sum(&g.back, 1, 0, g.cols, zk, at, n, s.d, dx3.data(), true);
            at += n;
        }
        wrong += differences(y.data(), want.data(), out) + !y.whole() +
                 differences(dz2.data(), dz.data(), all) + !dz2.whole() +
                 differences(dx2.data(), dx.data(), in) + !dx2.whole() +
                 differences(dx3.data(), dx.data(), in);
    }
    Array<float> sums(out), sums2(out, s.off); /* by destination, where no `edge` tells numbers */
    gnn_edge_sum(g.block, 2, 0, g.rows, z.data(), 0, g.edges, s.d, sums.data(), false);
    gnn_cuda_edge_sum(g.block, 2, 0, &g.rows, g.rows + 9, z.data(), 0, g.edges, s.d, sums2.data(),
                      false, nullptr);
    wrong += differences(sums2.data(), sums.data(), out) + !sums2.whole();
    ok(!wrong && bad == UINT64_MAX,
       "gnn_cuda_edge_relu, its gradient and gnn_cuda_edge_sum give the bits of the CPU for %u edges "
       "in any ranges, %zu columns",
       g.edges, s.d);
}

/* Means over all rows and over a part of them, of whose edges alone there are rows. */
void test_edge_means(const Shape &s)
{
    Random r(s.n * 7 + s.d);
    Graph g(r, s.n, s.cols, s.degree, s.longest);
    const uint32_t part = g.block[1].first;
    const size_t first = g.ptr[0].back() * s.d;
    Array<float> z(g.edges * s.d, s.off), want(g.rows * s.d);
    for (uint32_t i = 0; i < s.n; i++) /* edges from a row to itself, the only ones of some rows */
        for (uint32_t e = g.ptr[1][i]; e < g.ptr[1][i + 1]; e += 3)
            g.idx[1][e] = part + i;
    r.numbers(z);
    gnn_edge_means(g.block, 2, 0, g.rows, z.data(), 0, s.d, want.data());
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Array<float> y(g.rows * s.d, s.off), some((g.rows - part) * s.d, s.off);
        vary(seed);
        gnn_cuda_edge_means(g.block, 2, 0, seed == 2 ? &g.rows : nullptr, g.rows + 9 * (seed == 2),
                            z.data(), 0, s.d, y.data(), nullptr);
        gnn_cuda_edge_means(g.block, 2, part, nullptr, g.rows, z.data() + first,
                            (uint32_t)(first / s.d), s.d, some.data(), nullptr);
        wrong += differences(y.data(), want.data(), y.n) + !y.whole() + !some.whole() +
                 differences(some.data(), want.data() + part * s.d, some.n);
    }
    ok(!wrong, "gnn_cuda_edge_means gives the bits of the CPU for %u edges, %zu columns", g.edges,
       s.d);
}

/* What is left of an array that has room for more edges than there are. */
void test_edge_rest(const Shape &s)
{
    Random r(s.n * 3 + s.d);
    Graph g(r, s.n, s.cols, s.degree, s.longest);
    size_t wrong = 0;
    for (const uint32_t more : {0u, 1u, 700u}) {
        Array<float> want((g.edges + more) * s.d), z((g.edges + more) * s.d, s.off);
        r.numbers(want), copy(z, want);
        gnn_edge_rest(g.block, 2, g.edges + more, s.d, want.data());
        vary(more + 1);
        gnn_cuda_edge_rest(g.block, 2, g.edges + more, s.d, z.data(), nullptr);
        for (size_t k = 0; k < z.n; k++)
            wrong += (z[k] == 0) != (k >= g.edges * s.d);
        wrong += differences(z.data(), want.data(), z.n) + !z.whole();
    }
    ok(!wrong, "gnn_cuda_edge_rest clears what comes after %u edges, %zu columns", g.edges, s.d);
}

/* An edge to a row that X does not have is as if it were not there, and the first is reported. */
void test_bad()
{
    const size_t d = 8;
    Random r(4);
    Graph g(r, 10, 20, 9, 30);
    Array<float> x(20 * d), y(g.rows * d);
    Array<uint32_t> arg(g.rows * d);
    uint64_t bad = UINT64_MAX;
    x.fill(-1);
    const uint32_t at = g.ptr[1][1];
    g.idx[1][at] = 20, g.idx[1][at + 5] = UINT32_MAX;
    gnn_cuda_max_rows(g.block, 2, 0, nullptr, g.rows, x.data(), 20, d, y.data(), arg.data(), 0,
                      false, &bad, nullptr);
    const size_t row = (g.block[1].first + 1) * d;
    const uint32_t number = g.ptr[0].back() + at - g.ptr[1][0] + 1;
    ok(bad == (1ull << 32 | at) && y[row] == -1 && arg[row] == number && y.whole(),
       "gnn_cuda_max_rows leaves out ids out of range and reports the first");
    Array<float> z(g.edges * d), dy(g.rows * d);
    z.fill(3), dy.fill(1);
    bad = UINT64_MAX;
    gnn_cuda_edge_relu(g.block, 2, 0, nullptr, g.rows, x.data(), 20, z.data(), 0, d, y.data(),
                       false, &bad, nullptr);
    gnn_cuda_edge_relu_back(g.block, 2, 0, nullptr, g.rows, x.data(), 20, z.data(), 0, dy.data(), d,
                            z.data(), &bad, nullptr);
    ok(bad == (1ull << 32 | at) && y[row] == 2 * 28 && z[(number - 1) * d] == 0 &&
           z[number * d] == 1 && y.whole() && z.whole(),
       "gnn_cuda_edge_relu leaves out ids out of range, and their gradient is 0");
    y.fill(5), arg.fill(5);
    gnn_cuda_max_rows(nullptr, 0, 0, nullptr, 2, x.data(), 20, d, y.data(), arg.data(), 0, false,
                      &bad, nullptr);
    gnn_cuda_max_rows(g.block, 2, 3, nullptr, 3, x.data(), 20, d, y.data() + 4 * d, nullptr, 0,
                      false, &bad, nullptr);
    ok(y[0] == 0 && arg[0] == UINT32_MAX && y[2 * d - 1] == 0 && y[2 * d] == 5 && y[4 * d] == 5,
       "gnn_cuda_max_rows writes zeros or nothing without blocks or rows");
}

} // namespace

int main()
{
    for (const Shape &s : shapes)
        test_max(s), test_edge_relu(s), test_edge_means(s), test_edge_rest(s);
    test_bad();
    return tap_done();
}
