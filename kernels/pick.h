/* SPDX-License-Identifier: Apache-2.0 */
/* The pick rule: which of a destination's neighbours a batch takes. It is passed by value to CPU,
 * GPU and ranks alike, and is the only place that knows the rules apart: what may be picked, how
 * many at most, which, and how probable that is.
 *
 * A destination that has no more neighbours than it may pick takes them all, in adjacency order.
 * Any other one makes k draws, of which draw j depends on the key, the destination's original id,
 * its tree and j only. Under a rule that takes no neighbour twice, Floyd's algorithm (Bentley,
 * Floyd: "A sample of brilliance", CACM 1987) follows: draw j, one of the first degree - k + j + 1
 * neighbours, gives way to the last of these if it is in the sample already. Weights:
 * kernels/weights.h. */
#ifndef GNN_KERNELS_PICK_H
#define GNN_KERNELS_PICK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernels/rng.h"

enum gnn_pick_kind {
    GNN_PICK_UNIFORM, /* without replacement */
    GNN_PICK_REPLACE  /* with replacement */
};

struct gnn_pick_rule {
    enum gnn_pick_kind kind;
    int32_t fanout; /* neighbours of a destination; 0: none, -1: all */
    bool weighted;  /* in proportion to their weights; those of weight 0 are not eligible */
};

/* Beside the sources of a part's edges, what rules need to know of the edges. Made by
 * lib/sample/edges.c; NULL where the rule needs no such thing. */
struct gnn_pick_edges {
    const uint64_t *sum;      /* (nedges) weights of the row's edges up to this one, from 1 to
                                 2^62 - 1 if it has any */
    const uint32_t *positive; /* (nedges) how many of these have a weight; NULL: all */
};

/* The eligible neighbours of a destination lie among `span` ones from edge `first` of the part on;
 * they are `degree`. */
struct gnn_pick_range {
    uint64_t first;
    uint32_t span, degree;
};

/* ---- what may be picked, and how many ---- */

/* The eligible neighbours of a destination; all that is said of degrees and positions below counts
 * these only. row: its two offsets. False if they fall or leave the nedges edges of the part. */
static GNN_HD bool gnn_pick_eligible(struct gnn_pick_rule r, const struct gnn_pick_edges *a,
                                     const uint64_t *row, uint64_t nedges, struct gnn_pick_range *x)
{
    const uint64_t begin = row[0], end = row[1];
    x->first = begin;
    x->span = x->degree = (uint32_t)(end - begin);
    if (begin > end || end > nedges || end - begin > UINT32_MAX)
        return false;
    if (r.weighted && x->span && a->positive)
        x->degree = a->positive[end - 1];
    return true;
}

static GNN_HD bool gnn_pick_any(struct gnn_pick_rule r)
{
    return r.fanout != 0;
}

static GNN_HD bool gnn_pick_all(struct gnn_pick_rule r)
{
    return r.fanout < 0;
}

/* May a destination pick a neighbour twice? */
static GNN_HD bool gnn_pick_repeats(struct gnn_pick_rule r)
{
    return r.kind == GNN_PICK_REPLACE && r.fanout > 0;
}

/* Draws of a destination that draws; 0: none does. */
static GNN_HD uint32_t gnn_pick_draws(struct gnn_pick_rule r)
{
    return r.fanout < 0 ? 0 : (uint32_t)r.fanout;
}

/* Does a destination of this degree draw, or does it take all, or nothing? */
static GNN_HD bool gnn_pick_is_drawn(struct gnn_pick_rule r, uint32_t degree)
{
    return gnn_pick_repeats(r) ? degree > 0 : r.fanout > 0 && degree > (uint32_t)r.fanout;
}

/* Picks of a destination. */
static GNN_HD uint32_t gnn_pick_count(struct gnn_pick_rule r, uint32_t degree)
{
    return gnn_pick_is_drawn(r, degree) || r.fanout == 0 ? (uint32_t)r.fanout : degree;
}

/* What n destinations pick at most; `all` where they take all that they have. */
static GNN_HD uint64_t gnn_pick_bound(struct gnn_pick_rule r, uint64_t n, uint64_t all)
{
    return r.fanout < 0 ? all : n * (uint32_t)r.fanout;
}

/* ---- which ---- */

/* Draw j of a destination is one of its first degree - gnn_pick_less(r, j) neighbours, uniformly.
 */
static GNN_HD uint32_t gnn_pick_less(struct gnn_pick_rule r, uint32_t j)
{
    const uint32_t k = gnn_pick_draws(r);
    return gnn_pick_repeats(r) || j >= k ? 0 : k - j - 1;
}

/* Draw j of the destination with original id `orig` in a tree (gnn_entry_tree): the position of a
 * neighbour. */
static GNN_HD uint32_t gnn_pick_draw(struct gnn_pick_rule r, const uint32_t key[2], uint32_t orig,
                                     uint32_t tree, uint32_t degree, uint32_t j)
{
    return gnn_rng_below(key, orig, j, tree, degree - gnn_pick_less(r, j));
}

/* Slots of the hash set that Floyd's algorithm needs for k draws, a power of two; and where the
 * search for one begins. */
static GNN_HD uint32_t gnn_pick_set_size(uint32_t k)
{
    uint32_t t = 64;
    while (t < 2 * (uint64_t)k)
        t *= 2;
    return t;
}
static GNN_HD uint32_t gnn_pick_set_slot(uint32_t v, uint32_t size)
{
    return v * 0x9E3779B1u & (size - 1);
}

/* ---- how probable that is ---- */

/* The probability that a destination of this degree, > 0, picks a given neighbour. */
static inline double gnn_pick_chance(struct gnn_pick_rule r, uint32_t degree)
{
    if (r.fanout < 0 || (!gnn_pick_repeats(r) && degree <= (uint32_t)r.fanout))
        return 1;
    return gnn_pick_repeats(r) ? -expm1(r.fanout * log1p(-1 / (double)degree))
                               : r.fanout / (double)degree;
}

#endif
