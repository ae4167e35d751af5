/* SPDX-License-Identifier: Apache-2.0 */
/* Replicated remote features: copies of rows that other ranks own, which this rank's batches will
 * want most often. */
#ifndef GNN_LIB_GATHER_REPLICA_H
#define GNN_LIB_GATHER_REPLICA_H

#include "lib/base/node_map.h"
#include "lib/gather/tiers.h"

struct gather_copies {
    struct gnn_node_map map;
    uint64_t n;
    uint32_t *node; /* [n] by row */
};
struct gather_replica {
    struct gather_copies *of; /* [nntypes] */
    void **data; /* [njobs] rows of each node field, as they travel; NULL: of another kind */
    uint32_t ntypes, njobs;
};

/* Chooses as o says and fetches the rows; collective. took: what that took, or NULL. NULL on
 * failure. */
struct gather_replica *gnn_gather_replica_new(struct gatherer *g,
                                              const struct gnn_gather_replicate *o,
                                              struct gnn_gather_copying *took,
                                              struct gnn_err *e) GNN_MUST_USE;
void gnn_gather_replica_free(struct gather_replica *r); /* takes NULL */

#endif
