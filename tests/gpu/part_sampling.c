/* SPDX-License-Identifier: Apache-2.0 */
/* Picks of the last hop of a step, by rule, without the numbering of what is found: scripts time
 * whole samplers. Bytes are counted as memory is read, in sectors of 32: of a uniform draw's row
 * where it begins, and each pick; of a weighted row all its sums, of LABOR's all its sources. */
#include <stdio.h>

#include "gpu/bench.h"
#include "kernels/sample.h"
#include "lib/gpu/dev.h"

enum {
    DEGREE = 50, /* of each node, about what products: has */
    FANOUT = 5,
    CHUNK = 4096 /* nodes whose edges are made on the host, and then copied over and over */
};

/* The same n elements again and again. */
static void *repeated(const void *some, uint64_t n, uint64_t all, size_t size)
{
    char *p = some ? bench_buffer(all * size) : NULL;
    for (uint64_t i = 0; p && i < all; i += n)
        if (gnn_dev_copy(p + i * size, some, (all - i < n ? all - i : n) * size, bench.stream,
                         &bench.failed))
            return NULL;
    return p;
}

/* A graph of as many nodes as the table has rows, on the device; all its weights are positive. */
static struct gnn_sample_part *make_part(void)
{
    const uint64_t nodes = bench.all, edges = nodes * DEGREE, some = CHUNK * DEGREE;
    uint64_t *ptr = bench_host((nodes + 1) * sizeof *ptr), *sum = bench_pinned(some * sizeof *sum);
    uint32_t *index = bench_pinned(some * sizeof *index);
    if (!ptr || !sum || !index)
        return NULL;
    for (uint64_t i = 0; i <= nodes; i++)
        ptr[i] = i * DEGREE;
    for (uint64_t k = 0; k < some; k++) {
        const uint32_t draw = (uint32_t)k * 2654435761u;
        index[k] = (uint32_t)((uint64_t)draw * nodes >> 32);
        sum[k] = (k % DEGREE ? sum[k - 1] : 0) + 1 + draw % 1000;
    }
    const struct gnn_sample_part part = {.count = nodes,
                                         .indptr = bench_up(ptr, (nodes + 1) * sizeof *ptr),
                                         .indices = repeated(index, some, edges, sizeof *index),
                                         .nedges = edges,
                                         .pick.sum = repeated(sum, some, edges, sizeof *sum)};
    return bench_up(&part, sizeof part);
}

static int draw_picks(const void *arg, struct gnn_err *e)
{
    (void)e;
    gnn_cuda_sample_block(arg, NULL, bench.stream);
    return 0;
}

/* After the row: whether all was picked. */
static void check_picks(const char *what, const struct gnn_cuda_sample_job *j)
{
    struct gnn_cuda_sample_status status = {0};
    struct gnn_err e = bench.failed;
    uint32_t edges = 0;
    if (e.code) /* which the row has said */
        return;
    if (!gnn_dev_copy(&status, j->status, sizeof status, bench.stream, &e) &&
        !gnn_dev_copy(&edges, j->edges, sizeof edges, bench.stream, &e) &&
        !gnn_dev_stream_wait(bench.stream, &e) && (status.code || edges != j->capacity))
        (void)gnn_fail(&e, GNN_E_DEVICE, "status %u, and %u edges, not %u", status.code, edges,
                       j->capacity);
    if (e.code)
        bench_row_failed(what, &e);
}

static void row_of(const char *name, struct gnn_cuda_sample_job *j, struct gnn_pick_rule rule,
                   double read)
{
    const struct gnn_cuda_sample_status none = {0};
    const double rows = j->what.n, picks = j->capacity;
    char what[96];
    j->what.rule = rule;
    j->what.scratch = bench_buffer(gnn_cuda_sample_scratch(rule, j->what.n, j->capacity, false));
    j->status = bench_up(&none, sizeof none);
    snprintf(what, sizeof what, "picks, %d of %d for %u nodes, %s", FANOUT, DEGREE, j->what.n,
             name);
    bench_rate(what, rows * (4 + 32 + 4 + read) + picks * 4, bench_device_limit(), draw_picks, j);
    check_picks(what, j);
}

void bench_sampling(void)
{
    const uint32_t n = bench_block(0).rows, key[2] = {1, 2};
    uint32_t *node = bench_host(n * sizeof *node);
    for (uint32_t i = 0; node && i < n; i++)
        node[i] = (uint32_t)((uint64_t)(i * 2654435761u) * bench.all >> 32);
    struct gnn_cuda_sample_job j = {
        .what = {.graph = {.part = make_part(), .nparts = 1, .nsrc = bench.all},
                 .dst.node = bench_up(node, n * sizeof *node),
                 .n = n,
                 .key = bench_up(key, sizeof key),
                 .indptr = bench_buffer((n + UINT64_C(1)) * sizeof(uint32_t))},
        .end = bench_up(&n, sizeof n),
        .capacity = n * FANOUT,
        .source.node = bench_buffer((uint64_t)n * FANOUT * sizeof(uint32_t)),
        .edges = bench_buffer(sizeof(uint32_t))};
    row_of("uniform", &j, (struct gnn_pick_rule){GNN_PICK_UNIFORM, FANOUT}, 32 * FANOUT);
    row_of("with replacement", &j, (struct gnn_pick_rule){GNN_PICK_REPLACE, FANOUT}, 32 * FANOUT);
    row_of("by weight", &j, (struct gnn_pick_rule){GNN_PICK_UNIFORM, FANOUT, .weighted = true},
           DEGREE * 8 + 32 * FANOUT);
    row_of("LABOR", &j, (struct gnn_pick_rule){GNN_PICK_LABOR, FANOUT}, DEGREE * 4);
}
