/* SPDX-License-Identifier: Apache-2.0 */
/* What operations must move at least, where a line of lib/ops/list.h does not say it: it depends on
 * how many edges blocks have; and attention's words of four bytes, each array of the two structs
 * read and written once, as far as the kind of score has it (kernels/attention.h). */
#include "lib/ops/gpu_ops.h"

static unsigned find_block(const struct ops_dev *dev, const struct gnn_csr *block)
{
    unsigned i = 0;
    while (i < OPS_BLOCKS && dev->known[i].block != block)
        i++;
    return i;
}

void gnn_ops_edges_told(struct ops_dev *dev, const struct gnn_csr *block, uint64_t edges)
{
    if (!dev->times)
        return;
    const unsigned i = find_block(dev, block);
    dev->known[i < OPS_BLOCKS ? i : dev->told++ % OPS_BLOCKS] = (struct ops_block){block, edges};
}

uint64_t gnn_ops_edges_of(const struct ops_dev *dev, const struct gnn_csr *block)
{
    const unsigned i = dev->times ? find_block(dev, block) : OPS_BLOCKS;
    return i < OPS_BLOCKS ? dev->known[i].edges : 0;
}

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

uint64_t gnn_ops_attention_words(const struct gnn_attention *a, uint64_t edges, uint64_t rows,
                                 unsigned flags)
{
    const struct widths w = widths_of(a);
    const uint64_t kept = flags & GNN_ATTENTION_FIRST ? 1 : 2;
    return a->nsrc * (w.value + source_term(a, &w)) + edges * (1 + edge_term(a, &w)) +
           rows * (1 + w.dst + kept * (w.all + 2 * w.heads));
}

uint64_t gnn_ops_sources_words(const struct gnn_attention *a, uint64_t edges, uint64_t rows,
                               const struct gnn_attention_back *g, bool acc)
{
    const struct widths w = widths_of(a);
    const uint64_t made =
        (g->dvalue ? w.value : 0) + source_term(a, &w) + (g->dscale ? w.heads : 0);
    if (g->edge1) /* those of a part */
        edges = g->edge1 - g->edge0;
    const uint64_t words = rows * (1 + made * (acc ? 2 : 1)) + edges + a->ndst * w.all; /* dy */
    if (gnn_attention_targets_first(a->kind))
        return words + edges * left_of_edge(a, &w, g->edge_weight);
    return words + edges * (edge_term(a, &w) + w.heads) + rows * (w.value + source_term(a, &w)) +
           a->ndst * (w.dst + 3 * w.heads);
}

uint64_t gnn_ops_targets_words(const struct gnn_attention *a, uint64_t edges, uint64_t rows,
                               const struct gnn_attention_back *g, bool acc)
{
    const struct widths w = widths_of(a);
    const uint64_t made =
        w.dst + (g->dweight ? w.all : 0) + (g->weights ? w.heads : 0) + (g->dloop ? w.all : 0);
    const uint64_t words = rows * (1 + made * (acc ? 2 : 1)) + edges;
    if (!gnn_attention_targets_first(a->kind))
        return words + edges * w.heads + (a->kind == GNN_ATTENTION_DOT ? a->nsrc * w.all : 0);
    return words +
           edges *
               (edge_term(a, &w) + left_of_edge(a, &w, g->edge_weight) + (g->dedge ? w.all : 0)) +
           rows * (w.dst + w.all + 3 * w.heads) + a->nsrc * (w.value + source_term(a, &w));
}
