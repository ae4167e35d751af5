/* SPDX-License-Identifier: Apache-2.0 */
/* A training step of SAGE 3x256 on the batch shape of ogbn-products (fan-out 15,10,5, 1024 seeds),
 * against the same step's matrix products alone. Prints seconds, GFLOP/s and the ratio. Arguments:
 * rounds (default 5). */
#include <omp.h>

#include "kernels/gemm.h"

#include "bench_made.h"
#include "bench_step.h"

enum { D = 100, H = 256 };

/* Each product of the step once, on matrices of the same shapes. */
static double products(double *flops)
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
            gnn_gemm(false, true, m, dn, di, 1, x, di, w, di, twice ? 1 : 0, y, dn); /* forward */
            gnn_gemm(true, false, dn, di, m, 1, y, dn, x, di, 0, w, di);             /* weights */
            if (l)
                gnn_gemm(false, false, m, di, dn, 1, y, dn, w, di, twice ? 1 : 0, x,
                         di); /* inputs */
            *flops += 2.0 * (double)(m * di * dn) * (l ? 3 : 2);
        }
    return bench_now() - from;
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct gnn_meta meta = {0};
    struct gnn_batch b;
    struct bench_model m;
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    double best_step = 1e9, best_gemm = 1e9, flops = 0;
    made_batch(&b, &meta, D, &e);
    bench_model_init(&m, &meta.schema, MADE_HOPS, (uint32_t)made_count[0]);
    for (int i = 0; i < rounds; i++) { /* A-B-A-B, so that both meet the same neighbours */
        const double t0 = bench_now();
        bench_step(&m, &b, &meta);
        const double s = bench_now() - t0, g = products(&flops);
        best_step = s < best_step ? s : best_step;
        best_gemm = g < best_gemm ? g : best_gemm;
    }
    printf("SAGE 3x256 step, %d threads: %.1f ms, %.1f GFLOP at %.0f GFLOP/s\n",
           omp_get_max_threads(), 1e3 * best_step, 1e-9 * flops, 1e-9 * flops / best_step);
    printf("its matrix products alone:   %.1f ms, at %.0f GFLOP/s\n", 1e3 * best_gemm,
           1e-9 * flops / best_gemm);
    printf("ratio %.2f (share of the products' rate: %.0f %%)\n", best_step / best_gemm,
           100 * best_gemm / best_step);
    return 0;
}
