/* SPDX-License-Identifier: Apache-2.0 */
/* The tiers that rows come from (lib/gather/tiers.h), and the tensors of a batch on the host: rows
 * are numbered by what the tier map says, brought, and then collected field by field. */
#include "lib/gather/gather_remote.h"
#include "lib/gather/replica.h"

#include <string.h>

#include "lib/store/ids.h"

/* A tier need not have all that another one has. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* ---- the tiers ---- */

static uint64_t ask_copy(struct gather_rows *f, const struct gather_want *w, uint64_t i,
                         uint32_t at)
{
    return GATHER_NUMBER(GNN_TIER_REPLICA, 0, at);
}

static int copies_part(const struct gatherer *g, struct gather_rows *f, const struct gather_job *j,
                       uint32_t hop, const struct gather_own *own, struct gnn_gather_part *part,
                       uint32_t *n, struct gnn_err *e)
{
    part[(*n)++] = (struct gnn_gather_part){.first = GATHER_NUMBER(GNN_TIER_REPLICA, 0, 0),
                                            .count = own->copies ? g->replica->of[j->type].n : 0,
                                            .data = own->copies,
                                            .tier = GNN_TIER_HOST};
    return 0;
}

/* Rows in the others are read in the field's own parts, or, on devices, in their caches. */
static const struct gather_tier tier[GNN_TIERS] = {
    [GNN_TIER_REPLICA] = {.ask = ask_copy, .parts = copies_part},
    [GNN_TIER_REMOTE] = {.by_rank = true,
                         .ask = gnn_gather_remote_number,
                         .fetch = gnn_gather_remote_fetch,
                         .parts = gnn_gather_remote_parts},
};

/* Rows of its own that change their element type on the way are requested of this rank itself. */
static const struct gather_tier *tier_of(const struct gather_want *w, enum gnn_tier t)
{
    return &tier[t == GNN_TIER_STORE && !w->direct ? GNN_TIER_REMOTE : t];
}

uint32_t gnn_gather_parts_added(const struct gatherer *g)
{
    uint32_t n = 0;
    for (int k = 0; k < GNN_TIERS; k++)
        n += tier[k].by_rank ? g->comm->size : tier[k].parts != NULL;
    return n;
}

/* ---- numbers ---- */

void gnn_gather_rows_free(struct gather_rows *f)
{
    if (!f)
        return;
    for (uint32_t t = 0; f->id && t < f->ntypes; t++)
        gnn_buf_release(&f->id[t]);
    gnn_request_release(&f->q);
    gnn_buf_release(&f->owner);
    gnn_buf_release(&f->row);
    gnn_buf_release(&f->found);
    gnn_free(f->id);
    gnn_free(f->want);
    gnn_free(f->count);
    gnn_free(f->by);
    gnn_free(f->part);
    gnn_free(f);
}

struct gather_rows *gnn_gather_rows_new(const struct gatherer *g, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    struct gather_rows *f = gnn_alloc_zero(1, sizeof *f, "a gathering thread", e);
    if (!f)
        return NULL;
    const uint32_t n = g->comm->size;
    f->map = g->map;
    f->ntypes = c->nntypes;
    f->slots = c->nntypes + g->meta.sampling.nhops * c->netypes;
    f->id = gnn_alloc_zero(c->nntypes, sizeof *f->id, "a gathering thread", e);
    f->want = gnn_alloc_zero(f->slots, sizeof *f->want, "a gathering thread", e);
    f->count = gnn_alloc_zero((uint64_t)f->slots * n, sizeof *f->count, "ranks", e);
    f->by = gnn_alloc_zero((uint64_t)f->slots * n, sizeof *f->by, "ranks", e);
    f->part = gnn_alloc_zero((uint64_t)g->store->nparts + gnn_gather_parts_added(g),
                             sizeof *f->part, "ranks", e);
    if (f->id && f->want && f->count && f->by && f->part &&
        (n == 1 || !gnn_request_init(&f->q, g->comm, 0, e)))
        return f;
    gnn_gather_rows_free(f);
    return NULL;
}

/* Space for the numbers of rows, and for owners, so far nobody, at the end of those that there are.
 */
static int add_capacity(struct gather_rows *f, struct gather_want *w, uint64_t owners,
                        struct gnn_err *e)
{
    w->row_at = f->nrows;
    w->owner_at = f->nowners;
    f->nrows += w->n;
    f->nowners += owners;
    if (gnn_buf_reserve(&f->row, f->nrows, sizeof(uint64_t), "rows", e) ||
        gnn_buf_reserve(&f->owner, f->nowners, sizeof(uint32_t), "rows", e))
        return e->code;
    if (owners)
        memset((uint32_t *)f->owner.data + w->owner_at, 0xff, owners * sizeof(uint32_t));
    return 0;
}

static int number_nodes(const struct gatherer *g, struct gather_rows *f, const struct gnn_batch *b,
                        uint32_t t, struct gnn_err *e)
{
    struct gather_want *w = &f->want[t];
    const enum gnn_tier all = gnn_tier_all(&f->map[t]);
    const uint64_t limit = g->meta.schema.ntype[t].count;
    w->n = gnn_batch_nodes(b, t);
    w->whole = all < GNN_TIERS;
    if (w->whole) {
        f->hits.rows[all] += w->n;
        return 0;
    }
    if (add_capacity(f, w, w->n, e))
        return e->code;
    uint64_t *row = (uint64_t *)f->row.data + w->row_at;
    for (uint64_t i = 0; i < w->n; i++) {
        if (w->id[i] >= limit)
            return gnn_store_bad_node(b, e);
        const struct gnn_tier_row at = gnn_tier_find(&f->map[t], w->id[i]);
        const struct gather_tier *from = tier_of(w, at.tier);
        f->hits.rows[at.tier]++;
        row[i] = from->ask ? from->ask(f, w, i, at.at) : w->id[i];
    }
    return 0;
}

/* Edges lie with their destinations. */
static int number_edges(const struct gatherer *g, struct gather_rows *f, const struct gnn_batch *b,
                        uint32_t hop, const struct gather_job *j, struct gnn_err *e)
{
    const struct gnn_block *k = gnn_batch_block(b, hop, j->type);
    const struct gnn_tier_map *map = &g->map[g->meta.schema.nntypes + j->type];
    const uint32_t *dst = f->want[map->type].id + k->first;
    struct gather_want *w = &f->want[gnn_gather_slot(g, j, hop)];
    w->n = k->edges;
    w->whole = gnn_tier_all(map) < GNN_TIERS;
    if (!k->indptr || add_capacity(f, w, w->whole ? 0 : k->n, e))
        return e->code;
    uint64_t *row = (uint64_t *)f->row.data + w->row_at;
    const struct gnn_edges all = {.part = j->edges,
                                  .nparts = j->nparts,
                                  .n = k->n,
                                  .dst = dst,
                                  .indptr = k->indptr,
                                  .id = k->id,
                                  .row = row};
    if (w->whole)
        return gnn_edges_find(&all) ? gnn_gather_bad_id(g, j, b, hop, e) : 0;
    for (uint32_t i = 0; i < k->n; i++) {
        const struct gnn_tier_row at = gnn_tier_find(map, dst[i]);
        const struct gather_tier *from = tier_of(w, at.tier);
        const struct gnn_edges_of of = gnn_edges_of_node(j->edges, j->nparts, dst[i]);
        for (uint32_t x = k->indptr[i]; x < k->indptr[i + 1]; x++) {
            row[x] = from->ask ? from->ask(f, w, i, at.at) : gnn_edges_row(&of, k->id[x]);
            if (row[x] == UINT64_MAX)
                return gnn_gather_bad_id(g, j, b, hop, e);
        }
    }
    return 0;
}

/* How many of a batch's nodes of type t, the first, a field is gathered for: no others need be in
 * the store. */
static uint64_t nodes_used(const struct gatherer *g, const struct gnn_batch *b, uint32_t t)
{
    uint64_t most = 0;
    for (const struct gather_job *j = g->job; j < g->job + g->njobs; j++)
        for (uint32_t h = 0; h < gnn_gather_job_hops(j, b); h++) {
            uint32_t type;
            const uint64_t n = gnn_gather_nodes(g, j, b, h, &type);
            most = type == t && n > most ? n : most;
        }
    return most;
}

int gnn_gather_fetch(const struct gatherer *g, struct gather_rows *f, const struct gnn_batch *b,
                     struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    int rc = 0;
    f->nrows = f->nowners = 0;
    f->hits = (struct gnn_tier_hits){0};
    memset(f->count, 0, (size_t)f->slots * g->comm->size * sizeof *f->count);
    memset(f->want, 0, f->slots * sizeof *f->want);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        f->want[t].id = b->type[t].node;
        if (g->inverse[t])
            rc = gnn_store_batch_ids(g->store, b, t, nodes_used(g, b, t), g->inverse[t], &f->id[t],
                                     &f->want[t].id, e);
        if (!rc && gnn_gather_has_fields(g, false, t, &f->want[t].direct))
            rc = number_nodes(g, f, b, t, e);
    }
    for (uint32_t k = 0; !rc && k < b->nhops * c->netypes; k++)
        if (gnn_gather_has_fields(g, true, k % c->netypes, &f->want[c->nntypes + k].direct))
            rc = number_edges(g, f, b, k / c->netypes, gnn_gather_edge_job(g, k % c->netypes), e);
    for (int k = 0; !rc && k < GNN_TIERS; k++)
        rc = tier[k].fetch ? tier[k].fetch(g, f, b, e) : 0;
    return rc;
}

/* ---- the tensors of a batch ---- */

int gnn_gather_parts(const struct gatherer *g, struct gather_rows *f, const struct gather_job *j,
                     uint32_t hop, const struct gather_own *own, struct gnn_gather_part *part,
                     uint32_t *n, struct gnn_err *e)
{
    int rc = 0;
    *n = own->nparts;
    if (*n)
        memcpy(part, own->part, *n * sizeof *part);
    for (int k = 0; !rc && k < GNN_TIERS; k++)
        rc = tier[k].parts ? tier[k].parts(g, f, j, hop, own, part, n, e) : 0;
    return rc;
}

/* What gnn_gather_opts.part_by_part promises. Returns how many ids have a row. */
static uint64_t copy_part_by_part(const struct gatherer *g, const struct gather_job *j,
                                  const uint32_t *ids, uint64_t n, uint8_t *out)
{
    const struct gather_copy c = gnn_gather_job_copy(j);
    struct gnn_gather one = {.cast = c.cast, .bytes = c.bytes, .n = 1};
    const size_t bytes = gnn_gather_out_bytes(one.cast, one.bytes);
    uint64_t got = 0;
    for (uint32_t p = 0; p < j->nparts; p++) {
        const struct gnn_gather_part f = j->part[p];
        for (uint64_t i = 0; i < n; i++)
            if (ids[i] >= f.first && ids[i] - f.first < f.count) {
                one.part = &f;
                one.nparts = 1;
                one.id = &ids[i];
                one.out = out + i * bytes;
                got += gnn_gather_rows(&one);
            }
        if (gnn_store_has(g->store, p))
            gnn_store_forget(g->store, p);
    }
    return got;
}

/* One field of a hop, from the parts of the store and from what tiers have brought. Labels are the
 * seeds', which are this rank's own. */
static int collect_field(const struct gatherer *g, struct gather_rows *f,
                         const struct gather_job *j, uint32_t hop, struct gnn_batch *b,
                         struct gnn_err *e)
{
    const struct gather_want *w = &f->want[gnn_gather_slot(g, j, hop)];
    const bool own = j->label || w->whole, by_id = own && !j->edge;
    const struct gather_copy c = own ? gnn_gather_job_copy(j) : gnn_gather_job_then(j);
    struct gather_job from = *j;
    struct gnn_tensor *t;
    if (!own) { /* also of what is not wanted: replies are read in their order */
        const struct gather_own here = {j->part, j->nparts,
                                        g->replica ? g->replica->data[j - g->job] : NULL};
        from.part = f->part;
        if (gnn_gather_parts(g, f, j, hop, &here, f->part, &from.nparts, e))
            return e->code;
    }
    if (!gnn_gather_wanted(j, b, hop))
        return 0;
    if (j->in_place && gnn_flag_get(g->in_place))
        b->type[j->type].x = j->in_place;
    if (gnn_gather_add(g, j, b, hop, NULL, &t, e))
        return e->code;
    if (j->in_place && b->type[j->type].x)
        return gnn_gather_job_refer(j, w->id, w->n) < w->n ? gnn_gather_bad_id(g, j, b, hop, e) : 0;
    const uint64_t n = t->shape[0],
                   got = g->part_by_part && by_id && w->whole && !j->own
                             ? copy_part_by_part(g, j, w->id, n, t->data)
                             : gnn_gather_job_rows(
                                   &from, c, by_id ? w->id : NULL,
                                   by_id ? NULL : (const uint64_t *)f->row.data + w->row_at, n,
                                   g->sums && !b->tensors.share, t);
    if (got < n)
        return gnn_gather_bad_id(g, j, b, hop, e);
    if (j->original)
        b->type[j->type].orig = t->data;
    return j->label ? gnn_gather_check_labels(g, b, t, e) : 0;
}

int gnn_gather_apply(const struct gatherer *g, struct gather_rows *f, struct gnn_batch *b,
                     struct gnn_err *e)
{
    int rc = gnn_gather_fetch(g, f, b, e);
    for (uint32_t i = 0; !rc && i < g->njobs; i++)
        for (uint32_t h = 0; !rc && h < gnn_gather_job_hops(&g->job[i], b); h++)
            rc = collect_field(g, f, &g->job[i], h, b, e);
    return rc;
}

void gnn_gather_count(struct gatherer *g, const struct gather_rows *f, const struct gnn_batch *b)
{
    pthread_mutex_lock(&g->lock);
    g->batches = b->nth + 1 > g->batches ? b->nth + 1 : g->batches;
    if (g->hits)
        gnn_tier_add(g->hits, &f->hits);
    pthread_mutex_unlock(&g->lock);
}
