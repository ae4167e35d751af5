/* SPDX-License-Identifier: Apache-2.0 */
/* Packing of rows on the emulated device, beside its CPU twins, bit by bit. */
#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/pack.h"
#include "tap.h"

namespace
{

const size_t widths[] = {1, 5, 16, 17, 127, 128, 129, 300};
const uint32_t sizes[] = {0, 1, 3, 40, 300};

void vary(unsigned i)
{
    emu::set_seed(i + 1);
    emu::grid_max = 1 + 7 * i;
}

/* Every third row, more or less, the last first. */
void choose_rows(Array<uint32_t> &row, Random &r)
{
    for (uint32_t i = 0; i < row.n; i++)
        row[i] = 3 * ((uint32_t)row.n - 1 - i) + r.below(3);
}

void test_f32()
{
    size_t wrong = 0;
    for (uint32_t n : sizes)
        for (size_t d : widths) {
            Random r(n + (uint32_t)d);
            Array<uint32_t> row(n);
            Array<float> x(3 * n * d), y(n * d), y2(n * d, 1);
            choose_rows(row, r);
            r.numbers(x);
            vary(n % 3);
            gnn_pack_rows(x.data(), row.data(), n, d, 3.7f, y.data());
            gnn_cuda_pack_rows(x.data(), row.data(), n, d, 3.7f, y2.data(), nullptr);
            for (size_t i = 0; i < n * d; i++)
                wrong += y[i] != 3.7f * x[row[i / d] * d + i % d];
            wrong += differences(y.data(), y2.data(), n * d) + !y2.whole();
        }
    ok(wrong == 0, "gnn_cuda_pack_rows gives the bits of the CPU");
}

void test_bf16()
{
    size_t wrong = 0;
    for (uint32_t n : sizes)
        for (size_t d : widths)
            for (unsigned k = 0; k < 3; k++) {
                Random r(n + (uint32_t)d + k);
                Array<uint32_t> row(n), id(n);
                Array<float> x(3 * n * d), z(3 * n * d), z2(3 * n * d, k);
                Array<uint16_t> y(n * d), y2(n * d, k);
                choose_rows(row, r);
                for (uint32_t i = 0; i < n; i++)
                    id[i] = r.next();
                for (size_t i = 0; i < 3 * n * d; i++) { /* every exponent, NaN and infinity */
                    const uint32_t u = r.next();
                    memcpy(&x[i], &u, sizeof u);
                    z[i] = z2[i] = r.number();
                }
                const gnn_rounding q = {{r.next(), r.next()}, id.data(), r.next()};
                const uint32_t *some = k == 1 ? nullptr : row.data();
                vary(k);
                gnn_pack_bf16(x.data(), some, n, d, k ? 1 : 1.7f, &q, y.data());
                gnn_cuda_pack_bf16(x.data(), some, n, d, k ? 1 : 1.7f, &q, y2.data(), nullptr);
                wrong += n && memcmp(y.data(), y2.data(), n * d * sizeof(uint16_t));
                gnn_add_bf16_rows(y.data(), row.data(), n, d, z.data());
                gnn_cuda_add_bf16_rows(y.data(), row.data(), n, d, z2.data(), nullptr);
                wrong += differences(z.data(), z2.data(), 3 * n * d) + !y2.whole() + !z2.whole();
            }
    ok(wrong == 0, "gnn_cuda_pack_bf16 and gnn_cuda_add_bf16_rows give the bits of the CPU");
}

} // namespace

int main()
{
    test_f32();
    test_bf16();
    return tap_done();
}
