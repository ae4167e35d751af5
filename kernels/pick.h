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
 * kernels/weights.h. LABOR, which draws nothing for a destination: kernels/labor.h. */
#ifndef GNN_KERNELS_PICK_H
#define GNN_KERNELS_PICK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/rng.h"

enum gnn_pick_kind {
    GNN_PICK_UNIFORM, /* without replacement */
    GNN_PICK_REPLACE, /* with replacement */
    GNN_PICK_LABOR,   /* those whose variates, shared by all destinations, are smallest */
    GNN_PICK_LATEST,  /* the last ones in time */
    GNN_PICK_TOP      /* those with the largest values of a field */
};

enum gnn_pick_until {
    GNN_PICK_ANY_TIME,
    GNN_PICK_UNTIL, /* not later than the entry */
    GNN_PICK_BEFORE /* earlier than the entry */
};

/* Which times of edges are eligible, given that of the entry. Times are whole numbers or, in other
 * stores, real ones, whose bits are in the same place. */
struct gnn_pick_time {
    enum gnn_pick_until until;
    bool windowed, real;
    /* The entry that an edge leads to has the edge's time, not that of the entry it was picked for.
     */
    bool by_edge;
    int64_t window;     /* >= 0: edges that are older than the entry by more are not eligible */
    double window_real; /* of real times, in place of window; finite */
};

struct gnn_pick_rule {
    enum gnn_pick_kind kind;
    int32_t fanout; /* neighbours of a destination; 0: none, -1: all */
    bool weighted;  /* in proportion to their weights; those of weight 0 are not eligible */
    struct gnn_pick_time time;
};

/* The data of a part's edges that rules need beside the sources; NULL where the rule does not need
 * it. */
struct gnn_pick_edges {
    /* (nedges) weights of the row's edges up to this one, from 1 to 2^62 - 1 if it has any */
    const uint64_t *sum;
    const uint32_t *positive; /* (nedges) how many of these have a weight; NULL: all */
    const int64_t *time;      /* (nedges) ascending in each row, or real times, likewise */
    const uint32_t *order;    /* (nedges) positions in the row: by a field, the largest first, and
                                 among equals in adjacency order */
    /* CPU only, to save time: (nedges + GNN_PICK_WINDOW), from a multiple of 64 bytes on, bits of
     * each sum, gnn_weight_high, and of each time, gnn_time_brief; NULL in all parts of a graph or
     * in none */
    const int16_t *high, *brief;
    int64_t least;  /* no time is earlier (gnn_time_order) */
    unsigned shift; /* bits of later ones, less this, that are left out */
};
/* Its arrays (nedges) that devices read, too; and whether they are tensors of the store. */
#define GNN_PICK_ARRAYS(X) X(sum, false) X(positive, false) X(time, true) X(order, false)
enum { GNN_PICK_WINDOW = 32 /* of these, whatever is behind their end, are looked at together */ };

/* The eligible neighbours of a destination lie among `span` ones from edge `first` of the part on;
 * they are `degree`. */
struct gnn_pick_range {
    uint64_t first;
    uint32_t span, degree;
    bool inside; /* the row begins before them */
};

/* ---- what may be picked, and how many ---- */

/* The bits of a real time that is no NaN; those of -0 are those of 0. */
static GNN_HD int64_t gnn_time_bits(double t)
{
    int64_t bits;
    t += 0.0;
    memcpy(&bits, &t, sizeof bits);
    return bits;
}

/* A time that is read, as an entry has it: -0 is 0. */
static GNN_HD int64_t gnn_time_of_entry(bool real, int64_t t)
{
    return real && t == INT64_MIN ? 0 : t;
}

/* A time as a whole number that is ordered as times are. */
static GNN_HD int64_t gnn_time_order(bool real, int64_t t)
{
    if (!real || t >= 0)
        return t;
    return t == INT64_MIN ? 0 : t ^ INT64_MAX; /* -0, or a negative number */
}

/* The earliest time that is eligible for an entry, as such a number. */
static GNN_HD int64_t gnn_time_earliest(const struct gnn_pick_time *r, int64_t entry)
{
    if (!r->windowed)
        return INT64_MIN;
    if (r->real) {
        double t;
        memcpy(&t, &entry, sizeof t);
        return gnn_time_order(true, gnn_time_bits(t - r->window_real));
    }
    return entry < INT64_MIN + r->window ? INT64_MIN : entry - r->window;
}

/* Such a number in 16 bits: never less for a later time; and whether they say all. */
static inline int16_t gnn_time_brief(const struct gnn_pick_edges *a, int64_t order)
{
    const uint64_t d =
        order > a->least ? ((uint64_t)order - (uint64_t)a->least) >> a->shift : UINT64_C(0);
    return (int16_t)((int32_t)(d < UINT16_MAX ? d : UINT16_MAX) + INT16_MIN);
}
static inline bool gnn_time_is_brief(const struct gnn_pick_edges *a, int64_t order)
{
    return !a->shift && order >= a->least && (uint64_t)order - (uint64_t)a->least <= UINT16_MAX;
}

/* How many of n ascending times are before `order` or, with `too`, at it. */
static GNN_HD uint32_t gnn_time_count(const int64_t *time, uint32_t n, bool real, int64_t order,
                                      bool too)
{
    uint32_t low = 0;
    while (n) {
        const uint32_t half = n / 2;
        const int64_t at = gnn_time_order(real, time[low + half]);
        const bool before = at < order || (too && at == order);
        low += before ? half + 1 : 0;
        n = before ? n - half - 1 : half;
    }
    return low;
}

/* All neighbours of a destination. row: its two offsets. False if these fall or leave the nedges
 * edges of the part. */
static GNN_HD bool gnn_pick_row(const uint64_t *row, uint64_t nedges, struct gnn_pick_range *x)
{
    const uint64_t begin = row[0], end = row[1];
    x->first = begin;
    x->span = x->degree = (uint32_t)(end - begin);
    x->inside = false;
    return begin <= end && end <= nedges && end - begin <= UINT32_MAX;
}

/* Cuts x to its neighbours `from` to `to` - 1. */
static GNN_HD void gnn_pick_cut(uint32_t from, uint32_t to, struct gnn_pick_range *x)
{
    x->first += from;
    x->span = x->degree = to - from;
    x->inside |= from > 0;
}

/* Cuts x, where the rule asks for that, to the last ones: as many as are picked, and `more`. */
static GNN_HD void gnn_pick_last(struct gnn_pick_rule r, uint32_t more, struct gnn_pick_range *x)
{
    if (r.kind == GNN_PICK_LATEST && r.fanout >= 0 && x->span > (uint64_t)(uint32_t)r.fanout + more)
        gnn_pick_cut(x->span - ((uint32_t)r.fanout + more), x->span, x);
}

/* And of these, the ones that have a weight, where the rule asks for that; whatever the numbers,
 * which may have been read from a damaged file, at most all. */
static GNN_HD void gnn_pick_weigh(struct gnn_pick_rule r, const struct gnn_pick_edges *a,
                                  struct gnn_pick_range *x)
{
    if (!r.weighted || !x->span || !a->positive)
        return;
    const uint32_t n =
        a->positive[x->first + x->span - 1] - (x->inside ? a->positive[x->first - 1] : 0);
    x->degree = n < x->span ? n : x->span;
}

/* The neighbours of a destination that are eligible by their times. time: the entry's, where the
 * rule asks for times. False as in gnn_pick_row. */
static GNN_HD bool gnn_pick_timed(struct gnn_pick_rule r, const struct gnn_pick_edges *a,
                                  const uint64_t *row, uint64_t nedges, int64_t time,
                                  struct gnn_pick_range *x)
{
    if (!gnn_pick_row(row, nedges, x))
        return false;
    if (r.time.until != GNN_PICK_ANY_TIME) {
        const bool real = r.time.real;
        const int64_t *of = a->time + x->first;
        const uint32_t to = gnn_time_count(of, x->span, real, gnn_time_order(real, time),
                                           r.time.until == GNN_PICK_UNTIL),
                       from = r.time.windowed
                                  ? gnn_time_count(of, to, real, gnn_time_earliest(&r.time, time),
                                                   false)
                                  : 0;
        gnn_pick_cut(from, to, x);
    }
    return true;
}

/* The eligible neighbours of a destination, likewise, if none is excluded; all that is said of
 * degrees and positions below counts these only. */
static GNN_HD bool gnn_pick_eligible(struct gnn_pick_rule r, const struct gnn_pick_edges *a,
                                     const uint64_t *row, uint64_t nedges, int64_t time,
                                     struct gnn_pick_range *x)
{
    if (!gnn_pick_timed(r, a, row, nedges, time, x))
        return false;
    gnn_pick_last(r, 0, x);
    gnn_pick_weigh(r, a, x);
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

/* Does a destination that draws compare all its neighbours? */
static GNN_HD bool gnn_pick_compares(struct gnn_pick_rule r)
{
    return (r.kind == GNN_PICK_LABOR || r.kind == GNN_PICK_TOP) && r.fanout > 0;
}

/* The number of draws of a destination that draws; 0: none draws. */
static GNN_HD uint32_t gnn_pick_draws(struct gnn_pick_rule r)
{
    return r.fanout < 0 ? 0 : (uint32_t)r.fanout;
}

/* Whether a destination of this degree draws; otherwise it takes all neighbours, or none. */
static GNN_HD bool gnn_pick_is_drawn(struct gnn_pick_rule r, uint32_t degree)
{
    return gnn_pick_repeats(r) ? degree > 0 : r.fanout > 0 && degree > (uint32_t)r.fanout;
}

/* Picks of a destination. */
static GNN_HD uint32_t gnn_pick_count(struct gnn_pick_rule r, uint32_t degree)
{
    return gnn_pick_is_drawn(r, degree) || r.fanout == 0 ? (uint32_t)r.fanout : degree;
}

/* An upper bound for the picks of n destinations; `all` where they take all that they have. */
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
