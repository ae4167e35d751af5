/* SPDX-License-Identifier: Apache-2.0 */
/* Parts by expected access (lib/partition/partition.h): the parts of Fennel and of METIS come
 * first; from either, each vertex goes to the part whose batches are expected to need it most, the
 * vertices with most to lose first, as far as the balance allows; and what leaves the fewest remote
 * rows is taken. */
#include "lib/cache/access.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/partition/repair.h"
#include "lib/partition/streaming.h"

enum { RANKS = 1 << 16, RELIEVE_MOST = 20, ROUNDS_MOST = 3 };

struct access {
    struct gnn_access_parts *o;
    const struct gnn_view *v;
    const struct gnn_symgraph *graph; /* for METIS, or NULL */
    const int32_t *wgt;               /* likewise */
    uint32_t ncon;
    uint32_t k, group, finer;
    uint32_t *part;      /* (nvertices) at hand */
    uint32_t *best;      /* (nvertices) with the fewest remote rows so far */
    double rows, remote; /* of those at hand */
    double fewest;       /* of the best; negative: none yet */
    float *p;            /* (nvertices, group) how much the parts of a vertex's run want it */
    uint32_t *order;     /* (nvertices) */
    uint32_t *seeds;     /* the set, store ids */
    uint32_t *own;       /* those of one part */
    struct gnn_loads l;
};

/* ---- who wants what ---- */

static uint64_t seeds_of(const struct access *a, uint32_t r)
{
    const struct gnn_split_set *ss = &a->v->store->meta.schema.set[a->o->set];
    uint64_t n = 0;
    for (uint64_t i = 0; i < ss->count; i++)
        if (a->part[a->v->base[ss->ntype] + gnn_view_orig(a->v, ss->ntype, a->seeds[i])] == r)
            a->own[n++] = a->seeds[i];
    return n;
}

/* Computes how often batches of part r's seeds are expected to need each vertex, keeps it for the
 * vertices that r may get, and adds it to the expected rows. */
static int expect_access(struct access *a, uint32_t r, struct gnn_err *e)
{
    struct gnn_store *s = a->v->store;
    const struct gnn_schema *sc = &s->meta.schema;
    const struct gnn_split_set *ss = &sc->set[a->o->set];
    const double share =
        ss->count > a->o->m->batch_size ? (double)a->o->m->batch_size / (double)ss->count : 1;
    struct gnn_sampling m = *a->o->m;
    struct gnn_scores x = {0};
    m.seed_ntype = ss->ntype;
    const struct gnn_access_seeds seeds = {
        .id = a->own, .n = seeds_of(a, r), .share = share, .to = UINT64_MAX};
    if (gnn_access_expected(s, &m, &seeds, &x, e))
        return e->code;
    for (uint32_t t = 0; t < sc->nntypes; t++)
        for (uint64_t d = 0; d < sc->ntype[t].count; d++) {
            const uint64_t i = a->v->base[t] + d;
            const float wanted = x.of[t][gnn_view_store_id(a->v, t, d)];
            a->rows += (double)wanted;
            if (a->part[i] / a->group == r / a->group)
                a->p[i * a->group + r % a->group] = wanted;
        }
    gnn_scores_release(&x);
    return GNN_OK;
}

static double local_rows(const struct access *a)
{
    double sum = 0;
    for (uint64_t i = 0; i < a->v->nvertices; i++)
        sum += (double)a->p[i * a->group + a->part[i] % a->group];
    return sum;
}

/* ---- in which order ---- */

/* How much is lost if a vertex does not get its best part: the difference to its second best. The
 * upper 16 bits of the float are precise enough to sort by; the highest loss has rank 0. */
static uint32_t rank_of(const struct access *a, uint64_t i)
{
    float best = 0, next = 0;
    for (uint32_t q = 0; q < a->group; q++) {
        const float x = a->p[i * a->group + q];
        next = x > best ? best : x > next ? x : next;
        best = x > best ? x : best;
    }
    const float lost = best - next;
    uint32_t bits;
    memcpy(&bits, &lost, sizeof bits);
    return RANKS - 1 - (bits >> 16);
}

/* Counting sort; vertices of one rank stay in their order. */
static int sort_vertices(struct access *a, struct gnn_err *e)
{
    uint64_t *at = gnn_alloc_zero(RANKS + 1, sizeof *at, "order of nodes", e);
    if (!at)
        return e->code;
    for (uint64_t i = 0; i < a->v->nvertices; i++)
        at[rank_of(a, i) + 1]++;
    for (uint32_t r = 0; r < RANKS; r++)
        at[r + 1] += at[r];
    for (uint64_t i = 0; i < a->v->nvertices; i++)
        a->order[at[rank_of(a, i)]++] = (uint32_t)i;
    gnn_free(at);
    return GNN_OK;
}

/* ---- who gets what ---- */

static struct gnn_weights weigh_vertex(const struct access *a, uint64_t i)
{
    uint32_t t = 0;
    while (i >= a->v->base[t + 1])
        t++;
    return gnn_loads_weigh(&a->l, t, i - a->v->base[t]);
}

struct claim {
    uint32_t part;
    bool fits;
    double want; /* if it does not fit: minus what would be too much */
    double fill;
};

static bool is_stronger(const struct claim *x, const struct claim *y, uint32_t old)
{
    if (x->fits != y->fits)
        return x->fits;
    if (x->want > y->want || x->want < y->want)
        return x->want > y->want;
    if (x->part == old || y->part == old)
        return x->part == old;
    return x->fill < y->fill;
}

static uint32_t strongest_part(const struct access *a, uint64_t i, const struct gnn_weights *w)
{
    const uint32_t old = a->part[i], lo = old / a->group * a->group;
    struct claim best = {0};
    for (uint32_t q = 0; q < a->group; q++) {
        struct claim c = {.part = lo + q, .fits = gnn_loads_fits(&a->l, lo + q, w)};
        c.want = c.fits ? (double)a->p[i * a->group + q] : -gnn_loads_excess(&a->l, lo + q, w);
        c.fill = gnn_loads_fill(&a->l, lo + q, w);
        if (!q || is_stronger(&c, &best, old))
            best = c;
    }
    return best.part;
}

static void give_vertices(struct access *a)
{
    for (uint64_t j = 0; j < a->v->nvertices; j++) {
        const uint64_t i = a->order[j];
        const struct gnn_weights w = weigh_vertex(a, i);
        a->part[i] = strongest_part(a, i, &w);
        gnn_loads_add(&a->l, a->part[i], &w);
    }
}

/* Takes vertices out of parts that are too heavy, beginning with those that matter least. */
static uint64_t relieve_parts(struct access *a)
{
    uint64_t moved = 0;
    for (uint64_t j = a->v->nvertices; j-- > 0;) {
        const uint64_t i = a->order[j];
        const uint32_t old = a->part[i];
        const struct gnn_weights w = weigh_vertex(a, i);
        if (!gnn_loads_over(&a->l, old, &w))
            continue;
        gnn_loads_take(&a->l, old, &w);
        a->part[i] = strongest_part(a, i, &w);
        gnn_loads_add(&a->l, a->part[i], &w);
        moved += a->part[i] != old;
    }
    return moved;
}

/* ---- from where ---- */

/* Whose seeds are whose decides what a part asks for, so it is computed for the parts at hand. */
static int expect_rows(struct access *a, struct gnn_err *e)
{
    int rc = 0;
    a->rows = 0;
    for (uint32_t r = 0; !rc && r < a->k; r++)
        rc = expect_access(a, r, e);
    a->remote = a->rows - local_rows(a);
    return rc;
}

/* Moves what the parts at hand do not have where it is wanted, as long as that helps. */
static int improve_parts(struct access *a, double *before, struct gnn_err *e)
{
    double last = 0;
    int rc = expect_rows(a, e);
    *before = a->remote;
    for (int round = 0; !rc && (!round || a->remote < last); round++) {
        last = a->remote;
        if (a->fewest < 0 || a->remote < a->fewest) {
            memcpy(a->best, a->part, a->v->nvertices * sizeof *a->best);
            a->fewest = a->remote;
            a->o->rows = a->rows;
        }
        if (round == ROUNDS_MOST || sort_vertices(a, e))
            return e->code;
        gnn_loads_clear(&a->l);
        give_vertices(a);
        for (int i = 0; i < RELIEVE_MOST && gnn_loads_any_over(&a->l) && relieve_parts(a); i++)
            ;
        rc = expect_rows(a, e);
    }
    return rc;
}

/* METIS balances all but the seeds, which cuts less; then a repair moves seeds. */
static int start_metis(struct access *a, struct gnn_err *e)
{
    struct gnn_repair r = {.k = a->k, .even = a->o->by->even, .graph = a->graph};
    const double imbalance = a->o->by->even.imbalance;
    struct gnn_metis m = {.k = a->k,
                          .imbalance = imbalance > 1.001 ? imbalance : 1.001,
                          .seed = 1,
                          .ncon = a->ncon,
                          .wgt = a->wgt};
    int rc = gnn_metis_level(&m, a->graph, a->group, a->part, e);
    a->o->metis_peak = m.peak > a->o->metis_peak ? m.peak : a->o->metis_peak;
    return rc ? rc : gnn_repair_level(&r, a->v, a->k, a->group, a->finer, a->part, e);
}

static int level_init(struct access *a, struct gnn_err *e)
{
    struct gnn_store *s = a->v->store;
    const uint64_t n = a->v->nvertices, nseeds = s->meta.schema.set[a->o->set].count;
    if (n > UINT32_MAX)
        return gnn_fail(e, GNN_E_INPUT, "%s: %llu nodes are too many for the method access",
                        s->path, (unsigned long long)n);
    a->part = gnn_alloc(n, sizeof *a->part, "assignment", e);
    a->best = gnn_alloc(n, sizeof *a->best, "assignment", e);
    a->p = gnn_alloc(n, a->group * sizeof *a->p, "access frequencies", e);
    a->order = gnn_alloc(n, sizeof *a->order, "order of nodes", e);
    a->own = gnn_alloc(nseeds, sizeof *a->own, "seeds", e);
    if (!a->part || !a->best || !a->p || !a->order || !a->own ||
        gnn_store_split(s, a->o->set, &a->seeds, e))
        return e->code;
    const uint64_t held =
        n * (a->group * sizeof *a->p + 3 * sizeof *a->order) + 2 * nseeds * sizeof *a->own;
    a->o->bytes = held > a->o->bytes ? held : a->o->bytes;
    return gnn_loads_init(&a->l, a->v, &a->o->by->even, a->k, a->group, a->finer, e);
}

static void level_release(struct access *a)
{
    gnn_loads_release(&a->l);
    gnn_free(a->part);
    gnn_free(a->best);
    gnn_free(a->p);
    gnn_free(a->order);
    gnn_free(a->seeds);
    gnn_free(a->own);
}

/* a->k parts in runs of a->group; part[]: in, with group < k the runs; out. */
static int assign_level(struct access *a, uint32_t *part, struct gnn_err *e)
{
    struct gnn_access_parts *o = a->o;
    const size_t bytes = a->v->nvertices * sizeof *part;
    int rc = level_init(a, e);
    a->fewest = -1;
    if (!rc && a->v->nvertices) {
        memcpy(a->part, part, bytes);
        rc = gnn_stream_level(o->by, a->v, a->k, a->group, a->finer, a->part, e);
    }
    if (!rc)
        rc = improve_parts(a, &o->before, e);
    const double fennel = a->fewest;
    if (!rc && a->graph) {
        memcpy(a->part, part, bytes);
        rc = start_metis(a, e);
        if (!rc)
            rc = improve_parts(a, &o->before_metis, e);
    }
    o->remote = a->fewest;
    o->from_metis = a->fewest < fennel;
    if (!rc && a->v->nvertices)
        memcpy(part, a->best, bytes);
    level_release(a);
    return rc;
}

/* METIS's graph and weights, unless they are too large for it. */
static int graph_init(struct gnn_access_parts *o, const struct gnn_view *v, struct access *a,
                      struct gnn_symgraph *g, int32_t **wgt, struct gnn_err *e)
{
    struct gnn_even even = o->by->even;
    even.no_small = true;
    even.balance &= ~(unsigned)GNN_BALANCE_SETS;
    even.balance |= even.balance ? 0 : GNN_BALANCE_NODES;
    int rc = gnn_symgraph_init(g, v, GNN_METIS_LIMIT, o->by->threads, e);
    if (!rc)
        rc = gnn_balance_weights(v, &even, o->by->k, &a->ncon, wgt, e);
    if (rc == GNN_E_INPUT) {
        o->too_large = *e;
        *e = (struct gnn_err){0};
        return GNN_OK;
    }
    a->graph = g;
    a->wgt = *wgt;
    /* See gnn_assign_metis. */
    return rc ? rc : gnn_store_verified(v->store, e);
}

int gnn_assign_access(struct gnn_access_parts *o, const struct gnn_view *v, uint32_t *part,
                      struct gnn_err *e)
{
    struct gnn_stream *by = o->by;
    const uint32_t k = by->k, nodes = by->nodes > 1 ? by->nodes : 1;
    const struct gnn_even even = by->even;
    struct access a = {.o = o, .v = v};
    struct gnn_symgraph g = {0};
    int32_t *wgt = NULL;
    o->bytes = o->metis_peak = by->bytes = by->moved = 0;
    o->before_metis = -1;
    by->passes_done = 0;
    int rc = k > 1 && !o->fennel_only ? graph_init(o, v, &a, &g, &wgt, e) : GNN_OK;
    /* Half of the imbalance is for the level of nodes, so that parts within a node can use the
     * rest. */
    if (!rc && nodes > 1) {
        struct access level = a;
        level.k = level.group = nodes;
        level.finer = k / nodes;
        by->even.imbalance = gnn_stream_half(even.imbalance);
        rc = assign_level(&level, part, e);
        by->even = even;
    }
    a.k = k;
    a.group = k / nodes;
    a.finer = 1;
    if (!rc)
        rc = assign_level(&a, part, e);
    gnn_symgraph_release(&g);
    gnn_free(wgt);
    return rc;
}
