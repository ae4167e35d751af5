/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions on the emulated device: the CPU's bits, NaN included, as they are made of integers.
 */
#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/half.h"
#include "tap.h"

namespace
{

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

} // namespace

int main()
{
    test_widen(gnn_f16_to_f32, gnn_cuda_f16_to_f32, "f16");
    test_widen(gnn_bf16_to_f32, gnn_cuda_bf16_to_f32, "bf16");
    return tap_done();
}
