/* SPDX-License-Identifier: Apache-2.0 */
/* Names of operations, and the bytes that they must transfer at least, by the formulas of list.h,
 * which the times of a run (gpu_time.c) and tests/gpu/bench_gpu.c both have from here. */
#ifndef GNN_LIB_OPS_GPU_COST_H
#define GNN_LIB_OPS_GPU_COST_H

#include "lib/ops/ops.h"

#include "kernels/factors.h"
#include "kernels/gate.h"
#include "kernels/half.h"
#include "kernels/label.h"
#include "kernels/loss.h"
#include "kernels/message.h"
#include "kernels/rows.h"
#include "kernels/weight.h"

struct gnn_ops_cost {
    char text[72]; /* what it is called */
    uint64_t bytes;
};

/* The shapes of blocks that have been told; the next one takes the oldest's place. Zeroed object =
 * none. */
enum { GNN_OPS_BLOCKS = 256 };
struct gnn_ops_blocks {
    struct {
        const struct gnn_csr *block;
        struct gnn_block_shape shape;
    } of[GNN_OPS_BLOCKS];
    unsigned told;
};
void gnn_ops_block_told(struct gnn_ops_blocks *known, const struct gnn_csr *block,
                        const struct gnn_block_shape *s);
/* Zeros of a block that has not been told; nothing is certain to be there. */
struct gnn_block_shape gnn_ops_block_shape(const struct gnn_ops_blocks *known,
                                           const struct gnn_csr *block);

/* gnn_ops_cost_NAME(&c, known, parameters) for each operation of the list; and for a product of
 * (m, k) by (k, n), of which the first is transposed, or which is added to what is there. */
#define GNN_OP(name, kind, words, params, cpu, cuda)                                               \
    void gnn_ops_cost_##name(struct gnn_ops_cost *cost, const struct gnn_ops_blocks *known,        \
                             GNN_OP_PARAMS params);
#include "lib/ops/list.h"
void gnn_ops_cost_product(struct gnn_ops_cost *c, size_t m, size_t n, size_t k, bool transposed,
                          bool added);

/* ---- formulas: words of four bytes ---- */

static inline uint64_t cells_of(uint64_t rows, uint64_t columns)
{
    return rows * columns;
}
/* Rows of results that are transferred: twice where they are added to, as they are read, too. */
static inline uint64_t rows_out(uint64_t rows, bool acc)
{
    return acc ? 2 * rows : rows;
}
static inline struct gnn_block_shape shape_of(const struct gnn_ops_blocks *known,
                                              const struct gnn_csr *block)
{
    return gnn_ops_block_shape(known, block);
}
/* The bounds for rows [from, to) of a block: none are known unless they are exactly the rows that
 * were told. */
static inline struct gnn_block_shape range_of(const struct gnn_ops_blocks *known,
                                              const struct gnn_csr *block, uint64_t from,
                                              uint64_t to)
{
    struct gnn_block_shape s = shape_of(known, block);
    if (s.from != from || s.to != to)
        s.edges = s.rows = s.sources = 0;
    return s;
}
#define AT_LEAST range_of(known, block, from, to)
/* The number of edges, of `edges` in all, of n rows that begin with edge `first`. */
static inline uint64_t edges_from(uint64_t edges, uint64_t first, uint64_t n)
{
    return edges <= first ? 0 : edges - first < n ? edges - first : n;
}
/* Attention: forward, and its gradients; of so many rows, of which `s` is what has edges. */
uint64_t gnn_ops_attention_words(const struct gnn_attention *a, struct gnn_block_shape s,
                                 uint64_t rows, unsigned flags);
uint64_t gnn_ops_sources_words(const struct gnn_attention *a, struct gnn_block_shape s,
                               uint64_t rows, const struct gnn_attention_back *g, bool acc);
uint64_t gnn_ops_targets_words(const struct gnn_attention *a, struct gnn_block_shape s,
                               uint64_t rows, const struct gnn_attention_back *g, bool acc);

#endif
