/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of classes on the emulated device: the CPU's bits. */
#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/weight.h"
#include "tap.h"

namespace
{

void test_weights(size_t n, size_t c, double total)
{
    Random r(n + c);
    Array<int32_t> cls(n);
    Array<float> target(n), weight(c), w(n), v(n), z(n * c), want(n * c);
    Array<double> loss(n), l(n), sum(1);
    for (size_t i = 0; i < n; i++) {
        cls[i] = (int32_t)r.below((uint32_t)c + 3) - 1;
        target[i] = r.below(5) ? (float)r.below(3) / 2 : NAN;
        loss[i] = (double)r.number();
    }
    for (size_t k = 0; k < c; k++)
        weight[k] = (float)k + 0.3f;
    r.numbers(z);
    sum[0] = total;
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Array<float> got(n), by(n), dz(n * c);
        emu::set_seed(seed);
        emu::grid_max = seed == 1 ? 1 : 5 * (unsigned)seed;
        gnn_class_weights(cls.data(), n, c, weight.data(), w.data());
        gnn_cuda_class_weights(cls.data(), n, c, weight.data(), got.data(), nullptr);
        wrong += differences(got.data(), w.data(), n);
        gnn_target_weights(target.data(), n, weight.data(), v.data());
        gnn_cuda_target_weights(target.data(), n, weight.data(), by.data(), nullptr);
        wrong += differences(by.data(), v.data(), n);
        memcpy(want.data(), z.data(), n * c * sizeof(float));
        memcpy(dz.data(), z.data(), n * c * sizeof(float));
        memcpy(l.data(), loss.data(), n * sizeof(double));
        gnn_weigh_rows(w.data(), n, c, sum.data(), 17, loss.data(), want.data());
        gnn_cuda_weigh_rows(w.data(), n, c, sum.data(), 17, l.data(), dz.data(), nullptr);
        wrong += differences(dz.data(), want.data(), n * c) +
                 (memcmp(l.data(), loss.data(), n * sizeof(double)) != 0);
        gnn_weigh_rows(w.data(), n, c, sum.data(), 17, loss.data(), nullptr);
        gnn_cuda_weigh_rows(w.data(), n, c, sum.data(), 17, l.data(), nullptr, nullptr);
        wrong += (memcmp(l.data(), loss.data(), n * sizeof(double)) != 0);
        wrong += !got.whole() + !by.whole() + !dz.whole() + !l.whole();
    }
    for (size_t i = 0; i < n; i++)
        wrong += (cls[i] < 0 || cls[i] >= (int32_t)c) && (w[i] != 0 || want[i * c] != 0);
    for (size_t i = 0; total == 0 && i < n; i++)
        wrong += loss[i] != 0;
    ok(wrong == 0,
       "weights of %zu classes on a device give the bits of the CPU for %zu rows of total %g", c, n,
       total);
}

} // namespace

int main()
{
    for (size_t n : {0u, 1u, 300u, 3000u})
        for (size_t c : {2u, 7u, 65u})
            test_weights(n, c, 3.7);
    test_weights(50, 3, 0);
    return tap_done();
}
