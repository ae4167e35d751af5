/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that a batch wants, numbered by where they lie (lib/gather/tiers.h). */
#ifndef GNN_LIB_GATHER_WANTED_H
#define GNN_LIB_GATHER_WANTED_H

#include "lib/comm/request.h"
#include "lib/gather/gather_impl.h"

/* Row i of those that a tier has for a batch; from: the rank that sends it, or 0. */
#define GATHER_NUMBER(tier, from, i) ((uint64_t)(tier) << 56 | (uint64_t)(from) << 32 | (i))

/* The rows that a batch wants of one slot: a node type, or a block of edges. */
struct gather_want {
    uint64_t n;         /* rows */
    const uint32_t *id; /* of nodes: ids in the store */
    bool whole;         /* all lie in the parts of the field; nodes then have no numbers */
    /* This rank's own rows are read in place. Otherwise their element type changes before they
     * travel, and the rank requests them from itself. */
    bool direct;
    /* where its rows' numbers begin in gather_rows.row, and its owners in .owner */
    uint64_t row_at, owner_at;
};
/* The rows that one rank requested of one slot. */
struct gather_asked {
    uint64_t n;
    const uint32_t *node; /* [n]; NULL for edges */
    uint64_t found_at;    /* of edges: where the rows' numbers begin in gather_rows.found */
};

/* The rows of one batch; per worker. Slots: node types, then hop-major blocks of edge types. */
struct gather_rows {
    const struct gnn_tier_map *map; /* [nntypes] as the batch's rank or device sees rows */
    uint32_t ntypes, slots;
    struct gather_want *want; /* [slots] */
    struct gnn_buf *id;       /* [nntypes] ids in the store, where batches have original ones */
    struct gnn_buf row;       /* [nrows] numbers, of all slots */
    struct gnn_buf owner;     /* [nowners] of nodes, and of edges' destinations */
    uint64_t nrows, nowners;
    struct gnn_gather_part *part; /* of one field: its own, and gnn_gather_parts_added */
    struct gnn_tier_hits hits;
    /* GNN_TIER_REMOTE, with several ranks; else q.ranks is 0 */
    struct gnn_request q;
    uint32_t *count;         /* [slots][ranks] rows that this rank asked of each */
    struct gather_asked *by; /* [slots][ranks] what each asked of this rank */
    struct gnn_buf found;
};

/* The field's own parts and its replicated rows, at addresses that the reader reads. */
struct gather_own {
    const struct gnn_gather_part *part;
    uint32_t nparts;
    const void *copies; /* or NULL */
};

/* Does a field other than labels belong to the type; and do rows of all of them become those of a
 * batch in one way, whether they have travelled or not? */
bool gnn_gather_has_fields(const struct gatherer *g, bool edge, uint32_t type, bool *direct);

/* In how many of a batch's hops rows of the field are asked for. */
static inline uint32_t gnn_gather_hops(const struct gather_job *j, const struct gnn_batch *b)
{
    return j->label ? 0 : gnn_gather_job_hops(j, b);
}
static inline uint32_t gnn_gather_slot(const struct gatherer *g, const struct gather_job *j,
                                       uint32_t hop)
{
    return j->edge ? g->meta.schema.nntypes + hop * g->meta.schema.netypes + j->type : j->type;
}
/* A job of the edge type's fields; there is one. */
static inline const struct gather_job *gnn_gather_edge_job(const struct gatherer *g, uint32_t type)
{
    const struct gather_job *j = g->job;
    while (!j->edge || j->type != type)
        j++;
    return j;
}

#endif
