/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling one hop along one edge type on the CPU (kernels/sample.h). gnn_sample_count reads the
 * offsets of all destinations and makes indptr; gnn_sample_pick draws and reads neighbours. The
 * graph is larger than the caches, so both are pipelines: addresses are computed and prefetched for
 * one group of destinations while the lines of earlier groups arrive. */
#include "kernels/sample.h"

#include <string.h>

#include "kernels/cpu/draw.h"
#include "kernels/cpu/labor_picks.h"
#include "kernels/cpu/number.h"
#include "kernels/cpu/skip.h"
#include "kernels/cpu/times.h"
#include "kernels/cpu/weighted.h"
#include "kernels/owner.h"
#include "kernels/pick.h"

enum {
    LANES = GNN_DRAW_LANES,
    GROUP_PICKS = 1024, /* picks of a group of destinations that go through the pipeline */
    GROUP_ROWS = 256,   /* destinations of a group with weights, of which up to LANES draw */
    AHEAD = 64,         /* destinations of which offsets are fetched ahead, times are searched
                           together, and the sum is checked: GNN_CHUNK on devices */
    RING = 2 * AHEAD,   /* destinations whose part is known */
    GROUPS = 4          /* in flight */
};
_Static_assert((int)AHEAD == (int)GNN_SKIP_MARKED, "destinations that are marked together");
_Static_assert((int)AHEAD <= (int)GNN_TIME_SEARCHES, "searches for the times of a group");

/* A group in flight: addresses of picks while their lines travel, then the sources read there. */
struct group {
    const uint32_t *at[GROUP_PICKS];
    uint32_t source[GROUP_PICKS];
    uint64_t hash[GROUP_PICKS]; /* of sources that are numbered by other columns, too */
    uint32_t n, out;            /* picks; where they go */
    uint32_t row, rows;         /* first destination; how many */
};
struct scratch {
    struct group group[GROUPS];
    struct gnn_weighted_group weighted[2]; /* with weights: of groups in turns */
    uint32_t x[GNN_DRAW_MAX * LANES] __attribute__((aligned(64)));
    uint32_t table[]; /* Floyd's set for large fan-outs, or what LABOR needs */
};

uint64_t gnn_sample_scratch(struct gnn_pick_rule rule)
{
    const uint32_t k = gnn_pick_draws(rule);
    const uint64_t set = k > GNN_DRAW_MAX ? gnn_pick_set_size(k) * sizeof(uint32_t) : 0,
                   more = gnn_pick_compares(rule) ? gnn_labor_scratch(k) : set;
    return (sizeof(struct scratch) + more + 63) / 64 * 64;
}

static inline uint32_t find_part(const struct gnn_sample_graph *g, uint32_t v)
{
    return g->nparts == 1 ? 0 : gnn_owner_find(&g->part->first, sizeof *g->part, g->nparts, v);
}

#define NO_PART UINT32_MAX
/* The part that a destination is in, or NO_PART; asks for the lines of its two offsets. */
GNN_INLINE uint32_t look_up(const struct gnn_sample_graph *g, uint32_t node)
{
    const uint32_t p = find_part(g, node);
    const struct gnn_sample_part *a = &g->part[p];
    const uint64_t v = node - a->first;
    if (v >= a->count)
        return NO_PART;
    __builtin_prefetch(&a->indptr[v], 0, 3);
    __builtin_prefetch(&a->indptr[v + 1], 0, 3); /* of every eighth node, in another line */
    if (a->orig)
        __builtin_prefetch(&a->orig[v], 0, 2);
    return p;
}

/* Destinations whose neighbours are searched for times together. */
struct timed_group {
    uint32_t good; /* those before the first that is in no part or has bad offsets */
    struct gnn_pick_range x[AHEAD];
    struct gnn_time_search until[AHEAD], from[AHEAD];
};

/* What is searched for the destinations from i0 on. part: a ring. */
static void ask_times(const struct gnn_sample_job *job, uint32_t i0, const uint32_t *part,
                      struct timed_group *g)
{
    const struct gnn_pick_time *t = &job->rule.time;
    const uint32_t n = job->n - i0 < AHEAD ? job->n - i0 : AHEAD;
    for (g->good = 0; g->good < n; g->good++) {
        const uint32_t k = g->good, i = i0 + k, p = part[i % RING];
        if (p == NO_PART)
            return;
        const struct gnn_sample_part *a = &job->graph.part[p];
        struct gnn_pick_range *x = &g->x[k];
        if (!gnn_pick_row(&a->indptr[job->dst.node[i] - a->first], a->nedges, x))
            return;
        const int64_t time = gnn_entry_time(&job->dst, i);
        gnn_time_search_set(&g->until[k], &a->pick, x->first, x->span,
                            gnn_time_order(t->real, time));
        if (t->windowed)
            gnn_time_search_set(&g->from[k], &a->pick, x->first, x->span,
                                gnn_time_earliest(t, time));
    }
}

/* Finds the neighbours of g that are eligible by time; meanwhile fetches what decides for next. */
static void cut_by_time(const struct gnn_pick_time *t, struct timed_group *g,
                        struct timed_group *next)
{
    gnn_time_search_all(g->until, g->good, next->until, next->good, t->real,
                        t->until == GNN_PICK_UNTIL);
    if (t->windowed)
        gnn_time_search_all(g->from, g->good, next->from, next->good, t->real, false);
    for (uint32_t i = 0; i < g->good; i++) {
        const uint32_t to = g->until[i].found, begin = t->windowed ? g->from[i].found : 0;
        gnn_pick_cut(begin < to ? begin : to, to, &g->x[i]);
    }
}

/* What gnn_sample_pick needs to know of destination i, in part p, which picks from x; returns how
 * many it picks. */
GNN_INLINE uint32_t put_row(const struct gnn_sample_job *job, uint32_t i, uint32_t p,
                            struct gnn_pick_range x)
{
    const struct gnn_sample_part *a = &job->graph.part[p];
    const bool marked = job->mark && job->mark[i / 64].bits >> i % 64 & 1;
    const uint32_t skipped = marked ? gnn_skip_find(job, i, a->indices, &x) : 0;
    gnn_pick_last(job->rule, skipped, &x);
    gnn_pick_weigh(job->rule, &a->pick, &x);
    x.degree -= skipped < x.degree ? skipped : x.degree; /* less: of damaged numbers */
    job->row[i].base = a->indices + x.first;
    job->row[i].degree = x.degree;
    job->row[i].orig = a->orig ? a->orig[job->dst.node[i] - a->first] : job->dst.node[i];
    if (job->span)
        job->span[i] = (struct gnn_sample_span){x.span, p & INT32_MAX, x.inside};
    return gnn_pick_count(job->rule, x.degree);
}

/* Offsets of later destinations are fetched one by one, between rows that are counted: all at once,
 * they would wait for each other. */
enum gnn_sample_status gnn_sample_count(const struct gnn_sample_job *job,
                                        struct gnn_sample_place *bad)
{
    const struct gnn_sample_graph *g = &job->graph;
    const uint32_t *dst = job->dst.node, n = job->n;
    const bool timed = job->rule.time.until != GNN_PICK_ANY_TIME;
    uint32_t part[RING], *indptr = job->indptr, seen = 0;
    uint64_t total = 0;
    struct timed_group group[2]; /* in turns: one is searched, one is being fetched */
    struct gnn_pick_range x;
    for (; seen < n && seen < (timed ? 2 * AHEAD : AHEAD); seen++)
        part[seen] = look_up(g, dst[seen]);
    if (timed) {
        group[1].good = 0;
        ask_times(job, 0, part, &group[0]);
        cut_by_time(&job->rule.time, &group[1], &group[0]);
    }
    indptr[0] = 0;
    for (uint32_t from = 0, to, turn = 0; from < n; from = to, turn ^= 1) {
        to = n - from < AHEAD ? n : from + AHEAD;
        if (job->mark)
            gnn_skip_mark(job, from);
        if (timed) {
            ask_times(job, to, part, &group[turn ^ 1]);
            cut_by_time(&job->rule.time, &group[turn], &group[turn ^ 1]);
        }
        for (uint32_t i = from; i < to; i++) {
            const uint32_t p = part[i % RING];
            if (seen < n) {
                part[seen % RING] = look_up(g, dst[seen]);
                seen++;
            }
            if (p == NO_PART) {
                *bad = (struct gnn_sample_place){.node = dst[i]};
                return GNN_SAMPLE_NODE;
            }
            const struct gnn_sample_part *a = &g->part[p];
            if (timed ? i - from == group[turn].good
                      : !gnn_pick_row(&a->indptr[dst[i] - a->first], a->nedges, &x)) {
                *bad = (struct gnn_sample_place){.node = dst[i], .part = p};
                return GNN_SAMPLE_INDPTR;
            }
            total += put_row(job, i, p, timed ? group[turn].x[i - from] : x);
            indptr[i + 1] = (uint32_t)total;
        }
        /* Once per group: 64 destinations add less than 2^38 to a sum of 64 bits. */
        if (total >= UINT32_MAX) {
            *bad = (struct gnn_sample_place){.node = dst[from]};
            return GNN_SAMPLE_MANY;
        }
    }
    return GNN_SAMPLE_OK;
}

/* Those of destination i's edges that it does not pick. */
static inline struct gnn_skip skip_of(const struct gnn_sample_job *job, uint32_t i)
{
    return gnn_skip_of(job->mark, job->skip, i);
}

/* What destination i may pick, or skips, and the part that its edges are in; of a rule with weights
 * only. */
static inline const struct gnn_sample_part *range_of(const struct gnn_sample_job *job, uint32_t i,
                                                     struct gnn_pick_range *x)
{
    const struct gnn_sample_span s = job->span[i];
    const struct gnn_sample_part *a = &job->graph.part[s.part];
    x->first = (uint64_t)(job->row[i].base - a->indices);
    x->span = s.span;
    x->degree = job->row[i].degree;
    x->inside = s.inside;
    return a;
}

/* Which of s->weighted is that of g: groups in a row take turns. */
_Static_assert(GROUPS % 2 == 0, "the last group and the first take turns, too");
static uint32_t turn_of(const struct scratch *s, const struct group *g)
{
    return (g - s->group) & 1;
}

/* Makes destination i the next one of a group. */
static inline void put_weighted(const struct gnn_sample_job *job, uint32_t i,
                                struct gnn_weighted_group *g)
{
    const struct gnn_sample_row *row = &job->row[i];
    struct gnn_pick_range x;
    const struct gnn_sample_part *a = range_of(job, i, &x);
    gnn_weighted_put(g, &a->pick, &x, skip_of(job, i), row->base, row->orig,
                     gnn_entry_tree(&job->dst, i));
}

/* Where neighbour j, from 0, of those that destination i may pick is in its row. */
static uint32_t nth_choice(const struct gnn_sample_job *job, uint32_t i, uint32_t j)
{
    const struct gnn_skip s = skip_of(job, i);
    const uint32_t *base = job->row[i].base;
    if (!job->span || !job->graph.part[job->span[i].part].pick.positive)
        return gnn_skip_nth(s, base, j);
    struct gnn_pick_range x;
    const struct gnn_weights w = gnn_weights_of(&range_of(job, i, &x)->pick, &x);
    for (uint32_t q = 0; q < s.n && gnn_weight_nth(&w, j) >= s.edge[q] - base; q++)
        j++;
    return gnn_weight_nth(&w, j);
}

/* Fetches the totals of the rows that the next group draws from, which begins at destination i. */
GNN_FETCH void fetch_totals(const struct gnn_sample_job *job, uint32_t i)
{
    uint32_t drawn = 0;
    for (uint32_t to = i + GROUP_ROWS; i < job->n && i < to && drawn < LANES; i++) {
        if (!gnn_pick_is_drawn(job->rule, job->row[i].degree))
            continue;
        struct gnn_pick_range x;
        const struct gnn_sample_part *a = range_of(job, i, &x);
        __builtin_prefetch(a->pick.sum + x.first + x.span - 1, 0, 2);
        drawn++;
    }
}

/* Makes a group of destination i and those that follow, as many as there is space for, and puts
 * those that draw into g; returns how many it has in all. 0: destination i goes alone. */
static uint32_t fill_group(const struct gnn_sample_job *job, uint32_t i,
                           struct gnn_weighted_group *g)
{
    const bool large = gnn_pick_draws(job->rule) > GNN_DRAW_MAX;
    uint32_t n = 0;
    g->n = 0;
    for (; n < GROUP_ROWS && i + n < job->n; n++) {
        const bool drawn = gnn_pick_is_drawn(job->rule, job->row[i + n].degree);
        if (job->indptr[i + n + 1] - job->indptr[i] > GROUP_PICKS ||
            (drawn && (large || g->n == LANES)))
            break;
        if (drawn)
            put_weighted(job, i + n, g);
    }
    return n;
}

/* The addresses of a group's picks. The l-th of its destinations that draw has the positions
 * x[l * across + j * down], j = 0, 1, ... */
static void put_addresses(const struct gnn_sample_job *job, struct group *g, const uint32_t *x,
                          uint32_t across, uint32_t down)
{
    const uint32_t *ptr = job->indptr + g->row;
    const uint32_t **at = g->at;
    for (uint32_t i = 0; i < g->rows; i++) {
        const struct gnn_sample_row row = job->row[g->row + i];
        const uint32_t c = ptr[i + 1] - ptr[i];
        const bool drawn = gnn_pick_is_drawn(job->rule, row.degree);
        for (uint32_t j = 0; j < c; j++) {
            at[j] = row.base + (drawn ? x[j * down] : nth_choice(job, g->row + i, j));
            __builtin_prefetch(at[j], 0, 2);
        }
        at += c;
        x += drawn ? across : 0;
    }
}

/* Stage 1 of a rule with weights, in two halves: draws numbers for `next`, and looks up those of
 * `drawn`, the group before it, which gives the addresses of its picks. One of them may be NULL. */
static void draw_weighted(const struct gnn_sample_job *job, struct scratch *s,
                          const struct group *next, struct group *drawn)
{
    const uint32_t turn = next ? turn_of(s, next) : turn_of(s, drawn) ^ 1;
    struct gnn_weighted_group *drawing = &s->weighted[turn], *was = &s->weighted[turn ^ 1];
    if (next)
        fetch_totals(job, next->row + next->rows);
    else
        drawing->n = 0;
    if (!drawn)
        was->n = 0;
    gnn_weighted_few(job->rule, job->key, drawing, was);
    if (drawn)
        put_addresses(job, drawn, was->at, 1, LANES);
}

/* Where rows begin that are compared next; what follows, the processor fetches by itself. */
GNN_FETCH void fetch_rows(const struct gnn_sample_job *job, uint32_t i0)
{
    for (uint32_t i = i0; i < job->n && i < i0 + LANES; i++) {
        const uint32_t *base = job->row[i].base;
        for (uint32_t j = 0; j < GNN_LABOR_FETCHED && j < job->row[i].degree; j += 16)
            __builtin_prefetch(base + j, 0, 2);
    }
}

/* Positions of the k neighbours of destination i, of more than k that are eligible, which come
 * first in the row's order. Of a damaged order: any. */
static void take_top(const struct gnn_sample_job *job, uint32_t i, uint32_t k, uint32_t *x)
{
    const struct gnn_sample_part *a = &job->graph.part[find_part(&job->graph, job->dst.node[i])];
    const uint64_t *ptr = &a->indptr[job->dst.node[i] - a->first], n = ptr[1] - ptr[0];
    const struct gnn_skip skip = skip_of(job, i);
    const uint32_t *order = a->pick.order + ptr[0], *base = job->row[i].base,
                   span = job->row[i].degree + skip.n,
                   before = (uint32_t)((uint64_t)(base - a->indices) - ptr[0]);
    uint32_t found = 0;
    for (uint64_t j = 0; j < n && found < k; j++)
        if (order[j] - before < span && !gnn_skip_has(skip, base + (order[j] - before)))
            x[found++] = order[j] - before;
    while (found < k)
        x[found++] = 0;
}

/* Fetches where the orders of a group's destinations begin. */
GNN_FETCH void fetch_orders(const struct gnn_sample_job *job, const struct group *g)
{
    for (uint32_t i = g->row; i < g->row + g->rows; i++) {
        const struct gnn_sample_part *a =
            &job->graph.part[find_part(&job->graph, job->dst.node[i])];
        __builtin_prefetch(a->pick.order + a->indptr[job->dst.node[i] - a->first], 0, 2);
    }
}

static inline struct gnn_labor_row labor_row(const struct gnn_sample_job *job, uint32_t i)
{
    const struct gnn_skip s = skip_of(job, i);
    const struct gnn_labor_row row = {job->row[i].base, job->row[i].degree + s.n, s};
    return row;
}

/* Stage 1 of a rule that compares. */
static void draw_compared(const struct gnn_sample_job *job, struct scratch *s, struct group *g)
{
    const uint32_t k = gnn_pick_draws(job->rule);
    const bool top = job->rule.kind == GNN_PICK_TOP;
    struct gnn_labor_row drawing[LANES];
    uint32_t many = 0;
    if (top)
        fetch_orders(job, g);
    else
        fetch_rows(job, g->row + g->rows);
    for (uint32_t i = g->row; i < g->row + g->rows; i++) {
        const bool drawn = gnn_pick_is_drawn(job->rule, job->row[i].degree);
        if (top && drawn)
            take_top(job, i, k, s->x + many * k);
        drawing[many] = labor_row(job, i);
        many += drawn;
    }
    if (!top)
        gnn_labor_pick(&job->graph, k, job->key, drawing, many, s->table, s->x);
    put_addresses(job, g, s->x, k, 1);
}

/* Which of a group's destinations have excluded edges, as bits: without weights, it has LANES at
 * most. */
static inline uint64_t skipping_rows(const struct gnn_sample_job *job, const struct group *g)
{
    const struct gnn_skip_marks *m = &job->mark[g->row / 64];
    const uint32_t at = g->row % 64;
    const uint64_t bits = m[0].bits >> at | (at + g->rows > 64 ? m[1].bits << (64 - at) : 0);
    return bits & ((UINT64_C(1) << g->rows) - 1);
}

/* Picks of a group that are numbers among the edges which are not skipped become these edges. */
static void pass_skipped(const struct gnn_sample_job *job, struct group *g)
{
    const uint32_t *ptr = job->indptr + g->row;
    for (uint64_t bits = skipping_rows(job, g); bits; bits &= bits - 1) {
        const uint32_t l = (uint32_t)__builtin_ctzll(bits), n = ptr[l + 1] - ptr[l];
        const struct gnn_skip s = skip_of(job, g->row + l);
        const uint32_t *base = job->row[g->row + l].base, **at = g->at + (ptr[l] - ptr[0]);
        for (uint32_t j = 0; j < n; j++)
            at[j] = base + gnn_skip_nth(s, base, (uint32_t)(at[j] - base));
        for (uint32_t j = 0; j < n; j++)
            __builtin_prefetch(at[j], 0, 2);
    }
}

/* Stage 1 of the others. */
static void draw_uniform(const struct gnn_sample_job *job, struct scratch *s, struct group *g)
{
    const struct gnn_sample_row *row = job->row + g->row;
    const uint32_t *ptr = job->indptr + g->row;
    const uint32_t k = gnn_pick_draws(job->rule), n = g->rows;
    uint32_t id[LANES] __attribute__((aligned(64))), degree[LANES] __attribute__((aligned(64))),
        tree[LANES] __attribute__((aligned(64)));
    uint32_t mask = 0;
    /* Lanes that take all their neighbours, or are empty, draw below k, for nothing: no branch in
     * the loop. */
    for (uint32_t l = 0; l < LANES; l++) { /* lanes that take all compute too, for nothing */
        const uint32_t d = l < n ? row[l].degree : 0;
        const bool drawn = gnn_pick_is_drawn(job->rule, d);
        id[l] = l < n ? row[l].orig : 0;
        degree[l] = drawn ? d : k;
        mask |= (uint32_t)drawn << l;
    }
    for (uint32_t l = 0; l < LANES && job->dst.tree; l++)
        tree[l] = l < n ? job->dst.tree[g->row + l] : 0;
    if (mask)
        gnn_draw16(job->rule, job->key, id, job->dst.tree ? tree : NULL, degree, s->x);
    const uint32_t **at = g->at;
    for (uint32_t l = 0; l < n; l++) {
        const uint32_t *base = row[l].base;
        const uint32_t c = ptr[l + 1] - ptr[l];
        if (mask >> l & 1) {
            for (uint32_t j = 0; j < c; j++) {
                at[j] = base + s->x[j * LANES + l];
                __builtin_prefetch(at[j], 0, 2);
            }
        } else {
            for (uint32_t j = 0; j < c; j++) {
                at[j] = base + j;
                __builtin_prefetch(at[j], 0, 2);
            }
        }
        at += c;
    }
    if (job->mark)
        pass_skipped(job, g);
}

/* Stage 1: draws for the group `next`. Returns the group whose addresses this gives, prefetched, or
 * NULL: `next` itself or, with weights, `drawn`, the one before it. Either may be NULL. */
static struct group *draw_group(const struct gnn_sample_job *job, struct scratch *s,
                                struct group *next, struct group *drawn)
{
    if (job->span && (next || drawn))
        draw_weighted(job, s, next, drawn);
    if (job->span)
        return drawn;
    if (next && gnn_pick_compares(job->rule))
        draw_compared(job, s, next);
    else if (next)
        draw_uniform(job, s, next);
    return next;
}

/* Which edge an address is, for messages and edge ids. */
static uint64_t edge_of(const struct gnn_sample_job *job, uint32_t i, const uint32_t *at,
                        uint32_t *part)
{
    *part = find_part(&job->graph, job->dst.node[i]);
    return (uint64_t)(at - job->graph.part[*part].indices);
}

/* Of the picks of destination i from number `from` on, n of them: ids, and times. */
static void tell_edges(const struct gnn_sample_job *job, uint32_t i, const uint32_t *const *at,
                       uint32_t from, uint32_t n, uint64_t *ids)
{
    for (uint32_t j = 0; j < n; j++) {
        uint32_t p;
        const uint64_t e = edge_of(job, i, at[j], &p);
        const struct gnn_sample_part *a = &job->graph.part[p];
        if (ids)
            ids[from + j] = a->id ? a->id[e] : e;
        if (job->times)
            job->times[from + j] = gnn_time_of_entry(job->rule.time.real, a->pick.time[e]);
    }
}

/* The same of all picks of a group, if ids or times are wanted. */
static void tell_group(const struct gnn_sample_job *job, const struct group *g, uint64_t *ids)
{
    for (uint32_t i = g->row; (ids || job->times) && i < g->row + g->rows; i++)
        tell_edges(job, i, g->at + (job->indptr[i] - g->out), job->indptr[i],
                   job->indptr[i + 1] - job->indptr[i], ids);
}

static enum gnn_sample_status bad_source(const struct gnn_sample_job *job, uint32_t out,
                                         const uint32_t *at, struct gnn_sample_place *bad)
{
    uint32_t lo = 0, hi = job->n - 1; /* the last row that starts at or before out */
    while (lo < hi) {
        uint32_t mid = hi - (hi - lo) / 2;
        if (job->indptr[mid] <= out)
            lo = mid;
        else
            hi = mid - 1;
    }
    bad->node = job->dst.node[lo];
    bad->edge = edge_of(job, lo, at, &bad->part);
    return GNN_SAMPLE_SOURCE;
}

/* Stage 2: reads the sources, and prefetches what says their local numbers, if they get some.
 * Returns the index of the first bad pick, or g->n. */
static uint32_t read_sources(const struct gnn_sample_job *job, const struct gnn_relabel *r,
                             struct group *g)
{
    const uint32_t n = g->n, *const *at = g->at, *map = r && !r->slot ? r->map : NULL;
    const uint64_t nsrc = job->graph.nsrc;
    for (uint32_t j = 0; j < n; j++) {
        const uint32_t v = *at[j];
        if (__builtin_expect(v >= nsrc, 0))
            return j;
        g->source[j] = v;
        if (map)
            __builtin_prefetch(&map[v], 1, 3);
    }
    if (r && r->slot)
        gnn_hash_sources(r, &job->dst, job->indptr, g->row, g->out, g->source, n, g->hash);
    return n;
}

/* Stage 3: numbers the sources, or copies them if they keep their ids. */
static void put_sources(const struct gnn_sample_job *job, struct gnn_relabel *r,
                        const struct group *g, uint32_t *indices)
{
    uint32_t *out = indices + g->out;
    if (r && r->slot)
        (void)gnn_number_sources(r, &job->dst, job->indptr, g->row, g->out, g->source, g->n,
                                 g->hash, out);
    else if (r)
        gnn_number(r, g->source, g->n, out);
    else if (g->n) /* else there may be no array */
        memcpy(out, g->source, g->n * sizeof *out);
}

/* Floyd's algorithm with a hash set, for fan-outs beyond GNN_DRAW_MAX. */
static void floyd_large(const struct gnn_sample_job *job, uint32_t i, uint32_t k, uint32_t *table,
                        uint32_t *x)
{
    const struct gnn_sample_row *row = &job->row[i];
    const uint32_t size = gnn_pick_set_size(k), d = row->degree,
                   tree = gnn_entry_tree(&job->dst, i);
    memset(table, 0xff, size * sizeof *table);
    for (uint32_t j = 0; j < k; j++) {
        uint32_t t = gnn_pick_draw(job->rule, job->key, row->orig, tree, d, j);
        /* At most two rounds: the draw itself, then its substitute. */
        for (int again = 0; again < 2; again++) {
            uint32_t h = gnn_pick_set_slot(t, size);
            while (table[h] != UINT32_MAX && table[h] != t)
                h = (h + 1) & (size - 1);
            if (table[h] != t) {
                table[h] = t;
                break;
            }
            t = d - k + j; /* never in the set yet */
        }
        x[j] = t;
    }
}

/* The positions that a destination draws which has more picks than a group holds. */
static void draw_large(const struct gnn_sample_job *job, struct scratch *s, uint32_t i, uint32_t n,
                       uint32_t *x)
{
    const struct gnn_sample_row *row = &job->row[i];
    const uint32_t tree = gnn_entry_tree(&job->dst, i);
    const struct gnn_skip skip = skip_of(job, i);
    if (job->span) {
        struct gnn_weighted_group *g = &s->weighted[0];
        g->n = 0;
        put_weighted(job, i, g);
        gnn_weighted_many(job->rule, job->key, g, s->table, x);
    } else if (job->rule.kind == GNN_PICK_TOP)
        take_top(job, i, n, x);
    else if (gnn_pick_compares(job->rule)) {
        const struct gnn_labor_row of = labor_row(job, i);
        gnn_labor_pick(&job->graph, n, job->key, &of, 1, s->table, x);
    } else if (gnn_pick_repeats(job->rule))
        for (uint32_t j = 0; j < n; j++)
            x[j] =
                gnn_skip_nth(skip, row->base,
                             gnn_pick_draw(job->rule, job->key, row->orig, tree, row->degree, j));
    else {
        floyd_large(job, i, n, s->table, x);
        for (uint32_t j = 0; skip.n && j < n; j++)
            x[j] = gnn_skip_nth(skip, row->base, x[j]);
    }
}

/* One destination that has more picks than a group holds is done in pieces. Until then its output
 * array holds the offsets that were drawn. */
static enum gnn_sample_status pick_large(const struct gnn_sample_job *job, struct scratch *s,
                                         uint32_t i, struct gnn_relabel *r, uint32_t *indices,
                                         uint64_t *ids, struct gnn_sample_place *bad)
{
    const struct gnn_sample_row *row = &job->row[i];
    const uint32_t first = job->indptr[i], n = job->indptr[i + 1] - first;
    const bool drawn = gnn_pick_is_drawn(job->rule, row->degree);
    uint32_t *out = indices + first;
    struct group *g = &s->group[0];
    if (drawn)
        draw_large(job, s, i, n, out);
    for (uint32_t from = 0; from < n; from += GROUP_PICKS) {
        const uint32_t m = n - from < GROUP_PICKS ? n - from : GROUP_PICKS;
        for (uint32_t j = 0; j < m; j++) {
            g->at[j] = row->base + (drawn ? out[from + j] : nth_choice(job, i, from + j));
            __builtin_prefetch(g->at[j], 0, 2);
        }
        if (ids || job->times)
            tell_edges(job, i, g->at, first + from, m, ids);
        g->row = i;
        g->out = first + from;
        g->n = m;
        const uint32_t got = read_sources(job, r, g);
        if (got < m)
            return bad_source(job, g->out + got, g->at[got], bad);
        put_sources(job, r, g, indices);
    }
    return GNN_SAMPLE_OK;
}

/* How many destinations from i on form the next group: at most LANES, with at most GROUP_PICKS
 * picks in all, none of which needs the hash set. 0: destination i goes alone. */
static uint32_t group_size(const struct gnn_sample_job *job, uint32_t i)
{
    uint32_t n = job->n - i < LANES ? job->n - i : LANES;
    while (n && job->indptr[i + n] - job->indptr[i] > GROUP_PICKS)
        n--;
    if (gnn_pick_draws(job->rule) > GNN_DRAW_MAX && !gnn_pick_compares(job->rule))
        for (uint32_t l = 0; l < n; l++)
            if (gnn_pick_is_drawn(job->rule, job->row[i + l].degree))
                return l;
    return n;
}

/* Begins a group, in the slot g, with destination i. NULL: destination i goes alone. */
static struct group *begin_group(const struct gnn_sample_job *job, struct scratch *s, uint32_t i,
                                 struct group *g)
{
    g->row = i;
    g->rows = job->span ? fill_group(job, i, &s->weighted[turn_of(s, g)]) : group_size(job, i);
    g->out = job->indptr[i];
    g->n = job->indptr[i + g->rows] - g->out;
    return g->rows ? g : NULL;
}

enum gnn_sample_status gnn_sample_pick(const struct gnn_sample_job *job, struct gnn_relabel *r,
                                       uint32_t *indices, uint64_t *ids,
                                       struct gnn_sample_place *bad)
{
    struct scratch *s = job->scratch;
    uint32_t i = 0; /* the next destination */
    /* groups that have begun, have addresses, have been read, are done */
    uint32_t begun = 0, known = 0, read = 0, done = 0;
    while (i < job->n || done < begun) {
        struct group *drawn = known < begun ? &s->group[known % GROUPS] : NULL,
                     *next = i < job->n ? begin_group(job, s, i, &s->group[begun % GROUPS]) : NULL;
        if (!next && done == begun) {
            const enum gnn_sample_status rc = pick_large(job, s, i++, r, indices, ids, bad);
            if (rc)
                return rc;
            continue;
        }
        begun += next != NULL;
        i += next ? next->rows : 0;
        const struct group *ready = draw_group(job, s, next, drawn);
        if (ready) {
            known++;
            tell_group(job, ready, ids);
        }
        /* A stage works on a group only when the next group has entered the stage before it, so
         * that lines have time to arrive; at the end, and before a large destination, the pipeline
         * is emptied. */
        if (known - read > 1 || (!next && read < known)) {
            struct group *g = &s->group[read++ % GROUPS];
            const uint32_t got = read_sources(job, r, g);
            if (got < g->n)
                return bad_source(job, g->out + got, g->at[got], bad);
        }
        if (read - done > 1 || (!next && done < read))
            put_sources(job, r, &s->group[done++ % GROUPS], indices);
    }
    return GNN_SAMPLE_OK;
}
