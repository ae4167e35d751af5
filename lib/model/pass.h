/* SPDX-License-Identifier: Apache-2.0 */
/* State that all parts of a pass through a model share: where the operations are, parameters,
 * gradients, and scratch memory. */
#ifndef GNN_LIB_MODEL_PASS_H
#define GNN_LIB_MODEL_PASS_H

#include "lib/model/model.h"
#include "lib/ops/ops.h"

enum { GNN_PASS_BUFFERS = 6 };

/* Zeroed object = empty; released before the operations are. Rows, parameters and gradients are in
 * the operations' memory. One thread at a time. */
struct gnn_pass {
    const struct gnn_model *m;
    const struct gnn_ops *o;
    const float *p; /* parameters, laid out as the model's slab */
    float *grad;    /* their gradients, likewise */
    bool train;     /* what the backward pass needs is kept, and batch norm is that of the batch */
    uint64_t seed;  /* what dropout within layers is keyed by, besides stage, relation and ids */
    uint32_t epoch, step;
    /* Or NULL: sums numbers in the operations' memory over ranks. All of them call it equally often
     * in a pass that trains. */
    int (*sum)(void *arg, double *x, uint64_t n, struct gnn_err *e);
    void *arg;
    struct gnn_buf buffer[GNN_PASS_BUFFERS]; /* rows that are not kept (gnn_conv_scratch) */
    struct gnn_buf edge_rows;                /* of the edges of a range of rows */
    struct gnn_buf messages;                 /* of a relation's sources, or their gradients */
    struct gnn_buf bias, work, sums;
    struct gnn_buf scratch; /* a layer's, within one of its operations */
    struct gnn_buf turned;  /* a product, transposed */
    struct gnn_buf seen;    /* host memory: numbers fetched from the operations' memory */
    uint64_t flops,
        edges; /* of matrix products, and aggregated over, since the object was zeroed */
};

void gnn_pass_release(struct gnn_pass *s);
/* C = op(A) op(B) + beta C, then ep (may be NULL); counted. */
int gnn_pass_gemm(struct gnn_pass *s, bool ta, bool tb, size_t m, size_t n, size_t k,
                  const float *a, const float *b, float beta, float *c,
                  const struct gnn_epilogue *ep, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_pass_gemm, of matrices that are parts of wider ones. */
int gnn_pass_product(struct gnn_pass *s, const struct gnn_product *p,
                     struct gnn_err *e) GNN_MUST_USE;

/* Rows [0, n) in chunks [from, to) that the operations o do at once. */
#define EACH_CHUNK(from, to, n, o)                                                                 \
    for (uint32_t from = 0, to = gnn_chunk_end(o, 0, n); from < (n);                               \
         from = to, to = gnn_chunk_end(o, from, n))
static inline uint32_t gnn_chunk_end(const struct gnn_ops *o, uint32_t from, uint32_t n)
{
    return n - from < o->chunk ? n : from + o->chunk;
}

static inline const float *gnn_pass_param(const struct gnn_pass *s, uint32_t i)
{
    return s->p + s->m->param[i].at;
}
static inline float *gnn_pass_grad(const struct gnn_pass *s, uint32_t i)
{
    return s->grad + s->m->param[i].at;
}

#endif
