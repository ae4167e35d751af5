/* SPDX-License-Identifier: Apache-2.0 */
/* One level of a repair (lib/partition/partition.h), and its two halves: parts without vertices are
 * given some, and parts that hold more than they may give some away. Not for use outside
 * lib/partition. */
#ifndef GNN_LIB_PARTITION_REPAIR_H
#define GNN_LIB_PARTITION_REPAIR_H

#include "lib/partition/loads.h"

struct repair {
    const struct gnn_view *v;
    const struct gnn_symgraph *graph; /* or NULL: in-edges of the view */
    uint32_t k, group;                /* a vertex stays in its run of `group` parts */
    uint32_t least;                   /* vertices that a part must have */
    uint32_t *part;
    struct gnn_loads l;
    uint64_t *nodes;       /* [k] vertices of each part */
    uint64_t moves, looks; /* looks: at parts where no neighbours are, that may still be made */
    /* neighbours of the vertex at hand: how many each part has; parts that have some */
    uint32_t *count, *touched, ntouched;
    /* (nvertices) vertices in a queue: the neighbours in lists, and what the queue knows */
    uint32_t *next, *prev, *key;
    uint8_t *tries;
};

/* The neighbours of a vertex other than itself, one after the other; parallel edges count. */
struct neighbours {
    const struct repair *r;
    const uint32_t *at, *end, *orig; /* orig: of the node type in the view; or NULL: as they are */
    uint64_t x, d, base;
    uint32_t t, et; /* et: of the rows that come next */
};
struct neighbours gnn_repair_neighbours(const struct repair *r, uint64_t x);
bool gnn_repair_next(struct neighbours *w, uint64_t *u);

struct gnn_weights gnn_repair_weigh(const struct repair *r, uint64_t x);
void gnn_repair_move(struct repair *r, uint64_t x, uint32_t to, const struct gnn_weights *w);

/* Takes vertices out of parts that hold too much. */
void gnn_repair_relieve(struct repair *r);

/* o->k parts in runs of `group`, of which part[] says who has what; finer: into how many each will
 * be split later. Adds to o->moves. */
int gnn_repair_level(struct gnn_repair *o, const struct gnn_view *v, uint32_t k, uint32_t group,
                     uint32_t finer, uint32_t *part, struct gnn_err *e) GNN_MUST_USE;

#endif
