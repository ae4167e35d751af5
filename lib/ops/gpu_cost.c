/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/ops/gpu_cost.h"

#include <stdio.h>

static unsigned find_block(const struct gnn_ops_blocks *known, const struct gnn_csr *block)
{
    unsigned i = 0;
    while (i < GNN_OPS_BLOCKS && known->of[i].block != block)
        i++;
    return i;
}

void gnn_ops_block_told(struct gnn_ops_blocks *known, const struct gnn_csr *block,
                        const struct gnn_block_shape *s)
{
    unsigned i = find_block(known, block);
    if (i == GNN_OPS_BLOCKS)
        i = known->told++ % GNN_OPS_BLOCKS;
    known->of[i].block = block;
    known->of[i].shape = *s;
}

struct gnn_block_shape gnn_ops_block_shape(const struct gnn_ops_blocks *known,
                                           const struct gnn_csr *block)
{
    const unsigned i = find_block(known, block);
    return i < GNN_OPS_BLOCKS ? known->of[i].shape : (struct gnn_block_shape){0};
}

/* ---- attention ---- */

/* Columns: of all heads; a number for each head; of what is summed up, and of a destination's term
 * of the score. */
struct widths {
    uint64_t all, heads, value, dst;
};

static struct widths widths_of(const struct gnn_attention *a)
{
    const uint64_t all = (uint64_t)a->heads * a->channels;
    const bool numbers = a->kind == GNN_ATTENTION_ADD || a->kind == GNN_ATTENTION_RAW;
    return (struct widths){.all = all,
                           .heads = a->heads,
                           .value = a->kind == GNN_ATTENTION_RAW ? a->channels : all,
                           .dst = numbers ? a->heads : all};
}

/* Of a source, beside `value`; V2 has that alone. */
static uint64_t source_term(const struct gnn_attention *a, const struct widths *w)
{
    return a->kind == GNN_ATTENTION_V2 ? 0 : w->dst;
}

static uint64_t edge_term(const struct gnn_attention *a, const struct widths *w)
{
    return !a->edge ? 0 : a->kind == GNN_ATTENTION_V2 ? w->all : w->heads;
}

/* What the first backward pass leaves of an edge for the second one. */
static uint64_t left_of_edge(const struct gnn_attention *a, const struct widths *w, bool weights)
{
    return w->heads * (weights ? 2 : 1) +
           (a->kind == GNN_ATTENTION_V2 ? gnn_attention_signs(a->heads, a->channels) : 0);
}

/* Self-loops make a source, or a destination, of every row. */
static uint64_t with_loops(uint64_t n, bool loops, uint64_t rows)
{
    return loops && rows > n ? rows : n;
}

uint64_t gnn_ops_attention_words(const struct gnn_attention *a, struct gnn_block_shape s,
                                 uint64_t rows, unsigned flags)
{
    const struct widths w = widths_of(a);
    const uint64_t sources = with_loops(s.sources, a->loops, rows),
                   active = with_loops(s.rows, a->loops, rows), result = w.all + 2 * w.heads;
    return sources * (w.value + source_term(a, &w)) + s.edges * (1 + edge_term(a, &w)) + s.rows +
           active * w.dst + rows * result + (flags & GNN_ATTENTION_FIRST ? 0 : active * result);
}

uint64_t gnn_ops_sources_words(const struct gnn_attention *a, struct gnn_block_shape s,
                               uint64_t rows, const struct gnn_attention_back *g, bool acc)
{
    const struct widths w = widths_of(a);
    const bool whole = !g->edge1, loops = a->loops && whole;
    const uint64_t made =
        (g->dvalue ? w.value : 0) + source_term(a, &w) + (g->dscale ? w.heads : 0);
    const uint64_t active = with_loops(s.rows, loops, a->ndst),
                   targets = with_loops(s.sources, loops, a->ndst),
                   edges = whole ? s.edges : g->edge1 - g->edge0;
    const uint64_t words = made * (acc ? 2 * active : rows) + s.rows + edges;
    if (gnn_attention_targets_first(a->kind))
        return words + edges * left_of_edge(a, &w, g->edge_weight) +
               (g->dvalue ? targets * w.all : 0);
    return words + edges * (edge_term(a, &w) + w.heads) + active * (w.value + source_term(a, &w)) +
           targets * (w.all + w.dst + 3 * w.heads);
}

uint64_t gnn_ops_targets_words(const struct gnn_attention *a, struct gnn_block_shape s,
                               uint64_t rows, const struct gnn_attention_back *g, bool acc)
{
    const struct widths w = widths_of(a);
    const uint64_t made =
        w.dst + (g->dweight ? w.all : 0) + (g->weights ? w.heads : 0) + (g->dloop ? w.all : 0);
    const uint64_t active = with_loops(s.rows, a->loops, rows),
                   sources = with_loops(s.sources, a->loops, rows),
                   words = made * (acc ? 2 * active : rows) + s.rows;
    if (gnn_attention_targets_first(a->kind))
        return words + active * (w.dst + w.all + 3 * w.heads) +
               s.edges * (1 + edge_term(a, &w) + left_of_edge(a, &w, g->edge_weight) +
                          (g->dedge ? w.all : 0)) +
               sources * (w.value + source_term(a, &w));
    const uint64_t edges = g->edge1 ? g->edge1 - g->edge0 : s.edges;
    if (a->kind == GNN_ATTENTION_DOT)
        return words + edges * (1 + w.heads) + (g->edge1 ? 0 : s.sources * w.all);
    return words + edges * w.heads;
}

/* ---- all operations ---- */

/* Batches differ in their numbers of rows: they are not in the name. */
void gnn_ops_cost_product(struct gnn_ops_cost *c, size_t m, size_t n, size_t k, bool transposed,
                          bool added)
{
    if (transposed)
        snprintf(c->text, sizeof c->text, "matrix product (%zu, rows) by (rows, %zu)", m, n);
    else
        snprintf(c->text, sizeof c->text, "matrix product (rows, %zu) by (%zu, %zu)", k, k, n);
    c->bytes = 4 * (cells_of(m, k) + cells_of(k, n) + rows_out(cells_of(m, n), added));
}

/* Formulas need a few of the parameters each. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define GNN_OP(name, kind, words, params, cpu, cuda)                                               \
    void gnn_ops_cost_##name(struct gnn_ops_cost *cost, const struct gnn_ops_blocks *known,        \
                             GNN_OP_PARAMS params)                                                 \
    {                                                                                              \
        snprintf(cost->text, sizeof cost->text, GNN_OP_PARAMS kind);                               \
        cost->bytes = 4 * (uint64_t)(words);                                                       \
    }
#include "lib/ops/list.h"
