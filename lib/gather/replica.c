#include "lib/gather/replica.h"

#include <stdlib.h>
#include <string.h>

enum { ROUND = 1 << 16 }; /* rows fetched at once, so that they do not lie in memory twice */

void gnn_gather_replica_free(struct gather_replica *r)
{
    if (!r)
        return;
    for (uint32_t t = 0; r->of && t < r->ntypes; t++) {
        gnn_node_map_release(&r->of[t].map);
        gnn_free(r->of[t].node);
    }
    for (uint32_t i = 0; r->data && i < r->njobs; i++)
        gnn_free(r->data[i]);
    gnn_free(r->of);
    gnn_free(r->data);
    gnn_free(r);
}

/* ---- which ---- */

struct candidate {
    float score;
    uint32_t type, node;
};

static int by_score(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Bytes of a type's rows as they travel; 0 where there are none. */
static uint64_t row_bytes(const struct gatherer *g, uint32_t t)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < g->njobs; i++)
        if (!g->job[i].edge && !g->job[i].label && g->job[i].type == t)
            bytes += gnn_gather_job_out(&g->job[i]);
    return bytes;
}

enum { BUCKETS = 1 << 16 };

/* Scores are positive: their bits ascend as they do. */
static uint32_t bucket(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    return bits >> 16;
}

/* Others' nodes with rows and a score, from the bucket in which the budget runs out on. */
static int find_candidates(const struct gatherer *g, const struct gnn_scores *x, uint64_t budget,
                           struct candidate **out, uint64_t *n, struct gnn_err *e)
{
    const struct gnn_store *s = g->store;
    const struct gnn_schema *c = &s->meta.schema;
    uint64_t *bytes = gnn_alloc_zero(BUCKETS, sizeof *bytes, "nodes to keep", e),
             *count = gnn_alloc_zero(BUCKETS, sizeof *count, "nodes to keep", e);
    uint32_t least = BUCKETS;
    *n = 0;
    *out = NULL;
    for (int pass = 0; bytes && count && pass < 2; pass++) {
        uint64_t at = 0;
        for (uint32_t t = 0; t < c->nntypes; t++) {
            const uint64_t row = row_bytes(g, t), from = s->book[t][s->from],
                           to = s->book[t][s->to];
            for (uint64_t i = 0; row && i < c->ntype[t].count; i++) {
                if ((i >= from && i < to) || !(x->of[t][i] > 0))
                    continue;
                const uint32_t b = bucket(x->of[t][i]);
                bytes[b] += pass ? 0 : row;
                count[b] += pass ? 0 : 1;
                if (pass && b >= least)
                    (*out)[at++] = (struct candidate){x->of[t][i], t, (uint32_t)i};
            }
        }
        for (uint64_t sum = 0; !pass && least && sum <= budget; sum += bytes[least])
            *n += count[--least];
        if (!pass && !(*out = gnn_alloc(*n, sizeof **out, "nodes to keep", e)))
            break;
    }
    gnn_free(bytes);
    gnn_free(count);
    return e->code;
}

static int keep_new(struct gather_kept *k, uint64_t n, struct gnn_err *e)
{
    k->node = gnn_alloc(n, sizeof *k->node, "nodes to keep", e);
    return k->node ? gnn_node_map_init(&k->map, n, e) : e->code;
}

static void keep_add(struct gather_kept *k, uint32_t node)
{
    (void)gnn_node_map_add(&k->map, node, (uint32_t)k->n);
    k->node[k->n++] = node;
}

static int choose(struct gather_replica *r, struct gatherer *g,
                  const struct gnn_gather_replicate *o, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->store->meta.schema;
    const struct gnn_order order = {.by = o->by};
    const struct gnn_order_scope scope = {.store = g->store, .sampling = &g->meta.sampling};
    struct gnn_scores made = {0};
    const struct gnn_scores *x;
    struct candidate *all = NULL;
    uint64_t n = 0, total = 0, left,
             *of = gnn_alloc_zero(c->nntypes, sizeof *of, "nodes to keep", e);
    int rc = of ? gnn_order_scores(&order, &scope, &made, &x, e) : e->code;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        total += c->ntype[t].count * row_bytes(g, t);
    const double budget = o->share * (double)total / g->comm->size;
    left = budget < 0x1p63 ? (uint64_t)budget : UINT64_MAX;
    if (!rc)
        rc = find_candidates(g, x, left, &all, &n, e);
    if (!rc)
        qsort(all, n, sizeof *all, by_score);
    uint64_t used = 0;
    for (; !rc && used < n && row_bytes(g, all[used].type) <= left; used++) {
        left -= row_bytes(g, all[used].type);
        of[all[used].type]++;
    }
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        rc = keep_new(&r->of[t], of[t], e);
    for (uint64_t i = 0; !rc && i < used; i++)
        keep_add(&r->of[all[i].type], all[i].node);
    gnn_scores_release(&made);
    gnn_free(all);
    gnn_free(of);
    return rc;
}

/* ---- their rows ---- */

/* A batch that has nothing but the nodes of each type from `from` on, at most ROUND of them. */
static void fill_batch(const struct gather_replica *r, struct gnn_batch *b, uint64_t from,
                       uint64_t *counts)
{
    gnn_tensors_clear(&b->tensors);
    b->nth = from / ROUND;
    for (uint32_t t = 0; t < r->ntypes; t++) {
        const uint64_t n = r->of[t].n > from ? r->of[t].n - from : 0;
        uint64_t *count = counts + (size_t)t * (b->nhops + 1);
        for (uint32_t h = 0; h <= b->nhops; h++)
            count[h] = h == 0 ? 0 : n < ROUND ? n : ROUND;
        b->type[t] = (struct gnn_batch_type){.node = n ? r->of[t].node + from : r->of[t].node,
                                             .count = count};
    }
}

static int take_rows(struct gather_replica *r, const struct gatherer *g, const struct gnn_batch *b,
                     uint64_t from, struct gnn_err *e)
{
    char name[GNN_NAME_MAX + 1];
    for (uint32_t i = 0; i < g->njobs; i++) {
        const struct gather_job *j = &g->job[i];
        if (!r->data[i] || from >= r->of[j->type].n)
            continue;
        const struct gnn_tensor *x = gnn_tensors_find(
            &b->tensors, gnn_tensor_name(name, "node/%s/%s", g->meta.schema.ntype[j->type].name,
                                         j->field->name));
        if (!x)
            return gnn_fail(e, GNN_E_RUN, "field '%s' was not gathered", name);
        memcpy((char *)r->data[i] + from * gnn_gather_job_out(j), x->data,
               x->shape[0] * gnn_gather_job_out(j));
    }
    return 0;
}

static int fetch_rows(struct gather_replica *r, struct gatherer *g, struct gnn_err *e)
{
    struct gather_far *f = gnn_gather_far_new(g, e);
    struct gnn_batch_pool *pool = f ? gnn_batch_pool_new(&g->meta, e) : NULL;
    struct gnn_batch *b = NULL;
    uint64_t *counts = gnn_alloc(r->ntypes * (g->meta.sampling.nhops + UINT64_C(1)), sizeof *counts,
                                 "nodes to keep", e),
             most = 0;
    int rc = pool && counts ? gnn_batch_get(pool, &b, e) : e->code;
    for (uint32_t i = 0; !rc && i < g->njobs; i++) {
        const struct gather_job *j = &g->job[i];
        if (!j->edge && !j->label &&
            !(r->data[i] =
                  gnn_alloc(r->of[j->type].n, gnn_gather_job_out(j), "rows of other ranks", e)))
            rc = e->code;
    }
    for (uint32_t t = 0; t < r->ntypes; t++)
        most = r->of[t].n > most ? r->of[t].n : most;
    if (!rc) /* ranks that keep fewer rows answer the others to the end */
        rc = gnn_comm_all_reduce(g->comm, &most, 1, GNN_REDUCE_MAX, e);
    for (uint64_t from = 0; !rc && from < most; from += ROUND) {
        fill_batch(r, b, from, counts);
        rc = gnn_gather_far_apply(g, f, b, e);
        if (!rc)
            rc = take_rows(r, g, b, from, e);
    }
    gnn_batch_put(b);
    gnn_batch_pool_free(pool);
    gnn_gather_far_free(f);
    gnn_free(counts);
    return rc;
}

struct gather_replica *
gnn_gather_replica_new(struct gatherer *g, const struct gnn_gather_replicate *o, struct gnn_err *e)
{
    struct gather_replica *r = gnn_alloc_zero(1, sizeof *r, "rows of other ranks", e);
    if (!r)
        return NULL;
    r->ntypes = g->meta.schema.nntypes;
    r->njobs = g->njobs;
    r->of = gnn_alloc_zero(r->ntypes, sizeof *r->of, "rows of other ranks", e);
    r->data = gnn_alloc_zero(r->njobs, sizeof *r->data, "rows of other ranks", e);
    if (r->of && r->data && !choose(r, g, o, e) && !fetch_rows(r, g, e))
        return r;
    gnn_gather_replica_free(r);
    return NULL;
}
