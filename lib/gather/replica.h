/* Rows of other ranks' nodes that this rank keeps, those that its batches will want most often. */
#ifndef GNN_LIB_GATHER_REPLICA_H
#define GNN_LIB_GATHER_REPLICA_H

#include "lib/gather/far.h"

/* Node -> row, by open addressing with linear probing. */
struct gather_kept {
    uint32_t *key, *row; /* [mask + 1]; key UINT32_MAX: free */
    uint32_t mask;
    uint64_t n;
    uint32_t *node; /* [n] by row */
};
struct gather_replica {
    struct gather_kept *of; /* [nntypes] */
    void **data;            /* [njobs] rows of each node field, as they travel; NULL: of another kind */
    uint32_t ntypes, njobs;
};

/* Chooses as o says and fetches the rows; collective. NULL on failure. */
struct gather_replica *gnn_gather_replica_new(struct gatherer *g, const struct gnn_gather_replicate *o,
                                              struct gnn_err *e) GNN_MUST_USE;
void gnn_gather_replica_free(struct gather_replica *r); /* takes NULL */

/* The row of a node, or UINT32_MAX. */
static inline uint32_t gnn_gather_kept(const struct gather_kept *k, uint32_t node)
{
    if (!k->n)
        return UINT32_MAX;
    uint32_t at = (node * 0x9e3779b1u) & k->mask;
    while (k->key[at] != node) {
        if (k->key[at] == UINT32_MAX)
            return UINT32_MAX;
        at = (at + 1) & k->mask;
    }
    return k->row[at];
}

#endif
