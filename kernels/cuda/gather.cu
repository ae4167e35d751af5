/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting rows over all memory tiers.
 *
 * What limits it is the number of bytes under way: memory of the device needs some 25 KB a
 * multiprocessor, the host's some 70 KB altogether. A block takes a tile of rows; first its threads
 * find each row's address, once, all lookups side by side; then the tile is one sequence of 16-byte
 * units, whose places in the output follow one another, so that no lane idles for rows of 25 units,
 * and stores coalesce whatever the width. Each thread has four loads under way before its first
 * store. Addresses of the next tile are found by whichever warps have finished this one: the tiles'
 * addresses lie in two places by turns, with one barrier a tile. A multiprocessor runs five blocks,
 * so while some look up, others copy; a sixth would leave so few registers that the first store
 * comes before the last load.
 *
 * Units shrink where a width or an address asks for it; addresses decide tile by tile, so that a
 * part that lies at an odd place slows down its own rows only. No unit costs a division: a thread
 * steps by quotient and remainder. */
#include "kernels/gather.h"

#include <string.h>

#include "kernels/cuda/cuda.cuh"
#include "kernels/half_bits.h"
#include "kernels/owner.h"

namespace
{

constexpr unsigned THREADS = 256, AHEAD = 4, WARP = 32, WHOLE_WARP = 0xffffffffu;
constexpr unsigned ROWS = 512;                  /* of a tile, at most */
constexpr unsigned UNITS = 2 * THREADS * AHEAD; /* of a tile, about */

typedef unsigned long long count_t; /* what atomics take */

struct Shared {
    count_t rows[GNN_TIERS_CUDA], missing, first_missing;
    unsigned low[3]; /* low bits of the tile's addresses: of this tile, the next, and one that is
                        being cleared */
    const char *row[2][ROWS];
    float scale[2][ROWS]; /* there only for int8 with scales */
};

struct Tally {
    unsigned rows[GNN_TIERS_CUDA], missing;
    count_t first_missing;
};

/* The numbers of a launch. */
struct Shape {
    unsigned width;       /* elements of a row; bytes, if as they are */
    unsigned fit;         /* units are 1 << fit elements, if the addresses allow it */
    unsigned least, most; /* rows of a tile */
};

template <int BYTES> struct Word;
template <> struct Word<16> {
    typedef uint4 type;
};
template <> struct Word<8> {
    typedef uint2 type;
};
template <> struct Word<4> {
    typedef unsigned type;
};
template <> struct Word<2> {
    typedef unsigned short type;
};
template <> struct Word<1> {
    typedef unsigned char type;
};

/* Elements in and out, and one of them. */
template <int CAST> struct Cast;
template <> struct Cast<GNN_GATHER_AS_IS> {
    typedef uint8_t in, out;
    static constexpr unsigned FIT = 4;
};
template <> struct Cast<GNN_GATHER_F32_F16> {
    typedef uint32_t in;
    typedef uint16_t out;
    static constexpr unsigned FIT = 2;
    static __device__ __forceinline__ out one(in v, float)
    {
        return gnn_f16_of(v);
    }
};
template <> struct Cast<GNN_GATHER_F32_BF16> {
    typedef uint32_t in;
    typedef uint16_t out;
    static constexpr unsigned FIT = 2;
    static __device__ __forceinline__ out one(in v, float)
    {
        return gnn_bf16_of(v);
    }
};
template <> struct Cast<GNN_GATHER_I8_F32> {
    typedef int8_t in;
    typedef float out;
    static constexpr unsigned FIT = 2;
    static __device__ __forceinline__ out one(in v, float scale)
    {
        return __fmul_rn((float)v, scale);
    }
};
template <> struct Cast<GNN_GATHER_I8_F16> {
    typedef int8_t in;
    typedef uint16_t out;
    static constexpr unsigned FIT = 2;
    static __device__ __forceinline__ out one(in v, float scale)
    {
        return gnn_f16_of(gnn_f32_bits(__fmul_rn((float)v, scale)));
    }
};
template <> struct Cast<GNN_GATHER_I8_BF16> {
    typedef int8_t in;
    typedef uint16_t out;
    static constexpr unsigned FIT = 2;
    static __device__ __forceinline__ out one(in v, float scale)
    {
        return gnn_bf16_of(gnn_f32_bits(__fmul_rn((float)v, scale)));
    }
};

/* *p, or 0 if that is NULL. Rows do not change while they are collected, and where units are whole
 * no other thread of the multiprocessor wants these bytes again. */
template <typename T> __device__ __forceinline__ T load_if(const T *p)
{
    T v = T();
    if (p)
        v = __ldg(p);
    return v;
}
#ifdef __CUDA_ARCH__
template <> __device__ __forceinline__ uint4 load_if(const uint4 *p)
{
    uint4 v = {0, 0, 0, 0};
    asm("{\n\t.reg .pred p;\n\tsetp.ne.u64 p, %4, 0;\n\t"
        "@p ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\n\t}"
        : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)
        : "l"(p));
    return v;
}
#endif

/* Converts the 1 << FIT elements of a word. */
template <int CAST, unsigned FIT, typename I, typename O>
__device__ __forceinline__ O convert(I word, float scale)
{
    typename Cast<CAST>::in in[1u << FIT];
    typename Cast<CAST>::out out[1u << FIT];
    memcpy(in, &word, sizeof word);
    GNN_UNROLL
    for (unsigned e = 0; e < 1u << FIT; e++)
        out[e] = Cast<CAST>::one(in[e], scale);
    O result;
    memcpy(&result, out, sizeof result);
    return result;
}

/* Copies a tile, in units of 1 << FIT elements. */
template <int CAST, unsigned FIT>
__device__ __forceinline__ void copy_tile(const char *const *row, const float *scale, unsigned rows,
                                          unsigned width, char *out)
{
    typedef typename Word<sizeof(typename Cast<CAST>::in) << FIT>::type I;
    typedef typename Word<sizeof(typename Cast<CAST>::out) << FIT>::type O;
    if (!width)
        return;
    const unsigned per = width >> FIT, units = rows * per, over = THREADS / per,
                   rest = THREADS % per;
    unsigned r = threadIdx.x / per, c = threadIdx.x % per;
    for (unsigned x = threadIdx.x; x < units; x += AHEAD * THREADS) {
        const I *at[AHEAD];
        I in[AHEAD];
        float s[AHEAD];
        GNN_UNROLL
        for (unsigned k = 0; k < AHEAD;
             k++) { /* without branches, so that all loads of a kind go out together */
            const unsigned have = min(r, rows - 1);
            const char *const start = row[have];
            at[k] = start && r < rows ? (const I *)(const void *)start + c : nullptr;
            s[k] = gnn_gather_scaled((gnn_gather_cast)CAST) ? scale[have] : 0;
            r += over;
            c += rest;
            r += c >= per;
            c -= c >= per ? per : 0;
        }
        GNN_UNROLL
        for (unsigned k = 0; k < AHEAD; k++)
            in[k] = load_if(at[k]);
        GNN_UNROLL
        for (unsigned k = 0; k < AHEAD; k++)
            if (x + k * THREADS < units) {
                O *to = (O *)(void *)out + (x + k * THREADS);
                if constexpr (CAST == GNN_GATHER_AS_IS)
                    __stcs(to, in[k]);
                else
                    __stcs(to, convert<CAST, FIT, I, O>(in[k], s[k]));
            }
    }
}

/* The same for a number known only now. */
template <int CAST, unsigned FIT>
__device__ __forceinline__ void copy_in_units(unsigned fit, const char *const *row,
                                              const float *scale, unsigned rows, unsigned width,
                                              char *out)
{
    if (fit == FIT)
        copy_tile<CAST, FIT>(row, scale, rows, width, out);
    else if constexpr (FIT > 0)
        copy_in_units<CAST, FIT - 1>(fit, row, scale, rows, width, out);
}

__device__ __forceinline__ const gnn_gather_part *find(const gnn_gather_part *part, unsigned n,
                                                       uint64_t v)
{
    if (!n)
        return nullptr;
    if (n > 1)
        part += gnn_owner_find(&part->first, sizeof *part, n, v);
    return v - part->first < part->count ? part : nullptr;
}

/* The part that row number i of those wanted lies in, or NULL, and its place there. */
__device__ __forceinline__ const gnn_gather_part *find_row(const gnn_cuda_gather &g, uint64_t i,
                                                           uint64_t *place)
{
    const uint64_t id = g.id ? __ldg(g.id + i) : __ldg(g.id64 + i);
    uint64_t at = g.slot ? id < g.nslots ? __ldg(g.slot + id) : UINT64_MAX : id;
    const gnn_gather_part *p = find(g.cached, g.ncached, at);
    if (!p) {
        at = id;
        p = find(g.backing, g.nbacking, id);
    }
    *place = p ? at - p->first : 0;
    return p;
}

/* Where row number i of those wanted lies; tells the tile its address's low bits. */
template <int CAST>
__device__ __forceinline__ void look_up(const gnn_cuda_gather &g, uint64_t i, Tally *t,
                                        const char **row, float *scale, unsigned *low)
{
    constexpr bool SCALED = CAST >= GNN_GATHER_I8_F32;
    uint64_t place;
    const gnn_gather_part *p = find_row(g, i, &place);
    if (p) {
        const char *a =
            (const char *)p->data + place * gnn_gather_row_bytes((gnn_gather_cast)CAST, g.bytes);
        const unsigned bits = (unsigned)(uintptr_t)a & 15;
        *row = a;
        if (SCALED)
            *scale = __ldg(gnn_int8_scale(a, g.bytes));
        if (bits)
            atomicOr(low, bits);
        t->rows[GNN_TIER_DEVICE] += p->tier == GNN_TIER_DEVICE;
        t->rows[GNN_TIER_PEER] += p->tier == GNN_TIER_PEER;
        t->rows[GNN_TIER_HOST] += p->tier == GNN_TIER_HOST;
    } else {
        *row = nullptr;
        if (SCALED)
            *scale = 0;
        t->missing++;
        t->first_missing = min(t->first_missing, (count_t)i);
    }
}

/* A block's counts to memory: warps, then the block, then one atomic a number. */
__device__ __forceinline__ void add_counts(gnn_gather_count *count, Tally t, count_t row_bytes,
                                           Shared *s)
{
    __syncthreads(); /* thread 0 has cleared the sums */
    GNN_UNROLL
    for (int k = 0; k < GNN_TIERS_CUDA; k++) {
        const unsigned sum = __reduce_add_sync(WHOLE_WARP, t.rows[k]);
        if (threadIdx.x % WARP == 0 && sum)
            atomicAdd(&s->rows[k], (count_t)sum);
    }
    if (t.missing) {
        atomicAdd(&s->missing, (count_t)t.missing);
        atomicMin(&s->first_missing, t.first_missing);
    }
    __syncthreads();
    const unsigned k = threadIdx.x;
    if (k < GNN_TIERS_CUDA && s->rows[k]) {
        atomicAdd((count_t *)&count->rows[k], s->rows[k]);
        atomicAdd((count_t *)&count->bytes[k], s->rows[k] * row_bytes);
    }
    if (k == 0 && s->missing) {
        atomicAdd((count_t *)&count->missing, s->missing);
        atomicMin((count_t *)&count->first_missing, s->first_missing);
    }
}

/* Rows of a tile: as many for each block as for the others, within bounds. */
__device__ __forceinline__ unsigned tile_rows(uint64_t n, const Shape &s)
{
    const uint64_t share = (n + gridDim.x - 1) / gridDim.x, tiles = (share + s.most - 1) / s.most;
    const unsigned rows = tiles ? (unsigned)((share + tiles - 1) / tiles) : 1;
    return max(rows, s.least);
}

template <int CAST>
__global__ void __launch_bounds__(THREADS, GNN_CUDA_GATHER_BLOCKS)
    gather_rows(const gnn_cuda_gather g, const Shape shape)
{
    GNN_DYNAMIC_SHARED(Shared, s);
    const uint64_t n = g.n ? min((uint64_t)__ldg(g.n), g.capacity) : g.capacity;
    const size_t out_bytes = gnn_gather_out_bytes((gnn_gather_cast)CAST, g.bytes);
    const unsigned most = tile_rows(n, shape);
    Tally tally = {{0, 0, 0}, 0, ~(count_t)0};
    if (threadIdx.x == 0) {
        for (int k = 0; k < GNN_TIERS_CUDA; k++)
            s->rows[k] = 0;
        s->missing = 0;
        s->first_missing = ~(count_t)0;
        s->low[0] = 0;
    }
    __syncthreads();
    unsigned turn = 0, third = 0;
    for (uint64_t from = (uint64_t)blockIdx.x * most; from < n;
         from += (uint64_t)gridDim.x * most) {
        const unsigned rows = (unsigned)min(n - from, (uint64_t)most),
                       next = third == 2 ? 0 : third + 1;
        const char **const row = s->row[turn];
        float *const scale = s->scale[turn];
        if (threadIdx.x == 0)
            s->low[next] = 0; /* nobody reads it since the last barrier */
        for (unsigned i = threadIdx.x; i < rows; i += THREADS)
            look_up<CAST>(g, from + i, &tally, &row[i], &scale[i], &s->low[third]);
        __syncthreads();
        const unsigned low = s->low[third] / (unsigned)sizeof(typename Cast<CAST>::in);
        const unsigned fit = low ? min(shape.fit, (unsigned)__ffs((int)low) - 1) : shape.fit;
        char *const out = (char *)g.out + from * out_bytes;
        copy_in_units<CAST, Cast<CAST>::FIT>(fit, row, scale, rows, shape.width, out);
        turn ^= 1;
        third = next;
    }
    if (g.count)
        add_counts(g.count, tally, gnn_gather_row_bytes((gnn_gather_cast)CAST, g.bytes), s);
}

template <int CAST> void launch(const gnn_cuda_gather *g, void *stream)
{
    typedef typename Cast<CAST>::in I;
    typedef typename Cast<CAST>::out O;
    Shape s;
    s.width = (unsigned)(g->bytes / sizeof(I));
    s.fit = Cast<CAST>::FIT;
    while (s.fit && (s.width % (1u << s.fit) || (uintptr_t)g->out % (sizeof(O) << s.fit)))
        s.fit--;
    const unsigned per = s.width >> s.fit ? s.width >> s.fit : 1;
    s.most = max(1u, min(ROWS, UNITS / per));
    s.least = max(1u, min(s.most, THREADS / per));
    const uint64_t tiles = (g->capacity + s.least - 1) / s.least;
    const unsigned grid =
        g->blocks ? (unsigned)min((uint64_t)g->blocks, tiles) : gnn_grid(tiles, 1);
    const size_t shared =
        gnn_gather_scaled((gnn_gather_cast)CAST) ? sizeof(Shared) : offsetof(Shared, scale);
    GNN_LAUNCH(gather_rows<CAST>, grid, THREADS, shared, stream, *g, s);
}

} // namespace

void gnn_cuda_gather_rows(const struct gnn_cuda_gather *g, void *stream)
{
    if (!g->capacity)
        return;
    switch (g->cast) {
    case GNN_GATHER_AS_IS:
        return launch<GNN_GATHER_AS_IS>(g, stream);
    case GNN_GATHER_F32_F16:
        return launch<GNN_GATHER_F32_F16>(g, stream);
    case GNN_GATHER_F32_BF16:
        return launch<GNN_GATHER_F32_BF16>(g, stream);
    case GNN_GATHER_I8_F32:
        return launch<GNN_GATHER_I8_F32>(g, stream);
    case GNN_GATHER_I8_F16:
        return launch<GNN_GATHER_I8_F16>(g, stream);
    case GNN_GATHER_I8_BF16:
        return launch<GNN_GATHER_I8_BF16>(g, stream);
    }
}
