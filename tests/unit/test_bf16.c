/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of the host in bf16, against sums in double precision of the rounded inputs: of
 * all transposes, pitches and sizes at which pieces end. Where the processor has products of bf16,
 * they are compared with those of f32, too, which oneDNN makes when it may not use AVX-512. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/half_bits.h"
#include "lib/ops/ops.h"
#include "tap.h"

static uint64_t state = 1;
static float draw_number(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)(state >> 40) / (float)(1 << 24) - 0.5f;
}

static float rounded(float x)
{
    return gnn_bits_f32((uint32_t)gnn_bf16_of(gnn_f32_bits(x)) << 16);
}

/* A product with its matrices; those have `gap` columns more than it uses, which hold NaN. */
struct product {
    struct gnn_product p;
    float *a, *b, *c, *before;
    float *bias;
    struct gnn_epilogue ep;
    size_t gap;
};

static float *make_matrix(size_t rows, size_t columns, size_t pitch)
{
    float *x = malloc((rows * pitch + 1) * sizeof *x);
    if (!x)
        abort();
    for (size_t i = 0; i < rows * pitch; i++)
        x[i] = i % pitch < columns ? draw_number() : NAN;
    return x;
}

/* how: bits are ta, tb, beta 1, and pitches or, without, an epilogue. */
static void make_product(struct product *t, size_t m, size_t n, size_t k, unsigned how)
{
    const bool ta = how & 1, tb = how & 2, pitches = how & 8;
    memset(t, 0, sizeof *t);
    t->gap = pitches ? 3 : 0;
    t->p = (struct gnn_product){.ta = ta, .tb = tb, .m = m, .n = n, .k = k};
    t->p.beta = how & 4 ? 1.0f : 0.0f;
    const size_t lda = (ta ? m : k) + t->gap, ldb = (tb ? k : n) + t->gap, ldc = n + t->gap;
    t->p.a = t->a = make_matrix(ta ? k : m, ta ? m : k, lda);
    t->p.b = t->b = make_matrix(tb ? n : k, tb ? k : n, ldb);
    t->p.c = t->c = make_matrix(m, n, ldc);
    t->before = make_matrix(1, 1, m * ldc + 1);
    memcpy(t->before, t->c, m * ldc * sizeof *t->c);
    if (!(how & 4))
        for (size_t i = 0; i < m * ldc; i++)
            t->c[i] = NAN;
    if (pitches) {
        t->p.lda = lda, t->p.ldb = ldb, t->p.ldc = ldc;
    } else {
        t->ep = (struct gnn_epilogue){t->bias = make_matrix(1, n, n ? n : 1), GNN_ACT_RELU};
        t->p.ep = &t->ep;
    }
}

static void free_product(struct product *t)
{
    free(t->a), free(t->b), free(t->c), free(t->before), free(t->bias);
}

/* Element (i, j): the sum, and the sum of magnitudes. */
static double sum_exactly(const struct product *t, size_t i, size_t j, double *size)
{
    const struct gnn_product *p = &t->p;
    const size_t lda = (p->ta ? p->m : p->k) + t->gap, ldb = (p->tb ? p->k : p->n) + t->gap;
    const float before = p->beta != 0 ? t->before[i * (p->n + t->gap) + j] : 0;
    double s = (double)before;
    *size = fabs(s);
    for (size_t q = 0; q < p->k; q++) {
        const double x = (double)rounded(p->ta ? t->a[q * lda + i] : t->a[i * lda + q]) *
                         (double)rounded(p->tb ? t->b[j * ldb + q] : t->b[q * ldb + j]);
        s += x;
        *size += fabs(x);
    }
    return s;
}

/* Up to some hundred elements, the first and the last among them. */
static size_t next_of(size_t i, size_t n)
{
    const size_t next = i + (n > 300 ? n / 97 : 1);
    return next < n || i + 1 == n ? next : n - 1;
}

/* Whether sums are within the error of f32, and what lies between rows is left alone. */
static bool is_right(const struct product *t)
{
    const size_t m = t->p.m, n = t->p.n, ldc = n + t->gap;
    bool good = true;
    for (size_t i = 0; i < m; i = next_of(i, m))
        for (size_t j = 0; j < n; j = next_of(j, n)) {
            double size, s = sum_exactly(t, i, j, &size);
            const float c = t->c[i * ldc + j];
            if (t->p.ep) {
                s += (double)t->bias[j];
                size += fabs((double)t->bias[j]);
                s = s > 0 ? s : 0;
            }
            good = good && fabs(s - (double)c) <= 0x1p-24 * (double)(t->p.k + 3) * size;
        }
    for (size_t i = 0; i < m * ldc; i++)
        good = good && (i % ldc < n || memcmp(t->c + i, t->before + i, sizeof *t->c) == 0 ||
                        (t->p.beta == 0 && isnan(t->c[i])));
    return good;
}

static bool multiply(const struct gnn_ops *o, const struct product *t)
{
    struct gnn_err e = {0};
    const bool done = !o->gemm(o, &t->p, &e);
    if (!done)
        printf("# %s\n", e.msg);
    return done;
}

static const struct gnn_ops *need_ops(void)
{
    struct gnn_err e = {0};
    const struct gnn_ops *o = gnn_ops_new(NULL, GNN_PRECISION_BF16, &e);
    if (!o) {
        printf("# %s\n", e.msg);
        exit(1);
    }
    return o;
}

static const size_t sizes[][3] = {
    {0, 3, 5},      {3, 0, 5},       {3, 5, 0},       {1, 1, 1},       {1, 7, 1},
    {7, 1, 3},      {1, 5, 64},      {2, 2, 2},       {3, 5, 7},       {17, 33, 31},
    {64, 64, 64},   {100, 47, 257},  {256, 256, 100}, {904, 12, 9},    {5, 9, 3001},
    {2047, 5, 3},   {2049, 6, 33},   {4500, 4, 1},    {3, 2100, 40},   {40, 3, 2300},
    {300, 520, 90}, {1433, 16, 140}, {30, 6000, 70},  {2500, 3, 2500},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void test_sums(const struct gnn_ops *o)
{
    for (unsigned how = 0; how < 16; how++) {
        bool good = true;
        for (size_t i = 0; i < SIZES; i++) {
            struct product t;
            make_product(&t, sizes[i][0], sizes[i][1], sizes[i][2], how);
            const bool right = multiply(o, &t) && is_right(&t);
            if (!right)
                printf("# %zu x %zu x %zu\n", sizes[i][0], sizes[i][1], sizes[i][2]);
            good = good && right;
            free_product(&t);
        }
        ok(good,
           "products of rounded inputs are exact but for sums in f32: ta=%d, tb=%d, beta=%d%s",
           how & 1, how >> 1 & 1, how >> 2 & 1, how & 8 ? ", pitches" : ", bias and ReLU");
    }
}

static void test_rounding(const struct gnn_ops *o)
{
    struct product t, same;
    make_product(&t, 40, 30, 20, 8);
    float *bf16 = make_matrix(40, 33, 33);
    bool good = multiply(o, &t);
    memcpy(bf16, t.c, 40 * 33 * sizeof *bf16);
    good = good && multiply(&gnn_ops_cpu, &t) && memcmp(bf16, t.c, 40 * 33 * sizeof *bf16) != 0;
    ok(good, "a product in bf16 has other bits than in f32");
    make_product(&same, 40, 30, 20, 0);
    for (size_t i = 0; i < 40 * 20; i++) /* quarters below 32: at most 7 bits */
        same.a[i] = (float)(int)(250 * same.a[i]) / 4;
    for (size_t i = 0; i < 20 * 30; i++)
        same.b[i] = (float)(int)(250 * same.b[i]) / 4;
    good = multiply(o, &same);
    memcpy(bf16, same.c, 40 * 30 * sizeof *bf16);
    good =
        good && multiply(&gnn_ops_cpu, &same) && memcmp(bf16, same.c, 40 * 30 * sizeof *bf16) == 0;
    ok(good, "of numbers that bf16 holds it has the same bits");
    free(bf16);
    free_product(&t);
    free_product(&same);
}

static void test_limits(const struct gnn_ops *o)
{
    const float huge = 3.4e38f, most = 3.38e38f, one = 1;
    float c = 0;
    struct gnn_err e = {0};
    struct gnn_product p = {.m = 1, .n = 1, .k = 1, .a = &most, .b = &one, .c = &c};
    ok(!o->gemm(o, &p, &e) && isfinite(c), "3.38e38 is finite in bf16");
    p.a = &huge;
    ok(!o->gemm(o, &p, &e) && isinf(c), "3.4e38 is infinite in bf16");
    const float nan = NAN;
    p.a = &nan;
    ok(!o->gemm(o, &p, &e) && isnan(c), "a NaN stays one");
    ok(!gnn_ops_new(NULL, GNN_PRECISION_TF32, &e) && e.code == GNN_E_USAGE,
       "the host refuses products in tf32: %s", e.msg);
}

/* The product in parts of 2048 rows of A, in `parts`. */
static bool multiply_parts(const struct gnn_ops *o, const struct product *t)
{
    enum { ROWS = 2048 };
    const struct gnn_product *p = &t->p;
    const size_t rows = p->ta ? p->k : p->m;
    struct gnn_err e = {0};
    bool good = true;
    for (size_t i = 0; i < rows; i += ROWS) {
        struct gnn_product part = *p;
        const size_t n = rows - i < ROWS ? rows - i : ROWS;
        part.a += i * (p->ta ? p->m : p->k);
        if (p->ta) {
            part.k = n;
            part.b += i * p->n;
            part.beta = i ? 1 : p->beta;
        } else {
            part.m = n;
            part.c += i * p->n;
        }
        good = good && !o->gemm(o, &part, &e);
    }
    return good;
}

static void test_bits(const struct gnn_ops *o)
{
    static const size_t of[][3] = {
        {5001, 37, 100}, {48, 37, 5001}, {4996, 130, 1433}, {1433, 16, 5001}};
    for (int threads = 1; threads <= 2; threads++)
        for (unsigned how = 0; how < 4; how++) {
            struct product t;
            omp_set_num_threads(threads);
            make_product(&t, of[how][0], of[how][1], of[how][2], how % 2 ? 1 : 2);
            if (t.p.ta)
                t.p.ep = NULL;
            const size_t bytes = t.p.m * t.p.n * sizeof(float);
            float *c = make_matrix(t.p.m, t.p.n, t.p.n);
            bool good = multiply(o, &t), parts;
            memcpy(c, t.c, bytes);
            good = good && multiply(o, &t) && !memcmp(c, t.c, bytes);
            memset(t.c, 0, bytes);
            parts = multiply_parts(o, &t) && !memcmp(c, t.c, bytes);
            ok(good, "%zu x %zu x %zu: the same bits twice on %d", t.p.m, t.p.n, t.p.k, threads);
            ok(parts, "%zu x %zu x %zu: the same bits in parts on %d", t.p.m, t.p.n, t.p.k,
               threads);
            free(c);
            free_product(&t);
        }
    omp_set_num_threads(1);
}

/* More shapes than primitives are kept. */
static void test_shapes(const struct gnn_ops *o)
{
    bool good = true;
    for (size_t i = 0; i < 900; i++) {
        struct product t;
        make_product(&t, 3, 1 + i % 300, 5, 8 | (unsigned)(i % 4));
        good = good && multiply(o, &t) && is_right(&t);
        free_product(&t);
    }
    ok(good, "products of 900 shapes are right");
}

/* ---- the same products without AVX-512 ---- */

static const size_t pairs[][3] = {{700, 256, 100}, {256, 100, 2500}, {33, 47, 256}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* Number i, from numbers that do not depend on what was drawn before. */
static void make_pair(struct product *t, size_t i, unsigned how)
{
    state = 1 + i;
    make_product(t, pairs[i][0], pairs[i][1], pairs[i][2], how | 8);
}

/* In a process of its own, as oneDNN reads its environment once: results go to fd. */
static int without_avx512(int fd)
{
    setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
    const struct gnn_ops *o = need_ops();
    bool good = *o->note(o) != 0;
    for (size_t i = 0; i < PAIRS; i++)
        for (unsigned how = 0; how < 4; how++) {
            struct product t;
            make_pair(&t, i, how);
            const size_t bytes = t.p.m * t.p.ldc * sizeof(float);
            good = good && multiply(o, &t);
            for (size_t at = 0; good && at < bytes;) {
                const ssize_t n = write(fd, (char *)t.c + at, bytes - at);
                good = n > 0;
                at += n > 0 ? (size_t)n : 0;
            }
            free_product(&t);
        }
    o->free(o);
    return good ? 0 : 1;
}

static pid_t begin_other(int *from)
{
    int ends[2];
    if (pipe(ends))
        abort();
    fflush(stdout);
    const pid_t pid = fork();
    if (!pid)
        _exit(without_avx512(ends[1]));
    close(ends[1]);
    *from = ends[0];
    return pid;
}

static void compare_pair(const struct gnn_ops *o, FILE *other, size_t i, unsigned how)
{
    struct product t;
    double worst = 0;
    make_pair(&t, i, how);
    float *c = make_matrix(t.p.m, t.p.ldc, t.p.ldc);
    const bool good =
        fread(c, sizeof *c, t.p.m * t.p.ldc, other) == t.p.m * t.p.ldc && multiply(o, &t);
    for (size_t r = 0; good && r < t.p.m; r++)
        for (size_t j = 0; j < t.p.n; j++) {
            const double gap = fabs((double)c[r * t.p.ldc + j] - (double)t.c[r * t.p.ldc + j]);
            worst = gap > worst ? gap : worst;
        }
    /* magnitudes are below 1/4 */
    ok(good && worst <= 0x1p-24 * (double)(t.p.k * t.p.k) / 4,
       "%zu x %zu x %zu, ta=%u, tb=%u: without AVX-512 at most %.1e beside it", t.p.m, t.p.n, t.p.k,
       how & 1, how >> 1, worst);
    free(c);
    free_product(&t);
}

int main(void)
{
    int from, status;
    omp_set_num_threads(1); /* test_bits has more */
    const pid_t other = begin_other(&from);
    FILE *results = fdopen(from, "rb");
    if (!results)
        abort();
    const struct gnn_ops *o = need_ops();
    printf("# %s\n", *o->note(o) ? o->note(o) : "this processor multiplies bf16");
    for (size_t i = 0; i < PAIRS; i++)
        for (unsigned how = 0; how < 4; how++)
            compare_pair(o, results, i, how);
    fclose(results);
    ok(waitpid(other, &status, 0) == other && !status,
       "without AVX-512 it is said that products are made in f32");
    test_sums(o);
    test_rounding(o);
    test_limits(o);
    test_bits(o);
    test_shapes(o);
    o->free(o);
    return tap_done();
}
