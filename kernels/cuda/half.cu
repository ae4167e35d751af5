/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays between f32 and the short types: four numbers a thread where alignment allows, up to 16
 * bytes at once. */
#include "kernels/half.h"

#include "kernels/cuda/cuda.cuh"
#include "kernels/half_bits.h"

namespace
{

constexpr unsigned THREADS = 256;

struct ToF16 {
    typedef float In;
    typedef uint16_t Out;
    __device__ Out of(In v) const
    {
        return gnn_f16_of(gnn_f32_bits(v));
    }
};
struct ToBf16 {
    typedef float In;
    typedef uint16_t Out;
    __device__ Out of(In v) const
    {
        return gnn_bf16_of(gnn_f32_bits(v));
    }
};
struct FromF16 {
    typedef uint16_t In;
    typedef float Out;
    __device__ Out of(In v) const
    {
        return gnn_f32_of_f16(v);
    }
};
struct FromBf16 {
    typedef uint16_t In;
    typedef float Out;
    __device__ Out of(In v) const
    {
        return gnn_bits_f32((uint32_t)v << 16);
    }
};

struct FromI8 {
    typedef int8_t In;
    typedef float Out;
    float scale;
    __device__ Out of(In v) const
    {
        return __fmul_rn((float)v, scale);
    }
};

template <typename T> struct alignas(4 * sizeof(T)) Four {
    T v[4];
};

template <typename C>
__global__ void convert(const typename C::In *in, uint64_t n, typename C::Out *out, bool four,
                        const C c)
{
    const uint64_t first = (uint64_t)blockIdx.x * THREADS + threadIdx.x,
                   stride = (uint64_t)gridDim.x * THREADS;
    const uint64_t fours = four ? n / 4 : 0;
    for (uint64_t u = first; u < fours; u += stride) {
        const Four<typename C::In> a = reinterpret_cast<const Four<typename C::In> *>(in)[u];
        Four<typename C::Out> b;
        GNN_UNROLL
        for (unsigned i = 0; i < 4; i++)
            b.v[i] = c.of(a.v[i]);
        reinterpret_cast<Four<typename C::Out> *>(out)[u] = b;
    }
    for (uint64_t i = 4 * fours + first; i < n; i += stride)
        out[i] = c.of(in[i]);
}

template <typename C>
void launch(const typename C::In *in, uint64_t n, typename C::Out *out, void *stream,
            const C &c = C())
{
    const bool four =
        (uintptr_t)in % (4 * sizeof *in) == 0 && (uintptr_t)out % (4 * sizeof *out) == 0;
    if (n)
        GNN_LAUNCH(convert<C>, gnn_grid(n, four ? 4 * THREADS : THREADS), THREADS, 0, stream, in, n,
                   out, four, c);
}

} // namespace

void gnn_cuda_f32_to_f16(const float *in, uint64_t n, uint16_t *out, void *stream)
{
    launch<ToF16>(in, n, out, stream);
}
void gnn_cuda_f32_to_bf16(const float *in, uint64_t n, uint16_t *out, void *stream)
{
    launch<ToBf16>(in, n, out, stream);
}
void gnn_cuda_f16_to_f32(const uint16_t *in, uint64_t n, float *out, void *stream)
{
    launch<FromF16>(in, n, out, stream);
}
void gnn_cuda_bf16_to_f32(const uint16_t *in, uint64_t n, float *out, void *stream)
{
    launch<FromBf16>(in, n, out, stream);
}
void gnn_cuda_i8_to_f32(const int8_t *in, uint64_t n, float scale, float *out, void *stream)
{
    launch<FromI8>(in, n, out, stream, FromI8{scale});
}
