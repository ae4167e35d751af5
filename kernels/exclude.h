/* SPDX-License-Identifier: Apache-2.0 */
/* Edges that are excluded: no destination picks them, under any rule, as if the graph had never had
 * them. So they are absent before the draw, and others are drawn in their place. A batch of links
 * excludes the links that it asks for.
 *
 * They are few, and so are the destinations that have any. Whatever a rule does, it needs two
 * answers: which of the edges that a destination may pick are excluded, and where the j-th of the
 * others is. Like picks, edges are told by the addresses of their sources. The same for CPU and
 * GPU. */
#ifndef GNN_KERNELS_EXCLUDE_H
#define GNN_KERNELS_EXCLUDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/hd.h"
#include "kernels/pick.h"

/* The excluded ones of some edges that follow one another. */
struct gnn_skip {
    const uint32_t *const *edge; /* (n) ascending */
    uint32_t n;
};

/* All that are excluded of an edge type: a hash table by destination, of which less than half is
 * in use; and bits by which most others are known not to be there, for they are looked up, too. */
struct gnn_excluded {
    const uint32_t *node;      /* (slots) or UINT32_MAX: none */
    const struct gnn_skip *of; /* (slots) */
    const uint64_t *filter;    /* (8 * slots) bits */
    uint32_t mask, shift;      /* slots - 1; 32 less the bits of that, at least 3 */
};

static GNN_HD uint32_t gnn_excluded_hash(uint32_t node)
{
    return node * 0x9E3779B1u;
}
static GNN_HD uint32_t gnn_excluded_bit(const struct gnn_excluded *x, uint32_t node)
{
    return gnn_excluded_hash(node) >> (x->shift - 3);
}
/* A bit; 0: no edges to the node are excluded. */
static GNN_HD uint64_t gnn_excluded_may(const struct gnn_excluded *x, uint32_t node)
{
    const uint32_t bit = gnn_excluded_bit(x, node);
    return x->filter[bit / 64] >> bit % 64 & 1;
}
static GNN_HD uint32_t gnn_excluded_slot(const struct gnn_excluded *x, uint32_t node)
{
    uint32_t h = gnn_excluded_hash(node) >> x->shift;
    while (x->node[h] != node && x->node[h] != UINT32_MAX)
        h = (h + 1) & x->mask;
    return h;
}
static GNN_HD struct gnn_skip gnn_excluded_of(const struct gnn_excluded *x, uint32_t node)
{
    const struct gnn_skip none = {NULL, 0};
    const uint32_t h = gnn_excluded_slot(x, node);
    return x->node[h] == node ? x->of[h] : none;
}

/* Which of 64 destinations that follow one another have some, and where those of the first are in
 * a list of all. */
struct gnn_skip_marks {
    uint64_t bits;
    uint32_t first;
};
static inline uint32_t gnn_skip_number(const struct gnn_skip_marks *m, uint32_t i)
{
    return m->first + (uint32_t)__builtin_popcountll(m->bits & ((UINT64_C(1) << i % 64) - 1));
}
static inline struct gnn_skip gnn_skip_of(const struct gnn_skip_marks *mark,
                                          const struct gnn_skip *skip, uint32_t i)
{
    const struct gnn_skip none = {NULL, 0};
    const struct gnn_skip_marks *m = mark ? &mark[i / 64] : NULL;
    return m && m->bits >> i % 64 & 1 ? skip[gnn_skip_number(m, i)] : none;
}

/* How many are before `at`. */
static GNN_HD uint32_t gnn_skip_before(struct gnn_skip s, const uint32_t *at)
{
    uint32_t low = 0;
    while (low < s.n) {
        const uint32_t mid = low + (s.n - low) / 2;
        if (s.edge[mid] < at)
            low = mid + 1;
        else
            s.n = mid;
    }
    return low;
}
static GNN_HD bool gnn_skip_has(struct gnn_skip s, const uint32_t *at)
{
    const uint32_t i = gnn_skip_before(s, at);
    return i < s.n && s.edge[i] == at;
}
/* A part of them: those among the `span` edges from `base` on. */
static GNN_HD struct gnn_skip gnn_skip_within(struct gnn_skip s, const uint32_t *base,
                                              uint32_t span)
{
    const uint32_t from = gnn_skip_before(s, base), to = gnn_skip_before(s, base + span);
    const struct gnn_skip in = {s.edge + from, to - from};
    return in;
}
/* The number of those that have to be passed to find k others, from `end` backwards. */
static GNN_HD uint32_t gnn_skip_among_last(struct gnn_skip s, const uint32_t *end, uint32_t k)
{
    uint32_t n = 0;
    while (n < s.n && (uint64_t)(end - s.edge[s.n - 1 - n]) <= (uint64_t)k + n)
        n++;
    return n;
}
/* The excluded edges of `node` that have to be passed when it picks from x, whose sources are in
 * `indices`. */
static GNN_HD struct gnn_skip gnn_skip_passed(const struct gnn_excluded *all, uint32_t node,
                                              struct gnn_pick_rule rule, const uint32_t *indices,
                                              const struct gnn_pick_range *x)
{
    struct gnn_skip s = gnn_excluded_of(all, node);
    if (rule.time.until != GNN_PICK_ANY_TIME) /* else x is the row */
        s = gnn_skip_within(s, indices + x->first, x->span);
    if (s.n && rule.kind == GNN_PICK_LATEST && !gnn_pick_all(rule)) {
        const uint32_t last =
            gnn_skip_among_last(s, indices + x->first + x->span, gnn_pick_draws(rule));
        s.edge += s.n - last;
        s.n = last;
    }
    return s;
}
/* The place, from `base` on, of number j of the others, from 0. */
static GNN_HD uint32_t gnn_skip_nth(struct gnn_skip s, const uint32_t *base, uint32_t j)
{
    if (s.n == 1) /* mostly; without a branch, which would be one of chance */
        return j + (uint32_t)((uint64_t)(s.edge[0] - base) <= j);
    uint32_t low = 0; /* the first with more than j others before it */
    while (low < s.n) {
        const uint32_t mid = low + (s.n - low) / 2;
        if ((uint64_t)(s.edge[mid] - base) - mid <= j)
            low = mid + 1;
        else
            s.n = mid;
    }
    return j + low;
}

#endif
