/* SPDX-License-Identifier: Apache-2.0 */
/* lib/gpu/device_gemm.h over cuBLASLt, which is loaded when it is first needed: a program that
 * multiplies nothing on a device neither links nor needs it.
 *
 * Batches differ in their numbers of rows, and asking the library how to multiply costs about as
 * much as a small product. So it is asked once for all numbers of rows between two marks, eight to
 * the octave, and what it says is kept: equal shapes are always multiplied in the same way. Of the
 * ways to split a long sum only that is allowed which puts the parts aside and adds them up in a
 * second step, in a fixed order. Left to itself the library may do products of rounded inputs
 * without the tensor cores, in plain f32: such ways are refused. */
#include "lib/gpu/device_gemm.h"

#include <cublasLt.h>
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/path.h"
#include "lib/gpu/dev.h"
#include "lib/gpu/gpu.h"

enum { WORKSPACE = 32 << 20, WAYS = 1024, ASKED = 16, PRECISIONS = 3, EPILOGUES = 3, WHY = 256 };

/* What is used of the library. */
#define FUNCTIONS(F)                                                                               \
    F(create, cublasLtCreate)                                                                      \
    F(destroy, cublasLtDestroy)                                                                    \
    F(desc_create, cublasLtMatmulDescCreate)                                                       \
    F(desc_destroy, cublasLtMatmulDescDestroy)                                                     \
    F(desc_set, cublasLtMatmulDescSetAttribute)                                                    \
    F(layout_create, cublasLtMatrixLayoutCreate)                                                   \
    F(layout_destroy, cublasLtMatrixLayoutDestroy)                                                 \
    F(pref_create, cublasLtMatmulPreferenceCreate)                                                 \
    F(pref_destroy, cublasLtMatmulPreferenceDestroy)                                               \
    F(pref_set, cublasLtMatmulPreferenceSetAttribute)                                              \
    F(ask, cublasLtMatmulAlgoGetHeuristic)                                                         \
    F(able, cublasLtMatmulAlgoCapGetAttribute)                                                     \
    F(matmul, cublasLtMatmul)                                                                      \
    F(version, cublasLtGetVersion)
struct lib {
    void *so;
#define DECLARE(name, of) __typeof__(of) *name;
    FUNCTIONS(DECLARE)
};

/* A kind of product, and how it is done. */
struct way {
    uint64_t m, n, k, lda, ldb, ldc;
    uint32_t align[3]; /* of A, B, C; 0: this entry is free */
    uint8_t ta, tb, epilogue, precision;
    cublasLtMatmulAlgo_t algo;
    uint64_t numerics; /* how the algorithm multiplies; 0: it does not say */
    bool none;         /* there is no way */
};
enum { WAY_KEY = offsetof(struct way, algo) };

struct gemm {
    struct lib lib;
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t desc[PRECISIONS][EPILOGUES][2]
                             [2]; /* by precision, epilogue, ta, tb; made when first needed */
    void *workspace;
    uint64_t numerics; /* of the last product */
    struct way way[WAYS];
};

enum { PLAIN, BIAS, BIAS_RELU };
static const cublasLtEpilogue_t epilogues[EPILOGUES] = {
    CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS};
static const cublasComputeType_t computes[PRECISIONS] = {
    [GNN_PRECISION_F32] = CUBLAS_COMPUTE_32F,
    [GNN_PRECISION_TF32] = CUBLAS_COMPUTE_32F_FAST_TF32,
    [GNN_PRECISION_BF16] = CUBLAS_COMPUTE_32F_FAST_16BF};

/* What one call describes to the library. It counts columns first: C' = B' A'. */
struct call {
    cublasLtMatmulDesc_t desc;      /* the gemm's */
    cublasLtMatrixLayout_t a, b, c; /* of B, A, C as this file names them */
};

static int record_failure(cublasStatus_t rc, const char *what, struct gnn_err *e)
{
    return gnn_fail(e, rc == CUBLAS_STATUS_ALLOC_FAILED ? GNN_E_NOMEM : GNN_E_DEVICE,
                    "cuBLASLt: %s: status %d", what, (int)rc);
}

/* It stays loaded: half a gigabyte with thousands of initialisers, whose kernels the device's
 * context keeps. why is what was wrong with the first. */
static void *open_at(const char *path, char why[WHY])
{
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!so && !*why)
        snprintf(why, WHY, "%s", dlerror());
    return so;
}

/* Where pip puts NVIDIA's packages that has put this program into bin: into the folder of whichever
 * Python, or with --target beside bin. */
static void *open_installed(char why[WHY])
{
    static const char at[] = "/../{lib/python3*/*-packages,.}/nvidia/*/lib/libcublasLt.so.1[23]";
    char folder[PATH_MAX], pattern[2 * PATH_MAX + sizeof(at)], *to = pattern;
    struct gnn_err none = {0};
    if (gnn_program_folder(folder, sizeof(folder), &none))
        return NULL;
    for (const char *from = folder; *from; *to++ = *from++)
        if (strchr("\\*?[{", *from))
            *to++ = '\\';
    memcpy(to, at, sizeof(at));
    glob_t found = {0};
    void *so = NULL;
    if (!glob(pattern, GLOB_BRACE, NULL, &found))
        for (size_t i = 0; !so && i < found.gl_pathc; i++)
            so = open_at(found.gl_pathv[i], why);
    globfree(&found);
    return so;
}

static int load_library(struct lib *l, struct gnn_err *e)
{
    static const char *const name[] = {
        "libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.13", "libcublasLt.so.12",
        "/usr/local/cuda/lib64/libcublasLt.so.12"};
    char why[WHY] = "";
    void *so = open_installed(why);
    for (size_t i = 0; !so && i < sizeof(name) / sizeof(*name); i++)
        so = open_at(name[i], why); /* what is used of it is the same in both */
    if (!so)
        return gnn_fail(
            e, GNN_E_DEVICE,
            "matrix products on a device require cuBLASLt 12 or 13 (pip: nvidia-cublas, or let LD_LIBRARY_PATH name its folder): %s",
            why);
    const struct {
        void *to;
        const char *name;
    } f[] = {
#define ENTRY(name, of) {&l->name, #of},
        FUNCTIONS(ENTRY)};
    for (size_t i = 0; i < sizeof(f) / sizeof(*f); i++) {
        void *p = dlsym(so, f[i].name);
        if (!p)
            return gnn_fail(e, GNN_E_DEVICE, "cuBLASLt: the library has no function %s", f[i].name);
        memcpy(f[i].to, &p, sizeof(p));
    }
    l->so = so;
    return 0;
}

int gnn_dev_gemm_new(void **h, struct gnn_err *e)
{
    struct gemm *g = gnn_alloc_zero(1, sizeof(*g), "matrix products", e);
    *h = NULL;
    if (!g)
        return e->code;
    int rc = load_library(&g->lib, e);
    if (!rc) {
        const cublasStatus_t st = g->lib.create(&g->lt);
        rc = st ? record_failure(st, "starting", e)
                : gnn_dev_alloc(&g->workspace, WORKSPACE, "matrix products", e);
    }
    if (rc) {
        gnn_dev_gemm_free(g);
        return rc;
    }
    *h = g;
    return 0;
}

void gnn_dev_gemm_free(void *h)
{
    struct gemm *g = h;
    if (!g)
        return;
    cublasLtMatmulDesc_t *d = &g->desc[0][0][0][0];
    for (size_t i = 0; i < sizeof(g->desc) / sizeof(*d); i++)
        if (d[i])
            (void)g->lib.desc_destroy(d[i]);
    gnn_dev_free(g->workspace);
    if (g->lt)
        (void)g->lib.destroy(g->lt);
    gnn_free(g);
}

void gnn_dev_gemm_ask(void *h, struct gnn_dev_gemm_info *info)
{
    const struct gemm *g = h;
    *info = (struct gnn_dev_gemm_info){.version = g->lib.version(), .numerics = g->numerics};
}

void *gnn_dev_gemm_function(void *h, const char *name)
{
    const struct gemm *g = h;
    return dlsym(g->lib.so, name);
}

static void call_release(const struct lib *l, struct call *c)
{
    if (c->a)
        (void)l->layout_destroy(c->a);
    if (c->b)
        (void)l->layout_destroy(c->b);
    if (c->c)
        (void)l->layout_destroy(c->c);
}

/* The description of products of w's kind, whatever their numbers of rows. */
static cublasStatus_t kind_of(struct gemm *g, const struct way *w, cublasLtMatmulDesc_t *out)
{
    const struct lib *l = &g->lib;
    const cublasOperation_t opa = w->tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                            opb = w->ta ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasLtMatmulDesc_t *at = &g->desc[w->precision][w->epilogue][w->ta][w->tb], d = NULL;
    cublasStatus_t rc =
        *at ? CUBLAS_STATUS_SUCCESS : l->desc_create(&d, computes[w->precision], CUDA_R_32F);
    const struct {
        cublasLtMatmulDescAttributes_t of;
        const void *value;
        size_t bytes;
    } set[] = {{CUBLASLT_MATMUL_DESC_TRANSA, &opa, sizeof(opa)},
               {CUBLASLT_MATMUL_DESC_TRANSB, &opb, sizeof(opb)},
               {CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogues[w->epilogue], sizeof(*epilogues)}};
    for (size_t i = 0; !rc && d && i < sizeof(set) / sizeof(*set); i++)
        rc = l->desc_set(d, set[i].of, set[i].value, set[i].bytes);
    if (!rc && d)
        *at = d;
    else if (d)
        (void)l->desc_destroy(d);
    *out = *at;
    return rc;
}

/* Describes w's product, with the bias there if it has one. */
static cublasStatus_t call_init(struct gemm *g, struct call *c, const struct way *w,
                                const float *bias)
{
    const struct lib *l = &g->lib;
    cublasStatus_t rc = kind_of(g, w, &c->desc);
    if (!rc && w->epilogue != PLAIN)
        rc = l->desc_set(c->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
    if (!rc)
        rc = l->layout_create(&c->a, CUDA_R_32F, w->tb ? w->k : w->n, w->tb ? w->n : w->k,
                              (int64_t)w->ldb);
    if (!rc)
        rc = l->layout_create(&c->b, CUDA_R_32F, w->ta ? w->m : w->k, w->ta ? w->k : w->m,
                              (int64_t)w->lda);
    if (!rc)
        rc = l->layout_create(&c->c, CUDA_R_32F, w->n, w->m, (int64_t)w->ldc);
    return rc;
}

/* Takes the first of n algorithms, the best one in the library's eyes, that will do. */
static cublasStatus_t choose_algorithm(const struct gemm *g, struct way *w,
                                       const cublasLtMatmulHeuristicResult_t *got, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t numerics = 0;
        size_t size = 0;
        if (got[i].state || g->lib.able(&got[i].algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS,
                                        &numerics, sizeof(numerics), &size))
            numerics = 0;
        if (got[i].state || (w->precision && numerics &&
                             !(numerics & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK)))
            continue;
        w->algo = got[i].algo;
        w->numerics = numerics;
        return CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

/* Asks how w's product is best done. */
static cublasStatus_t ask_algorithm(struct gemm *g, struct way *w, const float *bias)
{
    const struct lib *l = &g->lib;
    const size_t capacity = WORKSPACE;
    const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    const uint64_t allowed =
        w->precision ? ~(uint64_t)CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA : UINT64_MAX;
    const struct {
        cublasLtMatmulPreferenceAttributes_t of;
        const void *value;
        size_t bytes;
    } set[] = {{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &capacity, sizeof(capacity)},
               {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof(schemes)},
               {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &w->align[1], sizeof(uint32_t)},
               {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &w->align[0], sizeof(uint32_t)},
               {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &w->align[2], sizeof(uint32_t)},
               {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &w->align[2], sizeof(uint32_t)},
               {CUBLASLT_MATMUL_PREF_IMPL_MASK, &allowed, sizeof(allowed)}};
    cublasLtMatmulHeuristicResult_t got[ASKED];
    cublasLtMatmulPreference_t pref = NULL;
    struct call c = {0};
    int n = 0;
    cublasStatus_t rc = call_init(g, &c, w, bias);
    if (!rc)
        rc = l->pref_create(&pref);
    for (size_t i = 0; !rc && i < sizeof(set) / sizeof(*set); i++)
        rc = l->pref_set(pref, set[i].of, set[i].value, set[i].bytes);
    if (!rc)
        rc = l->ask(g->lt, c.desc, c.a, c.b, c.c, c.c, pref, ASKED, got, &n);
    if (!rc)
        rc = choose_algorithm(g, w, got, n);
    if (pref)
        (void)l->pref_destroy(pref);
    call_release(l, &c);
    return rc;
}

static uint32_t alignment_of(const void *p)
{
    const uintptr_t low = (uintptr_t)p & -(uintptr_t)p;
    return low && low < 256 ? (uint32_t)low : 256;
}

/* The next of eight marks to the octave. */
static uint64_t next_mark(uint64_t rows)
{
    uint64_t step = 1;
    while (rows > 16 * step)
        step *= 2;
    return (rows + step - 1) / step * step;
}

/* w filled in for p; `exact`, or good for all numbers of rows up to the next mark. Only a dimension
 * along which no operand is contiguous is a number of rows. */
static void describe_product(struct way *w, const struct gnn_dev_product *p, bool exact)
{
    memset(w, 0, sizeof(*w)); /* keys are compared byte by byte */
    w->m = exact || p->ta ? p->m : next_mark(p->m);
    w->n = p->n;
    w->k = exact || !p->ta || p->tb ? p->k : next_mark(p->k);
    w->lda = gnn_dev_product_lda(p);
    w->ldb = gnn_dev_product_ldb(p);
    w->ldc = gnn_dev_product_ldc(p);
    w->align[0] = alignment_of(p->a);
    w->align[1] = alignment_of(p->b);
    w->align[2] = alignment_of(p->c);
    w->ta = p->ta;
    w->tb = p->tb;
    w->epilogue = p->relu ? BIAS_RELU : p->bias ? BIAS : PLAIN;
    w->precision = (uint8_t)p->precision;
}

/* How to do p; asked for if it is not known. */
static cublasStatus_t find_way(struct gemm *g, const struct gnn_dev_product *p, bool exact,
                               const struct way **out)
{
    struct way w;
    uint64_t h = 0;
    describe_product(&w, p, exact);
    for (size_t i = 0; i < WAY_KEY; i++)
        h = (h ^ ((const unsigned char *)&w)[i]) * 0x100000001b3u;
    struct way *at = &g->way[(h ^ h >> 32) % WAYS];
    *out = at;
    if (at->align[0] && !memcmp(at, &w, WAY_KEY))
        return at->none ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
    const cublasStatus_t rc = ask_algorithm(g, &w, p->bias);
    w.none = rc == CUBLAS_STATUS_NOT_SUPPORTED;
    if (!rc || w.none)
        *at = w; /* in place of what was there: it can be asked for again, with the same answer */
    return rc;
}

static cublasStatus_t multiply_now(struct gemm *g, const struct gnn_dev_product *p, void *stream)
{
    const float one = 1;
    cublasStatus_t rc = CUBLAS_STATUS_NOT_SUPPORTED;
    struct way real;
    describe_product(&real, p, true);
    for (int exact = 0; rc && exact < 2;
         exact++) { /* what is good for the mark may not be for fewer rows */
        const struct way *w;
        struct call c = {0};
        rc = find_way(g, p, exact, &w);
        if (!rc)
            rc = call_init(g, &c, &real, p->bias);
        if (!rc)
            rc = g->lib.matmul(g->lt, c.desc, &one, p->b, c.a, p->a, c.b, &p->beta, p->c, c.c, p->c,
                               c.c, &w->algo, g->workspace, WORKSPACE, stream);
        if (!rc)
            g->numerics = w->numerics;
        call_release(&g->lib, &c);
    }
    return rc;
}

int gnn_dev_multiply(void *h, const struct gnn_dev_product *p, bool *can, void *stream,
                     struct gnn_err *e)
{
    const cublasStatus_t rc = multiply_now(h, p, stream);
    *can = rc != CUBLAS_STATUS_NOT_SUPPORTED;
    return rc && *can ? record_failure(rc, "a matrix product", e) : 0;
}
