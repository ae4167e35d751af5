/* SPDX-License-Identifier: Apache-2.0 */
/* Attention against plain loops in double precision, and its gradients against differences of
 * these. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/act.h"
#include "kernels/attention.h"
#include "kernels/attention_edge.h"
#include "kernels/heads.h"
#include "kernels/rng.h"
#include "tap.h"

enum { ROWS = 23, COLS = 31, LONG = 90, RELATIONS = 2, MOST = 600 };

static uint64_t state = 1;
static uint32_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}
static float *vec(size_t n)
{
    float *v = malloc((n + 1) * sizeof(*v));
    if (!v)
        abort();
    for (size_t i = 0; i < n; i++)
        v[i] = (float)(draw() >> 7) / (float)(1 << 23) - 1;
    return v;
}

static uint32_t *words(size_t n)
{
    return (uint32_t *)(void *)vec(n);
}

/* One relation: two blocks, rows 7 and 8 being in neither, and the transposed one. */
struct relation {
    uint32_t ptr[2][ROWS + 1], idx[2][MOST], edges;
    uint32_t row[MOST], col[MOST]; /* of the edges */
    uint32_t tptr[COLS + 1], tidx[MOST], tedge[MOST];
    uint64_t id[MOST];
    struct gnn_csr block[2], back;
    struct gnn_attention a;
    struct gnn_attention_back g;
    float *grad; /* of the scores */
};

static void make_graph(struct relation *r)
{
    memset(r, 0, sizeof(*r));
    for (unsigned b = 0; b < 2; b++) {
        r->ptr[b][0] = 0;
        r->block[b] =
            (struct gnn_csr){.first = b ? 9 : 0, .indptr = r->ptr[b], .indices = r->idx[b]};
    }
    uint32_t at[2] = {5, 0}; /* offsets start anywhere */
    for (uint32_t i = 0; i < ROWS; i++) {
        const unsigned b = i >= 9;
        if (i == 7 || i == 8)
            continue;
        struct gnn_csr *k = &r->block[b];
        const uint32_t degree = i == 4 ? LONG : i == 2 ? 0 : i == 12 ? 32 : draw() % 12;
        r->ptr[b][k->n] = at[b];
        for (uint32_t e = 0; e < degree; e++, r->edges++) {
            const uint32_t j = e % 5 == 3 ? i : draw() % COLS;
            r->row[r->edges] = i;
            r->col[r->edges] = j;
            r->id[r->edges] = (uint64_t)draw() << 20 | draw();
            r->idx[b][at[b]++] = j;
        }
        r->ptr[b][++k->n] = at[b];
    }
    gnn_csr_transpose(r->block, 2, COLS, r->tptr, r->tidx, r->tedge);
    r->back = (struct gnn_csr){.n = COLS, .indptr = r->tptr, .indices = r->tidx, .edge = r->tedge};
}

struct shape {
    enum gnn_attention_kind kind;
    uint32_t heads, channels, relations, keep16;
    bool edge, loops;
    const char *what;
};

/* Columns of dst, and what else is of scores; and of value. */
static size_t terms(const struct shape *s)
{
    return gnn_attention_wide(s->kind) ? s->heads * s->channels : s->heads;
}
static size_t values(const struct shape *s)
{
    return s->kind == GNN_ATTENTION_RAW ? s->channels : s->heads * s->channels;
}

/* ---- the reference ---- */

static double leaky(double u, double slope)
{
    return u > 0 ? u : slope * u;
}

static double score(const struct gnn_attention *a, uint32_t i, uint32_t j, const float *edge,
                    uint32_t h)
{
    const size_t n = a->channels, d = n * a->heads;
    const double slope = (double)a->slope;
    double s = 0;
    if (!gnn_attention_wide(a->kind))
        return leaky((double)a->src[j * a->heads + h] + (double)a->dst[i * a->heads + h] +
                         (edge ? (double)edge[h] : 0),
                     slope);
    for (size_t c = h * n; c < (h + 1) * n; c++)
        s += a->kind == GNN_ATTENTION_V2
                 ? (double)a->weight[c] *
                       leaky((double)a->value[j * d + c] + (double)a->dst[i * d + c] +
                                 (edge ? (double)edge[c] : 0),
                             slope)
                 : (double)a->dst[i * d + c] * (double)a->src[j * d + c];
    return a->kind == GNN_ATTENTION_DOT ? s * (double)a->weight[h] : s;
}

static double kept(const struct gnn_attention_drop *q, uint64_t id, uint32_t h, bool loop)
{
    const uint32_t counter[4] = {(uint32_t)id, (uint32_t)(id >> 32), h / 8, loop};
    uint32_t word[4];
    if (!q->keep16)
        return 1;
    gnn_philox(counter, q->key, word);
    return (word[h % 8 / 2] >> (h % 2 * 16) & 0xffff) < q->keep16 ? 65536. / q->keep16 : 0;
}

/* Head h of row i of the result, of all relations together, times dy, summed up. */
static double head_loss(const struct relation *r, unsigned relations, uint32_t i, uint32_t h,
                        const float *dy)
{
    const size_t n = r->a.channels, d = n * r->a.heads;
    double sum = 0, y = 0;
    for (unsigned k = 0; k < relations; k++, r++) {
        const struct gnn_attention *a = &r->a;
        const size_t wide = a->kind == GNN_ATTENTION_V2 ? d : a->heads;
        for (uint32_t e = 0; e < r->edges + a->loops; e++) {
            const bool loop = e == r->edges;
            const uint32_t j = loop ? i : r->col[e];
            const float *row =
                loop ? a->loop ? a->loop + i * wide : NULL : (a->edge ? a->edge + e * wide : NULL);
            if (!loop && (r->row[e] != i || (a->loops && i == j)))
                continue;
            const double p = exp(score(a, i, j, row, h));
            const uint64_t id = loop ? a->drop.node[i] : a->drop.id ? a->drop.id[e] : e;
            sum += p;
            for (size_t c = h * n; c < (h + 1) * n; c++)
                y += p * kept(&a->drop, id, h, loop) *
                     (double)(a->kind == GNN_ATTENTION_RAW ? a->value[j * n + c % n]
                                                           : a->value[j * d + c]) *
                     (double)dy[i * d + c];
        }
    }
    return sum > 0 ? y / sum : 0;
}

static double loss(const struct relation *r, unsigned relations, const float *dy)
{
    double s = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t h = 0; h < r->a.heads; h++)
            s += head_loss(r, relations, i, h, dy);
    return s;
}

/* ---- the kernels ---- */

static void make(struct relation *r, const struct shape *s, const float *dst, const uint32_t *node)
{
    const size_t d = s->heads * s->channels, wide = terms(s),
                 signs = gnn_attention_signs(s->heads, s->channels);
    make_graph(r);
    r->a = (struct gnn_attention){.kind = s->kind,
                                  .heads = s->heads,
                                  .channels = s->channels,
                                  .slope = 0.2f,
                                  .src = s->kind == GNN_ATTENTION_V2 ? NULL : vec(COLS * wide),
                                  .dst = dst,
                                  .weight = gnn_attention_wide(s->kind) ? vec(d) : NULL,
                                  .edge = s->edge ? vec(r->edges * wide) : NULL,
                                  .loop = s->edge && s->loops ? vec(ROWS * wide) : NULL,
                                  .value = vec(COLS * values(s)),
                                  .nsrc = COLS,
                                  .ndst = ROWS,
                                  .loops = s->loops,
                                  .drop = {{7, 9}, s->keep16, s->edge ? r->id : NULL, node}};
    r->g = (struct gnn_attention_back){.dvalue = vec(COLS * values(s)),
                                       .dsrc = vec(COLS * wide),
                                       .dscale = vec(COLS * s->heads),
                                       .edge_grad = r->grad = vec(r->edges * s->heads),
                                       .loop_grad = vec(ROWS * s->heads),
                                       .edge_weight = vec(r->edges * s->heads),
                                       .loop_weight = vec(ROWS * s->heads),
                                       .edge_sign = words(r->edges * signs),
                                       .loop_sign = words(ROWS * signs),
                                       .weights = vec(ROWS * s->heads),
                                       .ddst = vec(ROWS * wide),
                                       .dweight = vec(ROWS * d),
                                       .dedge = s->edge ? vec(r->edges * d) : NULL,
                                       .dloop = vec(ROWS * d)};
}

static void drop_floats(const float *v)
{
    free((void *)(uintptr_t)v);
}

static void release(struct relation *r)
{
    drop_floats(r->a.src), drop_floats(r->a.weight), drop_floats(r->a.edge);
    drop_floats(r->a.loop), drop_floats(r->a.value);
    free(r->g.dvalue), free(r->g.dsrc), free(r->g.dscale), free(r->grad), free(r->g.loop_grad);
    free(r->g.edge_weight), free(r->g.loop_weight), free(r->g.weights);
    free(r->g.edge_sign), free(r->g.loop_sign);
    free(r->g.ddst), free(r->g.dweight), free(r->g.dedge), free(r->g.dloop);
}

/* The largest difference of a gradient from what differences of the loss give. at: the parameters;
 * the gradient of each is the sum of n numbers, `stride` apart. */
static double apart(const struct relation *r, unsigned relations, const float *dy, const float *at,
                    size_t count, const float *g, size_t n, size_t stride)
{
    float *x = (float *)(uintptr_t)at;
    double most = 0;
    for (size_t k = 0; k < count; k += 1 + count / 40) {
        const float was = x[k], up = was + 4e-6f, low = was - 4e-6f;
        double sum = 0;
        for (size_t q = 0; q < n; q++)
            sum += (double)g[k + q * stride];
        x[k] = up;
        const double above = loss(r, relations, dy);
        x[k] = low;
        const double below = loss(r, relations, dy);
        x[k] = was;
        most = worst_of(most, fabs((above - below) / ((double)up - (double)low) - sum));
    }
    return most;
}

static void forward(struct relation *r, const struct shape *s, float *y, float *m, float *z)
{
    const size_t d = s->heads * s->channels, wide = terms(s);
    static const uint32_t cut[] = {0, 3, 8, 20, ROWS}; /* chunks */
    for (unsigned k = 0; k < s->relations; k++)
        for (unsigned c = 0; c + 1 < sizeof(cut) / sizeof(*cut); c++) {
            struct gnn_attention a = r[k].a;
            const uint32_t from = cut[c];
            a.dst += from * wide;
            a.loop = a.loop ? a.loop + from * wide : NULL;
            a.drop.node += from;
            gnn_attention_rows(&a, r[k].block, 2, from, cut[c + 1],
                               (k == 0) * GNN_ATTENTION_FIRST |
                                   (k + 1 == s->relations) * GNN_ATTENTION_LAST,
                               y + from * d, m + from * s->heads, z + from * s->heads);
        }
}

static void test_forward(const struct relation *r, const struct shape *s, const float *y)
{
    const size_t n = s->channels, d = s->heads * n;
    double most = 0;
    float *one = calloc(ROWS * d, sizeof(*one));
    for (uint32_t i = 0; one && i < ROWS; i++)
        for (size_t c = 0; c < d; c++) {
            one[i * d + c] = 1;
            most = worst_of(most, fabs(head_loss(r, s->relations, i, (uint32_t)(c / n), one) -
                                       (double)y[i * d + c]));
            one[i * d + c] = 0;
        }
    free(one);
    ok(most < 3e-6, "%s: the rows are those of plain loops (%.1e)", s->what, most);
}

static void test_back(struct relation *r, const struct shape *s, const float *dy, const float *dst)
{
    const size_t d = s->heads * s->channels, wide = terms(s);
    const unsigned n = s->relations;
    double most = apart(r, n, dy, dst, ROWS * wide, r[0].g.ddst, 1, 0);
    for (unsigned k = 0; k < n; k++) {
        const struct gnn_attention *a = &r[k].a;
        const struct gnn_attention_back *g = &r[k].g;
        most = worst_of(most, apart(r, n, dy, a->value, COLS * values(s), g->dvalue, 1, 0));
        if (s->kind == GNN_ATTENTION_V2)
            most = worst_of(most, apart(r, n, dy, a->weight, d, g->dweight, ROWS, d));
        else
            most = worst_of(most, apart(r, n, dy, a->src, COLS * wide, g->dsrc, 1, 0));
        if (s->kind == GNN_ATTENTION_DOT)
            most = worst_of(most, apart(r, n, dy, a->weight, s->heads, g->dscale, COLS, s->heads));
        if (a->edge)
            most =
                worst_of(most, apart(r, n, dy, a->edge, r[k].edges * wide,
                                     gnn_attention_wide(s->kind) ? g->dedge : g->edge_grad, 1, 0));
        if (a->loop)
            most =
                worst_of(most, apart(r, n, dy, a->loop, ROWS * wide,
                                     gnn_attention_wide(s->kind) ? g->dloop : g->loop_grad, 1, 0));
    }
    ok(most < 2e-5, "%s: gradients are those of differences (%.1e)", s->what, most);
}

/* Targets in two goes, as chunks are. */
static void targets(struct relation *r, const struct shape *s, bool acc)
{
    const size_t d = s->heads * s->channels, wide = terms(s);
    static const uint32_t cut[] = {0, 11, ROWS};
    for (unsigned c = 0; c < 2; c++) {
        const uint32_t from = cut[c];
        struct gnn_attention a = r->a;
        struct gnn_attention_back g = r->g;
        a.dst += from * wide;
        a.loop = a.loop ? a.loop + from * wide : NULL;
        a.drop.node += from;
        g.loop_grad += from * s->heads;
        g.loop_weight += from * s->heads;
        g.loop_sign += from * gnn_attention_signs(s->heads, s->channels);
        g.weights += from * s->heads;
        g.dy += from * d, g.m += from * s->heads, g.z += from * s->heads;
        g.dots += from * s->heads;
        g.ddst += from * wide;
        g.dweight += from * d;
        g.dloop += from * d;
        gnn_attention_targets(&a, r->block, 2, from, cut[c + 1], &g, acc);
    }
}

/* Gradients of edges in their own place. */
static void test_in_place(struct relation *r, const struct shape *s)
{
    const size_t d = s->heads * s->channels, edges = r->edges * d * sizeof(float),
                 loops = ROWS * d * sizeof(float);
    const struct gnn_attention_back was = r->g;
    r->g.dedge = (float *)(uintptr_t)r->a.edge;
    r->g.dloop = (float *)(uintptr_t)r->a.loop;
    targets(r, s, false);
    r->g = was;
    ok(!memcmp(r->a.edge, r->g.dedge, edges) && !memcmp(r->a.loop, r->g.dloop, loops),
       "%s: gradients of edges and self-loops may be in their place", s->what);
}

/* And sources. */
static void sources(struct relation *r, const struct shape *s)
{
    struct gnn_attention_back g = r->g;
    const uint32_t cut = 13;
    gnn_attention_sources(&r->a, &r->back, 0, cut, &g, false);
    g.dvalue += cut * values(s);
    g.dsrc += cut * terms(s);
    g.dscale += cut * s->heads;
    gnn_attention_sources(&r->a, &r->back, cut, COLS, &g, false);
}

static void test_shape(const struct shape *s)
{
    const size_t d = s->heads * s->channels, wide = terms(s);
    static struct relation r[RELATIONS];
    float *y = vec(ROWS * d), *m = vec(ROWS * s->heads), *z = vec(ROWS * s->heads);
    float *dy = vec(ROWS * d), *dst = vec(ROWS * wide), *dots = vec(ROWS * s->heads);
    uint32_t node[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        node[i] = draw();
    for (unsigned k = 0; k < s->relations; k++)
        make(&r[k], s, dst, node);
    forward(r, s, y, m, z);
    test_forward(r, s, y);
    gnn_head_dots(dy, y, d, ROWS, s->heads, s->channels, dots);
    float *ddst = r[0].g.ddst;
    for (unsigned k = 0; k < s->relations; k++) {
        float *own = r[k].g.ddst;
        r[k].g.m = m, r[k].g.z = z, r[k].g.dots = dots, r[k].g.dy = dy;
        if (!gnn_attention_targets_first(s->kind))
            sources(&r[k], s);
        r[k].g.ddst = ddst;
        targets(&r[k], s, k > 0);
        r[k].g.ddst = own;
        if (gnn_attention_targets_first(s->kind))
            sources(&r[k], s);
    }
    test_back(r, s, dy, dst);
    if (s->kind == GNN_ATTENTION_V2 && s->edge)
        test_in_place(r, s);
    for (unsigned k = 0; k < s->relations; k++)
        release(&r[k]);
    free(y), free(m), free(z), free(dy), free(dst), free(dots);
}

/* ---- the small ones ---- */

static void test_heads(void)
{
    enum { N = 301, H = 3, C = 13, D = H * C };
    float *x = vec(N * D), *w = vec(D), *g = vec(N * H), *y = vec(N * D), *sum = vec(D);
    float *was = vec(N * D), *work = vec(GNN_COLSUM_BLOCKS * D), *out = vec(N * H);
    double most = 0;
    memcpy(was, y, N * D * sizeof(*y));
    gnn_head_dots(x, w, 0, N, H, C, out);
    gnn_head_outer(g, w, N, H, C, y);
    gnn_head_sums(g, x, N, H, C, work, sum, false);
    for (size_t i = 0; i < N * H; i++) {
        double s = 0;
        for (size_t c = 0; c < C; c++) {
            s += (double)x[i * C + c] * (double)w[i % H * C + c];
            most = worst_of(most,
                            fabs((double)was[i * C + c] + (double)g[i] * (double)w[i % H * C + c] -
                                 (double)y[i * C + c]));
        }
        most = worst_of(most, fabs(s - (double)out[i]));
    }
    for (size_t j = 0; j < D; j++) {
        double s = 0;
        for (size_t i = 0; i < N; i++)
            s += (double)g[i * H + j / C] * (double)x[i * D + j];
        most = worst_of(most, fabs(s - (double)sum[j]) / 10);
    }
    ok(most < 1e-6, "dots, products and sums of heads are those of plain loops (%.1e)", most);
    most = 0;
    gnn_head_means(x, N, H, C, y, false);
    gnn_head_spread(y, N, H, C, was);
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < C; c++) {
            double s = 0;
            for (size_t h = 0; h < H; h++)
                s += (double)x[(i * H + h) * C + c] / H;
            most = worst_of(most, fabs(s - (double)y[i * C + c]));
            for (size_t h = 0; h < H; h++)
                most = worst_of(most, fabs(s / H - (double)was[(i * H + h) * C + c]));
        }
    gnn_head_means(x, N, H, C, y, true);
    most = worst_of(most, fabs((double)y[5] / 2 - H * (double)was[5]));
    ok(most < 1e-6, "means of heads and their gradients are those of plain loops (%.1e)", most);
    free(x), free(w), free(g), free(y), free(sum), free(was), free(work), free(out);
}

/* Scores that exp cannot hold are no harm, as they are beside the highest. */
static void test_large_scores(void)
{
    const uint32_t ptr[] = {0, 3, 3}, idx[] = {0, 1, 2};
    const float src[] = {-3000, 1000, 999}, dst[] = {0, 0}, value[] = {5, 1, 2};
    const struct gnn_csr k = {.n = 2, .indptr = ptr, .indices = idx};
    const struct gnn_attention a = {.heads = 1,
                                    .channels = 1,
                                    .slope = 1,
                                    .src = src,
                                    .dst = dst,
                                    .value = value,
                                    .nsrc = 3,
                                    .ndst = 2};
    float y[2] = {9, 9}, m[2], z[2];
    gnn_attention_rows(&a, &k, 1, 0, 2, GNN_ATTENTION_WHOLE, y, m, z);
    ok(fabs((double)y[0] - (1 + 2 * exp(-1)) / (1 + exp(-1))) < 1e-6 && y[1] == 0,
       "scores of thousands give finite weights, and a row without edges is 0");
}

int main(void)
{
    static const struct shape shapes[] = {
        {GNN_ATTENTION_ADD, 1, 5, 1, 0, false, false, "GAT, one head"},
        {GNN_ATTENTION_ADD, 3, 8, 1, 0, true, true, "GAT with self-loops and edges"},
        {GNN_ATTENTION_ADD, 9, 16, 1, 40000, true, true, "GAT with dropout of weights"},
        {GNN_ATTENTION_ADD, 2, 3, 1, 30000, false, true, "GAT with dropout by number"},
        {GNN_ATTENTION_RAW, 1, 5, 1, 0, false, false, "GAT of raw rows, one head"},
        {GNN_ATTENTION_RAW, 9, 16, 1, 40000, true, true, "GAT of raw rows with everything"},
        {GNN_ATTENTION_RAW, 2, 13, 1, 0, false, true, "GAT of raw rows with self-loops"},
        {GNN_ATTENTION_V2, 2, 12, 1, 0, false, false, "GATv2"},
        {GNN_ATTENTION_V2, 3, 8, 1, 40000, true, true, "GATv2 with everything"},
        {GNN_ATTENTION_V2, 3, 100, 1, 0, false, true, "GATv2 of wide heads"},
        {GNN_ATTENTION_DOT, 2, 19, 1, 0, false, false, "HGT of one relation"},
        {GNN_ATTENTION_DOT, 4, 8, 2, 0, false, false, "HGT of two relations"}};
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        test_shape(&shapes[i]);
    test_heads();
    test_large_scores();
    return tap_done();
}
