/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of the narrow types to f32: four numbers a thread where alignment allows, 16 bytes of them
 * stored at once. */
#include "kernels/half.h"

#include "kernels/cuda/cuda.cuh"
#include "kernels/half_bits.h"
#include "kernels/int8_row.h"

namespace
{

constexpr unsigned THREADS = 256;

struct FromF16 {
    static __device__ float of(uint16_t v)
    {
        return gnn_f32_of_f16(v);
    }
};
struct FromBf16 {
    static __device__ float of(uint16_t v)
    {
        return gnn_bits_f32((uint32_t)v << 16);
    }
};

template <typename T> struct alignas(4 * sizeof(T)) Four {
    T v[4];
};

template <typename C> __global__ void convert(const uint16_t *in, uint64_t n, float *out, bool four)
{
    const uint64_t first = (uint64_t)blockIdx.x * THREADS + threadIdx.x,
                   stride = (uint64_t)gridDim.x * THREADS;
    const uint64_t fours = four ? n / 4 : 0;
    for (uint64_t u = first; u < fours; u += stride) {
        const Four<uint16_t> a = reinterpret_cast<const Four<uint16_t> *>(in)[u];
        Four<float> b;
        GNN_UNROLL
        for (unsigned i = 0; i < 4; i++)
            b.v[i] = C::of(a.v[i]);
        reinterpret_cast<Four<float> *>(out)[u] = b;
    }
    for (uint64_t i = 4 * fours + first; i < n; i += stride)
        out[i] = C::of(in[i]);
}

template <typename C> void launch(const uint16_t *in, uint64_t n, float *out, void *stream)
{
    const bool four =
        (uintptr_t)in % (4 * sizeof *in) == 0 && (uintptr_t)out % (4 * sizeof *out) == 0;
    if (n)
        GNN_LAUNCH(convert<C>, gnn_grid(n, four ? 4 * THREADS : THREADS), THREADS, 0, stream, in, n,
                   out, four);
}

/* Four numbers of a row at a time, where rows are as wide as that allows. */
__global__ void widen_i8(const char *rows, uint64_t n, uint32_t width, float *out, bool four)
{
    const size_t bytes = gnn_int8_row_bytes(width);
    const uint64_t first = (uint64_t)blockIdx.x * THREADS + threadIdx.x,
                   stride = (uint64_t)gridDim.x * THREADS;
    for (uint64_t u = first; four && u < n / 4; u += stride) {
        const char *const row = rows + 4 * u / width * bytes;
        const Four<int8_t> a = *reinterpret_cast<const Four<int8_t> *>(row + 4 * u % width);
        const float s = __ldg(gnn_int8_scale(row, width));
        Four<float> b;
        GNN_UNROLL
        for (unsigned i = 0; i < 4; i++)
            b.v[i] = __fmul_rn((float)a.v[i], s);
        reinterpret_cast<Four<float> *>(out)[u] = b;
    }
    for (uint64_t i = first; !four && i < n; i += stride) {
        const char *const row = rows + i / width * bytes;
        out[i] = __fmul_rn((float)(int8_t)row[i % width], __ldg(gnn_int8_scale(row, width)));
    }
}

} // namespace

void gnn_cuda_f16_to_f32(const uint16_t *in, uint64_t n, float *out, void *stream)
{
    launch<FromF16>(in, n, out, stream);
}
void gnn_cuda_bf16_to_f32(const uint16_t *in, uint64_t n, float *out, void *stream)
{
    launch<FromBf16>(in, n, out, stream);
}
void gnn_cuda_i8_to_f32(const void *rows, uint64_t n, uint32_t width, float *out, void *stream)
{
    const bool four = width % 4 == 0 && (uintptr_t)out % (4 * sizeof *out) == 0;
    if (n)
        GNN_LAUNCH(widen_i8, gnn_grid(n, four ? 4 * THREADS : THREADS), THREADS, 0, stream,
                   (const char *)rows, n, width, out, four);
}
