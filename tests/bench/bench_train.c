/* SPDX-License-Identifier: Apache-2.0 */
/* A training step of SAGE 3x256 on the batch shape of ogbn-products (fan-out 15,10,5, 1024 seeds),
 * against the same step's matrix products alone. Prints seconds, GFLOP/s and the ratio. Arguments:
 * rounds (default 5). */
#include <omp.h>

#include "kernels/gemm.h"

#include "bench_step.h"

enum { HOPS = 3, D = 100, H = 256, C = 47 };
static const uint64_t count[HOPS + 1] = {1024, 13676, 118730, 443062};
static const uint32_t edges[HOPS] = {12968, 125545, 524499};

static uint64_t state = 3;
static uint32_t below(uint64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) * n >> 31);
}

static float *fill(size_t n)
{
    float *v = bench_need(aligned_alloc(64, (n * 4 + 63) / 64 * 64));
    for (size_t i = 0; i < n; i++)
        v[i] = (float)below(1 << 16) / (1 << 16) - 0.5f;
    return v;
}

static void make(struct gnn_batch *b, struct gnn_meta *meta, struct gnn_err *e)
{
    static struct gnn_batch_type type;
    static struct gnn_block block[HOPS];
    struct gnn_tensor *x;
    uint32_t *id = bench_need(malloc(count[HOPS] * sizeof(*id)));
    for (uint32_t i = 0; i < count[HOPS]; i++)
        id[i] = i;
    type = (struct gnn_batch_type){.node = id, .count = count};
    *b = (struct gnn_batch){
        .nhops = HOPS, .nntypes = 1, .netypes = 1, .type = &type, .block = block};
    for (uint32_t h = 0; h < HOPS; h++) {
        const uint32_t first = h ? (uint32_t)count[h - 1] : 0, n = (uint32_t)count[h] - first;
        uint32_t *ptr = bench_need(malloc((n + 1) * sizeof(*ptr))),
                 *idx = bench_need(malloc(edges[h] * sizeof(*idx)));
        for (uint32_t i = 0; i <= n; i++)
            ptr[i] = (uint32_t)((uint64_t)edges[h] * i / n);
        for (uint32_t i = 0; i < edges[h];
             i++) /* most sources are new: in order of first occurrence */
            idx[i] = below(4) ? (uint32_t)(count[h] + (count[h + 1] - count[h]) * i / edges[h])
                              : below(count[h + 1]);
        block[h] = (struct gnn_block){first, n, ptr[n], ptr, idx, NULL};
    }
    const uint64_t shape[2] = {count[HOPS], D};
    if (gnn_schema_add_ntype(&meta->schema, "n", count[HOPS], e) ||
        gnn_schema_add_nfield(&meta->schema, 0, "x", GNN_F32, D, e) ||
        gnn_schema_add_etype(&meta->schema, 0, "to", 0, 1, e) ||
        gnn_tensors_add(&b->tensors, "node/n/x", GNN_F32, 2, shape, &x, e)) {
        fprintf(stderr, "%s\n", e->msg);
        exit(1);
    }
    for (uint64_t i = 0; i < shape[0] * D; i++)
        ((float *)x->data)[i] = (float)below(1 << 16) / (1 << 16) - 0.5f;
    meta->schema.task = GNN_TASK_MULTICLASS;
    meta->schema.nclasses = C;
    meta->sampling.frontier = GNN_FRONTIER_NEW;
}

/* Each product of the step once, on matrices of the same shapes. */
static double products(double *flops)
{
    static const size_t dims[HOPS + 1] = {D, H, H, C};
    static float *x, *y, *w;
    if (!x) {
        x = fill(count[2] * H);
        y = fill(count[2] * H);
        w = fill(H * H);
    }
    *flops = 0;
    const double from = bench_now();
    for (size_t l = 0; l < HOPS; l++)
        for (int twice = 0; twice < 2; twice++) {
            const size_t m = count[HOPS - 1 - l], di = dims[l], dn = dims[l + 1];
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
    make(&b, &meta, &e);
    bench_model_init(&m, &meta.schema, HOPS, (uint32_t)count[0]);
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
