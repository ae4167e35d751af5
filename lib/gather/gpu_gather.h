/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the gatherer on devices (gpu_gather.c is the way in).
 *
 * A table is what a job of lib/gather/gather_impl.h takes rows from: the store's parts, which
 * devices read where they lie, and, of nodes' fields but labels, the GPU feature cache
 * (gpu_cache.c). A view is a table as one device sees it. */
#ifndef GNN_LIB_GATHER_GPU_GATHER_H
#define GNN_LIB_GATHER_GPU_GATHER_H

#include "lib/cache/placement.h"
#include "lib/gather/gather_impl.h"
#include "lib/gpu/runtime.h"

enum { GATHER_DEPTH = 4 }; /* batches in flight */

struct gather_view {
    /* Arrays in the device's memory: of the cache, by slot; of the host, by id. */
    const struct gnn_gather_part *cached, *backing;
    uint32_t ncached, nbacking;
    const uint32_t *slot; /* likewise; NULL: the ids are the slots */
    uint64_t nslots;
};

struct gather_table {
    const struct gather_job *job;
    bool staged; /* rows come with the batch, through a staging buffer: some are other ranks' */
    struct gather_copy copy;      /* into batches */
    struct gather_copy keep;      /* into caches: as they are read */
    struct gnn_gather_part *part; /* [nparts] at addresses that devices read, once opened */
    uint32_t opened;              /* parts that are */
    /* with several ranks: replicated remote rows, at such an address, or NULL */
    const void *copies;
    struct gather_view *view;            /* [devices] */
    const struct gnn_edges_part **edges; /* [devices] of an edge field, in the device's memory */
    uint32_t edges_opened;
};

/* A device's own. */
struct gather_unit {
    struct gpu_device *d;
    void *stream;
    unsigned blocks; /* of a batch's kernels: as in struct gnn_cuda_gather */
    void **memory;   /* [nmemory] to be freed with it */
    uint64_t nmemory;
    /* [nntypes] original id to store id; empty where they are the same */
    struct gather_view *inverse;
    struct gnn_buf *ids;            /* [nntypes] store ids of the batch at hand */
    struct gnn_buf rows;            /* of edges */
    struct gnn_gather_count *count; /* [GATHER_DEPTH][ncounts] */
    struct gnn_buf staging;         /* that of the batch at hand */
};

struct gpu_gather {
    struct gnn_gpu *g;
    struct gatherer *job;
    struct gather_unit *unit;   /* [g->n] */
    struct gather_table *table; /* [njobs] */
    uint32_t *at; /* [njobs] a job's place among the counts of a batch; of an edge field, hop 0's */
    uint32_t ncounts; /* first the inverse tables' */
    bool beside;      /* training, on the first device */
    struct gnn_gather_count *fresh,
        *counted; /* pinned: [ncounts] before a batch; [GATHER_DEPTH][ncounts] after it */
    struct gnn_gather_stats *stats;
    bool staged; /* with several ranks: batches come from the host, with others' rows */
    struct gather_queue *queue;                   /* (gpu_remote.h) owns the job */
    struct gather_staging *staging[GATHER_DEPTH]; /* of the batches in flight; NULL: none */
    struct gnn_gpu_peers *peers;                  /* with ranks (lib/gpu/peers.h), or NULL */
};

/* ---- tables and views (gpu_table.c) ---- */

/* Streams, tables, and the inverse ids on each device; views have nothing yet. x->g and ->job are
 * set; x is to be released on failure too. */
int gnn_gpu_gather_init(struct gpu_gather *x, struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_gather_release(struct gpu_gather *x);
/* Memory of the device that is freed with the unit. */
int gnn_gpu_gather_alloc(struct gather_unit *u, uint64_t bytes, const char *what, void **p,
                         struct gnn_err *e) GNN_MUST_USE;
/* As gnn_gpu_gather_alloc, with contents. */
int gnn_gpu_gather_upload(struct gather_unit *u, const void *from, uint64_t bytes, const char *what,
                          void **p, struct gnn_err *e) GNN_MUST_USE;
/* Lets the device find the table's rows in the store. */
int gnn_gpu_gather_backing(struct gpu_gather *x, struct gather_table *t, unsigned unit,
                           struct gnn_err *e) GNN_MUST_USE;
/* Sets what the device finds in the memory of its clique, whose member `device` it is, for a table
 * of the placement's type. data[devices + 1]: where it finds the placement's parts; slot: the
 * placement's, in its memory. */
int gnn_gpu_gather_place(struct gather_unit *u, struct gather_view *v,
                         const struct gnn_placement *p, uint32_t device, void *const *data,
                         const uint32_t *slot, struct gnn_err *e) GNN_MUST_USE;
/* Puts on the unit's stream: rows id[n] or id64[n] to `out`. */
int gnn_gpu_gather_rows(struct gather_unit *u, const struct gather_view *v, struct gather_copy c,
                        const uint32_t *id, const uint64_t *id64, uint64_t n, void *out,
                        struct gnn_gather_count *count, struct gnn_err *e) GNN_MUST_USE;

#endif
