/* SPDX-License-Identifier: Apache-2.0 */
/* Streaming partitioners, LDG and Fennel (lib/partition/streaming.h; formulas in
 * lib/partition/partition.h). Vertices are visited in order, several times; each goes to the part
 * where most of its neighbours are, minus a price of that part's load. A run of parts belongs to
 * one node of --two-level: a vertex moves within its run only. */
#include "lib/partition/streaming.h"

#include <math.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/rand.h"
#include "lib/partition/loads.h"

/* Vertices and, of each, neighbours that are prefetched; a vote has 16 bits; passes that may
 * relieve a part. */
enum { AHEAD = 2, AHEAD_MOST = 128, VOTES_MOST = 0xffff, RELIEVE_MOST = 20 };

struct stream {
    const struct gnn_view *v;
    struct gnn_stream *o;
    uint32_t k, group;
    uint32_t *part; /* GNN_UNPLACED | first part of the run: not placed yet */
    uint32_t *vote; /* (nvertices) part << 16 | count, or NULL */
    struct gnn_loads l;
    double *price; /* [k][ncon] LDG: 1 - load / cap; Fennel: cost of a unit of weight */
    double rate[GNN_METIS_CONSTRAINTS_MAX],
        average[GNN_METIS_CONSTRAINTS_MAX]; /* Fennel: cost at the average load; that load */
    uint32_t *count;                        /* [group] neighbours in the run's parts */
    uint32_t *touched;                      /* [group] those that are not 0 */
    uint32_t ntouched;
    uint64_t moved, counted,
        kept; /* in this pass: vertices; neighbours, and those in the part that was chosen */
};

/* ---- what the graph is like ---- */

/* The run of parts that vertex x belongs to; in the first level all parts are one run. */
static uint32_t run_of(const struct stream *s, uint64_t x)
{
    return (s->part[x] & ~GNN_UNPLACED) / s->group;
}

/* Sums of hashes of (u, x) and of (x, u) are equal if each edge has its reverse: out-neighbours are
 * then in-neighbours, and no votes are needed. */
static struct gnn_stream_graph graph_state(const struct stream *s)
{
    const struct gnn_view *view = s->v;
    const struct gnn_schema *sc = &view->store->meta.schema;
    uint64_t there = 0, back = 0, edges = 0;
    for (uint32_t et = 0; et < sc->netypes; et++) {
        const uint32_t src = sc->etype[et].src, dst = sc->etype[et].dst;
#pragma omp parallel for schedule(dynamic, 4096) num_threads(s->o->threads) reduction(+ : there, back, edges)
        for (uint64_t d = 0; d < sc->ntype[dst].count; d++) {
            const struct gnn_view_row row = gnn_view_row(view, et, d);
            const uint64_t x = view->base[dst] + d;
            for (uint64_t i = 0; i < row.n; i++) {
                const uint64_t u = view->base[src] + gnn_view_orig(view, src, row.indices[i]);
                if (u == x || (s->group < s->k && run_of(s, u) != run_of(s, x)))
                    continue;
                edges++;
                there += gnn_rand_pair(u, x);
                back += gnn_rand_pair(x, u);
            }
        }
    }
    return (struct gnn_stream_graph){edges, there == back};
}

/* ---- loads and their prices ---- */

static void set_prices(struct stream *s, uint32_t p)
{
    const uint32_t ncon = s->l.ncon;
    for (uint32_t c = 0; c < ncon; c++) {
        const double load = (double)s->l.load[(size_t)p * ncon + c];
        s->price[(size_t)p * ncon + c] = s->o->rule == GNN_STREAM_LDG
                                             ? 1 - load / (double)s->l.con[c].cap
                                             : s->rate[c] * sqrt(load / s->average[c]);
    }
}

static void place_vertex(struct stream *s, uint32_t p, const struct gnn_weights *w)
{
    gnn_loads_add(&s->l, p, w);
    set_prices(s, p);
}

static void clear_loads(struct stream *s)
{
    gnn_loads_clear(&s->l);
    for (uint32_t p = 0; p < s->k; p++)
        set_prices(s, p);
}

/* ---- one vertex ---- */

static void add_to_counts(struct stream *s, uint32_t q, uint32_t n)
{
    if (!s->count[q])
        s->touched[s->ntouched++] = q;
    s->count[q] += n;
    s->counted += n;
}

/* Where the neighbours of node d of type t (vertex x) are, among the parts of the run from lo. */
static void count_neighbours(struct stream *s, uint32_t t, uint64_t d, uint64_t x, uint32_t lo)
{
    const struct gnn_view *v = s->v;
    const struct gnn_schema *sc = &v->store->meta.schema;
    const uint32_t *part = s->part, group = s->group;
    for (uint32_t et = 0; et < sc->netypes; et++) {
        if (sc->etype[et].dst != t)
            continue;
        const uint32_t src = sc->etype[et].src, *orig = v->to_orig[src];
        const struct gnn_view_row row = gnn_view_row(v, et, d);
        const uint64_t base = v->base[src];
        for (uint64_t i = 0; i < row.n; i++) {
            const uint64_t u = base + (orig ? orig[row.indices[i]] : row.indices[i]);
            const uint32_t q = part[u] - lo; /* unplaced and of other runs: beyond the run */
            if (q < group && u != x)
                add_to_counts(s, q, 1);
        }
    }
    if (s->vote && (s->vote[x] & VOTES_MOST)) {
        add_to_counts(s, (s->vote[x] >> 16) - lo, s->vote[x] & VOTES_MOST);
        s->vote[x] = 0;
    }
}

/* Stores know in-edges only, so where the out-neighbours of a vertex are is collected as votes: x,
 * which goes to part p, votes for p as the place of its in-neighbours. Each keeps one candidate and
 * a count (Boyer and Moore's majority vote). */
static void cast_votes(struct stream *s, uint32_t t, uint64_t d, uint64_t x, uint32_t p,
                       uint32_t lo)
{
    const struct gnn_view *v = s->v;
    const struct gnn_schema *sc = &v->store->meta.schema;
    for (uint32_t et = 0; et < sc->netypes; et++) {
        if (sc->etype[et].dst != t)
            continue;
        const uint32_t src = sc->etype[et].src;
        const struct gnn_view_row row = gnn_view_row(v, et, d);
        for (uint64_t i = 0; i < row.n; i++) {
            const uint64_t u = v->base[src] + gnn_view_orig(v, src, row.indices[i]);
            uint32_t *vote = &s->vote[u];
            const uint32_t n = *vote & VOTES_MOST;
            if (u == x || (s->part[u] & ~GNN_UNPLACED) - lo >= s->group)
                continue;
            if (!n)
                *vote = p << 16 | 1;
            else if (*vote >> 16 != p)
                --*vote;
            else
                *vote += n < VOTES_MOST;
        }
    }
}

static void prefetch_row(const struct stream *s, uint32_t t, uint64_t d)
{
    const struct gnn_view *v = s->v;
    const struct gnn_schema *sc = &v->store->meta.schema;
    if (d >= sc->ntype[t].count)
        return;
    for (uint32_t et = 0; et < sc->netypes; et++) {
        if (sc->etype[et].dst != t)
            continue;
        const uint32_t src = sc->etype[et].src;
        const struct gnn_view_row row = gnn_view_row(v, et, d);
        for (uint64_t i = 0; i < row.n && i < AHEAD_MOST; i++) {
            const uint64_t u = v->base[src] + gnn_view_orig(v, src, row.indices[i]);
            __builtin_prefetch(&s->part[u]);
            if (s->vote)
                __builtin_prefetch(&s->vote[u], 1);
        }
    }
}

/* How well a vertex would be served by a part. */
struct bid {
    uint32_t p;
    bool fits;
    double score;    /* if it does not fit: minus what would be too much */
    double capacity; /* LDG's factor; Fennel's score has it in it */
};

static struct bid bid_of(const struct stream *s, uint32_t p, uint32_t neighbours,
                         const struct gnn_weights *w)
{
    const double *price = s->price + (size_t)p * s->l.ncon;
    const bool ldg = s->o->rule == GNN_STREAM_LDG;
    struct bid b = {.p = p, .fits = gnn_loads_fits(&s->l, p, w), .score = neighbours};
    double factor = 1;
    if (!b.fits) {
        b.score = -gnn_loads_excess(&s->l, p, w);
        return b;
    }
    for (uint32_t c = 0; c < s->l.ncon; c++) {
        if (!w->of[c])
            continue;
        if (ldg)
            factor = price[c] < factor ? price[c] : factor;
        else
            b.score -= (double)w->of[c] * price[c];
    }
    b.score *= factor;
    b.capacity = factor;
    return b;
}

static bool is_better(const struct bid *a, const struct bid *b, uint32_t old)
{
    if (a->fits != b->fits)
        return a->fits;
    if (a->score > b->score || a->score < b->score)
        return a->score > b->score;
    /* Staying is better than moving between equals, so that passes settle. */
    if (a->p == old || b->p == old)
        return a->p == old;
    if (a->capacity > b->capacity || a->capacity < b->capacity)
        return a->capacity > b->capacity;
    return a->p < b->p;
}

static void consider_part(const struct stream *s, struct bid *best, uint32_t p, uint32_t lo,
                          uint32_t old, const struct gnn_weights *w)
{
    const struct bid b = bid_of(s, p, s->count[p - lo], w);
    if (is_better(&b, best, old))
        *best = b;
}

/* Parts where neighbours are, the lightest, and where it was; all of the run if none of these has
 * space. */
static struct bid choose_part(const struct stream *s, uint32_t lo, uint32_t old,
                              const struct gnn_weights *w)
{
    const uint32_t lightest = gnn_loads_lightest(&s->l, 0, lo);
    struct bid best = bid_of(s, lightest, s->count[lightest - lo], w);
    for (uint32_t i = 0; i < s->ntouched; i++)
        consider_part(s, &best, lo + s->touched[i], lo, old, w);
    for (uint32_t c = 1; c < s->l.ncon; c++)
        if (w->of[c])
            consider_part(s, &best, gnn_loads_lightest(&s->l, c, lo), lo, old, w);
    if (!(old & GNN_UNPLACED))
        consider_part(s, &best, old, lo, old, w);
    for (uint32_t p = lo; !best.fits && p < lo + s->group; p++)
        consider_part(s, &best, p, lo, old, w);
    return best;
}

static void forget_counts(struct stream *s)
{
    for (uint32_t i = 0; i < s->ntouched; i++)
        s->count[s->touched[i]] = 0;
    s->ntouched = 0;
}

static uint32_t run_start(const struct stream *s, uint32_t p)
{
    return (p & ~GNN_UNPLACED) / s->group * s->group;
}

static void visit_vertex(struct stream *s, uint32_t t, uint64_t d)
{
    const uint64_t x = s->v->base[t] + d;
    const uint32_t old = s->part[x], lo = run_start(s, old);
    const struct gnn_weights w = gnn_loads_weigh(&s->l, t, d);
    prefetch_row(s, t, d + AHEAD);
    count_neighbours(s, t, d, x, lo);
    const uint32_t p = choose_part(s, lo, old, &w).p;
    s->kept += s->count[p - lo];
    forget_counts(s);
    place_vertex(s, p, &w);
    s->part[x] = p;
    s->moved += p != old;
    if (s->vote)
        cast_votes(s, t, d, x, p, lo);
}

/* Moves a vertex out of a part that is too heavy in something that the vertex has, if that reduces
 * the excess in all. */
static void relieve_part(struct stream *s, uint32_t t, uint64_t d)
{
    const uint64_t x = s->v->base[t] + d;
    const uint32_t old = s->part[x], lo = run_start(s, old);
    const struct gnn_weights w = gnn_loads_weigh(&s->l, t, d);
    if (!gnn_loads_over(&s->l, old, &w))
        return;
    count_neighbours(s, t, d, x, lo);
    gnn_loads_take(&s->l, old, &w);
    const uint32_t p = choose_part(s, lo, old, &w).p;
    forget_counts(s);
    place_vertex(s, p, &w);
    set_prices(s, old);
    s->part[x] = p;
    s->moved += p != old;
}

/* ---- passes ---- */

static void walk_vertices(struct stream *s, void (*fn)(struct stream *s, uint32_t t, uint64_t d))
{
    const struct gnn_schema *sc = &s->v->store->meta.schema;
    for (uint32_t t = 0; t < sc->nntypes; t++)
        for (uint64_t d = 0; d < sc->ntype[t].count; d++)
            fn(s, t, d);
}

static int run_passes(struct stream *s, struct gnn_err *e)
{
    uint64_t cut_before = 0, moved_before = 0;
    for (uint32_t pass = 0; pass < s->o->passes; pass++) {
        clear_loads(s);
        s->moved = s->counted = s->kept = 0;
        walk_vertices(s, visit_vertex);
        s->o->passes_done++;
        s->o->moved = s->moved;
        if (s->o->done && s->o->done(s->o->arg, pass))
            return gnn_fail(e, GNN_E_STOPPED, "stopped after pass %u", pass);
        /* Neither settling nor getting better; the first pass sees only some neighbours, so what it
         * cuts tells nothing. */
        const uint64_t cut = s->counted - s->kept;
        /* A pass that improves the cut by less than 0.5 % and still moves more than three quarters
         * of what the one before it moved. */
        const bool stale = pass > 1 && cut > cut_before - cut_before / 200 &&
                           s->moved > moved_before - moved_before / 4;
        if (s->moved <= s->v->nvertices / 1000 || stale)
            break;
        cut_before = cut;
        moved_before = s->moved;
    }
    for (int i = 0; i < RELIEVE_MOST && gnn_loads_any_over(&s->l); i++) {
        s->moved = 0;
        walk_vertices(s, relieve_part);
        if (!s->moved)
            break;
    }
    return GNN_OK;
}

static int stream_init(struct stream *s, uint32_t finer, struct gnn_err *e)
{
    const uint64_t n = s->v->nvertices;
    for (uint64_t x = 0; x < n; x++)
        s->part[x] = GNN_UNPLACED | (s->group < s->k ? s->part[x] * s->group : 0);
    const struct gnn_stream_graph g = graph_state(s);
    s->o->symmetric = g.symmetric;
    if (gnn_loads_init(&s->l, s->v, &s->o->even, s->k, s->group, finer, e))
        return e->code;
    if (!g.symmetric && !(s->vote = gnn_alloc_zero(n, sizeof *s->vote, "votes of neighbours", e)))
        return e->code;
    s->price = gnn_alloc(s->k, s->l.ncon * sizeof *s->price, "weights of partitions", e);
    s->count = gnn_alloc_zero(s->group, sizeof *s->count, "neighbours by partition", e);
    s->touched = gnn_alloc(s->group, sizeof *s->touched, "neighbours by partition", e);
    if (!s->price || !s->count || !s->touched)
        return e->code;
    for (uint32_t c = 0; c < s->l.ncon; c++) {
        const double total = s->l.con[c].total ? (double)s->l.con[c].total : 1;
        s->rate[c] = 1.5 * (g.symmetric ? 1 : 2) * (g.edges ? (double)g.edges : 1) /
                     total; /* not 0: nodes without edges spread */
        s->average[c] = total / s->k;
    }
    const uint64_t held = n * sizeof *s->part * (s->vote ? 2 : 1) + s->l.bytes +
                          (uint64_t)s->k * s->l.ncon * sizeof *s->price +
                          2 * (uint64_t)s->group * sizeof *s->count;
    s->o->bytes = held > s->o->bytes ? held : s->o->bytes;
    return GNN_OK;
}

int gnn_stream_level(struct gnn_stream *o, const struct gnn_view *v, uint32_t k, uint32_t group,
                     uint32_t finer, uint32_t *part, struct gnn_err *e)
{
    struct stream s = {.v = v, .o = o, .k = k, .group = group, .part = part};
    int rc = v->nvertices ? stream_init(&s, finer, e) : GNN_OK;
    if (!rc && v->nvertices)
        rc = run_passes(&s, e);
    gnn_loads_release(&s.l);
    gnn_free(s.vote);
    gnn_free(s.price);
    gnn_free(s.count);
    gnn_free(s.touched);
    return rc;
}

int gnn_stream_run(struct gnn_stream *o, const struct gnn_view *v, uint32_t *part,
                   struct gnn_err *e)
{
    const uint32_t nodes = o->nodes > 1 ? o->nodes : 1;
    const struct gnn_even even = o->even;
    o->passes_done = 0;
    o->moved = o->bytes = 0;
    if (nodes == 1)
        return gnn_stream_level(o, v, o->k, o->k, 1, part, e);
    o->even.imbalance = gnn_stream_half(even.imbalance);
    int rc = gnn_stream_level(o, v, nodes, nodes, o->k / nodes, part, e);
    o->even = even;
    return rc ? rc : gnn_stream_level(o, v, o->k, o->k / nodes, 1, part, e);
}
