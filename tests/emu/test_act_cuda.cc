/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise passes on the emulated device: the CPU's bits; layer norm close to them, and the
 * same on any grid. */
#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/act.h"
#include "tap.h"

namespace
{

struct Shape {
    uint32_t n;
    size_t d, off;
};
const Shape shapes[] = {{0, 5, 0},   {1, 1, 0},     {70, 3, 1},  {40, 17, 0}, {33, 47, 0},
                        {20, 64, 0}, {65, 64, 1},   {64, 5, 0},  {9, 100, 0}, {7, 128, 3},
                        {6, 130, 0}, {130, 145, 0}, {5, 256, 0}, {3, 1000, 0}};

/* Another order of threads and another grid for each try. */
void vary(uint64_t seed)
{
    emu::set_seed(seed);
    emu::grid_max = seed == 1 ? 2 : 5 * (unsigned)seed;
}

void copy(Array<float> &to, Array<float> &from)
{
    memcpy(to.data(), from.data(), from.n * sizeof(float));
}

void poison(Array<float> &x)
{
    if (x.n < 5)
        return;
    x[1] = NAN, x[2] = INFINITY, x[3] = -INFINITY, x[4] = -0.0f;
}

void test_bias_act(const Shape &s)
{
    Random r(s.n + s.d);
    Array<float> x(s.n * s.d), bias(s.d), want(s.n * s.d);
    Array<uint32_t> node(s.n);
    r.numbers(x), r.numbers(bias), poison(x);
    for (uint32_t i = 0; i < s.n; i++)
        node[i] = r.next();
    size_t wrong = 0;
    for (unsigned t = 0; t < 24; t++) {
        const gnn_act act = (gnn_act)(t / 2 % 4);
        const gnn_dropout q = {{r.next(), r.next()}, node.data(), t % 3 == 1 ? 40000u : 0};
        const gnn_dropout *drop = t % 3 ? &q : nullptr; /* t % 3 == 2: a rate of 0 */
        const float *b = t & 1 ? bias.data() : nullptr;
        Array<float> y(s.n * s.d, s.off);
        copy(want, x), copy(y, x);
        const bool more = t / 8 == 1;
        vary(t % 3 + 1);
        gnn_bias_act(want.data(), s.n, s.d, b, act, drop);
        gnn_cuda_bias_act(y.data(), more ? &s.n : nullptr, s.n + (more ? 300 : 0), s.d, b, act,
                          drop, nullptr);
        wrong += differences(y.data(), want.data(), y.n) + !y.whole();
        Array<float> dy(s.n * s.d, s.off), dw(s.n * s.d);
        r.numbers(dy), copy(dw, dy);
        gnn_act_back(dw.data(), want.data(), s.n, s.d, act, 1.25f, drop);
        gnn_cuda_act_back(dy.data(), y.data(), more ? &s.n : nullptr, s.n + (more ? 300 : 0), s.d,
                          act, 1.25f, drop, nullptr);
        wrong += differences(dy.data(), dw.data(), dy.n) + !dy.whole();
    }
    ok(wrong == 0,
       "gnn_cuda_bias_act and gnn_cuda_act_back give the bits of the CPU for each function, (%u, "
       "%zu)",
       s.n, s.d);
}

void test_dropout_copy(const Shape &s)
{
    Random r(s.n + s.d);
    Array<float> x(s.n * s.d), want(s.n * s.d), dy(s.n * s.d, s.off), dw(s.n * s.d);
    Array<uint32_t> node(s.n);
    r.numbers(x);
    for (uint32_t i = 0; i < s.n; i++)
        node[i] = i * 3;
    const gnn_dropout q = {{1, 2}, node.data(), 32768};
    gnn_dropout_copy(x.data(), s.n, s.d, &q, want.data());
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Array<float> y(s.n * s.d, s.off);
        vary(seed);
        gnn_cuda_dropout_copy(x.data(), nullptr, s.n, s.d, &q, y.data(), nullptr);
        wrong += differences(y.data(), want.data(), y.n) + !y.whole();
        r.numbers(dy), copy(dw, dy);
        poison(y);
        gnn_cuda_act_back(dy.data(), y.data(), &s.n, s.n * 2, s.d, GNN_ACT_RELU, 2.5f, nullptr,
                          nullptr);
        gnn_act_back(dw.data(), y.data(), s.n, s.d, GNN_ACT_RELU, 2.5f, nullptr);
        wrong += differences(dy.data(), dw.data(), dy.n) + !dy.whole();
    }
    ok(wrong == 0,
       "gnn_cuda_dropout_copy and gnn_cuda_act_back give the bits of the CPU, (%u, %zu)", s.n, s.d);
}

void test_colsum(const Shape &s)
{
    Random r(s.n * 3 + s.d);
    Array<float> x(s.n * s.d), work(GNN_COLSUM_BLOCKS * s.d), was(s.d), want(s.d);
    r.numbers(x), r.numbers(was);
    for (size_t i = 0; i < s.n; i++)
        x[i * s.d] = -0.0f;
    was[0] = -0.0f;
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Array<float> out(s.d), w(GNN_COLSUM_BLOCKS * s.d);
        copy(want, was), copy(out, was);
        vary(seed);
        gnn_colsum(x.data(), s.n, s.d, work.data(), want.data(), seed & 1);
        gnn_cuda_colsum(x.data(), &s.n, s.n * (uint32_t)seed, s.d, w.data(), out.data(), seed & 1,
                        nullptr);
        wrong += differences(out.data(), want.data(), s.d) + !out.whole() + !w.whole();
    }
    ok(wrong == 0, "gnn_cuda_colsum gives the bits of the CPU, (%u, %zu)", s.n, s.d);
}

void test_norm(const Shape &s)
{
    Random r(s.n + 7 * s.d);
    const size_t size = s.n * s.d;
    Array<float> x(size), ga(s.d), be(s.d), y(size), h(size), rs(s.n), dy(size), dg(s.d), db(s.d);
    Array<float> work(GNN_COLSUM_BLOCKS * s.d), g0(size), dx(size), first(size), firstdx(size);
    r.numbers(x), r.numbers(ga), r.numbers(be), r.numbers(g0);
    for (size_t i = 0; i < size; i++)
        x[i] = 3 * x[i] + 0.5f;
    gnn_layer_norm(x.data(), s.n, s.d, ga.data(), be.data(), 1e-5f, h.data(), rs.data(), y.data());
    dg.fill(0.25f), db.fill(0.5f), copy(dx, g0);
    gnn_layer_norm_back(dx.data(), h.data(), rs.data(), s.n, s.d, ga.data(), dg.data(), db.data(),
                        work.data());
    double far = 0;
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Array<float> y2(size, s.off), h2(size), rs2(s.n), dx2(size, s.off), dg2(s.d), db2(s.d);
        Array<float> work2(GNN_COLSUM_BLOCKS * s.d);
        vary(seed);
        copy(y2, x); /* in place */
        gnn_cuda_layer_norm(y2.data(), &s.n, s.n + 100, s.d, ga.data(), be.data(), 1e-5f,
                            seed == 2 ? nullptr : h2.data(), rs2.data(), y2.data(), nullptr);
        far = fmax(far, distance(y2.data(), y.data(), size));
        /* rstd of a constant row is large: it counts by its own size */
        far = fmax(far, distance(rs2.data(), rs.data(), s.n));
        far = fmax(far, seed == 2 ? 0 : distance(h2.data(), h.data(), size));
        dg2.fill(0.25f), db2.fill(0.5f), copy(dx2, g0);
        gnn_cuda_layer_norm_back(dx2.data(), h.data(), rs.data(), nullptr, s.n, s.d, ga.data(),
                                 dg2.data(), db2.data(), work2.data(), nullptr);
        far = fmax(far, s.d > 1 ? distance(dx2.data(), dx.data(), size) : 0);
        wrong += differences(dg2.data(), dg.data(), s.n ? s.d : 0) +
                 differences(db2.data(), db.data(), s.n ? s.d : 0);
        if (seed > 1)
            wrong += differences(y2.data(), first.data(), size) +
                     differences(dx2.data(), firstdx.data(), size);
        copy(first, y2), copy(firstdx, dx2);
        wrong += !y2.whole() + !h2.whole() + !rs2.whole() + !dx2.whole() + !dg2.whole() +
                 !db2.whole() + !work2.whole();
    }
    ok(wrong == 0 && far < 1e-5,
       "gnn_cuda_layer_norm and its backward pass, (%u, %zu), are within %g on any grid", s.n, s.d,
       far);
}

} // namespace

int main()
{
    for (const Shape &s : shapes) {
        test_bias_act(s);
        test_dropout_copy(s);
        test_colsum(s);
        test_norm(s);
    }
    for (uint32_t n : {64u * 64, 64u * 64 + 1,
                       9000u}) /* several chunks of rows in flight, with and without a rest */
        test_colsum({n, 3, 0}), test_norm({n, 3, 0});
    return tap_done();
}
