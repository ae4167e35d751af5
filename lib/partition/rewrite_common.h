/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that write the parts of a new store, a group of them at a time: the input is
 * walked once for the whole group, in its original order, and every tensor of every part takes its
 * rows as they come by. Not for use outside lib/partition. */
#ifndef GNN_LIB_PARTITION_REWRITE_COMMON_H
#define GNN_LIB_PARTITION_REWRITE_COMMON_H

#include <string.h>

#include "lib/base/mem.h"
#include "lib/partition/partition.h"

/* The state that all parts share. */
struct gnn_rewrite {
    const struct gnn_layout *l;
    bool named; /* the store has k > 1 parts, so original ids are written */
    unsigned threads;
    uint64_t **sorted;             /* [nsets] positions in the set, grouped by part */
    uint64_t **cursor;             /* [nsets] -> (k+1) bounds of the groups */
    uint32_t **members;            /* [nsets] new ids by position in the set; of links: two each */
    int64_t **times;               /* [nsets] of links, by position; or NULL */
    void ***fields;                /* [nsets] of links -> [fields of their type] likewise */
    struct gnn_rewrite_part *part; /* [most] the group */
    uint32_t n, most;
    struct gnn_buf chunks; /* of all tensors of the group */
    struct gnn_buf from;   /* const void **: what gnn_rewrite_from gave */
    uint32_t nfrom;
};

/* A part being written. */
struct gnn_rewrite_part {
    struct gnn_rewrite *r;
    struct gnn_store_writer w; /* writes this part only */
    uint32_t part;
    struct gnn_part_figures *fig;
    uint64_t *edges;  /* [netypes] of the part */
    uint64_t *nhalo;  /* [nntypes] */
    uint64_t **marks; /* [nntypes] a bit per node: it is in the halo */
    uint64_t scanned; /* next node of a scan */
    struct gnn_buf jobs;
    uint32_t njobs;
};

/* Bytes on their way into tensor id. */
struct gnn_sink {
    struct gnn_store_writer *w;
    char *chunk;
    uint32_t id;
    uint64_t len, capacity;
};

/* Rows of features that are converted. */
struct gnn_features {
    const struct gnn_field *to;
    uint64_t columns;
    double error; /* so far, as gnn_int8_row tells */
    float *wide;  /* [columns] */
    void *row;    /* a row as it is written */
};

struct gnn_rewrite_job;
/* Writes what one node, by its new id, brings. */
typedef int gnn_rewrite_put_fn(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j,
                               uint32_t id, struct gnn_err *e);
/* A tensor to be: declared first, written after the layout is fixed, by any thread. */
struct gnn_rewrite_job {
    gnn_rewrite_put_fn *put; /* called for each node of type `walk` in turn; or NULL: */
    /* writes all of it at once. */
    int (*write)(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, struct gnn_err *e);
    uint32_t type; /* node type, edge type or set */
    uint32_t walk;
    bool halo;        /* the nodes are those of the halo, all at once; else the part's own */
    bool offsets;     /* the tensor begins with a u64 of 0 */
    uint64_t at, end; /* next node of the part's own, and the last + 1 */
    uint64_t sum;     /* offset so far */
    bool done;
    const char *field;
    size_t row;        /* bytes of a row */
    const void **from; /* two pointers per input part; not owned. Of features, the tensors */
    struct gnn_features *features; /* that are converted, or NULL */
    uint64_t bytes;                /* of the tensor: large ones are written first */
    struct gnn_sink sink;
};

/* Most of a tensor that is held back, and what all of them share. */
enum { GNN_SINK_BYTES = 1 << 20, GNN_SINK_LEAST = 16 << 10, GNN_SINK_TOTAL = 64 << 20 };
/* Parts of a group, and bytes of their marks. */
enum { GNN_REWRITE_PARTS = 64, GNN_REWRITE_MARKS = 512 << 20 };

int gnn_sink_flush(struct gnn_sink *s, struct gnn_err *e) GNN_MUST_USE;
int gnn_sink_long(struct gnn_sink *s, const void *data, uint64_t bytes,
                  struct gnn_err *e) GNN_MUST_USE;
static inline int gnn_sink_put(struct gnn_sink *s, const void *data, uint64_t bytes,
                               struct gnn_err *e)
{
    if (bytes > s->capacity - s->len)
        return gnn_sink_long(s, data, bytes, e);
    memcpy(s->chunk + s->len, data, bytes);
    s->len += bytes;
    return GNN_OK;
}

/* In-edges of the node with new id i; fetches ahead where their sources' new ids are. Empty from
 * `to` on. */
static inline struct gnn_view_row gnn_rewrite_row(const struct gnn_layout *l, uint32_t et,
                                                  uint64_t i, uint64_t to)
{
    const struct gnn_etype *t = &l->view->store->meta.schema.etype[et];
    struct gnn_view_row row = {0, 0, 0, NULL};
    if (i >= to)
        return row;
    row = gnn_view_row(l->view, et, l->order[t->dst][i]);
    const uint32_t *first = l->view->to_orig[t->src] ? l->view->to_orig[t->src] : l->to_new[t->src];
    for (uint64_t j = 0; j < row.n && j < 64; j++)
        __builtin_prefetch(&first[row.indices[j]]);
    return row;
}

/* Declares a tensor and queues its writer. */
int gnn_rewrite_declare(struct gnn_rewrite_part *p, struct gnn_rewrite_job job,
                        enum gnn_dtype dtype, uint32_t ndim, const uint64_t *shape,
                        struct gnn_err *e, const char *fmt, ...) GNN_PRINTF(7, 8) GNN_MUST_USE;
int gnn_rewrite_nodes(struct gnn_rewrite_part *p, uint32_t t, struct gnn_err *e) GNN_MUST_USE;
/* halo: the in-edges of the halo's nodes. */
int gnn_rewrite_edges(struct gnn_rewrite_part *p, uint32_t et, bool halo,
                      struct gnn_err *e) GNN_MUST_USE;
/* The job, of features x, converts them to the field `to` of the new store. On failure, too, the
 * part frees j->features if the job was declared. */
int gnn_rewrite_features(struct gnn_rewrite_job *j, const struct gnn_field *to,
                         struct gnn_err *e) GNN_MUST_USE;
void gnn_rewrite_features_free(struct gnn_features *x); /* takes NULL */
/* Calls put for each node of type t in the part's halo, in ascending order of new ids. */
int gnn_rewrite_each_halo(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t t,
                          gnn_rewrite_put_fn *put, struct gnn_err *e) GNN_MUST_USE;
int gnn_rewrite_halo(struct gnn_rewrite_part *p, struct gnn_err *e) GNN_MUST_USE;
/* Counts the edges of the group's parts and marks their halos; before anything is declared. */
void gnn_rewrite_scan(struct gnn_rewrite *r);
/* Writes all tensors of the group, which are declared. */
int gnn_rewrite_walk(struct gnn_rewrite *r, struct gnn_err *e) GNN_MUST_USE;
/* For the job that is declared next: `from` of the same job of the group's first part, or space for
 * it, which is then *fresh. */
int gnn_rewrite_from(struct gnn_rewrite *r, const struct gnn_rewrite_part *p,
                     struct gnn_rewrite_job *j, bool *fresh, struct gnn_err *e) GNN_MUST_USE;
/* The tensor of input part p, or GNN_E_INPUT. */
int gnn_rewrite_find(const struct gnn_rewrite *r, uint32_t p, const struct gnn_tensor **t,
                     struct gnn_err *e, const char *fmt, ...) GNN_PRINTF(5, 6) GNN_MUST_USE;

#endif
