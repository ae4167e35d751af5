/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU feature cache of one process: which rows each clique of its devices holds, and memory for
 * these, which the kernel that gathers batches fills from the host. */
#include <string.h>

#include "lib/gather/gpu_cache.h"
#include "lib/gpu/peers.h"

enum { CHUNK = 1 << 20 }; /* rows at a time */

/* A group of devices that read each other's memory, and what they hold: of type t's ranking the
 * first replicated[t] rows, each of them; those up to held[t] are sharded. */
struct clique {
    uint32_t member[GNN_GPU_MAX], n;
    bool whole;                  /* everything, on each of them, in the order of the ids */
    uint64_t *replicated, *held; /* [nntypes] */
};

/* One type's rows in a clique. */
struct fill {
    struct gpu_gather *x;
    const struct clique *c;
    uint32_t type;
    struct gnn_placement placement;
    struct gnn_err *e;
};

static bool is_ours(const struct fill *f, const struct gather_table *t)
{
    return gather_cacheable(t) && t->job->type == f->type;
}

/* ---- everything, on every device ---- */

static int fill_whole(const struct fill *f, struct gather_table *t, struct gather_unit *u,
                      struct gather_view *v)
{
    const uint64_t n = f->x->job->meta.schema.ntype[f->type].count;
    struct gnn_gather_part part = {.count = n, .tier = GNN_TIER_DEVICE};
    void *data, *p;
    int rc = gnn_gpu_gather_alloc(u, n * t->keep.bytes, "the cache", &data, f->e);
    for (uint32_t i = 0; !rc && i < t->job->nparts; i++) {
        const struct gnn_gather_part *from = &t->job->part[i];
        rc = gnn_dev_copy((char *)data + from->first * t->keep.bytes, from->data,
                          from->count * t->keep.bytes, u->stream, f->e);
    }
    part.data = data;
    if (!rc)
        rc = gnn_gpu_gather_upload(u, &part, sizeof part, "shards of the cache", &p, f->e);
    if (rc)
        return rc;
    *v = (struct gather_view){.cached = p, .ncached = 1};
    return 0;
}

/* ---- some rows ---- */

/* Member m's memory for a table: the replicated rows, and its shard. */
struct held {
    void *part[2];
};

static int alloc_parts(const struct fill *f, const struct gather_table *t, unsigned m,
                       struct held *h)
{
    struct gather_unit *u = &f->x->unit[f->c->member[m]];
    int rc = 0;
    for (unsigned k = 0; !rc && k < 2; k++)
        rc = gnn_gpu_gather_alloc(u,
                                  gnn_placement_rows(&f->placement, k ? m + 1 : 0) * t->keep.bytes,
                                  "the cache", &h->part[k], f->e);
    return rc;
}

/* Member m's view of the table: its own memory, then the others' shards. */
static int set_view(const struct fill *f, struct gather_table *t, unsigned m, const struct held *h,
                    const uint32_t *slot)
{
    const unsigned unit = f->c->member[m];
    void *data[GNN_GPU_MAX + 1] = {h[m].part[0]};
    for (unsigned k = 0; k < f->c->n; k++)
        data[k + 1] = h[k].part[1];
    return gnn_gpu_gather_place(&f->x->unit[unit], &t->view[unit], &f->placement, m, data, slot,
                                f->e);
}

/* Rows of slots [from, to) to member m's memory, for all tables of the type. */
static int gather_part(const struct fill *f, unsigned m, unsigned k, const struct held *h)
{
    const unsigned unit = f->c->member[m];
    struct gather_unit *u = &f->x->unit[unit];
    const uint32_t part = k ? m + 1 : 0;
    const uint64_t first = f->placement.first[part], end = f->placement.first[part + 1];
    int rc = end == first
                 ? 0
                 : gnn_buf_fit_in(&u->d->mem, &u->rows, end - first < CHUNK ? end - first : CHUNK,
                                  sizeof(uint32_t), "row ids", f->e);
    for (uint64_t at = first; !rc && at < end; at += CHUNK) {
        const uint64_t n = end - at < CHUNK ? end - at : CHUNK;
        rc = gnn_dev_copy(u->rows.data, f->placement.row + at, n * sizeof(uint32_t), u->stream,
                          f->e);
        /* Rows are read from the store's parts: the cache that is being filled is not yet valid. */
        for (uint32_t i = 0; !rc && i < f->x->job->njobs; i++) {
            struct gather_table *t = &f->x->table[i];
            if (!is_ours(f, t))
                continue;
            const struct gather_view *v = &t->view[unit];
            const struct gather_view store = {.backing = v->backing, .nbacking = v->nbacking};
            rc = gnn_gpu_gather_rows(u, &store, t->keep, u->rows.data, NULL, n,
                                     (char *)h[(size_t)i * f->c->n + m].part[k] +
                                         (at - first) * t->keep.bytes,
                                     NULL, f->e);
        }
    }
    return rc;
}

static int fill_some(const struct fill *f)
{
    const struct gpu_gather *x = f->x;
    const unsigned n = f->c->n;
    void *slot[GNN_GPU_MAX];
    struct held *h = gnn_alloc_zero((uint64_t)x->job->njobs * n, sizeof *h, "a cache", f->e);
    int rc = h ? 0 : f->e->code;
    for (unsigned m = 0; !rc && m < n; m++)
        rc = gnn_gpu_gather_upload(&x->unit[f->c->member[m]], f->placement.slot,
                                   f->placement.nrows * sizeof(uint32_t), "the cache's slots",
                                   &slot[m], f->e);
    for (uint32_t i = 0; !rc && i < x->job->njobs; i++) {
        struct gather_table *t = &x->table[i];
        if (!is_ours(f, t))
            continue;
        for (unsigned m = 0; !rc && m < n; m++)
            rc = alloc_parts(f, t, m, &h[(size_t)i * n + m]);
        for (unsigned m = 0; !rc && m < n; m++)
            rc = set_view(f, t, m, &h[(size_t)i * n], slot[m]);
    }
    for (unsigned m = 0; !rc && m < n; m++)
        for (unsigned k = 0; !rc && k < 2; k++)
            rc = gnn_dev_use(x->unit[f->c->member[m]].d->number, f->e) || gather_part(f, m, k, h)
                     ? f->e->code
                     : 0;
    struct gnn_err late = {0};
    for (unsigned m = 0; m < n; m++) /* also after a failure: the placement goes */
        if (gnn_dev_stream_wait(x->unit[f->c->member[m]].stream, &late) && !rc)
            rc = gnn_fail(f->e, (enum gnn_status)late.code, "%s", late.msg);
    gnn_free(h);
    return rc;
}

/* ---- a clique ---- */

static int fill_type(struct fill *f, const struct gnn_ranking *ranked)
{
    const struct clique *c = f->c;
    uint64_t bytes = 0;
    int rc = 0;
    for (uint32_t i = 0; i < f->x->job->njobs; i++)
        bytes += is_ours(f, &f->x->table[i]) ? f->x->table[i].keep.bytes : 0;
    if (!bytes)
        return 0;
    for (uint32_t i = 0; i < f->x->job->njobs; i++) {
        struct gather_table *t = &f->x->table[i];
        for (unsigned m = 0; !rc && is_ours(f, t) && m < c->n; m++) {
            const unsigned unit = c->member[m];
            rc = c->whole ? fill_whole(f, t, &f->x->unit[unit], &t->view[unit])
                          : gnn_gpu_gather_backing(f->x, t, unit, f->e);
        }
    }
    if (rc || c->whole || !c->held[f->type])
        return rc;
    const struct gnn_placement_opts o = {.devices = c->n,
                                         .nrows = f->x->job->meta.schema.ntype[f->type].count,
                                         .order = ranked->row[f->type],
                                         .norder = c->held[f->type],
                                         .replicated = c->replicated[f->type],
                                         .row_bytes = bytes};
    rc = gnn_placement_init(&f->placement, &o, f->e);
    if (!rc)
        rc = fill_some(f);
    gnn_placement_release(&f->placement);
    return rc;
}

/* ranked: read where c->held says that there are rows. */
static int fill_clique(struct gpu_gather *x, const struct clique *c,
                       const struct gnn_ranking *ranked, struct gnn_err *e)
{
    struct fill f = {.x = x, .c = c, .e = e};
    int rc = 0;
    for (; !rc && f.type < x->job->meta.schema.nntypes; f.type++)
        rc = fill_type(&f, ranked);
    return rc;
}

/* ---- which rows ---- */

/* That of the device that has the least. */
static int clique_budget(const struct gather_caching *k, const struct clique *c, uint64_t *bytes)
{
    int rc = 0;
    *bytes = UINT64_MAX;
    for (unsigned m = 0; !rc && m < c->n; m++) {
        uint64_t own;
        rc = gnn_gpu_cache_budget(k, c->member[m], &own);
        if (!rc && own < *bytes)
            *bytes = own;
    }
    return rc;
}

static int decide_clique(struct gather_caching *k, struct clique *c)
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
    const uint64_t sharded = gather_capped_product(bytes - replicated, c->n);
    gnn_fill_one(&k->ranked, replicated, c->replicated);
    gnn_fill_one(&k->ranked, gather_capped_sum(replicated, sharded > spare ? sharded - spare : 0),
                 c->held);
    return 0;
}

static bool reads_memory(const void *gather, uint32_t a, uint32_t b)
{
    const struct gpu_gather *x = gather;
    return gnn_dev_peer(x->unit[a].d->number, x->unit[b].d->number);
}

static void count_clique(const struct gather_caching *k, const struct clique *c)
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

int gnn_gpu_cache_cliques(struct gather_caching *k)
{
    struct clique c = {.n = 0};
    bool taken[GNN_GPU_MAX] = {false};
    const uint32_t ntypes = k->x->job->meta.schema.nntypes;
    c.replicated = gnn_alloc(2 * (uint64_t)ntypes, sizeof *c.replicated, "a cache", k->e);
    int rc = c.replicated ? 0 : k->e->code;
    c.held = rc ? NULL : c.replicated + ntypes;
    while (!rc && gnn_gpu_clique(k->x->g->n, reads_memory, k->x, taken, c.member, &c.n)) {
        rc = decide_clique(k, &c);
        if (!rc)
            rc = fill_clique(k->x, &c, &k->ranked, k->e);
        count_clique(k, &c);
    }
    gnn_free(c.replicated);
    return rc;
}
