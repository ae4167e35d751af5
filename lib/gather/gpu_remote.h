/* SPDX-License-Identifier: Apache-2.0 */
/*- Gathering on devices with several ranks: rows of a batch that its device does not find by itself.
 *
 * Before a batch is copied to its device, threads of the host request the rows that are neither in
 * the GPU feature cache nor this rank's own (lib/gather/tiers.h). Replies lie in one
 * staging buffer of pinned memory, which goes to the device in one copy, beside the batch:
 *
 *   parts     struct gnn_gather_part, per field and hop of an edge field: an empty part, this
 *             rank's own parts, the replicated remote rows, and the reply of each rank
 *   numbers   u64, the numbers of the rows wanted, as in gather_rows.row
 *   replies   the rows, as received
 *
 * Replicated remote rows (lib/gather/replica.h) are read in the host's memory. Fields that become
 * narrower do so where they are read, so that devices get, and cache, rows as they go out; int8
 * travels, and is cached, packed with its scales. */
#ifndef GNN_LIB_GATHER_GPU_REMOTE_H
#define GNN_LIB_GATHER_GPU_REMOTE_H

#include "lib/gather/gpu_gather.h"
#include "lib/gather/tiers.h"

/* A field's part of a staging buffer, for each of its hops: offsets, and how many there are. */
struct gather_staged {
    uint64_t part_at, row_at;
    uint64_t nparts, n;
};
struct gather_staging {
    uint64_t nth;        /* of the batch */
    struct gnn_buf data; /* pinned */
    /* Used; parts at the beginning, of which those that are replies have an offset in the buffer as
     * `data` until it is sent; and where the numbers begin. */
    uint64_t bytes, nparts, rows_at;
    struct gather_staged *of; /* [ncounts] as counts are numbered in gpu_gather */
    struct gather_staging *next;
};

/* The queue between the threads that request rows and the gatherer: staging buffers of batches
 * whose rows are here. Counts its holders. */
struct gather_queue {
    struct gatherer *job; /* its own */
    unsigned holders;
    unsigned devices;
    uint32_t *at, ncounts; /* as in gpu_gather */
    /* [njobs] this rank's parts, at addresses that devices read; or none */
    struct gnn_gather_part **own;
    uint32_t *nown;               /* [njobs] */
    const void **copies;          /* [njobs] replicated remote rows, likewise */
    struct gnn_tier_map *map;     /* [devices][nntypes] as each sees it */
    struct gnn_placement *placed; /* [nplaced] what these point to */
    uint64_t nplaced;
    pthread_mutex_t lock;
    struct gather_staging *made, *spare;
    bool closed; /* nobody takes staging buffers any more */
};

/* Takes over job, on failure too. To be put. */
struct gather_queue *gnn_gather_queue_new(struct gnn_gpu *g, struct gatherer *job,
                                          struct gnn_err *e) GNN_MUST_USE;
void gnn_gather_queue_put(void *queue);
/* Nobody takes staging buffers any more; the threads go on as long as other ranks need that. */
void gnn_gather_queue_close(struct gather_queue *q);
/* Copies the addresses at which devices read the tables' parts: once they are open. */
int gnn_gather_queue_parts(struct gather_queue *q, const struct gpu_gather *x,
                           struct gnn_err *e) GNN_MUST_USE;
/* up's batches, each after its rows have come; takes over up, and holds the queue. */
struct gnn_source *gnn_gather_queue_source(struct gnn_source *up, struct gather_queue *q,
                                           unsigned threads, struct gnn_err *e) GNN_MUST_USE;

/* A staging buffer with the replies that f has for b; to be put. */
int gnn_gather_staging_make(struct gather_queue *q, struct gather_rows *f,
                            const struct gnn_batch *b, struct gather_staging **p,
                            struct gnn_err *e) GNN_MUST_USE;
/* The staging buffer of batch nth; NULL: the threads have made none. */
struct gather_staging *gnn_gather_staging_take(struct gather_queue *q, uint64_t nth);
void gnn_gather_staging_put(struct gather_queue *q, struct gather_staging *p); /* takes NULL */
/* Puts the copy on the unit's stream, once; the buffer stays until that is done. */
int gnn_gather_staging_send(const struct gather_queue *q, struct gather_unit *u,
                            struct gather_staging *p, struct gnn_err *e) GNN_MUST_USE;
/* The view of a table, for the rows of the buffer that was sent to the unit, and their numbers. */
struct gather_view gnn_gather_staging_view(const struct gather_unit *u,
                                           const struct gather_view *cached,
                                           const struct gather_staged *k, const uint64_t **rows);

#endif
