/* Which rows devices keep.
 *
 * Where everything fits on each device, everything is there, by id: no order, no slots. Else rows
 * are taken in the order of their scores, over all node types, as lib/cache/cache.h does, so that
 * gnn-gather --plan tells beforehand what will be missed. In a clique the hottest may be on each
 * device and the next dealt out. What `auto` weighs is bandwidth: a row from a peer over NVLink
 * takes some 8 times as long as one from the device's own memory, one from the host over PCIe some
 * 80 times (H200: 4.8 TB/s, 450 GB/s in each direction, 55 GB/s). So what a clique holds altogether
 * counts most, and copies of the hottest rows pay where their accesses outweigh those of the rows
 * they displace; lib/cache/placement.h finds the share. */
#include <string.h>

#include "lib/gather/gpu_cache.h"

static const double cost[GNN_TIERS_CUDA] = {1, 8, 80};

enum { BATCHES = 10 }; /* under way at once, by uploading, gathering and fetching */

static uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t capped_product(uint64_t a, uint64_t b)
{
    uint64_t c;
    return __builtin_mul_overflow(a, b, &c) ? UINT64_MAX : c;
}

static uint64_t capped_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* ---- how much memory there is ---- */

uint64_t gnn_gpu_gather_batch_bytes(const struct gpu_gather *x)
{
    const struct gnn_schema *c = &x->job->meta.schema;
    const struct gnn_sampling *m = &x->job->meta.sampling;
    uint64_t known[GNN_TYPES_MAX] = {0}, fresh[GNN_TYPES_MAX] = {0}, next[GNN_TYPES_MAX], bytes = 0,
             edges = 0;
    known[m->seed_ntype] = fresh[m->seed_ntype] = m->batch_size;
    for (uint32_t h = 0; h < m->nhops; h++) {
        memset(next, 0, sizeof next);
        for (uint32_t r = 0; r < c->netypes; r++) {
            const uint64_t rows =
                (m->frontier == GNN_FRONTIER_ALL ? known : fresh)[c->etype[r].dst];
            const uint64_t picked = rows ? gnn_pick_bound(gnn_sampling_rule(m, h * c->netypes + r),
                                                          rows, c->etype[r].count)
                                         : 0;
            next[c->etype[r].src] = capped_sum(next[c->etype[r].src], picked);
            edges = capped_sum(edges, picked);
        }
        for (uint32_t t = 0; t < c->nntypes; t++) {
            const uint64_t before = known[t];
            known[t] = min_of(capped_sum(known[t], next[t]), c->ntype[t].count);
            fresh[t] = known[t] - before;
        }
    }
    uint64_t edge_bytes = sizeof(uint32_t) + (m->edge_ids ? 2 * sizeof(uint64_t) : 0);
    for (uint32_t i = 0; i < x->job->njobs; i++)
        if (x->job->job[i].edge)
            edge_bytes += x->table[i].bytes;
        else
            bytes =
                capped_sum(bytes, capped_product(known[x->job->job[i].type], x->table[i].bytes));
    for (uint32_t t = 0; t < c->nntypes; t++)
        bytes = capped_sum(bytes, capped_product(known[t], 4 * sizeof(uint32_t)));
    return capped_sum(bytes, capped_product(edges, edge_bytes));
}

/* Bytes that the device has for rows. */
static int room_of(const struct gather_caching *k, unsigned unit, uint64_t *bytes)
{
    const uint64_t batches =
        capped_product(gnn_gpu_gather_batch_bytes(k->x), BATCHES / k->x->g->n + 1);
    struct gnn_dev_info info;
    int rc = gnn_dev_ask(k->x->unit[unit].d->number, &info, k->e);
    if (rc)
        return rc;
    const uint64_t reserve = batches > info.free / 4 ? batches : info.free / 4;
    *bytes = info.free > reserve ? info.free - reserve : 0;
    if (*bytes < k->rows.all_bytes) /* not whole: the slots take some */
        *bytes = *bytes > k->slot_bytes ? *bytes - k->slot_bytes : 0;
    return 0;
}

int gnn_gpu_cache_budget(const struct gather_caching *k, unsigned unit, uint64_t *bytes)
{
    if (k->o->size == GNN_GATHER_FIT)
        return room_of(k, unit, bytes);
    const double share = k->o->share * (double)k->rows.all_bytes;
    *bytes = k->o->size == GNN_GATHER_BYTES ? k->o->bytes
             : share < 0x1p63               ? (uint64_t)share
                                            : UINT64_MAX;
    return 0;
}

/* That of the device that has the least. */
static int clique_budget(const struct gather_caching *k, const struct gather_clique *c,
                         uint64_t *bytes)
{
    int rc = 0;
    *bytes = UINT64_MAX;
    for (unsigned m = 0; !rc && m < c->n; m++) {
        uint64_t own;
        rc = gnn_gpu_cache_budget(k, c->member[m], &own);
        if (!rc)
            *bytes = min_of(*bytes, own);
    }
    return rc;
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

/* ---- a clique ---- */

static int decide_clique(struct gather_caching *k, struct gather_clique *c)
{
    const uint32_t ntypes = k->x->job->meta.schema.nntypes;
    uint64_t bytes, spare = 0;
    int rc = clique_budget(k, c, &bytes);
    memset(c->hot, 0, ntypes * sizeof *c->hot);
    memset(c->all, 0, ntypes * sizeof *c->all);
    const bool alone = c->n == 1 || k->o->policy != GNN_GATHER_SHARD || !k->rows.all_bytes;
    c->whole = !rc && alone && bytes >= k->rows.all_bytes;
    if (rc || c->whole || !bytes || (rc = gnn_gpu_cache_rank(k)))
        return rc;
    const double share = gnn_gpu_cache_share(k, c->n, bytes);
    const uint64_t hot = share < 1 ? (uint64_t)((double)bytes * share) : bytes;
    for (uint32_t t = 0; t < ntypes; t++) /* shards of one type differ by a row */
        spare += (c->n - 1) * k->rows.bytes[t];
    const uint64_t dealt = capped_product(bytes - hot, c->n);
    gnn_fill_one(&k->ranked, hot, c->hot);
    gnn_fill_one(&k->ranked, capped_sum(hot, dealt > spare ? dealt - spare : 0), c->all);
    return 0;
}

/* The next clique: the first device that is in none yet, and all that it and each other reach. */
static bool next_clique(const struct gpu_gather *x, bool *taken, struct gather_clique *c)
{
    c->n = 0;
    for (unsigned i = 0; i < x->g->n; i++) {
        bool all = !taken[i];
        for (unsigned m = 0; all && m < c->n; m++) {
            const unsigned a = x->unit[i].d->number, b = x->unit[c->member[m]].d->number;
            all = gnn_dev_peer(a, b) && gnn_dev_peer(b, a);
        }
        if (!all)
            continue;
        taken[i] = true;
        c->member[c->n++] = i;
    }
    return c->n > 0;
}

static void add_stats(const struct gather_caching *k, const struct gather_clique *c)
{
    struct gnn_gather_stats *s = k->x->stats;
    const struct gnn_schema *schema = &k->x->job->meta.schema;
    uint64_t hot = 0, all = 0, bytes = 0;
    if (!s)
        return;
    s->nodes = k->rows.count;
    for (uint32_t t = 0; t < schema->nntypes; t++) {
        const uint64_t own = c->whole ? schema->ntype[t].count : c->hot[t];
        const uint64_t dealt = c->whole ? 0 : c->all[t] - c->hot[t];
        if (!k->rows.bytes[t])
            continue;
        hot += own;
        all += dealt;
        bytes += (own + (dealt + c->n - 1) / c->n) * k->rows.bytes[t];
    }
    if (!s->cliques || hot + all < s->replicated + s->sharded) {
        s->replicated = hot;
        s->sharded = all;
    }
    s->cached_bytes = bytes > s->cached_bytes ? bytes : s->cached_bytes;
    s->devices += c->n;
    s->cliques++;
}

static int fill_cliques(struct gather_caching *k)
{
    struct gather_clique c = {.n = 0};
    bool taken[GNN_GPU_MAX] = {false};
    const uint32_t ntypes = k->x->job->meta.schema.nntypes;
    c.hot = gnn_alloc(2 * (uint64_t)ntypes, sizeof *c.hot, "a cache", k->e);
    int rc = c.hot ? 0 : k->e->code;
    c.all = rc ? NULL : c.hot + ntypes;
    while (!rc && next_clique(k->x, taken, &c)) {
        rc = decide_clique(k, &c);
        if (!rc)
            rc = gnn_gpu_gather_fill(k->x, &c, &k->ranked, k->e);
        add_stats(k, &c);
    }
    gnn_free(c.hot);
    return rc;
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
            k->rows.bytes[x->table[i].job->type] += x->table[i].bytes;
    for (uint32_t t = 0; t < c->nntypes; t++) {
        if (!k->rows.bytes[t])
            continue;
        k->rows.count += c->ntype[t].count;
        k->rows.all_bytes =
            capped_sum(k->rows.all_bytes, capped_product(c->ntype[t].count, k->rows.bytes[t]));
        k->slot_bytes += c->ntype[t].count * sizeof(uint32_t);
    }
    return 0;
}

/* Labels and edges' fields stay with the host. */
static int back_others(struct gpu_gather *x, struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t i = 0; i < x->job->njobs; i++)
        for (unsigned u = 0; !rc && !gather_cacheable(&x->table[i]) &&
                             !(x->line && x->table[i].job->edge) && u < x->g->n;
             u++)
            rc = gnn_gpu_gather_backing(x, &x->table[i], u, e);
    return rc;
}

int gnn_gpu_gather_cache(struct gpu_gather *x, const struct gnn_gather_cache *o, struct gnn_err *e)
{
    struct gather_caching k = {.x = x, .o = o, .e = e};
    gnn_dev_range_begin("fill the cache");
    int rc = count_rows(&k);
    if (!rc)
        rc = x->line ? gnn_gpu_cache_ranks(&k) : fill_cliques(&k);
    if (!rc)
        rc = back_others(x, e);
    for (unsigned i = 0; !rc && i < x->g->n;
         i++) /* peers read what it keeps without waiting for anything */
        rc = gnn_dev_stream_wait(x->unit[i].stream, e);
    gnn_dev_range_end();
    gnn_ranking_release(&k.ranked);
    gnn_rows_release(&k.rows);
    gnn_scores_release(&k.own);
    return rc;
}
