/* How the edges of a type run: how many have their reverse, how many are self-loops or equal to another one. Counted as edges
 * stream by, in any order, in bounded memory: exactly as long as the pairs of nodes fit, else from a sample of the pairs,
 * chosen by a hash, of which all edges are counted. Whether every edge has its reverse, as often as it is there itself, is known in
 * any case: the hashes of the pairs, added for edges that run up and subtracted for those that run down, are 0 then,
 * and otherwise with probability 2^-64. */
#ifndef GNN_LIB_DIRECTION_H
#define GNN_LIB_DIRECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

enum {
    GNN_DIRECTION_BYTES = 16,      /* memory for each pair that is kept */
    GNN_DIRECTION_ROOM = 1 << 21,  /* pairs kept where edges stream in from elsewhere, */
    GNN_DIRECTION_QUICK = 1 << 18, /* and where that is quick, so that counting is no large part of it */
};

/* Of the edges counted. Edges between two node types have no reverse and are no loops. Whole numbers, but estimates where
 * looked < edges - loops. */
struct gnn_direction {
    uint64_t edges, loops;
    uint64_t looked;   /* edges, loops aside, from which the following is known */
    uint64_t reversed; /* edges whose reverse is there */
    uint64_t parallel; /* edges that are equal to another one, which is not counted; loops too */
    bool symmetric;    /* every edge has its reverse: known, not estimated */
};

struct gnn_direction_counter {
    uint64_t *x;           /* [room] n edges by the hash of their pair, which is a bijection; of one node type the lowest bit says whether
                            * an edge runs down, from the larger id to the smaller */
    uint64_t *times;       /* [room] how often the first `merged` of them were there, or NULL; the others, once */
    uint64_t n, merged, room, most;
    uint64_t first, last;  /* hashes of the pairs that are looked at in this part */
    uint32_t part, parts;
    bool same, swap;
    bool few;              /* pairs, for all that is known: merging equal edges has made room so far */
    uint64_t nodes;
    uint64_t edges, loops, loops_again, balance;
    uint64_t *looped; /* bit per node, once there is a loop */
    uint64_t looked, pairs, two_way, two_way_edges; /* of the parts that are done */
};

/* same: both ends are of one node type, of `nodes` nodes. swap: of two types, (destination, source) is the pair, so that the
 * balance compares edges with those of a type that runs the other way. At most `most` pairs are kept at a time: with
 * several parts the same edges are added again for each, and looked at in turn. */
void gnn_direction_init(struct gnn_direction_counter *c, bool same, bool swap, uint64_t nodes, uint64_t most, uint32_t parts);
int gnn_direction_add(struct gnn_direction_counter *c, const uint32_t *src, const uint32_t *dst, uint64_t n,
                      struct gnn_err *e) GNN_MUST_USE;
/* After all edges: *more says whether they are to be added once more, for the next part. */
int gnn_direction_next(struct gnn_direction_counter *c, bool *more, struct gnn_err *e) GNN_MUST_USE;
/* What was counted, or would be of the graph made of these edges: `both` after adding the reverse of each that is no
 * loop, `drop` without loops, `dedup` without what is parallel. */
void gnn_direction_sum(const struct gnn_direction_counter *c, bool both, bool drop, bool dedup, struct gnn_direction *d);
/* Takes a zeroed object. */
void gnn_direction_release(struct gnn_direction_counter *c);

/* The share of edges, loops aside, whose reverse is there; 1 if there are none. */
double gnn_direction_share(const struct gnn_direction *d);
/* Whether these are estimates. */
static inline bool gnn_direction_estimated(const struct gnn_direction *d)
{
    return d->looked < d->edges - d->loops;
}

#endif
