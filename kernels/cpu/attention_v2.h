/* SPDX-License-Identifier: Apache-2.0 */
/* GATv2's backward pass (kernels/attention.h). By destinations, which come first, each source's row
 * is read once, for the score, for the gradient of its weight and for what the score's gradient
 * gives; which of a score's terms were above 0 is kept as a bit. So by sources only the gradients
 * of results are read, and nothing is computed again.
 *
 * Bits of an edge: LANES columns of a head are a block, counted through all heads. Word w * LANES
 * + l has the lane l of blocks 32 * w .. 32 * w + 31, from the lowest bit on. */
#ifndef GNN_KERNELS_CPU_ATTENTION_V2_H
#define GNN_KERNELS_CPU_ATTENTION_V2_H

#include "kernels/cpu/attention_group.h"
#include "kernels/cpu/lanes.h"

typedef uint32_t lane_words __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

enum { BLOCKS = 4 }; /* at once, so that there are enough sums that do not wait for one another */

/* As many as there are, and zeros; it does not matter what is beyond. */
GNN_INLINE void load_block(const float *x, uint32_t n, lanes_of *v)
{
    if (n >= LANES)
        load_lanes(x, v);
    else
        load_some(x, n, v);
}

GNN_INLINE void store_block(float *x, uint32_t n, const lanes_of *v)
{
    if (n >= LANES)
        *(lanes_of *)(void *)x = *v;
    for (uint32_t l = 0; n < LANES && l < n; l++)
        x[l] = (*v)[l];
}

/* Chooses x for lanes whose bits are set in `up`, else y. */
GNN_INLINE void choose_lanes(const lane_bits *up, const lanes_of *x, const lanes_of *y, lanes_of *v)
{
    *v = (lanes_of)((*up & (lane_bits)*x) | (~*up & (lane_bits)*y));
}

/* Numbers of a group's edges, those of head h and edge e at h * GROUP + e: loops over edges have
 * whole vectors then. low: the gradients of the scores times the slope. */
struct v2_numbers {
    float score[GROUP * HEADS], dot[GROUP * HEADS], keep[GROUP * HEADS];
    float weight[GROUP * HEADS], high[GROUP * HEADS], low[GROUP * HEADS];
};

/* The kernel's state for one edge. */
struct v2_edge {
    const float *own, *other, *edge, *dy; /* rows; edge may be NULL */
    float *score, *dot; /* v2_dot's, and that of other and dy; those of heads are GROUP apart */
    uint32_t *sign;
};

GNN_INLINE void v2_score_edge(const struct gnn_attention *a, const struct v2_edge *v, bool edges)
{
    const uint32_t heads = a->heads, n = a->channels;
    const lane_words none = {0};
    lane_words word = none, bit = none + 1;
    uint32_t *to = v->sign, b = 0;
    for (size_t h = 0; h < heads; h++) {
        lanes_of s = {0}, t = {0}, w, x, y, f, dy;
        for (uint32_t c = 0; c < n; c += LANES) {
            const size_t at = h * n + c;
            load_block(a->weight + at, n - c, &w), load_block(v->own + at, n - c, &x);
            load_block(v->other + at, n - c, &y), load_block(v->dy + at, n - c, &dy);
            x += y;
            if (edges) {
                load_block(v->edge + at, n - c, &f);
                x += f;
            }
            add_leaky(&s, &w, &x, a->slope);
            t += dy * y;
            word |= (lane_words)(x > 0) & bit;
            bit += bit;
            if (++b % 32 == 0) {
                *(lane_words *)(void *)to = word;
                to += LANES, word = none, bit = none + 1;
            }
        }
        v->score[h * GROUP] = fold_lanes(&s), v->dot[h * GROUP] = fold_lanes(&t);
    }
    if (b % 32)
        *(lane_words *)(void *)to = word;
}

/* `blocks` whole blocks, or n columns of one, of head h, from column `at` on: what the group's
 * edges give to the row's gradients. */
GNN_INLINE void v2_target_block(const struct gnn_attention *a, const struct group *g,
                                const struct v2_numbers *t, const float *const *x, uint32_t h,
                                size_t at, uint32_t blocks, uint32_t n, const float *own,
                                float *ddst, float *dweight, float *const *dedge)
{
    const lanes_of none = {0};
    lanes_of w, mine[BLOCKS], dw[BLOCKS], sum[BLOCKS] = {{0}}, v, f;
    for (uint32_t q = 0; q < blocks; q++) {
        load_block(own + at + q * LANES, n, &mine[q]);
        load_block(dweight + at + q * LANES, n, &dw[q]);
    }
    for (uint32_t e = 0; e < g->n; e++) {
        const float grad = t->high[h * GROUP + e];
        const lanes_of high = grad - none, low = t->low[h * GROUP + e] - none;
        for (uint32_t q = 0; q < blocks; q++) {
            const size_t c = at + q * LANES;
            load_block(x[e] + c, n, &v);
            v = mine[q] + v;
            if (dedge && g->edge[e]) {
                load_block(g->edge[e] + c, n, &f);
                v += f;
            }
            const lane_bits is = v > 0;
            const lanes_of less = v * a->slope;
            choose_lanes(&is, &v, &less, &f);
            dw[q] += grad * f;
            choose_lanes(&is, &high, &low, &f);
            sum[q] += f;
            if (dedge && dedge[e]) {
                load_block(a->weight + c, n, &w);
                f *= w;
                store_block(dedge[e] + c, n, &f);
            }
        }
    }
    for (uint32_t q = 0; q < blocks; q++) {
        const size_t c = at + q * LANES;
        load_block(a->weight + c, n, &w), load_block(ddst + c, n, &f);
        f += w * sum[q];
        store_block(ddst + c, n, &f), store_block(dweight + c, n, &dw[q]);
    }
}

/* dedge: rows of the group's edges or NULL; NULL: there are no features of edges. */
GNN_INLINE void v2_target_back(const struct gnn_attention *a, const struct group *g,
                               const struct v2_numbers *t, const float *own, float *ddst,
                               float *dweight, float *const *dedge)
{
    const uint32_t heads = a->heads, n = a->channels;
    const float *x[GROUP];
    for (uint32_t e = 0; e < g->n; e++)
        x[e] = a->value + (size_t)g->at[e] * heads * n;
    for (uint32_t h = 0; h < heads; h++) {
        const size_t at = (size_t)h * n;
        uint32_t c = 0;
        for (; c + BLOCKS * LANES <= n; c += BLOCKS * LANES)
            v2_target_block(a, g, t, x, h, at + c, BLOCKS, LANES, own, ddst, dweight, dedge);
        for (; c + LANES <= n; c += LANES)
            v2_target_block(a, g, t, x, h, at + c, 1, LANES, own, ddst, dweight, dedge);
        if (c < n)
            v2_target_block(a, g, t, x, h, at + c, 1, n - c, own, ddst, dweight, dedge);
    }
}

/* Scores, and what comes of them; rows are in the cache after that. */
GNN_INLINE void v2_score_group(const struct gnn_attention *a, const struct gnn_attention_back *b,
                               size_t row, const struct group *g, struct v2_numbers *t)
{
    const uint32_t heads = a->heads, whole = g->n / LANES * LANES;
    const size_t d = (size_t)heads * a->channels, words = gnn_attention_signs(heads, a->channels);
    struct v2_edge v;
    v.own = a->dst + row * d, v.dy = b->dy + row * d;
    for (uint32_t h = 0; h < heads && whole < g->n; h++)
        for (uint32_t l = 0; l < LANES; l++) /* what whole vectors have beyond the edges */
            t->score[h * GROUP + whole + l] = t->dot[h * GROUP + whole + l] = 0;
    for (uint32_t e = 0; e < g->n; e++) {
        const bool loop = g->loop && e + 1 == g->n;
        v.other = a->value + g->at[e] * d, v.edge = g->edge[e];
        v.score = t->score + e, v.dot = t->dot + e;
        v.sign = loop ? b->loop_sign + row * words : b->edge_sign + g->number[e] * words;
        fetch_row(g, e, a->value, d);
        if (v.edge)
            v2_score_edge(a, &v, true);
        else
            v2_score_edge(a, &v, false);
    }
}

/* Weights, and the gradients of scores, as grads_of_scores makes them, of one destination and head:
 * LANES edges from number k on; z: 1 by the sum of the powers. */
GNN_INLINE void v2_weigh_lanes(struct v2_numbers *t, size_t k, float m, float z, float dots,
                               float slope)
{
    const float *__restrict score = t->score + k, *__restrict dot = t->dot + k;
    const float *__restrict keep = t->keep + k;
    float *__restrict weight = t->weight + k, *__restrict high = t->high + k;
    float *__restrict low = t->low + k;
    for (uint32_t l = 0; l < LANES; l++) {
        const float r = gnn_expf(score[l] - m) * z;
        weight[l] = r * keep[l];
        high[l] = r * (dot[l] * keep[l] - dots);
        low[l] = high[l] * slope;
    }
}

GNN_INLINE void v2_weigh_group(const struct gnn_attention *a, const struct gnn_attention_back *b,
                               size_t row, uint32_t node, struct group *g, struct v2_numbers *t)
{
    const uint32_t heads = a->heads;
    const float *m = b->m + row * heads, *z = b->z + row * heads, *dots = b->dots + row * heads;
    if (a->drop.keep16)
        draw_group(a, node, g);
    for (uint32_t h = 0; h < heads; h++) {
        const size_t k = (size_t)h * GROUP;
        for (uint32_t e = 0; e < (g->n + LANES - 1) / LANES * LANES; e++)
            t->keep[k + e] = 1;
        for (uint32_t e = 0; a->drop.keep16 && e < g->n; e++)
            t->keep[k + e] = g->keep[e * heads + h];
        for (uint32_t e = 0; e < g->n; e += LANES)
            v2_weigh_lanes(t, k + e, m[h], 1 / z[h], dots[h], a->slope);
    }
}

/* To where the pass by sources finds them; and the sums of the weights. */
GNN_INLINE void v2_keep_group(const struct gnn_attention *a, const struct gnn_attention_back *b,
                              size_t row, const struct group *g, const struct v2_numbers *t)
{
    const uint32_t heads = a->heads;
    for (uint32_t e = 0; e < g->n; e++) {
        const bool loop = g->loop && e + 1 == g->n;
        const size_t k = (loop ? row : g->number[e]) * heads;
        float *__restrict grad = (loop ? b->loop_grad : b->edge_grad) + k;
        float *__restrict weight = (loop ? b->loop_weight : b->edge_weight) + k;
        for (uint32_t h = 0; h < heads; h++) {
            grad[h] = t->high[h * GROUP + e];
            weight[h] = t->weight[h * GROUP + e];
            b->weights[row * heads + h] += weight[h];
        }
    }
}

/* Where the gradients of the rows of the group's edges go, or NULL. */
GNN_INLINE void v2_edge_rows(const struct gnn_attention *a, const struct gnn_attention_back *b,
                             size_t row, const struct group *g, float **to)
{
    const size_t d = (size_t)a->heads * a->channels;
    for (uint32_t e = 0; e < g->n; e++)
        to[e] = g->loop && e + 1 == g->n ? b->dloop ? b->dloop + row * d : NULL
                : b->dedge               ? b->dedge + (g->number[e] - a->edge0) * d
                                         : NULL;
}

GNN_INLINE void target_row_v2(const struct gnn_attention *a, const struct span *s, size_t row,
                              const struct gnn_attention_back *b, bool acc)
{
    const uint32_t heads = a->heads;
    const size_t d = (size_t)heads * a->channels;
    const uint32_t node = s->end && a->drop.keep16 ? a->drop.node[row] : 0;
    const float *loop = a->loop ? a->loop + row * d : NULL;
    float *ddst = b->ddst + row * d, *dw = b->dweight + row * d, *dedge[GROUP];
    struct group g;
    struct v2_numbers t;
    if (!acc) {
        memset(ddst, 0, d * sizeof(float)), memset(dw, 0, d * sizeof(float));
        memset(b->weights + row * heads, 0, heads * sizeof(float));
    }
    clear_loops(s, heads, b->edge_grad, 0), clear_loops(s, heads, b->edge_weight, 0);
    for (uint64_t e = 0; b->dedge && s->loops && e < s->n; e++)
        if (s->index[e] == s->self)
            memset(b->dedge + (number_at(s, e) - a->edge0) * d, 0, d * sizeof(float));
    for (uint64_t at = 0; take_group(a, s, at, loop, &g); at += GROUP) {
        v2_score_group(a, b, row, &g, &t);
        v2_weigh_group(a, b, row, node, &g, &t);
        v2_keep_group(a, b, row, &g, &t);
        if (!a->edge && !a->loop) {
            v2_target_back(a, &g, &t, a->dst + row * d, ddst, dw, NULL);
        } else {
            v2_edge_rows(a, b, row, &g, dedge);
            v2_target_back(a, &g, &t, a->dst + row * d, ddst, dw, dedge);
        }
    }
}

/* ---- by sources ---- */

/* State of the group's edges: rows of dy, gradients of scores, also times the slope, and weights.
 */
struct v2_told {
    const float *dy[GROUP];
    const uint32_t *sign[GROUP];
    float high[GROUP * HEADS], low[GROUP * HEADS], weight[GROUP * HEADS];
};

GNN_INLINE void v2_take_told(const struct gnn_attention *a, const struct gnn_attention_back *b,
                             const struct group *g, struct v2_told *t)
{
    const uint32_t heads = a->heads;
    const size_t d = (size_t)heads * a->channels, words = gnn_attention_signs(heads, a->channels);
    for (uint32_t e = 0; e < g->n; e++) {
        const bool loop = g->loop && e + 1 == g->n;
        const size_t k = g->number[e];
        const float *__restrict grad = (loop ? b->loop_grad : b->edge_grad) + k * heads;
        const float *__restrict weight = (loop ? b->loop_weight : b->edge_weight) + k * heads;
        t->dy[e] = b->dy + g->at[e] * d;
        t->sign[e] = (loop ? b->loop_sign : b->edge_sign) + k * words;
        for (uint32_t h = 0; h < heads; h++) {
            t->high[e * heads + h] = grad[h];
            t->low[e * heads + h] = grad[h] * a->slope;
            t->weight[e * heads + h] = weight[h];
        }
    }
}

/* `blocks` whole blocks, or n columns of one, of head h; column `at` is the first, block number k
 * that of the edges' bits, of which all are in the same words. */
GNN_INLINE void v2_source_block(const struct gnn_attention *a, const struct v2_told *t,
                                uint32_t edges, uint32_t h, size_t at, uint32_t blocks, uint32_t n,
                                uint32_t k, float *dvalue, bool fresh)
{
    const uint32_t heads = a->heads;
    const size_t word = k / 32 * LANES;
    const lane_words no_bit = {0}, first = no_bit + (1u << k % 32);
    const lanes_of none = {0};
    lanes_of w, s[BLOCKS] = {{0}}, sum[BLOCKS] = {{0}}, v;
    for (uint32_t q = 0; !fresh && q < blocks; q++)
        load_block(dvalue + at + q * LANES, n, &s[q]);
    for (uint32_t e = 0; e < edges; e++) {
        const lanes_of high = t->high[e * heads + h] - none, low = t->low[e * heads + h] - none;
        const float weight = t->weight[e * heads + h], *dy = t->dy[e] + at;
        const lane_words up = *(const lane_words *)(const void *)(t->sign[e] + word);
        for (uint32_t q = 0; q < blocks; q++) {
            const lane_bits is = (up & first << q) != 0;
            load_block(dy + q * LANES, n, &v);
            s[q] += weight * v;
            choose_lanes(&is, &high, &low, &v);
            sum[q] += v;
        }
    }
    for (uint32_t q = 0; q < blocks; q++) {
        load_block(a->weight + at + q * LANES, n, &w);
        s[q] += w * sum[q];
        store_block(dvalue + at + q * LANES, n, &s[q]);
    }
}

GNN_INLINE void v2_source_group(const struct gnn_attention *a, const struct v2_told *t,
                                uint32_t edges, float *dvalue, bool fresh)
{
    const uint32_t n = a->channels;
    uint32_t k = 0;
    for (uint32_t h = 0; h < a->heads; h++) {
        const size_t at = (size_t)h * n;
        uint32_t c = 0;
        for (; c + BLOCKS * LANES <= n && k % BLOCKS == 0; c += BLOCKS * LANES, k += BLOCKS)
            v2_source_block(a, t, edges, h, at + c, BLOCKS, LANES, k, dvalue, fresh);
        for (; c + LANES <= n; c += LANES)
            v2_source_block(a, t, edges, h, at + c, 1, LANES, k++, dvalue, fresh);
        if (c < n)
            v2_source_block(a, t, edges, h, at + c, 1, n - c, k++, dvalue, fresh);
    }
}

/* The next edges' rows, and what is kept of them. */
GNN_INLINE void v2_fetch(const struct gnn_attention *a, const struct gnn_attention_back *b,
                         const struct span *s, const struct group *g)
{
    const uint32_t heads = a->heads;
    const size_t d = (size_t)heads * a->channels, words = gnn_attention_signs(heads, a->channels);
    for (uint32_t e = 0; e < g->n && e < g->left; e++) {
        const size_t k = s->number ? s->number[g->next - s->index + e] : 0;
        fetch_row(g, e, b->dy, d);
        __builtin_prefetch(b->edge_grad + k * heads);
        __builtin_prefetch(b->edge_weight + k * heads);
        __builtin_prefetch(b->edge_sign + k * words);
    }
}

GNN_INLINE void source_row_v2(const struct gnn_attention *a, const struct span *s, size_t row,
                              const struct gnn_attention_back *b, bool acc)
{
    const uint32_t heads = a->heads, n = a->channels;
    float *dvalue = b->dvalue + row * heads * n;
    struct group g;
    struct v2_told t;
    if (!acc && !(s->n + s->end))
        memset(dvalue, 0, (size_t)heads * n * sizeof(*dvalue));
    for (uint64_t at = 0; take_group(a, s, at, NULL, &g); at += GROUP) {
        v2_fetch(a, b, s, &g);
        v2_take_told(a, b, &g, &t);
        v2_source_group(a, &t, g.n, dvalue, !acc && !at);
    }
}

#endif
