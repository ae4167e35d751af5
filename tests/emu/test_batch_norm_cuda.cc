/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm on the emulated device: the CPU's bits, on any grid. */
#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/batch_norm.h"
#include "tap.h"

namespace
{

struct Shape {
    uint32_t n;
    size_t d, off;
};
const Shape shapes[] = {{0, 5, 0},    {1, 1, 0},     {70, 3, 1},  {40, 17, 0}, {33, 47, 0},
                        {200, 64, 0}, {65, 64, 1},   {64, 5, 0},  {9, 100, 0}, {7, 128, 3},
                        {600, 6, 0},  {130, 145, 0}, {5, 256, 0}, {3, 1000, 0}};

void vary(uint64_t seed)
{
    emu::set_seed(seed);
    emu::grid_max = seed == 1 ? 2 : 5 * (unsigned)seed;
}

template <typename T> void copy(Array<T> &to, Array<T> &from)
{
    memcpy(to.data(), from.data(), from.n * sizeof(T));
}

template <typename T> size_t differ(Array<T> &a, Array<T> &b)
{
    return memcmp(a.data(), b.data(), a.n * sizeof(T)) != 0;
}

/* Everything from rows to gradients, on the CPU or the device. */
struct Pass {
    Array<double> work, sum;
    Array<float> stat, h, y, g, dg, db, mean, var, kept;
    Array<int64_t> batches;
    explicit Pass(const Shape &s)
        : work(GNN_MOMENT_BLOCKS * 2 * s.d), sum(2 * s.d), stat(GNN_BATCH_STATS * s.d),
          h(s.n * s.d), y(s.n * s.d, s.off), g(s.n * s.d, s.off), dg(s.d), db(s.d), mean(s.d),
          var(s.d), kept(GNN_BATCH_STATS * s.d), batches(1)
    {
        sum.fill(0), dg.fill(0.25f), db.fill(0.5f), mean.fill(0.125f), var.fill(2),
            batches.fill(41);
    }
    bool whole()
    {
        return work.whole() && sum.whole() && stat.whole() && h.whole() && y.whole() && g.whole() &&
               dg.whole() && db.whole() && mean.whole() && var.whole() && kept.whole() &&
               batches.whole();
    }
};

void test(const Shape &s, bool some)
{
    Random r(s.n + 7 * s.d);
    Array<float> x(s.n * s.d), ga(s.d), be(s.d), dy(s.n * s.d);
    Array<uint8_t> mask(s.n);
    r.numbers(x), r.numbers(ga), r.numbers(be), r.numbers(dy);
    for (size_t i = 0; i < x.n; i++)
        x[i] = 3 * x[i] + (float)(i % s.d);
    double rows = some ? 0 : s.n;
    for (uint32_t i = 0; i < s.n; i++)
        rows += some ? mask[i] = r.below(3) != 0 : 0;
    const uint8_t *count = some ? mask.data() : nullptr;
    rows = rows < 2 ? 2 : rows;
    Pass want(s);
    copy(want.y, x), copy(want.g, dy);
    for (int part = 0; part < 2; part++) /* added up */
        gnn_moments(x.data(), x.data(), count, s.n, s.d, want.work.data(), want.sum.data());
    gnn_batch_stats(want.sum.data(), 2 * rows, s.d, 1e-5f, want.stat.data());
    gnn_batch_norm(want.y.data(), s.n, s.d, want.stat.data(), ga.data(), be.data(), want.h.data(),
                   want.y.data());
    gnn_batch_track(want.stat.data(), s.d, 0.1f, want.mean.data(), want.var.data(),
                    want.batches.data());
    gnn_running_stats(want.mean.data(), want.var.data(), s.d, 1e-5f, want.kept.data());
    want.sum.fill(0);
    gnn_moments(dy.data(), want.h.data(), nullptr, s.n, s.d, want.work.data(), want.sum.data());
    gnn_batch_norm_grads(want.sum.data(), s.d, want.dg.data(), want.db.data());
    gnn_batch_back_stats(want.sum.data(), rows, s.d, want.stat.data());
    gnn_batch_norm_back(want.g.data(), want.h.data(), count, s.n, s.d, want.stat.data(), ga.data());
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Pass got(s);
        const uint32_t *n = seed == 1 ? nullptr : &s.n, cap = s.n + (seed == 1 ? 0 : 100);
        vary(seed);
        copy(got.y, x), copy(got.g, dy);
        for (int part = 0; part < 2; part++)
            gnn_cuda_moments(x.data(), x.data(), count, n, cap, s.d, got.work.data(),
                             got.sum.data(), nullptr);
        gnn_cuda_batch_stats(got.sum.data(), 2 * rows, s.d, 1e-5f, got.stat.data(), nullptr);
        gnn_cuda_batch_norm(got.y.data(), n, cap, s.d, got.stat.data(), ga.data(), be.data(),
                            got.h.data(), got.y.data(), nullptr);
        Array<float> plain(s.n * s.d);
        gnn_cuda_batch_norm(x.data(), n, cap, s.d, got.stat.data(), ga.data(), be.data(), nullptr,
                            plain.data(), nullptr);
        gnn_cuda_batch_track(got.stat.data(), s.d, 0.1f, got.mean.data(), got.var.data(),
                             got.batches.data(), nullptr);
        gnn_cuda_running_stats(got.mean.data(), got.var.data(), s.d, 1e-5f, got.kept.data(),
                               nullptr);
        got.sum.fill(0);
        gnn_cuda_moments(dy.data(), got.h.data(), nullptr, n, cap, s.d, got.work.data(),
                         got.sum.data(), nullptr);
        gnn_cuda_batch_norm_grads(got.sum.data(), s.d, got.dg.data(), got.db.data(), nullptr);
        gnn_cuda_batch_back_stats(got.sum.data(), rows, s.d, got.stat.data(), nullptr);
        gnn_cuda_batch_norm_back(got.g.data(), got.h.data(), count, n, cap, s.d, got.stat.data(),
                                 ga.data(), nullptr);
        wrong += differ(got.sum, want.sum) + differ(got.stat, want.stat) + differ(got.y, want.y) +
                 differ(got.h, want.h) + differ(got.g, want.g) + differ(got.dg, want.dg) +
                 differ(got.db, want.db) + differ(got.mean, want.mean) + differ(got.var, want.var) +
                 differ(got.batches, want.batches) + !got.whole() + !plain.whole();
        wrong += memcmp(plain.data(), want.y.data(), plain.n * sizeof(float)) != 0;
        wrong += memcmp(got.kept.data(), want.kept.data(), 2 * s.d * sizeof(float)) != 0;
    }
    ok(wrong == 0 && want.batches[0] == 42,
       "batch norm and its backward pass on a device give the bits of the CPU, (%u, %zu)%s", s.n,
       s.d, some ? ", where some rows count" : "");
}

/* Moments alone: chunks of rows in flight and a rest, zeros with a sign, anything in rows that do
 * not count. */
void test_moments(uint32_t n, bool some)
{
    const size_t d = 3;
    Random r(n);
    Array<float> x(n * d), by(n * d);
    Array<uint8_t> mask(n);
    Array<double> work(GNN_MOMENT_BLOCKS * 2 * d), sum(2 * d), want(2 * d);
    r.numbers(x), r.numbers(by);
    for (uint32_t i = 0; i < n; i++) {
        mask[i] = !some || r.below(3) != 0;
        x[i * d] = -0.0f;
        x[i * d + 1] = mask[i] ? x[i * d + 1] : NAN;
        by[i * d + 2] = mask[i] ? by[i * d + 2] : INFINITY;
    }
    const uint8_t *count = some ? mask.data() : nullptr;
    want.fill(-0.0), sum.fill(-0.0);
    gnn_moments(x.data(), by.data(), count, n, d, work.data(), want.data());
    vary(n);
    gnn_cuda_moments(x.data(), by.data(), count, nullptr, n, d, work.data(), sum.data(), nullptr);
    ok(!differ(sum, want) && sum.whole() && work.whole(),
       "gnn_cuda_moments gives the bits of the CPU for %u rows%s", n,
       some ? ", some of which count" : "");
}

} // namespace

int main()
{
    for (const Shape &s : shapes) {
        test(s, false);
        test(s, true);
    }
    for (uint32_t n : {2u, 64u * 32, 64u * 32 + 1, 5000u})
        test_moments(n, false), test_moments(n, true);
    return tap_done();
}
