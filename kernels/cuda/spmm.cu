/* Aggregation. A sub-warp has a row and up to 64 units (floats, or 16 bytes where alignment allows) of its columns, a
 * lane one or two of them: neighbours' rows are read in whole lines, with the rows of the next 8 (4) edges in flight
 * before the first is added, always in edge order. Wide rows are several pieces of work.
 *
 * A row of LONG edges or more would keep one warp busy long after the others: it waits in a list until the whole block
 * sums it. Then 256 threads have 8 units each in flight, put them into shared memory, and while they read the next, each
 * column's sum is carried on by one thread: the same order, so the same bits. */
#include "kernels/spmm.h"

#include "kernels/cuda/cuda.cuh"

namespace {

constexpr unsigned THREADS = 256, FLIGHT = 8, UNITS = THREADS * FLIGHT;
constexpr unsigned LONG = 256, WAITING = 128;

struct Layer {
    const gnn_csr *block;
    uint32_t nblocks;
    uint32_t first;
    const uint32_t *nrows;
    uint32_t cap, xrows;
    const float *x;
    size_t ldx, d;
    float *y;
    size_t ldy;
    int acc;
    uint64_t *bad;
};

template <unsigned V> using Unit = GnnUnit<V>;

struct Row {
    const gnn_csr *a; /* NULL: no block at all */
    uint64_t place;   /* of edge 0 of its block, for reports */
    uint32_t g, from, to;
    float factor;
};

__device__ Row find_row(const Layer &l, uint32_t g)
{
    for (uint32_t b = 0; b < l.nblocks; b++) {
        const gnn_csr *a = &l.block[b];
        const uint32_t i = g - a->first;
        if (g >= a->first && i < a->n)
            return Row{a, (uint64_t)b << 32, g, a->indptr[i], a->indptr[i + 1], a->row ? a->row[g] : 1.0f};
    }
    return Row{l.nblocks ? l.block : nullptr, 0, g, 0, 0, 1.0f};
}

/* Unit u of the row with its sum s. */
template <unsigned V> __device__ void put(const Layer &l, const Row &r, size_t u, const float *s)
{
    const bool self = r.a && r.a->diag && r.g < r.a->ndiag;
    const float dg = self ? r.a->diag[r.g] : 0;
    Unit<V> *to = reinterpret_cast<Unit<V> *>(l.y + (r.g - l.first) * l.ldy) + u;
    Unit<V> out, own, was;
    if (self)
        own = reinterpret_cast<const Unit<V> *>(l.x + r.g * l.ldx)[u];
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

/* One lane's share, units u0 and u0 + lanes. */
template <unsigned V, unsigned A>
__device__ void sum_row(const Layer &l, const Row &r, size_t u0, unsigned lanes, size_t units)
{
    constexpr unsigned E = FLIGHT / A;
    const float *col = r.a ? r.a->col : nullptr;
    float s[A][V] = {};
    for (uint32_t e = r.from; e < r.to; e += E) {
        const uint32_t n = r.to - e < E ? r.to - e : E;
        uint32_t id[E];
        float c[E];
        Unit<V> v[E][A];
GNN_UNROLL
        for (unsigned i = 0; i < E; i++)
            id[i] = i < n ? r.a->indices[e + i] : UINT32_MAX;
GNN_UNROLL
        for (unsigned i = 0; i < E; i++) {
            if (id[i] < l.xrows) {
                c[i] = col ? col[id[i]] : 0;
GNN_UNROLL
                for (unsigned k = 0; k < A; k++)
                    if (u0 + k * lanes < units)
                        v[i][k] = reinterpret_cast<const Unit<V> *>(l.x + id[i] * l.ldx)[u0 + k * lanes];
            } else if (i < n) {
                gnn_device_bad(l.bad, r.place | (e + i));
            }
        }
GNN_UNROLL
        for (unsigned i = 0; i < E; i++)
GNN_UNROLL
            for (unsigned k = 0; k < A; k++)
                if (id[i] < l.xrows && u0 + k * lanes < units)
                    for (unsigned q = 0; q < V; q++)
                        s[k][q] = __fadd_rn(s[k][q], col ? __fmul_rn(c[i], v[i][k].v[q]) : v[i][k].v[q]);
    }
GNN_UNROLL
    for (unsigned k = 0; k < A; k++)
        if (u0 + k * lanes < units)
            put<V>(l, r, u0 + k * lanes, s[k]);
}

/* A thread's FLIGHT units of the edges [e, e + UNITS/w), w units of each, from unit u0 on. */
template <unsigned V>
__device__ void fetch(const Layer &l, const Row &r, uint32_t e, size_t u0, unsigned w, size_t units, Unit<V> *v)
{
    uint32_t id[FLIGHT];
GNN_UNROLL
    for (unsigned k = 0; k < FLIGHT; k++) {
        const uint64_t at = (uint64_t)e + (threadIdx.x + k * THREADS) / w;
        id[k] = at < r.to ? r.a->indices[at] : UINT32_MAX;
        if (at < r.to && id[k] >= l.xrows)
            gnn_device_bad(l.bad, r.place | at);
    }
GNN_UNROLL
    for (unsigned k = 0; k < FLIGHT; k++) {
        const size_t u = u0 + (threadIdx.x + k * THREADS) % w;
        v[k] = Unit<V>();
        if (id[k] >= l.xrows || u >= units)
            continue;
        v[k] = reinterpret_cast<const Unit<V> *>(l.x + id[k] * l.ldx)[u];
        if (r.a->col)
            for (unsigned q = 0; q < V; q++)
                v[k].v[q] = __fmul_rn(r.a->col[id[k]], v[k].v[q]);
    }
}

/* The same sum by the whole block, for w <= 32 units from u0 on; w is a power of two. */
template <unsigned V>
__device__ void sum_long(const Layer &l, const Row &r, size_t u0, unsigned w, size_t units, Unit<V> *stage)
{
    const uint32_t per = UNITS / w;
    Unit<V> v[FLIGHT];
    float s[V] = {};
    fetch<V>(l, r, r.from, u0, w, units, v);
    for (uint32_t e = r.from; e < r.to;) {
        const uint32_t n = r.to - e < per ? r.to - e : per;
GNN_UNROLL
        for (unsigned k = 0; k < FLIGHT; k++)
            stage[threadIdx.x + k * THREADS] = v[k];
        __syncthreads();
        e += n;
        if (e < r.to)
            fetch<V>(l, r, e, u0, w, units, v);
        if (threadIdx.x < w * V) /* one column each */
            for (uint32_t i = 0; i < n; i++)
                s[0] = __fadd_rn(s[0], reinterpret_cast<const float *>(stage + i * w)[threadIdx.x]);
        __syncthreads();
    }
    /* columns come together into units again */
    if (threadIdx.x < w * V)
        reinterpret_cast<float *>(stage)[threadIdx.x] = s[0];
    __syncthreads();
    if (threadIdx.x < w && u0 + threadIdx.x < units)
        put<V>(l, r, u0 + threadIdx.x, stage[threadIdx.x].v);
    __syncthreads();
}

/* Item i is piece i % pieces of row i / pieces; a piece is A * lanes units. */
template <unsigned V, unsigned A>
__global__ void __launch_bounds__(THREADS) spmm_rows(const Layer l, unsigned lanes, unsigned pieces)
{
    GNN_DYNAMIC_SHARED(unsigned char, shared);
    Unit<V> *stage = reinterpret_cast<Unit<V> *>(shared);
    uint64_t *waiting = reinterpret_cast<uint64_t *>(shared + UNITS * sizeof(Unit<V>));
    unsigned *nwaiting = reinterpret_cast<unsigned *>(waiting + WAITING);
    const uint32_t end = gnn_device_count(l.nrows, l.cap);
    const uint64_t items = end > l.first ? (uint64_t)(end - l.first) * pieces : 0;
    const unsigned groups = THREADS / lanes, lane = threadIdx.x % lanes;
    const size_t units = l.d / V;

    if (threadIdx.x == 0)
        *nwaiting = 0;
    __syncthreads();
    for (uint64_t i = (uint64_t)blockIdx.x * groups + threadIdx.x / lanes; i < items; i += (uint64_t)gridDim.x * groups) {
        const Row r = find_row(l, l.first + (uint32_t)(i / pieces));
        unsigned place = WAITING;
        if (r.to - r.from >= LONG) {
            if (lane == 0)
                place = atomicAdd(nwaiting, 1u);
            place = __shfl_sync((lanes == 32 ? 0xffffffffu : (1u << lanes) - 1) << (threadIdx.x % 32 - lane), place, 0,
                                lanes);
        }
        if (place >= WAITING)
            sum_row<V, A>(l, r, (i % pieces) * A * lanes + lane, lanes, units);
        else if (lane == 0)
            waiting[place] = i;
    }
    __syncthreads();
    const unsigned n = *nwaiting < WAITING ? *nwaiting : WAITING;
    for (unsigned k = 0; k < n; k++) {
        const Row r = find_row(l, l.first + (uint32_t)(waiting[k] / pieces));
        const size_t u0 = waiting[k] % pieces * A * lanes;
        for (unsigned u = 0; u < A * lanes && u0 + u < units; u += lanes)
            sum_long<V>(l, r, u0 + u, lanes, units, stage);
    }
}

template <unsigned V> void launch(const Layer &l, void *stream)
{
    const size_t units = l.d / V, shared = UNITS * sizeof(Unit<V>) + WAITING * sizeof(uint64_t) + sizeof(unsigned);
    const unsigned lanes = gnn_lanes(units);
    const bool two = units > lanes;
    const unsigned piece = two ? 2 * lanes : lanes, pieces = (unsigned)((units + piece - 1) / piece);
    const unsigned grid = gnn_grid((uint64_t)(l.cap - l.first) * pieces, THREADS / lanes);
    if (two)
        GNN_LAUNCH((spmm_rows<V, 2>), grid, THREADS, shared, stream, l, lanes, pieces);
    else
        GNN_LAUNCH((spmm_rows<V, 1>), grid, THREADS, shared, stream, l, lanes, pieces);
}

} // namespace

void gnn_cuda_spmm(const struct gnn_csr *block, uint32_t nblocks, uint32_t first, const uint32_t *nrows, uint32_t cap,
                   const float *x, uint32_t xrows, size_t ldx, size_t d, float *y, size_t ldy, int acc, uint64_t *bad, void *stream)
{
    if (cap <= first || !d)
        return;
    const Layer l = {block, nblocks, first, nrows, cap, xrows, x, ldx, d, y, ldy, acc, bad};
    if ((ldx | ldy | d) % 4 == 0 && gnn_vector(x, y))
        launch<4>(l, stream);
    else
        launch<1>(l, stream);
}
