/* SPDX-License-Identifier: Apache-2.0 */
/* Messages (kernels/message.h). A sub-warp has a row and as many units (floats, or 16 bytes where
 * alignment allows) of its columns as it has lanes: neighbours' rows are read in whole lines, those
 * of FLIGHT edges before the first is used, always in edge order. Wide rows are several pieces of
 * work. */
#include "kernels/message.h"

#include "kernels/act.h"
#include "kernels/csr_row.h"
#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256, FLIGHT = 4;

struct Layer {
    const gnn_csr *block;
    uint32_t nblocks, first;
    const uint32_t *nrows;
    uint32_t cap, xrows;
    size_t d;
    uint64_t *bad;
    unsigned lanes, pieces; /* threads of a piece, pieces of a row: set by launch_pieces */
};

template <unsigned V> using Unit = GnnUnit<V>;
template <unsigned V> struct alignas(V * sizeof(uint32_t)) Numbers {
    uint32_t v[V];
};

/* A lane's part of a row: unit u of its columns. */
struct Piece {
    gnn_csr_row row;
    uint32_t g, u;
    bool some; /* false: beyond the last column */
};

/* The pieces of all rows, assigned round-robin. */
__device__ uint64_t count_pieces(const Layer &l)
{
    const uint32_t end = gnn_device_count(l.nrows, l.cap);
    return end > l.first ? (uint64_t)(end - l.first) * l.pieces : 0;
}

__device__ Piece find_piece(const Layer &l, const GnnRows &r, unsigned width)
{
    Piece p;
    p.g = l.first + (uint32_t)(r.row / l.pieces);
    p.u = (uint32_t)(r.row % l.pieces) * l.lanes + r.lane;
    p.some = p.u < l.d / width;
    if (p.some)
        p.row = gnn_csr_row_of(l.block, l.nblocks, p.g);
    return p;
}

/* Unit u of row `row` of an array of rows. */
template <typename U, typename T>
__device__ U *unit_of(T *x, const Layer &l, uint64_t row, uint32_t u)
{
    return reinterpret_cast<U *>(x + row * l.d) + u;
}

/* The sources of the row's edges from e on, FLIGHT of them at most; UINT32_MAX: to be left out. */
__device__ void read_sources(const Layer &l, const gnn_csr_row &r, uint32_t e, uint32_t *id)
{
    GNN_UNROLL
    for (unsigned i = 0; i < FLIGHT; i++) {
        id[i] = e + i < r.n ? __ldg(&r.indices[e + i]) : UINT32_MAX;
        if (e + i < r.n && id[i] >= l.xrows) {
            gnn_device_bad(l.bad, (r.at & ~(uint64_t)UINT32_MAX) | (uint32_t)(r.at + e + i));
            id[i] = UINT32_MAX;
        }
    }
}

template <unsigned V>
__global__ void __launch_bounds__(THREADS)
    max_rows(const Layer l, const float *x, float *y, uint32_t *arg, uint32_t number, bool acc)
{
    const uint64_t pieces = count_pieces(l);
    for (GnnRows r = gnn_rows(l.lanes); r.row < pieces; r.row += r.stride) {
        const Piece p = find_piece(l, r, V);
        if (!p.some)
            continue;
        Unit<V> *to = unit_of<Unit<V>>(y, l, p.g - l.first, p.u), most = acc ? *to : Unit<V>();
        Numbers<V> at;
        for (unsigned q = 0; q < V; q++)
            at.v[q] = UINT32_MAX;
        if (acc)
            at = *unit_of<Numbers<V>>(arg, l, p.g - l.first, p.u);
        for (uint32_t e = 0; e < p.row.n; e += FLIGHT) {
            uint32_t id[FLIGHT];
            Unit<V> v[FLIGHT];
            read_sources(l, p.row, e, id);
            GNN_UNROLL
            for (unsigned i = 0; i < FLIGHT; i++)
                v[i] = id[i] < l.xrows ? *unit_of<const Unit<V>>(x, l, id[i], p.u) : Unit<V>();
            GNN_UNROLL
            for (unsigned i = 0; i < FLIGHT; i++)
                GNN_UNROLL
            for (unsigned q = 0; q < V; q++)
                if (id[i] < l.xrows &&
                    (at.v[q] == UINT32_MAX || gnn_max_is(v[i].v[q], most.v[q]))) {
                    most.v[q] = v[i].v[q];
                    at.v[q] = number + p.row.number + e + i;
                }
        }
        *to = most;
        if (arg)
            *unit_of<Numbers<V>>(arg, l, p.g - l.first, p.u) = at;
    }
}

template <unsigned V>
__global__ void __launch_bounds__(THREADS)
    max_back(const Layer l, const float *dy, const uint32_t *arg, float *dx, uint32_t base,
             bool acc)
{
    const uint64_t pieces = count_pieces(l);
    for (GnnRows r = gnn_rows(l.lanes); r.row < pieces; r.row += r.stride) {
        const Piece p = find_piece(l, r, V);
        if (!p.some)
            continue;
        Unit<V> *to = unit_of<Unit<V>>(dx, l, p.g - l.first, p.u), s = acc ? *to : Unit<V>();
        for (uint32_t e = 0; e < p.row.n; e += FLIGHT) {
            uint32_t id[FLIGHT], number[FLIGHT];
            Unit<V> v[FLIGHT];
            Numbers<V> at[FLIGHT];
            read_sources(l, p.row, e, id);
            GNN_UNROLL
            for (unsigned i = 0; i < FLIGHT; i++) {
                const bool good = id[i] < l.xrows;
                number[i] = good ? base + __ldg(&p.row.edge[e + i]) : 0;
                v[i] = good ? *unit_of<const Unit<V>>(dy, l, id[i], p.u) : Unit<V>();
                at[i] = good ? *unit_of<const Numbers<V>>(arg, l, id[i], p.u) : Numbers<V>();
            }
            GNN_UNROLL
            for (unsigned i = 0; i < FLIGHT; i++)
                GNN_UNROLL
            for (unsigned q = 0; q < V; q++)
                if (id[i] < l.xrows)
                    s.v[q] = __fadd_rn(s.v[q], at[i].v[q] == number[i] ? v[i].v[q] : 0);
        }
        *to = s;
    }
}

/* Unit u of X's rows of FLIGHT edges, and of Z's, which follow each other from row `at` on. */
template <unsigned V>
__device__ void read_terms(const Layer &l, const Piece &p, const float *x, const uint32_t *id,
                           const float *z, uint64_t at, Unit<V> *v, Unit<V> *w)
{
    GNN_UNROLL
    for (unsigned i = 0; i < FLIGHT; i++) {
        const bool good = id[i] < l.xrows;
        v[i] = good ? *unit_of<const Unit<V>>(x, l, id[i], p.u) : Unit<V>();
        w[i] = good ? *unit_of<const Unit<V>>(z, l, at + i, p.u) : Unit<V>();
    }
}

template <unsigned V>
__global__ void __launch_bounds__(THREADS)
    edge_relu(const Layer l, const float *x, const float *z, uint32_t zfirst, float *y, bool acc)
{
    const uint64_t pieces = count_pieces(l);
    for (GnnRows r = gnn_rows(l.lanes); r.row < pieces; r.row += r.stride) {
        const Piece p = find_piece(l, r, V);
        if (!p.some)
            continue;
        Unit<V> *to = unit_of<Unit<V>>(y, l, p.g - l.first, p.u), s = acc ? *to : Unit<V>();
        for (uint32_t e = 0; e < p.row.n; e += FLIGHT) {
            uint32_t id[FLIGHT];
            Unit<V> v[FLIGHT], w[FLIGHT];
            read_sources(l, p.row, e, id);
            read_terms<V>(l, p, x, id, z, (uint64_t)(p.row.number - zfirst) + e, v, w);
            GNN_UNROLL
            for (unsigned i = 0; i < FLIGHT; i++)
                GNN_UNROLL
            for (unsigned q = 0; q < V; q++)
                if (id[i] < l.xrows)
                    s.v[q] = __fadd_rn(s.v[q],
                                       gnn_act_of(__fadd_rn(v[i].v[q], w[i].v[q]), GNN_ACT_RELU));
        }
        *to = s;
    }
}

template <unsigned V>
__global__ void __launch_bounds__(THREADS)
    edge_relu_back(const Layer l, const float *x, const float *z, uint32_t zfirst, const float *dy,
                   float *dz)
{
    const uint64_t pieces = count_pieces(l);
    for (GnnRows r = gnn_rows(l.lanes); r.row < pieces; r.row += r.stride) {
        const Piece p = find_piece(l, r, V);
        if (!p.some)
            continue;
        const Unit<V> g = *unit_of<const Unit<V>>(dy, l, p.g - l.first, p.u);
        for (uint32_t e = 0; e < p.row.n; e += FLIGHT) {
            const uint64_t at = (uint64_t)(p.row.number - zfirst) + e;
            uint32_t id[FLIGHT];
            Unit<V> v[FLIGHT], w[FLIGHT];
            read_sources(l, p.row, e, id);
            read_terms<V>(l, p, x, id, z, at, v, w);
            GNN_UNROLL
            for (unsigned i = 0; i < FLIGHT; i++) {
                GNN_UNROLL
                for (unsigned q = 0; q < V; q++) /* of one that is left out, 0 + 0 */
                    w[i].v[q] = __fadd_rn(v[i].v[q], w[i].v[q]) > 0 ? g.v[q] : 0;
                if (e + i < p.row.n)
                    *unit_of<Unit<V>>(dz, l, at + i, p.u) = w[i];
            }
        }
    }
}

template <unsigned V>
__global__ void __launch_bounds__(THREADS)
    edge_sum(const Layer l, const float *z, uint32_t zfirst, uint32_t nz, float *y, bool acc)
{
    const uint64_t pieces = count_pieces(l);
    for (GnnRows r = gnn_rows(l.lanes); r.row < pieces; r.row += r.stride) {
        Piece p = find_piece(l, r, V);
        if (!p.some)
            continue;
        Unit<V> *to = unit_of<Unit<V>>(y, l, p.g - l.first, p.u), s = acc ? *to : Unit<V>();
        gnn_csr_row_cut(&p.row, zfirst, nz);
        for (uint32_t e = 0; e < p.row.n; e += FLIGHT) {
            Unit<V> v[FLIGHT];
            GNN_UNROLL
            for (unsigned i = 0; i < FLIGHT; i++) {
                const bool some = e + i < p.row.n;
                const uint32_t number =
                    some && p.row.edge ? __ldg(&p.row.edge[e + i]) : p.row.number + e + i;
                v[i] = some ? *unit_of<const Unit<V>>(z, l, number - zfirst, p.u) : Unit<V>();
            }
            GNN_UNROLL
            for (unsigned i = 0; i < FLIGHT; i++)
                GNN_UNROLL
            for (unsigned q = 0; q < V; q++)
                if (e + i < p.row.n)
                    s.v[q] = __fadd_rn(s.v[q], v[i].v[q]);
        }
        *to = s;
    }
}

template <unsigned V>
__global__ void __launch_bounds__(THREADS)
    edge_means(const Layer l, const float *z, uint32_t zfirst, float *y)
{
    const uint64_t pieces = count_pieces(l);
    for (GnnRows r = gnn_rows(l.lanes); r.row < pieces; r.row += r.stride) {
        const Piece p = find_piece(l, r, V);
        if (!p.some)
            continue;
        const uint64_t at = p.row.number - zfirst;
        Unit<V> s = Unit<V>();
        uint32_t n = 0;
        for (uint32_t e = 0; e < p.row.n; e += FLIGHT) {
            bool other[FLIGHT];
            Unit<V> v[FLIGHT];
            GNN_UNROLL
            for (unsigned i = 0; i < FLIGHT; i++) {
                other[i] = e + i < p.row.n && __ldg(&p.row.indices[e + i]) != p.g;
                v[i] = other[i] ? *unit_of<const Unit<V>>(z, l, at + e + i, p.u) : Unit<V>();
                n += other[i];
            }
            GNN_UNROLL
            for (unsigned i = 0; i < FLIGHT; i++)
                GNN_UNROLL
            for (unsigned q = 0; q < V; q++)
                if (other[i])
                    s.v[q] = __fadd_rn(s.v[q], v[i].v[q]);
        }
        GNN_UNROLL
        for (unsigned q = 0; q < V; q++)
            s.v[q] = n ? __fdiv_rn(s.v[q], (float)n) : 0;
        *unit_of<Unit<V>>(y, l, p.g - l.first, p.u) = s;
    }
}

/* A kernel over the pieces of the layer's rows, for columns in units of four or of one. */
template <typename Four, typename One, typename... A>
void launch_pieces(Four four, One one, bool vector, Layer l, void *stream, A... a)
{
    if (l.cap <= l.first || !l.d)
        return;
    const size_t units = vector ? l.d / 4 : l.d;
    l.lanes = gnn_lanes(units);
    l.pieces = (unsigned)((units + l.lanes - 1) / l.lanes);
    const unsigned grid = gnn_grid((uint64_t)(l.cap - l.first) * l.pieces, THREADS / l.lanes);
    if (vector)
        GNN_LAUNCH(four, grid, THREADS, 0, stream, l, a...);
    else
        GNN_LAUNCH(one, grid, THREADS, 0, stream, l, a...);
}

/* The blocks are few; each thread adds them up. */
__global__ void __launch_bounds__(THREADS)
    edge_rest(const gnn_csr *block, uint32_t nblocks, uint64_t edges, size_t d, float *z)
{
    uint64_t n = 0;
    for (uint32_t b = 0; b < nblocks; b++)
        n += gnn_csr_edges(&block[b]);
    for (uint64_t i = n * d + blockIdx.x * (uint64_t)THREADS + threadIdx.x; i < edges * d;
         i += gridDim.x * (uint64_t)THREADS)
        z[i] = 0;
}

} // namespace

void gnn_cuda_max_rows(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                       const uint32_t *nrows, uint32_t cap, const float *x, uint32_t xrows,
                       size_t d, float *y, uint32_t *arg, uint32_t number, bool acc, uint64_t *bad,
                       void *stream)
{
    const Layer l = {block, nblocks, first, nrows, cap, xrows, d, bad, 0, 0};
    const bool vector = d % 4 == 0 && gnn_vector(x, y) && gnn_vector(arg, nullptr);
    launch_pieces(max_rows<4>, max_rows<1>, vector, l, stream, x, y, arg, number, acc);
}

void gnn_cuda_max_back(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                       const uint32_t *nrows, uint32_t cap, const float *dy, const uint32_t *arg,
                       uint32_t xrows, size_t d, float *dx, uint32_t number, bool acc,
                       uint64_t *bad, void *stream)
{
    const Layer l = {block, nblocks, first, nrows, cap, xrows, d, bad, 0, 0};
    const bool vector = d % 4 == 0 && gnn_vector(dy, dx) && gnn_vector(arg, nullptr);
    launch_pieces(max_back<4>, max_back<1>, vector, l, stream, dy, arg, dx, number, acc);
}

void gnn_cuda_edge_relu(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                        const uint32_t *nrows, uint32_t cap, const float *x, uint32_t xrows,
                        const float *z, uint32_t zfirst, size_t d, float *y, bool acc,
                        uint64_t *bad, void *stream)
{
    const Layer l = {block, nblocks, first, nrows, cap, xrows, d, bad, 0, 0};
    const bool vector = d % 4 == 0 && gnn_vector(x, y) && gnn_vector(z, nullptr);
    launch_pieces(edge_relu<4>, edge_relu<1>, vector, l, stream, x, z, zfirst, y, acc);
}

void gnn_cuda_edge_relu_back(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                             const uint32_t *nrows, uint32_t cap, const float *x, uint32_t xrows,
                             const float *z, uint32_t zfirst, const float *dy, size_t d, float *dz,
                             uint64_t *bad, void *stream)
{
    const Layer l = {block, nblocks, first, nrows, cap, xrows, d, bad, 0, 0};
    const bool vector = d % 4 == 0 && gnn_vector(x, dy) && gnn_vector(z, dz);
    launch_pieces(edge_relu_back<4>, edge_relu_back<1>, vector, l, stream, x, z, zfirst, dy, dz);
}

void gnn_cuda_edge_sum(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                       const uint32_t *nrows, uint32_t cap, const float *z, uint32_t zfirst,
                       uint32_t nz, size_t d, float *y, bool acc, void *stream)
{
    const Layer l = {block, nblocks, first, nrows, cap, 0, d, nullptr, 0, 0};
    const bool vector = d % 4 == 0 && gnn_vector(z, y);
    launch_pieces(edge_sum<4>, edge_sum<1>, vector, l, stream, z, zfirst, nz, y, acc);
}

void gnn_cuda_edge_means(const struct gnn_csr *block, uint32_t nblocks, uint32_t first,
                         const uint32_t *nrows, uint32_t cap, const float *z, uint32_t zfirst,
                         size_t d, float *y, void *stream)
{
    const Layer l = {block, nblocks, first, nrows, cap, 0, d, nullptr, 0, 0};
    const bool vector = d % 4 == 0 && gnn_vector(z, y);
    launch_pieces(edge_means<4>, edge_means<1>, vector, l, stream, z, zfirst, y);
}

void gnn_cuda_edge_rest(const struct gnn_csr *block, uint32_t nblocks, uint64_t edges, size_t d,
                        float *z, void *stream)
{
    if (edges && d)
        GNN_LAUNCH(edge_rest, gnn_grid(edges * d, THREADS), THREADS, 0, stream, block, nblocks,
                   edges, d, z);
}
