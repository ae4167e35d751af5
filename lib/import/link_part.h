/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a split of links: its edges that carry messages, its halo and its links. Not for use
 * outside lib/import. */
#ifndef GNN_LIB_IMPORT_LINK_PART_H
#define GNN_LIB_IMPORT_LINK_PART_H

#include "lib/import/link_sets.h"
#include "lib/store/write.h"

/* A split that is being written, part by part. */
struct gnn_link_writing {
    struct gnn_store *s;
    const struct link_sets *x;
    struct gnn_store_writer w;
    uint64_t *kept[2];              /* (tails + 1) offsets of the edges that carry messages, */
    uint64_t of_set[GNN_LINK_SETS]; /* how many of them each set has; not reverses */
    uint32_t part;
    /* Space of the part. */
    struct link_filling *to; /* bytes on their way into a tensor */
    struct gnn_buf halo;     /* u32: of one node type */
    uint64_t *marks;         /* a bit for each node of a type */
};

/* The sets that are written, links first, then given negatives: set i, and its split. */
enum { LINK_WRITTEN_SETS = 2 * GNN_LINK_SETS };
static inline const struct link_members *link_members_of(const struct gnn_link_writing *k,
                                                         uint32_t i)
{
    return i < GNN_LINK_SETS ? &k->x->set[i] : &k->x->given[i - GNN_LINK_SETS];
}
static inline const char *link_split_of(const struct gnn_link_writing *k, uint32_t i)
{
    return i < GNN_LINK_SETS                         ? GNN_LINK_SPLIT
           : !k->x->each[i - GNN_LINK_SETS]          ? GNN_SHARED_SPLIT
           : link_sets_vary(k->x, i - GNN_LINK_SETS) ? GNN_RAGGED_SPLIT
                                                     : GNN_EACH_SPLIT;
}
static inline enum gnn_dtype link_time_of(const struct gnn_link_writing *k, uint32_t i)
{
    return i < GNN_LINK_SETS ? k->x->time : (enum gnn_dtype)0;
}

/* Takes an object with s and x, to be released on failure, too: numbers the edges that are left. */
int gnn_link_writing_init(struct gnn_link_writing *k, struct gnn_err *e) GNN_MUST_USE;
void gnn_link_writing_release(struct gnn_link_writing *k);
/* Writes part k->part, of a store whose writer has begun. */
int gnn_link_part_write(struct gnn_link_writing *k, struct gnn_err *e) GNN_MUST_USE;

#endif
