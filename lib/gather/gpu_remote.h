/* Gathering on devices with several ranks: what a batch takes that its device has not.
 *
 * Before a batch is brought to its device the host asks the other ranks for the rows that are
 * neither kept by devices it reaches nor this rank's own (lib/gather/remote.h). What comes of it is
 * one packet, which goes to the device in one copy beside the batch: parts     struct
 * gnn_gather_part: of each field, and hop of an edges' field, this rank's own parts, what came from
 * each rank, and what is kept of others' numbers   u64: of the rows wanted, as gather_remote.row
 * has them rows      as they came Copies of others' rows that the host keeps (lib/gather/replica.h)
 * are read there. Fields that change their elements' type do so where they are read, so that
 * devices get, and keep, rows as they go out. */
#ifndef GNN_LIB_GATHER_GPU_REMOTE_H
#define GNN_LIB_GATHER_GPU_REMOTE_H

#include "lib/gather/remote.h"
#include "lib/gather/gpu_gather.h"

/* Of a field, and hop: places in the packet, and how many there are. */
struct gather_staged {
    uint64_t part_at, row_at;
    uint64_t nparts, n;
};
struct gather_staging {
    uint64_t nth;             /* of the batch */
    struct gnn_buf data;      /* pinned */
    uint64_t bytes, nparts;   /* used; all parts, at the beginning. Data of what came are places in
                                 the packet until it is sent */
    struct gather_staged *of; /* [ncounts] as counts are numbered in gpu_gather */
    struct gather_staging *next;
};

/* What the threads that ask and the gatherer share. */
struct gather_queue {
    struct gatherer *job; /* its own */
    unsigned holders;
    unsigned devices;
    uint32_t *at, ncounts; /* as in gpu_gather */
    struct gnn_gather_part *
        *own;          /* [njobs] this rank's parts, at addresses that devices reach; or none */
    uint32_t *nown;    /* [njobs] */
    const void **kept; /* [njobs] copies of others' rows, likewise */
    struct gnn_tier_map *map;     /* [devices][nntypes] as each sees it */
    struct gnn_placement *placed; /* [nplaced] what these point to */
    uint64_t nplaced;
    pthread_mutex_t lock;
    struct gather_staging *made, *spare;
    bool closed; /* nobody takes packets any more */
};

/* Takes over job, on failure too. To be put. */
struct gather_queue *gnn_gather_queue_new(struct gnn_gpu *g, struct gatherer *job,
                                          struct gnn_err *e) GNN_MUST_USE;
void gnn_gather_queue_put(void *line);
/* Nobody takes packets any more; the threads go on as long as other ranks need that. */
void gnn_gather_queue_close(struct gather_queue *l);
/* Copies what devices reach of the tables' parts: once they are open. */
int gnn_gather_queue_parts(struct gather_queue *l, const struct gpu_gather *x,
                           struct gnn_err *e) GNN_MUST_USE;
/* up's batches, each after its rows were asked for; takes over up, and holds the line. */
struct gnn_source *gnn_gather_queue_source(struct gnn_source *up, struct gather_queue *l,
                                           unsigned threads, struct gnn_err *e) GNN_MUST_USE;

/* A packet of what f has met with for b; to be given back. */
int gnn_gather_staging_make(struct gather_queue *l, struct gather_remote *f,
                            const struct gnn_batch *b, struct gather_staging **p,
                            struct gnn_err *e) GNN_MUST_USE;
/* That of batch nth, which the threads have made; NULL: there is none. */
struct gather_staging *gnn_gather_staging_take(struct gather_queue *l, uint64_t nth);
void gnn_gather_staging_put(struct gather_queue *l, struct gather_staging *p); /* takes NULL */
/* Puts the copy on the unit's stream, once; the packet stays until that is done. */
int gnn_gather_staging_send(const struct gather_queue *l, struct gather_unit *u,
                            struct gather_staging *p, struct gnn_err *e) GNN_MUST_USE;
/* The view of a table, for rows as the packet that was sent to the unit has them, and their
 * numbers. */
struct gather_view gnn_gather_staging_view(const struct gather_unit *u,
                                           const struct gather_view *cached,
                                           const struct gather_staged *k, const uint64_t **rows);

#endif
