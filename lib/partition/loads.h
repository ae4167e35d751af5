/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of parts while vertices are being given to them, against the allowed ones. Not for use
 * outside lib/partition. */
#ifndef GNN_LIB_PARTITION_LOADS_H
#define GNN_LIB_PARTITION_LOADS_H

#include <stdbool.h>

#include "lib/partition/partition.h"

/* A vertex without a part, in an array of parts: UNPLACED | the first part that it may have. */
#define GNN_UNPLACED ((uint32_t)1 << 31)

struct gnn_load_con {
    enum gnn_balance what; /* NODES, EDGES, SETS or TYPES */
    uint32_t type;         /* TYPES: the node type */
    uint64_t *member;      /* SETS: a bit per vertex */
    uint64_t total, cap;   /* of all vertices; of one part, at most */
};

/* Parts 0..k-1 come in runs of `group`: a vertex may have the parts of its own run only. */
struct gnn_loads {
    const struct gnn_view *view;
    uint32_t k, group, ncon, leaves;
    struct gnn_load_con con[GNN_METIS_CONSTRAINTS_MAX];
    uint64_t *load; /* [k][ncon] */
    /* [k / group][ncon][leaves]: a tournament each, the winner's number in [1] */
    uint32_t *lightest;
    uint64_t bytes; /* held */
};

/* Weights of one vertex. */
struct gnn_weights {
    uint64_t of[GNN_METIS_CONSTRAINTS_MAX];
};

/* No part may be heavier than even->imbalance times the average, rounded down, but always the
 * average, rounded up; nor heavier than `finer` parts of an equal split into k * finer. group
 * divides k. On failure it is to be released as well. */
int gnn_loads_init(struct gnn_loads *l, const struct gnn_view *v, const struct gnn_even *even,
                   uint32_t k, uint32_t group, uint32_t finer, struct gnn_err *e) GNN_MUST_USE;
void gnn_loads_release(struct gnn_loads *l);
/* All parts empty. */
void gnn_loads_clear(struct gnn_loads *l);

/* Node d of type t. */
struct gnn_weights gnn_loads_weigh(const struct gnn_loads *l, uint32_t t, uint64_t d);
void gnn_loads_add(struct gnn_loads *l, uint32_t p, const struct gnn_weights *w);
void gnn_loads_take(struct gnn_loads *l, uint32_t p, const struct gnn_weights *w);

/* The part with the least of constraint c in the run that begins with part lo; the first of
 * several. */
static inline uint32_t gnn_loads_lightest(const struct gnn_loads *l, uint32_t c, uint32_t lo)
{
    return l->leaves == 1 ? lo
                          : l->lightest[((size_t)(lo / l->group) * l->ncon + c) * l->leaves + 1];
}
/* Load in units of what is allowed, the highest over the constraints that the vertex counts for. */
double gnn_loads_fill(const struct gnn_loads *l, uint32_t p, const struct gnn_weights *w);
/* How much more there would be too much with the vertex, in units of what is allowed, summed over
 * the constraints. */
double gnn_loads_excess(const struct gnn_loads *l, uint32_t p, const struct gnn_weights *w);
/* How much less there would be too much without the vertex, which it holds: likewise. */
double gnn_loads_relief(const struct gnn_loads *l, uint32_t p, const struct gnn_weights *w);
bool gnn_loads_fits(const struct gnn_loads *l, uint32_t p, const struct gnn_weights *w);
/* The part holds more than it may of something that this vertex counts for. */
bool gnn_loads_over(const struct gnn_loads *l, uint32_t p, const struct gnn_weights *w);
/* Any part holds more than it may. */
bool gnn_loads_any_over(const struct gnn_loads *l);

#endif
