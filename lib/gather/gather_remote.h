/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering with several ranks: rows that a rank does not have come from the one that owns them, in
 * one round trip of requests and replies a batch.
 *
 *   request: u32 1; per node type with fields, u32 n, u32 nodes[n]; per hop and edge type with
 *            fields, u32 n, u32 e, u32 destinations[n], u32 edges of each[n], and from the next
 *            multiple of 8 bytes on u64 ids[e]
 *   reply:   per field, and hop of an edges' field, from the next multiple of 64 bytes on, the rows
 *            that were asked for
 *
 * Replies are further parts of a field, where they lie, with rows numbered from the end of the
 * field on: then one pass over a batch's rows collects all of them, local and remote. */
#ifndef GNN_LIB_GATHER_GATHER_REMOTE_H
#define GNN_LIB_GATHER_GATHER_REMOTE_H

#include "lib/comm/request.h"
#include "lib/gather/gather_impl.h"

enum { GATHER_ENDED, GATHER_ASKED }; /* what a message begins with */
enum { GATHER_ALIGN = 64 };

/* The rows that a batch wants of one slot: a node type, or a block of edges. */
struct gather_want {
    uint64_t n;      /* rows */
    uint64_t base;   /* rows of the whole field: rank r's begin at base + r * n */
    uint64_t row_at; /* where its rows' numbers begin in gather_remote.row */
    bool direct; /* this rank's own rows are read where they lie; else it requests them of itself,
                    as they change their element type on the way */
};
/* The rows that one rank requested of one slot. */
struct gather_asked {
    uint64_t n;
    const uint32_t *node; /* [n], or ... */
    uint64_t found_at;    /* ... where the rows' numbers begin in gather_remote.found */
};

/* Per worker. Slots: node types, then hop-major blocks of edge types. */
struct gather_remote {
    struct gnn_request q;
    uint32_t slots;
    const struct gnn_tier_map *map; /* [nntypes] as the batch's rank or device sees rows */
    struct gather_want *want;       /* [slots] */
    uint32_t *count;                /* [slots][ranks] rows that this rank asked of each */
    struct gather_asked *by;        /* [slots][ranks] what each asked of this rank */
    struct gnn_buf owner, row, found;
    struct gnn_gather_part *part; /* [parts + ranks + 1] */
    struct gnn_tier_hits hits;    /* of this batch */
};

/* NULL on failure; takes NULL. */
struct gather_remote *gnn_gather_remote_new(const struct gatherer *g,
                                            struct gnn_err *e) GNN_MUST_USE;
void gnn_gather_remote_free(struct gather_remote *f);
/* All fields of a batch. Every rank does the same for its batch of the same number. */
int gnn_gather_remote_apply(struct gatherer *g, struct gather_remote *f, struct gnn_batch *b,
                            struct gnn_err *e) GNN_MUST_USE;
/* The first part of that, the round trip: f->want and ->row are set, and replies are in f->q.in. */
int gnn_gather_remote_exchange(struct gatherer *g, struct gather_remote *f,
                               const struct gnn_batch *b, struct gnn_err *e) GNN_MUST_USE;
/* The next rows in what has come from rank r: those of a field other than labels, and a hop of it,
 * in the order in which all ranks go through them - jobs, then hops. *n of them, of
 * gnn_gather_job_out bytes each. */
int gnn_gather_remote_next(const struct gatherer *g, struct gather_remote *f,
                           const struct gather_job *j, uint32_t hop, uint32_t r, const void **rows,
                           uint64_t *n, struct gnn_err *e) GNN_MUST_USE;
/* Adds up what a batch had; and how many batches there are, for _end. */
void gnn_gather_remote_count(struct gatherer *g, const struct gather_remote *f,
                             const struct gnn_batch *b);
/* After the last batch: GNN_E_INPUT if another rank has more. */
int gnn_gather_remote_end(struct gatherer *g, struct gnn_err *e) GNN_MUST_USE;

/* Parts of it (lib/gather/remote_ask.c): f->want, f->row and the request queues. */
int gnn_gather_remote_ask(const struct gatherer *g, struct gather_remote *f,
                          const struct gnn_batch *b, struct gnn_err *e) GNN_MUST_USE;
/* The requests of other ranks, f->q.in, into f->by and f->found. */
int gnn_gather_remote_read(const struct gatherer *g, struct gather_remote *f,
                           const struct gnn_batch *b, struct gnn_err *e) GNN_MUST_USE;

/* Does a field other than labels belong to the type; and does none of them change its elements'
 * type on the way? */
bool gnn_gather_remote_fields(const struct gatherer *g, bool edge, uint32_t type, bool *direct);

/* In how many of a batch's hops rows of the field are asked for. */
static inline uint32_t gnn_gather_hops(const struct gather_job *j, const struct gnn_batch *b)
{
    return j->label ? 0 : j->edge ? b->nhops : 1;
}
static inline uint32_t gnn_gather_slot(const struct gatherer *g, const struct gather_job *j,
                                       uint32_t hop)
{
    return j->edge ? g->meta.schema.nntypes + hop * g->meta.schema.netypes + j->type : j->type;
}

#endif
