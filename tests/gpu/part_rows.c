/* SPDX-License-Identifier: Apache-2.0 */
/* What goes over rows: aggregation by mean and maximum, transposing, element-wise passes, layer
 * norm, the optimiser. Bytes are those of a block's edges and rows, each read or written once; rows
 * of neighbours once for each edge. */
#include <stdio.h>

#include "gpu/bench.h"
#include "kernels/act.h"
#include "kernels/message.h"
#include "kernels/optim.h"
#include "kernels/spmm.h"
#include "lib/gpu/dev.h"

static const double FLOAT = sizeof(float), WORD = sizeof(uint32_t);

/* ---- blocks ---- */

struct bench_graph bench_graph(unsigned layer)
{
    struct bench_graph g = {.is = bench_block(layer)};
    const uint64_t none = UINT64_MAX;
    const size_t rows = (g.is.rows + (size_t)1) * sizeof(uint32_t),
                 cols = (g.is.cols + (size_t)1) * sizeof(uint32_t),
                 edges = (size_t)g.is.edges * sizeof(uint32_t);
    uint32_t *ptr = bench_host(rows), *idx = bench_host(edges), *tptr = bench_host(cols),
             *tidx = bench_host(edges), *tedge = bench_host(edges);
    if (!ptr || !idx || !tptr || !tidx || !tedge)
        return g;
    for (uint32_t i = 0; i <= g.is.rows; i++)
        ptr[i] = (uint32_t)((uint64_t)i * g.is.edges / g.is.rows);
    for (uint32_t i = 0; i < g.is.edges; i++)
        idx[i] = (uint32_t)((uint64_t)(i * 2654435761u) * g.is.cols >> 32);
    struct gnn_csr a = {.n = g.is.rows, .indptr = ptr, .indices = idx};
    gnn_csr_transpose(&a, 1, g.is.cols, tptr, tidx, tedge);
    a.indptr = bench_up(ptr, rows);
    a.indices = bench_up(idx, edges);
    const struct gnn_csr t = {.n = g.is.cols,
                              .indptr = bench_up(tptr, cols),
                              .indices = bench_up(tidx, edges),
                              .edge = bench_up(tedge, edges)};
    g.block = bench_up(&a, sizeof a);
    g.back = bench_up(&t, sizeof t);
    g.bad = bench_up(&none, sizeof none);
    return g;
}

void bench_graph_check(const struct bench_graph *g, const char *what)
{
    uint64_t bad = 0;
    struct gnn_err e = bench.failed;
    if (e.code) /* which all rows have said */
        return;
    if (!gnn_dev_copy(&bad, g->bad, sizeof bad, bench.stream, &e) &&
        !gnn_dev_stream_wait(bench.stream, &e) && bad != UINT64_MAX)
        (void)gnn_fail(&e, GNN_E_DEVICE, "edge %llu leads nowhere", (unsigned long long)bad);
    if (e.code)
        bench_row_failed(what, &e);
}

/* ---- aggregation ---- */

struct sum {
    struct bench_graph g;
    uint32_t width;
    float *x, *y, *dx;
    uint32_t *arg, *tptr, *tidx;
    void *scratch;
};
static int sum_rows(const void *arg, struct gnn_err *e)
{
    const struct sum *s = arg;
    (void)e;
    gnn_cuda_spmm(s->g.block, 1, 0, NULL, s->g.is.rows, s->x, s->g.is.cols, s->width, s->width,
                  s->y, s->width, 0, s->g.bad, bench.stream);
    return 0;
}
static int sum_back(const void *arg, struct gnn_err *e)
{
    const struct sum *s = arg;
    (void)e;
    gnn_cuda_spmm(s->g.back, 1, 0, NULL, s->g.is.cols, s->y, s->g.is.rows, s->width, s->width,
                  s->dx, s->width, 0, s->g.bad, bench.stream);
    return 0;
}
static int transpose(const void *arg, struct gnn_err *e)
{
    const struct sum *s = arg;
    (void)e;
    gnn_cuda_csr_transpose(s->g.block, 1, NULL, s->g.is.cols, s->g.is.edges, s->tptr, s->tidx, NULL,
                           s->scratch, s->g.bad, bench.stream);
    return 0;
}
static int max_rows(const void *arg, struct gnn_err *e)
{
    const struct sum *s = arg;
    (void)e;
    gnn_cuda_max_rows(s->g.block, 1, 0, NULL, s->g.is.rows, s->x, s->g.is.cols, s->width, s->y,
                      s->arg, 0, false, s->g.bad, bench.stream);
    return 0;
}
static int max_back(const void *arg, struct gnn_err *e)
{
    const struct sum *s = arg;
    (void)e;
    gnn_cuda_max_back(s->g.back, 1, 0, NULL, s->g.is.cols, s->y, s->arg, s->g.is.rows, s->width,
                      s->dx, 0, false, s->g.bad, bench.stream);
    return 0;
}

static void rows_of_layer(unsigned layer, uint32_t width)
{
    char name[64];
    struct sum s = {.g = bench_graph(layer), .width = width};
    const double rows = s.g.is.rows, cols = s.g.is.cols, edges = s.g.is.edges, wide = width * FLOAT,
                 limit = bench_device_limit();
    s.x = bench_numbers((uint64_t)s.g.is.cols * width, 0);
    s.dx = bench_numbers((uint64_t)s.g.is.cols * width, 0);
    s.y = bench_numbers((uint64_t)s.g.is.rows * width, 0);
    s.arg = bench_room((uint64_t)s.g.is.rows * width * sizeof *s.arg);
    s.tptr = bench_room((s.g.is.cols + UINT64_C(1)) * sizeof *s.tptr);
    s.tidx = bench_room(s.g.is.edges * sizeof *s.tidx);
    s.scratch = bench_room(gnn_cuda_csr_transpose_scratch(s.g.is.edges, 0));
    snprintf(name, sizeof name, "aggregate, %u wide", width);
    bench_rate(name, (edges + rows) * wide + (edges + rows) * WORD, limit, sum_rows, &s);
    snprintf(name, sizeof name, "aggregate, backward, %u wide", width);
    bench_rate(name, (edges + cols) * wide + (edges + cols) * WORD, limit, sum_back, &s);
    snprintf(name, sizeof name, "maximum, %u wide", width);
    bench_rate(name, (edges + 2 * rows) * wide + (edges + rows) * WORD, limit, max_rows, &s);
    snprintf(name, sizeof name, "maximum, backward, %u wide", width);
    bench_rate(name, (2 * edges + cols) * wide + (2 * edges + cols) * WORD, limit, max_back, &s);
    snprintf(name, sizeof name, "transpose, %u edges", s.g.is.edges);
    bench_rate(name, (2 * edges + rows + cols) * WORD, limit, transpose, &s);
    bench_graph_check(&s.g, "aggregate");
    bench_release();
}

void bench_aggregate(void)
{
    rows_of_layer(0, BENCH_WIDTH);
    rows_of_layer(1, BENCH_HIDDEN);
}

/* ---- element-wise passes, the optimiser ---- */

struct pass {
    uint32_t n;
    size_t d;
    float *x, *y, *bias, *work, *out, *m, *v;
    struct gnn_dropout drop;
};
static int bias_relu(const void *arg, struct gnn_err *e)
{
    const struct pass *p = arg;
    (void)e;
    gnn_cuda_bias_act(p->x, NULL, p->n, p->d, p->bias, GNN_ACT_RELU, NULL, bench.stream);
    return 0;
}
static int bias_relu_dropout(const void *arg, struct gnn_err *e)
{
    const struct pass *p = arg;
    (void)e;
    gnn_cuda_bias_act(p->x, NULL, p->n, p->d, p->bias, GNN_ACT_RELU, &p->drop, bench.stream);
    return 0;
}
static int act_back(const void *arg, struct gnn_err *e)
{
    const struct pass *p = arg;
    (void)e;
    gnn_cuda_act_back(p->x, p->y, NULL, p->n, p->d, GNN_ACT_RELU, 1, NULL, bench.stream);
    return 0;
}
static int colsum(const void *arg, struct gnn_err *e)
{
    const struct pass *p = arg;
    (void)e;
    gnn_cuda_colsum(p->x, NULL, p->n, p->d, p->work, p->out, false, bench.stream);
    return 0;
}
static int norm(const void *arg, struct gnn_err *e)
{
    const struct pass *p = arg;
    (void)e;
    gnn_cuda_layer_norm(p->x, NULL, p->n, p->d, p->bias, p->out, 1e-5f, p->m, p->v, p->y,
                        bench.stream);
    return 0;
}
static int norm_back(const void *arg, struct gnn_err *e)
{
    const struct pass *p = arg;
    (void)e;
    gnn_cuda_layer_norm_back(p->y, p->m, p->v, NULL, p->n, p->d, p->bias, p->out, p->out + p->d,
                             p->work, bench.stream);
    return 0;
}
static int adam(const void *arg, struct gnn_err *e)
{
    static const struct gnn_optim_step first_step = {
        .lr = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f, .t = 1};
    const struct pass *p = arg;
    (void)e;
    gnn_cuda_adam(p->x, p->y, p->m, p->v, p->n, false, &first_step, bench.stream);
    return 0;
}

void bench_passes(void)
{
    struct pass p = {.n = bench_part(137000), .d = BENCH_HIDDEN};
    const uint64_t count = (uint64_t)p.n * p.d;
    const double bytes = (double)count * FLOAT, limit = bench_device_limit();
    p.x = bench_numbers(count, 0);
    p.y = bench_numbers(count, 1);
    p.m = bench_numbers(count, 2);
    p.v = bench_numbers(count, 3);
    p.bias = bench_numbers(p.d, 4);
    p.out = bench_numbers(2 * p.d, 5);
    p.work = bench_numbers(GNN_COLSUM_BLOCKS * p.d, 0);
    p.drop = (struct gnn_dropout){{1, 2}, bench_room(p.n * sizeof(uint32_t)), 32768};
    bench_rate("bias and ReLU, 256 wide", 2 * bytes, limit, bias_relu, &p);
    bench_rate("bias, ReLU and dropout, 256 wide", 2 * bytes, limit, bias_relu_dropout, &p);
    bench_rate("act_back, 256 wide", 3 * bytes, limit, act_back, &p);
    bench_rate("column sums, 256 wide", bytes, limit, colsum, &p);
    bench_rate("layer norm, 256 wide", 3 * bytes, limit, norm, &p);
    bench_rate("layer norm, backward, 256 wide", 3 * bytes, limit, norm_back, &p);
    p.n = bench_part(2 * (BENCH_WIDTH + BENCH_HIDDEN + BENCH_CLASSES) * BENCH_HIDDEN);
    bench_rate("Adam, the model's parameters", 7.0 * p.n * FLOAT, limit, adam, &p);
}
