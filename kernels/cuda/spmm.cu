/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregation. A sub-warp has a row and up to 64 units (floats, or 16 bytes where alignment allows)
 * of its columns, a lane one or two of them: neighbours' rows are read in whole lines, with the
 * rows of the next 8 (4) edges in flight before the first is added, always in edge order. Wide rows
 * are several pieces of work.
 *
 * A row of LONG edges or more would keep one warp busy long after the others: it waits in a list
 * until the whole block sums it. Then 256 threads have 8 units each in flight, put them into shared
 * memory, and while they read the next, each column's sum is carried on by one thread: the same
 * order, so the same bits. */
#include "kernels/spmm.h"

#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256, FLIGHT = 8, UNITS = THREADS * FLIGHT;
constexpr unsigned LONG = 256, WAITING = 128;

struct Layer {
    const gnn_csr *block;
    uint32_t nblocks;
    uint32_t first;
    const uint32_t *nrows;
    uint32_t cap, xrows;
    const float *x;
    uint32_t pitch; /* of X, in bytes */
    size_t d;
    float *y;
    size_t ldy;
    int acc;
    uint64_t *bad;
};

template <unsigned V> using Unit = GnnUnit<V>;

struct Row {
    const gnn_csr *a;        /* NULL: no block at all */
    const uint32_t *indices; /* of its n edges */
    const float *col;
    uint32_t g, n;
    float factor;
};

__device__ Row find_row(const Layer &l, uint32_t g)
{
    for (uint32_t b = 0; b < l.nblocks; b++) {
        const gnn_csr *a = &l.block[b];
        const uint32_t i = g - a->first;
        if (g < a->first || i >= a->n)
            continue;
        const uint64_t from = gnn_csr_offset(a, i);
        return Row{a,
                   a->indices + from,
                   a->col,
                   g,
                   (uint32_t)(gnn_csr_offset(a, i + 1) - from),
                   a->row ? a->row[g] : 1.0f};
    }
    return Row{l.nblocks ? l.block : nullptr, nullptr, nullptr, g, 0, 1.0f};
}

/* Where the row's edge e is among all of the block. */
__device__ uint64_t edge_at(const Row &r, uint32_t e)
{
    return (uint64_t)(r.indices - r.a->indices) + e;
}

/* Reports the first bad one of the n edges from the row's edge e on. */
__device__ void report(const Layer &l, const Row &r, uint32_t e, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && r.indices[e + i] < l.xrows)
        i++;
    if (i < n)
        gnn_device_bad(l.bad, (uint64_t)(r.a - l.block) << 32 | (uint32_t)edge_at(r, e + i));
}

/* Whether the row's edges have a factor, and what that is of edge e, which leads to row `id` of X.
 */
template <bool valued> __device__ bool has_factors(const Row &r)
{
    return valued || r.col;
}
template <bool valued> __device__ float factor_of(const Row &r, uint32_t e, uint32_t id)
{
    if (!valued)
        return __ldg(&r.col[id]);
    const uint64_t at = edge_at(r, e);
    const float v = __ldg(&r.a->value[r.a->edge ? __ldg(&r.a->edge[at]) : at]);
    return r.col ? __fmul_rn(v, __ldg(&r.col[id])) : v;
}

/* Unit u of row 0 of X, and the same unit of another row. */
template <unsigned V> __device__ const Unit<V> *unit_of(const Layer &l, uint32_t u)
{
    return reinterpret_cast<const Unit<V> *>(l.x) + u;
}
template <unsigned V> __device__ const Unit<V> *down(const Layer &l, const Unit<V> *x, uint32_t row)
{
    return reinterpret_cast<const Unit<V> *>(reinterpret_cast<const char *>(x) +
                                             (uint64_t)row * l.pitch);
}

/* Unit u of the row with its sum s. */
template <unsigned V> __device__ void put(const Layer &l, const Row &r, uint32_t u, const float *s)
{
    const bool self = r.a && r.a->diag && r.g < r.a->ndiag;
    const float dg = self ? r.a->diag[r.g] : 0;
    Unit<V> *to = reinterpret_cast<Unit<V> *>(l.y + (r.g - l.first) * l.ldy) + u;
    Unit<V> out, own, was;
    if (self)
        own = *down<V>(l, unit_of<V>(l, u), r.g);
    if (l.acc)
        was = *to;
    for (unsigned v = 0; v < V; v++) {
        float t = __fmul_rn(r.factor, s[v]);
        if (self)
            t = __fadd_rn(t, __fmul_rn(dg, own.v[v]));
        out.v[v] = l.acc ? __fadd_rn(was.v[v], t) : t;
    }
    *to = out;
}

/* One lane's share, units u0 < units and u0 + lanes. An edge that is bad or none adds +0, so that
 * no load waits for a branch, and that changes no bit: a sum that began at +0 is never -0. */
template <unsigned V, unsigned A, bool valued, bool weighted>
__device__ void sum_row(const Layer &l, const Row &r, uint32_t u0, unsigned lanes, uint32_t units)
{
    constexpr unsigned E = FLIGHT / A;
    const Unit<V> *x = unit_of<V>(l, u0);
    const bool two = A > 1 && u0 + lanes < units;
    float s[A][V] = {};
    for (uint32_t e = 0, n; e < r.n; e += n) {
        const uint32_t *indices = r.indices + e;
        uint32_t id[E], highest = 0;
        float c[E];
        Unit<V> v[E][A];
        n = r.n - e < E ? r.n - e : E;
        GNN_UNROLL
        for (unsigned i = 0; i < E; i++) {
            id[i] = __ldg(&indices[i < n ? i : 0]);
            highest = id[i] > highest ? id[i] : highest;
        }
        GNN_UNROLL
        for (unsigned i = 0; i < E; i++) {
            const bool good = i < n && id[i] < l.xrows;
            GNN_UNROLL
            for (unsigned k = 0; k < A; k++)
                v[i][k] = good && (k == 0 || two) ? down<V>(l, x, id[i])[k * lanes] : Unit<V>();
        }
        GNN_UNROLL
        for (unsigned i = 0; i < E; i++)
            c[i] = weighted && i < n && id[i] < l.xrows ? factor_of<valued>(r, e + i, id[i]) : 0;
        if (highest >= l.xrows)
            report(l, r, e, n);
        GNN_UNROLL
        for (unsigned i = 0; i < E; i++)
            GNN_UNROLL
        for (unsigned k = 0; k < A; k++)
            GNN_UNROLL
        for (unsigned q = 0; q < V; q++)
            s[k][q] = __fadd_rn(s[k][q], weighted ? __fmul_rn(c[i], v[i][k].v[q]) : v[i][k].v[q]);
    }
    GNN_UNROLL
    for (unsigned k = 0; k < A; k++)
        if (k == 0 || two)
            put<V>(l, r, u0 + k * lanes, s[k]);
}

/* Unit u, a thread's, of its FLIGHT of the n edges from e on, n <= UNITS/w, and their factors.
 * Beyond the last edge it is the first again, which nobody adds. */
template <unsigned V, bool valued>
__device__ void fetch(const Layer &l, const Row &r, uint32_t e, uint32_t n, uint32_t u, unsigned w,
                      uint32_t units, Unit<V> *v, float *c)
{
    const Unit<V> *x = unit_of<V>(l, u);
    uint32_t id[FLIGHT], highest = 0;
    GNN_UNROLL
    for (unsigned k = 0; k < FLIGHT; k++) {
        const uint32_t i = threadIdx.x / w + k * (THREADS / w);
        id[k] = __ldg(&r.indices[e + (i < n ? i : 0)]);
        highest = id[k] > highest ? id[k] : highest;
    }
    if (highest >= l.xrows)
        report(l, r, e, n);
    GNN_UNROLL
    for (unsigned k = 0; k < FLIGHT; k++) {
        const bool good = id[k] < l.xrows && u < units;
        const uint32_t i = threadIdx.x / w + k * (THREADS / w);
        v[k] = good ? *down<V>(l, x, id[k]) : Unit<V>();
        c[k] =
            good && has_factors<valued>(r) ? factor_of<valued>(r, e + (i < n ? i : 0), id[k]) : 1;
    }
}

/* The same sum by the whole block, for w <= 32 units from u0 on; w is a power of two. */
template <unsigned V, bool valued>
__device__ void sum_long(const Layer &l, const Row &r, uint32_t u0, unsigned w, uint32_t units,
                         Unit<V> *stage)
{
    const uint32_t per = UNITS / w;
    const uint32_t u = u0 + threadIdx.x % w;
    Unit<V> v[FLIGHT];
    float s[V] = {}, c[FLIGHT];
    uint32_t n = r.n < per ? r.n : per;
    fetch<V, valued>(l, r, 0, n, u, w, units, v, c);
    for (uint32_t e = 0, next; e < r.n; n = next) {
        GNN_UNROLL
        for (unsigned k = 0; k < FLIGHT; k++) {
            GNN_UNROLL
            for (unsigned q = 0; q < V; q++)
                v[k].v[q] = __fmul_rn(c[k], v[k].v[q]); /* only now: until here it was on its way */
            stage[threadIdx.x + k * THREADS] = v[k];
        }
        __syncthreads();
        e += n;
        next = r.n - e < per ? r.n - e : per;
        if (next)
            fetch<V, valued>(l, r, e, next, u, w, units, v, c);
        if (threadIdx.x < w * V) /* one column each */
            for (uint32_t i = 0; i < n; i++)
                s[0] = __fadd_rn(s[0], reinterpret_cast<const float *>(stage + i * w)[threadIdx.x]);
        __syncthreads();
    }
    /* columns come together into units again */
    if (threadIdx.x < w * V)
        reinterpret_cast<float *>(stage)[threadIdx.x] = s[0];
    __syncthreads();
    if (threadIdx.x < w && u < units)
        put<V>(l, r, u, stage[threadIdx.x].v);
    __syncthreads();
}

/* Work is a piece of a row, A * lanes units; the pieces of all rows are dealt out in turn. */
template <unsigned V, unsigned A, bool valued>
__device__ void sum_rows(const Layer &l, unsigned few, unsigned many, unsigned char *shared)
{
    const unsigned lanes = A == 1 ? few : 32,
                   pieces = A == 1 ? 1 : many; /* known in part to the compiler */
    Unit<V> *stage = reinterpret_cast<Unit<V> *>(shared);
    uint64_t *waiting =
        reinterpret_cast<uint64_t *>(shared + UNITS * sizeof(Unit<V>)); /* row << 32 | piece */
    unsigned *nwaiting = reinterpret_cast<unsigned *>(waiting + WAITING);
    const uint32_t end = gnn_device_count(l.nrows, l.cap);
    const unsigned groups = THREADS / lanes, lane = threadIdx.x % lanes;
    const unsigned first = blockIdx.x * groups + threadIdx.x / lanes, stride = gridDim.x * groups;
    const unsigned rows = stride / pieces, over = stride % pieces; /* a step */
    const uint32_t units = (uint32_t)(l.d / V);

    if (threadIdx.x == 0)
        *nwaiting = 0;
    __syncthreads();
    unsigned piece = first % pieces;
    for (uint64_t g = l.first + (uint64_t)(first / pieces); g < end; g += rows) {
        const Row r = find_row(l, (uint32_t)g);
        unsigned place = WAITING;
        if (r.n >= LONG) {
            if (lane == 0)
                place = atomicAdd(nwaiting, 1u);
            place = __shfl_sync((lanes == 32 ? 0xffffffffu : (1u << lanes) - 1)
                                    << (threadIdx.x % 32 - lane),
                                place, 0, lanes);
        }
        const uint32_t u0 = piece * A * lanes + lane;
        if (place < WAITING) {
            if (lane == 0)
                waiting[place] = g << 32 | piece;
        } else if (u0 < units) {
            if (has_factors<valued>(r))
                sum_row<V, A, valued, true>(l, r, u0, lanes, units);
            else
                sum_row<V, A, valued, false>(l, r, u0, lanes, units);
        }
        piece += over;
        if (piece >= pieces)
            piece -= pieces, g++;
    }
    __syncthreads();
    const unsigned n = *nwaiting < WAITING ? *nwaiting : WAITING;
    for (unsigned k = 0; k < n; k++) {
        const Row r = find_row(l, (uint32_t)(waiting[k] >> 32));
        const uint32_t u0 = (uint32_t)waiting[k] * A * lanes;
        for (unsigned u = 0; u < A * lanes && u0 + u < units; u += lanes)
            sum_long<V, valued>(l, r, u0 + u, lanes, units, stage);
    }
}

/* Three blocks are as many as fit with all rows in flight. The two ways are apart so that sums
 * without values keep their registers. */
template <unsigned V, unsigned A>
__global__ void __launch_bounds__(THREADS, 3) spmm_rows(const Layer l, unsigned few, unsigned many)
{
    GNN_DYNAMIC_SHARED(unsigned char, shared);
    if (l.nblocks && l.block->value)
        sum_rows<V, A, true>(l, few, many, shared);
    else
        sum_rows<V, A, false>(l, few, many, shared);
}

template <unsigned V> void launch(const Layer &l, void *stream)
{
    const size_t units = l.d / V,
                 shared = UNITS * sizeof(Unit<V>) + WAITING * sizeof(uint64_t) + sizeof(unsigned);
    const unsigned lanes = gnn_lanes(units);
    const bool two = units > lanes;
    const unsigned piece = two ? 2 * lanes : lanes,
                   pieces = (unsigned)((units + piece - 1) / piece);
    const unsigned grid = gnn_grid((uint64_t)(l.cap - l.first) * pieces, THREADS / lanes);
    if (two)
        GNN_LAUNCH((spmm_rows<V, 2>), grid, THREADS, shared, stream, l, lanes, pieces);
    else
        GNN_LAUNCH((spmm_rows<V, 1>), grid, THREADS, shared, stream, l, lanes, pieces);
}

} // namespace

void gnn_cuda_spmm(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                   const uint32_t *nrows, uint32_t cap, const float *x, uint32_t xrows, size_t ldx,
                   size_t d, float *y, size_t ldy, int acc, uint64_t *bad, void *stream)
{
    if (cap <= first || !d)
        return;
    const Layer l = {block, nblocks, first, nrows, cap, xrows, x, (uint32_t)(ldx * sizeof(float)),
                     d,     y,       ldy,   acc,   bad};
    if ((ldx | ldy | d) % 4 == 0 && gnn_vector(x, y))
        launch<4>(l, stream);
    else
        launch<1>(l, stream);
}
