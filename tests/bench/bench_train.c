/* SPDX-License-Identifier: Apache-2.0 */
/* A training step of SAGE 3x256 on the batch shape of ogbn-products (fan-out 15,10,5, 1024 seeds),
 * against the same step's matrix products alone, in f32 and in bf16. Prints seconds, GFLOP/s and
 * the ratio. Arguments: rounds (default 5). */
#include <omp.h>

#include "lib/ops/ops.h"

#include "bench_made.h"
#include "bench_step.h"

enum { D = 100, H = 256 };

static void multiply(const struct gnn_ops *o, const struct gnn_product *p)
{
    struct gnn_err e = {0};
    if (o->gemm(o, p, &e))
        bench_die(&e);
}

/* Each product of the step once, on matrices of the same shapes. */
static double time_products(const struct gnn_ops *o, double *flops)
{
    static const size_t dims[MADE_HOPS + 1] = {D, H, H, MADE_CLASSES};
    static float *x, *y, *w;
    if (!x) {
        x = made_rows(made_count[2] * H);
        y = made_rows(made_count[2] * H);
        w = made_rows(H * H);
    }
    *flops = 0;
    const double from = bench_now();
    for (size_t l = 0; l < MADE_HOPS; l++)
        for (int twice = 0; twice < 2; twice++) {
            const size_t m = made_count[MADE_HOPS - 1 - l], di = dims[l], dn = dims[l + 1];
            const float beta = twice ? 1 : 0;
            const struct gnn_product products[] = {
                /* forward, weights, inputs */
                {.tb = true, .m = m, .n = dn, .k = di, .a = x, .b = w, .beta = beta, .c = y},
                {.ta = true, .m = dn, .n = di, .k = m, .a = y, .b = x, .c = w},
                {.m = m, .n = di, .k = dn, .a = y, .b = w, .beta = beta, .c = x}};
            for (int i = 0; i < (l ? 3 : 2); i++)
                multiply(o, &products[i]);
            *flops += 2.0 * (double)(m * di * dn) * (l ? 3 : 2);
        }
    return bench_now() - from;
}

/* A step, and its products alone. */
struct timed {
    const struct gnn_ops *o;
    struct bench_model m;
    double step, products;
};

static void time_step(struct timed *t, const struct gnn_batch *b, const struct gnn_meta *meta,
                      double *flops)
{
    const double t0 = bench_now();
    bench_step(&t->m, b, meta);
    const double s = bench_now() - t0, g = time_products(t->o, flops);
    t->step = s < t->step ? s : t->step;
    t->products = g < t->products ? g : t->products;
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct gnn_meta meta = {0};
    struct gnn_batch b;
    struct timed f32 = {.o = &gnn_ops_cpu, .step = 1e9, .products = 1e9}, bf16 = f32;
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    double flops = 0;
    if (!(bf16.o = gnn_ops_new(NULL, GNN_PRECISION_BF16, &e)))
        bench_die(&e);
    made_batch(&b, &meta, D, &e);
    bench_model_init(&f32.m, f32.o, &meta.schema, MADE_HOPS, (uint32_t)made_count[0]);
    bench_model_init(&bf16.m, bf16.o, &meta.schema, MADE_HOPS, (uint32_t)made_count[0]);
    for (int i = 0; i < rounds; i++) { /* A-B-A-B, so that all meet the same neighbours */
        time_step(&f32, &b, &meta, &flops);
        time_step(&bf16, &b, &meta, &flops);
    }
    printf("SAGE 3x256 step, %d threads: %.1f ms, %.1f GFLOP at %.0f GFLOP/s\n",
           omp_get_max_threads(), 1e3 * f32.step, 1e-9 * flops, 1e-9 * flops / f32.step);
    printf("its matrix products alone:   %.1f ms, at %.0f GFLOP/s\n", 1e3 * f32.products,
           1e-9 * flops / f32.products);
    printf("ratio %.2f (share of the products' rate: %.0f %%)\n", f32.step / f32.products,
           100 * f32.products / f32.step);
    printf("bf16: step %.1f ms, %.2f x as fast; its products %.1f ms, %.2f x as fast%s%s\n",
           1e3 * bf16.step, f32.step / bf16.step, 1e3 * bf16.products, f32.products / bf16.products,
           *bf16.o->note(bf16.o) ? "; " : "", bf16.o->note(bf16.o));
    return 0;
}
