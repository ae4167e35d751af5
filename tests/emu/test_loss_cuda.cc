/* SPDX-License-Identifier: Apache-2.0 */
/* Losses on the emulated device: close to the CPU's, and the same on any grid. */
#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/label.h"
#include "kernels/loss.h"
#include "tap.h"

namespace
{

void vary(uint64_t seed)
{
    emu::set_seed(seed);
    emu::grid_max = seed == 1 ? 1 : 5 * (unsigned)seed;
}

double distance64(const double *a, const double *b, size_t n)
{
    double m = 0;
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) {
            const double g = fabs(a[i] - b[i]) / fmax(1, fabs(b[i]));
            m = std::isfinite(g) ? fmax(m, g) : INFINITY;
        }
    return m;
}

void logits(Random &r, Array<float> &z, size_t c)
{
    for (size_t i = 0; i < z.n; i++)
        z[i] = 10 * r.number();
    if (z.n < 6 * c)
        return;
    z[c] = NAN; /* the first of a row, and one in the middle */
    z[2 * c + c / 2] = NAN;
    z[3 * c] = INFINITY;
    z[4 * c + c - 1] = -INFINITY;
    z[5 * c] = 1e30f;
}

template <bool soft> void test_loss(uint32_t n, size_t c)
{
    Random r(n + c);
    const size_t size = n * c;
    const float scale = 0.25f;
    Array<float> z(size), want(size), target(size), first(size);
    Array<int32_t> cls(n);
    Array<double> loss(n);
    logits(r, z, c);
    for (uint32_t i = 0; i < n; i++)
        cls[i] = (int32_t)r.below((uint32_t)c + 1) - 1;
    for (size_t i = 0; i < size; i++)
        target[i] = r.below(5) ? (float)r.below(2) : NAN;
    for (size_t j = 0; n > 6 && j < c; j++)
        target[6 * c + j] = NAN; /* a row without labels */
    if (soft) {
        gnn_softmax_ce(z.data(), n, c, cls.data(), scale, loss.data(), want.data());
    } else {
        gnn_sigmoid_ce(z.data(), n, c, target.data(), scale, loss.data(), want.data());
    }
    double far = 0;
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Array<float> dz(size, seed == 2);
        Array<double> l(n), only(n);
        uint64_t bad = UINT64_MAX;
        vary(seed);
        memcpy(dz.data(), z.data(), size * sizeof(float)); /* in place */
        if (soft) {
            gnn_cuda_softmax_ce(z.data(), nullptr, n, c, cls.data(), scale, only.data(), nullptr,
                                &bad, nullptr);
            gnn_cuda_softmax_ce(dz.data(), &n, n + 50, c, cls.data(), scale, l.data(), dz.data(),
                                &bad, nullptr);
        } else {
            gnn_cuda_sigmoid_ce(z.data(), nullptr, n, c, target.data(), scale, only.data(), nullptr,
                                nullptr);
            gnn_cuda_sigmoid_ce(dz.data(), &n, n + 50, c, target.data(), scale, l.data(), dz.data(),
                                nullptr);
        }
        far = fmax(far, distance64(l.data(), loss.data(), n));
        far = fmax(far, distance(dz.data(), want.data(), size));
        wrong += (distance64(l.data(), only.data(), n) != 0) + (bad != UINT64_MAX);
        wrong += !dz.whole() + !l.whole() + !only.whole();
        if (seed > 1)
            wrong += differences(dz.data(), first.data(), size);
        memcpy(first.data(), dz.data(), size * sizeof(float));
    }
    ok(wrong == 0 && far < 1e-6,
       "the loss of %s on a device, (%u, %zu), is within %g of the CPU, always with the same bits",
       soft ? "softmax" : "sigmoid", n, c, far);
}

void test_classes()
{
    const size_t c = 7;
    const uint32_t n = 40;
    const float scale = 1;
    Random r(2);
    Array<float> z(n * c), dz(n * c);
    Array<double> loss(n);
    Array<int32_t> cls(n);
    r.numbers(z), cls.fill(3);
    cls[9] = cls[33] = INT32_MAX, cls[5] = 7, cls[2] = -1;
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        uint64_t bad = UINT64_MAX;
        vary(seed);
        gnn_cuda_softmax_ce(z.data(), nullptr, n, c, cls.data(), scale, loss.data(), dz.data(),
                            &bad, nullptr);
        wrong += bad != 5 || loss[5] != 0 || loss[33] != 0 || loss[2] != 0 || dz[5 * c] != 0 ||
                 !(loss[6] > 0);
        wrong += !dz.whole() + !loss.whole();
    }
    ok(wrong == 0,
       "gnn_cuda_softmax_ce takes classes out of range for unlabelled and reports the first row");
}

/* Of the CPU's bits. */
void test_squared(uint32_t n, size_t c)
{
    Random r(n + 31 * c);
    const size_t size = n * c;
    Array<float> z(size), y(size), want(size);
    Array<double> loss(n);
    logits(r, z, c);
    for (size_t i = 0; i < size; i++)
        y[i] = r.below(5) ? 10 * r.number() : NAN;
    for (size_t j = 0; n > 6 && j < c; j++)
        y[6 * c + j] = NAN; /* a row without labels */
    gnn_squared_error(z.data(), n, c, y.data(), 0.3f, loss.data(), want.data());
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Array<float> dz(size, seed == 2);
        Array<double> l(n), only(n);
        vary(seed);
        memcpy(dz.data(), z.data(), size * sizeof(float)); /* in place */
        gnn_cuda_squared_error(z.data(), nullptr, n, c, y.data(), 0.3f, only.data(), nullptr,
                               nullptr);
        gnn_cuda_squared_error(dz.data(), &n, n + 50, c, y.data(), 0.3f, l.data(), dz.data(),
                               nullptr);
        wrong += differences(dz.data(), want.data(), size);
        wrong += (distance64(l.data(), loss.data(), n) != 0) +
                 (distance64(only.data(), loss.data(), n) != 0);
        wrong += !dz.whole() + !l.whole() + !only.whole();
    }
    ok(wrong == 0, "gnn_cuda_squared_error has the bits of the CPU, (%u, %zu)", n, c);
}

void test_numbers()
{
    Array<double> y(6);
    Array<float> want(6), got(6);
    const double v[] = {-1, 0.1, NAN, 1e300, -3.5, 16777217};
    memcpy(y.data(), v, sizeof v);
    gnn_label_numbers(y.data(), GNN_LABEL_F64, 6, want.data());
    gnn_cuda_label_numbers(y.data(), GNN_LABEL_F64, 6, got.data(), nullptr);
    ok(differences(got.data(), want.data(), 6) == 0 && want[0] == -1 && std::isnan(want[2]) &&
           std::isinf(want[3]),
       "gnn_cuda_label_numbers has the bits of the CPU, and takes -1 for a number");
}

} // namespace

int main()
{
    const size_t classes[] = {1, 2, 7, 31, 32, 47, 64, 172, 1000};
    for (size_t c : classes) {
        test_loss<true>(c > 100 ? 9 : 70, c);
        test_loss<false>(c > 100 ? 9 : 70, c);
    }
    for (size_t c : {1u, 2u, 3u, 33u, 300u})
        test_squared(c > 100 ? 9 : 700, c);
    test_squared(0, 2);
    test_numbers();
    test_loss<true>(0, 5);
    test_loss<false>(1, 1);
    test_classes();
    return tap_done();
}
