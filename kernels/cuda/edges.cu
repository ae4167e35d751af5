/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the rows of edges by their ids.
 *
 * What it waits for is memory, mostly the host's, where a store's row pointers stay: a few reads
 * that depend on each other. So eight lanes share a destination: they read its place at the same
 * address, once for all of them, and then an id each, side by side; fan-outs are 5 to 25, and a
 * destination with all of its 100,000 edges is still spread over eight. */
#include "kernels/edges.h"

#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256, LANES = 8;

__global__ void __launch_bounds__(THREADS) find_edges(const gnn_edges f)
{
    const GnnRows r = gnn_rows(LANES);
    for (uint64_t i = r.row; i < f.n; i += r.stride) {
        const uint32_t from = __ldg(f.indptr + i), to = __ldg(f.indptr + i + 1);
        if (from == to)
            continue;
        const struct gnn_edges_of in = gnn_edges_of_node(f.part, f.nparts, __ldg(f.dst + i));
        for (uint64_t q = (uint64_t)from + r.lane; q < to; q += LANES)
            f.row[q] = gnn_edges_row(&in, __ldg(f.id + q));
    }
}

} // namespace

void gnn_cuda_find_edges(const struct gnn_edges *f, void *stream)
{
    if (f->n)
        GNN_LAUNCH(find_edges, gnn_grid(f->n, THREADS / LANES), THREADS, 0, stream, *f);
}
