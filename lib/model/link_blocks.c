/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/link_blocks.h"

#include <string.h>

/* What blocks are made from. */
struct shared {
    const struct gnn_batch *b;
    struct gnn_drawn drawn;
    unsigned end;   /* whose nodes are shared */
    uint32_t n;     /* positives */
    uint32_t each;  /* negatives of a positive */
    uint32_t group; /* positives of the global batch that make a block */
};

void gnn_link_blocks_release(struct gnn_link_blocks *x)
{
    gnn_buf_release(&x->block);
    gnn_buf_release(&x->column);
    gnn_buf_release(&x->pair);
    gnn_buf_release(&x->where);
    *x = (struct gnn_link_blocks){0};
}

void gnn_link_blocks_none(struct gnn_link_blocks *x, uint32_t links)
{
    x->all = x->pairs = links;
    x->n = x->width = x->cells = 0;
    x->end = 1;
}

/* Where a positive is in the global batch. */
static uint32_t place_of(const struct shared *s, uint32_t i)
{
    return s->b->at ? s->b->at[i] : i;
}

/* The column of a positive's first negative; the others follow. Of in-batch negatives, columns are
 * the positives after the block's first. */
static uint32_t first_column(const struct shared *s, uint32_t i)
{
    return s->drawn.kind == GNN_NEGATIVES_IN_BATCH ? place_of(s, i) % s->group : 0;
}

/* Makes blocks of the positives that this rank has of each group; how many there are. */
static uint32_t split_groups(struct gnn_link_block *block, const struct shared *s)
{
    uint32_t n = 0, last = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t group = place_of(s, i) / s->group;
        if (!i || group != last)
            block[n++] = (struct gnn_link_block){i, 0};
        block[n - 1].rows++;
        last = group;
    }
    return n;
}

/* The node that most of a block's negatives in each column have, if more than half of them have one
 * (Boyer and Moore's vote); ahead: space for as many numbers. */
static void vote_columns(const struct gnn_link_blocks *x, const struct shared *s, uint32_t g,
                         uint32_t *ahead)
{
    const struct gnn_link_block *block = (const struct gnn_link_block *)x->block.data + g;
    uint32_t *node = (uint32_t *)x->column.data + (size_t)g * x->width;
    memset(node, 0, x->width * sizeof *node);
    memset(ahead, 0, x->width * sizeof *ahead);
    for (uint32_t i = block->first; i < block->first + block->rows; i++) {
        const uint32_t *negative = s->b->negative + 2 * (size_t)i * s->each,
                       at = first_column(s, i);
        for (uint32_t k = 0; k < s->each; k++) {
            const uint32_t v = negative[2 * (size_t)k + s->end], c = at + k;
            if (!ahead[c])
                node[c] = v;
            ahead[c] += node[c] == v ? 1 : UINT32_MAX;
        }
    }
}

/* Tells each negative of a block where its score is. */
static void place_negatives(struct gnn_link_blocks *x, const struct shared *s, uint32_t g)
{
    const struct gnn_link_block *block = (const struct gnn_link_block *)x->block.data + g;
    const uint32_t *node = (const uint32_t *)x->column.data + (size_t)g * x->width;
    uint32_t *where = x->where.data, *pair = x->pair.data;
    for (uint32_t i = block->first; i < block->first + block->rows; i++) {
        const uint32_t fixed = s->b->pair[2 * (size_t)i + !s->end], at = first_column(s, i);
        for (uint32_t k = 0; k < s->each; k++) {
            const uint32_t j = i * s->each + k, *ends = s->b->negative + 2 * (size_t)j;
            const bool in = ends[!s->end] == fixed && ends[s->end] == node[at + k];
            where[s->n + j] = in ? i * x->width + at + k : x->cells + x->pairs;
            pair[x->pairs] = s->n + j;
            x->pairs += !in;
        }
    }
}

static bool is_shared(const struct gnn_sampling *m, struct gnn_drawn d)
{
    return m->links.end != GNN_NEGATIVE_BOTH &&
           (d.kind == GNN_NEGATIVES_JOINT || d.kind == GNN_NEGATIVES_IN_BATCH);
}

static int fit_blocks(struct gnn_link_blocks *x, uint32_t positives, struct gnn_err *e)
{
    return gnn_buf_fit(&x->block, positives, sizeof(struct gnn_link_block), "links", e) ||
                   gnn_buf_fit(&x->pair, x->all + UINT64_C(1), sizeof(uint32_t), "links", e) ||
                   gnn_buf_fit(&x->where, x->all, sizeof(uint32_t), "links", e)
               ? e->code
               : 0;
}

static int make_blocks(struct gnn_link_blocks *x, const struct shared *s, struct gnn_err *e)
{
    if (gnn_buf_fit(&x->column, (x->n + UINT64_C(1)) * x->width, sizeof(uint32_t), "links", e))
        return e->code;
    uint32_t *where = x->where.data, *pair = x->pair.data,
             *ahead = (uint32_t *)x->column.data + (size_t)x->n * x->width;
    x->pairs = s->n;
    for (uint32_t i = 0; i < s->n; i++) {
        pair[i] = i;
        where[i] = x->cells + i;
    }
    for (uint32_t g = 0; g < x->n; g++) {
        vote_columns(x, s, g, ahead);
        place_negatives(x, s, g);
    }
    return 0;
}

int gnn_link_blocks_find(struct gnn_link_blocks *x, const struct gnn_sampling *m,
                         const struct gnn_batch *b, uint32_t least, struct gnn_err *e)
{
    const struct gnn_drawn d = gnn_sampling_drawn(m, b->split);
    const uint64_t n = b->rows[GNN_UNIT_PAIRS], negatives = b->rows[GNN_UNIT_NEGATIVES],
                   each = gnn_drawn_each(d);
    const bool in_batch = d.kind == GNN_NEGATIVES_IN_BATCH;
    const struct shared s = {.b = b,
                             .drawn = d,
                             .end = !gnn_links_fixed_end(&m->links),
                             .n = (uint32_t)n,
                             .each = (uint32_t)each,
                             .group = in_batch  ? (uint32_t)each
                                      : d.group ? d.group
                                                : UINT32_MAX};
    const uint64_t width = in_batch ? 2 * each - 1 : each;
    gnn_link_blocks_none(x, (uint32_t)(n + negatives));
    if (!is_shared(m, d) || !n || negatives != n * each || n * width + x->all > UINT32_MAX)
        return 0;
    if (fit_blocks(x, s.n, e))
        return e->code;
    const uint32_t blocks = split_groups(x->block.data, &s);
    if (negatives / blocks < least)
        return 0;
    x->n = blocks;
    x->width = (uint32_t)width;
    x->end = s.end;
    x->cells = (uint32_t)(n * width);
    return make_blocks(x, &s, e);
}
