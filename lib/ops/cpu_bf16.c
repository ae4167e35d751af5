/* SPDX-License-Identifier: Apache-2.0 */
/* Products are cut into pieces: inputs of a piece are rounded into scratch memory that stays in the
 * second-level cache, and multiplied from there, so that no pass over memory is added. oneDNN takes
 * bf16 on processors with AVX512-BF16, and uses AMX where there is some. Elsewhere it takes the
 * rounded numbers as f32: the two differ in the type and the size of an element only. */
#include "lib/ops/cpu_bf16.h"

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <string.h>

#include "kernels/half.h"
#include "lib/ops/cpu.h"

/* Rows of a piece; numbers of a piece of an input; primitives that are kept. */
enum { LONGEST = 2048, PIECE = 1 << 19, PRIMITIVES = 256 };
/* What oneDNN may take for a primitive: it does not look whether it got memory for code. */
enum { CAPACITY_MB = 20 };

/* What a primitive is made for: the number of threads is that at its making. */
struct shape {
    dnnl_dim_t ta, tb, m, n, k, ldc, threads;
    double beta;
};

struct primitive {
    struct shape s;
    uint64_t used; /* the number of the last product with it; 0: empty */
    dnnl_primitive_t p;
    dnnl_memory_t a, b, c, scratch; /* scratch NULL: it needs none */
};

struct ops_bf16 {
    struct gnn_ops ops; /* first; its dev is this struct */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_data_type_t type; /* of the rounded inputs */
    size_t size;           /* of one of them */
    void *a, *b;           /* pieces, rounded */
    struct gnn_buf scratch;
    uint64_t products;
    struct primitive primitive[PRIMITIVES];
};

/* ---- oneDNN's descriptors: structs in version 2, allocated in version 3 ---- */

#if DNNL_VERSION_MAJOR >= 3
#define MATRIX_OF(d) (d)
typedef const_dnnl_memory_desc_t const_matrix;
#else
#define MATRIX_OF(d) (&(d))
typedef const dnnl_memory_desc_t *const_matrix;
#define dnnl_memory_desc_create_with_strides dnnl_memory_desc_init_by_strides
#define dnnl_post_ops_append_sum dnnl_post_ops_append_sum_v3
#endif

struct descriptors {
    dnnl_memory_desc_t a, b, c;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t pd;
};

static void free_descriptors(const struct descriptors *d)
{
    if (d->pd)
        dnnl_primitive_desc_destroy(d->pd);
    if (d->attr)
        dnnl_primitive_attr_destroy(d->attr);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl_memory_desc_t all[] = {d->a, d->b, d->c};
    for (int i = 0; i < 3; i++)
        if (all[i])
            dnnl_memory_desc_destroy(all[i]);
#endif
}

static dnnl_status_t describe_product(const struct ops_bf16 *g, struct descriptors *d)
{
#if DNNL_VERSION_MAJOR >= 3
    return dnnl_matmul_primitive_desc_create(&d->pd, g->engine, d->a, d->b, NULL, d->c, d->attr);
#else
    dnnl_matmul_desc_t m;
    const dnnl_status_t s = dnnl_matmul_desc_init(&m, &d->a, &d->b, NULL, &d->c);
    return s == dnnl_success ? dnnl_primitive_desc_create(&d->pd, &m, d->attr, g->engine, NULL) : s;
#endif
}

/* Scratch memory of the caller, and C = A B + beta C. */
static dnnl_status_t make_attributes(dnnl_primitive_attr_t *attr, double beta)
{
    dnnl_post_ops_t sum = NULL;
    dnnl_status_t s = dnnl_primitive_attr_create(attr);
    if (s == dnnl_success)
        s = dnnl_primitive_attr_set_scratchpad_mode(*attr, dnnl_scratchpad_mode_user);
    if (s != dnnl_success || beta == 0)
        return s;
    s = dnnl_post_ops_create(&sum);
    if (s == dnnl_success)
        s = dnnl_post_ops_append_sum(sum, (float)beta, 0, dnnl_data_type_undef);
    if (s == dnnl_success)
        s = dnnl_primitive_attr_set_post_ops(*attr, sum);
    if (sum)
        dnnl_post_ops_destroy(sum);
    return s;
}

/* A matrix of f32 or g->type; transposed: its columns lie one after the other. */
static dnnl_status_t describe_matrix(dnnl_memory_desc_t *d, dnnl_data_type_t type, dnnl_dim_t rows,
                                     dnnl_dim_t columns, dnnl_dim_t pitch, bool transposed)
{
    const dnnl_dims_t dims = {rows, columns},
                      strides = {transposed ? 1 : pitch, transposed ? pitch : 1};
    return dnnl_memory_desc_create_with_strides(d, 2, dims, type, strides);
}

static dnnl_status_t describe_all(const struct ops_bf16 *g, const struct shape *w,
                                  struct descriptors *d)
{
    memset(d, 0, sizeof *d);
    dnnl_status_t s = make_attributes(&d->attr, w->beta);
    if (s == dnnl_success)
        s = describe_matrix(&d->a, g->type, w->m, w->k, w->ta ? w->m : w->k, w->ta);
    if (s == dnnl_success)
        s = describe_matrix(&d->b, g->type, w->k, w->n, w->tb ? w->k : w->n, w->tb);
    if (s == dnnl_success)
        s = describe_matrix(&d->c, dnnl_f32, w->m, w->n, w->ldc, false);
    return s == dnnl_success ? describe_product(g, d) : s;
}

/* ---- primitives ---- */

static void free_primitive(struct primitive *p)
{
    const dnnl_memory_t all[] = {p->a, p->b, p->c, p->scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            dnnl_memory_destroy(all[i]);
    if (p->p)
        dnnl_primitive_destroy(p->p);
    memset(p, 0, sizeof *p);
}

static dnnl_status_t make_memories(struct ops_bf16 *g, const struct descriptors *d,
                                   struct primitive *p, struct gnn_err *e)
{
    const_matrix scratch = dnnl_primitive_desc_query_md(d->pd, dnnl_query_scratchpad_md, 0);
    const size_t bytes = dnnl_memory_desc_get_size(scratch);
    if (gnn_buf_fit(&g->scratch, bytes, 1, "matrix products", e))
        return dnnl_out_of_memory;
    dnnl_status_t s = dnnl_memory_create(&p->a, MATRIX_OF(d->a), g->engine, g->a);
    if (s == dnnl_success)
        s = dnnl_memory_create(&p->b, MATRIX_OF(d->b), g->engine, g->b);
    if (s == dnnl_success)
        s = dnnl_memory_create(&p->c, MATRIX_OF(d->c), g->engine, DNNL_MEMORY_NONE);
    if (s == dnnl_success && bytes)
        s = dnnl_memory_create(&p->scratch, scratch, g->engine, DNNL_MEMORY_NONE);
    return s;
}

static int make_primitive(struct ops_bf16 *g, const struct shape *w, struct primitive *p,
                          struct gnn_err *e)
{
    struct descriptors d;
    free_primitive(p);
    if (gnn_mem_limited() && !gnn_mem_space((uint64_t)CAPACITY_MB << 20))
        return gnn_fail(
            e, GNN_E_NOMEM,
            "out of memory: a matrix product needs another %d MB (see ulimit -v and -d)",
            CAPACITY_MB);
    dnnl_status_t s = describe_all(g, w, &d);
    if (s == dnnl_success)
        s = dnnl_primitive_create(&p->p, d.pd);
    if (s == dnnl_success)
        s = make_memories(g, &d, p, e);
    free_descriptors(&d);
    if (s == dnnl_success) {
        p->s = *w;
        return 0;
    }
    free_primitive(p);
    return gnn_fail(e, GNN_E_NOMEM, "matrix product of %lld x %lld x %lld failed", (long long)w->m,
                    (long long)w->n, (long long)w->k);
}

/* The primitive for w: one that was made before, or a new one in place of that which was used least
 * recently. NULL and e on failure. */
static struct primitive *find_primitive(struct ops_bf16 *g, const struct shape *w,
                                        struct gnn_err *e)
{
    struct primitive *oldest = g->primitive;
    for (struct primitive *p = g->primitive; p < g->primitive + PRIMITIVES; p++) {
        if (p->used && !memcmp(&p->s, w, sizeof *w))
            return p;
        if (p->used < oldest->used)
            oldest = p;
    }
    return make_primitive(g, w, oldest, e) ? NULL : oldest;
}

/* C = op(A) op(B) + beta C of the pieces in g->a and g->b. */
static int multiply_piece(struct ops_bf16 *g, const struct shape *w, float *c, struct gnn_err *e)
{
    struct primitive *p = find_primitive(g, w, e);
    if (!p)
        return e->code;
    p->used = ++g->products;
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, p->a},
                                    {DNNL_ARG_WEIGHTS, p->b},
                                    {DNNL_ARG_DST, p->c},
                                    {DNNL_ARG_SCRATCHPAD, p->scratch}};
    dnnl_status_t s = dnnl_memory_set_data_handle(p->c, c);
    if (s == dnnl_success && p->scratch)
        s = dnnl_memory_set_data_handle(p->scratch, g->scratch.data);
    if (s == dnnl_success)
        s = dnnl_primitive_execute(p->p, g->stream, p->scratch ? 4 : 3, args);
    return s == dnnl_success
               ? 0
               : gnn_fail(e, GNN_E_NOMEM, "matrix product of %lld x %lld x %lld failed",
                          (long long)w->m, (long long)w->n, (long long)w->k);
}

/* ---- pieces ---- */

/* A piece of an input. `to`: its rounded numbers, one after the other; NULL: they are there. */
struct input {
    const float *x;
    size_t pitch, rows, columns;
    void *to;
};

static void round_line(const struct ops_bf16 *g, const float *x, size_t n, void *to)
{
    if (g->type == dnnl_bf16)
        gnn_f32_to_bf16(x, n, to);
    else
        gnn_f32_round_bf16(x, n, to);
}

/* By all threads that come here. */
static void round_lines(const struct ops_bf16 *g, const struct input *in)
{
    enum { LINE = 4096 };
    const bool whole = in->pitch == in->columns; /* rows lie one after the other */
    const size_t n = in->rows * in->columns, line = whole ? LINE : in->columns,
                 step = whole ? LINE : in->pitch, lines = (n + line - 1) / line;
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < lines; i++) {
        const size_t left = n - i * line;
        round_line(g, in->x + i * step, left < line ? left : line,
                   (char *)in->to + i * line * g->size);
    }
}

/* Both together, as threads wait for each other once then. */
static void round_inputs(const struct ops_bf16 *g, const struct input *a, const struct input *b)
{
    enum { FEW = 1 << 14 };
    const size_t n = a->rows * a->columns + (b->to ? b->rows * b->columns : 0);
#pragma omp parallel if (n > FEW)
    {
        round_lines(g, a);
        if (b->to)
            round_lines(g, b);
    }
}

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

/* The length of the next piece where `left` are left. A number that differs from batch to batch is
 * cut by powers of two, as each length needs a primitive. */
static size_t piece_of(size_t left, size_t most, bool differs)
{
    size_t n = most;
    while (differs && n > left)
        n /= 2;
    return at_most(n, left);
}

/* The largest power of two up to LONGEST that makes a piece of at most PIECE numbers with a side of
 * `other`. */
static size_t longest_beside(size_t other)
{
    size_t n = LONGEST;
    while (n * other > PIECE)
        n /= 2;
    return n;
}

/* C of a product whose sizes are above 0 and pitches given. */
static int multiply_pieces(const struct gnn_ops *o, const struct gnn_product *p, struct gnn_err *e)
{
    struct ops_bf16 *g = o->dev;
    const size_t most_k = longest_beside(at_most(p->n, LONGEST)),
                 most_m = longest_beside(p->ta ? most_k : at_most(p->k, most_k));
    struct shape w = {.ta = p->ta,
                      .tb = p->tb,
                      .ldc = (dnnl_dim_t)p->ldc,
                      .threads = omp_in_parallel() ? 1 : omp_get_max_threads()};
    for (size_t j = 0, n; j < p->n; j += n) {
        n = at_most(p->n - j, LONGEST);
        for (size_t q = 0, k; q < p->k; q += k) {
            k = piece_of(p->k - q, most_k, p->ta);
            struct input b = {p->b + (p->tb ? j * p->ldb + q : q * p->ldb + j), p->ldb,
                              p->tb ? n : k, p->tb ? k : n, g->b};
            w.n = (dnnl_dim_t)n;
            w.k = (dnnl_dim_t)k;
            w.beta = q ? 1 : (double)p->beta;
            for (size_t i = 0, m; i < p->m; i += m) {
                float *c = p->c + i * p->ldc;
                m = piece_of(p->m - i, most_m, !p->ta);
                const struct input a = {p->a + (p->ta ? q * p->lda + i : i * p->lda + q), p->lda,
                                        p->ta ? k : m, p->ta ? m : k, g->a};
                round_inputs(g, &a, &b);
                b.to = NULL;
                w.m = (dnnl_dim_t)m;
                if (multiply_piece(g, &w, c + j, e))
                    return e->code;
                if (p->ep && j + n == p->n && q + k == p->k)
                    gnn_bias_act(c, m, p->n, p->ep->bias, p->ep->act, NULL);
            }
        }
    }
    return 0;
}

/* ---- the table ---- */

static int bf16_gemm(const struct gnn_ops *o, const struct gnn_product *p, struct gnn_err *e)
{
    const struct gnn_product q = gnn_cpu_pitches(p);
    if (!q.m || !q.n || !q.k)
        return gnn_ops_cpu.gemm(o, p, e);
    if (gnn_cpu_space(e))
        return e->code;
    return q.turned ? gnn_cpu_turned(o, &q, multiply_pieces, e) : multiply_pieces(o, &q, e);
}

static const char *bf16_note(const struct gnn_ops *o)
{
    const struct ops_bf16 *g = o->dev;
    return g->type == dnnl_bf16
               ? ""
               : "this processor has no matrix products of bf16 (AMX or AVX512-BF16): inputs are "
                 "rounded to bf16, and multiplied in f32, which saves no time";
}

static void free_bf16(const struct gnn_ops *o)
{
    struct ops_bf16 *g = o->dev;
    for (size_t i = 0; i < PRIMITIVES; i++)
        free_primitive(&g->primitive[i]);
    if (g->stream)
        dnnl_stream_destroy(g->stream);
    if (g->engine)
        dnnl_engine_destroy(g->engine);
    gnn_buf_release(&g->scratch);
    gnn_free(g->a);
    gnn_free(g->b);
    gnn_free(g);
}

/* Whether the processor multiplies bf16, and oneDNN knows. With AVX-512 alone it would imitate that
 * by instructions on f32, which takes longer than f32 does. */
static bool has_bf16(struct ops_bf16 *g)
{
    const struct shape some = {.m = 64, .n = 64, .k = 64, .ldc = 64};
    const unsigned needs = dnnl_cpu_isa_avx512_core_bf16;
    struct descriptors d = {0};
    g->type = dnnl_bf16;
    const bool has = ((unsigned)dnnl_get_effective_cpu_isa() & needs) == needs &&
                     describe_all(g, &some, &d) == dnnl_success;
    free_descriptors(&d);
    return has;
}

static int begin_products(struct ops_bf16 *g, struct gnn_err *e)
{
    dnnl_status_t s = dnnl_engine_create(&g->engine, dnnl_cpu, 0);
    if (s == dnnl_success)
        s = dnnl_stream_create(&g->stream, g->engine, dnnl_stream_default_flags);
    if (s == dnnl_success) /* oneDNN would keep those that are freed here */
        s = dnnl_set_primitive_cache_capacity(0);
    if (s != dnnl_success)
        return gnn_fail(e, GNN_E_NOMEM, "matrix products in bf16: oneDNN cannot begin (error %d)",
                        (int)s);
    const bool has = has_bf16(g);
    g->type = has ? dnnl_bf16 : dnnl_f32;
    g->size = has ? sizeof(uint16_t) : sizeof(float);
    g->a = gnn_alloc(PIECE, g->size, "matrix products", e);
    g->b = gnn_alloc(PIECE, g->size, "matrix products", e);
    return e->code;
}

const struct gnn_ops *gnn_ops_bf16_new(struct gnn_err *e)
{
    struct ops_bf16 *g = gnn_alloc_zero(1, sizeof *g, "operations", e);
    if (!g)
        return NULL;
    g->ops = gnn_ops_cpu;
    g->ops.dev = g;
    g->ops.gemm = bf16_gemm;
    g->ops.bf16 = true;
    g->ops.note = bf16_note;
    g->ops.free = free_bf16;
    if (!begin_products(g, e))
        return &g->ops;
    free_bf16(&g->ops);
    return NULL;
}
