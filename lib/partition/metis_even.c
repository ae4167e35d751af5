/* SPDX-License-Identifier: Apache-2.0 */
/* METIS, held to what was asked (lib/partition/partition.h). METIS has limits that it exceeds:
 * where parts are so small that the imbalance is less than a vertex, and where it has several
 * constraints. What it then leaves is repaired, and compared with what Fennel makes of several
 * constraints. */
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/mem.h"
#include "lib/partition/partition.h"

/* Parts, and how good they are. */
struct candidate {
    uint32_t *part;
    struct gnn_repair kept;
    uint64_t cut, volume;
};

struct work {
    struct gnn_metis_parts *o;
    const struct gnn_view *v;
    struct gnn_symgraph g;
    struct candidate best, other;
    struct gnn_err *e;
};

static bool is_kept(const struct work *w, const struct candidate *c)
{
    return !(c->kept.excess > 0) && (!c->kept.empty || w->v->nvertices < w->o->m.k);
}

/* Before the cut counts, limits do; but where a vertex is too heavy for any part, none keeps them,
 * and a little less is not worth a much larger cut. */
static bool is_better(const struct work *w, const struct candidate *a, const struct candidate *b)
{
    if (a->kept.excess < b->kept.excess / 2 || b->kept.excess < a->kept.excess / 2)
        return a->kept.excess < b->kept.excess;
    if (a->kept.empty != b->kept.empty)
        return a->kept.empty < b->kept.empty;
    return w->o->m.objective == GNN_OBJECTIVE_VOL ? a->volume < b->volume : a->cut < b->cut;
}

static int measure_cut(struct work *w, struct candidate *c)
{
    return gnn_symgraph_measure(&w->g, w->o->m.k, c->part, &c->cut, &c->volume, w->e);
}

/* The other takes the place of the best if it is better. */
static void take_better(struct work *w)
{
    if (!is_better(w, &w->other, &w->best))
        return;
    memcpy(w->best.part, w->other.part, w->v->nvertices * sizeof *w->best.part);
    uint32_t *part = w->best.part;
    w->best = w->other;
    w->best.part = part;
}

static void begin_candidate(struct work *w, struct candidate *c)
{
    c->kept = (struct gnn_repair){
        .k = w->o->m.k, .nodes = w->o->nodes, .even = w->o->even, .graph = &w->g};
}

static int run_metis(struct work *w, struct candidate *c, bool relaxed)
{
    struct gnn_metis *m = &w->o->m;
    m->relaxed = relaxed;
    begin_candidate(w, c);
    int rc = w->o->nodes > 1 ? gnn_metis_two_level(m, &w->g, m->k / w->o->nodes, c->part, w->e)
                             : gnn_metis_run(m, &w->g, c->part, w->e);
    if (!rc)
        rc = gnn_repair_judge(&c->kept, w->v, c->part, w->e);
    return rc ? rc : measure_cut(w, c);
}

static int run_repair(struct work *w, struct candidate *c)
{
    const int rc = gnn_repair_run(&c->kept, w->v, c->part, w->e);
    w->o->bytes = c->kept.bytes > w->o->bytes ? c->kept.bytes : w->o->bytes;
    return rc ? rc : measure_cut(w, c);
}

static int run_fennel(struct work *w)
{
    struct gnn_stream s = {.rule = GNN_STREAM_FENNEL,
                           .k = w->o->m.k,
                           .passes = 10,
                           .nodes = w->o->nodes,
                           .even = w->o->even,
                           .threads = w->o->threads};
    begin_candidate(w, &w->other);
    int rc = gnn_stream_run(&s, w->v, w->other.part, w->e);
    if (!rc)
        rc = run_repair(w, &w->other);
    if (rc)
        return rc;
    w->o->passes = is_better(w, &w->other, &w->best) ? s.passes_done : 0;
    take_better(w);
    return 0;
}

/* Parts of a few vertices: METIS cannot balance what its limit rounds down. */
static int run_relaxed(struct work *w)
{
    struct gnn_metis m = w->o->m;
    if (w->o->nodes > 1)
        m.imbalance = 1 + (m.imbalance - 1) / 2;
    if (!gnn_metis_rounds(&m, &w->g))
        return 0;
    const int rc = run_metis(w, &w->other, true);
    if (!rc)
        take_better(w);
    return rc;
}

/* METIS's parts do not keep the limits. */
static int improve_parts(struct work *w)
{
    w->o->missed = w->best.kept.ratio;
    w->other.part = gnn_alloc(w->v->nvertices, sizeof *w->other.part, "assignment", w->e);
    int rc = w->other.part ? run_relaxed(w) : w->e->code;
    if (!rc)
        rc = run_repair(w, &w->best);
    return rc || w->o->m.ncon < 2 ? rc : run_fennel(w);
}

int gnn_assign_metis(struct gnn_metis_parts *o, const struct gnn_view *v, uint32_t *part,
                     struct gnn_err *e)
{
    struct work w = {.o = o, .v = v, .best.part = part, .e = e};
    int32_t *wgt = NULL;
    const double start = gnn_clock();
    o->m.peak = o->bytes = o->moves = 0;
    o->m.seconds = o->m.cpu_seconds = o->missed = 0;
    o->passes = 0;
    o->even.no_small = true;
    int rc = gnn_symgraph_init(&w.g, v, GNN_METIS_LIMIT, o->threads, e);
    if (!rc)
        rc = gnn_balance_weights(v, &o->even, o->m.k, &o->m.ncon, &wgt, e);
    o->m.wgt = wgt;
    o->graph_seconds = gnn_clock() - start;
    /* A damaged store is found before minutes of work. Waiting also means that the verifying thread
     * holds no lock of the allocator while METIS's process is forked: one of a sanitizer's
     * allocator would stay locked in the child for ever. */
    if (!rc)
        rc = gnn_store_verified(v->store, e);
    if (!rc)
        rc = run_metis(&w, &w.best, false);
    if (!rc && !is_kept(&w, &w.best))
        rc = improve_parts(&w);
    o->pairs = rc ? 0 : (uint64_t)w.g.xadj[w.g.n] / 2;
    o->cut = w.best.cut;
    o->volume = w.best.volume;
    o->moves = w.best.kept.moves;
    gnn_free(w.other.part);
    gnn_free(wgt);
    o->m.wgt = NULL;
    gnn_symgraph_release(&w.g);
    return rc;
}
