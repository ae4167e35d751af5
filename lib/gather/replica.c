/* SPDX-License-Identifier: Apache-2.0 */
/* Replicated remote rows (lib/gather/replica.h): which rows of other ranks this one keeps a copy
 * of, and fetching them once, in the beginning, as batches of nodes without edges. Ranks may keep
 * different numbers of rows, but go through the same number of rounds, since each must answer the
 * others. */
#include "lib/gather/replica.h"

#include <string.h>

#include "lib/cache/fill.h"

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

/* Bytes of a type's rows as they travel; 0 where there are none. */
static uint64_t row_bytes(const struct gatherer *g, uint32_t t)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < g->njobs; i++)
        if (!g->job[i].edge && !g->job[i].label && g->job[i].type == t)
            bytes += gnn_gather_job_out(&g->job[i]);
    return bytes;
}

/* The nodes of the first n rows of a ranking. */
static int copy_ids(struct gather_copies *k, const uint32_t *row, uint64_t n, struct gnn_err *e)
{
    k->node = gnn_alloc(n, sizeof *k->node, "replicated nodes", e);
    int rc = k->node ? gnn_node_map_init(&k->map, n, e) : e->code;
    for (; !rc && k->n < n; k->n++) {
        k->node[k->n] = row[k->n];
        (void)gnn_node_map_add(&k->map, row[k->n], (uint32_t)k->n);
    }
    return rc;
}

/* Ranks the remote rows of nodes that this rank's batches have. */
static int rank_remote(const struct gatherer *g, const struct gnn_gather_replicate *o,
                       const uint64_t *bytes, struct gnn_scores *made, struct gnn_ranking *k,
                       struct gnn_err *e)
{
    const bool halo = o->or_halo && !gnn_access_is_known(&g->meta.sampling);
    const struct gnn_order order = {.by = halo ? GNN_ORDER_HALO : o->by};
    const struct gnn_order_scope scope = {.store = g->store, .sampling = &g->meta.sampling};
    const struct gnn_scores *x;
    return gnn_order_scores(&order, &scope, made, &x, e) ||
                   gnn_ranking_init(k, g->store, bytes, x, g->store->from, g->store->to, e)
               ? e->code
               : 0;
}

static int choose_rows(struct gather_replica *r, struct gatherer *g,
                       const struct gnn_gather_replicate *o, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->store->meta.schema;
    struct gnn_scores made = {0};
    struct gnn_ranking ranked = {0};
    uint64_t total = 0, *bytes = gnn_alloc_zero(c->nntypes, sizeof *bytes, "replicated nodes", e),
             *n = gnn_alloc_zero(c->nntypes, sizeof *n, "replicated nodes", e);
    int rc = bytes && n ? 0 : e->code;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        total += c->ntype[t].count * (bytes[t] = row_bytes(g, t));
    if (!rc)
        rc = rank_remote(g, o, bytes, &made, &ranked, e);
    /* The share is of an average rank's rows. */
    const double budget = o->share * (double)total / g->comm->size;
    if (!rc)
        gnn_fill_one(&ranked, budget < 0x1p63 ? (uint64_t)budget : UINT64_MAX, n);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        rc = copy_ids(&r->of[t], ranked.row[t], n[t], e);
    gnn_ranking_release(&ranked);
    gnn_scores_release(&made);
    gnn_free(bytes);
    gnn_free(n);
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
        /* A type that has run out of rows stays in the batch, with none. */
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

/* Rows are copied as they travel. */
static void gather_as_sent(struct gatherer *g, bool sent)
{
    for (uint32_t i = 0; i < g->njobs; i++)
        g->job[i].as_sent = sent && g->job[i].field->scaled;
}

static int fetch_rows(struct gather_replica *r, struct gatherer *g, struct gnn_err *e)
{
    struct gather_rows *f = gnn_gather_rows_new(g, e);
    struct gnn_batch_pool *pool = f ? gnn_batch_pool_new(&g->meta, e) : NULL;
    struct gnn_batch *b = NULL;
    uint64_t *counts = gnn_alloc(r->ntypes * (g->meta.sampling.nhops + UINT64_C(1)), sizeof *counts,
                                 "replicated nodes", e),
             most = 0;
    int rc = pool && counts ? gnn_batch_get(pool, &b, e) : e->code;
    for (uint32_t i = 0; !rc && i < g->njobs; i++) {
        const struct gather_job *j = &g->job[i];
        if (!j->edge && !j->label &&
            !(r->data[i] = gnn_alloc(r->of[j->type].n, gnn_gather_job_out(j), "remote rows", e)))
            rc = e->code;
    }
    for (uint32_t t = 0; t < r->ntypes; t++)
        most = r->of[t].n > most ? r->of[t].n : most;
    if (!rc) /* ranks with fewer copies answer the others to the end */
        rc = gnn_comm_all_reduce(g->comm, &most, 1, GNN_REDUCE_MAX, e);
    gather_as_sent(g, true);
    for (uint64_t from = 0; !rc && from < most; from += ROUND) {
        fill_batch(r, b, from, counts);
        rc = gnn_gather_apply(g, f, b, e);
        if (!rc)
            rc = take_rows(r, g, b, from, e);
    }
    gather_as_sent(g, false);
    gnn_batch_put(b);
    gnn_batch_pool_free(pool);
    gnn_gather_rows_free(f);
    gnn_free(counts);
    return rc;
}

static void report_copies(const struct gather_replica *r, uint64_t begun, uint64_t chosen,
                          uint64_t sent, struct gnn_gather_copying *took)
{
    *took = (struct gnn_gather_copying){.choosing = chosen - begun, .fetching = sent - chosen};
    for (uint32_t t = 0; t < r->ntypes; t++)
        took->rows += r->of[t].n;
}

struct gather_replica *gnn_gather_replica_new(struct gatherer *g,
                                              const struct gnn_gather_replicate *o,
                                              struct gnn_gather_copying *took, struct gnn_err *e)
{
    const uint64_t begun = g->comm->sent;
    struct gather_replica *r = gnn_alloc_zero(1, sizeof *r, "remote rows", e);
    if (!r)
        return NULL;
    r->ntypes = g->meta.schema.nntypes;
    r->njobs = g->njobs;
    r->of = gnn_alloc_zero(r->ntypes, sizeof *r->of, "remote rows", e);
    r->data = gnn_alloc_zero(r->njobs, sizeof *r->data, "remote rows", e);
    int rc = r->of && r->data ? choose_rows(r, g, o, e) : e->code;
    const uint64_t chosen = g->comm->sent;
    if (!rc)
        rc = fetch_rows(r, g, e);
    if (!rc && took)
        report_copies(r, begun, chosen, g->comm->sent, took);
    if (!rc)
        return r;
    gnn_gather_replica_free(r);
    return NULL;
}
