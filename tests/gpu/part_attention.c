/* SPDX-License-Identifier: Apache-2.0 */
/* Attention as GAT and GATv2 have it, forward and backward, and what goes over rows of heads. Each
 * destination has a self-loop, as in these models. */
#include <stdio.h>

#include "gpu/bench.h"
#include "kernels/act.h"
#include "kernels/attention.h"
#include "kernels/attention_edge.h"
#include "kernels/heads.h"

enum { HEADS = 4, CHANNELS = 64 };

struct attended {
    struct bench_graph g;
    struct gnn_attention a;
    struct gnn_attention_back b;
    float *y, *m, *z, *dots;
};

static int forward(const void *arg, struct gnn_err *e)
{
    const struct attended *t = arg;
    (void)e;
    gnn_cuda_attention_rows(&t->a, t->g.block, 1, 0, t->g.is.rows, GNN_ATTENTION_WHOLE, t->y, t->m,
                            t->z, t->g.bad, bench.stream);
    return 0;
}
static int dots(const void *arg, struct gnn_err *e)
{
    const struct attended *t = arg;
    (void)e;
    gnn_cuda_head_dots(t->b.dy, t->y, (size_t)t->a.heads * t->a.channels, t->g.is.rows, t->a.heads,
                       t->a.channels, t->dots, bench.stream);
    return 0;
}
static int sources(const void *arg, struct gnn_err *e)
{
    const struct attended *t = arg;
    (void)e;
    gnn_cuda_attention_sources(&t->a, t->g.back, 0, t->g.is.cols, &t->b, false, t->g.bad,
                               bench.stream);
    return 0;
}
static int targets(const void *arg, struct gnn_err *e)
{
    const struct attended *t = arg;
    (void)e;
    gnn_cuda_attention_targets(&t->a, t->g.block, 1, 0, t->g.is.rows, &t->b, false, t->g.bad,
                               bench.stream);
    return 0;
}

/* Space for all that attention of this kind reads and writes; `inputs`: the sources want gradients.
 */
static struct attended make_attended(unsigned layer, enum gnn_attention_kind kind,
                                     uint32_t channels, bool inputs)
{
    struct attended t = {.g = bench_graph(layer)};
    const struct bench_block n = t.g.is;
    const bool wide = gnn_attention_wide(kind), raw = kind == GNN_ATTENTION_RAW;
    const uint64_t f = sizeof(float), d = (uint64_t)HEADS * channels, each = wide ? d : HEADS,
                   values = n.cols * (raw ? channels : d),
                   words = wide ? gnn_attention_signs(HEADS, channels) * sizeof(uint32_t) : 0;
    t.y = bench_buffer(n.rows * d * f);
    t.m = bench_buffer(n.rows * (uint64_t)HEADS * f);
    t.z = bench_buffer(n.rows * (uint64_t)HEADS * f);
    t.dots = bench_buffer(n.rows * (uint64_t)HEADS * f);
    t.a = (struct gnn_attention){.kind = kind,
                                 .heads = HEADS,
                                 .channels = channels,
                                 .slope = 0.2f,
                                 .src = wide ? NULL : bench_numbers(n.cols * (uint64_t)HEADS, 1),
                                 .dst = bench_numbers(n.rows * each, 2),
                                 .weight = wide ? bench_numbers(d, 3) : NULL,
                                 .value = bench_numbers(values, 4),
                                 .nsrc = n.cols,
                                 .ndst = n.rows,
                                 .loops = true};
    t.b = (struct gnn_attention_back){.m = t.m,
                                      .z = t.z,
                                      .dots = t.dots,
                                      .dy = bench_numbers(n.rows * d, 5),
                                      .dvalue = inputs ? bench_buffer(values * f) : NULL,
                                      .dsrc =
                                          wide ? NULL : bench_buffer(n.cols * (uint64_t)HEADS * f),
                                      .edge_grad = bench_buffer(n.edges * (uint64_t)HEADS * f),
                                      .loop_grad = bench_buffer(n.rows * (uint64_t)HEADS * f),
                                      .ddst = bench_buffer(n.rows * each * f)};
    if (wide || (raw && inputs)) {
        t.b.edge_weight = bench_buffer(n.edges * (uint64_t)HEADS * f);
        t.b.loop_weight = bench_buffer(n.rows * (uint64_t)HEADS * f);
    }
    if (wide) {
        t.b.edge_sign = bench_buffer(n.edges * words);
        t.b.loop_sign = bench_buffer(n.rows * words);
        t.b.dweight = bench_buffer(n.rows * d * f);
        t.b.weights = bench_buffer(n.rows * (uint64_t)HEADS * f);
    }
    return t;
}

static void rows_of_kind(const char *model, unsigned layer, enum gnn_attention_kind kind,
                         uint32_t channels, bool inputs)
{
    const struct attended t = make_attended(layer, kind, channels, inputs);
    const struct gnn_ops_blocks *known = &bench.known;
    const uint32_t rows = t.g.is.rows, cols = t.g.is.cols;
    struct gnn_ops_cost c;
    char shape[96];
    snprintf(shape, sizeof shape, "%s, %u rows, %u sources, %u edges, %d heads of %u", model, rows,
             cols, t.g.is.edges, HEADS, channels);
    gnn_ops_cost_attention(&c, known, &t.a, t.g.block, 1, 0, rows, GNN_ATTENTION_WHOLE, t.y, t.m,
                           t.z);
    bench_operation(&c, shape, forward, &t);
    gnn_ops_cost_head_dots(&c, known, t.b.dy, t.y, (size_t)HEADS * channels, rows, HEADS, channels,
                           t.dots);
    bench_operation(&c, shape, dots, &t);
    for (int pass = 0; pass < 2; pass++) /* one reads what the other one writes */
        if (gnn_attention_targets_first(kind) != (pass == 1)) {
            gnn_ops_cost_attention_targets(&c, known, &t.a, t.g.block, 1, 0, rows, &t.b, false);
            bench_operation(&c, shape, targets, &t);
        } else {
            gnn_ops_cost_attention_sources(&c, known, &t.a, t.g.back, 0, cols, &t.b, false);
            bench_operation(&c, shape, sources, &t);
        }
    bench_graph_check(&t.g, "attention");
    bench_release();
}

/* ---- rows of heads ---- */

struct heads {
    float *x, *g, *row, *work, *out;
    uint32_t n;
};
static int head_dots(const void *arg, struct gnn_err *e)
{
    const struct heads *t = arg;
    (void)e;
    gnn_cuda_head_dots(t->x, t->row, 0, t->n, HEADS, CHANNELS, t->g, bench.stream);
    return 0;
}
static int head_sums(const void *arg, struct gnn_err *e)
{
    const struct heads *t = arg;
    (void)e;
    gnn_cuda_head_sums(t->g, t->x, t->n, HEADS, CHANNELS, t->work, t->out, true, bench.stream);
    return 0;
}
static int head_outer(const void *arg, struct gnn_err *e)
{
    const struct heads *t = arg;
    (void)e;
    gnn_cuda_head_outer(t->g, t->row, t->n, HEADS, CHANNELS, t->x, bench.stream);
    return 0;
}

static void rows_of_heads(uint32_t n)
{
    const uint64_t d = HEADS * CHANNELS;
    const struct heads t = {.x = bench_numbers(n * d, 0),
                            .g = bench_numbers((uint64_t)n * HEADS, 1),
                            .row = bench_numbers(d, 2),
                            .work = bench_buffer(GNN_COLSUM_BLOCKS * d * sizeof(float)),
                            .out = bench_numbers(d, 3),
                            .n = n};
    struct gnn_ops_cost c;
    char shape[64];
    snprintf(shape, sizeof shape, "%u rows, %d heads of %d", n, HEADS, CHANNELS);
    gnn_ops_cost_head_dots(&c, &bench.known, t.x, t.row, 0, n, HEADS, CHANNELS, t.g);
    bench_operation(&c, shape, head_dots, &t);
    gnn_ops_cost_head_sums(&c, &bench.known, t.g, t.x, n, HEADS, CHANNELS, t.work, t.out, true);
    bench_operation(&c, shape, head_sums, &t);
    gnn_ops_cost_head_outer(&c, &bench.known, t.g, t.row, n, HEADS, CHANNELS, t.x);
    bench_operation(&c, shape, head_outer, &t);
    bench_release();
}

void bench_attention(void)
{
    rows_of_heads(bench_part(137000));
    rows_of_heads(bench_part(460000));
    rows_of_kind("GAT", 0, GNN_ATTENTION_ADD, CHANNELS, true);
    rows_of_kind("GAT", 1, GNN_ATTENTION_ADD, CHANNELS, true);
    /* What GAT does where destinations are few beside sources, as in these layers. */
    rows_of_kind("GAT, unprojected", 0, GNN_ATTENTION_RAW, BENCH_WIDTH, false);
    rows_of_kind("GAT, unprojected", 1, GNN_ATTENTION_RAW, BENCH_HIDDEN, true);
    rows_of_kind("GATv2", 0, GNN_ATTENTION_V2, CHANNELS, true);
    rows_of_kind("GATv2", 1, GNN_ATTENTION_V2, CHANNELS, true);
}
