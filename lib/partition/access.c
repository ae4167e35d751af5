/* SPDX-License-Identifier: Apache-2.0 */
/* Parts by expected access (lib/partition/partition.h): a stream partition comes first; then each
 * vertex goes to the part whose batches are expected to need it most, the vertices with most to
 * lose first, as far as the balance allows. */
#include "lib/cache/access.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/partition/loads.h"
#include "lib/partition/stream.h"

enum { RANKS = 1 << 16, RELIEVE_MOST = 20 };

struct access {
    struct gnn_access_parts *o;
    const struct gnn_view *v;
    uint32_t k, group;
    uint32_t *part;
    float *p;        /* (nvertices, group) how much the parts of a vertex's run want it */
    uint32_t *order; /* (nvertices) */
    uint32_t *seeds; /* the set, store ids */
    uint32_t *own;   /* those of one part */
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
    if (gnn_access_expected(s, &m, a->own, seeds_of(a, r), share, &x, e))
        return e->code;
    for (uint32_t t = 0; t < sc->nntypes; t++)
        for (uint64_t d = 0; d < sc->ntype[t].count; d++) {
            const uint64_t i = a->v->base[t] + d;
            const float wanted = x.of[t][gnn_view_store_id(a->v, t, d)];
            a->o->rows += (double)wanted;
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

static int level_init(struct access *a, uint32_t finer, struct gnn_err *e)
{
    struct gnn_store *s = a->v->store;
    const uint64_t n = a->v->nvertices, nseeds = s->meta.schema.set[a->o->set].count;
    if (n > UINT32_MAX)
        return gnn_fail(e, GNN_E_INPUT, "%s: %llu nodes are too many for the method access",
                        s->path, (unsigned long long)n);
    a->p = gnn_alloc(n, a->group * sizeof *a->p, "access frequencies", e);
    a->order = gnn_alloc(n, sizeof *a->order, "order of nodes", e);
    a->own = gnn_alloc(nseeds, sizeof *a->own, "seeds", e);
    if (!a->p || !a->order || !a->own || gnn_store_split(s, a->o->set, &a->seeds, e))
        return e->code;
    const uint64_t held =
        n * (a->group * sizeof *a->p + sizeof *a->order) + 2 * nseeds * sizeof *a->own;
    a->o->bytes = held > a->o->bytes ? held : a->o->bytes;
    return gnn_loads_init(&a->l, a->v, &a->o->by->even, a->k, a->group, finer, e);
}

/* k parts in runs of `group`; part[]: in, where the stream put them; out. */
static int assign_level(struct gnn_access_parts *o, const struct gnn_view *v, uint32_t k,
                        uint32_t group, uint32_t finer, uint32_t *part, struct gnn_err *e)
{
    struct access a = {.o = o, .v = v, .k = k, .group = group, .part = part};
    int rc = level_init(&a, finer, e);
    o->rows = 0;
    for (uint32_t r = 0; !rc && r < k; r++)
        rc = expect_access(&a, r, e);
    if (!rc)
        rc = sort_vertices(&a, e);
    if (!rc) {
        o->before = o->rows - local_rows(&a);
        give_vertices(&a);
        for (int i = 0; i < RELIEVE_MOST && gnn_loads_any_over(&a.l) && relieve_parts(&a); i++)
            ;
        o->remote = o->rows - local_rows(&a);
    }
    gnn_loads_release(&a.l);
    gnn_free(a.p);
    gnn_free(a.order);
    gnn_free(a.seeds);
    gnn_free(a.own);
    return rc;
}

int gnn_assign_access(struct gnn_access_parts *o, const struct gnn_view *v, uint32_t *part,
                      struct gnn_err *e)
{
    struct gnn_stream *by = o->by;
    const uint32_t k = by->k, nodes = by->nodes > 1 ? by->nodes : 1;
    const struct gnn_even even = by->even;
    o->bytes = by->bytes = by->moved = 0;
    by->passes_done = 0;
    /* Half of the imbalance is for the level of nodes, so that parts within a node can use the
     * rest. */
    if (nodes > 1) {
        by->even.imbalance = gnn_stream_half(even.imbalance);
        int rc = gnn_stream_level(by, v, nodes, nodes, k / nodes, part, e);
        if (!rc)
            rc = assign_level(o, v, nodes, nodes, k / nodes, part, e);
        by->even = even;
        if (rc)
            return rc;
    }
    const int rc = gnn_stream_level(by, v, k, k / nodes, 1, part, e);
    return rc ? rc : assign_level(o, v, k, k / nodes, 1, part, e);
}
