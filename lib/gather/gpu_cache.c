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
 * weigh more than those to the rows that have no room any more, which go to the host
 * (gnn_placement_share). */
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
    memset(c->replicated, 0, ntypes * sizeof *c->replicated);
    memset(c->held, 0, ntypes * sizeof *c->held);
    const bool alone = c->n == 1 || k->o->policy != GNN_GATHER_SHARD || !k->rows.all_bytes;
    c->whole = !rc && alone && bytes >= k->rows.all_bytes;
    if (rc || c->whole || !bytes || (rc = gnn_gpu_cache_rank(k)))
        return rc;
    const double share = gnn_gpu_cache_share(k, c->n, bytes);
    const uint64_t replicated = share < 1 ? (uint64_t)((double)bytes * share) : bytes;
    for (uint32_t t = 0; t < ntypes; t++) /* shards of one type differ by a row */
        spare += (c->n - 1) * k->rows.bytes[t];
    const uint64_t sharded = capped_product(bytes - replicated, c->n);
    gnn_fill_one(&k->ranked, replicated, c->replicated);
    gnn_fill_one(&k->ranked, capped_sum(replicated, sharded > spare ? sharded - spare : 0),
                 c->held);
    return 0;
}

/* The next clique: the first device that is in none yet, and all others that read its memory and
 * each other's. */
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

static void count_clique(const struct gather_caching *k, const struct gather_clique *c)
{
    const struct gnn_schema *schema = &k->x->job->meta.schema;
    uint64_t replicated = 0, sharded = 0, bytes = 0;
    for (uint32_t t = 0; t < schema->nntypes; t++) {
        const uint64_t all = c->whole ? schema->ntype[t].count : c->replicated[t];
        const uint64_t shards = c->whole ? 0 : c->held[t] - c->replicated[t];
        if (!k->rows.bytes[t])
            continue;
        replicated += all;
        sharded += shards;
        bytes += (all + (shards + c->n - 1) / c->n) * k->rows.bytes[t];
    }
    gnn_gpu_cache_count(k, replicated, sharded, bytes, c->n);
}

static int fill_cliques(struct gather_caching *k)
{
    struct gather_clique c = {.n = 0};
    bool taken[GNN_GPU_MAX] = {false};
    const uint32_t ntypes = k->x->job->meta.schema.nntypes;
    c.replicated = gnn_alloc(2 * (uint64_t)ntypes, sizeof *c.replicated, "a cache", k->e);
    int rc = c.replicated ? 0 : k->e->code;
    c.held = rc ? NULL : c.replicated + ntypes;
    while (!rc && next_clique(k->x, taken, &c)) {
        rc = decide_clique(k, &c);
        if (!rc)
            rc = gnn_gpu_gather_fill(k->x, &c, &k->ranked, k->e);
        count_clique(k, &c);
    }
    gnn_free(c.replicated);
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

int gnn_gpu_gather_cache(struct gpu_gather *x, const struct gnn_gather_cache *o, struct gnn_err *e)
{
    struct gather_caching k = {.x = x, .o = o, .e = e};
    gnn_dev_range_begin("fill the cache");
    int rc = count_rows(&k);
    if (!rc)
        rc = x->job->comm->size > 1 ? gnn_gpu_cache_ranks(&k) : fill_cliques(&k);
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
