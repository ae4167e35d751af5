/* What devices keep when several ranks work on a store: rows of the parts that ranks of their host
 * have open, the hottest first, in memory that devices of other ranks read through CUDA IPC.
 *
 * What is not kept by all devices of a clique is kept by a device of the rank whose own it is, as
 * that rank asks for it most: seeds are their owners', and parts are made so that neighbours are
 * together. Only what does not fit there goes to the device of the clique that has most room. So it
 * depends on the order alone how many rows are kept altogether, and not on how hot parts are. All
 * ranks of a clique calculate the same plan; they exchange only how much memory there is, and
 * handles. Rows are read from the store where it is open, and asked of their owners otherwise, as
 * those of a batch are. */
#include <stdio.h>
#include <string.h>

#include "kernels/owner.h"
#include "lib/gather/gpu_cache.h"
#include "lib/gather/gpu_remote.h"
#include "lib/gpu/peers.h"

enum { ALIGN = 256, CHUNK = 32 << 20 /* bytes of rows that are asked for at once */ };

/* A clique that this rank has devices in. */
struct clique {
    uint32_t *member, n; /* [n] of peers, ascending */
    uint64_t bytes;      /* on each */
    uint64_t *hot, *all; /* [nntypes] rows that all keep; and those that are in `place` at all, or
                            passed over */
    struct gnn_placement *place; /* [nntypes]; without parts: nothing is kept */
    uint64_t *at;                /* [n][njobs] where a table's rows are in what a member lends */
    uint64_t *lent;              /* [n] bytes of it */
};

struct share {
    struct gather_caching *k;
    struct gpu_gather *x;
    struct gnn_gpu_peers *p;
    struct clique *clique; /* [ncliques] */
    uint32_t ncliques;
    uint32_t *clique_of; /* [devices] of this rank */
    void **lend;         /* [devices] */
    void **hot;          /* [devices][njobs] rows that all keep */
    struct gather_remote *far;
};

static uint32_t node_types(const struct share *s)
{
    return s->x->job->meta.schema.nntypes;
}

static bool is_held(const struct share *s, const struct clique *c, uint32_t job)
{
    const struct gather_table *t = &s->x->table[job];
    return gather_cacheable(t) && c->place[t->job->type].nslots;
}

static bool is_local(const struct share *s, uint32_t peer)
{
    return s->p->peer[peer].rank == s->x->job->comm->rank;
}

/* ---- scores ---- */

/* Rows that only ranks of other hosts have are not kept. */
static int hide_others(struct share *s)
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

/* ---- who keeps what ---- */

static uint64_t least_bytes(const struct share *s, const struct clique *c)
{
    uint64_t bytes = UINT64_MAX;
    for (uint32_t m = 0; m < c->n; m++)
        if (s->p->peer[c->member[m]].bytes < bytes)
            bytes = s->p->peer[c->member[m]].bytes;
    return bytes;
}

/* What is not on all devices goes to one of the rank whose own it is, if that has room. */
struct owners {
    const struct share *s;
    const uint32_t *from; /* [ranks + 1] a rank's members */
};

static void prefer_owner(const void *arg, uint32_t type, uint32_t row, uint32_t *from, uint32_t *to)
{
    const struct owners *o = arg;
    const uint32_t owner = gnn_store_rank_of(o->s->x->job->store, type, row);
    *from = o->from[owner];
    *to = o->from[owner + 1];
}

/* For each row of the order that it comes to, who keeps it. */
static int assign_holders(struct share *s, struct clique *c, uint16_t *const *holder)
{
    const struct gather_caching *k = s->k;
    const uint32_t ranks = s->x->job->comm->size;
    const double share = gnn_gpu_cache_share(k, c->n, c->bytes);
    const uint64_t hot = share < 1 ? (uint64_t)((double)c->bytes * share) : c->bytes;
    uint64_t *left = gnn_alloc(c->n, sizeof *left, "a cache", k->e), used = 0;
    uint32_t *from = gnn_alloc_zero((uint64_t)ranks + 1, sizeof *from, "a cache", k->e);
    const struct owners owners = {s, from};
    struct gnn_fill fill = {.rows = &k->ranked,
                            .at = c->all,
                            .left = left,
                            .nholders = c->n,
                            .skip = true,
                            .holder = holder,
                            .prefer = prefer_owner,
                            .arg = &owners};
    gnn_fill_one(&k->ranked, hot, c->hot);
    for (uint32_t t = 0; t < node_types(s); t++) {
        used += c->hot[t] * k->rows.bytes[t];
        c->all[t] = c->hot[t];
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

static int plan_clique(struct share *s, struct clique *c)
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
                                             .norder = c->all[t],
                                             .replicated = c->hot[t],
                                             .holder = holder[t],
                                             .row_bytes = k->rows.bytes[t]};
        if (k->rows.bytes[t])
            rc = gnn_placement_init(&c->place[t], &o, k->e);
    }
    for (uint32_t t = 0; holder && t < node_types(s); t++)
        gnn_free(holder[t]);
    gnn_free(holder);
    return rc;
}

/* Where tables lie in what members lend. */
static void lay_out(const struct share *s, struct clique *c)
{
    const uint32_t n = s->x->job->njobs;
    for (uint32_t m = 0; m < c->n; m++)
        for (uint32_t i = 0; i < n; i++) {
            c->at[(size_t)m * n + i] = c->lent[m];
            if (is_held(s, c, i)) {
                const struct gather_table *t = &s->x->table[i];
                c->lent[m] +=
                    (gnn_placement_rows(&c->place[t->job->type], m + 1) * t->bytes + ALIGN - 1) /
                    ALIGN * ALIGN;
            }
        }
}

static int clique_new(struct share *s, const uint32_t *member, uint32_t n)
{
    struct gnn_err *e = s->k->e;
    if (gnn_grow(&s->clique, s->ncliques, sizeof *s->clique, "a cache", e))
        return e->code;
    struct clique *c = &s->clique[s->ncliques++];
    c->n = n;
    c->member = gnn_alloc(n, sizeof *c->member, "a cache", e);
    c->hot = gnn_alloc_zero(node_types(s), sizeof *c->hot, "a cache", e);
    c->all = gnn_alloc_zero(node_types(s), sizeof *c->all, "a cache", e);
    c->place = gnn_alloc_zero(node_types(s), sizeof *c->place, "a cache", e);
    c->at = gnn_alloc_zero((uint64_t)n * s->x->job->njobs, sizeof *c->at, "a cache", e);
    c->lent = gnn_alloc_zero(n, sizeof *c->lent, "a cache", e);
    if (!c->member || !c->hot || !c->all || !c->place || !c->at || !c->lent)
        return e->code;
    memcpy(c->member, member, n * sizeof *member);
    for (uint32_t m = 0; m < n; m++)
        if (is_local(s, member[m]))
            s->clique_of[s->p->peer[member[m]].unit] = s->ncliques - 1;
    c->bytes = least_bytes(s, c);
    return 0;
}

static int find_cliques(struct share *s)
{
    struct gnn_err *e = s->k->e;
    bool *taken = gnn_alloc_zero(s->p->n, sizeof *taken, "a cache", e);
    uint32_t *member = gnn_alloc(s->p->n, sizeof *member, "a cache", e), n;
    int rc = taken && member ? 0 : e->code;
    while (!rc && gnn_gpu_peers_clique(s->p, taken, member, &n)) {
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
static uint32_t member_of(const struct share *s, const struct clique *c, unsigned unit)
{
    uint32_t m = 0;
    while (c->member[m] != s->p->self + unit)
        m++;
    return m;
}

static int alloc_memory(struct share *s, unsigned unit)
{
    const struct clique *c = &s->clique[s->clique_of[unit]];
    const uint32_t m = member_of(s, c, unit), njobs = s->x->job->njobs;
    struct gather_unit *u = &s->x->unit[unit];
    int rc =
        c->lent[m] ? gnn_gpu_gather_alloc(u, c->lent[m], "the cache", &s->lend[unit], s->k->e) : 0;
    for (uint32_t i = 0; !rc && i < njobs; i++)
        if (is_held(s, c, i)) {
            const struct gather_table *t = &s->x->table[i];
            rc = gnn_gpu_gather_alloc(u, gnn_placement_rows(&c->place[t->job->type], 0) * t->bytes,
                                      "the cache", &s->hot[(size_t)unit * njobs + i], s->k->e);
        }
    return rc;
}

/* Where the members' memory is, as the device sees it. */
static int open_members(struct share *s, unsigned unit, void **base)
{
    const struct clique *c = &s->clique[s->clique_of[unit]];
    int rc = 0;
    for (uint32_t m = 0; !rc && m < c->n; m++) {
        const struct gnn_gpu_peer *q = &s->p->peer[c->member[m]];
        if (is_local(s, c->member[m]))
            base[m] = s->lend[q->unit];
        else if (c->lent[m])
            rc = gnn_gpu_peers_open(s->p, unit, c->member[m], &base[m], s->k->e);
    }
    return rc;
}

/* The views of device `unit`. */
static int set_views(struct share *s, unsigned unit)
{
    const struct clique *c = &s->clique[s->clique_of[unit]];
    const uint32_t njobs = s->x->job->njobs, self = member_of(s, c, unit);
    struct gather_unit *u = &s->x->unit[unit];
    void **base = gnn_alloc_zero(c->n, sizeof *base, "a cache", s->k->e),
         **data = gnn_alloc((uint64_t)c->n + 1, sizeof *data, "a cache", s->k->e),
         **slot = gnn_alloc_zero(node_types(s), sizeof *slot, "a cache", s->k->e);
    int rc = data && base && slot ? open_members(s, unit, base) : s->k->e->code;
    for (uint32_t t = 0; !rc && t < node_types(s); t++)
        if (c->place[t].nslots)
            rc = gnn_gpu_gather_upload(u, c->place[t].slot, c->place[t].nrows * sizeof(uint32_t),
                                       "the cache's slots", &slot[t], s->k->e);
    for (uint32_t i = 0; !rc && i < njobs; i++) {
        struct gather_table *t = &s->x->table[i];
        if (!is_held(s, c, i))
            continue;
        data[0] = s->hot[(size_t)unit * njobs + i];
        for (uint32_t m = 0; m < c->n; m++)
            data[m + 1] = (char *)base[m] + c->at[(size_t)m * njobs + i];
        rc = gnn_gpu_gather_place(u, &t->view[unit], &c->place[t->job->type], self, data,
                                  slot[t->job->type], s->k->e);
    }
    gnn_free(data);
    gnn_free(base);
    gnn_free(slot);
    return rc;
}

/* ---- rows ---- */

/* A piece of what this rank's devices are to keep: some rows of a type, on a device. */
struct piece {
    unsigned unit;
    uint32_t type, part; /* of the place */
    uint64_t at, n;      /* rows of the part */
};

static int add_pieces(const struct share *s, unsigned unit, uint32_t type, uint32_t part,
                      struct piece **list, uint64_t *n)
{
    const struct gnn_placement *p = &s->clique[s->clique_of[unit]].place[type];
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
static int place_rows(struct share *s, const struct piece *w, struct gather_staging *packet)
{
    const struct clique *c = &s->clique[s->clique_of[w->unit]];
    const uint32_t m = member_of(s, c, w->unit), njobs = s->x->job->njobs;
    struct gather_unit *u = &s->x->unit[w->unit];
    int rc = gnn_dev_use(u->d->number, s->k->e);
    if (!rc)
        rc = gnn_gather_staging_send(s->x->line, u, packet, s->k->e);
    for (uint32_t i = 0; !rc && i < njobs; i++) {
        const struct gather_table *t = &s->x->table[i];
        const struct gather_view nothing = {0};
        const struct gather_staged *k = &packet->of[s->x->at[i]];
        const uint64_t *rows;
        if (!gather_cacheable(t) || t->job->type != w->type)
            continue;
        char *to = w->part ? (char *)s->lend[w->unit] + c->at[(size_t)m * njobs + i]
                           : s->hot[(size_t)w->unit * njobs + i];
        const struct gather_view v = gnn_gather_staging_view(u, &nothing, k, &rows);
        rc = gnn_gpu_gather_rows(u, &v, t->bytes, t->cast, NULL, rows, k->n, to + w->at * t->bytes,
                                 NULL, s->k->e);
    }
    return rc ? rc : gnn_dev_stream_wait(u->stream, s->k->e);
}

/* One round: each rank asks for the rows of a piece, as if they were a batch without edges, or for
 * none. */
static int fill_round(struct share *s, uint64_t round, const struct piece *w, struct gnn_batch *b)
{
    struct gather_staging *packet = NULL;
    uint64_t counts[GNN_TYPES_MAX] = {0};
    for (uint32_t t = 0; t < node_types(s); t++)
        b->type[t].count = &counts[t];
    if (w) {
        const struct gnn_placement *p = &s->clique[s->clique_of[w->unit]].place[w->type];
        counts[w->type] = w->n;
        b->type[w->type].node = p->row + p->first[w->part] + w->at;
    }
    b->nth = round;
    int rc = gnn_gather_remote_exchange(s->x->job, s->far, b, s->k->e);
    if (!rc && w)
        rc = gnn_gather_staging_make(s->x->line, s->far, b, &packet, s->k->e);
    if (!rc && w)
        rc = place_rows(s, w, packet);
    gnn_gather_staging_put(s->x->line, packet);
    return rc;
}

static int fill_caches(struct share *s)
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
    uint64_t rounds = n;
    if (!rc)
        rc = gnn_comm_all_reduce(s->p->comm, &rounds, 1, GNN_REDUCE_MAX, e);
    if (!rc && !(s->far = gnn_gather_remote_new(s->x->job, e)))
        rc = e->code;
    for (uint64_t i = 0; !rc && i < rounds; i++)
        rc = fill_round(s, i, i < n ? &list[i] : NULL, &b);
    gnn_free(b.type);
    gnn_free(list);
    return rc;
}

/* ---- all of it ---- */

/* From here on the threads that ask see which rows devices hold. */
static int set_maps(struct share *s)
{
    struct gather_queue *l = s->x->line;
    const uint32_t n = node_types(s);
    l->placed = gnn_alloc((uint64_t)s->ncliques * n, sizeof *l->placed, "a cache", s->k->e);
    if (!l->placed)
        return s->k->e->code;
    for (uint32_t i = 0; i < s->ncliques; i++)
        for (uint32_t t = 0; t < n; t++) {
            struct gnn_placement *p = &s->clique[i].place[t];
            gnn_free(p->row); /* they need not know which row a slot has */
            p->row = NULL;
            l->placed[l->nplaced++] = *p;
            *p = (struct gnn_placement){0};
        }
    for (unsigned u = 0; u < s->x->g->n; u++)
        for (uint32_t t = 0; t < n; t++) {
            const struct gnn_placement *p = &l->placed[(size_t)s->clique_of[u] * n + t];
            l->map[(size_t)u * n + t].held = p->nslots ? p : NULL;
            l->map[(size_t)u * n + t].device = member_of(s, &s->clique[s->clique_of[u]], u);
        }
    return 0;
}

static void add_stats(const struct share *s, const struct clique *c)
{
    struct gnn_gather_stats *to = s->x->stats;
    uint64_t hot = 0, dealt = 0;
    if (!to)
        return;
    for (uint32_t t = 0; t < node_types(s); t++)
        if (c->place[t].nslots) {
            hot += gnn_placement_rows(&c->place[t], 0);
            dealt += c->place[t].nslots - gnn_placement_rows(&c->place[t], 0);
        }
    to->nodes = s->k->rows.count;
    if (!to->cliques || hot + dealt < to->replicated + to->sharded) {
        to->replicated = hot;
        to->sharded = dealt;
    }
    to->cliques++;
    for (uint32_t m = 0; m < c->n; m++) {
        uint64_t bytes = 0;
        for (uint32_t t = 0; t < node_types(s); t++)
            if (c->place[t].nslots)
                bytes += gnn_placement_bytes(&c->place[t], m);
        if (!is_local(s, c->member[m]))
            continue;
        to->devices++;
        to->cached_bytes = bytes > to->cached_bytes ? bytes : to->cached_bytes;
    }
}

static int decide_all(struct share *s)
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
        rc = hide_others(s);
    if (!rc)
        rc = gnn_gpu_cache_rank(k);
    for (uint32_t i = 0; !rc && i < s->ncliques; i++) {
        rc = s->clique[i].bytes ? plan_clique(s, &s->clique[i]) : 0;
        if (!rc)
            lay_out(s, &s->clique[i]);
    }
    return rc;
}

static int build_caches(struct share *s)
{
    struct gpu_gather *x = s->x;
    int rc = 0;
    for (unsigned u = 0; !rc && u < x->g->n; u++)
        rc = alloc_memory(s, u);
    if (!rc)
        rc = gnn_gpu_peers_export(s->p, s->lend, s->k->e);
    for (unsigned u = 0; !rc && u < x->g->n; u++)
        rc = set_views(s, u);
    if (!rc)
        rc = fill_caches(s);
    for (uint32_t i = 0; !rc && i < s->ncliques; i++)
        add_stats(s, &s->clique[i]);
    for (unsigned u = 0; !rc && u < x->g->n; u++)
        rc = gnn_dev_stream_wait(x->unit[u].stream, s->k->e);
    if (!rc)
        rc = set_maps(s);
    uint64_t n = 0;
    if (!rc) /* others read what this rank keeps from now on: all wait for all */
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

static int exchange_budgets(struct share *s)
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
    for (uint32_t t = 0; c->place && t < types; t++)
        gnn_placement_release(&c->place[t]);
    gnn_free(c->member);
    gnn_free(c->hot);
    gnn_free(c->all);
    gnn_free(c->place);
    gnn_free(c->at);
    gnn_free(c->lent);
}

int gnn_gpu_cache_ranks(struct gather_caching *k)
{
    struct gpu_gather *x = k->x;
    struct share s = {.k = k, .x = x};
    s.clique_of = gnn_alloc_zero(x->g->n, sizeof *s.clique_of, "a cache", k->e);
    s.lend = gnn_alloc_zero(x->g->n, sizeof *s.lend, "a cache", k->e);
    s.hot = gnn_alloc_zero((uint64_t)x->g->n * x->job->njobs, sizeof *s.hot, "a cache", k->e);
    int rc = s.clique_of && s.lend && s.hot ? exchange_budgets(&s) : k->e->code;
    if (!rc)
        rc = decide_all(&s);
    if (!rc)
        rc = build_caches(&s);
    for (uint32_t i = 0; i < s.ncliques; i++)
        clique_free(&s.clique[i], x->job->meta.schema.nntypes);
    gnn_gather_remote_free(s.far);
    gnn_free(s.clique);
    gnn_free(s.clique_of);
    gnn_free(s.lend);
    gnn_free(s.hot);
    return rc;
}
