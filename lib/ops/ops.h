/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on rows while a model is trained or applied, as a table of functions for each backend:
 * the host, or a device. Code that uses them is written once: it holds pointers to the backend's
 * memory, and never looks through them. */
#ifndef GNN_LIB_OPS_OPS_H
#define GNN_LIB_OPS_OPS_H

#include "formats/tensor.h"
#include "kernels/act.h"
#include "kernels/attention.h"
#include "kernels/heads.h"
#include "kernels/batch_norm.h"
#include "kernels/optim.h"
#include "kernels/pack.h"
#include "kernels/spmm.h"
#include "lib/data/batch.h"
#include "lib/gpu/gpu.h"

/* Follows a matrix product: C = act(C + bias). */
struct gnn_epilogue {
    const float *bias; /* (columns of C) */
    enum gnn_act act;
};

enum { GNN_OPS_MARKS = 3, GNN_OPS_MARK_NET = 2 /* the passes' own */, GNN_REDUCE_WHY = 200 };
struct gnn_comm;

/* C = op(A) op(B) + beta C, then ep (may be NULL), as kernels/gemm.h has it. A pitch of 0: rows lie
 * one after the other, as they do in C if there is an ep. */
struct gnn_product {
    bool ta, tb;
    size_t m, n, k;
    const float *a, *b;
    size_t lda, ldb, ldc; /* row pitches in floats */
    float beta, *c;
    const struct gnn_epilogue *ep;
    float *turned; /* on the host: space for C's transpose, if that is to be computed; or NULL */
};

/* Lower bounds for rows [from, to) of a block, or of all of a relation's blocks: edges, rows with
 * an edge, and different rows that edges lead from. */
struct gnn_block_shape {
    uint64_t from, to, edges, rows, sources;
};

typedef void (*gnn_ops_each)(void *arg, const char *name, uint64_t n, double ms, uint64_t bytes);

/* Operations are carried out in the order of the calls, but on a device later than these: `wait`
 * finds what has failed there. Pointers are to the backend's memory (`fit`) unless said to be the
 * host's; a struct that is passed by pointer is the host's, and read during the call (the array
 * `block` of struct gnn_csr alone is the backend's). All take the table they are in. One thread at
 * a time. */
struct gnn_ops {
    void *dev;      /* state of the backend, if it has some: a device, or products in bf16 */
    bool async;     /* operations are still under way when the calls return */
    bool bf16;      /* rows that only products and sums read may be rounded to bf16 */
    uint32_t chunk; /* rows worth doing at once, so that they stay in the cache; UINT32_MAX: all */

    /* Frees the table; to be called before the devices are closed. */
    void (*free)(const struct gnn_ops *o);
    /* "", or a sentence: products have been made in a finer precision than was asked for, as the
     * library cannot do them. */
    const char *(*note)(const struct gnn_ops *o);
    /* times, with GNN_DEBUG_TIME=1 in the environment when the operations were made: the number and
     * time of each kind of operation on the device so far, and the bytes that it had to move at
     * least (0: unknown). These depend on the contents of blocks, which the device alone knows;
     * shape: lower bounds from the code that makes a block. */
    int (*times)(const struct gnn_ops *o, gnn_ops_each each, void *arg, struct gnn_err *e);
    void (*shape)(const struct gnn_ops *o, const struct gnn_csr *block,
                  const struct gnn_block_shape *s);

    /* As gnn_buf_fit and gnn_buf_release, for the backend's memory; _host: the host's, for `fetch`.
     */
    int (*fit)(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n, size_t size,
               const char *what, struct gnn_err *e);
    void (*release)(const struct gnn_ops *o, struct gnn_buf *b);
    int (*fit_host)(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n, size_t size,
                    const char *what, struct gnn_err *e);
    void (*release_host)(const struct gnn_ops *o, struct gnn_buf *b);

    void (*zero)(const struct gnn_ops *o, void *to, uint64_t bytes);
    void (*copy)(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes);
    /* Copies from the host, whose memory may be changed when the call returns. */
    void (*put)(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes);
    /* Copies to the host: complete after a mark set later has been waited for. On a device, `to` is
     * from fit_host. */
    void (*fetch)(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes);
    /* mark sets mark k < GNN_OPS_MARKS here; wait waits until all operations before it are done.
     * Errors: the device's, and ids that are out of range (GNN_E_INPUT). */
    void (*mark)(const struct gnn_ops *o, unsigned k);
    int (*wait)(const struct gnn_ops *o, unsigned k, struct gnn_err *e);
    /* enter is called before the first operation on the data of batch b, which lies in the
     * backend's memory; leave after the last, before the batch is put. */
    int (*enter)(const struct gnn_ops *o, const struct gnn_batch *b, struct gnn_err *e);
    void (*leave)(const struct gnn_ops *o, const struct gnn_batch *b);

    /* All-reduces of numbers in the backend's memory: *reduce has the ranks of comm, which must
     * outlive it, and its all-reduces are in order with the operations: they reduce the results of
     * those before _begin, and those after _end work on what was reduced. Collective. why: "", or
     * why they go through the host's memory although NCCL would not; with NCCL it can exchange
     * (move_begin), too. The member is NULL where comm itself does it. Freed by reduce->ops->free,
     * before the operations are. */
    int (*reduce_new)(const struct gnn_ops *o, struct gnn_comm *comm, struct gnn_comm **reduce,
                      char why[GNN_REDUCE_WHY], struct gnn_err *e);

    /* On a device, ReLU may make 0 of a NaN. */
    int (*gemm)(const struct gnn_ops *o, const struct gnn_product *p, struct gnn_err *e);
    /* As `aggregate`, of rows of bf16, with the bits of the same numbers in f32; NULL: such rows
     * have to be widened before. */
    void (*aggregate_bf16)(const struct gnn_ops *o, const struct gnn_csr *block, uint32_t nblocks,
                           uint32_t from, uint32_t to, const uint16_t *x, size_t d, float *y,
                           bool acc);
    /* The kernels. */
#define GNN_OP_PARAMS(...) __VA_ARGS__
#define GNN_OP(name, kind, words, params, cpu, cuda)                                               \
    void (*name)(const struct gnn_ops *o, GNN_OP_PARAMS params);
#include "lib/ops/list.h"
};

/* The host's memory and threads. */
extern const struct gnn_ops gnn_ops_cpu;
/* Makes operations of the host do nothing from now on, and look at no memory; buffers are still
 * allocated. */
void gnn_ops_idle(struct gnn_ops *o);

/* The operations of the first device, on a stream of their own; g NULL: the host's, in f32
 * gnn_ops_cpu itself; GNN_E_USAGE in tf32. NULL and e on failure. */
const struct gnn_ops *gnn_ops_new(struct gnn_gpu *g, enum gnn_precision precision,
                                  struct gnn_err *e) GNN_MUST_USE;

/* Makes operations of devices (gpu_ops.c); NULL in a build without CUDA, in which no device can be
 * opened. */
struct gnn_ops_gpu {
    const struct gnn_ops *(*make)(struct gnn_gpu *g, enum gnn_precision precision,
                                  struct gnn_err *e);
};
extern const struct gnn_ops_gpu gnn_ops_gpu;

#endif
