/* SPDX-License-Identifier: Apache-2.0 */
/* The grid of gnn_cuda_gather_rows, which no result tells: tests/gpu/case_gather.c has the results.
 */
#include <vector>

#include "emu/emu.h"
#include "kernels/gather.h"
#include "tap.h"

int main()
{
    /* Rows of 4 KB are a tile each, of a block each: the grid is then as large as it may be. */
    const uint64_t n = 7000;
    std::vector<unsigned char> row(4096), out(n * row.size());
    std::vector<uint32_t> id(n);
    const gnn_gather_part one = {0, 1, row.data(), GNN_TIER_DEVICE};
    gnn_cuda_gather g = {};
    g.backing = &one;
    g.nbacking = 1;
    g.bytes = row.size();
    g.capacity = n;
    g.id = id.data();
    g.out = out.data();
    unsigned wrong = 0;
    for (uint32_t blocks : {0u, 7u, 660u, 6999u, 9000u}) {
        g.blocks = blocks;
        gnn_cuda_gather_rows(&g, nullptr);
        wrong += emu::grid_dim.x != (!blocks ? emu::grid_max : blocks < n ? blocks : n);
    }
    ok(!wrong, "gnn_cuda_gather_rows takes as many blocks as it may (%u wrong)", wrong);
    return tap_done();
}
