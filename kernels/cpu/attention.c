/* SPDX-License-Identifier: Apache-2.0 */
/* Attention on the CPU (kernels/attention.h). The edges of a row come in groups of GROUP, counted
 * from its first: their scores, then softmax and weights, then their rows are added, which by then
 * are in the cache. One thread has a row, and everything is added in the order of the edges. */
#include "kernels/attention.h"

#include <math.h>
#include <string.h>

#include "kernels/attention_edge.h"
#include "kernels/cpu/lanes.h"

/* Rows short of the cache are fetched AHEAD edges before they are used, past the end of the row
 * too. Rows of a task are few, as degrees differ widely. */
enum { AHEAD = 12, CHUNK = 32, HEADS = GNN_ATTENTION_HEADS };
enum { GROUP = GNN_ATTENTION_GROUP };

/* The edges of one row of a block. */
struct span {
    const uint32_t *index, *number; /* number NULL: first, first + 1, ... */
    uint64_t n, left;               /* edges of the row; and of the block from here on */
    uint32_t first, self;
    bool loops, end; /* edges to itself are left out; a self-loop comes at the end */
};

/* Edges at work, those that are left out not among them, the self-loop the last if there is one. */
struct group {
    uint32_t n, left;
    bool loop;
    const uint32_t
        *next; /* the `left` edges that come AHEAD of these, which are fetched meanwhile */
    uint32_t at[GROUP], number[GROUP];
    const float *edge[GROUP]; /* rows of features or NULL */
    float u[GROUP * HEADS];   /* sums before leaky, or scores */
    float p[GROUP * HEADS], keep[GROUP * HEADS], dot[GROUP * HEADS], raw[GROUP * HEADS];
};

/* ---- edges ---- */

/* The row of number i in the block, whose first edge has the number `base`. */
GNN_INLINE struct span span_of(const struct gnn_csr *k, uint32_t i, uint64_t base, bool loops,
                               bool end)
{
    const uint64_t first = gnn_csr_offset(k, i), all = gnn_csr_offset(k, k->n);
    return (struct span){.index = k->indices + first,
                         .number = k->edge ? k->edge + first : NULL,
                         .n = gnn_csr_offset(k, i + 1) - first,
                         .left = all - first,
                         .first = (uint32_t)(base + first - gnn_csr_offset(k, 0)),
                         .self = k->first + i,
                         .loops = loops,
                         .end = end};
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
    g->left = at + AHEAD >= s->left          ? 0
              : s->left - at - AHEAD > GROUP ? GROUP
                                             : (uint32_t)(s->left - at - AHEAD);
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

GNN_INLINE void fetch_floats(const float *x, size_t w)
{
    for (size_t c = 0; c < w; c += 64 / sizeof(*x))
        __builtin_prefetch(x + c);
}

/* For edge e of the group. */
GNN_INLINE void fetch_row(const struct group *g, uint32_t e, const float *x, size_t w)
{
    if (e < g->left)
        fetch_floats(x + (size_t)g->next[e] * w, w);
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

/* ---- sums over channels of GATv2 ---- */

/* s += w * leaky(u). */
GNN_INLINE void add_leaky(lanes_of *s, const lanes_of *w, const lanes_of *u, float slope)
{
    const lanes_of low = *u * slope;
    const lane_bits up = *u > 0;
    *s += *w * (lanes_of)((up & (lane_bits)*u) | (~up & (lane_bits)low));
}

GNN_INLINE float v2_term(float x, float y, const float *edge, uint32_t c)
{
    return edge ? x + y + edge[c] : x + y;
}

/* The sum of w * leaky(x + y + edge). */
GNN_INLINE float v2_dot(const float *w, const float *x, const float *y, const float *edge,
                        float slope, uint32_t n)
{
    lanes_of s = {0}, by, a, b, f = {0};
    uint32_t c = 0;
    for (; c + LANES <= n; c += LANES) {
        load_lanes(w + c, &by), load_lanes(x + c, &a), load_lanes(y + c, &b);
        a += b;
        if (edge) {
            load_lanes(edge + c, &f);
            a += f;
        }
        add_leaky(&s, &by, &a, slope);
    }
    if (c < n) {
        load_some(w + c, n - c, &by), load_some(x + c, n - c, &a), load_some(y + c, n - c, &b);
        a += b;
        if (edge) {
            load_some(edge + c, n - c, &f);
            a += f;
        }
        add_leaky(&s, &by, &a, slope);
    }
    return fold_lanes(&s);
}

/* ---- forward ---- */

/* Scores into g->p. `own` is the row's own, of dst on the way forward, and rows of `x` are the
 * others'; both sums and products do not mind which is which. u: what ADD puts into leaky, which
 * decides the gradient. */
GNN_INLINE void score_group(const struct gnn_attention *a, enum gnn_attention_kind kind,
                            const float *own, const float *x, struct group *g)
{
    const uint32_t heads = a->heads, n = a->channels;
    for (uint32_t e = 0; e < g->n; e++) {
        const float *restrict other = x + (size_t)g->at[e] * (kind ? heads * n : heads);
        const float *restrict edge = g->edge[e];
        float *restrict u = g->u + e * heads, *restrict p = g->p + e * heads;
        fetch_row(g, e, x, kind ? heads * n : heads);
        if (kind == GNN_ATTENTION_ADD) {
            for (uint32_t h = 0; h < heads; h++)
                u[h] = own[h] + other[h];
            for (uint32_t h = 0; edge && h < heads; h++)
                u[h] += edge[h];
            for (uint32_t h = 0; h < heads; h++)
                p[h] = gnn_leaky(u[h], a->slope);
        } else if (kind == GNN_ATTENTION_V2) {
            for (uint32_t h = 0; h < heads; h++)
                p[h] =
                    edge ? v2_dot(a->weight + h * n, own + h * n, other + h * n, edge + h * n,
                                  a->slope, n)
                         : v2_dot(a->weight + h * n, own + h * n, other + h * n, NULL, a->slope, n);
        } else {
            for (uint32_t h = 0; h < heads; h++) {
                u[h] = head_dot(own + h * n, other + h * n, n);
                p[h] = a->weight[h] * u[h];
            }
        }
    }
}

/* The state goes on to a new maximum: what was summed up so far shrinks. */
GNN_INLINE void raise_row(const struct gnn_attention *a, const struct group *g, float *restrict y,
                          float *restrict m, float *restrict z)
{
    const uint32_t heads = a->heads, n = a->channels;
    float most[HEADS];
    for (uint32_t h = 0; h < heads; h++)
        most[h] = m[h];
    for (uint32_t e = 0; e < g->n; e++)
        for (uint32_t h = 0; h < heads; h++)
            most[h] = g->p[e * heads + h] > most[h] ? g->p[e * heads + h] : most[h];
    for (uint32_t h = 0; h < heads; h++) {
        if (!(most[h] > m[h]))
            continue;
        const float f = gnn_expf(m[h] - most[h]);
        z[h] *= f;
        for (uint32_t c = 0; c < n; c++)
            y[h * n + c] *= f;
        m[h] = most[h];
    }
}

/* Scores become powers, which add up in z, and weights. */
GNN_INLINE void weigh_group(const struct gnn_attention *a, uint32_t node, struct group *g,
                            const float *restrict m, float *restrict z)
{
    const uint32_t heads = a->heads;
    float *restrict p = g->p;
    for (uint32_t e = 0; e < g->n; e++)
        for (uint32_t h = 0; h < heads; h++)
            p[e * heads + h] -= m[h];
    for (uint32_t k = 0; k < g->n * heads; k++)
        p[k] = gnn_expf(p[k]);
    for (uint32_t e = 0; e < g->n; e++)
        for (uint32_t h = 0; h < heads; h++)
            z[h] += p[e * heads + h];
    if (!a->drop.keep16)
        return;
    draw_group(a, node, g);
    for (uint32_t k = 0; k < g->n * heads; k++)
        p[k] *= g->keep[k];
}

/* y += w * x of n edges, one after the other; n is known to the compiler. */
GNN_INLINE void add_edges(float *restrict y, const float *const *x, const float *const *w,
                          uint32_t n, uint32_t heads, uint32_t channels)
{
    for (uint32_t h = 0; h < heads; h++) {
        const size_t at = (size_t)h * channels;
        for (uint32_t c = 0; c < channels; c++) {
            float s = y[at + c];
            for (uint32_t e = 0; e < n; e++)
                s += w[e][h] * x[e][at + c];
            y[at + c] = s;
        }
    }
}

/* Rows x of the group, weighted by w (group, heads), are added to y. Four at a time, so that y is
 * read and written less often. */
GNN_INLINE void add_group(const struct gnn_attention *a, const struct group *g, const float *w,
                          const float *x, float *y, bool fetch)
{
    const uint32_t heads = a->heads, n = a->channels;
    const size_t d = (size_t)heads * n;
    uint32_t e = 0;
    for (; e + 4 <= g->n; e += 4) {
        const float *row[4], *by[4];
        for (uint32_t k = 0; k < 4; k++) {
            if (fetch)
                fetch_row(g, e + k, x, d);
            row[k] = x + g->at[e + k] * d;
            by[k] = w + (e + k) * heads;
        }
        add_edges(y, row, by, 4, heads, n);
    }
    for (; e < g->n; e++) {
        const float *row = x + g->at[e] * d, *by = w + e * heads;
        if (fetch)
            fetch_row(g, e, x, d);
        add_edges(y, &row, &by, 1, heads, n);
    }
}

GNN_INLINE void forward_row(const struct gnn_attention *a, enum gnn_attention_kind kind,
                            const struct span *s, size_t row, unsigned flags, float *y, float *m,
                            float *z)
{
    const uint32_t heads = a->heads, n = a->channels;
    const size_t d = (size_t)heads * n;
    const float *own = a->dst + row * (kind ? d : heads);
    const float *loop = a->loop ? a->loop + row * edge_width(a) : NULL;
    const uint32_t node = s->end && a->drop.keep16 ? a->drop.node[row] : 0;
    struct group g;
    for (uint32_t h = 0; h < heads && flags & GNN_ATTENTION_FIRST; h++)
        m[h] = -INFINITY, z[h] = 0;
    if (flags & GNN_ATTENTION_FIRST)
        memset(y, 0, d * sizeof(*y));
    for (uint64_t at = 0; take_group(a, s, at, loop, &g); at += GROUP) {
        score_group(a, kind, own, kind == GNN_ATTENTION_V2 ? a->value : a->src, &g);
        raise_row(a, &g, y, m, z);
        weigh_group(a, node, &g, m, z);
        add_group(a, &g, g.p, a->value, y, kind != GNN_ATTENTION_V2);
    }
    for (uint32_t h = 0; h < heads && flags & GNN_ATTENTION_LAST; h++) {
        const float r = z[h] == 0 ? 0 : 1 / z[h];
        for (uint32_t c = 0; c < n; c++)
            y[h * n + c] *= r;
    }
}

/* ---- back, by sources ---- */

/* What the targets of the group's edges have, beside what scores are made of; scores become powers
 * p, powers weights, and u the gradients of the scores. */
GNN_INLINE void grads_of_group(const struct gnn_attention *a, enum gnn_attention_kind kind,
                               const struct gnn_attention_back *b, const float *value,
                               uint32_t node, struct group *g)
{
    const uint32_t heads = a->heads, n = a->channels;
    const size_t d = (size_t)heads * n;
    const bool drop = a->drop.keep16 != 0;
    float *restrict p = g->p, *restrict dot = g->dot, *restrict u = g->u;
    for (uint32_t e = 0; e < g->n; e++) {
        fetch_row(g, e, b->dy, d);
        fetch_row(g, e, b->m, heads), fetch_row(g, e, b->z, heads), fetch_row(g, e, b->dots, heads);
        for (uint32_t h = 0; h < heads; h++)
            dot[e * heads + h] = head_dot(b->dy + g->at[e] * d + h * n, value + h * n, n);
    }
    for (uint32_t e = 0; e < g->n; e++)
        for (uint32_t h = 0; h < heads; h++)
            p[e * heads + h] -= b->m[(size_t)g->at[e] * heads + h];
    for (uint32_t k = 0; k < g->n * heads; k++)
        p[k] = gnn_expf(p[k]);
    if (drop)
        draw_group(a, node, g);
    for (uint32_t k = 0; !drop && k < g->n * heads; k++)
        g->keep[k] = 1;
    if (kind == GNN_ATTENTION_DOT)
        memcpy(g->raw, u, g->n * heads * sizeof(*u));
    for (uint32_t e = 0; e < g->n; e++) {
        const size_t i = (size_t)g->at[e] * heads, k = (size_t)e * heads;
        const float *restrict z = b->z + i, *restrict dots = b->dots + i;
        for (uint32_t h = 0; h < heads; h++) {
            const float r = p[k + h] * (1 / z[h]), keep = g->keep[k + h];
            const float ds = r * (dot[k + h] * keep - dots[h]);
            p[k + h] = r * keep;
            u[k + h] = kind == GNN_ATTENTION_ADD ? gnn_leaky_back(u[k + h], a->slope, ds) : ds;
        }
    }
}

/* The gradients of the scores, to where the second pass finds them. */
GNN_INLINE void keep_grads(const struct gnn_attention *a, const struct gnn_attention_back *b,
                           const struct group *g)
{
    const uint32_t heads = a->heads;
    for (uint32_t e = 0; e < g->n; e++) {
        float *to = g->loop && e + 1 == g->n ? b->loop_grad : b->edge_grad;
        memcpy(to + (size_t)g->number[e] * heads, g->u + e * heads, heads * sizeof(*to));
    }
}

/* What comes through the scores of GATv2 to a row, of whose terms g->u has the gradients: x is the
 * row's own, rows of `others` the edges' others. dw: the gradient of weight, unless NULL. */
GNN_INLINE void v2_back(const struct gnn_attention *a, const struct group *g, uint32_t e,
                        const float *restrict x, const float *others, float *restrict dx,
                        float *restrict dw, float *restrict dedge)
{
    const uint32_t heads = a->heads, n = a->channels;
    const float *restrict y = others + (size_t)g->at[e] * heads * n, *restrict edge = g->edge[e];
    const float *restrict w = a->weight;
    const float slope = a->slope;
    for (uint32_t h = 0; h < heads; h++) {
        const float ds = g->u[e * heads + h];
        for (uint32_t c = h * n; c < (h + 1) * n; c++) {
            const float u = v2_term(x[c], y[c], edge, c);
            const float v = gnn_leaky_back(u, slope, ds * w[c]);
            dx[c] += v;
            if (dw)
                dw[c] += ds * gnn_leaky(u, slope);
            if (dedge)
                dedge[c] = v;
        }
    }
}

GNN_INLINE void add_grads(const struct gnn_attention *a, enum gnn_attention_kind kind,
                          const struct gnn_attention_back *b, uint32_t row, struct group *g)
{
    const uint32_t heads = a->heads;
    const size_t d = (size_t)heads * a->channels;
    float *dvalue = b->dvalue + row * d;
    if (kind == GNN_ATTENTION_V2) {
        for (uint32_t e = 0; e < g->n; e++) {
            const float *dy = b->dy + g->at[e] * d, *p = g->p + e * heads;
            add_edges(dvalue, &dy, &p, 1, heads, a->channels);
            v2_back(a, g, e, a->value + row * d, a->dst, dvalue, NULL, NULL);
        }
        return;
    }
    add_group(a, g, g->p, b->dy, dvalue, false);
    float *dscale = kind == GNN_ATTENTION_DOT && b->dscale ? b->dscale + (size_t)row * heads : NULL;
    float *dsrc = b->dsrc + (size_t)row * heads;
    for (uint32_t e = 0; e < g->n; e++)
        for (uint32_t h = 0; h < heads; h++) {
            if (kind == GNN_ATTENTION_ADD)
                dsrc[h] += g->u[e * heads + h];
            else if (dscale)
                dscale[h] += g->u[e * heads + h] * g->raw[e * heads + h];
        }
    if (kind == GNN_ATTENTION_ADD)
        return;
    for (uint32_t e = 0; e < g->n; e++)
        for (uint32_t h = 0; h < heads; h++)
            g->dot[e * heads + h] = g->u[e * heads + h] * a->weight[h];
    add_group(a, g, g->dot, a->dst, b->dsrc + row * d, false);
}

GNN_INLINE void source_row(const struct gnn_attention *a, enum gnn_attention_kind kind,
                           const struct span *s, const struct gnn_attention_back *b, bool acc)
{
    const uint32_t heads = a->heads, row = s->self;
    const size_t d = (size_t)heads * a->channels, wide = kind ? d : heads;
    const float *own = (kind == GNN_ATTENTION_V2 ? a->value : a->src) + row * wide;
    const float *loop = a->loop && s->end ? a->loop + row * edge_width(a) : NULL;
    const uint32_t node = s->end && a->drop.keep16 ? a->drop.node[row] : 0;
    struct group g;
    if (row + 2 < a->nsrc) { /* rows of few edges follow each other fast */
        fetch_floats(a->value + (row + 2) * d, d);
        fetch_floats(b->dvalue + (row + 2) * d, d);
    }
    if (!acc) {
        memset(b->dvalue + row * d, 0, d * sizeof(float));
        if (kind != GNN_ATTENTION_V2)
            memset(b->dsrc + row * wide, 0, wide * sizeof(float));
        if (kind == GNN_ATTENTION_DOT && b->dscale)
            memset(b->dscale + (size_t)row * heads, 0, heads * sizeof(float));
    }
    for (uint64_t e = 0; s->loops && e < s->n; e++)
        if (s->index[e] == row)
            memset(b->edge_grad + (size_t)number_at(s, e) * heads, 0, heads * sizeof(float));
    for (uint64_t at = 0; take_group(a, s, at, loop, &g); at += GROUP) {
        score_group(a, kind, own, a->dst, &g);
        grads_of_group(a, kind, b, a->value + row * d, node, &g);
        keep_grads(a, b, &g);
        add_grads(a, kind, b, row, &g);
    }
}

/* ---- back, by destinations ---- */

/* Those that were left out have gradients of 0. */
GNN_INLINE void target_row_add(const struct gnn_attention *a, const struct span *s, size_t row,
                               const struct gnn_attention_back *b, bool acc)
{
    const uint32_t heads = a->heads;
    float sum[HEADS];
    for (uint32_t h = 0; h < heads; h++)
        sum[h] = acc ? b->ddst[row * heads + h] : 0;
    for (uint64_t e = 0; e < s->n; e++) {
        const float *restrict g = b->edge_grad + (size_t)number_at(s, e) * heads;
        for (uint32_t h = 0; h < heads; h++)
            sum[h] += g[h];
    }
    for (uint32_t h = 0; s->end && h < heads; h++)
        sum[h] += b->loop_grad[row * heads + h];
    memcpy(b->ddst + row * heads, sum, heads * sizeof(float));
}

/* The gradients of the group's scores, from the first pass. */
GNN_INLINE void load_grads(const struct gnn_attention *a, const struct gnn_attention_back *b,
                           size_t row, struct group *g)
{
    const uint32_t heads = a->heads;
    for (uint32_t e = 0; e < g->n; e++)
        memcpy(g->u + e * heads,
               g->loop && e + 1 == g->n ? b->loop_grad + row * heads
                                        : b->edge_grad + (size_t)g->number[e] * heads,
               heads * sizeof(float));
}

GNN_INLINE void target_row_v2(const struct gnn_attention *a, const struct span *s, size_t row,
                              const struct gnn_attention_back *b, bool acc)
{
    const size_t d = (size_t)a->heads * a->channels;
    float *ddst = b->ddst + row * d, *dw = b->dweight + row * d;
    const float *loop = a->loop ? a->loop + row * d : NULL;
    struct group g;
    if (!acc) {
        memset(ddst, 0, d * sizeof(float));
        memset(dw, 0, d * sizeof(float));
    }
    for (uint64_t e = 0; b->dedge && s->loops && e < s->n; e++)
        if (s->index[e] == s->self)
            memset(b->dedge + (number_at(s, e) - a->edge0) * d, 0, d * sizeof(float));
    for (uint64_t at = 0; take_group(a, s, at, loop, &g); at += GROUP) {
        load_grads(a, b, row, &g);
        for (uint32_t e = 0; e < g.n; e++) {
            float *out = g.loop && e + 1 == g.n ? b->dloop ? b->dloop + row * d : NULL
                         : b->dedge             ? b->dedge + (g.number[e] - a->edge0) * d
                                                : NULL;
            fetch_row(&g, e, a->value, d);
            v2_back(a, &g, e, a->dst + row * d, a->value, ddst, dw, out);
        }
    }
}

GNN_INLINE void target_row_dot(const struct gnn_attention *a, const struct span *s, size_t row,
                               const struct gnn_attention_back *b, bool acc)
{
    const uint32_t heads = a->heads;
    const size_t d = (size_t)heads * a->channels;
    struct group g;
    if (!acc)
        memset(b->ddst + row * d, 0, d * sizeof(float));
    for (uint64_t at = 0; take_group(a, s, at, NULL, &g); at += GROUP) {
        load_grads(a, b, row, &g);
        for (uint32_t e = 0; e < g.n; e++)
            for (uint32_t h = 0; h < heads; h++)
                g.u[e * heads + h] *= a->weight[h];
        add_group(a, &g, g.u, a->src, b->ddst + row * d, true);
    }
}

/* ---- rows of blocks ---- */

struct task {
    const struct gnn_attention *a;
    const struct gnn_attention_back *b;
    void (*rows)(const struct task *t, const struct gnn_csr *k, uint64_t base, uint32_t from,
                 uint32_t to);
    uint32_t first; /* row of the layer that arrays begin with */
    unsigned flags;
    bool acc;
    float *y, *m, *z;
};

/* Of a row in no block, k is NULL. */
GNN_INLINE struct span row_span(const struct task *t, const struct gnn_csr *k, uint64_t base,
                                uint32_t row, bool end)
{
    const bool loops = t->a->loops;
    return k ? span_of(k, row - k->first, base, loops, loops && end)
             : (struct span){.self = row, .loops = loops, .end = loops && end};
}

GNN_SIMD static void forward_rows(const struct task *t, const struct gnn_csr *k, uint64_t base,
                                  uint32_t from, uint32_t to)
{
    const struct gnn_attention *a = t->a;
    const size_t heads = a->heads, d = heads * a->channels;
    for (uint32_t i = from; i < to; i++) {
        const struct span s = row_span(t, k, base, i, t->flags & GNN_ATTENTION_LAST);
        const size_t row = i - t->first;
        float *y = t->y + row * d, *m = t->m + row * heads, *z = t->z + row * heads;
        if (a->kind == GNN_ATTENTION_ADD)
            forward_row(a, GNN_ATTENTION_ADD, &s, row, t->flags, y, m, z);
        else if (a->kind == GNN_ATTENTION_V2)
            forward_row(a, GNN_ATTENTION_V2, &s, row, t->flags, y, m, z);
        else
            forward_row(a, GNN_ATTENTION_DOT, &s, row, t->flags, y, m, z);
    }
}

GNN_SIMD static void source_rows(const struct task *t, const struct gnn_csr *k, uint64_t base,
                                 uint32_t from, uint32_t to)
{
    for (uint32_t j = from; j < to; j++) {
        const struct span s = row_span(t, k, base, j, j < t->a->ndst);
        if (t->a->kind == GNN_ATTENTION_ADD)
            source_row(t->a, GNN_ATTENTION_ADD, &s, t->b, t->acc);
        else if (t->a->kind == GNN_ATTENTION_V2)
            source_row(t->a, GNN_ATTENTION_V2, &s, t->b, t->acc);
        else
            source_row(t->a, GNN_ATTENTION_DOT, &s, t->b, t->acc);
    }
}

GNN_SIMD static void target_rows(const struct task *t, const struct gnn_csr *k, uint64_t base,
                                 uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const struct span s = row_span(t, k, base, i, true);
        const size_t row = i - t->first;
        if (t->a->kind == GNN_ATTENTION_ADD)
            target_row_add(t->a, &s, row, t->b, t->acc);
        else if (t->a->kind == GNN_ATTENTION_V2)
            target_row_v2(t->a, &s, row, t->b, t->acc);
        else
            target_row_dot(t->a, &s, row, t->b, t->acc);
    }
}

static void run_piece(const struct task *t, const struct gnn_csr *k, uint64_t base, uint32_t from,
                      uint32_t to)
{
    const uint32_t chunks = (to - from + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(dynamic, 1)
    for (uint32_t c = 0; c < chunks; c++) {
        const uint32_t b = from + c * CHUNK;
        t->rows(t, k, base, b, to - b < CHUNK ? to : b + CHUNK);
    }
}

static void run_rows(const struct task *t, const struct gnn_csr *block, size_t nblocks,
                     uint32_t from, uint32_t to)
{
    uint32_t at = from;
    uint64_t base = 0;
    for (size_t s = 0; s < nblocks; s++) {
        const struct gnn_csr *k = &block[s];
        uint32_t b = k->first, e = k->first + k->n;
        b = b < from ? from : b > to ? to : b;
        e = e < from ? from : e > to ? to : e;
        if (b < e) {
            run_piece(t, NULL, 0, at, b);
            run_piece(t, k, base, b, e);
            at = e;
        }
        base += k->n ? gnn_csr_offset(k, k->n) - gnn_csr_offset(k, 0) : 0;
    }
    run_piece(t, NULL, 0, at, to);
}

void gnn_attention_rows(const struct gnn_attention *a, const struct gnn_csr *block, size_t nblocks,
                        uint32_t from, uint32_t to, unsigned flags, float *y, float *m, float *z)
{
    const struct task t = {
        .a = a, .rows = forward_rows, .first = from, .flags = flags, .y = y, .m = m, .z = z};
    run_rows(&t, block, nblocks, from, to);
}

void gnn_attention_sources(const struct gnn_attention *a, const struct gnn_csr *back,
                           const struct gnn_attention_back *g, bool acc)
{
    const struct task t = {.a = a, .b = g, .rows = source_rows, .acc = acc};
    run_rows(&t, back, 1, 0, a->nsrc);
}

void gnn_attention_targets(const struct gnn_attention *a, const struct gnn_csr *block,
                           size_t nblocks, uint32_t from, uint32_t to,
                           const struct gnn_attention_back *g, bool acc)
{
    const struct task t = {.a = a, .b = g, .rows = target_rows, .first = from, .acc = acc};
    run_rows(&t, block, nblocks, from, to);
}
