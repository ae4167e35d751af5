/* SPDX-License-Identifier: Apache-2.0 */
/* Attention on the CPU (kernels/attention.h). The edges of a row come in groups of GROUP, counted
 * from its first: their scores, then softmax and weights, then their rows are added, which by then
 * are in the cache. One thread has a row, and everything is added in the order of the edges. */
#include "kernels/attention.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/attention_group.h"
#include "kernels/cpu/attention_v2.h"
#include "kernels/cpu/lanes.h"

/* Rows of a task are few, as degrees differ widely. */
enum { CHUNK = 32 };

/* ---- forward ---- */

/* Scores into g->p. `own` is the row's own (forward, of dst), rows of `x` are the others'; sums and
 * products do not mind which is which. u: what ADD puts into leaky, which decides the gradient. */
GNN_INLINE void score_group(const struct gnn_attention *a, enum gnn_attention_kind kind,
                            const float *own, const float *x, struct group *g)
{
    const uint32_t heads = a->heads, n = a->channels;
    const size_t wide = gnn_attention_wide(kind) ? (size_t)heads * n : heads;
    for (uint32_t e = 0; e < g->n; e++) {
        const float *restrict other = x + g->at[e] * wide;
        const float *restrict edge = g->edge[e];
        float *restrict u = g->u + e * heads, *restrict p = g->p + e * heads;
        fetch_row(g, e, x, wide);
        if (!gnn_attention_wide(kind)) {
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

GNN_INLINE void scale_columns(float *restrict y, uint32_t n, float f)
{
    for (uint32_t c = 0; c < n; c++)
        y[c] *= f;
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
        if (m[h] > -INFINITY) { /* else there is nothing yet */
            const float f = gnn_expf(m[h] - most[h]);
            z[h] *= f;
            scale_columns(y + (size_t)h * n, n, f);
        }
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

/* y += w * x of n edges, one after the other; n is known to the compiler. Columns c of `channels`
 * for each head, which begin at h * step in x. */
GNN_INLINE void add_edges(float *restrict y, const float *const *x, const float *const *w,
                          uint32_t n, uint32_t heads, uint32_t from, uint32_t channels, size_t step)
{
    for (uint32_t h = 0; h < heads; h++)
        for (uint32_t c = from; c < channels; c++) {
            float s = y[(size_t)h * channels + c];
            for (uint32_t e = 0; e < n; e++)
                s += w[e][h] * x[e][h * step + c];
            y[(size_t)h * channels + c] = s;
        }
}

/* Columns that stay in registers while edges are added. */
typedef float column_lanes __attribute__((vector_size(64), aligned(4), may_alias));
enum { COLUMN = 16, COLUMNS = 4 * COLUMN };

/* y (COLUMNS) += w * x of all edges of the group, from 0 on if `fresh`, then times `scale` unless
 * that is NULL; at: from where on in rows of x. */
GNN_INLINE void add_columns(const struct group *g, const float *const *x, size_t at, const float *w,
                            uint32_t heads, float *y, bool fresh, const float *scale)
{
    column_lanes *to = (column_lanes *)(void *)y, s[4] = {{0}};
    for (uint32_t k = 0; !fresh && k < 4; k++)
        s[k] = to[k];
    for (uint32_t e = 0; e < g->n; e++) {
        const column_lanes *v = (const column_lanes *)(const void *)(x[e] + at);
        const float by = w[e * heads];
        s[0] += by * v[0], s[1] += by * v[1], s[2] += by * v[2], s[3] += by * v[3];
    }
    for (uint32_t k = 0; k < 4; k++) {
        if (scale)
            s[k] *= *scale;
        to[k] = s[k];
    }
}

/* Columns of each head that add_columns does not do. */
GNN_INLINE void add_rest(const struct group *g, const float *const *row, const float *const *by,
                         uint32_t heads, uint32_t n, size_t step, float *y, bool fresh,
                         const float *scale)
{
    const uint32_t whole = n / COLUMNS * COLUMNS;
    uint32_t e = 0;
    for (uint32_t h = 0; fresh && h < heads; h++)
        memset(y + (size_t)h * n + whole, 0, (n - whole) * sizeof(*y));
    for (; e + 4 <= g->n; e += 4)
        add_edges(y, row + e, by + e, 4, heads, whole, n, step);
    for (; e < g->n; e++)
        add_edges(y, row + e, by + e, 1, heads, whole, n, step);
    for (uint32_t h = 0; scale && h < heads; h++)
        scale_columns(y + (size_t)h * n + whole, n - whole, scale[h]);
}

/* Rows x of the group, weighted by w (group, heads), are added to y, so many columns at a time that
 * y is read and written once; those that are left four edges at a time. fresh: y is 0 so far,
 * whatever is there; scale (heads), or NULL: what y is multiplied by after that. */
GNN_INLINE void add_group(const struct gnn_attention *a, const struct group *g, const float *w,
                          const float *x, size_t step, float *y, bool fetch, bool fresh,
                          const float *scale)
{
    const uint32_t heads = a->heads, n = a->channels, whole = n / COLUMNS * COLUMNS;
    const size_t d = step ? (size_t)heads * n : n;
    const float *row[GROUP], *by[GROUP];
    for (uint32_t k = 0; k < g->n; k++) {
        row[k] = x + g->at[k] * d;
        by[k] = w + k * heads;
        if (fetch)
            fetch_row(g, k, x, d);
    }
    for (uint32_t h = 0; h < heads; h++)
        for (uint32_t c = 0; c < whole; c += COLUMNS)
            add_columns(g, row, h * step + c, w + h, heads, y + (size_t)h * n + c, fresh,
                        scale ? scale + h : NULL);
    if (whole < n)
        add_rest(g, row, by, heads, n, step, y, fresh, scale);
}

GNN_INLINE void forward_row(const struct gnn_attention *a, enum gnn_attention_kind kind,
                            const struct span *s, size_t row, unsigned flags, float *y, float *m,
                            float *z)
{
    const uint32_t heads = a->heads, n = a->channels;
    const size_t d = (size_t)heads * n;
    const float *own = a->dst + row * (gnn_attention_wide(kind) ? d : heads);
    const float *loop = a->loop ? a->loop + row * edge_width(a) : NULL;
    const uint32_t node = s->end && a->drop.keep16 ? a->drop.node[row] : 0;
    const bool first = flags & GNN_ATTENTION_FIRST, last = flags & GNN_ATTENTION_LAST;
    const uint64_t end = s->n + s->end;
    float scale[HEADS];
    struct group g;
    for (uint32_t h = 0; h < heads && first; h++)
        m[h] = -INFINITY, z[h] = 0;
    if (first && !end)
        memset(y, 0, d * sizeof(*y));
    for (uint64_t at = 0; take_group(a, s, at, loop, &g); at += GROUP) {
        const bool ends = last && at + GROUP >= end;
        score_group(a, kind, own, kind == GNN_ATTENTION_V2 ? a->value : a->src, &g);
        raise_row(a, &g, y, m, z);
        weigh_group(a, node, &g, m, z);
        for (uint32_t h = 0; ends && h < heads; h++)
            scale[h] = z[h] == 0 ? 0 : 1 / z[h];
        add_group(a, &g, g.p, a->value, kind == GNN_ATTENTION_RAW ? 0 : n, y,
                  kind != GNN_ATTENTION_V2, first && !at, ends ? scale : NULL);
    }
    /* Of all relations together; this one has no edges. */
    for (uint32_t h = 0; h < heads && last && !end; h++)
        scale_columns(y + (size_t)h * n, n, z[h] == 0 ? 0 : 1 / z[h]);
}

/* ---- back, by sources ---- */

/* The same by sources, of which `value` is the row's own; b->dy has the destinations'. */
GNN_INLINE void grads_of_group(const struct gnn_attention *a, enum gnn_attention_kind kind,
                               const struct gnn_attention_back *b, const float *value,
                               uint32_t node, struct group *g)
{
    const uint32_t heads = a->heads, n = a->channels;
    const size_t d = (size_t)heads * n;
    for (uint32_t e = 0; e < g->n; e++) {
        fetch_row(g, e, b->dy, d);
        fetch_row(g, e, b->m, heads), fetch_row(g, e, b->z, heads), fetch_row(g, e, b->dots, heads);
        for (uint32_t h = 0; h < heads; h++)
            g->dot[e * heads + h] = head_dot(b->dy + g->at[e] * d + h * n, value + h * n, n);
    }
    grads_of_scores(a, kind, b, g->at, 1, node, g);
}

/* row: as counted from the first of the call. */
GNN_INLINE void add_grads(const struct gnn_attention *a, enum gnn_attention_kind kind,
                          const struct gnn_attention_back *b, size_t row, struct group *g)
{
    const uint32_t heads = a->heads;
    const size_t d = (size_t)heads * a->channels;
    add_group(a, g, g->p, b->dy, a->channels, b->dvalue + row * d, false, false, NULL);
    float *dscale = kind == GNN_ATTENTION_DOT && b->dscale ? b->dscale + row * heads : NULL;
    float *dsrc = b->dsrc + row * heads;
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
    add_group(a, g, g->dot, a->dst, a->channels, b->dsrc + row * d, false, false, NULL);
}

/* to: the row as counted from the first of the call. */
GNN_INLINE void source_row(const struct gnn_attention *a, enum gnn_attention_kind kind,
                           const struct span *s, size_t to, const struct gnn_attention_back *b,
                           bool acc)
{
    const uint32_t heads = a->heads, row = s->self;
    const size_t d = (size_t)heads * a->channels, wide = gnn_attention_wide(kind) ? d : heads;
    const float *own = a->src + row * wide;
    const float *loop = a->loop && s->end ? a->loop + row * edge_width(a) : NULL;
    const uint32_t node = s->end && a->drop.keep16 ? a->drop.node[row] : 0;
    struct group g;
    if (row + 4 < a->nsrc)
        fetch_floats(a->value + (row + 4) * d, d);
    if (!acc) {
        memset(b->dvalue + to * d, 0, d * sizeof(float));
        memset(b->dsrc + to * wide, 0, wide * sizeof(float));
        if (kind == GNN_ATTENTION_DOT && b->dscale)
            memset(b->dscale + to * heads, 0, heads * sizeof(float));
    }
    clear_loops(s, heads, b->edge_grad, b->edge0);
    for (uint64_t at = 0; take_group(a, s, at, loop, &g); at += GROUP) {
        score_group(a, kind, own, a->dst, &g);
        grads_of_group(a, kind, b, a->value + row * d, node, &g);
        keep_terms(a, &g, g.u, b->edge_grad, b->edge0, b->loop_grad, 0);
        add_grads(a, kind, b, to, &g);
    }
}

/* RAW: rows of dy, each of whose heads is weighted by its own number of w, are added to y. */
GNN_INLINE void add_heads(float *restrict y, const float *restrict dy, const float *restrict w,
                          uint32_t heads, uint32_t channels)
{
    for (uint32_t h = 0; h < heads; h++)
        for (uint32_t c = 0; c < channels; c++)
            y[c] += w[h] * dy[(size_t)h * channels + c];
}

GNN_INLINE void source_row_raw(const struct gnn_attention *a, const struct span *s, size_t row,
                               const struct gnn_attention_back *b, bool acc)
{
    const uint32_t heads = a->heads, n = a->channels;
    float *dvalue = b->dvalue ? b->dvalue + row * n : NULL, sum[HEADS];
    struct group g;
    for (uint32_t h = 0; h < heads; h++)
        sum[h] = acc ? b->dsrc[row * heads + h] : 0;
    if (dvalue && !acc)
        memset(dvalue, 0, n * sizeof(float));
    for (uint64_t at = 0; take_group(a, s, at, NULL, &g); at += GROUP)
        for (uint32_t e = 0; e < g.n; e++) {
            const bool loop = g.loop && e + 1 == g.n;
            const size_t i = (size_t)g.number[e] * heads;
            const float *restrict grad = (loop ? b->loop_grad : b->edge_grad) + i;
            for (uint32_t h = 0; h < heads; h++)
                sum[h] += grad[h];
            if (!dvalue)
                continue;
            fetch_row(&g, e, b->dy, (size_t)heads * n);
            add_heads(dvalue, b->dy + (size_t)g.at[e] * heads * n,
                      (loop ? b->loop_weight : b->edge_weight) + i, heads, n);
        }
    memcpy(b->dsrc + row * heads, sum, heads * sizeof(*sum));
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
        const uint32_t at = number_at(s, e) - b->edge0;
        if (b->edge1 && at >= b->edge1 - b->edge0)
            continue;
        const float *restrict g = b->edge_grad + (size_t)at * heads;
        for (uint32_t h = 0; h < heads; h++)
            sum[h] += g[h];
    }
    for (uint32_t h = 0; s->end && b->loop_grad && h < heads; h++)
        sum[h] += b->loop_grad[row * heads + h];
    memcpy(b->ddst + row * heads, sum, heads * sizeof(float));
}

/* Leaves those edges of the group whose gradients have space. */
GNN_INLINE void keep_present(const struct gnn_attention_back *b, struct group *g)
{
    uint32_t n = 0;
    for (uint32_t e = 0; e < g->n; e++) {
        const bool loop = g->loop && e + 1 == g->n;
        if (!loop && g->number[e] - b->edge0 >= b->edge1 - b->edge0)
            continue;
        g->at[n] = g->at[e];
        g->number[n++] = g->number[e];
    }
    g->n = n;
}

/* The gradients of the group's scores, from the first pass. */
GNN_INLINE void load_grads(const struct gnn_attention *a, const struct gnn_attention_back *b,
                           size_t row, struct group *g)
{
    const uint32_t heads = a->heads;
    for (uint32_t e = 0; e < g->n; e++)
        memcpy(g->u + e * heads,
               g->loop && e + 1 == g->n ? b->loop_grad + row * heads
                                        : b->edge_grad + (size_t)(g->number[e] - b->edge0) * heads,
               heads * sizeof(float));
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
        if (b->edge1)
            keep_present(b, &g);
        load_grads(a, b, row, &g);
        for (uint32_t e = 0; e < g.n; e++)
            for (uint32_t h = 0; h < heads; h++)
                g.u[e * heads + h] *= a->weight[h];
        add_group(a, &g, g.u, a->src, a->channels, b->ddst + row * d, true, false, NULL);
    }
}

/* Rows of the sources are read here, once, beside what the destination has. */
GNN_INLINE void target_row_raw(const struct gnn_attention *a, const struct span *s, size_t row,
                               const struct gnn_attention_back *b, bool acc)
{
    const uint32_t heads = a->heads, n = a->channels, first = s->self - (uint32_t)row;
    const float *dy = b->dy + row * heads * n;
    const float *loop = a->loop ? a->loop + row * heads : NULL;
    const uint32_t node = s->end && a->drop.keep16 ? a->drop.node[row] : 0, own = (uint32_t)row;
    float sum[HEADS];
    struct group g;
    for (uint32_t h = 0; h < heads; h++)
        sum[h] = acc ? b->ddst[row * heads + h] : 0;
    clear_loops(s, heads, b->edge_grad, 0);
    if (b->edge_weight)
        clear_loops(s, heads, b->edge_weight, 0);
    for (uint64_t at = 0; take_group(a, s, at, loop, &g); at += GROUP) {
        score_group(a, GNN_ATTENTION_RAW, a->dst + row * heads, a->src, &g);
        for (uint32_t e = 0; e < g.n; e++) {
            fetch_row_near(&g, e, a->value, n);
            for (uint32_t h = 0; h < heads; h++)
                g.dot[e * heads + h] =
                    head_dot(dy + (size_t)h * n, a->value + (size_t)g.at[e] * n, n);
        }
        grads_of_scores(a, GNN_ATTENTION_RAW, b, &own, 0, node, &g);
        keep_terms(a, &g, g.u, b->edge_grad, 0, b->loop_grad, first);
        if (b->edge_weight)
            keep_terms(a, &g, g.p, b->edge_weight, 0, b->loop_weight, first);
        for (uint32_t e = 0; e < g.n; e++)
            for (uint32_t h = 0; h < heads; h++)
                sum[h] += g.u[e * heads + h];
    }
    memcpy(b->ddst + row * heads, sum, heads * sizeof(*sum));
}

/* ---- rows of blocks ---- */

struct task;

/* Rows of one kind. Each has a function of its own: one of all kinds takes gcc twice as long. */
typedef void kind_rows(const struct task *t, const struct gnn_csr *k, uint64_t base, uint32_t from,
                       uint32_t to);

struct task {
    const struct gnn_attention *a;
    const struct gnn_attention_back *b;
    kind_rows *rows;
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

GNN_INLINE void forward_rows(const struct task *t, const struct gnn_csr *k, uint64_t base,
                             uint32_t from, uint32_t to, enum gnn_attention_kind kind)
{
    const struct gnn_attention *a = t->a;
    const size_t heads = a->heads, d = heads * a->channels;
    for (uint32_t i = from; i < to; i++) {
        const struct span s = row_span(t, k, base, i, t->flags & GNN_ATTENTION_LAST);
        const size_t row = i - t->first;
        forward_row(a, kind, &s, row, t->flags, t->y + row * d, t->m + row * heads,
                    t->z + row * heads);
    }
}

GNN_INLINE void source_rows(const struct task *t, const struct gnn_csr *k, uint64_t base,
                            uint32_t from, uint32_t to, enum gnn_attention_kind kind)
{
    for (uint32_t j = from; j < to; j++) {
        const struct span s = row_span(t, k, base, j, j < t->a->ndst);
        const size_t row = j - t->first;
        if (kind == GNN_ATTENTION_RAW)
            source_row_raw(t->a, &s, row, t->b, t->acc);
        else if (kind == GNN_ATTENTION_V2)
            source_row_v2(t->a, &s, row, t->b, t->acc);
        else
            source_row(t->a, kind, &s, row, t->b, t->acc);
    }
}

GNN_INLINE void target_rows(const struct task *t, const struct gnn_csr *k, uint64_t base,
                            uint32_t from, uint32_t to, enum gnn_attention_kind kind)
{
    for (uint32_t i = from; i < to; i++) {
        const struct span s = row_span(t, k, base, i, true);
        const size_t row = i - t->first;
        if (kind == GNN_ATTENTION_ADD)
            target_row_add(t->a, &s, row, t->b, t->acc);
        else if (kind == GNN_ATTENTION_RAW)
            target_row_raw(t->a, &s, row, t->b, t->acc);
        else if (kind == GNN_ATTENTION_V2)
            target_row_v2(t->a, &s, row, t->b, t->acc);
        else
            target_row_dot(t->a, &s, row, t->b, t->acc);
    }
}

#define OF_KIND(name, rows, kind)                                                                  \
    GNN_SIMD static void name(const struct task *t, const struct gnn_csr *k, uint64_t base,        \
                              uint32_t from, uint32_t to)                                          \
    {                                                                                              \
        rows(t, k, base, from, to, kind);                                                          \
    }
#define ALL_KINDS(name, rows)                                                                      \
    OF_KIND(name##_add, rows, GNN_ATTENTION_ADD)                                                   \
    OF_KIND(name##_raw, rows, GNN_ATTENTION_RAW)                                                   \
    OF_KIND(name##_v2, rows, GNN_ATTENTION_V2)                                                     \
    OF_KIND(name##_dot, rows, GNN_ATTENTION_DOT)                                                   \
    static kind_rows *const name##_kinds[] = {name##_add, name##_raw, name##_v2, name##_dot};
ALL_KINDS(forward, forward_rows)
ALL_KINDS(source, source_rows)
ALL_KINDS(target, target_rows)

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
    const struct task t = {.a = a,
                           .rows = forward_kinds[a->kind],
                           .first = from,
                           .flags = flags,
                           .y = y,
                           .m = m,
                           .z = z};
    run_rows(&t, block, nblocks, from, to);
}

void gnn_attention_sources(const struct gnn_attention *a, const struct gnn_csr *back, uint32_t from,
                           uint32_t to, const struct gnn_attention_back *g, bool acc)
{
    const struct task t = {
        .a = a, .b = g, .rows = source_kinds[a->kind], .first = from, .acc = acc};
    run_rows(&t, back, 1, from, to);
}

void gnn_attention_targets(const struct gnn_attention *a, const struct gnn_csr *block,
                           size_t nblocks, uint32_t from, uint32_t to,
                           const struct gnn_attention_back *g, bool acc)
{
    const struct task t = {
        .a = a, .b = g, .rows = target_kinds[a->kind], .first = from, .acc = acc};
    run_rows(&t, block, nblocks, from, to);
}
