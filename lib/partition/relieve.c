/* SPDX-License-Identifier: Apache-2.0 */
/* Taking vertices out of parts that hold too much (lib/partition/repair.h). The vertex whose move
 * cuts the fewest edges comes first: vertices wait in lists by how many neighbours more they have
 * where they would go than where they are (Fiduccia and Mattheyses, "A linear-time heuristic for
 * improving network partitions", DAC 1982). What a list says is a bound from above, which is
 * computed again when the vertex comes first, a few times at most, so that the time is in
 * proportion to the edges of the vertices. */
#include <string.h>

#include "lib/partition/repair.h"

enum { KEYS = 1024, ZERO = KEYS / 2, TRIES_MOST = 8, LOOKS_MOST = 64, PASSES_MOST = 8 };

static const uint32_t none = UINT32_MAX;

/* ---- the queue: a list for each key, the last that came first ---- */

struct queue {
    struct repair *r;
    uint32_t head[KEYS];
    int top; /* no list above it has vertices */
};

static uint32_t key_of(int64_t gain)
{
    const int64_t key = gain + ZERO;
    return key < 0 ? 0 : key < KEYS ? (uint32_t)key : KEYS - 1;
}

static void add_vertex(struct queue *q, uint32_t x, uint32_t key)
{
    struct repair *r = q->r;
    r->key[x] = key;
    r->prev[x] = none;
    r->next[x] = q->head[key];
    if (q->head[key] != none)
        r->prev[q->head[key]] = x;
    q->head[key] = x;
    q->top = (int)key > q->top ? (int)key : q->top;
}

static void drop_vertex(struct queue *q, uint32_t x)
{
    struct repair *r = q->r;
    if (r->prev[x] == none)
        q->head[r->key[x]] = r->next[x];
    else
        r->next[r->prev[x]] = r->next[x];
    if (r->next[x] != none)
        r->prev[r->next[x]] = r->prev[x];
    r->key[x] = none;
}

static bool take_first(struct queue *q, uint32_t *x, uint32_t *key)
{
    while (q->top >= 0 && q->head[q->top] == none)
        q->top--;
    if (q->top < 0)
        return false;
    *x = q->head[q->top];
    *key = (uint32_t)q->top;
    drop_vertex(q, *x);
    return true;
}

/* ---- where to ---- */

struct move {
    uint32_t to; /* or none */
    bool fits;
    int64_t gain;  /* neighbours there, less those where it is */
    double relief; /* of what is too much, over all parts */
    double fill;
};

static bool is_better(const struct move *a, const struct move *b)
{
    if (b->to == none || a->fits != b->fits)
        return b->to == none || a->fits;
    if (!a->fits && (a->relief > b->relief || a->relief < b->relief))
        return a->relief > b->relief;
    if (a->gain != b->gain)
        return a->gain > b->gain;
    if (a->fill > b->fill || a->fill < b->fill)
        return a->fill < b->fill;
    return a->to < b->to;
}

static void consider_part(const struct repair *r, uint32_t from, uint32_t to, double relief,
                          const struct gnn_weights *w, struct move *best)
{
    if (to == from)
        return;
    struct move m = {.to = to, .gain = (int64_t)r->count[to] - r->count[from]};
    m.fits = gnn_loads_fits(&r->l, to, w);
    m.relief = relief - (m.fits ? 0 : gnn_loads_excess(&r->l, to, w));
    m.fill = gnn_loads_fill(&r->l, to, w);
    /* Each move makes what is too much less, so that moves end. */
    if (m.relief > 1e-12 && is_better(&m, best))
        *best = m;
}

static void count_neighbours(struct repair *r, uint64_t x)
{
    const uint32_t lo = r->part[x] / r->group * r->group;
    uint64_t u;
    for (struct neighbours n = gnn_repair_neighbours(r, x); gnn_repair_next(&n, &u);) {
        const uint32_t p = r->part[u];
        if (p - lo < r->group && !r->count[p]++)
            r->touched[r->ntouched++] = p;
    }
}

/* Among the parts where neighbours are, and the lightest; all, where none of these has space, as
 * long as that does not take more time than the rest. */
static struct move best_move(struct repair *r, uint64_t x, const struct gnn_weights *w)
{
    const uint32_t from = r->part[x], lo = from / r->group * r->group;
    const double relief = gnn_loads_relief(&r->l, from, w);
    struct move best = {.to = none};
    count_neighbours(r, x);
    for (uint32_t i = 0; i < r->ntouched; i++)
        consider_part(r, from, r->touched[i], relief, w, &best);
    for (uint32_t c = 0; c < r->l.ncon; c++)
        consider_part(r, from, gnn_loads_lightest(&r->l, c, lo), relief, w, &best);
    if ((best.to == none || !best.fits) && r->looks >= r->group) {
        r->looks -= r->group;
        for (uint32_t p = lo; p < lo + r->group; p++)
            consider_part(r, from, p, relief, w, &best);
    }
    for (uint32_t i = 0; i < r->ntouched; i++)
        r->count[r->touched[i]] = 0;
    r->ntouched = 0;
    return best;
}

/* ---- passes ---- */

static bool may_leave(const struct repair *r, uint64_t x, const struct gnn_weights *w)
{
    return r->nodes[r->part[x]] > r->least && gnn_loads_over(&r->l, r->part[x], w);
}

static void enqueue_all(struct queue *q)
{
    struct repair *r = q->r;
    memset(q->head, 0xff, sizeof q->head);
    memset(r->key, 0xff, r->v->nvertices * sizeof *r->key);
    memset(r->tries, 0, r->v->nvertices * sizeof *r->tries);
    q->top = -1;
    for (uint64_t x = r->v->nvertices; x-- > 0;) {
        const struct gnn_weights w = gnn_repair_weigh(r, x);
        if (!may_leave(r, x, &w))
            continue;
        const struct move m = best_move(r, x, &w);
        if (m.to != none)
            add_vertex(q, (uint32_t)x, key_of(m.gain));
    }
}

/* A neighbour of a vertex that has left part `from`: it may have gained one neighbour there and
 * lost one where it is. */
static void raise_neighbours(struct queue *q, uint64_t x, uint32_t from)
{
    struct repair *r = q->r;
    uint64_t u;
    for (struct neighbours n = gnn_repair_neighbours(r, x); gnn_repair_next(&n, &u);) {
        const uint32_t key = r->key[u], more = r->part[u] == from ? 2 : 1;
        if (key == none)
            continue;
        drop_vertex(q, (uint32_t)u);
        add_vertex(q, (uint32_t)u, key + more < KEYS ? key + more : KEYS - 1);
    }
}

void gnn_repair_relieve(struct repair *r)
{
    struct queue q = {.r = r};
    uint64_t before = r->moves + 1;
    r->looks = LOOKS_MOST * r->v->nvertices;
    for (int pass = 0; pass < PASSES_MOST && gnn_loads_any_over(&r->l) && r->moves != before;
         pass++) {
        uint32_t x, key;
        before = r->moves;
        enqueue_all(&q);
        while (take_first(&q, &x, &key)) {
            const struct gnn_weights w = gnn_repair_weigh(r, x);
            if (!may_leave(r, x, &w))
                continue;
            const uint32_t from = r->part[x];
            const struct move m = best_move(r, x, &w);
            if (m.to != none && key_of(m.gain) < key && r->tries[x]++ < TRIES_MOST) {
                add_vertex(&q, x, key_of(m.gain));
            } else if (m.to != none) {
                gnn_repair_move(r, x, m.to, &w);
                raise_neighbours(&q, x, from);
            }
        }
    }
}
