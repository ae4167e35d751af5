/* SPDX-License-Identifier: Apache-2.0 */
/* The table of lib/ops/ops.h for a device: its state, shared by the files that fill the table. */
#ifndef GNN_LIB_OPS_GPU_OPS_IMPL_H
#define GNN_LIB_OPS_GPU_OPS_IMPL_H

#include "lib/gpu/runtime.h"
#include "lib/ops/gpu_cost.h"

/* The ring of pinned memory that data from the host goes through. A part of it is used again when
 * the copies from it are done. */
enum { RING_PARTS = 4, RING_PART = 1 << 20, RING = RING_PARTS * RING_PART };

/* Words that kernels leave something in: the lowest bad position of aggregation, of transposing, of
 * classes; a sum. */
enum { WORD_SPMM, WORD_TRANSPOSE, WORD_CLASS, WORD_SQUARES, NWORDS };

struct ops_dev {
    struct gnn_ops ops; /* first */
    struct gpu_device *d;
    void *stream, *gemm;
    int precision;      /* of matrix products, as asked for */
    char note[160];     /* "", or the first product that was made in another one */
    struct gnn_err err; /* the first thing that went wrong in an operation that returns nothing */
    char *ring;
    uint64_t ring_at;
    void *part[RING_PARTS]; /* events: the copies from it are done */
    uint64_t *word;         /* [NWORDS] */
    uint64_t *seen;         /* [GNN_OPS_MARKS][NWORDS] pinned: the words at a mark */
    void *mark[GNN_OPS_MARKS];
    struct gnn_buf scratch;
    struct ops_times *times; /* NULL: nobody asks for them */
    struct gnn_ops_blocks known;
};

static inline struct ops_dev *ops_dev(const struct gnn_ops *o)
{
    return (struct ops_dev *)o->dev;
}
/* After a failure nothing more is put on the stream: what it would work on may not be there. */
static inline bool ops_failed(const struct ops_dev *dev)
{
    return dev->err.code != 0;
}
/* After a launch of `what`: an error of it is the device's. */
void gnn_ops_launched(struct ops_dev *dev, const char *what);
/* Times of operations, by name (gpu_time.c): what is on the stream from _from on, or since the
 * operation before. */
int gnn_ops_times_new(struct ops_times **t, const struct gpu_device *d,
                      struct gnn_err *e) GNN_MUST_USE;
void gnn_ops_times_free(struct ops_times *t);
void gnn_ops_time_from(struct ops_dev *dev);
void gnn_ops_timed(struct ops_dev *dev, const char *name, uint64_t bytes);
/* Memory, copies, marks. */
void gnn_ops_fill_memory(struct gnn_ops *o);

/* gnn_ops.times (gpu_time.c). */
int gnn_gpu_ops_times(const struct gnn_ops *o, gnn_ops_each each, void *arg,
                      struct gnn_err *e) GNN_MUST_USE;

#endif
