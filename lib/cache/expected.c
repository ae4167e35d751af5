/* SPDX-License-Identifier: Apache-2.0 */
/* Expected access frequencies. Those of each rank's batches are computed by all ranks, one rank
 * after the other: each rank keeps what is known of its own nodes, walks over its own edges, and
 * sends what these contribute to other ranks' nodes to their owners. Alone, the one rank owns
 * everything. */
#include "lib/cache/access.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "lib/comm/request.h"
#include "lib/data/rule.h"
#include "lib/store/seed_weights.h"

enum { AHEAD = 24 };

/* Products of many factors are sums of logarithms in fixed point: integers add up to the same in
 * any order, so threads and ranks need not agree on one. From FULL on, e^-32, a probability is 1,
 * and adding more would not change it. */
#define FIXED_ONE ((double)(UINT64_C(1) << 34))
#define FIXED_FULL (UINT64_C(32) << 34)

static uint64_t to_fixed(double p)
{
    const double x = p < 1 ? -log1p(-p) * FIXED_ONE : (double)FIXED_FULL;
    return x < (double)FIXED_FULL ? (uint64_t)(x + 0.5) : FIXED_FULL;
}

static float from_fixed(uint64_t x)
{
    return x < FIXED_FULL ? (float)-expm1(-(double)x / FIXED_ONE) : 1.0f;
}

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

/* What a destination contributes to each of its sources. `picked` NULL: 1, which counts. */
struct contribution {
    float *picked;      /* r_{h-1} -> r_h, by store id */
    const float *known; /* p_{h-1} */
    const float *older; /* p_{h-2}, or NULL: draws again */
    struct gnn_pick_rule rule;
};

/* The in-edges of nodes first, first + 1, ... */
struct rows {
    const uint64_t *ptr;
    const uint32_t *idx;
    uint64_t n, edges, first, nsrc;
};

static uint64_t contribution_of(const struct contribution *g, uint64_t v, uint32_t degree)
{
    if (!g->picked)
        return 1;
    /* fresh: the chance of a draw that counts. With the frontier "new" a node draws once, so it
     * must have been reached in the last hop; else it draws in each hop, and a source must not have
     * been picked before. */
    const double r = g->picked[v], fresh = g->known[v] - (g->older ? g->older[v] : r),
                 chance = gnn_pick_any(g->rule) ? gnn_pick_chance(g->rule, degree) : 0;
    if (fresh > 0)
        g->picked[v] = (float)(r + fresh * chance);
    return g->picked[v] > 0 ? to_fixed(g->picked[v]) : 0;
}

static void add_to(uint64_t *sum, uint64_t x, bool one_thread)
{
    if (one_thread)
        *sum += *sum < FIXED_FULL ? x : 0;
    /* A sum that is full is not written to: popular nodes would be a line that all threads fight
     * for. */
    else if (__atomic_load_n(sum, __ATOMIC_RELAXED) < FIXED_FULL)
        __atomic_fetch_add(sum, x, __ATOMIC_RELAXED);
}

/* Adds to sum[sources]; returns how many rows are damaged. */
static uint64_t walk_rows(const struct rows *a, const struct contribution *g, uint64_t *sum)
{
    const bool one_thread = omp_get_max_threads() == 1;
    uint64_t wrong = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : wrong)
    for (uint64_t i = 0; i < a->n; i++) {
        const uint64_t from = a->ptr[i], to = a->ptr[i + 1];
        if (from > to || to > a->edges || to - from > UINT32_MAX) {
            wrong++;
            continue;
        }
        const uint64_t x = from < to ? contribution_of(g, a->first + i, (uint32_t)(to - from)) : 0;
        for (uint64_t k = x ? from : to; k < to; k++) {
            if (k + AHEAD < a->edges)
                __builtin_prefetch((char *)sum + 8 * (uint64_t)a->idx[k + AHEAD], 1);
            if (a->idx[k] < a->nsrc)
                add_to(&sum[a->idx[k]], x, one_thread);
            else
                wrong++;
        }
    }
    return wrong;
}

/* Over the in-edges of parts [from, to), which are open: adds to sum[sources]. */
static int walk_edges(struct gnn_store *s, uint32_t from, uint32_t to, uint32_t et,
                      const struct contribution *g, uint64_t *sum, struct gnn_err *e)
{
    const struct gnn_etype *type = &s->meta.schema.etype[et];
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(&s->meta.schema, et, key, sizeof key);
    for (uint32_t p = from; p < to; p++) {
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
        if (walk_rows(&a, g, sum))
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
    struct gnn_scores *known;   /* of this rank's own nodes */
    struct gnn_scores of_other; /* that, for another rank's batches */
    struct gnn_scores older;    /* only with GNN_FRONTIER_NEW */
    float **picked;             /* [netypes]; NULL until a hop samples the type */
    uint64_t **sum;             /* [nntypes] -> (nodes) */
    struct gnn_request q;
    const struct gnn_access_seeds *seeds;
    struct gnn_err *e;
};

static int hops_init(struct hops *w)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    if (w->m->frontier == GNN_FRONTIER_NEW && gnn_scores_init(&w->older, c, w->e))
        return w->e->code;
    w->picked = gnn_alloc_zero(c->netypes, sizeof *w->picked, "node scores", w->e);
    w->sum = gnn_alloc_zero(c->nntypes, sizeof *w->sum, "node scores", w->e);
    for (uint32_t t = 0; w->sum && t < c->nntypes; t++)
        if (!(w->sum[t] = gnn_alloc(c->ntype[t].count, sizeof **w->sum, "node scores", w->e)))
            return w->e->code;
    return w->picked && w->sum ? gnn_request_init(&w->q, w->s->comm, 0, w->e) : w->e->code;
}

static void forget_picks(struct hops *w)
{
    for (uint32_t t = 0; w->picked && t < w->s->meta.schema.netypes; t++) {
        gnn_free(w->picked[t]);
        w->picked[t] = NULL;
    }
}

static void hops_release(struct hops *w)
{
    forget_picks(w);
    for (uint32_t t = 0; w->sum && t < w->s->meta.schema.nntypes; t++)
        gnn_free(w->sum[t]);
    gnn_free(w->picked);
    gnn_free(w->sum);
    gnn_scores_release(&w->of_other);
    gnn_scores_release(&w->older);
    gnn_request_release(&w->q);
}

/* What the seeds are known by, before any edge. */
static int begin_sums(struct hops *w, uint32_t of)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    const struct gnn_access_seeds *q = w->seeds;
    const uint32_t t0 = w->m->seed_ntype;
    const uint64_t share = to_fixed(q->share);
    for (uint32_t t = 0; t < c->nntypes; t++)
        memset(w->sum[t], 0, c->ntype[t].count * sizeof **w->sum);
    for (uint64_t i = 0; of == w->s->comm->rank && i < q->n; i++) {
        if (q->id[i] < q->from || q->id[i] >= q->to)
            continue;
        if (!gnn_store_owns(w->s, t0, q->id[i]))
            return gnn_fail(w->e, GNN_E_INPUT, "%s: seed out of range", w->s->path);
        w->sum[t0][q->id[i]] = q->chance ? to_fixed((double)q->chance[i]) : share;
    }
    return 0;
}

/* A sum as it is sent. */
struct sent_sum {
    uint64_t sum;
    uint32_t node, type;
};
enum { SENT_WORDS = sizeof(struct sent_sum) / sizeof(uint32_t) };

static void begin_round(struct hops *w)
{
    gnn_request_begin(&w->q, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_ACCESS), NULL);
}

/* Queues what is not 0 of the nodes of rank `owner`. */
static int send_sums(struct hops *w, uint32_t owner, uint32_t to)
{
    for (uint32_t t = 0; t < w->s->meta.schema.nntypes; t++) {
        const uint64_t *book = w->s->rank_book[t], *sum = w->sum[t];
        for (uint64_t i = book[owner]; i < book[owner + 1]; i++) {
            if (!sum[i])
                continue;
            uint32_t *words = gnn_packet_add(&w->q.queue[to], SENT_WORDS, w->e);
            if (!words)
                return w->e->code;
            memcpy(words, &(struct sent_sum){sum[i], (uint32_t)i, t}, sizeof(struct sent_sum));
        }
    }
    return 0;
}

/* The next sum that rank r sent, of a node of rank `owner`: 1, or 0 after the last, or a failure.
 */
static int next_sum(struct hops *w, uint32_t r, uint32_t owner, struct sent_sum *x)
{
    struct gnn_packet_in *in = &w->q.in[r];
    const struct gnn_store *s = w->s;
    const uint32_t *words = gnn_packet_read(in, SENT_WORDS);
    if (!words && in->at == in->n)
        return 0;
    if (words)
        memcpy(x, words, sizeof *x);
    /* Half of the range, so that a wrong number cannot overflow a sum. */
    if (!words || x->type >= s->meta.schema.nntypes || x->node < s->rank_book[x->type][owner] ||
        x->node >= s->rank_book[x->type][owner + 1] || x->sum > UINT64_MAX / 2)
        return gnn_request_malformed(&w->q, r, w->e);
    return 1;
}

/* Contributions to other ranks' nodes go there, theirs come here. */
static int share_contributions(struct hops *w)
{
    const uint32_t self = w->s->comm->rank, ranks = w->s->comm->size;
    struct sent_sum x;
    int rc = 0;
    begin_round(w);
    /* One round trip: every rank sends, even if it has nothing, as the others wait for it. */
    for (uint32_t r = 0; !rc && r < ranks; r++)
        rc = r == self ? 0 : send_sums(w, r, r);
    if (!rc)
        rc = gnn_request_ask(&w->q, w->e);
    for (uint32_t r = 0; !rc && r < ranks; r++)
        while ((rc = next_sum(w, r, self, &x)) > 0)
            add_to(&w->sum[x.type][x.node], x.sum, true);
    return rc;
}

/* The sums of own nodes become what is known; that becomes older. */
static int end_sums(struct hops *w)
{
    const struct gnn_store *s = w->s;
    const int rc = share_contributions(w);
    for (uint32_t t = 0; !rc && t < s->meta.schema.nntypes; t++) {
        float *known = w->known->of[t], *older = w->older.of ? w->older.of[t] : NULL;
        const uint64_t *sum = w->sum[t], from = s->book[t][s->from], to = s->book[t][s->to];
#pragma omp parallel for schedule(static)
        for (uint64_t i = from; i < to; i++) {
            if (older)
                older[i] = known[i];
            known[i] = from_fixed(sum[i]);
        }
    }
    return rc;
}

/* What all edge types add. */
static int add_hop(struct hops *w, uint32_t hop)
{
    const struct gnn_schema *c = &w->s->meta.schema;
    int rc = 0;
    for (uint32_t et = 0; !rc && et < c->netypes; et++) {
        const uint32_t dst = c->etype[et].dst;
        const struct gnn_pick_rule rule = gnn_sampling_rule(w->m, hop * c->netypes + et);
        if (gnn_pick_any(rule) && !w->picked[et] &&
            !(w->picked[et] =
                  gnn_alloc_zero(c->ntype[dst].count, sizeof **w->picked, "node scores", w->e)))
            return w->e->code;
        const struct contribution g = {w->picked[et], w->known->of[dst],
                                       w->older.of ? w->older.of[dst] : NULL, rule};
        if (w->picked[et])
            rc = walk_edges(w->s, w->s->from, w->s->to, et, &g, w->sum[c->etype[et].src], w->e);
    }
    return rc;
}

static int one_hop(struct hops *w, uint32_t of, uint32_t hop)
{
    int rc = begin_sums(w, of);
    if (!rc)
        rc = add_hop(w, hop);
    return rc ? rc : end_sums(w);
}

/* What every rank knows of its own nodes goes to the rank whose batches these are. */
static int collect_sums(struct hops *w, uint32_t of)
{
    const uint32_t self = w->s->comm->rank;
    struct sent_sum x;
    begin_round(w);
    int rc = of == self ? 0 : send_sums(w, self, of);
    if (!rc)
        rc = gnn_request_ask(&w->q, w->e);
    for (uint32_t r = 0; !rc && r < w->s->comm->size; r++)
        while ((rc = next_sum(w, r, r, &x)) > 0)
            w->known->of[x.type][x.node] = from_fixed(x.sum);
    return rc;
}

/* The frequencies of the batches of rank `of`, into w->known if that is this one. */
static int walk_for(struct hops *w, uint32_t of)
{
    forget_picks(w);
    int rc = begin_sums(w, of);
    if (!rc)
        rc = end_sums(w);
    for (uint32_t h = 0; !rc && h < w->m->nhops && !gnn_sampling_induces(w->m, h); h++)
        rc = one_hop(w, of, h);
    return rc ? rc : collect_sums(w, of);
}

int gnn_access_expected(struct gnn_store *s, const struct gnn_sampling *m,
                        const struct gnn_access_seeds *seeds, struct gnn_scores *x,
                        struct gnn_err *e)
{
    struct hops w = {.s = s, .m = m, .seeds = seeds, .e = e};
    if (!gnn_access_is_known(m))
        return gnn_fail(e, GNN_E_USAGE,
                        "expected accesses are known of uniform picks only: count those of these "
                        "batches with gnn-sample --count --frequency FILE, and give --cache-order "
                        "FILE (for --replicate: halo or degree)");
    int rc = gnn_scores_init(x, &s->meta.schema, e);
    if (!rc)
        rc = hops_init(&w);
    for (uint32_t r = 0; !rc && r < s->comm->size; r++) {
        w.known = r == s->comm->rank ? x : &w.of_other;
        gnn_scores_release(&w.of_other);
        rc = w.known == x ? 0 : gnn_scores_init(w.known, &s->meta.schema, e);
        if (!rc)
            rc = walk_for(&w, r);
    }
    hops_release(&w);
    if (rc)
        gnn_scores_release(x);
    return rc;
}

int gnn_access_degree(struct gnn_store *s, const struct gnn_sampling *m, uint32_t from, uint32_t to,
                      struct gnn_scores *x, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const struct contribution one = {0};
    int rc = gnn_scores_init(x, c, e);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        uint64_t *sum = gnn_alloc_zero(c->ntype[t].count, sizeof *sum, "degrees", e);
        rc = sum ? 0 : e->code;
        for (uint32_t et = 0; !rc && et < c->netypes; et++)
            if (c->etype[et].src == t && gnn_sampling_uses(m, c->netypes, et))
                rc = walk_edges(s, from, to, et, &one, sum, e);
        for (uint64_t i = 0; !rc && i < c->ntype[t].count; i++)
            x->of[t][i] = (float)sum[i];
        gnn_free(sum);
    }
    if (rc)
        gnn_scores_release(x);
    return rc;
}

/* A seed that is drawn with replacement is in a batch unless no draw takes it. */
static int set_chances(struct gnn_store *s, const struct gnn_sampling *m,
                       struct gnn_access_seeds *x, struct gnn_err *e)
{
    double total = 0, *w = gnn_alloc_zero(x->n, sizeof *w, "weights of seeds", e);
    x->chance = gnn_alloc(x->n, sizeof *x->chance, "chances of seeds", e);
    int rc = w && x->chance ? gnn_store_seed_weights(s, m, x->id, x->n, w, e) : e->code;
    for (uint64_t i = 0; !rc && i < x->n; i++)
        total += w[i];
    for (uint64_t i = 0; !rc && i < x->n; i++)
        x->chance[i] = (float)-expm1(m->batch_size * log1p(-fmin(1, w[i] / total)));
    gnn_free(w);
    return rc;
}

int gnn_access_find_seeds(struct gnn_store *s, const struct gnn_sampling *m,
                          struct gnn_access_seeds *x, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const int set = gnn_sampling_find_set(m, 0, c);
    *x = (struct gnn_access_seeds){.n = 0};
    if (set < 0)
        return gnn_fail(e, GNN_E_USAGE, "the set of the batches, '%s', is not in the store",
                        m->split[0]);
    if (gnn_store_split(s, (uint32_t)set, &x->id, e))
        return e->code;
    x->n = c->set[set].count;
    x->to = UINT64_MAX;
    /* The chance of a seed to be in a batch, and steps of an epoch. */
    const double batches =
        m->clusters ? (double)s->nparts / m->clusters : (double)x->n / m->batch_size;
    x->share = batches > 1 ? 1 / batches : 1;
    x->steps = m->drop_last ? floor(batches) : batches > 1 ? batches : 1;
    int rc = gnn_sampling_draws_seeds(m) ? set_chances(s, m, x, e) : 0;
    if (rc)
        gnn_access_seeds_release(x);
    return rc;
}

void gnn_access_seeds_release(struct gnn_access_seeds *x)
{
    gnn_free(x->id);
    gnn_free(x->chance);
    *x = (struct gnn_access_seeds){.n = 0};
}

int gnn_access_of_batches(struct gnn_store *s, const struct gnn_sampling *m, struct gnn_scores *x,
                          struct gnn_err *e)
{
    const uint64_t *book = s->book[m->seed_ntype];
    struct gnn_access_seeds seeds;
    if (gnn_access_find_seeds(s, m, &seeds, e))
        return e->code;
    seeds.from = book[s->from];
    seeds.to = book[s->to];
    const int rc = gnn_access_expected(s, m, &seeds, x, e);
    gnn_access_seeds_release(&seeds);
    return rc;
}
