/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping the limits that a method has missed (lib/partition/partition.h). Empty parts grow from a
 * vertex of a part that has more than the average, along edges; then lib/partition/relieve.c takes
 * out of parts what is too much. One thread, so the result is the same for any number. */
#include "lib/partition/repair.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/partition/streaming.h"

/* ---- parts without vertices ---- */

/* A part that is being filled with vertices of its run. */
struct growth {
    uint32_t p;
    uint64_t enough;   /* vertices; parts that have no more give none */
    uint64_t from, to; /* of the queue, r->next: neighbours that have not been looked at */
};

static bool can_give(const struct repair *r, const struct growth *g, uint64_t x, uint64_t keep)
{
    return r->part[x] / r->group == g->p / r->group && r->part[x] != g->p &&
           r->nodes[r->part[x]] > keep;
}

static void take_vertex(struct repair *r, struct growth *g, uint64_t x, const struct gnn_weights *w)
{
    uint64_t u;
    gnn_repair_move(r, x, g->p, w);
    for (struct neighbours n = gnn_repair_neighbours(r, x); gnn_repair_next(&n, &u);)
        /* Each vertex is looked at once for a part. */
        if (r->key[u] != g->p) {
            r->key[u] = g->p;
            r->next[g->to++] = (uint32_t)u;
        }
}

/* *at: vertices before it give nothing any more, as parts only lose what is above the average. */
static void grow_part(struct repair *r, struct growth *g, uint64_t *at)
{
    g->from = g->to = 0;
    while (r->nodes[g->p] < g->enough) {
        const bool near = g->from < g->to;
        if (!near && *at == r->v->nvertices)
            return;
        const uint64_t x = near ? r->next[g->from++] : (*at)++;
        if (!can_give(r, g, x, g->enough))
            continue;
        const struct gnn_weights w = gnn_repair_weigh(r, x);
        if (gnn_loads_fits(&r->l, g->p, &w))
            take_vertex(r, g, x, &w);
    }
}

/* Where no vertex fits, as each is heavier than a part may be: the first that another part can
 * spare. */
static void force_vertices(struct repair *r, const struct growth *g)
{
    for (uint64_t x = 0; x < r->v->nvertices && r->nodes[g->p] < r->least; x++)
        if (can_give(r, g, x, r->least)) {
            const struct gnn_weights w = gnn_repair_weigh(r, x);
            gnn_repair_move(r, x, g->p, &w);
        }
}

static void fill_parts(struct repair *r)
{
    for (uint32_t lo = 0; lo < r->k; lo += r->group) {
        uint64_t all = 0, at = 0;
        for (uint32_t p = lo; p < lo + r->group; p++)
            all += r->nodes[p];
        for (uint32_t p = lo; p < lo + r->group; p++) {
            struct growth g = {.p = p, .enough = all / r->group};
            if (r->nodes[p] >= r->least || g.enough < r->least)
                continue;
            grow_part(r, &g, &at);
            force_vertices(r, &g);
        }
    }
}

/* ---- parts that hold too much ---- */

/* With several limits no single move may help, although some parts have space for one thing, and
 * others for another. Moves that aim at tighter limits end with what is within the real ones. */
static void relieve_parts(struct repair *r)
{
    static const double tighter[] = {0, 0.15, 0.4, 0.7};
    uint64_t cap[GNN_METIS_CONSTRAINTS_MAX];
    for (uint32_t c = 0; c < r->l.ncon; c++)
        cap[c] = r->l.con[c].cap;
    for (unsigned i = 0; i < sizeof tighter / sizeof *tighter && gnn_loads_any_over(&r->l); i++) {
        for (uint32_t c = 0; c < r->l.ncon; c++) {
            struct gnn_load_con *con = &r->l.con[c];
            const uint64_t even = con->total / r->k + (con->total % r->k != 0);
            if (cap[c] > even)
                con->cap = cap[c] - (uint64_t)(tighter[i] * (double)(cap[c] - even));
        }
        gnn_repair_relieve(r);
        for (uint32_t c = 0; c < r->l.ncon; c++)
            r->l.con[c].cap = cap[c];
        if (r->l.ncon == 1)
            break;
    }
}

/* ---- one level ---- */

static bool is_short(const struct repair *r)
{
    for (uint32_t p = 0; p < r->k; p++)
        if (r->nodes[p] < r->least)
            return true;
    return false;
}

static int repair_init(struct repair *r, const struct gnn_even *even, uint32_t finer,
                       struct gnn_err *e)
{
    const struct gnn_schema *sc = &r->v->store->meta.schema;
    r->least = r->v->nvertices >= (uint64_t)r->k * finer ? finer : 0;
    r->nodes = gnn_alloc_zero(r->k, sizeof *r->nodes, "sizes of partitions", e);
    if (!r->nodes || gnn_loads_init(&r->l, r->v, even, r->k, r->group, finer, e))
        return e->code;
    for (uint32_t t = 0; t < sc->nntypes; t++)
        for (uint64_t d = 0; d < sc->ntype[t].count; d++) {
            const uint32_t p = r->part[r->v->base[t] + d];
            const struct gnn_weights w = gnn_loads_weigh(&r->l, t, d);
            gnn_loads_add(&r->l, p, &w);
            r->nodes[p]++;
        }
    return GNN_OK;
}

static void repair_release(struct repair *r)
{
    gnn_loads_release(&r->l);
    gnn_free(r->nodes);
    gnn_free(r->count);
    gnn_free(r->touched);
    gnn_free(r->next);
    gnn_free(r->prev);
    gnn_free(r->key);
    gnn_free(r->tries);
}

static int make_space(struct repair *r, struct gnn_repair *o, struct gnn_err *e)
{
    const uint64_t n = r->v->nvertices;
    r->count = gnn_alloc_zero(r->k, sizeof *r->count, "neighbours by partition", e);
    r->touched = gnn_alloc(r->k, sizeof *r->touched, "neighbours by partition", e);
    r->next = gnn_alloc(n, sizeof *r->next, "nodes to move", e);
    r->prev = gnn_alloc(n, sizeof *r->prev, "nodes to move", e);
    r->key = gnn_alloc(n, sizeof *r->key, "nodes to move", e);
    r->tries = gnn_alloc(n, sizeof *r->tries, "nodes to move", e);
    if (!r->count || !r->touched || !r->next || !r->prev || !r->key || !r->tries)
        return e->code;
    const uint64_t held = r->l.bytes + n * (3 * sizeof *r->next + sizeof *r->tries) +
                          (uint64_t)r->k * (sizeof *r->nodes + 2 * sizeof *r->count);
    o->bytes = held > o->bytes ? held : o->bytes;
    return GNN_OK;
}

static void judge_parts(const struct repair *r, struct gnn_repair *o)
{
    o->excess = o->ratio = 0;
    o->empty = 0;
    for (uint32_t p = 0; p < r->k; p++)
        o->empty += !r->nodes[p];
    for (uint64_t i = 0; i < (uint64_t)r->k * r->l.ncon; i++) {
        const struct gnn_load_con *c = &r->l.con[i % r->l.ncon];
        if (r->l.load[i] <= c->cap)
            continue;
        const double load = (double)r->l.load[i], ratio = load * r->k / (double)c->total;
        o->excess += (load - (double)c->cap) / (double)c->cap;
        o->ratio = ratio > o->ratio ? ratio : o->ratio;
    }
}

static int run_level(struct gnn_repair *o, struct repair *r, bool moves, uint32_t finer,
                     struct gnn_err *e)
{
    int rc = repair_init(r, &o->even, finer, e);
    if (!rc && moves && r->v->nvertices < UINT32_MAX && (is_short(r) || gnn_loads_any_over(&r->l)))
        rc = make_space(r, o, e);
    if (!rc && r->key) {
        memset(r->key, 0xff, r->v->nvertices * sizeof *r->key);
        fill_parts(r);
        relieve_parts(r);
        o->moves += r->moves;
    }
    if (!rc)
        judge_parts(r, o);
    repair_release(r);
    return rc;
}

int gnn_repair_level(struct gnn_repair *o, const struct gnn_view *v, uint32_t k, uint32_t group,
                     uint32_t finer, uint32_t *part, struct gnn_err *e)
{
    struct repair r = {.v = v, .graph = o->graph, .k = k, .group = group, .part = part};
    return run_level(o, &r, true, finer, e);
}

int gnn_repair_judge(struct gnn_repair *o, const struct gnn_view *v, uint32_t *part,
                     struct gnn_err *e)
{
    struct repair r = {.v = v, .k = o->k, .group = o->k, .part = part};
    return run_level(o, &r, false, 1, e);
}

/* ---- all ---- */

/* The part of run q that most neighbours of x are in. */
static uint32_t nearest_part(const struct gnn_repair *o, const struct gnn_view *v,
                             const uint32_t *part, uint64_t x, uint32_t q, uint32_t *count)
{
    const uint32_t into = o->k / o->nodes;
    const struct repair r = {.v = v, .graph = o->graph};
    uint32_t best = 0;
    uint64_t u;
    memset(count, 0, into * sizeof *count);
    for (struct neighbours n = gnn_repair_neighbours(&r, x); gnn_repair_next(&n, &u);)
        if (part[u] / into == q)
            count[part[u] % into]++;
    for (uint32_t i = 1; i < into; i++)
        best = count[i] > count[best] ? i : best;
    return q * into + best;
}

/* The parts of the first level, which have half of the imbalance. */
static int repair_nodes(struct gnn_repair *o, const struct gnn_view *v, uint32_t *part,
                        struct gnn_err *e)
{
    const uint32_t into = o->k / o->nodes;
    const struct gnn_even even = o->even;
    uint32_t *node = gnn_alloc(v->nvertices, sizeof *node, "parts", e),
             *count = gnn_alloc(into, sizeof *count, "neighbours by partition", e);
    int rc = node && count ? GNN_OK : e->code;
    for (uint64_t x = 0; !rc && x < v->nvertices; x++)
        node[x] = part[x] / into;
    o->even.imbalance = gnn_stream_half(even.imbalance);
    if (!rc)
        rc = gnn_repair_level(o, v, o->nodes, o->nodes, into, node, e);
    o->even = even;
    for (uint64_t x = 0; !rc && x < v->nvertices; x++)
        if (node[x] != part[x] / into)
            part[x] = nearest_part(o, v, part, x, node[x], count);
    gnn_free(node);
    gnn_free(count);
    return rc;
}

int gnn_repair_run(struct gnn_repair *o, const struct gnn_view *v, uint32_t *part,
                   struct gnn_err *e)
{
    const uint32_t nodes = o->nodes > 1 ? o->nodes : 1;
    o->moves = o->bytes = 0;
    if (nodes == 1)
        return gnn_repair_level(o, v, o->k, o->k, 1, part, e);
    int rc = gnn_repair_judge(o, v, part, e);
    if (rc || (!(o->excess > 0) && (!o->empty || v->nvertices < o->k)))
        return rc;
    rc = repair_nodes(o, v, part, e);
    return rc ? rc : gnn_repair_level(o, v, o->k, o->k / nodes, 1, part, e);
}
