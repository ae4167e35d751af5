/* SPDX-License-Identifier: Apache-2.0 */
/* What a repair knows of a vertex: its neighbours, from METIS's graph or from the in-edges of the
 * store, its weights, and its move to another part (lib/partition/repair.h). */
#include "lib/partition/repair.h"

static uint32_t type_of(const struct gnn_view *v, uint64_t x)
{
    uint32_t t = 0;
    while (x >= v->base[t + 1])
        t++;
    return t;
}

struct neighbours gnn_repair_neighbours(const struct repair *r, uint64_t x)
{
    struct neighbours w = {.r = r, .x = x};
    if (r->graph) {
        w.at = (const uint32_t *)r->graph->adjncy + r->graph->xadj[x];
        w.end = (const uint32_t *)r->graph->adjncy + r->graph->xadj[x + 1];
    } else {
        w.t = type_of(r->v, x);
        w.d = x - r->v->base[w.t];
    }
    return w;
}

/* The in-edges along the next edge type that leads to the vertex. */
static bool next_row(struct neighbours *w)
{
    const struct gnn_view *v = w->r->v;
    const struct gnn_schema *sc = &v->store->meta.schema;
    while (w->et < sc->netypes && sc->etype[w->et].dst != w->t)
        w->et++;
    if (w->et == sc->netypes)
        return false;
    const uint32_t src = sc->etype[w->et].src;
    const struct gnn_view_row row = gnn_view_row(v, w->et++, w->d);
    w->at = row.indices;
    w->end = row.indices + row.n;
    w->orig = v->to_orig[src];
    w->base = v->base[src];
    return true;
}

bool gnn_repair_next(struct neighbours *w, uint64_t *u)
{
    do {
        while (w->at < w->end) {
            const uint32_t id = *w->at++;
            *u = w->base + (w->orig ? w->orig[id] : id);
            if (*u != w->x)
                return true;
        }
    } while (!w->r->graph && next_row(w));
    return false;
}

struct gnn_weights gnn_repair_weigh(const struct repair *r, uint64_t x)
{
    const uint32_t t = type_of(r->v, x);
    return gnn_loads_weigh(&r->l, t, x - r->v->base[t]);
}

void gnn_repair_move(struct repair *r, uint64_t x, uint32_t to, const struct gnn_weights *w)
{
    const uint32_t from = r->part[x];
    gnn_loads_take(&r->l, from, w);
    gnn_loads_add(&r->l, to, w);
    r->nodes[from]--;
    r->nodes[to]++;
    r->part[x] = to;
    r->moves++;
}
