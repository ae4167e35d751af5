/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's device side on the host: compiles a .cu file unchanged with the host's compiler (-include
 * emu/emu.h) and runs its kernels, so that they are tested, also under sanitizers, where there is
 * no GPU.
 *
 * Blocks run one after the other in random order, or GNN_EMU_BLOCKS of them by turns. A block's
 * threads are fibers of the one host thread; each runs until it waits at a barrier or in a warp's
 * collective, or is made to pause at an atomic, and who goes on is drawn at random. Shared memory
 * is poisoned before each block. What depends on an order that nothing guarantees - a missing
 * barrier above all - comes out differently for different seeds. Threads that wait for each other
 * at different places, for lanes that have ended, or for ever, are an error that names the place
 * and ends the process; so is a launch that a device refuses: a grid or a block that is empty or
 * too large, or more than 48 KB of shared memory without cudaFuncSetAttribute. (Of static shared
 * memory, what the kernel writes counts.)
 *
 * GNN_FAKE_FAULT=NAME in the environment plants a fault: kernels whose names contain it lack their
 * last block.
 *
 * Not simulated: caches, weak memory order (but see watch.cc), the clock, textures, tensor cores,
 * launches from kernels. */
#ifndef GNN_TESTS_EMU_EMU_H
#define GNN_TESTS_EMU_EMU_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
    {
    }
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
static inline float4 make_float4(float x, float y, float z, float w)
{
    return float4{x, y, z, w};
}
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return uint4{x, y, z, w};
}

/* The two sides of an atomic, and nothing in between. */
#define EMU_UNWATCHED __attribute__((noinline, no_sanitize("thread")))

namespace emu
{

struct Place {
    const char *file;
    int line;
};

enum Op { SYNCWARP, SHFL, BALLOT, MATCH, REDUCE };

/* The running fiber. */
extern uint3 thread_idx, block_idx;
extern dim3 block_dim, grid_dim;
void *dynamic_shared();

/* A kernel that is launched; shared: bytes of dynamic shared memory. */
struct Launch {
    dim3 grid, block;
    size_t shared;
    const char *name;
    Place at;
    size_t limit; /* bytes of shared memory in all, as accept() says */
};
/* Ends the program if a device would refuse to launch this kernel. */
Launch accept(Launch l, const void *kernel);
/* Runs all blocks now. seed() decides the order; set_seed before the first launch. */
void launch(const Launch &l, const std::function<void()> &body);
/* Lets a kernel have more than 48 KB of shared memory, if a device has so much. */
bool opt_in(const void *kernel, size_t shared);
void set_seed(uint64_t seed);
uint64_t seed();
uint64_t launches();                               /* so far */
extern void (*watch)(const char *name, dim3 grid); /* is shown each launch; NULL: nobody */
/* What GNN_LAUNCH does: runs the kernel now, or hands it to whoever plays the run-time. */
using Kernel = std::function<void()>;
void submit(void *stream, Kernel run);
void set_runtime(void (*take)(void *stream, Kernel run));
/* Arguments are taken now, even if the kernel runs later. */
template <typename K, typename... A>
void submit(void *stream, const Launch &asked, K *kernel, A... args)
{
    const Launch l = accept(asked, (const void *)kernel);
    submit(stream, [=]() { launch(l, [=]() { kernel(args...); }); });
}

void barrier(Place at);
void pause(); /* at an atomic: lets others go first, now and then */
void fence();
/* All lanes of `mask`, the caller's among them, must come here with the same mask; returns the
 * values of all 32. */
const uint64_t *collect(unsigned mask, uint64_t value, Op op, Place at);
unsigned lane();

template <typename T> uint64_t bits(T v)
{
    static_assert(sizeof(T) <= 8, "one register or two");
    uint64_t b = 0;
    memcpy(&b, &v, sizeof v);
    return b;
}
template <typename T> T value(uint64_t b)
{
    T v;
    memcpy(&v, &b, sizeof v);
    return v;
}

enum Shuffle { IDX, UP, DOWN, XOR };
template <typename T>
T shuffle(Shuffle how, unsigned mask, T v, unsigned by, unsigned width, Place at)
{
    const uint64_t *all = collect(mask, bits(v), SHFL, at);
    const unsigned me = lane(), base = me / width * width;
    int from = (int)me;
    switch (how) {
    case IDX:
        from = (int)(base + by % width);
        break;
    case UP:
        from = (int)me - (int)by < (int)base ? (int)me : (int)(me - by);
        break;
    case DOWN:
        from = me + by >= base + width ? (int)me : (int)(me + by);
        break;
    case XOR:
        from = (me ^ by) >= base + width ? (int)me : (int)(me ^ by);
        break;
    }
    if (!(mask >> from & 1)) /* undefined on a device */
        return value<T>(0xdeadbeefdeadbeefu);
    return value<T>(all[from]);
}

/* What tests/emu/watch.cc does, in programs that have it, for the blocks that run by turns, which
 * are numbered from 0 on. Their writes are their own until a fence publishes them, or the kernel
 * ends. */
__attribute__((weak)) void watch_swap(unsigned block); /* puts its writes into memory, or back */
__attribute__((weak)) size_t watch_swapped(unsigned block); /* words that this would change */
__attribute__((weak)) void watch_publish(unsigned block);
__attribute__((weak)) void watch_publish_at(unsigned block, const void *p, size_t n);
__attribute__((weak)) void watch_block_end(unsigned block);
__attribute__((weak)) void watch_kernel_end();
/* The running block's number, where it may touch p and so may other blocks; or -1. */
int toucher(const void *p);
void touch(); /* lets others go first, rarely */
/* The block's own writes there become everybody's. */
void shared_by_all(const void *p, size_t n);

unsigned ballot(unsigned mask, bool pred, Place at);
unsigned match(unsigned mask, uint64_t v, Place at);
unsigned reduce_add(unsigned mask, unsigned v, Place at);

template <typename T, typename F> EMU_UNWATCHED T atomic(T *p, F f)
{
    pause();
    shared_by_all(p, sizeof *p);
    const T old = *p;
    *p = f(old);
    pause();
    return old;
}

} // namespace emu

#define EMU_HERE (emu::Place{__FILE__, __LINE__})

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __align__(n) alignas(n)
#define __shared__ static __attribute__((section("emu_shared")))

#define threadIdx (emu::thread_idx)
#define blockIdx (emu::block_idx)
#define blockDim (emu::block_dim)
#define gridDim (emu::grid_dim)
#define warpSize 32

#define __syncthreads() emu::barrier(EMU_HERE)
#define __syncwarp(...) ((void)emu::collect(emu::mask_of(__VA_ARGS__), 0, emu::SYNCWARP, EMU_HERE))
namespace emu
{
static inline unsigned mask_of(unsigned m = 0xffffffffu)
{
    return m;
}
} // namespace emu
#define __shfl_sync(mask, v, ...) emu::shuffle_at(emu::IDX, EMU_HERE, mask, v, __VA_ARGS__)
#define __shfl_up_sync(mask, v, ...) emu::shuffle_at(emu::UP, EMU_HERE, mask, v, __VA_ARGS__)
#define __shfl_down_sync(mask, v, ...) emu::shuffle_at(emu::DOWN, EMU_HERE, mask, v, __VA_ARGS__)
#define __shfl_xor_sync(mask, v, ...) emu::shuffle_at(emu::XOR, EMU_HERE, mask, v, __VA_ARGS__)
namespace emu
{
template <typename T>
T shuffle_at(Shuffle how, Place at, unsigned mask, T v, unsigned by, unsigned width = 32)
{
    return shuffle(how, mask, v, by, width, at);
}
} // namespace emu
#define __ballot_sync(mask, pred) emu::ballot(mask, (pred) != 0, EMU_HERE)
#define __any_sync(mask, pred) (emu::ballot(mask, (pred) != 0, EMU_HERE) != 0)
#define __all_sync(mask, pred) (emu::ballot(mask, (pred) != 0, EMU_HERE) == (unsigned)(mask))
#define __match_any_sync(mask, v) emu::match(mask, emu::bits(v), EMU_HERE)
#define __reduce_add_sync(mask, v) emu::reduce_add(mask, v, EMU_HERE)

template <typename T> static inline T atomicAdd(T *p, T v)
{
    return emu::atomic(p, [=](T o) { return (T)(o + v); });
}
template <typename T> static inline T atomicMin(T *p, T v)
{
    return emu::atomic(p, [=](T o) { return o < v ? o : v; });
}
template <typename T> static inline T atomicMax(T *p, T v)
{
    return emu::atomic(p, [=](T o) { return o > v ? o : v; });
}
template <typename T> static inline T atomicOr(T *p, T v)
{
    return emu::atomic(p, [=](T o) { return (T)(o | v); });
}
template <typename T> static inline T atomicExch(T *p, T v)
{
    return emu::atomic(p, [=](T) { return v; });
}
template <typename T> static inline T atomicCAS(T *p, T expected, T v)
{
    return emu::atomic(p, [=](T o) { return o == expected ? v : o; });
}
#define __threadfence() emu::fence()
#define __threadfence_block() emu::pause()

/* What a device does not forgive either. */
namespace emu
{
[[noreturn]] void misaligned();
template <typename T> T *aligned(T *p)
{
    if ((uintptr_t)p % sizeof(T))
        misaligned();
    return p;
}
} // namespace emu
template <typename T> static inline T __ldg(const T *p)
{
    return *emu::aligned(p);
}
template <typename T> static inline T __ldcs(const T *p)
{
    return *emu::aligned(p);
}
template <typename T> static inline T __ldcg(const T *p)
{
    return *emu::aligned(p);
}
template <typename T> static inline void __stcs(T *p, T v)
{
    *emu::aligned(p) = v;
}
static inline int __popc(unsigned v)
{
    return __builtin_popcount(v);
}
static inline int __ffs(int v)
{
    return __builtin_ffs(v);
}
static inline int __clz(int v)
{
    return v ? __builtin_clz((unsigned)v) : 32;
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}
static inline unsigned __float_as_uint(float f)
{
    return emu::value<unsigned>(emu::bits(f));
}
static inline float __uint_as_float(unsigned u)
{
    return emu::value<float>(u);
}
/* Rounded products and sums that the device's compiler may not contract. */
static inline float __fmul_rn(float a, float b)
{
    return a * b;
}
static inline float __fadd_rn(float a, float b)
{
    return a + b;
}
static inline float __fdiv_rn(float a, float b)
{
    return a / b;
}
static inline float __fsqrt_rn(float a)
{
    return sqrtf(a);
}
static inline float rsqrtf(float a)
{
    return 1 / sqrtf(a);
}
using std::max;
using std::min;

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
template <typename K>
static inline cudaError_t cudaFuncSetAttribute(K *kernel, cudaFuncAttribute, int bytes)
{
    return bytes >= 0 && emu::opt_in((const void *)kernel, (size_t)bytes) ? cudaSuccess
                                                                          : cudaErrorInvalidValue;
}

/* kernels/cuda/cuda.cuh's words. Small grids: threads have to stride; tests change it, to see no
 * result change. */
namespace emu
{
inline unsigned grid_max = 12;
}
#define GNN_GRID_MAX (emu::grid_max)
#define GNN_LAUNCH(kernel, grid, block, shared, stream, ...)                                       \
    emu::submit((stream), emu::Launch{(grid), (block), (shared), #kernel, EMU_HERE, 0}, kernel,    \
                __VA_ARGS__)
#define GNN_DYNAMIC_SHARED(type, name) type *const name = static_cast<type *>(emu::dynamic_shared())

#endif
