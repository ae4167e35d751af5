/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-gather --plan (lib/cache/plan.h): expected accesses, a cache for each order and size, and
 * what real batches find in them. For --replicate, that is repeated for each partition, as each
 * rank replicates what its own batches need; its seeds are the part's. */
#include "lib/cache/plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/store/ids.h"

/* ---- what is asked of which batches ---- */

int gnn_cache_plan_init(struct gnn_cache_plan *p, struct gnn_store *s, const struct gnn_sampling *m,
                        const struct gnn_cache_plan_opts *o, struct gnn_err *e)
{
    const uint32_t ntypes = s->meta.schema.nntypes;
    *p = (struct gnn_cache_plan){.store = s,
                                 .sampling = m,
                                 .rows = o->rows,
                                 .size = o->size,
                                 .remote = o->remote,
                                 .nsizes = o->nsizes,
                                 .nremote = o->nremote};
    int rc = gnn_access_find_seeds(s, m, &p->seeds, e);
    if (!rc && m->walks.length && o->nremote)
        rc = gnn_fail(e, GNN_E_USAGE, "--replicate: walks do not say which seeds led to a node");
    if (rc)
        return rc;
    p->inverse = gnn_alloc_zero(ntypes, sizeof *p->inverse, "node ids", e);
    p->ids = gnn_alloc_zero(ntypes, sizeof *p->ids, "node ids", e);
    p->id = gnn_alloc_zero(ntypes, sizeof *p->id, "node ids", e);
    rc = p->inverse && p->ids && p->id ? 0 : e->code;
    for (uint32_t t = 0; !rc && m->original_ids && t < ntypes; t++)
        rc = gnn_store_inverse(s, t, &p->inverse[t], e);
    if (!rc)
        rc = gnn_reach_init(&p->reach, ntypes, e);
    const double begin = gnn_clock();
    if (!rc && gnn_access_is_known(m))
        rc = gnn_access_expected(s, m, &p->seeds, &p->access, e);
    p->seconds = gnn_clock() - begin;
    return rc;
}

/* ---- orders and their caches ---- */

static void figures_of(struct gnn_cache_figures *f, const struct gnn_cache *k)
{
    f->nsizes = k->nsizes;
    for (uint32_t i = 0; i < k->nsizes; i++) {
        f->rows[i] += k->rows[i];
        f->bytes[i] += k->bytes[i];
    }
}

int gnn_cache_plan_add(struct gnn_cache_plan *p, struct gnn_order *order, struct gnn_err *e)
{
    const struct gnn_order_scope scope = {
        .store = p->store, .sampling = p->sampling, .access = p->access.of ? &p->access : NULL};
    if (gnn_grow(&p->order, p->norder, sizeof *p->order, "orders", e)) {
        gnn_order_release(order);
        return e->code;
    }
    struct gnn_cache_plan_order *r = &p->order[p->norder++];
    const struct gnn_scores *x;
    r->order = *order;
    *order = (struct gnn_order){0};
    if (gnn_order_remote_only(r->order.by))
        return 0;
    int rc = gnn_order_scores(&r->order, &scope, &r->made, &x, e);
    if (rc || !p->nsizes)
        return rc;
    rc = gnn_cache_init(&r->cache, p->store, p->rows, x, p->size, p->nsizes, -1, e);
    if (rc)
        return rc;
    gnn_cache_expected(&r->cache, &p->store->meta.schema, &p->access, r->whole.expected);
    figures_of(&r->whole, &r->cache);
    return 0;
}

/* What the part replicates by this order, and what it still requests from other ranks. access: how
 * often batches of the seeds that it owns have each node. */
static int order_part(struct gnn_cache_plan *p, struct gnn_cache_plan_order *r, uint32_t part,
                      const struct gnn_scores *access, struct gnn_err *e)
{
    const struct gnn_order_scope scope = {.store = p->store,
                                          .sampling = p->sampling,
                                          .one_part = true,
                                          .part = part,
                                          .access = access->of ? access : NULL};
    struct gnn_scores made = {0};
    double missed[GNN_CACHE_SIZES_MAX + 1];
    const struct gnn_scores *x = &r->made;
    /* An order that does not depend on batches has been scored once, for all parts. */
    int rc = r->made.of ? 0 : gnn_order_scores(&r->order, &scope, &made, &x, e);
    if (!rc)
        rc = gnn_cache_init(&r->remote[part], p->store, p->rows, x, p->remote, p->nremote, part, e);
    gnn_scores_release(&made);
    if (rc)
        return rc;
    gnn_cache_expected(&r->remote[part], &p->store->meta.schema, access, missed);
    for (uint32_t k = 0; k <= p->nremote; k++)
        r->parts.expected[k] += missed[k] * p->seeds.steps;
    figures_of(&r->parts, &r->remote[part]);
    return 0;
}

static int one_part(struct gnn_cache_plan *p, uint32_t part, struct gnn_err *e)
{
    /* A rank's batches begin with the seeds that it owns. */
    const uint64_t *book = p->store->book[p->sampling->seed_ntype];
    struct gnn_access_seeds own = p->seeds;
    struct gnn_scores access = {0};
    own.from = book[part];
    own.to = book[part + 1];
    int rc = p->access.of ? gnn_access_expected(p->store, p->sampling, &own, &access, e) : 0;
    for (uint32_t i = 0; !rc && i < p->norder; i++)
        rc = order_part(p, &p->order[i], part, &access, e);
    gnn_scores_release(&access);
    return rc;
}

int gnn_cache_plan_parts(struct gnn_cache_plan *p, struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t i = 0; p->nremote && i < p->norder; i++)
        if (!(p->order[i].remote = gnn_alloc_zero(p->store->nparts, sizeof(struct gnn_cache),
                                                  "caches of partitions", e)))
            return e->code;
    for (uint32_t k = 0; !rc && p->nremote && k < p->store->nparts; k++)
        rc = one_part(p, k, e);
    return rc;
}

/* ---- batches ---- */

static void count_order(const struct gnn_cache_plan *p, struct gnn_cache_plan_order *r,
                        const struct gnn_batch *b)
{
    for (uint32_t t = 0; t < b->nntypes; t++) {
        const uint64_t n = gnn_batch_nodes(b, t);
        if (r->cache.level)
            gnn_cache_count(&r->cache, t, p->id[t], n, NULL, 0, &r->tally);
        for (uint32_t k = 0; r->remote && k < p->store->nparts; k++)
            gnn_cache_count(&r->remote[k], t, p->id[t], n, p->reach.bits[t].data, UINT64_C(1) << k,
                            &r->remote_tally);
    }
}

int gnn_cache_plan_count(struct gnn_cache_plan *p, const struct gnn_batch *b, struct gnn_err *e)
{
    for (uint32_t t = 0; t < b->nntypes; t++)
        if (gnn_store_batch_ids(p->store, b, t, gnn_batch_nodes(b, t), p->inverse[t], &p->ids[t],
                                &p->id[t], e))
            return e->code;
    if (p->nremote && gnn_reach_find(&p->reach, p->store, b, p->sampling->seed_ntype, p->id, e))
        return e->code;
    for (uint32_t t = 0; t < b->nntypes; t++)
        p->nodes += p->rows->bytes[t] ? gnn_batch_nodes(b, t) : 0;
    for (uint32_t i = 0; i < p->norder; i++)
        count_order(p, &p->order[i], b);
    p->batches++;
    return 0;
}

/* ---- figures ---- */

void gnn_cache_plan_finish(struct gnn_cache_plan *p)
{
    uint64_t missed[GNN_CACHE_SIZES_MAX + 1];
    for (uint32_t i = 0; i < p->norder; i++) {
        struct gnn_cache_plan_order *r = &p->order[i];
        if (r->cache.level)
            gnn_cache_missed(&r->cache, &r->tally, missed);
        for (uint32_t k = 0; r->cache.level && k <= p->nsizes; k++)
            r->whole.measured[k] = (double)missed[k];
        if (r->remote)
            gnn_cache_missed(&r->remote[0], &r->remote_tally, missed);
        for (uint32_t k = 0; r->remote && k <= p->nremote; k++)
            /* Batches of one rank were sampled; a step of all ranks has as many as steps[0] over
             * what was counted. */
            r->parts.measured[k] =
                p->batches ? (double)missed[k] * (double)p->sampling->steps[0] / (double)p->batches
                           : 0;
    }
    p->expected_rows = p->access.of ? 0 : NAN;
    for (uint32_t t = 0; t < p->access.ntypes; t++)
        for (uint64_t i = 0; p->rows->bytes[t] && i < p->store->meta.schema.ntype[t].count; i++)
            p->expected_rows += p->access.of[t][i];
    p->measured_rows = p->batches ? (double)p->nodes / (double)p->batches : NAN;
}

void gnn_cache_plan_release(struct gnn_cache_plan *p)
{
    for (uint32_t i = 0; i < p->norder; i++) {
        struct gnn_cache_plan_order *r = &p->order[i];
        gnn_order_release(&r->order);
        gnn_scores_release(&r->made);
        gnn_cache_release(&r->cache);
        for (uint32_t k = 0; r->remote && k < p->store->nparts; k++)
            gnn_cache_release(&r->remote[k]);
        gnn_free(r->remote);
    }
    for (uint32_t t = 0; p->store && t < p->store->meta.schema.nntypes; t++) {
        if (p->inverse)
            gnn_free(p->inverse[t]);
        if (p->ids)
            gnn_buf_release(&p->ids[t]);
    }
    gnn_free(p->order);
    gnn_free(p->inverse);
    gnn_free(p->ids);
    gnn_free(p->id);
    gnn_access_seeds_release(&p->seeds);
    gnn_scores_release(&p->access);
    gnn_reach_release(&p->reach);
    *p = (struct gnn_cache_plan){0};
}
