/* SPDX-License-Identifier: Apache-2.0 */
/* Gates on the emulated device: the CPU's bits. */
#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/gate.h"
#include "tap.h"

namespace
{

void vary(unsigned i)
{
    emu::set_seed(i + 1);
    emu::grid_max = 1 + 7 * i;
}

void test_gelu()
{
    const size_t sizes[] = {0, 1, 31, 257, 40003};
    size_t wrong = 0;
    for (size_t n : sizes)
        for (unsigned k = 0; k < 2; k++) {
            Random r(n + k);
            Array<float> x(n), dy(n), y(n), y2(n, k), g(n), g2(n, k);
            for (size_t i = 0; i < n; i++) {
                x[i] = i % 97 ? 6 * r.number() : i % 2 ? INFINITY : -INFINITY;
                dy[i] = r.number();
                g[i] = g2[i] = r.number();
            }
            if (n > 3)
                x[3] = NAN;
            vary(k);
            gnn_gelu(x.data(), n, y.data());
            gnn_cuda_gelu(x.data(), n, y2.data(), nullptr);
            gnn_gelu_back(x.data(), dy.data(), n, g.data());
            gnn_cuda_gelu_back(x.data(), dy.data(), n, g2.data(), nullptr);
            wrong += differences(y.data(), y2.data(), n) + differences(g.data(), g2.data(), n) +
                     !y2.whole() + !g2.whole();
        }
    ok(wrong == 0, "gnn_cuda_gelu and gnn_cuda_gelu_back give the bits of the CPU");
}

void test_gates()
{
    const size_t sizes[] = {0, 1, 33, 5003};
    size_t wrong = 0;
    for (size_t n : sizes)
        for (unsigned k = 0; k < 16; k++) {
            Random r(n + k);
            const float skip = 3 * r.number(), dot = r.number(), *by = k & 4 ? &skip : nullptr;
            float d = 0.3f, d2 = 0.3f;
            Array<float> x(n), y(n), y2(n, k & 1);
            r.numbers(x);
            for (size_t i = 0; i < n; i++)
                y[i] = y2[i] = r.number();
            vary(k);
            gnn_gate(x.data(), n, by, k & 1, y.data(), k & 2);
            gnn_cuda_gate(x.data(), n, by, k & 1, y2.data(), k & 2, nullptr);
            gnn_gate_back(&dot, &skip, k & 1, &d);
            gnn_cuda_gate_back(&dot, &skip, k & 1, &d2, nullptr);
            wrong += differences(y.data(), y2.data(), n) + differences(&d, &d2, 1) + !y2.whole();
        }
    ok(wrong == 0, "gnn_cuda_gate and gnn_cuda_gate_back give the bits of the CPU");
}

} // namespace

int main()
{
    test_gelu();
    test_gates();
    return tap_done();
}
