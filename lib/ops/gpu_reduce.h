/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduces and exchanges of numbers in the memory of devices: what the files behind
 * gnn_ops.reduce_new share.
 */
#ifndef GNN_LIB_OPS_GPU_REDUCE_H
#define GNN_LIB_OPS_GPU_REDUCE_H

#include "lib/comm/comm.h"
#include "lib/ops/gpu_ops_impl.h"

/* One all-reduce, used again and again; or, if there is `out`, an exchange. */
struct gpu_reduction {
    struct gpu_reduction *older; /* of all */
    struct gpu_reduction *next;  /* of those that wait their turn, or are idle */
    void *data;
    uint64_t n;
    enum gnn_reduce kind;
    const struct gnn_span *out, *in; /* [size] */
    void *before, *done;             /* events: what goes into it is there; it is */
    struct gnn_buf host;             /* pinned: the numbers, where the host reduces them */
};

struct gpu_reduce {
    struct gnn_comm base;
    struct gnn_comm_ops table; /* the base's */
    struct gnn_comm *host;     /* the ranks' own */
    struct ops_dev *ops;
    struct gpu_reduction *all, *idle;
    /* By NCCL: */
    struct gpu_reduction *first, **last; /* begun, and not given to NCCL yet */
    uint64_t open;                       /* begun, and not ended */
    void *nccl, *stream;                 /* NULL: the host reduces */
    const char *doing;                   /* what NCCL is waited for, for messages */
    bool hung; /* NCCL does not come back from its abort: it is left alone */
};

static inline struct gpu_reduce *gpu_reduce_of(struct gnn_comm *c)
{
    return (struct gpu_reduce *)c;
}
static inline uint64_t reduction_bytes(const struct gpu_reduction *s)
{
    return s->n * (s->kind == GNN_REDUCE_F32 ? 4 : 8);
}

/* NCCL, on all ranks or on none: c->nccl stays NULL then, and why says why. Collective. */
int gnn_gpu_reduce_join(struct gpu_reduce *c, char why[GNN_REDUCE_WHY],
                        struct gnn_err *e) GNN_MUST_USE;
/* Begins s; gets going what is begun; ends s. */
int gnn_gpu_reduce_add(struct gpu_reduce *c, struct gpu_reduction *s,
                       struct gnn_err *e) GNN_MUST_USE;
int gnn_gpu_reduce_push(struct gpu_reduce *c, struct gnn_err *e) GNN_MUST_USE;
int gnn_gpu_reduce_wait(struct gpu_reduce *c, struct gpu_reduction *s,
                        struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_reduce_leave(struct gpu_reduce *c);

int gnn_gpu_reduce_new(const struct gnn_ops *o, struct gnn_comm *host, struct gnn_comm **reduce,
                       char why[GNN_REDUCE_WHY], struct gnn_err *e) GNN_MUST_USE;

#endif
