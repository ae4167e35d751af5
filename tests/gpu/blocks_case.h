/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks to aggregate over, for cases. */
#ifndef GNN_TESTS_GPU_BLOCKS_CASE_H
#define GNN_TESTS_GPU_BLOCKS_CASE_H

#include "gpu/on_device.h"
#include "kernels/spmm.h"

enum { LAYER_MOST = 4 };

/* A layer of blocks: rows of no block before, between and behind them, rows without edges, a long
 * one in each block, self-loops, edges that are there twice; offsets that start anywhere, those of
 * every other block in 64 bits; of three blocks or more the second has no rows. */
struct layer {
    uint32_t nblocks, rows, cols, edges;
    struct gnn_csr block[LAYER_MOST]; /* of arrays of the case */
    struct gnn_csr back;              /* all of it transposed, with numbers of edges */
};

/* Blocks of n rows, which have less than `degree` edges, but one, which has `longest`, from `cols`
 * columns. */
struct layer layer_of(uint32_t nblocks, uint32_t n, uint32_t cols, uint32_t degree,
                      uint32_t longest);
/* Where the device has the blocks. Outside of runs: block. */
const struct gnn_csr *blocks_at(const struct gnn_csr *block, uint32_t nblocks);

#endif
