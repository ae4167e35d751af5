/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows devices cache.
 *
 * Where all rows fit on each device they are all there, in the order of their ids: no ranking, no
 * slots. Else rows are taken along their ranking, over all node types, by the same rule as in
 * gnn-gather --plan (lib/cache/fill.h), which thus predicts the misses. A clique may replicate the
 * first rows on each device and shard the next.
 *
 * `auto` weighs the two by bandwidth. On an H200 the device's own memory delivers 4.8 TB/s, a peer
 * over NVLink 450 GB/s in each direction, and the host over PCIe 55 GB/s: a row from a peer costs
 * some 8 times as much as a local one, a row from the host some 80 times. So a miss is what costs,
 * and sharding, which lets a clique hold more different rows, is mostly the better use of memory.
 * Replicating a row pays where the accesses that it saves the other devices from sending to a peer
 * weigh more than those to the rows that have no space any more, which go to the host
 * (gnn_placement_share). */
#include <string.h>

#include "lib/gather/gpu_cache.h"

static const double cost[GNN_TIERS_CUDA] = {1, 8, 80};

enum { BATCHES = 10 }; /* under way at once, by uploading, gathering and fetching */

static uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- how much memory there is ---- */

/* Of a row in a batch, or, of one that becomes narrower, in the store. */
static uint64_t out_bytes(const struct gather_table *t)
{
    const uint64_t out = gnn_gather_out_bytes(t->copy.cast, t->copy.bytes);
    return out > t->keep.bytes ? out : t->keep.bytes;
}

/* Bytes of device memory that batches may need at once, at most. */
static uint64_t batch_bytes(const struct gpu_gather *x)
{
    const struct gnn_schema *c = &x->job->meta.schema;
    const struct gnn_sampling *m = &x->job->meta.sampling;
    uint64_t known[GNN_TYPES_MAX] = {0}, fresh[GNN_TYPES_MAX] = {0}, next[GNN_TYPES_MAX], bytes = 0,
             edges = 0;
    known[m->seed_ntype] = fresh[m->seed_ntype] = m->batch_size;
    for (uint32_t t = 0; m->clusters && t < c->nntypes; t++) /* unless they are very unequal */
        known[t] = min_of(c->ntype[t].count,
                          2 * (c->ntype[t].count / c->nparts + 1) * (uint64_t)m->clusters);
    for (uint32_t h = 0; h < m->nhops; h++) {
        memset(next, 0, sizeof next);
        for (uint32_t r = 0; r < c->netypes; r++) {
            const uint64_t rows =
                (m->frontier == GNN_FRONTIER_ALL ? known : fresh)[c->etype[r].dst];
            const uint64_t all =
                m->rule.time.by_edge
                    ? UINT64_MAX
                    : gather_capped_product(c->etype[r].count, gnn_sampling_copies(m));
            const uint64_t picked =
                rows ? gnn_pick_bound(gnn_sampling_rule(m, h * c->netypes + r), rows, all) : 0;
            if (!gnn_sampling_induces(m, h))
                next[c->etype[r].src] = gather_capped_sum(next[c->etype[r].src], picked);
            edges = gather_capped_sum(edges, picked);
        }
        for (uint32_t t = 0; t < c->nntypes; t++) {
            const uint64_t before = known[t];
            const uint64_t visits = gnn_sampling_visits(m);
            known[t] = min_of(visits ? visits : gather_capped_sum(known[t], next[t]),
                              gnn_sampling_nodes_max(m, c->ntype[t].count));
            fresh[t] = known[t] - before;
        }
    }
    const uint64_t node_bytes = 4 * sizeof(uint32_t) + (m->disjoint ? sizeof(uint32_t) : 0) +
                                (gnn_sampling_is_temporal(m) ? sizeof(int64_t) : 0);
    uint64_t edge_bytes = sizeof(uint32_t) + (m->edge_ids ? 2 * sizeof(uint64_t) : 0);
    for (uint32_t i = 0; i < x->job->njobs; i++)
        if (x->job->job[i].edge)
            edge_bytes += x->table[i].keep.bytes;
        else
            bytes = gather_capped_sum(
                bytes, gather_capped_product(known[x->job->job[i].type], out_bytes(&x->table[i])));
    for (uint32_t t = 0; t < c->nntypes; t++)
        bytes = gather_capped_sum(bytes, gather_capped_product(known[t], node_bytes));
    return gather_capped_sum(bytes, gather_capped_product(edges, edge_bytes));
}

/* Bytes that the device has for rows. */
static int capacity_of(const struct gather_caching *k, unsigned unit, uint64_t *bytes)
{
    const uint64_t batches = gather_capped_product(batch_bytes(k->x), BATCHES / k->x->g->n + 1);
    struct gnn_dev_info info;
    if (gnn_dev_ask(k->x->unit[unit].d->number, &info, k->e))
        return k->e->code;
    const uint64_t reserve = batches > info.free / 4 ? batches : info.free / 4;
    *bytes = info.free > reserve ? info.free - reserve : 0;
    if (*bytes < k->rows.all_bytes) /* not whole: the slots take some */
        *bytes = *bytes > k->slot_bytes ? *bytes - k->slot_bytes : 0;
    return 0;
}

int gnn_gpu_cache_budget(const struct gather_caching *k, unsigned unit, uint64_t *bytes)
{
    if (k->o->size == GNN_GATHER_FIT)
        return capacity_of(k, unit, bytes);
    const double share = k->o->share * (double)k->rows.all_bytes;
    *bytes = k->o->size == GNN_GATHER_BYTES ? k->o->bytes
             : share < 0x1p63               ? (uint64_t)share
                                            : UINT64_MAX;
    return 0;
}

/* ---- in which order ---- */

int gnn_gpu_cache_scores(struct gather_caching *k)
{
    const struct gatherer *g = k->x->job;
    const struct gnn_order_scope scope = {
        .store = g->store, .sampling = &g->meta.sampling, .all_ranks = true};
    return k->score ? 0 : gnn_order_scores(&k->o->order, &scope, &k->own, &k->score, k->e);
}

int gnn_gpu_cache_rank(struct gather_caching *k)
{
    int rc = gnn_gpu_cache_scores(k);
    return rc || k->ranked.row ? rc
                               : gnn_ranking_init(&k->ranked, k->x->job->store, k->rows.bytes,
                                                  k->score, 0, 0, k->e);
}

double gnn_gpu_cache_share(const struct gather_caching *k, uint32_t devices, uint64_t bytes)
{
    if (devices == 1 || k->o->policy != GNN_GATHER_AUTO)
        return devices == 1 || k->o->policy == GNN_GATHER_REPLICATE;
    const struct gnn_schema *s = &k->x->job->meta.schema;
    uint32_t t = 0;
    for (uint32_t i = 1; i < s->nntypes; i++)
        if (s->ntype[i].count * k->rows.bytes[i] > s->ntype[t].count * k->rows.bytes[t])
            t = i;
    const double part = (double)(s->ntype[t].count * k->rows.bytes[t]) / (double)k->rows.all_bytes;
    const struct gnn_placement_opts o = {.devices = devices,
                                         .nrows = s->ntype[t].count,
                                         .order = k->ranked.row[t],
                                         .norder = k->ranked.n[t],
                                         .row_bytes = k->rows.bytes[t]};
    return gnn_placement_share(&o, (uint64_t)((double)bytes * part), k->score->of[t], cost, NULL);
}

void gnn_gpu_cache_count(const struct gather_caching *k, uint64_t replicated, uint64_t sharded,
                         uint64_t bytes, uint32_t own)
{
    struct gnn_gather_stats *s = k->x->stats;
    if (!s)
        return;
    s->nodes = k->rows.count;
    if (!s->cliques || replicated + sharded < s->replicated + s->sharded) {
        s->replicated = replicated;
        s->sharded = sharded;
    }
    s->cached_bytes = bytes > s->cached_bytes ? bytes : s->cached_bytes;
    s->devices += own;
    s->cliques++;
}

/* ---- all of it ---- */

static int count_rows(struct gather_caching *k)
{
    const struct gpu_gather *x = k->x;
    const struct gnn_schema *c = &x->job->meta.schema;
    k->rows.bytes = gnn_alloc_zero(c->nntypes, sizeof *k->rows.bytes, "fields", k->e);
    if (!k->rows.bytes)
        return k->e->code;
    for (uint32_t i = 0; i < x->job->njobs; i++)
        if (gather_cacheable(&x->table[i]))
            k->rows.bytes[x->table[i].job->type] += x->table[i].keep.bytes;
    for (uint32_t t = 0; t < c->nntypes; t++) {
        if (!k->rows.bytes[t])
            continue;
        k->rows.count += c->ntype[t].count;
        k->rows.all_bytes = gather_capped_sum(
            k->rows.all_bytes, gather_capped_product(c->ntype[t].count, k->rows.bytes[t]));
        k->slot_bytes += c->ntype[t].count * sizeof(uint32_t);
    }
    return 0;
}

/* Labels and edges' fields stay in the host's memory. */
static int open_others(struct gpu_gather *x, struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t i = 0; i < x->job->njobs; i++)
        for (unsigned u = 0;
             !rc && !gather_cacheable(&x->table[i]) && !x->table[i].staged && u < x->g->n; u++)
            rc = gnn_gpu_gather_backing(x, &x->table[i], u, e);
    return rc;
}

int gnn_gpu_gather_cache(struct gpu_gather *x, const struct gnn_gather_cache *o,
                         int (*fill)(struct gather_caching *k), struct gnn_err *e)
{
    struct gather_caching k = {.x = x, .o = o, .e = e};
    gnn_dev_range_begin("fill the cache");
    int rc = count_rows(&k);
    if (!rc)
        rc = fill(&k);
    if (!rc)
        rc = open_others(x, e);
    for (unsigned i = 0; !rc && i < x->g->n;
         i++) /* peers read its memory without waiting for anything */
        rc = gnn_dev_stream_wait(x->unit[i].stream, e);
    gnn_dev_range_end();
    gnn_ranking_release(&k.ranked);
    gnn_rows_release(&k.rows);
    gnn_scores_release(&k.own);
    return rc;
}
