/* SPDX-License-Identifier: Apache-2.0 */
/* The products of a step, in all precisions: rate, bytes beside the copy's, and what the library
 * multiplies with. */
#include <stdio.h>

#include "gpu/bench.h"
#include "lib/gpu/dev.h"
#include "lib/gpu/device_gemm.h"
#include "lib/gpu/gpu.h"

static bool able;

static int multiply(const void *arg, struct gnn_err *e)
{
    return gnn_dev_multiply(bench.gemm, arg, &able, bench.stream, e);
}

static void row_of(const char *what, struct gnn_dev_product *g, double bytes)
{
    struct gnn_err e = bench.failed;
    struct gnn_dev_gemm_info info;
    const float *bias = g->bias;
    const bool relu = g->relu;
    if (!e.code && !multiply(g, &e) && !able) {
        g->bias = NULL;
        g->relu = false;
    }
    const double ms = e.code ? 0 : bench_time(BENCH_ROUNDS, multiply, g, &e);
    gnn_dev_gemm_ask(bench.gemm, &info);
    if (e.code)
        bench_row_failed(what, &e);
    else if (!able)
        bench_row(what, "refused | the next finer precision takes its place");
    else
        bench_row(what, "%.1f TFLOP/s, %.1f us | %s, numerics 0x%llx; bytes: %.1f %% of a copy%s",
                  2e-9 * (double)(g->m * g->n) * (double)g->k / ms, 1000 * ms,
                  info.numerics & 0xfe ? "tensor cores"
                  : info.numerics      ? "no tensor cores"
                                       : "unknown",
                  (unsigned long long)info.numerics, 100 * bytes / ms / 1e6 / bench_device_limit(),
                  bias && !g->bias ? "; without the bias" : "");
    g->bias = bias;
    g->relu = relu;
}

static void product(const char *name, struct gnn_dev_product g)
{
    static const char *const precision[] = {
        [GNN_PRECISION_F32] = "f32", [GNN_PRECISION_TF32] = "tf32", [GNN_PRECISION_BF16] = "bf16"};
    struct gnn_ops_cost c;
    gnn_ops_cost_product(&c, g.m, g.n, g.k, g.ta, g.beta != 0);
    char what[128];
    g.a = bench_numbers((uint64_t)g.m * g.k, 0);
    g.b = bench_numbers((uint64_t)g.k * g.n, 1);
    g.c = bench_numbers((uint64_t)g.m * g.n, 2);
    g.bias = g.bias ? bench_numbers(g.n, 3) : NULL;
    for (g.precision = GNN_PRECISION_F32; g.precision <= GNN_PRECISION_BF16; g.precision++) {
        snprintf(what, sizeof what, "matrix product, %s: (%zu, %zu) by (%zu, %zu), %s", name, g.m,
                 g.k, g.k, g.n, precision[g.precision]);
        row_of(what, &g, (double)c.bytes);
    }
    bench_release();
}

void bench_products(void)
{
    static const float yes = 1;
    const size_t first = bench_part(137000), middle = bench_part(15800), last = bench_part(1024),
                 width = BENCH_WIDTH, hidden = BENCH_HIDDEN, classes = BENCH_CLASSES;
    const struct {
        const char *name;
        struct gnn_dev_product g;
    } p[] = {
        {"layer 0", {.tb = true, .m = first, .n = hidden, .k = width}},
        {"layer 0, added, bias, ReLU",
         {.tb = true, .m = first, .n = hidden, .k = width, .beta = 1, .bias = &yes, .relu = true}},
        {"layer 0, joined", {.tb = true, .m = first, .n = hidden, .k = 2 * width}},
        {"layer 1", {.tb = true, .m = middle, .n = hidden, .k = hidden}},
        {"layer 2, bias", {.tb = true, .m = last, .n = classes, .k = hidden, .bias = &yes}},
        {"layer 0, gradient of weights", {.ta = true, .m = hidden, .n = width, .k = first}},
        {"layer 0, joined, gradient of weights",
         {.ta = true, .m = hidden, .n = 2 * width, .k = first}},
        {"layer 1, gradient of weights", {.ta = true, .m = hidden, .n = hidden, .k = middle}},
        {"layer 1, gradient of inputs", {.m = middle, .n = hidden, .k = hidden}},
        {"layer 2, gradient of weights", {.ta = true, .m = classes, .n = hidden, .k = last}}};
    if (!bench.gemm) {
        bench_row_absent("products", bench.no_gemm.msg);
        return;
    }
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        product(p[i].name, p[i].g);
}
