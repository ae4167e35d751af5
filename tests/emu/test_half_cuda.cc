/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions on the emulated device: the CPU's bits, NaN included, as they are made of integers.
 */
#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/half.h"
#include "tap.h"

namespace
{

void test_narrow(void (*cpu)(const float *, uint64_t, uint16_t *),
                 void (*cuda)(const float *, uint64_t, uint16_t *, void *), const char *name)
{
    const size_t sizes[] = {0, 1, 3, 4, 257, 40003};
    Random r(1);
    size_t wrong = 0;
    for (size_t n : sizes)
        for (size_t off = 0; off < 3; off++) {
            Array<float> in(n, off == 1);
            Array<uint16_t> want(n), out(n, off);
            /* every exponent, and bits next to where rounding turns */
            for (size_t i = 0; i < n; i++) {
                uint32_t u = r.next();
                if (i % 2)
                    u = (u & 0xffffc000u) | (i % 4 == 1 ? 0x1000u : 0) | (i % 3 ? 0 : 1);
                memcpy(&in[i], &u, sizeof u);
            }
            if (n > 5)
                in[0] = NAN, in[1] = INFINITY, in[2] = -INFINITY, in[3] = 65520, in[4] = 0x1p-25f,
                in[5] = -0.0f;
            emu::set_seed(off + 1);
            emu::grid_max = 1 + 7 * (unsigned)off;
            cpu(in.data(), n, want.data());
            cuda(in.data(), n, out.data(), nullptr);
            wrong += (n && memcmp(out.data(), want.data(), n * sizeof(uint16_t))) + !out.whole();
        }
    ok(wrong == 0, "the device narrows f32 to %s with the bits of the CPU", name);
}

void test_widen(void (*cpu)(const uint16_t *, uint64_t, float *),
                void (*cuda)(const uint16_t *, uint64_t, float *, void *), const char *name)
{
    size_t wrong = 0;
    for (size_t off = 0; off < 3; off++) {
        const size_t n = 65536; /* all there are */
        Array<uint16_t> in(n, off);
        Array<float> want(n), out(n, off == 1);
        for (size_t i = 0; i < n; i++)
            in[i] = (uint16_t)i;
        emu::set_seed(off + 1);
        emu::grid_max = 1 + 7 * (unsigned)off;
        cpu(in.data(), n, want.data());
        cuda(in.data(), n, out.data(), nullptr);
        wrong += (memcmp(out.data(), want.data(), n * sizeof(float)) != 0) + !out.whole();
    }
    ok(wrong == 0, "the device widens every %s to f32 with the bits of the CPU", name);
}

void test_bytes()
{
    size_t wrong = 0;
    for (size_t off = 0; off < 3; off++) {
        const size_t n = 257;
        const float scale = 0.013f;
        Array<int8_t> in(n, off);
        Array<float> want(n), out(n, off == 1);
        for (size_t i = 0; i < n; i++)
            in[i] = (int8_t)(i - 128);
        emu::set_seed(off + 1);
        gnn_i8_to_f32(in.data(), n, scale, want.data());
        gnn_cuda_i8_to_f32(in.data(), n, scale, out.data(), nullptr);
        wrong += (memcmp(out.data(), want.data(), n * sizeof(float)) != 0) + !out.whole();
    }
    ok(wrong == 0, "the device widens every scaled byte to f32 with the bits of the CPU");
}

} // namespace

int main()
{
    test_narrow(gnn_f32_to_f16, gnn_cuda_f32_to_f16, "f16");
    test_narrow(gnn_f32_to_bf16, gnn_cuda_f32_to_bf16, "bf16");
    test_widen(gnn_f16_to_f32, gnn_cuda_f16_to_f32, "f16");
    test_widen(gnn_bf16_to_f32, gnn_cuda_bf16_to_f32, "bf16");
    test_bytes();
    return tap_done();
}
