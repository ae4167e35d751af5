/* SPDX-License-Identifier: Apache-2.0 */
/* Optimisers on the emulated device: the CPU's bits, step after step. */
#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/optim.h"
#include "tap.h"

namespace
{

enum Kind { ADAM, ADAMW, SGD, SGD_PLAIN };

void test_steps(Kind kind, size_t n, size_t off)
{
    Random r(n + kind);
    Array<float> p0(n), m0(n), v0(n), g(n);
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Array<float> p(n, off), m(n, off), v(n, off);
        emu::set_seed(seed);
        emu::grid_max = seed == 1 ? 1 : 4 * (unsigned)seed;
        r.numbers(p0), m0.fill(0), v0.fill(0), m.fill(0), v.fill(0);
        memcpy(p.data(), p0.data(), n * sizeof(float));
        for (uint64_t t = 1; t <= 4; t++) {
            const gnn_optim_step s = {0.01f, 0.1f, 0.9f, 0.999f, 1e-8f, 0.9f, t};
            r.numbers(g);
            if (n > 3)
                g[0] = NAN, g[1] = INFINITY, g[2] = 0;
            if (kind == ADAM || kind == ADAMW) {
                gnn_adam(p0.data(), g.data(), m0.data(), v0.data(), n, kind == ADAMW, &s);
                gnn_cuda_adam(p.data(), g.data(), m.data(), v.data(), n, kind == ADAMW, &s,
                              nullptr);
            } else {
                gnn_sgd(p0.data(), g.data(), kind == SGD ? m0.data() : nullptr, n, &s);
                gnn_cuda_sgd(p.data(), g.data(), kind == SGD ? m.data() : nullptr, n, &s, nullptr);
            }
            wrong += differences(p.data(), p0.data(), n) + differences(m.data(), m0.data(), n) +
                     differences(v.data(), v0.data(), n);
        }
        wrong += !p.whole() + !m.whole() + !v.whole();
    }
    const char *const name[] = {"Adam", "AdamW", "SGD with momentum", "SGD"};
    ok(wrong == 0, "four steps of %s on a device give the bits of the CPU for %zu parameters",
       name[kind], n);
}

void test_squares(size_t n)
{
    Random r(n);
    Array<float> g(n), cut(n);
    Array<char> work(gnn_cuda_square_sum_scratch(n));
    r.numbers(g);
    const double want = gnn_square_sum(g.data(), n);
    double first = 0, got = -1;
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        emu::set_seed(seed);
        emu::grid_max = (unsigned)seed;
        gnn_cuda_square_sum(g.data(), n, work.data(), &got, nullptr);
        wrong += (seed > 1 && got != first) + !work.whole();
        first = got;
        memcpy(cut.data(), g.data(), n * sizeof(float));
        gnn_cuda_clip(cut.data(), n, 2 * sqrt(got) + 1, &got, nullptr);
        wrong += differences(cut.data(), g.data(), n);
        gnn_cuda_clip(cut.data(), n, 0.5 * sqrt(got), &got, nullptr);
        for (size_t i = 0; i < n; i++)
            wrong += cut[i] != g[i] * 0.5f;
        wrong += !cut.whole();
    }
    ok(wrong == 0 && fabs(got - want) <= 1e-13 * want,
       "gnn_cuda_square_sum adds up %zu squares, and gnn_cuda_clip clips by them", n);
}

} // namespace

int main()
{
    for (Kind k : {ADAM, ADAMW, SGD, SGD_PLAIN})
        for (size_t n : {(size_t)0, (size_t)1, (size_t)255, (size_t)5000})
            test_steps(k, n, n % 2);
    for (size_t n : {(size_t)0, (size_t)1, (size_t)4095, (size_t)4097, (size_t)100000})
        test_squares(n);
    return tap_done();
}
