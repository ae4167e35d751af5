/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of a row of attention, in groups (kernels/attention_edge.h). */
#ifndef GNN_KERNELS_CPU_ATTENTION_GROUP_H
#define GNN_KERNELS_CPU_ATTENTION_GROUP_H

#include <string.h>

#include "kernels/attention.h"
#include "kernels/attention_edge.h"
#include "kernels/simd.h"

/* Rows short of the cache are fetched AHEAD edges before they are used, past the end of the row
 * too. */
enum { AHEAD = 12, HEADS = GNN_ATTENTION_HEADS, GROUP = GNN_ATTENTION_GROUP };

/* The edges of one row of a block. */
struct span {
    const uint32_t *index, *number; /* number NULL: first, first + 1 and so on */
    uint64_t n, left;               /* edges of the row; and of the block from here on */
    uint32_t first, self;
    bool loops, end; /* edges to itself are left out; a self-loop comes at the end */
};

/* Edges at work, those that are left out not among them, the self-loop the last if there is one. */
struct group {
    uint32_t n, left;
    bool loop;
    /* the `left` edges that come AHEAD of these, which are fetched meanwhile */
    const uint32_t *next;
    uint32_t at[GROUP], number[GROUP];
    const float *edge[GROUP]; /* rows of features or NULL */
    float u[GROUP * HEADS];   /* sums before leaky, or scores */
    float p[GROUP * HEADS], keep[GROUP * HEADS], dot[GROUP * HEADS], raw[GROUP * HEADS];
};

/* The row of number i in the block, whose first edge has the number `base`. */
GNN_INLINE struct span span_of(const struct gnn_csr *k, uint32_t i, uint64_t base, bool loops,
                               bool end)
{
    const uint64_t first = gnn_csr_offset(k, i), all = gnn_csr_offset(k, k->n);
    struct span s;
    s.index = k->indices + first;
    s.number = k->edge ? k->edge + first : NULL;
    s.n = gnn_csr_offset(k, i + 1) - first;
    s.left = all - first;
    s.first = (uint32_t)(base + first - gnn_csr_offset(k, 0));
    s.self = k->first + i;
    s.loops = loops;
    s.end = end;
    return s;
}

/* The number of the row's edge e. */
GNN_INLINE uint32_t number_at(const struct span *s, uint64_t e)
{
    return s->number ? s->number[e] : s->first + (uint32_t)e;
}

GNN_INLINE size_t edge_width(const struct gnn_attention *a)
{
    return a->kind == GNN_ATTENTION_V2 ? (size_t)a->heads * a->channels : a->heads;
}

/* Edges at positions from `at` on; false: there are none. loop: the row of a->loop of this row. */
GNN_INLINE bool take_group(const struct gnn_attention *a, const struct span *s, uint64_t at,
                           const float *loop, struct group *g)
{
    const uint64_t end = s->n + s->end;
    const size_t wide = edge_width(a);
    g->n = 0;
    g->loop = false;
    const uint64_t after = at + AHEAD < s->left ? s->left - at - AHEAD : 0;
    g->left = (uint32_t)(after > GROUP ? (uint64_t)GROUP : after);
    g->next = g->left ? s->index + at + AHEAD : NULL;
    for (uint64_t e = at; e < s->n && e < at + GROUP; e++) {
        if (s->loops && s->index[e] == s->self)
            continue;
        g->at[g->n] = s->index[e];
        g->number[g->n] = number_at(s, e);
        g->edge[g->n] = a->edge ? a->edge + (size_t)(g->number[g->n] - a->edge0) * wide : NULL;
        g->n++;
    }
    if (s->end && at + GROUP >= end && at < end) {
        g->loop = true;
        g->at[g->n] = g->number[g->n] = s->self;
        g->edge[g->n++] = loop;
    }
    return at < end;
}

/* Into the second level of the cache, where more rows can be on their way at once. */
GNN_INLINE void fetch_floats(const float *x, size_t w)
{
    for (size_t c = 0; c < w; c += 64 / sizeof(*x))
        __builtin_prefetch(x + c, 0, 2);
}

/* For edge e of the group. */
GNN_INLINE void fetch_row(const struct group *g, uint32_t e, const float *x, size_t w)
{
    if (e < g->left)
        fetch_floats(x + (size_t)g->next[e] * w, w);
}

/* As fetch_row, into the first level, for rows that each head reads. */
GNN_INLINE void fetch_row_near(const struct group *g, uint32_t e, const float *x, size_t w)
{
    for (size_t c = 0; e < g->left && c < w; c += 64 / sizeof(*x))
        __builtin_prefetch(x + (size_t)g->next[e] * w + c);
}

/* Factors of the weights under dropout: 0, or what makes up for the dropped ones. */
GNN_INLINE void draw_group(const struct gnn_attention *a, uint32_t node, struct group *g)
{
    const struct gnn_attention_drop *q = &a->drop;
    const float scale = 65536.0f / (float)q->keep16;
    const uint32_t heads = a->heads, k0 = q->key[0], k1 = q->key[1];
    uint32_t low[GROUP] = {0}, high[GROUP] = {0}, kind[GROUP] = {0}, w[4][GROUP];
    for (uint32_t e = 0; e < g->n; e++) {
        const bool loop = g->loop && e + 1 == g->n;
        const uint64_t id = loop ? node : q->id ? q->id[g->number[e]] : g->number[e];
        low[e] = (uint32_t)id;
        high[e] = (uint32_t)(id >> 32);
        kind[e] = loop;
    }
    for (uint32_t b = 0; b < heads; b += 8) {
        for (uint32_t e = 0; e < GROUP; e++) {
            uint32_t c0 = low[e], c1 = high[e], c2 = b / 8, c3 = kind[e];
            GNN_PHILOX_10(c0, c1, c2, c3, k0, k1);
            w[0][e] = c0, w[1][e] = c1, w[2][e] = c2, w[3][e] = c3;
        }
        for (uint32_t e = 0; e < g->n; e++)
            for (uint32_t h = b; h < heads && h < b + 8; h++)
                g->keep[e * heads + h] =
                    (w[h % 8 / 2][e] >> (h % 2 * 16) & 0xffff) < q->keep16 ? scale : 0;
    }
}

/* Scores become powers p, powers weights, and u the gradients of the scores; edge e's destination,
 * whose m, z and dots count, is at[e * step]. */
GNN_INLINE void grads_of_scores(const struct gnn_attention *a, enum gnn_attention_kind kind,
                                const struct gnn_attention_back *b, const uint32_t *at, size_t step,
                                uint32_t node, struct group *g)
{
    const uint32_t heads = a->heads;
    float *__restrict p = g->p, *__restrict u = g->u;
    const float *__restrict dot = g->dot;
    for (uint32_t e = 0; e < g->n; e++)
        for (uint32_t h = 0; h < heads; h++)
            p[e * heads + h] -= b->m[(size_t)at[e * step] * heads + h];
    for (uint32_t k = 0; k < g->n * heads; k++)
        p[k] = gnn_expf(p[k]);
    if (a->drop.keep16)
        draw_group(a, node, g);
    for (uint32_t k = 0; !a->drop.keep16 && k < g->n * heads; k++)
        g->keep[k] = 1;
    if (kind == GNN_ATTENTION_DOT)
        memcpy(g->raw, u, g->n * heads * sizeof(*u));
    for (uint32_t e = 0; e < g->n; e++) {
        const size_t i = (size_t)at[e * step] * heads, k = (size_t)e * heads;
        const float *__restrict z = b->z + i, *__restrict dots = b->dots + i;
        for (uint32_t h = 0; h < heads; h++) {
            const float r = p[k + h] * (1 / z[h]), keep = g->keep[k + h];
            const float ds = r * (dot[k + h] * keep - dots[h]);
            p[k + h] = r * keep;
            u[k + h] = gnn_attention_wide(kind) ? ds : gnn_leaky_back(u[k + h], a->slope, ds);
        }
    }
}

/* The group's numbers, to where the second pass finds them: in the row of the edge's number, which
 * is counted from edge0 on, or of the destination of a self-loop, counted from row `first` on. */
GNN_INLINE void keep_terms(const struct gnn_attention *a, const struct group *g, const float *from,
                           float *edges, uint32_t edge0, float *loops, uint32_t first)
{
    const uint32_t heads = a->heads;
    for (uint32_t e = 0; e < g->n; e++) {
        const bool loop = g->loop && e + 1 == g->n;
        float *to = loop ? loops + (size_t)(g->number[e] - first) * heads
                         : edges + (size_t)(g->number[e] - edge0) * heads;
        memcpy(to, from + e * heads, heads * sizeof(*to));
    }
}

/* Edges that are left out have terms of 0. */
GNN_INLINE void clear_loops(const struct span *s, uint32_t heads, float *terms, uint32_t edge0)
{
    for (uint64_t e = 0; s->loops && e < s->n; e++)
        if (s->index[e] == s->self)
            memset(terms + (size_t)(number_at(s, e) - edge0) * heads, 0, heads * sizeof(*terms));
}

#endif
