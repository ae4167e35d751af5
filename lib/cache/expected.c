#include "lib/cache/access_impl.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/base/mem.h"

enum { AHEAD = 24 };

int gnn_scores_init(struct gnn_scores *x, const struct gnn_schema *c, struct gnn_err *e)
{
    *x = (struct gnn_scores){.of = gnn_alloc_zero(c->nntypes, sizeof *x->of, "node scores", e),
                             .ntypes = c->nntypes};
    for (uint32_t t = 0; x->of && t < c->nntypes; t++)
        if (!(x->of[t] = gnn_alloc_zero(c->ntype[t].count, sizeof **x->of, "node scores", e)))
            gnn_scores_release(x);
    return x->of ? 0 : e->code;
}

void gnn_scores_release(struct gnn_scores *x)
{
    for (uint32_t t = 0; x->of && t < x->ntypes; t++)
        gnn_free(x->of[t]);
    gnn_free(x->of);
    *x = (struct gnn_scores){0};
}

/* ---- one pass over the in-edges of one type ---- */

/* The in-edges of nodes first, first + 1, ... */
struct rows {
    const uint64_t *ptr;
    const uint32_t *idx;
    uint64_t n, edges, first, nsrc;
};

static uint64_t give(const struct gnn_giving *g, uint64_t v, uint64_t degree)
{
    if (!g->picked)
        return 1;
    const double r = g->picked[v], fresh = g->known[v] - (g->older ? g->older[v] : r);
    if (fresh > 0 && gnn_pick_any(g->rule))
        g->picked[v] = (float)(r + fresh * gnn_pick_chance(g->rule, degree));
    return g->picked[v] > 0 ? gnn_access_to_fixed(g->picked[v]) : 0;
}

static void add(uint64_t *sum, uint64_t x, bool alone)
{
    if (alone)
        *sum += *sum < GNN_ACCESS_FULL ? x : 0;
    else if (__atomic_load_n(sum, __ATOMIC_RELAXED) < GNN_ACCESS_FULL)
        __atomic_fetch_add(sum, x, __ATOMIC_RELAXED);
}

/* Adds to sum[sources]; returns how many rows are damaged. */
static uint64_t walk(const struct rows *a, const struct gnn_giving *g, uint64_t *sum)
{
    const bool alone = omp_get_max_threads() == 1;
    uint64_t wrong = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : wrong)
    for (uint64_t i = 0; i < a->n; i++) {
        const uint64_t from = a->ptr[i], to = a->ptr[i + 1];
        if (from > to || to > a->edges) {
            wrong++;
            continue;
        }
        const uint64_t x = from < to ? give(g, a->first + i, to - from) : 0;
        for (uint64_t k = x ? from : to; k < to; k++) {
            if (k + AHEAD < a->edges)
                __builtin_prefetch((char *)sum + 8 * (uint64_t)a->idx[k + AHEAD], 1);
            if (a->idx[k] < a->nsrc)
                add(&sum[a->idx[k]], x, alone);
            else
                wrong++;
        }
    }
    return wrong;
}

int gnn_access_walk(struct gnn_store *s, uint32_t et, const struct gnn_giving *g, uint64_t *sum,
                    struct gnn_err *e)
{
    const struct gnn_etype *type = &s->meta.schema.etype[et];
    char key[GNN_ETYPE_KEY_ROOM];
    gnn_etype_key(&s->meta.schema, et, key, sizeof key);
    for (uint32_t p = s->from; p < s->to; p++) {
        const struct gnn_tensor *ptr = gnn_store_findf(s, p, "edge/%s/indptr", key);
        const struct gnn_tensor *idx = gnn_store_findf(s, p, "edge/%s/indices", key);
        if (!ptr || !idx)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'edge/%s/%s' is missing",
                            gnn_store_part_path(s, p), key, ptr ? "indices" : "indptr");
        const struct rows a = {ptr->data,
                               idx->data,
                               gnn_store_owned(s, p, type->dst),
                               idx->shape[0],
                               s->book[type->dst][p],
                               s->meta.schema.ntype[type->src].count};
        if (walk(&a, g, sum))
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: tensor 'edge/%s/indptr' or '.../indices' is damaged",
                            gnn_store_part_path(s, p), key);
    }
    return 0;
}

/* ---- hop after hop ---- */

struct hops {
    struct gnn_store *s;
    const struct gnn_sampling *m;
    struct gnn_scores known, older; /* older only with GNN_FRONTIER_NEW */
    float **picked;                 /* [netypes]; NULL until a hop samples the type */
    uint64_t **sum;                 /* [nntypes] */
    const uint32_t *seeds;
    uint64_t nseeds, seed_gives;
};

static int hops_init(struct hops *w, struct gnn_err *e)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    if (gnn_scores_init(&w->known, c, e) ||
        (w->m->frontier == GNN_FRONTIER_NEW && gnn_scores_init(&w->older, c, e)))
        return e->code;
    w->picked = gnn_alloc_zero(c->netypes, sizeof *w->picked, "node scores", e);
    w->sum = gnn_alloc_zero(c->nntypes, sizeof *w->sum, "node scores", e);
    for (uint32_t t = 0; w->sum && t < c->nntypes; t++)
        if (!(w->sum[t] = gnn_alloc(c->ntype[t].count, sizeof **w->sum, "node scores", e)))
            return e->code;
    return w->picked && w->sum ? 0 : e->code;
}

static void hops_release(struct hops *w)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    for (uint32_t t = 0; w->picked && t < c->netypes; t++)
        gnn_free(w->picked[t]);
    for (uint32_t t = 0; w->sum && t < c->nntypes; t++)
        gnn_free(w->sum[t]);
    gnn_free(w->picked);
    gnn_free(w->sum);
    gnn_scores_release(&w->known);
    gnn_scores_release(&w->older);
}

/* What the seeds are known by, before any edge. */
static int begin_sums(struct hops *w, struct gnn_err *e)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    const uint32_t t0 = w->m->seed_ntype;
    for (uint32_t t = 0; t < c->nntypes; t++)
        memset(w->sum[t], 0, c->ntype[t].count * sizeof **w->sum);
    for (uint64_t i = 0; i < w->nseeds; i++) {
        if (w->seeds[i] >= c->ntype[t0].count)
            return gnn_fail(e, GNN_E_INPUT, "%s: seed out of range", w->s->path);
        w->sum[t0][w->seeds[i]] = w->seed_gives;
    }
    return 0;
}

/* The sums become what is known; that becomes older. */
static void end_sums(struct hops *w)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    for (uint32_t t = 0; t < c->nntypes; t++) {
        float *known = w->known.of[t], *older = w->older.of ? w->older.of[t] : NULL;
        const uint64_t *sum = w->sum[t], n = c->ntype[t].count;
#pragma omp parallel for schedule(static)
        for (uint64_t i = 0; i < n; i++) {
            if (older)
                older[i] = known[i];
            known[i] = gnn_access_from_fixed(sum[i]);
        }
    }
}

static int one_hop(struct hops *w, uint32_t hop, struct gnn_err *e)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    int rc = begin_sums(w, e);
    for (uint32_t et = 0; !rc && et < c->netypes; et++) {
        const uint32_t dst = c->etype[et].dst;
        const struct gnn_pick_rule rule = gnn_sampling_rule(w->m, hop * c->netypes + et);
        if (gnn_pick_any(rule) && !w->picked[et] &&
            !(w->picked[et] =
                  gnn_alloc_zero(c->ntype[dst].count, sizeof **w->picked, "node scores", e)))
            return e->code;
        const struct gnn_giving g = {w->picked[et], w->known.of[dst],
                                     w->older.of ? w->older.of[dst] : NULL, rule};
        if (w->picked[et])
            rc = gnn_access_walk(w->s, et, &g, w->sum[c->etype[et].src], e);
    }
    if (!rc)
        end_sums(w);
    return rc;
}

int gnn_access_expected(struct gnn_store *s, const struct gnn_sampling *m, const uint32_t *seeds,
                        uint64_t n, double share, struct gnn_scores *x, struct gnn_err *e)
{
    struct hops w = {
        .s = s, .m = m, .seeds = seeds, .nseeds = n, .seed_gives = gnn_access_to_fixed(share)};
    *x = (struct gnn_scores){0};
    int rc = hops_init(&w, e);
    if (!rc)
        rc = begin_sums(&w, e);
    if (!rc)
        end_sums(&w);
    for (uint32_t h = 0; !rc && h < m->nhops; h++)
        rc = one_hop(&w, h, e);
    if (!rc) {
        *x = w.known;
        w.known = (struct gnn_scores){0};
    }
    hops_release(&w);
    return rc;
}

int gnn_access_degree(struct gnn_store *s, const struct gnn_sampling *m, struct gnn_scores *x,
                      struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const struct gnn_giving one = {0};
    int rc = gnn_scores_init(x, c, e);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        uint64_t *sum = gnn_alloc_zero(c->ntype[t].count, sizeof *sum, "degrees", e);
        rc = sum ? 0 : e->code;
        for (uint32_t et = 0; !rc && et < c->netypes; et++)
            if (c->etype[et].src == t && gnn_sampling_uses(m, c->netypes, et))
                rc = gnn_access_walk(s, et, &one, sum, e);
        for (uint64_t i = 0; !rc && i < c->ntype[t].count; i++)
            x->of[t][i] = (float)sum[i];
        gnn_free(sum);
    }
    if (rc)
        gnn_scores_release(x);
    return rc;
}

int gnn_access_seeds(struct gnn_store *s, const struct gnn_sampling *m, uint32_t **seeds,
                     uint64_t *n, double *share, double *steps, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const int set = gnn_schema_find_set(c, m->split[0]);
    if (set < 0 || c->set[set].ntype != m->seed_ntype || c->set[set].count != m->split_seeds[0])
        return gnn_fail(e, GNN_E_USAGE, "the set of the batches, '%s', is not in the store",
                        m->split[0]);
    int rc = gnn_store_split(s, (uint32_t)set, seeds, e);
    *n = c->set[set].count;
    const double batches = (double)*n / m->batch_size;
    *share = batches > 1 ? 1 / batches : 1;
    *steps = m->drop_last ? floor(batches) : batches > 1 ? batches : 1;
    return rc;
}

int gnn_access_of_batches(struct gnn_store *s, const struct gnn_sampling *m, struct gnn_scores *x,
                          struct gnn_err *e)
{
    uint32_t *seeds = NULL;
    uint64_t n;
    double share, steps;
    int rc = gnn_access_seeds(s, m, &seeds, &n, &share, &steps, e);
    if (!rc)
        rc = gnn_access_expected(s, m, seeds, n, share, x, e);
    gnn_free(seeds);
    return rc;
}
