/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of batches, and filters, which are sources made from a source. The programs are thin
 * shells round them, so a pipeline of processes and one process run the same code.
 *
 * A filter owns the source it was made from; gnn_source_free frees the whole chain. A batch belongs
 * to the caller until gnn_batch_put. One thread at a time asks a source for batches. */
#ifndef GNN_LIB_DATA_SOURCE_H
#define GNN_LIB_DATA_SOURCE_H

#include "lib/data/batch.h"

struct gnn_source {
    /* 0 and a batch that the caller gives back with gnn_batch_put; GNN_END after the last, when all
     * the source read from has been verified; or an error. One caller at a time. */
    int (*next)(struct gnn_source *s, struct gnn_batch **b, struct gnn_err *e);
    void (*free)(
        struct gnn_source *s); /* also the sources below it; all batches are back by then */
    const struct gnn_meta *meta;
    /* The next batch may take long: a stage holds no finished batch back while it waits for it. */
    bool live;
};

static inline int gnn_source_next(struct gnn_source *s, struct gnn_batch **b, struct gnn_err *e)
{
    return s->next(s, b, e);
}
/* Takes NULL. */
void gnn_source_free(struct gnn_source *s);

/* The source `up`, of which the first batch has been read: *first, which is still to come, or NULL
 * if there is none. Takes over `up`. */
struct gnn_source *gnn_source_ahead(struct gnn_source *up, const struct gnn_batch **first,
                                    struct gnn_err *e) GNN_MUST_USE;

/* Applies a function to each batch of `up`, on nthreads threads, keeping the order; at most `depth`
 * finished or unfinished batches are under way. nthreads 0: on the threads of `up`, if that is such
 * a source with threads, after its own function (up is returned, and must not have been asked for a
 * batch yet); else in the caller's thread. Takes over `up` and, on failure too, `arg` (through
 * arg_free). apply must be deterministic in (arg, batch): which worker gets which batch is not.
 * `end` (may be NULL) is called after the last batch and may fail the stream. */
struct gnn_map_ops {
    void *(*worker_new)(void *arg, struct gnn_err *e); /* per-thread scratch; NULL on failure */
    void (*worker_free)(void *worker);
    int (*apply)(void *arg, void *worker, struct gnn_batch *b, struct gnn_err *e);
    int (*end)(void *arg, struct gnn_err *e);
    void (*arg_free)(void *arg);
    /* Or NULL: called when the source is freed before its end. True: the batches that `up` still
     * yields are made before the source is freed. */
    bool (*leave)(void *arg);
    /* threads run at a lower priority, so that the caller's own threads come first */
    bool background;
};
struct gnn_source *gnn_map_new(struct gnn_source *up, const struct gnn_meta *meta,
                               const struct gnn_map_ops *ops, void *arg, unsigned nthreads,
                               unsigned depth, struct gnn_err *e) GNN_MUST_USE;

/* Reads a GNB batch stream (or several, concatenated) from fd; `name` is for messages. Takes over
 * fd. */
struct gnn_source *gnn_stream_source_new(int fd, const char *name, struct gnn_err *e) GNN_MUST_USE;
/* The batches that are accepted only from a program of gnn-tools that writes to the same pipe. */
struct gnn_stream_opts {
    /* or NULL: batches that lie on one of these devices (lib/gpu/gpu.h), which must outlive the
     * source */
    struct gnn_gpu *gpu;
    bool in_place; /* batches with features that are in place (gnn_batch_type.x) */
};
struct gnn_source *gnn_stream_source_on(int fd, const char *name, const struct gnn_stream_opts *o,
                                        struct gnn_err *e) GNN_MUST_USE;

#endif
