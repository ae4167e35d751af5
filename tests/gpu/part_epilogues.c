/* SPDX-License-Identifier: Apache-2.0 */
/* Which epilogues cuBLASLt has at the shapes of a step, and how fast: bias, ReLU and its mask in
 * products forward, ReLU's gradient in products backward, sums of columns in the gradients of
 * weights. Of each the best of all ways that the library offers, what that way computes beside a
 * plain loop, and what the product and the pass that the epilogue would replace take apart.
 *
 * Ways are asked for as lib/gpu/gemm_cuda.c asks: on tensor cores, unless in f32, and with sums
 * split in no way but the one of a fixed order; if there is none, for any ("loosely"). Matrices are
 * named as in lib/gpu/device_gemm.h; the library, which counts columns first, has them the other
 * way round: its A is B here, its bias, as long as its D has rows, goes over columns here. */
#include <stdio.h>

#include "gpu/bench.h"
#include "lib/gpu/device_gemm.h"

#if !__has_include(<cublasLt.h>)

void bench_epilogues(void)
{
    bench_row_absent("epilogues of cuBLASLt", "this was built without CUDA");
}

#else

#include <cublasLt.h>
#include <math.h>
#include <string.h>

#include "kernels/act.h"
#include "kernels/half.h"
#include "kernels/half_bits.h"
#include "lib/gpu/dev.h"

enum { WORKSPACE = 32 << 20, TINY_WORKSPACE = 1 << 16, ASKED = 16, ROUNDS = 5 };

/* ---- the library ---- */

#define LT_FUNCTIONS(f)                                                                            \
    f(Create) f(Destroy) f(MatmulDescCreate) f(MatmulDescDestroy) f(MatmulDescSetAttribute)        \
        f(MatrixLayoutCreate) f(MatrixLayoutDestroy) f(MatmulPreferenceCreate)                     \
            f(MatmulPreferenceDestroy) f(MatmulPreferenceSetAttribute) f(MatmulAlgoGetHeuristic)   \
                f(MatmulAlgoCapGetAttribute) f(MatmulAlgoConfigGetAttribute) f(Matmul)

static struct {
#define LT_MEMBER(name) __typeof__(cublasLt##name) *name;
    LT_FUNCTIONS(LT_MEMBER)
    cublasLtHandle_t handle;
    void *workspace;
    size_t capacity;       /* of it */
    cublasStatus_t status; /* of the last product: a refusal is no failure of the device */
} lt;

static void close_library(void)
{
    if (lt.handle)
        (void)lt.Destroy(lt.handle);
    gnn_dev_free(lt.workspace);
}

/* false: there is none, and the row has said so. */
static bool open_library(void)
{
    static const char what[] = "epilogues of cuBLASLt";
    static const struct {
        void *to;
        const char *name;
    } f[] = {
#define LT_ENTRY(name) {&lt.name, "cublasLt" #name},
        LT_FUNCTIONS(LT_ENTRY)};
    struct gnn_err e = {0};
    if (!bench.gemm) {
        bench_row_absent(what, bench.no_gemm.msg);
        return false;
    }
    for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
        void *p = gnn_dev_gemm_function(bench.gemm, f[i].name);
        if (!p) {
            char why[96];
            snprintf(why, sizeof why, "what multiplies has no function %s", f[i].name);
            bench_row_absent(what, why);
            return false;
        }
        memcpy(f[i].to, &p, sizeof p);
    }
    const cublasStatus_t rc = lt.Create(&lt.handle);
    if (rc)
        (void)gnn_fail(&e, GNN_E_DEVICE, "cublasLtCreate: status %d", (int)rc);
    lt.capacity = bench.tiny ? TINY_WORKSPACE : WORKSPACE;
    if (!rc && !gnn_dev_alloc(&lt.workspace, lt.capacity, "a benchmark", &e))
        return true;
    bench_row_failed(what, &e);
    close_library();
    return false;
}

/* ---- what is multiplied, and how ---- */

enum use { FORWARD, INPUTS, WEIGHTS }; /* the products forward; of gradients, of what */

struct shape {
    const char *name;
    enum use use;
    size_t m, n, k; /* C (m, n) = op(A) (m, k) op(B) (k, n) + beta C */
    float beta;
};

static const struct precision {
    const char *name;
    cublasComputeType_t compute;
    bool rows16;  /* A and B are stored in bf16, and so is C, but for gradients of weights */
    double apart; /* from a plain loop, as a part of the largest */
} precisions[] = {{"f32", CUBLAS_COMPUTE_32F, false, 1e-4},
                  {"tf32", CUBLAS_COMPUTE_32F_FAST_TF32, false, 3e-3},
                  {"bf16", CUBLAS_COMPUTE_32F_FAST_16BF, false, 3e-2},
                  {"rows of bf16", CUBLAS_COMPUTE_32F, true, 3e-2}};
enum { PRECISIONS = sizeof precisions / sizeof *precisions };

/* What an epilogue does; the sums are over the rows of C, and over k of A and B. */
enum { ADDS = 1, CUTS = 2, MASK_OUT = 4, MASK_IN = 8, SUMS_C = 16, SUMS_A = 32, SUMS_B = 64 };
static const struct epilogue {
    const char *name;
    cublasLtEpilogue_t is;
    enum use use;
    unsigned does;
} epilogues[] = {
    {"BIAS", CUBLASLT_EPILOGUE_BIAS, FORWARD, ADDS},
    {"RELU_BIAS", CUBLASLT_EPILOGUE_RELU_BIAS, FORWARD, ADDS | CUTS},
    {"RELU_AUX_BIAS", CUBLASLT_EPILOGUE_RELU_AUX_BIAS, FORWARD, ADDS | CUTS | MASK_OUT},
    {"DRELU", CUBLASLT_EPILOGUE_DRELU, INPUTS, MASK_IN},
    {"DRELU_BGRAD", CUBLASLT_EPILOGUE_DRELU_BGRAD, INPUTS, MASK_IN | SUMS_C},
    {"BGRADA", CUBLASLT_EPILOGUE_BGRADA, WEIGHTS, SUMS_B}, /* the library's A */
    {"BGRADB", CUBLASLT_EPILOGUE_BGRADB, WEIGHTS, SUMS_A}};
static const struct epilogue plain = {"DEFAULT", CUBLASLT_EPILOGUE_DEFAULT, FORWARD, 0};

/* The numbers that arrays begin with (bench_number): different ones, so that none can be taken for
 * another. */
enum { FROM_A = 0, FROM_B = 333333, FROM_C = 777777, FROM_BIAS = 123457, FROM_MASK = 555555 };

enum { POINTS = 8, WIDE = 256 }; /* rows and columns of C that are looked at; its columns at most */

struct work {
    const struct shape *s;
    float *a, *b, *c, *y, *bias, *sums, *want, *colsums;
    uint16_t *a16, *b16, *c16, *bias16;
    uint16_t *random16; /* (BENCH_RANDOM) bench_number's in bf16, pinned */
    unsigned char *mask;
    size_t mask_bits;                  /* a row of the mask */
    double product[2][POINTS][POINTS]; /* A B, of rounded A and B in [1] */
    double plain_us;                   /* of the precision at work; NAN: unknown */
};

static bool narrow_c(const struct work *w, const struct precision *p)
{
    return p->rows16 && w->s->use != WEIGHTS;
}

/* Which row of C is looked at, or which column. */
static size_t point(unsigned i, size_t n)
{
    return i * (n - 1) / (POINTS - 1);
}

static double rounded(float v, bool narrow)
{
    return (double)(narrow ? gnn_bits_f32((uint32_t)gnn_bf16_of(gnn_f32_bits(v)) << 16) : v);
}

static double multiply_here(const struct shape *s, size_t i, size_t j, bool narrow)
{
    double sum = 0;
    for (size_t x = 0; x < s->k; x++) {
        const size_t a = s->use == WEIGHTS ? x * s->m + i : i * s->k + x,
                     b = s->use == FORWARD ? j * s->k + x : x * s->n + j;
        sum +=
            rounded(bench_number(FROM_A + a), narrow) * rounded(bench_number(FROM_B + b), narrow);
    }
    return sum;
}

/* bench_fill in bf16. */
static int fill_bf16(const struct work *w, uint16_t *to, uint64_t n, uint32_t first,
                     struct gnn_err *e)
{
    for (uint64_t i = 0, k; i < n; i += k) {
        const uint64_t at = (first + i) % BENCH_RANDOM;
        k = BENCH_RANDOM - at < n - i ? BENCH_RANDOM - at : n - i;
        if (gnn_dev_copy(to + i, w->random16 + at, k * sizeof *to, bench.stream, e))
            return e->code;
    }
    return 0;
}

static void make_work(struct work *w, const struct shape *s)
{
    const uint64_t a = (uint64_t)s->m * s->k, b = (uint64_t)s->k * s->n, c = (uint64_t)s->m * s->n,
                   longest = s->m > s->n ? s->m : s->n;
    *w = (struct work){.s = s, .mask_bits = (s->n + 127) / 128 * 128};
    w->a = bench_numbers(a, FROM_A);
    w->b = bench_numbers(b, FROM_B);
    w->c = bench_numbers(c, FROM_C);
    w->y = bench_numbers(c, FROM_C);
    w->bias = bench_numbers(s->n, FROM_BIAS);
    w->sums = bench_buffer(longest * sizeof(float));
    w->want = bench_buffer(longest * sizeof(float));
    w->colsums = bench_buffer(GNN_COLSUM_BLOCKS * longest * sizeof(float));
    w->a16 = bench_buffer(a * sizeof(uint16_t));
    w->b16 = bench_buffer(b * sizeof(uint16_t));
    w->c16 = bench_buffer(c * sizeof(uint16_t));
    w->bias16 = bench_buffer(s->n * sizeof(uint16_t));
    w->mask = bench_buffer(s->m * (w->mask_bits / 8));
    w->random16 = bench_pinned(BENCH_RANDOM * sizeof(uint16_t));
    if (bench.failed.code)
        return;
    for (uint64_t i = 0; i < BENCH_RANDOM; i++) {
        const float v = bench_number(i);
        gnn_f32_to_bf16(&v, 1, w->random16 + i);
    }
    if (fill_bf16(w, w->a16, a, FROM_A, &bench.failed) ||
        fill_bf16(w, w->b16, b, FROM_B, &bench.failed) ||
        fill_bf16(w, w->bias16, s->n, FROM_BIAS, &bench.failed))
        return;
    for (unsigned i = 0; i < POINTS; i++)
        for (unsigned j = 0; j < POINTS; j++)
            for (int narrow = 0; narrow < 2; narrow++)
                w->product[narrow][i][j] = multiply_here(s, point(i, s->m), point(j, s->n), narrow);
}

/* C and the mask as at first; what is written otherwise gets what is no result. */
static int reset(const struct work *w, const struct precision *p, const struct epilogue *x,
                 struct gnn_err *e)
{
    const uint64_t c = (uint64_t)w->s->m * w->s->n, mask = w->s->m * (w->mask_bits / 8),
                   longest = w->s->m > w->s->n ? w->s->m : w->s->n;
    if (bench_fill(w->c, c, FROM_C, e) ||
        gnn_dev_set(w->sums, 0xff, longest * sizeof(float), bench.stream, e) ||
        (x->does & MASK_IN
             ? bench_fill((float *)(void *)w->mask, mask / sizeof(float), FROM_MASK, e)
             : gnn_dev_set(w->mask, 0xa5, mask, bench.stream, e)))
        return e->code;
    return narrow_c(w, p) ? fill_bf16(w, w->c16, c, FROM_C, e) : 0;
}

/* ---- one product ---- */

struct call {
    const struct work *w;
    const struct precision *p;
    const struct epilogue *x;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, c; /* of A, B and C here */
    cublasLtMatmulPreference_t pref;
    cublasLtMatmulHeuristicResult_t way[ASKED];
    int ways;
    bool loose;
    const cublasLtMatmulAlgo_t *algo;
};

static int check_status(cublasStatus_t rc, const char *what, struct gnn_err *e)
{
    return rc ? gnn_fail(e, GNN_E_DEVICE, "%s: status %d", what, (int)rc) : 0;
}
static int set_desc(struct call *c, cublasLtMatmulDescAttributes_t what, const void *to,
                    size_t bytes, struct gnn_err *e)
{
    return check_status(lt.MatmulDescSetAttribute(c->desc, what, to, bytes), "describing a product",
                        e);
}
static int set_pref(struct call *c, cublasLtMatmulPreferenceAttributes_t what, const void *to,
                    size_t bytes, struct gnn_err *e)
{
    return check_status(lt.MatmulPreferenceSetAttribute(c->pref, what, to, bytes),
                        "saying what is preferred", e);
}

static int describe_epilogue(struct call *c, struct gnn_err *e)
{
    const struct work *w = c->w;
    const uint32_t is = c->x->is;
    const int64_t bits = (int64_t)w->mask_bits;
    const void *adds = narrow_c(w, c->p) ? (const void *)w->bias16 : w->bias, *sums = w->sums,
               *mask = w->mask;
    if (set_desc(c, CUBLASLT_MATMUL_DESC_EPILOGUE, &is, sizeof is, e))
        return e->code;
    if (c->x->does & (ADDS | SUMS_A | SUMS_B | SUMS_C) &&
        set_desc(c, CUBLASLT_MATMUL_DESC_BIAS_POINTER, c->x->does & ADDS ? &adds : &sums,
                 sizeof sums, e))
        return e->code;
    if (c->x->does & (MASK_IN | MASK_OUT) &&
        (set_desc(c, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &mask, sizeof mask, e) ||
         set_desc(c, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &bits, sizeof bits, e)))
        return e->code;
    return 0;
}

static int describe_product(struct call *c, struct gnn_err *e)
{
    const struct shape *s = c->w->s;
    const bool ta = s->use == WEIGHTS, tb = s->use == FORWARD;
    const cublasOperation_t opa = ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                            opb = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cudaDataType_t in = c->p->rows16 ? CUDA_R_16BF : CUDA_R_32F,
                         out = narrow_c(c->w, c->p) ? CUDA_R_16BF : CUDA_R_32F;
    const size_t lda = ta ? s->m : s->k, ldb = tb ? s->k : s->n;
    if (check_status(lt.MatmulDescCreate(&c->desc, c->p->compute, CUDA_R_32F),
                     "describing a product", e) ||
        set_desc(c, CUBLASLT_MATMUL_DESC_TRANSA, &opb, sizeof opb, e) ||
        set_desc(c, CUBLASLT_MATMUL_DESC_TRANSB, &opa, sizeof opa, e) || describe_epilogue(c, e))
        return e->code;
    /* Rows here are columns there. */
    return check_status(lt.MatrixLayoutCreate(&c->a, in, lda, ta ? s->k : s->m, (int64_t)lda),
                        "describing A", e) ||
                   check_status(
                       lt.MatrixLayoutCreate(&c->b, in, ldb, tb ? s->n : s->k, (int64_t)ldb),
                       "describing B", e) ||
                   check_status(lt.MatrixLayoutCreate(&c->c, out, s->n, s->m, (int64_t)s->n),
                                "describing C", e)
               ? e->code
               : 0;
}

static void close_call(struct call *c)
{
    if (c->desc)
        (void)lt.MatmulDescDestroy(c->desc);
    if (c->a)
        (void)lt.MatrixLayoutDestroy(c->a);
    if (c->b)
        (void)lt.MatrixLayoutDestroy(c->b);
    if (c->c)
        (void)lt.MatrixLayoutDestroy(c->c);
    if (c->pref)
        (void)lt.MatmulPreferenceDestroy(c->pref);
}

static uint64_t numerics_of(const cublasLtMatmulAlgo_t *algo)
{
    uint64_t flags = 0;
    size_t size = 0;
    return lt.MatmulAlgoCapGetAttribute(algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags,
                                        sizeof flags, &size)
               ? 0
               : flags;
}

/* Asks for ways, as products of the library are, or for any. */
static int ask(struct call *c, bool loose, struct gnn_err *e)
{
    const uint32_t schemes =
        loose ? CUBLASLT_REDUCTION_SCHEME_MASK : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    const bool exact = c->p->compute == CUBLAS_COMPUTE_32F && !c->p->rows16;
    const uint64_t allowed =
        loose || exact ? UINT64_MAX : ~(uint64_t)CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA;
    int n = 0;
    c->ways = 0;
    c->loose = loose;
    if (set_pref(c, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &lt.capacity, sizeof lt.capacity,
                 e) ||
        set_pref(c, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes, e) ||
        set_pref(c, CUBLASLT_MATMUL_PREF_IMPL_MASK, &allowed, sizeof allowed, e) ||
        check_status(lt.MatmulAlgoGetHeuristic(lt.handle, c->desc, c->b, c->a, c->c, c->c, c->pref,
                                               ASKED, c->way, &n),
                     "asking for a way", e))
        return e->code;
    for (int i = 0; i < n; i++) {
        const uint64_t flags = c->way[i].state ? 0 : numerics_of(&c->way[i].algo);
        if (c->way[i].state || c->way[i].workspaceSize > lt.capacity ||
            (!loose && !exact && flags && !(flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK)))
            continue;
        c->way[c->ways++] = c->way[i];
    }
    return c->ways ? 0 : gnn_fail(e, GNN_E_DEVICE, "asking for a way: %d, none that will do", n);
}

static int multiply(const void *arg, struct gnn_err *e)
{
    const struct call *c = arg;
    const struct work *w = c->w;
    const float one = 1;
    const bool narrow = c->p->rows16;
    void *to = narrow_c(w, c->p) ? (void *)w->c16 : w->c;
    lt.status = lt.Matmul(lt.handle, c->desc, &one, narrow ? (const void *)w->b16 : w->b, c->b,
                          narrow ? (const void *)w->a16 : w->a, c->a, &w->s->beta, to, c->c, to,
                          c->c, c->algo, lt.workspace, lt.capacity, bench.stream);
    return check_status(lt.status, "multiplying", e);
}

/* ---- is it right? ---- */

/* What is on the host of a result. */
struct result {
    float c[POINTS][WIDE], sums[WIDE];
    unsigned char mask[POINTS][WIDE / 8];
};

/* Sums: as long as A is wide, or else B and C are. */
static size_t sums_of(const struct call *c)
{
    return c->x->does & SUMS_A ? c->w->s->m : c->w->s->n;
}

static int fetch(const struct call *c, struct result *r, struct gnn_err *e)
{
    const struct work *w = c->w;
    const struct shape *s = w->s;
    const bool narrow = narrow_c(w, c->p);
    const size_t sums = sums_of(c), mask = w->mask_bits / 8;
    float *from = w->c, *all = w->sums;
    if (narrow) {
        gnn_cuda_bf16_to_f32(w->c16, (uint64_t)s->m * s->n, w->y, bench.stream);
        gnn_cuda_bf16_to_f32((uint16_t *)(void *)w->sums, sums, w->colsums, bench.stream);
        from = w->y;
        all = w->colsums;
    }
    for (unsigned i = 0; i < POINTS; i++) {
        const size_t at = point(i, s->m);
        if (gnn_dev_copy(r->c[i], from + at * s->n, s->n * sizeof(float), bench.stream, e) ||
            gnn_dev_copy(r->mask[i], w->mask + at * mask, mask, bench.stream, e))
            return e->code;
    }
    return gnn_dev_copy(r->sums, all, sums * sizeof(float), bench.stream, e) ||
                   gnn_dev_launched("a kernel", e) || gnn_dev_stream_wait(bench.stream, e)
               ? e->code
               : 0;
}

static bool mask_bit(const unsigned char *row, size_t j)
{
    return row[j / 8] >> j % 8 & 1;
}

/* What one element of C was before it was cut, and should be. */
static double want_of(const struct call *c, const struct result *r, unsigned i, unsigned j,
                      double *before)
{
    const struct work *w = c->w;
    const bool narrow = narrow_c(w, c->p);
    const size_t x = point(i, w->s->m), y = point(j, w->s->n);
    double v = w->product[c->p->rows16][i][j];
    if (w->s->beta != 0)
        v += (double)w->s->beta * rounded(bench_number(FROM_C + x * w->s->n + y), narrow);
    if (c->x->does & ADDS)
        v += rounded(bench_number(FROM_BIAS + y), narrow);
    *before = v;
    if (c->x->does & CUTS)
        return v > 0 ? v : 0;
    return c->x->does & MASK_IN && !mask_bit(r->mask[i], y) ? 0 : v;
}

/* How far C is from what it should be, as a part of the largest; and whether the mask is one bit an
 * element, the lowest first, row after row. */
static double apart(const struct call *c, const struct result *r, bool *in_rows)
{
    double most = 0, far = 0, before;
    for (unsigned i = 0; i < POINTS; i++)
        for (unsigned j = 0; j < POINTS; j++)
            most = fmax(most, fabs(want_of(c, r, i, j, &before)));
    *in_rows = true;
    for (unsigned i = 0; i < POINTS; i++)
        for (unsigned j = 0; j < POINTS; j++) {
            const size_t y = point(j, c->w->s->n);
            const double d = fabs((double)r->c[i][y] - want_of(c, r, i, j, &before)) / most;
            far = d > far || isnan(d) ? d : far;
            if (fabs(before) > c->p->apart * most)
                *in_rows = *in_rows && mask_bit(r->mask[i], y) == (before > 0);
        }
    return far;
}

/* The same of the sums; beside those of a kernel. */
static int sums_apart(const struct call *c, const struct result *r, double *far, struct gnn_err *e)
{
    const struct work *w = c->w;
    const struct shape *s = w->s;
    const unsigned does = c->x->does;
    const float *of = does & SUMS_A ? w->a : does & SUMS_B ? w->b : narrow_c(w, c->p) ? w->y : w->c;
    const size_t rows = does & SUMS_C ? s->m : s->k, n = sums_of(c);
    float want[WIDE];
    double most = 0;
    gnn_cuda_colsum(of, NULL, (uint32_t)rows, n, w->colsums, w->want, false, bench.stream);
    if (gnn_dev_copy(want, w->want, n * sizeof *want, bench.stream, e) ||
        gnn_dev_launched("a kernel", e) || gnn_dev_stream_wait(bench.stream, e))
        return e->code;
    *far = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)want[i]));
    for (size_t i = 0; i < n; i++) {
        const double d = fabs((double)r->sums[i] - (double)want[i]) / most;
        *far = d > *far || isnan(d) ? d : *far;
    }
    return 0;
}

static bool same_bits(const struct call *c, const struct result *a, const struct result *b)
{
    for (unsigned i = 0; i < POINTS; i++)
        if (memcmp(a->c[i], b->c[i], c->w->s->n * sizeof(float)) != 0 ||
            memcmp(a->mask[i], b->mask[i], c->w->mask_bits / 8) != 0)
            return false;
    return !memcmp(a->sums, b->sums, sums_of(c) * sizeof(float));
}

/* Multiplies twice, and says what of it is right. */
static int judge(const struct call *c, char *says, size_t capacity, struct gnn_err *e)
{
    static struct result r[2];
    double far, sums = 0;
    bool in_rows;
    for (int run = 0; run < 2; run++)
        if (reset(c->w, c->p, c->x, e) || multiply(c, e) || fetch(c, &r[run], e))
            return e->code;
    far = apart(c, &r[0], &in_rows);
    if (c->x->does & (SUMS_A | SUMS_B | SUMS_C) && sums_apart(c, &r[0], &sums, e))
        return e->code;
    const bool right = far <= c->p->apart, added = sums <= c->p->apart;
    snprintf(says, capacity, "%s%s%s%s", right ? "right" : "WRONG", added ? "" : ", sums WRONG",
             !(c->x->does & MASK_OUT) ? ""
             : in_rows                ? ", mask in rows of bits"
                                      : ", mask in another order",
             same_bits(c, &r[0], &r[1]) ? "" : ", OTHER BITS the second time");
    if (!right || !added)
        snprintf(says + strlen(says), capacity - strlen(says), " (apart by %.1e, %.1e)", far, sums);
    return 0;
}

/* ---- rows ---- */

/* The fastest way; those that are refused are no more than counted. */
struct best {
    double us, first;
    int ran, of;
};
static int find_best(struct call *c, struct best *b, struct gnn_err *e)
{
    struct gnn_err first = {0};
    const cublasLtMatmulAlgo_t *algo = NULL;
    *b = (struct best){.first = NAN, .of = c->ways};
    for (int i = 0; i < c->ways; i++) {
        struct gnn_err now = {0};
        c->algo = &c->way[i].algo;
        lt.status = CUBLAS_STATUS_SUCCESS;
        const double us = 1000 * bench_time(ROUNDS, multiply, c, &now);
        if (now.code && !lt.status)
            return gnn_fail_as(e, &now);
        if (now.code) {
            (void)gnn_fail_as(&first, &now);
            continue;
        }
        b->first = b->ran++ ? b->first : us;
        if (!algo || us < b->us) {
            algo = c->algo;
            b->us = us;
        }
    }
    c->algo = algo;
    return algo ? 0 : gnn_fail_as(e, &first);
}

static void describe_way(const struct call *c, char *to, size_t capacity)
{
    int32_t parts = 0;
    size_t size = 0;
    const uint64_t flags = numerics_of(c->algo);
    if (lt.MatmulAlgoConfigGetAttribute(c->algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts,
                                        sizeof parts, &size))
        parts = 0;
    snprintf(to, capacity, "%s, sum in %d part%s%s",
             flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK ? "tensor cores"
             : flags                                              ? "no tensor cores"
                                                                  : "unknown",
             (int)parts, parts == 1 ? "" : "s", c->loose ? ", loosely" : "");
}

/* What the epilogue would replace. */
struct pass {
    const struct work *w;
    const struct epilogue *x;
};
static int pass(const void *arg, struct gnn_err *e)
{
    const struct pass *t = arg;
    const struct work *w = t->w;
    const struct shape *s = w->s;
    const uint32_t rows = (uint32_t)s->m, k = (uint32_t)s->k;
    const unsigned does = t->x->does;
    (void)e;
    if (does & ADDS)
        gnn_cuda_bias_act(w->c, NULL, rows, s->n, w->bias,
                          does & CUTS ? GNN_ACT_RELU : GNN_ACT_NONE, NULL, bench.stream);
    if (does & MASK_IN)
        gnn_cuda_act_back(w->c, w->y, NULL, rows, s->n, GNN_ACT_RELU, 1, NULL, bench.stream);
    if (does & SUMS_C)
        gnn_cuda_colsum(w->c, NULL, rows, s->n, w->colsums, w->want, false, bench.stream);
    if (does & SUMS_A)
        gnn_cuda_colsum(w->a, NULL, k, s->m, w->colsums, w->want, false, bench.stream);
    if (does & SUMS_B)
        gnn_cuda_colsum(w->b, NULL, k, s->n, w->colsums, w->want, false, bench.stream);
    return 0;
}

/* The two apart. Of rows of bf16 there is no pass. */
static void describe_apart(const struct call *c, char *to, size_t capacity)
{
    struct gnn_err e = {0};
    const double us = 1000 * bench_time(ROUNDS, pass, &(struct pass){c->w, c->x}, &e);
    bench.failures += e.code != 0;
    if (!c->x->does)
        *to = '\0';
    else if (c->p->rows16)
        snprintf(to, capacity, "%.1f us without", c->w->plain_us);
    else if (e.code)
        snprintf(to, capacity, "%.1f us without, and a pass not measured: %.60s", c->w->plain_us,
                 e.msg);
    else
        snprintf(to, capacity, "%.1f + %.1f us apart", c->w->plain_us, us);
}

/* Microseconds of the best way, or NAN. */
static double row_of(const char *what, struct call *c)
{
    struct gnn_err e = {0}, strict = {0}, unknown = {0};
    struct best b;
    char way[96], says[160], beside[128];
    describe_apart(c, beside, sizeof beside);
    lt.status = CUBLAS_STATUS_SUCCESS;
    if (ask(c, false, &strict) && ask(c, true, &e)) {
        bench_row(what, "none: %s | %s", strict.msg, beside);
        return NAN;
    }
    if (find_best(c, &b, &e)) {
        if (lt.status)
            bench_row(what, "none: %s | %s", e.msg, beside);
        else
            bench_row_failed(what, &e);
        return NAN;
    }
    describe_way(c, way, sizeof way);
    if (judge(c, says, sizeof says, &unknown)) {
        bench.failures++;
        snprintf(says, sizeof says, "unknown whether right: %.100s", unknown.msg);
    }
    bench_row(what, "%.1f us, the best of %d ways of %d, the first %.1f; %s; %s | %s", b.us, b.ran,
              b.of, b.first, way, says, beside);
    return b.us;
}

static double probe(struct work *w, const struct precision *p, const struct epilogue *x)
{
    struct call c = {.w = w, .p = p, .x = x};
    struct gnn_err e = bench.failed;
    const struct shape *s = w->s;
    char what[128];
    double us = NAN;
    snprintf(what, sizeof what, "epilogue %s, %s: (%zu, %zu) by (%zu, %zu), %s", x->name, s->name,
             s->m, s->k, s->k, s->n, p->name);
    if (e.code || reset(w, p, x, &e) || describe_product(&c, &e) ||
        check_status(lt.MatmulPreferenceCreate(&c.pref), "saying what is preferred", &e))
        bench_row_failed(what, &e);
    else
        us = row_of(what, &c);
    close_call(&c);
    return us;
}

void bench_epilogues(void)
{
    const size_t first = bench_part(137000), middle = bench_part(15800), last = bench_part(1024),
                 width = BENCH_WIDTH, hidden = BENCH_HIDDEN, classes = BENCH_CLASSES;
    const struct shape shapes[] = {{"layer 0, added", FORWARD, first, hidden, width, 1},
                                   {"layer 0, joined", FORWARD, first, hidden, 2 * width, 0},
                                   {"layer 1, added", FORWARD, middle, hidden, hidden, 1},
                                   {"layer 2, added", FORWARD, last, classes, hidden, 1},
                                   {"inputs of layer 1", INPUTS, middle, hidden, hidden, 1},
                                   {"inputs, many rows", INPUTS, first, hidden, hidden, 0},
                                   {"weights of layer 0", WEIGHTS, hidden, width, first, 0},
                                   {"weights, joined", WEIGHTS, hidden, 2 * width, first, 0},
                                   {"weights of layer 1", WEIGHTS, hidden, hidden, middle, 0},
                                   {"weights of layer 2", WEIGHTS, classes, hidden, last, 0}};
    static struct work w;
    if (!open_library())
        return;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        make_work(&w, &shapes[i]);
        for (size_t p = 0; p < PRECISIONS; p++) {
            w.plain_us = probe(&w, &precisions[p], &plain);
            for (size_t x = 0; x < sizeof epilogues / sizeof *epilogues; x++)
                if (epilogues[x].use == shapes[i].use)
                    (void)probe(&w, &precisions[p], &epilogues[x]);
        }
        bench_release();
    }
    close_library();
}

#endif
