/* SPDX-License-Identifier: Apache-2.0 */
/* The adjacency view: two segments, one with offsets of 32 bits and one of 64, with and without
 * values of edges, against loops; the backward pass against finite differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/adjacency.h"
#include "tap.h"

enum { DST = 30, HALF = 13, SRC = 40, DEGREE = 7, D = 9, MOST = DST * DEGREE };

static uint64_t state = 5;
static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}
static float number(void)
{
    return (float)below(1 << 20) / (float)(1 << 19) - 1;
}

/* The same graph as edges, and as the view's segments. */
static struct {
    uint32_t n, dst[MOST], src[MOST], degree[DST];
    float value[MOST];
    uint32_t ptr[HALF + 1];
    uint64_t ptr64[DST - HALF + 1];
} g;

static void make_graph(void)
{
    memset(&g, 0, sizeof g);
    for (uint32_t i = 0; i < DST; i++) {
        g.degree[i] = below(DEGREE);
        for (uint32_t k = 0; k < g.degree[i]; k++, g.n++) {
            g.dst[g.n] = i;
            g.src[g.n] = below(SRC);
            g.value[g.n] = number();
        }
        if (i < HALF)
            g.ptr[i + 1] = g.n;
        else
            g.ptr64[i - HALF + 1] = g.n - g.ptr[HALF];
    }
}

/* y += A x, by edges. */
static void sum_edges(enum gnn_adj_norm norm, bool values, const float *x, double *y)
{
    for (uint32_t e = 0; e < g.n; e++)
        for (int j = 0; j < D; j++)
            y[g.dst[e] * D + (uint32_t)j] += (norm == GNN_ADJ_MEAN ? 1.0 / g.degree[g.dst[e]] : 1) *
                                             (values ? (double)g.value[e] : 1) *
                                             (double)x[g.src[e] * D + (uint32_t)j];
}

static void fill_numbers(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = number();
}

static void test_view(const char *name, enum gnn_adj_norm norm, bool values)
{
    const struct gnn_ops *o = &gnn_ops_cpu;
    struct gnn_err e = {0};
    make_graph();
    struct gnn_adj a = {
        .norm = norm, .ndst = DST, .nsrc = SRC, .edges = g.n, .value = values ? g.value : NULL};
    if (gnn_adj_open(o, &a, true, &e))
        exit(1);
    struct gnn_csr k[3] = {gnn_adj_segment(&a), gnn_adj_segment(&a), gnn_adj_transposed(&a)};
    k[0].n = HALF;
    k[0].indptr = g.ptr;
    k[0].indices = g.src;
    k[0].value = a.value;
    k[1].first = HALF;
    k[1].n = DST - HALF;
    k[1].indptr64 = g.ptr64;
    k[1].indices = g.src + g.ptr[HALF];
    k[1].value = values ? g.value + g.ptr[HALF] : NULL;
    a.seg = k;
    a.nseg = 2;
    a.back = &k[2];
    gnn_adj_normalise(o, &a, 0, DST);
    gnn_adj_transpose(o, &a);

    static float x[SRC * D], y[DST * D], dy[DST * D], dx[SRC * D], dir[SRC * D], moved[SRC * D];
    double want[DST * D] = {0}, worst = 0;
    fill_numbers(x, SRC * D);
    fill_numbers(dy, DST * D);
    fill_numbers(dir, SRC * D);
    fill_numbers(dx, SRC * D); /* overwritten */
    sum_edges(norm, values, x, want);
    gnn_adj_aggregate(o, &a, 0, DST, x, D, y, false);
    for (int i = 0; i < DST * D; i++)
        worst = worst_of(worst, fabs(want[i] - (double)y[i]));
    gnn_adj_aggregate(o, &a, 5, DST - 3, x, D, y, true); /* added to, from row 5 on */
    for (int i = 0; i < (DST - 8) * D; i++)
        worst = worst_of(worst, fabs(want[i] + want[i + 5 * D] - (double)y[i]));
    ok(worst < 1e-5, "gnn_adj_aggregate computes %s as a loop over edges does (%.1e)", name, worst);

    /* The derivative of <dy, A x> along a direction. */
    gnn_adj_spread(o, &a, dy, D, dx, false);
    double got = 0, sum[2] = {0};
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < SRC * D; i++)
            moved[i] = x[i] + (s ? 0.125f : -0.125f) * dir[i];
        gnn_adj_aggregate(o, &a, 0, DST, moved, D, y, false);
        for (int i = 0; i < DST * D; i++)
            sum[s] += (double)dy[i] * (double)y[i];
    }
    for (int i = 0; i < SRC * D; i++)
        got += (double)dx[i] * (double)dir[i];
    const double finite = (sum[1] - sum[0]) / 0.25;
    ok(fabs(finite - got) < 1e-3 && fabs(got) > 0.05,
       "gnn_adj_spread of %s agrees with finite differences (%g, %g)", name, got, finite);
    gnn_adj_release(o, &a);
}

/* Parts of the sources have about as many edges each, and all of them together. */
static void test_parts(void)
{
    enum { N = 100, STEP = 4, HUB = 50 };
    uint32_t tptr[N + 1] = {0}, k = 0, row = 0, parts = 0, edges = 0;
    struct gnn_adj_parts p;
    struct gnn_adj_part q;
    for (uint32_t i = 0; i < N; i++)
        tptr[i + 1] = tptr[i] + (i == HUB ? 1000 : i % 3);
    gnn_adj_cut(&p, tptr, N, STEP);
    const struct gnn_adj a = {.nsrc = N, .edges = tptr[N], .parts = &p};
    bool good = true;
    for (; gnn_adj_next_part(&a, &k, &q); parts++) {
        good = good && q.from == row && q.edge0 == tptr[row] && q.edge1 == tptr[q.to] &&
               (q.last ? q.to == N : q.to % STEP == 0 && q.to > q.from);
        edges += q.edge1 - q.edge0;
        row = q.to;
    }
    ok(good && row == N && edges == tptr[N] && q.last && parts > 1,
       "sources in %u parts, at multiples of %d, are all of them", parts, STEP);
    ok(gnn_adj_most_edges(&a) == tptr[N] - tptr[HUB / STEP * STEP],
       "the largest part is the one with the hub");
    memset(tptr, 0, sizeof tptr);
    gnn_adj_cut(&p, tptr, N, STEP);
    k = 0;
    ok(gnn_adj_next_part(&a, &k, &q) && q.last && !q.from && q.to == N && !q.edge1 &&
           !gnn_adj_next_part(&a, &k, &q) && !gnn_adj_most_edges(&a),
       "sources without edges are one part");
    const struct gnn_adj all = {.nsrc = N, .edges = 7};
    k = 0;
    ok(gnn_adj_next_part(&all, &k, &q) && q.last && !q.from && q.to == N && !q.edge1 &&
           !gnn_adj_next_part(&all, &k, &q) && gnn_adj_most_edges(&all) == 7,
       "without parts, all are one");
}

int main(void)
{
    test_parts();
    test_view("sums", GNN_ADJ_SUM, false);
    test_view("means", GNN_ADJ_MEAN, false);
    test_view("sums with values of edges", GNN_ADJ_SUM, true);
    test_view("means with values of edges", GNN_ADJ_MEAN, true);
    return tap_done();
}
