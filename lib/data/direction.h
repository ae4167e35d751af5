/* SPDX-License-Identifier: Apache-2.0 */
/* The directions of the edges of a type: how many edges have their reverse, are self-loops, or are
 * equal to another edge. Edges are counted as they are added, in any order, in bounded memory. The
 * counts are exact if all pairs of nodes fit into that memory. Otherwise they are estimates: a hash
 * chooses a sample of the pairs, and all edges of these pairs are counted. Whether the type is
 * symmetric is determined from all edges in either case: `balance` sums the hashes of the pairs,
 * with a minus for edges from the larger id to the smaller. It is 0 if each edge has as many
 * reverses as copies, and otherwise 0 with probability 2^-64. */
#ifndef GNN_LIB_DATA_DIRECTION_H
#define GNN_LIB_DATA_DIRECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hash.h"

enum {
    /* of the memory to sort for each pair: they take a quarter of it */
    GNN_DIRECTION_BYTES = 128,
    GNN_DIRECTION_CAPACITY = 1 << 21, /* capacity in pairs for edges that are read from files, */
    /* and for generated edges, where counting must not take much of the time */
    GNN_DIRECTION_QUICK = 1 << 18,
};

/* The counts. Edges between two node types have no reverse and are no loops. `reversed` and
 * `parallel` are estimates if looked < edges - loops. */
struct gnn_direction {
    uint64_t edges, loops;
    uint64_t looked;   /* edges, without loops, that the following counts are based on */
    uint64_t reversed; /* edges whose reverse is present */
    uint64_t parallel; /* edges beyond the first of each set of equal ones, with loops */
    bool symmetric;    /* every edge has its reverse; never an estimate */
};

struct gnn_direction_counter {
    /* Pairs of this part whose edges were counted, in the order of their groups. */
    struct gnn_buf pairs_at; /* [npairs] */
    struct gnn_hash table;   /* of the hashes of a group's pairs, which are bijections */
    struct gnn_buf waiting;  /* [nwaiting] hashes of this part's edges that are not counted yet */
    uint64_t npairs, nwaiting;
    uint64_t most; /* pairs and hashes that wait */
    int group_bits;
    uint64_t first, last; /* hashes of the pairs that are looked at in this part */
    uint32_t part, parts;
    bool same, swap;
    bool sampled; /* pairs of this part have been left out */
    uint64_t nodes;
    uint64_t edges, loops, loops_again, balance;
    uint64_t *looped;                               /* bit per node, once there is a loop */
    uint64_t looked, pairs, two_way, two_way_edges; /* of the parts that are done */
};

/* same: both ends are of one node type, of `nodes` nodes. swap: of two types, (destination, source)
 * is the pair, so that the balance compares edges with those of a type that runs the other way. At
 * most `most` pairs are kept at a time: with several parts the same edges are added again for each,
 * and looked at in turn. */
void gnn_direction_init(struct gnn_direction_counter *c, bool same, bool swap, uint64_t nodes,
                        uint64_t most, uint32_t parts);
int gnn_direction_add(struct gnn_direction_counter *c, const uint32_t *src, const uint32_t *dst,
                      uint64_t n, struct gnn_err *e) GNN_MUST_USE;
/* Called after all edges were added: *more says whether they must be added again, for the next
 * part. */
int gnn_direction_next(struct gnn_direction_counter *c, bool *more, struct gnn_err *e) GNN_MUST_USE;
/* The counts of the edges that were added, or of the graph that is made of them: `both` with the
 * reverse of each edge that is no loop, `drop` without loops, `dedup` without parallel edges. */
void gnn_direction_sum(const struct gnn_direction_counter *c, bool both, bool drop, bool dedup,
                       struct gnn_direction *d);
/* Takes a zeroed object. */
void gnn_direction_release(struct gnn_direction_counter *c);

/* The share of edges, without loops, whose reverse is present; NaN if there are none. */
double gnn_direction_share(const struct gnn_direction *d);
/* Whether these are estimates. */
static inline bool gnn_direction_estimated(const struct gnn_direction *d)
{
    return d->looked < d->edges - d->loops;
}

#endif
