/* Shared by the files that write one part of a new store. Not for use outside lib/partition. */
#ifndef GNN_LIB_PARTITION_REWRITE_H
#define GNN_LIB_PARTITION_REWRITE_H

#include <string.h>

#include "lib/mem.h"
#include "lib/partition.h"

/* The part being written. */
struct gnn_rewrite {
    const struct gnn_layout *l;
    struct gnn_store_writer *w;
    uint32_t part;
    bool named; /* the store has k > 1 parts, so original ids are written */
    struct gnn_part_figures *fig;
    unsigned threads;
    struct gnn_rewrite_work *work; /* [threads] */
    uint64_t *edges;      /* [netypes] edges of the part */
    uint64_t *nhalo;      /* [nntypes] */
    struct gnn_buf *halo; /* [nntypes] u32 new ids, ascending */
    uint64_t **sorted;    /* [nsets] positions in the set, grouped by part */
    uint64_t **cursor;    /* [nsets] -> (k+1) bounds of the groups */
    uint32_t **members;   /* [nsets] new ids by position in the set */
    struct gnn_buf marks; /* a bit per node of one type */
    struct gnn_buf jobs;  /* struct gnn_rewrite_job */
    uint32_t njobs;
};

/* What a thread needs to write a tensor. */
struct gnn_rewrite_work {
    char *chunk;       /* GNN_SINK_BYTES through which everything flows */
    const void **from; /* two pointers per input part */
};

/* A tensor to be: declared first, written after the layout is fixed, by any thread. */
struct gnn_rewrite_job {
    int (*write)(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                 struct gnn_err *e);
    uint32_t id, type; /* tensor; node type, edge type or set */
    const char *field;
    size_t row;        /* bytes of a row */
    uint64_t bytes;    /* of the tensor: large ones are written first */
};

/* Bytes on their way into tensor id. */
struct gnn_sink {
    const struct gnn_rewrite *r;
    char *chunk;
    uint32_t id;
    uint64_t len;
};
enum { GNN_SINK_BYTES = 1 << 20 };

int gnn_sink_flush(struct gnn_sink *s, struct gnn_err *e) GNN_MUST_USE;
int gnn_sink_long(struct gnn_sink *s, const void *data, uint64_t bytes, struct gnn_err *e) GNN_MUST_USE;
static inline int gnn_sink_put(struct gnn_sink *s, const void *data, uint64_t bytes, struct gnn_err *e)
{
    if (bytes > GNN_SINK_BYTES - s->len)
        return gnn_sink_long(s, data, bytes, e);
    memcpy(s->chunk + s->len, data, bytes);
    s->len += bytes;
    return GNN_OK;
}

/* Declares a tensor and queues its writer. */
int gnn_rewrite_declare(struct gnn_rewrite *r, struct gnn_rewrite_job job, enum gnn_dtype dtype,
                        uint32_t ndim, const uint64_t *shape, struct gnn_err *e, const char *fmt,
                        ...) GNN_PRINTF(7, 8) GNN_MUST_USE;
int gnn_rewrite_nodes(struct gnn_rewrite *r, uint32_t t, struct gnn_err *e) GNN_MUST_USE;
int gnn_rewrite_edges(struct gnn_rewrite *r, uint32_t et, struct gnn_err *e) GNN_MUST_USE;
/* Counts the part's edges and gathers its halo; before anything is declared. */
int gnn_rewrite_scan(struct gnn_rewrite *r, struct gnn_err *e) GNN_MUST_USE;
/* The tensor of input part p, or GNN_E_INPUT. */
int gnn_rewrite_find(const struct gnn_rewrite *r, uint32_t p, const struct gnn_tensor **t,
                     struct gnn_err *e, const char *fmt, ...) GNN_PRINTF(5, 6) GNN_MUST_USE;

#endif
