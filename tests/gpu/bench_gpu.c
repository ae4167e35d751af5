/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of a device: first its limits, then kernels beside them, on the shapes of a step of
 * GraphSAGE 3 x 256 on products:. Prints rows of a table, "| what | rate | limit, share |"; lines
 * that begin with # say what all was measured on. usage: bench_gpu [ROWS]   rows of the table that
 * is gathered from, all else in proportion (default 2449029, as in products:) */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/act.h"
#include "kernels/gather.h"
#include "kernels/optim.h"
#include "kernels/spmm.h"
#include "lib/gpu/gpu.h"
#include "lib/gpu/dev.h"
#include "lib/gpu/gemm.h"

enum {
    ROUNDS = 15,
    ALL = 2449029, /* rows of products: */
    WIDTH = 100,
    LINES = 512, /* bytes of a row of whole cache lines, unlike one of WIDTH floats */
    HIDDEN = 256,
    CLASSES = 47,
    DEGREE = 10,
    RANDOM = 1 << 20 /* numbers that arrays are filled with, over and over */
};

static struct gnn_err err;
static void *stream, *from, *to;
static float *random_numbers; /* [RANDOM] pinned */
static uint32_t all;          /* rows of the table */
static double device_limit, host_limit;

static void must(int rc)
{
    if (!rc)
        return;
    fprintf(stderr, "bench_gpu: %s\n", err.msg);
    exit(4);
}

/* As many as a step on products: has so many, in proportion. */
static uint32_t part(uint32_t of_products)
{
    const uint64_t n = (uint64_t)of_products * all / ALL;
    return n < 2 ? 2 : (uint32_t)n;
}

enum { KEPT = 32 };
static void *kept[KEPT];
static int nkept;

static void *room(uint64_t bytes)
{
    void *p = NULL;
    must(gnn_dev_alloc(&p, bytes, "a benchmark", &err));
    must(gnn_dev_set(p, 1, bytes, stream, &err));
    if (nkept == KEPT)
        exit(1);
    return kept[nkept++] = p;
}
/* Zeros would flatter products. */
static float *numbers(uint64_t n)
{
    float *p = room(n * sizeof *p);
    for (uint64_t i = 0; i < n; i += RANDOM)
        must(gnn_dev_copy(p + i, random_numbers, (n - i < RANDOM ? n - i : RANDOM) * sizeof *p,
                          stream, &err));
    return p;
}
static void *up(const void *data, uint64_t bytes)
{
    void *p = room(bytes);
    must(gnn_dev_copy(p, data, bytes, stream, &err));
    must(gnn_dev_stream_wait(stream, &err));
    return p;
}
static void release(void)
{
    must(gnn_dev_stream_wait(stream, &err));
    while (nkept)
        gnn_dev_free(kept[--nkept]);
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Milliseconds that f(arg) takes on the device: the median. */
static double time_of(void (*f)(const void *arg), const void *arg)
{
    float ms[ROUNDS];
    const int rounds = all < ALL / 100 ? 1 : ROUNDS; /* where only the way is tried */
    f(arg);
    for (int i = 0; i < rounds; i++) {
        must(gnn_dev_event_record(from, stream, &err));
        f(arg);
        must(gnn_dev_event_record(to, stream, &err));
        must(gnn_dev_launched("a kernel", &err));
        must(gnn_dev_event_wait(to, &err));
        must(gnn_dev_event_ms(from, to, &ms[i], &err));
    }
    qsort(ms, (size_t)rounds, sizeof *ms, ascending);
    return ms[rounds / 2] > 0 ? (double)ms[rounds / 2] : NAN;
}

/* Prints the rate at which f moves so many bytes, and returns it, in GB/s. limit 0: it is one. */
static double rate(const char *name, double bytes, double limit, void (*f)(const void *arg),
                   const void *arg)
{
    const double ms = time_of(f, arg), gb = bytes / ms / 1e6;
    if (limit > 0)
        printf("| %s | %.1f GB/s, %.1f us | %.1f, %.1f %% |\n", name, gb, 1000 * ms, limit,
               100 * gb / limit);
    else
        printf("| %s | %.1f GB/s | a limit |\n", name, gb);
    fflush(stdout);
    return gb;
}

/* ---- the machine ---- */

struct copy {
    void *to;
    const void *from;
    uint64_t bytes;
};
static void copy(const void *arg)
{
    const struct copy *c = arg;
    must(gnn_dev_copy(c->to, c->from, c->bytes, stream, &err));
}

static void limits(void)
{
    const uint64_t big = (uint64_t)all * WIDTH * sizeof(float);
    void *pinned = NULL;
    must(gnn_dev_pin(&pinned, big, "a benchmark", &err));
    void *a = numbers(big / sizeof(float)), *b = numbers(big / sizeof(float));
    device_limit =
        rate("copy, device, read + write", 2 * (double)big, 0, copy, &(struct copy){a, b, big});
    host_limit =
        rate("copy, pinned host to device", (double)big, 0, copy, &(struct copy){a, pinned, big});
    (void)rate("copy, device to pinned host", (double)big, 0, copy, &(struct copy){pinned, a, big});
    release();
    gnn_dev_unpin(pinned);
}

/* ---- gathering ---- */

static void gather(const void *arg)
{
    gnn_cuda_gather_rows(arg, stream);
}
static void rate_of_gather(const char *name, const struct gnn_cuda_gather *g, double passes,
                           double limit)
{
    (void)rate(name, passes * (double)(g->capacity * g->bytes), limit, gather, g);
}

static void gathers(void)
{
    const uint32_t wanted = all / 5;
    const uint64_t bytes = all * (uint64_t)LINES;
    uint32_t *id = NULL;
    void *pinned = NULL;
    must(gnn_dev_pin((void **)&id, wanted * sizeof *id, "ids", &err));
    must(gnn_dev_pin(&pinned, bytes, "a table", &err));
    memset(pinned, 1, bytes);
    for (uint32_t i = 0; i < wanted;
         i++) /* each at most once, in no order: an odd factor permutes 32 bits */
        id[i] = (uint32_t)((uint64_t)(i * 2654435761u) * all >> 32);
    const struct gnn_gather_part table[2] = {
        {.count = all, .data = numbers(bytes / sizeof(float)), .tier = GNN_TIER_DEVICE},
        {.count = all, .data = pinned, .tier = GNN_TIER_HOST}};
    const struct gnn_gather_part *parts = up(table, sizeof table);
    struct gnn_cuda_gather g = {.backing = parts,
                                .nbacking = 1,
                                .bytes = LINES,
                                .capacity = wanted,
                                .id = up(id, wanted * sizeof *id),
                                .out = room(wanted * (uint64_t)LINES)};
    rate_of_gather("random rows, 512 bytes", &g, 2, device_limit);
    g.bytes = WIDTH * sizeof(float);
    rate_of_gather("gather, device memory", &g, 2, device_limit);
    g.backing = parts + 1;
    g.capacity = wanted / 4;
    rate_of_gather("gather, pinned, all blocks", &g, 1, host_limit);
    g.blocks = GNN_CUDA_GATHER_HOST_BLOCKS;
    rate_of_gather("gather, pinned host memory", &g, 1, host_limit);
    g.bytes = LINES;
    rate_of_gather("gather, pinned, 512 bytes", &g, 1, host_limit);
    release();
    gnn_dev_unpin(pinned);
    gnn_dev_unpin(id);
}

/* ---- aggregation ---- */

struct sum {
    const struct gnn_csr *block;
    uint32_t rows, cols, edges, width;
    float *x, *y;
    uint32_t *tptr, *tidx;
    void *scratch;
    uint64_t *bad;
};
static void aggregate(const void *arg)
{
    const struct sum *s = arg;
    gnn_cuda_spmm(s->block, 1, 0, NULL, s->rows, s->x, s->cols, s->width, s->width, s->y, s->width,
                  0, s->bad, stream);
}
static void transpose(const void *arg)
{
    const struct sum *s = arg;
    gnn_cuda_csr_transpose(s->block, 1, NULL, s->cols, s->edges, s->tptr, s->tidx, NULL, s->scratch,
                           s->bad, stream);
}

/* Rows of DEGREE neighbours each, and the backward pass. */
static void aggregates(uint32_t rows, uint32_t cols, uint32_t width)
{
    char name[64];
    const uint64_t none = UINT64_MAX;
    struct sum s = {.rows = rows, .cols = cols, .edges = rows * DEGREE, .width = width};
    uint32_t *ptr = malloc((rows + 1) * sizeof *ptr), *idx = malloc((size_t)s.edges * sizeof *idx);
    if (!ptr || !idx)
        exit(1);
    for (uint32_t i = 0; i <= rows; i++)
        ptr[i] = i * DEGREE;
    for (uint32_t i = 0; i < s.edges; i++)
        idx[i] = (uint32_t)((uint64_t)(i * 2654435761u) * cols >> 32);
    const struct gnn_csr a = {.n = rows,
                              .indptr = up(ptr, (rows + 1) * sizeof *ptr),
                              .indices = up(idx, (size_t)s.edges * sizeof *idx)};
    s.block = up(&a, sizeof a);
    s.bad = up(&none, sizeof none);
    s.x = numbers((uint64_t)cols * width);
    s.y = numbers((uint64_t)rows * width);
    s.tptr = room((cols + UINT64_C(1)) * sizeof *s.tptr);
    s.tidx = room(s.edges * sizeof *s.tidx);
    s.scratch = room(gnn_cuda_csr_transpose_scratch(s.edges, 0));
    snprintf(name, sizeof name, "aggregate, %u wide", width);
    (void)rate(name, (double)(s.edges + rows) * width * sizeof(float), device_limit, aggregate, &s);
    snprintf(name, sizeof name, "transpose, %u edges", s.edges);
    (void)rate(name, 2.0 * s.edges * sizeof *idx, device_limit, transpose, &s);
    release();
    free(ptr);
    free(idx);
}

/* ---- element-wise passes, the optimiser ---- */

struct pass {
    uint32_t n;
    size_t d;
    float *x, *y, *bias, *work, *out, *m, *v;
};
static void bias_relu(const void *arg)
{
    const struct pass *p = arg;
    gnn_cuda_bias_act(p->x, NULL, p->n, p->d, p->bias, GNN_ACT_RELU, NULL, stream);
}
static void act_back(const void *arg)
{
    const struct pass *p = arg;
    gnn_cuda_act_back(p->x, p->y, NULL, p->n, p->d, GNN_ACT_RELU, 1, NULL, stream);
}
static void colsum(const void *arg)
{
    const struct pass *p = arg;
    gnn_cuda_colsum(p->x, NULL, p->n, p->d, p->work, p->out, false, stream);
}
static void adam(const void *arg)
{
    static const struct gnn_optim_step first_step = {
        .lr = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f, .t = 1};
    const struct pass *p = arg;
    gnn_cuda_adam(p->x, p->y, p->m, p->v, p->n, false, &first_step, stream);
}

static void passes(void)
{
    struct pass p = {.n = part(137000), .d = HIDDEN};
    const uint64_t count = (uint64_t)p.n * p.d;
    const double bytes = (double)count * sizeof(float);
    p.x = numbers(count);
    p.y = numbers(count);
    p.bias = numbers(p.d);
    p.out = numbers(p.d);
    p.work = numbers(GNN_COLSUM_BLOCKS * p.d);
    (void)rate("bias and ReLU, 256 wide", 2 * bytes, device_limit, bias_relu, &p);
    (void)rate("act_back, 256 wide", 3 * bytes, device_limit, act_back, &p);
    (void)rate("column sums, 256 wide", bytes, device_limit, colsum, &p);
    p.n = part(2 * (WIDTH + HIDDEN + CLASSES) * HIDDEN);
    p.m = numbers(p.n);
    p.v = numbers(p.n);
    (void)rate("Adam, the model's parameters", 7.0 * p.n * sizeof(float), device_limit, adam, &p);
    release();
}

/* ---- products ---- */

static void *gemm;
static bool able;

static void multiply(const void *arg)
{
    must(gnn_dev_multiply(gemm, arg, &able, stream, &err));
}

/* Multiplies in all precisions: rate, bytes beside the copy's, and what the library multiplies
 * with. */
static void product(const char *what, struct gnn_dev_product g)
{
    static const char *const precision[] = {
        [GNN_PRECISION_F32] = "f32", [GNN_PRECISION_TF32] = "tf32", [GNN_PRECISION_BF16] = "bf16"};
    g.a = numbers((uint64_t)g.m * g.k);
    g.b = numbers((uint64_t)g.k * g.n);
    g.c = numbers((uint64_t)g.m * g.n);
    const float *bias = g.bias ? numbers(g.n) : NULL;
    const double bytes = 4.0 * ((double)g.m * (double)g.k + (double)g.k * (double)g.n +
                                (double)g.m * (double)g.n * (g.beta != 0 ? 2 : 1));
    for (g.precision = GNN_PRECISION_F32; g.precision <= GNN_PRECISION_BF16; g.precision++) {
        struct gnn_dev_gemm_info info;
        g.bias = bias;
        must(gnn_dev_multiply(gemm, &g, &able, stream, &err));
        const bool bare = !able;
        if (bare) {
            g.bias = NULL;
            g.relu = false;
        }
        const double ms = time_of(multiply, &g);
        gnn_dev_gemm_ask(gemm, &info);
        printf("| product, %s: (%zu, %zu) by (%zu, %zu), %s | ", what, g.m, g.k, g.k, g.n,
               precision[g.precision]);
        if (able)
            printf("%.1f TFLOP/s, %.1f us | %s, numerics 0x%llx; bytes: %.1f %% of a copy%s |\n",
                   2e-9 * (double)(g.m * g.n) * (double)g.k / ms, 1000 * ms,
                   info.numerics & 0xfe ? "tensor cores"
                   : info.numerics      ? "no tensor cores"
                                        : "unknown",
                   (unsigned long long)info.numerics, 100 * bytes / ms / 1e6 / device_limit,
                   bare && bias ? "; without the bias" : "");
        else
            printf("refused | the next finer precision takes its place |\n");
        fflush(stdout);
    }
    release();
}

static void products(void)
{
    static const float yes = 1;
    const size_t first = part(137000), middle = part(15800), last = part(1024);
    product("layer 0", (struct gnn_dev_product){.tb = true, .m = first, .n = HIDDEN, .k = WIDTH});
    product("layer 0, added, bias, ReLU", (struct gnn_dev_product){.tb = true,
                                                                   .m = first,
                                                                   .n = HIDDEN,
                                                                   .k = WIDTH,
                                                                   .beta = 1,
                                                                   .bias = &yes,
                                                                   .relu = true});
    product("layer 1", (struct gnn_dev_product){.tb = true, .m = middle, .n = HIDDEN, .k = HIDDEN});
    product("layer 2, bias", (struct gnn_dev_product){
                                 .tb = true, .m = last, .n = CLASSES, .k = HIDDEN, .bias = &yes});
    product("layer 0, gradient of weights",
            (struct gnn_dev_product){.ta = true, .m = HIDDEN, .n = WIDTH, .k = first});
    product("layer 1, gradient of weights",
            (struct gnn_dev_product){.ta = true, .m = HIDDEN, .n = HIDDEN, .k = middle});
    product("layer 1, gradient of inputs",
            (struct gnn_dev_product){.m = middle, .n = HIDDEN, .k = HIDDEN});
    product("layer 2, gradient of weights",
            (struct gnn_dev_product){.ta = true, .m = CLASSES, .n = HIDDEN, .k = last});
}

/* ---- all ---- */

static void versions(void)
{
    struct gnn_dev_info info;
    struct gnn_dev_gemm_info lt;
    unsigned n;
    int driver, runtime;
    must(gnn_dev_count(&n, &err));
    must(gnn_dev_ask(0, &info, &err));
    must(gnn_dev_versions(&driver, &runtime, &err));
    must(gnn_dev_gemm_new(&gemm, &err));
    gnn_dev_gemm_ask(gemm, &lt);
    printf(
        "# %u device%s; the first: %s, sm_%d%d, %u multiprocessors, %.0f GB; the driver knows CUDA %d.%d, the runtime is %d.%d; cuBLASLt %llu\n",
        n, n == 1 ? "" : "s", info.name, info.major, info.minor, info.multiprocessors,
        (double)info.bytes / 1e9, driver / 1000, driver % 1000 / 10, runtime / 1000,
        runtime % 1000 / 10, (unsigned long long)lt.version);
}

static void draw_numbers(void)
{
    uint64_t x = 1;
    must(gnn_dev_pin((void **)&random_numbers, RANDOM * sizeof *random_numbers, "a benchmark",
                     &err));
    for (int i = 0; i < RANDOM; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        random_numbers[i] = (float)(x >> 40) / (float)(1 << 23) - 1;
    }
}

int main(int argc, char **argv)
{
    all = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : ALL;
    versions();
    must(gnn_dev_use(0, &err));
    must(gnn_dev_stream_new(&stream, &err));
    must(gnn_dev_event_timed(&from, &err));
    must(gnn_dev_event_timed(&to, &err));
    draw_numbers();
    limits();
    gathers();
    aggregates(part(70000), part(306000), HIDDEN);
    aggregates(part(137000), part(443000), WIDTH);
    passes();
    products();
    gnn_dev_unpin(random_numbers);
    gnn_dev_gemm_free(gemm);
    gnn_dev_event_free(from);
    gnn_dev_event_free(to);
    gnn_dev_stream_free(stream);
    return 0;
}
