/* SPDX-License-Identifier: Apache-2.0 */
/* The table of lib/ops/ops.h for the host: the kernels, done at once. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "kernels/factors.h"
#include "kernels/gate.h"
#include "kernels/gemm.h"
#include "kernels/half.h"
#include "kernels/label.h"
#include "kernels/loss.h"
#include "kernels/message.h"
#include "kernels/rows.h"
#include "kernels/weight.h"
#include "lib/ops/cpu.h"
#include "lib/data/tensors.h"

/* The host has no state, and its kernels need not all that those of devices need. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static int host_fit(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n, size_t size,
                    const char *what, struct gnn_err *e)
{
    return gnn_buf_fit(b, n, size, what, e);
}

static void host_release(const struct gnn_ops *o, struct gnn_buf *b)
{
    gnn_buf_release(b);
}

static void host_zero(const struct gnn_ops *o, void *to, uint64_t bytes)
{
    if (bytes)
        memset(to, 0, bytes);
}

static void host_copy(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes)
{
    if (bytes)
        memcpy(to, from, bytes);
}

static void host_mark(const struct gnn_ops *o, unsigned k)
{
}

static int host_wait(const struct gnn_ops *o, unsigned k, struct gnn_err *e)
{
    return e->code;
}

static int host_enter(const struct gnn_ops *o, const struct gnn_batch *b, struct gnn_err *e)
{
    return b->place ? gnn_fail(e, GNN_E_DEVICE, "a batch on device %u cannot be used on the host",
                               b->place->device)
                    : 0;
}

static void host_leave(const struct gnn_ops *o, const struct gnn_batch *b)
{
}

static pthread_once_t once_limit = PTHREAD_ONCE_INIT;
static bool limited;

static void find_limit(void)
{
    limited = gnn_mem_limited();
}

/* oneDNN generates code at the first product of each class (tests/unit/test_products.c), and does
 * not look whether it got the memory for that; later ones take what they pack. So where memory is
 * limited, somebody has to look before. CAPACITY_*: MiB. */
enum { CAPACITY_FIRST = 20, CAPACITY_LATER = 2 };

/* Products of all classes: of vectors and matrices, and as each operand may be transposed. */
static void make_kernels(void)
{
    enum { MOST = 48 };
    static const size_t size[] = {1, 2, MOST};
    static const float x[MOST * MOST];
    float y[MOST * MOST];
    for (unsigned i = 0; i < 81; i++) {
        const size_t m = size[i % 3], n = size[i / 3 % 3], k = size[i / 9 % 3];
        const bool ta = i / 27 == 1, tb = i / 27 == 2;
        (void)gnn_gemm(ta, tb, m, n, k, 1, x, ta ? m : k, x, tb ? k : n, 0, y, n);
    }
}

int gnn_cpu_space(struct gnn_err *e)
{
    static atomic_bool begun;
    pthread_once(&once_limit, find_limit);
    if (!limited)
        return 0;
    const bool first = !atomic_load(&begun);
    const unsigned mb = first ? CAPACITY_FIRST : CAPACITY_LATER;
    if (!gnn_mem_space((uint64_t)mb << 20))
        return gnn_fail(
            e, GNN_E_NOMEM,
            "out of memory: a matrix product needs another %u MB (see ulimit -v and -d)", mb);
    if (first)
        make_kernels();
    atomic_store(&begun, true);
    return 0;
}

int gnn_cpu_turned(const struct gnn_ops *o, const struct gnn_product *p,
                   int (*multiply)(const struct gnn_ops *o, const struct gnn_product *p,
                                   struct gnn_err *e),
                   struct gnn_err *e)
{
    const struct gnn_product t = {.ta = !p->tb,
                                  .tb = !p->ta,
                                  .m = p->n,
                                  .n = p->m,
                                  .k = p->k,
                                  .a = p->b,
                                  .b = p->a,
                                  .lda = p->ldb,
                                  .ldb = p->lda,
                                  .beta = p->beta,
                                  .c = p->turned,
                                  .ldc = p->m};
    if (p->beta != 0)
        gnn_transpose(p->c, p->m, p->n, p->ldc, p->turned, p->m);
    if (multiply(o, &t, e))
        return e->code;
    gnn_transpose(p->turned, p->n, p->m, p->m, p->c, p->ldc);
    return 0;
}

static int multiply_f32(const struct gnn_ops *o, const struct gnn_product *p, struct gnn_err *e)
{
    if (gnn_gemm(p->ta, p->tb, p->m, p->n, p->k, 1, p->a, p->lda, p->b, p->ldb, p->beta, p->c,
                 p->ldc))
        return gnn_fail(e, GNN_E_NOMEM, "matrix product of %zu x %zu x %zu failed", p->m, p->n,
                        p->k);
    return 0;
}

static int host_gemm(const struct gnn_ops *o, const struct gnn_product *p, struct gnn_err *e)
{
    const struct gnn_product q = gnn_cpu_pitches(p);
    if (gnn_cpu_space(e) ||
        (q.turned ? gnn_cpu_turned(o, &q, multiply_f32, e) : multiply_f32(o, &q, e)))
        return e->code;
    if (p->ep)
        gnn_bias_act(p->c, p->m, p->n, p->ep->bias, p->ep->act, NULL);
    return 0;
}

#define GNN_OP(name, kind, words, params, cpu, cuda)                                               \
    static void host_##name(const struct gnn_ops *o, GNN_OP_PARAMS params)                         \
    {                                                                                              \
        cpu;                                                                                       \
    }
#include "lib/ops/list.h"

static void free_nothing(const struct gnn_ops *o)
{
}

static const char *no_note(const struct gnn_ops *o)
{
    return "";
}

static int no_times(const struct gnn_ops *o, gnn_ops_each each, void *arg, struct gnn_err *e)
{
    return 0;
}

static void no_shape(const struct gnn_ops *o, const struct gnn_csr *block,
                     const struct gnn_block_shape *s)
{
}

static void host_aggregate_bf16(const struct gnn_ops *o, const struct gnn_csr *block,
                                uint32_t nblocks, uint32_t from, uint32_t to, const uint16_t *x,
                                size_t d, float *y, bool acc)
{
    gnn_spmm_rows_bf16(block, nblocks, from, to, x, d, y, acc);
}

const struct gnn_ops gnn_ops_cpu = {
    .chunk = 2048,
    .free = free_nothing,
    .note = no_note,
    .times = no_times,
    .shape = no_shape,
    .fit = host_fit,
    .release = host_release,
    .fit_host = host_fit,
    .release_host = host_release,
    .zero = host_zero,
    .copy = host_copy,
    .put = host_copy,
    .fetch = host_copy,
    .mark = host_mark,
    .wait = host_wait,
    .enter = host_enter,
    .leave = host_leave,
    .gemm = host_gemm,
    .aggregate_bf16 = host_aggregate_bf16,
#define GNN_OP(name, ...) .name = host_##name,
#include "lib/ops/list.h"
};
