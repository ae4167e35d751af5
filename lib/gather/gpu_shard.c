/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU feature cache of several ranks: rows of the parts that ranks of a host have open, in
 * memory that devices of its other ranks read through CUDA IPC.
 *
 * What a clique does not replicate on all its devices goes to a device of the rank that owns the
 * row, since that rank asks for it most: seeds are their owners', and partitions keep neighbours
 * together. Only what does not fit there goes to the device of the clique that has most space. So
 * the ranking alone decides how many rows are held, not how accesses are spread over partitions.
 * All ranks of a clique compute the same placement; they exchange only budgets and handles. Rows
 * are read from the store where it is open, and requested from their owners otherwise, as those of
 * a batch are. */
#include <stdio.h>
#include <string.h>

#include "kernels/owner.h"
#include "lib/gather/gpu_cache.h"
#include "lib/gather/gpu_remote.h"
#include "lib/gpu/peers.h"

enum { ALIGN = 256, CHUNK = 32 << 20 /* bytes of rows that are asked for at once */ };

/* A clique that this rank has devices in. */
struct clique {
    uint32_t *member, n;         /* [n] of peers, ascending */
    uint64_t bytes;              /* on each */
    uint64_t *replicated, *held; /* [nntypes] rows of the ranking: the first, on all; and those that
                                    were passed, most of which are in `placement` */
    struct gnn_placement *placement; /* [nntypes]; without slots: no row is held */
    uint64_t *at;             /* [n][njobs] where a table's shard is in what a member exports */
    uint64_t *exported_bytes; /* [n] */
};

struct sharding {
    struct gather_caching *k;
    struct gpu_gather *x;
    struct gnn_gpu_peers *p;
    struct clique *clique; /* [ncliques] */
    uint32_t ncliques;
    uint32_t *clique_of; /* [devices] of this rank */
    void **exported;     /* [devices] memory of the shards */
    void **replicated;   /* [devices][njobs] memory of the replicated rows */
    struct gather_rows *remote;
};

static uint32_t node_types(const struct sharding *s)
{
    return s->x->job->meta.schema.nntypes;
}

static bool is_held(const struct sharding *s, const struct clique *c, uint32_t job)
{
    const struct gather_table *t = &s->x->table[job];
    return gather_cacheable(t) && c->placement[t->job->type].nslots;
}

static bool is_local(const struct sharding *s, uint32_t peer)
{
    return s->p->peer[peer].rank == s->x->job->comm->rank;
}

/* ---- scores ---- */

/* Rows that only ranks of other hosts have open are not cached. */
static int hide_other_hosts(struct sharding *s)
{
    struct gather_caching *k = s->k;
    const struct gnn_schema *c = &s->x->job->meta.schema;
    const uint64_t host = s->p->peer[s->p->self].host;
    if (k->score != &k->own) {
        if (gnn_scores_init(&k->own, c, k->e))
            return k->e->code;
        for (uint32_t t = 0; t < c->nntypes; t++)
            memcpy(k->own.of[t], k->score->of[t], c->ntype[t].count * sizeof **k->own.of);
        k->score = &k->own;
    }
    for (uint32_t i = 0; i < s->p->n; i++) {
        const uint32_t r = s->p->peer[i].rank;
        for (uint32_t t = 0; t < c->nntypes && s->p->peer[i].host != host; t++) {
            const uint64_t *book = s->x->job->store->rank_book[t];
            for (uint64_t v = book[r]; v < book[r + 1]; v++)
                k->own.of[t][v] = -1;
        }
    }
    return 0;
}

/* ---- who holds what ---- */

static uint64_t least_bytes(const struct sharding *s, const struct clique *c)
{
    uint64_t bytes = UINT64_MAX;
    for (uint32_t m = 0; m < c->n; m++)
        if (s->p->peer[c->member[m]].bytes < bytes)
            bytes = s->p->peer[c->member[m]].bytes;
    return bytes;
}

/* What is sharded goes to a device of its owner, if that has space. */
struct owners {
    const struct sharding *s;
    const uint32_t *from; /* [ranks + 1] a rank's members */
};

static void prefer_owner(const void *arg, uint32_t type, uint32_t row, uint32_t *from, uint32_t *to)
{
    const struct owners *o = arg;
    const uint32_t owner = gnn_store_rank_of(o->s->x->job->store, type, row);
    *from = o->from[owner];
    *to = o->from[owner + 1];
}

/* For each row of the ranking that is passed, who holds it. */
static int assign_holders(struct sharding *s, struct clique *c, uint16_t *const *holder)
{
    const struct gather_caching *k = s->k;
    const uint32_t ranks = s->x->job->comm->size;
    const double share = gnn_gpu_cache_share(k, c->n, c->bytes);
    const uint64_t replicated = share < 1 ? (uint64_t)((double)c->bytes * share) : c->bytes;
    uint64_t *left = gnn_alloc(c->n, sizeof *left, "a cache", k->e), used = 0;
    uint32_t *from = gnn_alloc_zero((uint64_t)ranks + 1, sizeof *from, "a cache", k->e);
    const struct owners owners = {s, from};
    struct gnn_fill fill = {.rows = &k->ranked,
                            .at = c->held,
                            .left = left,
                            .nholders = c->n,
                            .skip = true,
                            .holder = holder,
                            .prefer = prefer_owner,
                            .arg = &owners};
    gnn_fill_one(&k->ranked, replicated, c->replicated);
    for (uint32_t t = 0; t < node_types(s); t++) {
        used += c->replicated[t] * k->rows.bytes[t];
        c->held[t] = c->replicated[t];
    }
    for (uint32_t m = 0; left && from && m < c->n; m++) {
        left[m] = c->bytes - used;
        from[s->p->peer[c->member[m]].rank + 1]++;
    }
    for (uint32_t r = 0; from && r < ranks; r++)
        from[r + 1] += from[r];
    if (left && from && share < 1)
        gnn_fill_run(&fill);
    gnn_free(left);
    gnn_free(from);
    return left && from ? 0 : k->e->code;
}

static int plan_clique(struct sharding *s, struct clique *c)
{
    struct gather_caching *k = s->k;
    uint16_t **holder = gnn_alloc_zero(node_types(s), sizeof(uint16_t *), "a cache", k->e);
    int rc = holder ? 0 : k->e->code;
    for (uint32_t t = 0; !rc && t < node_types(s); t++)
        if (!(holder[t] = gnn_alloc(k->ranked.n[t], sizeof **holder, "a cache", k->e)))
            rc = k->e->code;
    if (!rc)
        rc = assign_holders(s, c, holder);
    for (uint32_t t = 0; !rc && t < node_types(s); t++) {
        const struct gnn_placement_opts o = {.devices = c->n,
                                             .nrows = s->x->job->meta.schema.ntype[t].count,
                                             .order = k->ranked.row[t],
                                             .norder = c->held[t],
                                             .replicated = c->replicated[t],
                                             .holder = holder[t],
                                             .row_bytes = k->rows.bytes[t]};
        if (k->rows.bytes[t])
            rc = gnn_placement_init(&c->placement[t], &o, k->e);
    }
    for (uint32_t t = 0; holder && t < node_types(s); t++)
        gnn_free(holder[t]);
    gnn_free(holder);
    return rc;
}

/* Where tables lie in what members export. */
static void lay_out(const struct sharding *s, struct clique *c)
{
    const uint32_t n = s->x->job->njobs;
    for (uint32_t m = 0; m < c->n; m++)
        for (uint32_t i = 0; i < n; i++) {
            c->at[(size_t)m * n + i] = c->exported_bytes[m];
            if (is_held(s, c, i)) {
                const struct gather_table *t = &s->x->table[i];
                c->exported_bytes[m] +=
                    (gnn_placement_rows(&c->placement[t->job->type], m + 1) * t->keep.bytes +
                     ALIGN - 1) /
                    ALIGN * ALIGN;
            }
        }
}

static int clique_new(struct sharding *s, const uint32_t *member, uint32_t n)
{
    struct gnn_err *e = s->k->e;
    if (gnn_grow(&s->clique, s->ncliques, sizeof *s->clique, "a cache", e))
        return e->code;
    struct clique *c = &s->clique[s->ncliques++];
    c->n = n;
    c->member = gnn_alloc(n, sizeof *c->member, "a cache", e);
    c->replicated = gnn_alloc_zero(2 * (uint64_t)node_types(s), sizeof *c->held, "a cache", e);
    c->held = c->replicated ? c->replicated + node_types(s) : NULL;
    c->placement = gnn_alloc_zero(node_types(s), sizeof *c->placement, "a cache", e);
    c->at = gnn_alloc_zero((uint64_t)n * s->x->job->njobs, sizeof *c->at, "a cache", e);
    c->exported_bytes = gnn_alloc_zero(n, sizeof *c->exported_bytes, "a cache", e);
    if (!c->member || !c->replicated || !c->placement || !c->at || !c->exported_bytes)
        return e->code;
    memcpy(c->member, member, n * sizeof *member);
    for (uint32_t m = 0; m < n; m++)
        if (is_local(s, member[m]))
            s->clique_of[s->p->peer[member[m]].unit] = s->ncliques - 1;
    c->bytes = least_bytes(s, c);
    return 0;
}

static int find_cliques(struct sharding *s)
{
    struct gnn_err *e = s->k->e;
    bool *taken = gnn_alloc_zero(s->p->n, sizeof *taken, "a cache", e);
    uint32_t *member = gnn_alloc(s->p->n, sizeof *member, "a cache", e), n;
    int rc = taken && member ? 0 : e->code;
    while (!rc && gnn_gpu_clique(s->p->n, gnn_gpu_peers_together, s->p, taken, member, &n)) {
        bool in = false;
        for (uint32_t m = 0; m < n; m++)
            in = in || is_local(s, member[m]);
        if (in)
            rc = clique_new(s, member, n);
    }
    gnn_free(taken);
    gnn_free(member);
    return rc;
}

/* ---- memory ---- */

/* This rank's member of the clique that is device `unit`. */
static uint32_t member_of(const struct sharding *s, const struct clique *c, unsigned unit)
{
    uint32_t m = 0;
    while (c->member[m] != s->p->self + unit)
        m++;
    return m;
}

static int alloc_memory(struct sharding *s, unsigned unit)
{
    const struct clique *c = &s->clique[s->clique_of[unit]];
    const uint32_t m = member_of(s, c, unit), njobs = s->x->job->njobs;
    struct gather_unit *u = &s->x->unit[unit];
    int rc = c->exported_bytes[m] ? gnn_gpu_gather_alloc(u, c->exported_bytes[m], "the cache",
                                                         &s->exported[unit], s->k->e)
                                  : 0;
    for (uint32_t i = 0; !rc && i < njobs; i++)
        if (is_held(s, c, i)) {
            const struct gather_table *t = &s->x->table[i];
            rc = gnn_gpu_gather_alloc(
                u, gnn_placement_rows(&c->placement[t->job->type], 0) * t->keep.bytes, "the cache",
                &s->replicated[(size_t)unit * njobs + i], s->k->e);
        }
    return rc;
}

/* Where the members' memory is, as the device sees it. */
static int open_members(struct sharding *s, unsigned unit, void **base)
{
    const struct clique *c = &s->clique[s->clique_of[unit]];
    int rc = 0;
    for (uint32_t m = 0; !rc && m < c->n; m++) {
        const struct gnn_gpu_peer *q = &s->p->peer[c->member[m]];
        if (is_local(s, c->member[m]))
            base[m] = s->exported[q->unit];
        else if (c->exported_bytes[m])
            rc = gnn_gpu_peers_open(s->p, unit, c->member[m], &base[m], s->k->e);
    }
    return rc;
}

/* The views of device `unit`. */
static int set_views(struct sharding *s, unsigned unit)
{
    const struct clique *c = &s->clique[s->clique_of[unit]];
    const uint32_t njobs = s->x->job->njobs, self = member_of(s, c, unit);
    struct gather_unit *u = &s->x->unit[unit];
    void **base = gnn_alloc_zero(c->n, sizeof *base, "a cache", s->k->e),
         **data = gnn_alloc((uint64_t)c->n + 1, sizeof *data, "a cache", s->k->e),
         **slot = gnn_alloc_zero(node_types(s), sizeof *slot, "a cache", s->k->e);
    int rc = data && base && slot ? open_members(s, unit, base) : s->k->e->code;
    for (uint32_t t = 0; !rc && t < node_types(s); t++)
        if (c->placement[t].nslots)
            rc = gnn_gpu_gather_upload(u, c->placement[t].slot,
                                       c->placement[t].nrows * sizeof(uint32_t),
                                       "the cache's slots", &slot[t], s->k->e);
    for (uint32_t i = 0; !rc && i < njobs; i++) {
        struct gather_table *t = &s->x->table[i];
        if (!is_held(s, c, i))
            continue;
        data[0] = s->replicated[(size_t)unit * njobs + i];
        for (uint32_t m = 0; m < c->n; m++)
            data[m + 1] = (char *)base[m] + c->at[(size_t)m * njobs + i];
        rc = gnn_gpu_gather_place(u, &t->view[unit], &c->placement[t->job->type], self, data,
                                  slot[t->job->type], s->k->e);
    }
    gnn_free(data);
    gnn_free(base);
    gnn_free(slot);
    return rc;
}

/* ---- rows ---- */

/* A piece of what this rank's devices are to hold: some rows of a type, on a device. */
struct piece {
    unsigned unit;
    uint32_t type, part; /* of the placement */
    uint64_t at, n;      /* rows of the part */
};

static int add_pieces(const struct sharding *s, unsigned unit, uint32_t type, uint32_t part,
                      struct piece **list, uint64_t *n)
{
    const struct gnn_placement *p = &s->clique[s->clique_of[unit]].placement[type];
    const uint64_t rows = p->nslots ? gnn_placement_rows(p, part) : 0,
                   most = 1 + CHUNK / s->k->rows.bytes[type];
    for (uint64_t at = 0; at < rows; at += most) {
        if (gnn_grow(list, *n, sizeof **list, "a cache", s->k->e))
            return s->k->e->code;
        (*list)[(*n)++] = (struct piece){unit, type, part, at, rows - at < most ? rows - at : most};
    }
    return 0;
}

/* Gathers it on the device, with what the other ranks have sent. */
static int store_rows(struct sharding *s, const struct piece *w, struct gather_staging *staging)
{
    const struct clique *c = &s->clique[s->clique_of[w->unit]];
    const uint32_t m = member_of(s, c, w->unit), njobs = s->x->job->njobs;
    struct gather_unit *u = &s->x->unit[w->unit];
    int rc = gnn_dev_use(u->d->number, s->k->e);
    if (!rc)
        rc = gnn_gather_staging_send(s->x->queue, u, staging, s->k->e);
    for (uint32_t i = 0; !rc && i < njobs; i++) {
        const struct gather_table *t = &s->x->table[i];
        const struct gather_view nothing = {0};
        const struct gather_staged *k = &staging->of[s->x->at[i]];
        const uint64_t *rows;
        if (!gather_cacheable(t) || t->job->type != w->type)
            continue;
        char *to = w->part ? (char *)s->exported[w->unit] + c->at[(size_t)m * njobs + i]
                           : s->replicated[(size_t)w->unit * njobs + i];
        const struct gather_view v = gnn_gather_staging_view(u, &nothing, k, &rows);
        rc = gnn_gpu_gather_rows(u, &v, t->keep, NULL, rows, k->n, to + w->at * t->keep.bytes, NULL,
                                 s->k->e);
    }
    return rc ? rc : gnn_dev_stream_wait(u->stream, s->k->e);
}

/* One round: each rank requests the rows of a piece, as if they were a batch without edges, or
 * none.
 */
static int fill_round(struct sharding *s, uint64_t round, const struct piece *w,
                      struct gnn_batch *b)
{
    struct gather_staging *staging = NULL;
    uint64_t counts[GNN_TYPES_MAX] = {0};
    for (uint32_t t = 0; t < node_types(s); t++)
        b->type[t].count = &counts[t];
    if (w) {
        const struct gnn_placement *p = &s->clique[s->clique_of[w->unit]].placement[w->type];
        counts[w->type] = w->n;
        b->type[w->type].node = p->row + p->first[w->part] + w->at;
    }
    b->nth = round;
    int rc = gnn_gather_fetch(s->x->job, s->remote, b, s->k->e);
    if (!rc && w)
        rc = gnn_gather_staging_make(s->x->queue, s->remote, b, &staging, s->k->e);
    if (!rc && w)
        rc = store_rows(s, w, staging);
    gnn_gather_staging_put(s->x->queue, staging);
    return rc;
}

static int fill_caches(struct sharding *s)
{
    struct gnn_err *e = s->k->e;
    struct gnn_batch b = {.nntypes = node_types(s)};
    struct piece *list = NULL;
    uint64_t n = 0;
    int rc = (b.type = gnn_alloc_zero(b.nntypes, sizeof *b.type, "a cache", e)) ? 0 : e->code;
    for (unsigned u = 0; u < s->x->g->n; u++)
        for (uint32_t t = 0; t < node_types(s); t++)
            for (unsigned part = 0; !rc && part < 2; part++)
                if (s->k->rows.bytes[t])
                    rc = add_pieces(s, u, t,
                                    part ? 1 + member_of(s, &s->clique[s->clique_of[u]], u) : 0,
                                    &list, &n);
    /* Ranks with fewer pieces go on answering until the last one has its rows. */
    uint64_t rounds = n;
    if (!rc)
        rc = gnn_comm_all_reduce(s->p->comm, &rounds, 1, GNN_REDUCE_MAX, e);
    if (!rc && !(s->remote = gnn_gather_rows_new(s->x->job, e)))
        rc = e->code;
    for (uint64_t i = 0; !rc && i < rounds; i++)
        rc = fill_round(s, i, i < n ? &list[i] : NULL, &b);
    gnn_free(b.type);
    gnn_free(list);
    return rc;
}

/* ---- all of it ---- */

/* From here on the threads that request rows see which ones devices hold. */
static int set_maps(struct sharding *s)
{
    struct gather_queue *q = s->x->queue;
    const uint32_t n = node_types(s);
    q->placed = gnn_alloc((uint64_t)s->ncliques * n, sizeof *q->placed, "a cache", s->k->e);
    if (!q->placed)
        return s->k->e->code;
    for (uint32_t i = 0; i < s->ncliques; i++)
        for (uint32_t t = 0; t < n; t++) {
            struct gnn_placement *p = &s->clique[i].placement[t];
            gnn_free(p->row); /* nobody asks which row a slot has */
            p->row = NULL;
            q->placed[q->nplaced++] = *p;
            *p = (struct gnn_placement){0};
        }
    for (unsigned u = 0; u < s->x->g->n; u++)
        for (uint32_t t = 0; t < n; t++) {
            const struct gnn_placement *p = &q->placed[(size_t)s->clique_of[u] * n + t];
            q->map[(size_t)u * n + t].held = p->nslots ? p : NULL;
            q->map[(size_t)u * n + t].device = member_of(s, &s->clique[s->clique_of[u]], u);
        }
    return 0;
}

static void count_clique(const struct sharding *s, const struct clique *c)
{
    uint64_t replicated = 0, slots = 0, most = 0;
    uint32_t own = 0;
    for (uint32_t t = 0; t < node_types(s); t++) {
        slots += c->placement[t].nslots;
        replicated += c->placement[t].nslots ? gnn_placement_rows(&c->placement[t], 0) : 0;
    }
    for (uint32_t m = 0; m < c->n; m++) {
        uint64_t bytes = 0;
        for (uint32_t t = 0; t < node_types(s); t++)
            if (c->placement[t].nslots)
                bytes += gnn_placement_bytes(&c->placement[t], m);
        own += is_local(s, c->member[m]);
        most = is_local(s, c->member[m]) && bytes > most ? bytes : most;
    }
    gnn_gpu_cache_count(s->k, replicated, slots - replicated, most, own);
}

static int decide_all(struct sharding *s)
{
    struct gather_caching *k = s->k;
    bool any = false;
    for (uint32_t i = 0; i < s->p->n; i++)
        any = any || s->p->peer[i].bytes;
    int rc = find_cliques(s);
    if (rc || !any || !k->rows.all_bytes)
        return rc;
    if (s->x->stats)
        s->x->stats->apart = gnn_gpu_peers_apart(s->p, s->x->stats->apart_rank);
    rc = gnn_gpu_cache_scores(k);
    if (!rc)
        rc = hide_other_hosts(s);
    if (!rc)
        rc = gnn_gpu_cache_rank(k);
    for (uint32_t i = 0; !rc && i < s->ncliques; i++) {
        rc = s->clique[i].bytes ? plan_clique(s, &s->clique[i]) : 0;
        if (!rc)
            lay_out(s, &s->clique[i]);
    }
    return rc;
}

static int build_caches(struct sharding *s)
{
    struct gpu_gather *x = s->x;
    int rc = 0;
    for (unsigned u = 0; !rc && u < x->g->n; u++)
        rc = alloc_memory(s, u);
    if (!rc)
        /* Handles can be exchanged only when every rank has its memory, and views need all
         * handles. */
        rc = gnn_gpu_peers_export(s->p, s->exported, s->k->e);
    for (unsigned u = 0; !rc && u < x->g->n; u++)
        rc = set_views(s, u);
    if (!rc)
        rc = fill_caches(s);
    for (uint32_t i = 0; !rc && i < s->ncliques; i++)
        count_clique(s, &s->clique[i]);
    for (unsigned u = 0; !rc && u < x->g->n; u++)
        rc = gnn_dev_stream_wait(x->unit[u].stream, s->k->e);
    if (!rc)
        /* Only now: while the caches were filled, rows must not be looked for in them. */
        rc = set_maps(s);
    uint64_t n = 0;
    if (!rc) /* from now on others read this rank's memory: all wait for all */
        rc = gnn_comm_all_reduce(s->p->comm, &n, 1, GNN_REDUCE_MAX, s->k->e);
    return rc;
}

/* Ranks that share a device share its free memory. */
static void divide_budgets(struct gnn_gpu_peers *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        uint64_t n = 0;
        for (uint32_t k = 0; k < p->n; k++)
            n += p->peer[k].host == p->peer[i].host && p->peer[k].id == p->peer[i].id;
        p->peer[i].bytes /= n;
    }
}

static int exchange_budgets(struct sharding *s)
{
    const struct gnn_gather_cache *o = s->k->o;
    uint64_t bytes[GNN_GPU_MAX];
    char text[96];
    int rc = 0;
    for (unsigned u = 0; !rc && u < s->x->g->n; u++)
        rc = gnn_gpu_cache_budget(s->k, u, &bytes[u]);
    snprintf(text, sizeof text, "%d %d %llu", (int)o->policy, (int)o->order.by,
             (unsigned long long)s->k->rows.all_bytes);
    if (!rc)
        rc = gnn_comm_agree(s->x->job->comm, "options of the GPU feature cache", text, s->k->e);
    if (!rc)
        rc = gnn_gpu_peers_meet(&s->x->peers, s->x->g, s->x->job->comm, bytes, s->k->e);
    s->p = s->x->peers;
    if (!rc && o->size == GNN_GATHER_FIT)
        divide_budgets(s->p);
    return rc;
}

static void clique_free(struct clique *c, uint32_t types)
{
    for (uint32_t t = 0; c->placement && t < types; t++)
        gnn_placement_release(&c->placement[t]);
    gnn_free(c->member);
    gnn_free(c->replicated);
    gnn_free(c->placement);
    gnn_free(c->at);
    gnn_free(c->exported_bytes);
}

int gnn_gpu_cache_ranks(struct gather_caching *k)
{
    struct gpu_gather *x = k->x;
    struct sharding s = {.k = k, .x = x};
    s.clique_of = gnn_alloc_zero(x->g->n, sizeof *s.clique_of, "a cache", k->e);
    s.exported = gnn_alloc_zero(x->g->n, sizeof *s.exported, "a cache", k->e);
    s.replicated =
        gnn_alloc_zero((uint64_t)x->g->n * x->job->njobs, sizeof *s.replicated, "a cache", k->e);
    int rc = s.clique_of && s.exported && s.replicated ? exchange_budgets(&s) : k->e->code;
    if (!rc)
        rc = decide_all(&s);
    if (!rc)
        rc = build_caches(&s);
    for (uint32_t i = 0; i < s.ncliques; i++)
        clique_free(&s.clique[i], x->job->meta.schema.nntypes);
    gnn_gather_rows_free(s.remote);
    gnn_free(s.clique);
    gnn_free(s.clique_of);
    gnn_free(s.exported);
    gnn_free(s.replicated);
    return rc;
}
