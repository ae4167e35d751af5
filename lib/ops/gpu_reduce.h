/* Sums over ranks of what lies in the memory of their devices: what the files that make
 * gnn_ops.sums_new share. */
#ifndef GNN_LIB_OPS_GPU_REDUCE_H
#define GNN_LIB_OPS_GPU_REDUCE_H

#include "lib/comm/comm.h"
#include "lib/ops/gpu_ops.h"

/* One sum, used again and again. */
struct gpu_sum {
    struct gpu_sum *older; /* of all */
    struct gpu_sum *next;  /* of those that wait their turn, or are idle */
    void *data;
    uint64_t n;
    enum gnn_reduce kind;
    void *before, *done; /* events: what goes into it is there; it is */
    struct gnn_buf host; /* pinned: the numbers, where the host sums them */
};

struct gpu_sums {
    struct gnn_comm base;
    struct gnn_comm *host; /* the ranks' own */
    struct ops_dev *ops;
    struct gpu_sum *all, *idle;
    /* By NCCL: */
    struct gpu_sum *first, **last; /* begun, and not given to NCCL yet */
    uint64_t open;                 /* begun, and not ended */
    void *nccl, *stream;           /* NULL: the host sums */
    bool hung;                     /* NCCL does not come back from its abort: it is left alone */
};

static inline struct gpu_sums *gpu_sums(struct gnn_comm *c)
{
    return (struct gpu_sums *)c;
}
static inline uint64_t gpu_sum_bytes(const struct gpu_sum *s)
{
    return s->n * (s->kind == GNN_REDUCE_F32 ? 4 : 8);
}

/* NCCL, on all ranks or on none: c->nccl stays NULL then, and why says why. Collective. */
int gpu_sums_join(struct gpu_sums *c, char why[GNN_SUMS_WHY], struct gnn_err *e) GNN_MUST_USE;
/* Begins s; gets going what is begun; ends s. */
int gpu_sums_add(struct gpu_sums *c, struct gpu_sum *s, struct gnn_err *e) GNN_MUST_USE;
int gpu_sums_push(struct gpu_sums *c, struct gnn_err *e) GNN_MUST_USE;
int gpu_sums_wait(struct gpu_sums *c, struct gpu_sum *s, struct gnn_err *e) GNN_MUST_USE;
void gpu_sums_leave(struct gpu_sums *c);

int gpu_sums_new(const struct gnn_ops *o, struct gnn_comm *host, struct gnn_comm **sums,
                 char why[GNN_SUMS_WHY], struct gnn_err *e) GNN_MUST_USE;

#endif
