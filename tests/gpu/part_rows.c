/* SPDX-License-Identifier: Apache-2.0 */
/* What goes over rows: aggregation by mean and maximum, transposing, element-wise passes, layer
 * norm, the optimiser. */
#include <stdio.h>

#include "gpu/bench.h"
#include "kernels/act.h"
#include "kernels/message.h"
#include "kernels/optim.h"
#include "kernels/spmm.h"
#include "lib/gpu/dev.h"

/* ---- blocks ---- */

/* How many of n rows have edges. */
static uint64_t count_filled(const uint32_t *ptr, uint32_t n)
{
    uint64_t filled = 0;
    for (uint32_t i = 0; i < n; i++)
        filled += ptr[i] < ptr[i + 1];
    return filled;
}

static void tell_shapes(const struct bench_graph *g, const uint32_t *ptr, const uint32_t *tptr)
{
    const uint64_t rows = count_filled(ptr, g->is.rows), cols = count_filled(tptr, g->is.cols);
    gnn_ops_block_told(&bench.known, g->block,
                       &(struct gnn_block_shape){
                           .to = g->is.rows, .edges = g->is.edges, .rows = rows, .sources = cols});
    gnn_ops_block_told(&bench.known, g->back,
                       &(struct gnn_block_shape){
                           .to = g->is.cols, .edges = g->is.edges, .rows = cols, .sources = rows});
}

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
    tell_shapes(&g, ptr, tptr);
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
    char shape[64];
    struct gnn_ops_cost c;
    struct sum s = {.g = bench_graph(layer), .width = width};
    const struct bench_graph *g = &s.g;
    const uint32_t rows = g->is.rows, cols = g->is.cols, edges = g->is.edges;
    s.x = bench_numbers((uint64_t)cols * width, 0);
    s.dx = bench_numbers((uint64_t)cols * width, 0);
    s.y = bench_numbers((uint64_t)rows * width, 0);
    s.arg = bench_buffer((uint64_t)rows * width * sizeof *s.arg);
    s.tptr = bench_buffer((cols + UINT64_C(1)) * sizeof *s.tptr);
    s.tidx = bench_buffer(edges * sizeof *s.tidx);
    s.scratch = bench_buffer(gnn_cuda_csr_transpose_scratch(edges, 0));
    snprintf(shape, sizeof shape, "%u rows, %u sources, %u edges", rows, cols, edges);
    gnn_ops_cost_aggregate(&c, &bench.known, g->block, 1, 0, rows, s.x, cols, width, s.y, false);
    bench_operation(&c, shape, sum_rows, &s);
    gnn_ops_cost_max_rows(&c, &bench.known, g->block, 1, 0, rows, s.x, cols, width, s.y, s.arg, 0,
                          false);
    bench_operation(&c, shape, max_rows, &s);
    gnn_ops_cost_transpose(&c, &bench.known, g->block, 1, cols, edges, s.tptr, s.tidx, NULL);
    bench_operation(&c, shape, transpose, &s);
    gnn_ops_cost_max_back(&c, &bench.known, g->back, 1, 0, cols, s.y, s.arg, rows, width, s.dx, 0,
                          false);
    bench_operation(&c, shape, max_back, &s);
    snprintf(shape, sizeof shape, "of gradients, %u rows, %u sources, %u edges", cols, rows, edges);
    gnn_ops_cost_aggregate(&c, &bench.known, g->back, 1, 0, cols, s.y, rows, width, s.dx, false);
    bench_operation(&c, shape, sum_back, &s);
    bench_graph_check(&s.g, "aggregation");
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
    const struct gnn_ops_blocks *none = &bench.known;
    struct pass p = {.n = bench_part(137000), .d = BENCH_HIDDEN};
    const uint64_t count = (uint64_t)p.n * p.d;
    struct gnn_ops_cost c;
    char shape[64];
    p.x = bench_numbers(count, 0);
    p.y = bench_numbers(count, 1);
    p.m = bench_numbers(count, 2);
    p.v = bench_numbers(count, 3);
    p.bias = bench_numbers(p.d, 4);
    p.out = bench_numbers(2 * p.d, 5);
    p.work = bench_numbers(GNN_COLSUM_BLOCKS * p.d, 0);
    p.drop = (struct gnn_dropout){{1, 2}, bench_buffer(p.n * sizeof(uint32_t)), 32768};
    snprintf(shape, sizeof shape, "ReLU, %u rows, %zu columns", p.n, p.d);
    gnn_ops_cost_bias_act(&c, none, p.x, p.n, p.d, p.bias, GNN_ACT_RELU, NULL);
    bench_operation(&c, shape, bias_relu, &p);
    gnn_ops_cost_act_back(&c, none, p.x, p.y, p.n, p.d, GNN_ACT_RELU, 1, NULL);
    bench_operation(&c, shape, act_back, &p);
    snprintf(shape, sizeof shape, "ReLU, dropout, %u rows, %zu columns", p.n, p.d);
    gnn_ops_cost_bias_act(&c, none, p.x, p.n, p.d, p.bias, GNN_ACT_RELU, &p.drop);
    bench_operation(&c, shape, bias_relu_dropout, &p);
    snprintf(shape, sizeof shape, "%u rows, %zu columns", p.n, p.d);
    gnn_ops_cost_colsum(&c, none, p.x, p.n, p.d, p.work, p.out, false);
    bench_operation(&c, shape, colsum, &p);
    gnn_ops_cost_layer_norm(&c, none, p.x, p.n, p.d, p.bias, p.out, 1e-5f, p.m, p.v, p.y);
    bench_operation(&c, shape, norm, &p);
    gnn_ops_cost_layer_norm_back(&c, none, p.y, p.m, p.v, p.n, p.d, p.bias, p.out, p.out, p.work);
    bench_operation(&c, shape, norm_back, &p);
    p.n = bench_part(2 * (BENCH_WIDTH + BENCH_HIDDEN + BENCH_CLASSES) * BENCH_HIDDEN);
    snprintf(shape, sizeof shape, "Adam, %u parameters", p.n);
    gnn_ops_cost_adam(&c, none, p.x, p.y, p.m, p.v, p.n, false, NULL);
    bench_operation(&c, shape, adam, &p);
}
