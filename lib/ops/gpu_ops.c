/* SPDX-License-Identifier: Apache-2.0 */
/* The table of lib/ops/ops.h for a device: launchers of kernels/, on a stream of its own. */
#include <stdio.h>

#include "lib/gpu/device_gemm.h"
#include "lib/ops/gpu_reduce.h"

static const char *const precisions[] = {
    [GNN_PRECISION_F32] = "f32", [GNN_PRECISION_TF32] = "tf32", [GNN_PRECISION_BF16] = "bf16"};

/* ---- products, and what takes more than one call ---- */

/* Multiplies in the precision that was asked for or, where the library cannot, in the next finer
 * one that it can. *bare: it cannot add a bias to this product, either, which is without bias and
 * ReLU. */
static int device_multiply(struct ops_dev *dev, const struct gnn_dev_product *g, bool *bare,
                           struct gnn_err *e)
{
    for (int i = 0; i < 2 * (dev->precision + 1); i++) {
        struct gnn_dev_product q = *g;
        bool can;
        q.precision = dev->precision - i / 2;
        *bare = i % 2;
        if (*bare && !g->bias)
            continue;
        if (*bare) {
            q.bias = NULL;
            q.relu = false;
        }
        if (gnn_dev_multiply(dev->gemm, &q, &can, dev->stream, e))
            return e->code;
        if (can && q.precision < dev->precision && !*dev->note)
            snprintf(
                dev->note, sizeof(dev->note),
                "cuBLASLt cannot multiply (%zu, %zu) by (%zu, %zu) in %s: such products are computed in %s",
                g->m, g->k, g->k, g->n, precisions[dev->precision], precisions[q.precision]);
        if (can)
            return 0;
    }
    return gnn_fail(e, GNN_E_DEVICE, "cuBLASLt cannot multiply (%zu, %zu) by (%zu, %zu)", g->m,
                    g->k, g->k, g->n);
}

static int device_gemm(const struct gnn_ops *o, const struct gnn_product *p, struct gnn_err *e)
{
    struct ops_dev *dev = ops_dev(o);
    const struct gnn_epilogue *ep = p->ep;
    const struct gnn_dev_product g = {.ta = p->ta,
                                      .tb = p->tb,
                                      .m = p->m,
                                      .n = p->n,
                                      .k = p->k,
                                      .lda = p->lda,
                                      .ldb = p->ldb,
                                      .ldc = p->ldc,
                                      .a = p->a,
                                      .b = p->b,
                                      .beta = p->beta,
                                      .c = p->c,
                                      .bias = ep ? ep->bias : NULL,
                                      .relu = ep && ep->bias && ep->act == GNN_ACT_RELU};
    if (ops_failed(dev))
        return gnn_fail_as(e, &dev->err);
    if (!p->m || !p->n)
        return 0;
    bool bare = !p->k;
    if (p->k && device_multiply(dev, &g, &bare, e))
        return e->code;
    if (dev->times) {
        struct gnn_ops_cost c;
        gnn_ops_cost_product(&c, p->m, p->n, p->k, p->ta, p->beta != 0);
        gnn_ops_timed(dev, c.text, c.bytes);
    }
    for (size_t i = 0; !p->k && p->beta == 0 && i < (p->ldc ? p->m : 1); i++)
        o->zero(o, p->c + i * p->ldc, (p->ldc ? 1 : p->m) * p->n * sizeof(*p->c));
    /* The library knows no function but ReLU, and that only after a bias. */
    if (ep && (bare || (ep->act && !g.relu)))
        o->bias_act(o, p->c, (uint32_t)p->m, p->n, bare ? ep->bias : NULL, ep->act, NULL);
    return 0;
}

/* False, and the device has failed, where there is no space. */
static bool fit_scratch(struct ops_dev *dev, size_t bytes, const char *what)
{
    return !dev->ops.fit(&dev->ops, &dev->scratch, bytes, 1, what, &dev->err);
}

static void transpose_blocks(struct ops_dev *dev, const struct gnn_csr *block, uint32_t nblocks,
                             uint32_t ncols, uint32_t edges, uint32_t *tptr, uint32_t *tidx,
                             uint32_t *tedge)
{
    if (fit_scratch(dev, gnn_cuda_csr_transpose_scratch(edges, tedge != NULL), "transposing"))
        gnn_cuda_csr_transpose(block, nblocks, NULL, ncols, edges, tptr, tidx, tedge,
                               dev->scratch.data, dev->word + WORD_TRANSPOSE, dev->stream);
}

static void clip_by_norm(struct ops_dev *dev, float *g, size_t n, double most)
{
    double *squares = (double *)(dev->word + WORD_SQUARES);
    if (!fit_scratch(dev, gnn_cuda_square_sum_scratch(n), "clipping"))
        return;
    gnn_cuda_square_sum(g, n, dev->scratch.data, squares, dev->stream);
    gnn_cuda_clip(g, n, most, squares, dev->stream);
}

static void widen_tensor(struct ops_dev *dev, const struct gnn_tensor *x, uint64_t n, float *out)
{
    if (x->dtype == GNN_F16)
        gnn_cuda_f16_to_f32(x->data, n, out, dev->stream);
    else if (x->dtype == GNN_BF16)
        gnn_cuda_bf16_to_f32(x->data, n, out, dev->stream);
    else if (x->int8)
        gnn_cuda_i8_to_f32(x->data, n, (uint32_t)x->int8, out, dev->stream);
    else
        dev->ops.copy(&dev->ops, out, x->data, n * sizeof(*out));
}

#define GNN_OP(name, kind, words, params, cpu, cuda)                                               \
    static void launch_##name(const struct gnn_ops *o, GNN_OP_PARAMS params)                       \
    {                                                                                              \
        struct ops_dev *dev = ops_dev(o);                                                          \
        if (ops_failed(dev))                                                                       \
            return;                                                                                \
        cuda;                                                                                      \
        gnn_ops_launched(dev, #name);                                                              \
        if (dev->times) {                                                                          \
            const struct gnn_ops_blocks *known = &dev->known;                                      \
            char text[sizeof((struct gnn_ops_cost *)0)->text];                                     \
            (void)known;                                                                           \
            snprintf(text, sizeof text, GNN_OP_PARAMS kind);                                       \
            gnn_ops_timed(dev, text, 4 * (uint64_t)(words));                                       \
        }                                                                                          \
    }
#include "lib/ops/list.h"

static int open_device(struct ops_dev *dev, struct gnn_err *e)
{
    void *ring = NULL, *word = NULL, *seen = NULL;
    if (gnn_gpu_stream_new(dev->d, GNN_DEV_HIGH, &dev->stream, e))
        return e->code;
    int rc = gnn_gpu_pin(&ring, RING, "operations", e);
    dev->ring = ring;
    if (!rc)
        rc = gnn_dev_alloc(&word, NWORDS * sizeof(*dev->word), "operations", e);
    dev->word = word;
    if (!rc)
        rc = gnn_gpu_pin(&seen, GNN_OPS_MARKS * NWORDS * sizeof(*dev->seen), "operations", e);
    dev->seen = seen;
    for (unsigned i = 0; !rc && i < RING_PARTS; i++)
        rc = gnn_dev_event_new(&dev->part[i], e);
    for (unsigned i = 0; !rc && i < GNN_OPS_MARKS; i++)
        rc = gnn_dev_event_new(&dev->mark[i], e);
    if (!rc)
        rc = gnn_dev_set(dev->word, 0xff, NWORDS * sizeof(*dev->word), dev->stream, e) ||
                     gnn_ops_times_new(&dev->times, dev->d, e) || gnn_gpu_timeline_open(dev->d, e)
                 ? e->code
                 : 0;
    return rc ? rc : gnn_dev_gemm_new(&dev->gemm, e);
}

static const char *gpu_ops_note(const struct gnn_ops *o)
{
    return ops_dev(o)->note;
}

static void tell_shape(const struct gnn_ops *o, const struct gnn_csr *block,
                       const struct gnn_block_shape *shape)
{
    struct ops_dev *dev = ops_dev(o);
    if (dev->times)
        gnn_ops_block_told(&dev->known, block, shape);
}

static void gpu_ops_free(const struct gnn_ops *o)
{
    struct ops_dev *dev = o->dev;
    gnn_dev_stream_free(dev->stream); /* waits for what is on it */
    gnn_dev_gemm_free(dev->gemm);
    gnn_ops_times_free(dev->times);
    for (unsigned i = 0; i < RING_PARTS; i++)
        gnn_dev_event_free(dev->part[i]);
    for (unsigned i = 0; i < GNN_OPS_MARKS; i++)
        gnn_dev_event_free(dev->mark[i]);
    o->release(o, &dev->scratch);
    gnn_dev_free(dev->word);
    gnn_gpu_unpin(dev->ring);
    gnn_gpu_unpin(dev->seen);
    gnn_free(dev);
}

static const struct gnn_ops table = {
    .async = true,
    .free = gpu_ops_free,
    .note = gpu_ops_note,
    .times = gnn_gpu_ops_times,
    .shape = tell_shape,
    .chunk = UINT32_MAX,
    .gemm = device_gemm,
#define GNN_OP(name, ...) .name = launch_##name,
#include "lib/ops/list.h"
};

static const struct gnn_ops *gpu_ops_new(struct gnn_gpu *g, enum gnn_precision precision,
                                         struct gnn_err *e)
{
    struct ops_dev *dev = gnn_alloc_zero(1, sizeof(*dev), "operations", e);
    if (!dev)
        return NULL;
    dev->ops = table;
    gnn_ops_fill_memory(&dev->ops);
    dev->ops.reduce_new = gnn_gpu_reduce_new;
    dev->ops.dev = dev;
    dev->d = &g->dev[0];
    dev->precision = (int)precision;
    if (!open_device(dev, e))
        return &dev->ops;
    gpu_ops_free(&dev->ops);
    return NULL;
}

const struct gnn_ops_gpu gnn_ops_gpu = {gpu_ops_new};
