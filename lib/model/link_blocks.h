/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a batch's links: negatives that share their nodes with those of other links, so that
 * their scores are a matrix product. A row of a block is the end of a positive that its negatives
 * have, too, and its columns are the nodes that these share. A negative that does not fit, as one
 * with a node of its own because the shared one would make it an edge, is a pair for itself, as
 * positives are. */
#ifndef GNN_LIB_MODEL_LINK_BLOCKS_H
#define GNN_LIB_MODEL_LINK_BLOCKS_H

#include "lib/data/batch.h"
#include "lib/data/meta.h"

struct gnn_link_block {
    uint32_t first, rows; /* of the positives */
};
/* Zeroed object = empty: n is 0, and all links are pairs. Arrays are in the host's memory. */
struct gnn_link_blocks {
    uint32_t all;          /* links: positives, then negatives */
    uint32_t n, width;     /* blocks, and columns of each */
    unsigned end;          /* of the columns: 0, heads, or 1, tails; of the rows, the other */
    uint32_t cells;        /* of all blocks, row by row: `width` for each positive */
    uint32_t pairs;        /* positives, and the negatives that are in no block */
    struct gnn_buf block;  /* struct gnn_link_block (n) */
    struct gnn_buf column; /* u32 (n, width) local numbers of nodes */
    struct gnn_buf pair;   /* u32 (pairs) the numbers of these links, ascending */
    struct gnn_buf where;  /* u32 (all) the link's cell, or, after all cells, its pair */
};
/* Finds the blocks of a batch; none, if they would have fewer than `least` negatives on average. */
int gnn_link_blocks_find(struct gnn_link_blocks *x, const struct gnn_sampling *s,
                         const struct gnn_batch *b, uint32_t least, struct gnn_err *e) GNN_MUST_USE;
/* Makes pairs of all links. */
void gnn_link_blocks_none(struct gnn_link_blocks *x, uint32_t links);
void gnn_link_blocks_release(struct gnn_link_blocks *x);

#endif
