/* SPDX-License-Identifier: Apache-2.0 */
/* Layers on one core: aggregation of 256 columns beside reading rows of 1 KiB from random places,
 * which is all that it has to do; and a step of three layers of width 256, from as many features,
 * for each kind of layer, or for those that are named, beside SAGE. A line each.
 * usage: bench_layers [ROUNDS [LAYER...]] */
#include <omp.h>
#include <string.h>

#include "kernels/spmm.h"

#include "bench_made.h"

enum { WIDTH = 256, SOURCES = 786432, ROWS = 40000, DEGREE = 10, EDGES = ROWS * DEGREE };
enum { CHUNK = 2048 }; /* as layers do: sums stay in the cache for the matrix product */

/* Adds up rows, sixteen columns at a time, and does nothing else. */
static float read_rows(const float *x, const uint32_t *at)
{
    enum { AHEAD = 12, LANES = 16 };
    float s[LANES] = {0}, sum = 0;
    for (size_t e = 0; e < EDGES; e++) {
        const float *v = x + (size_t)at[e] * WIDTH;
        const char *p = (const char *)(x + (size_t)at[e + AHEAD < EDGES ? e + AHEAD : e] * WIDTH);
        for (size_t b = 0; b < WIDTH * sizeof(float); b += 64)
            __builtin_prefetch(p + b);
        for (size_t j = 0; j < WIDTH; j += LANES)
            for (size_t k = 0; k < LANES; k++)
                s[k] += v[j + k];
    }
    for (size_t k = 0; k < LANES; k++)
        sum += s[k];
    return sum;
}

static void aggregate(int rounds)
{
    float *x = made_rows((size_t)SOURCES * WIDTH), *y = made_rows((size_t)CHUNK * WIDTH), sum = 0;
    uint32_t *ptr = bench_need(malloc((ROWS + 1) * sizeof *ptr)),
             *at = bench_need(malloc(EDGES * sizeof *at));
    double best[2] = {1e9, 1e9};
    for (uint32_t i = 0; i <= ROWS; i++)
        ptr[i] = i * DEGREE;
    for (uint32_t e = 0; e < EDGES; e++)
        at[e] = made_below(SOURCES);
    for (int r = 0; r < 2 * rounds; r++) { /* A-B-A-B */
        const double t = bench_now();
        if (r % 2)
            for (uint32_t i = 0; i < ROWS; i += CHUNK) {
                const struct gnn_csr a = {
                    .n = ROWS - i < CHUNK ? ROWS - i : CHUNK, .indptr = ptr + i, .indices = at};
                gnn_spmm(&a, x, WIDTH, WIDTH, y, WIDTH, 0);
            }
        else
            sum += read_rows(x, at);
        best[r % 2] = bench_now() - t < best[r % 2] ? bench_now() - t : best[r % 2];
    }
    const double bytes = 1e-9 * EDGES * WIDTH * sizeof(float);
    printf(
        "aggregation of 256 columns: %.2f GB/s, reading rows of 1 KiB: %.2f GB/s, share %.0f %%%s\n",
        bytes / best[1], bytes / best[0], 100 * best[0] / best[1], sum == 0.125f ? "." : "");
    free(x);
    free(y);
    free(ptr);
    free(at);
}

static bool wanted(const char *name, int argc, char **argv)
{
    bool found = argc < 3 || !strcmp(name, "sage");
    for (int i = 2; i < argc; i++)
        found = found || !strcmp(name, argv[i]);
    return found;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"sage", "gin", "gat", "gatv2"};
    enum { LAYERS = sizeof names / sizeof *names, HEADS = 4 };
    struct bench_model m[LAYERS];
    double best[LAYERS];
    struct gnn_err e = {0};
    struct gnn_meta meta = {0};
    struct gnn_batch b;
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    omp_set_num_threads(1);
    aggregate(rounds);
    made_batch(&b, &meta, WIDTH, &e);
    for (int i = 0; i < LAYERS; i++) {
        struct gnn_model_config c = {.layer = gnn_layer_find(names[i])};
        for (uint32_t k = 0; c.layer && k < c.layer->noptions; k++)
            c.option[k] =
                !strcmp(c.layer->option[k].name, "heads") ? HEADS : c.layer->option[k].init;
        best[i] = 1e9;
        if (c.layer)
            bench_model_of(&m[i], &gnn_ops_cpu, &meta.schema, c, MADE_HOPS,
                           (uint32_t)made_count[0]);
    }
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < LAYERS; i++) {
            if (!wanted(names[i], argc, argv))
                continue;
            const double t = bench_now();
            bench_step(&m[i], &b, &meta);
            best[i] = bench_now() - t < best[i] ? bench_now() - t : best[i];
        }
    for (int i = 0; i < LAYERS; i++)
        if (wanted(names[i], argc, argv))
            printf("%s 3x256 step: %.0f ms, %.2f x sage\n", names[i], 1e3 * best[i],
                   best[i] / best[0]);
    return 0;
}
