/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows a batch wants, whose they are, and what others want. */
#include <inttypes.h>
#include <string.h>

#include "lib/gather/replica.h"

bool gnn_gather_remote_fields(const struct gatherer *g, bool edge, uint32_t type, bool *direct)
{
    bool any = false;
    *direct = true;
    for (uint32_t i = 0; i < g->njobs; i++) {
        const struct gather_job *j = &g->job[i];
        if (j->edge != edge || j->type != type || j->label)
            continue;
        any = true;
        *direct = *direct && gnn_gather_job_cast(j) == GNN_GATHER_AS_IS;
    }
    return any;
}

static const struct gather_job *edge_job(const struct gatherer *g, uint32_t type)
{
    uint32_t i = 0;
    while (!g->job[i].edge || g->job[i].type != type)
        i++;
    return &g->job[i];
}

/*- Requests the rows of a batch's nodes of type t, and numbers all of them, wherever they come from,
 * for one pass over the parts of a field:
 *
 *   [0, base)                           rows of the field itself: this rank's own, and those in a
 *                                       device's slots
 *   [base + r * n, base + (r + 1) * n)  the reply of rank r, in the order of the requests
 *   [base + ranks * n, ...)             replicated remote rows
 */
static int ask_nodes(const struct gatherer *g, struct gather_remote *f, const struct gnn_batch *b,
                     uint32_t t, struct gather_want *w, struct gnn_err *e)
{
    const uint32_t *id = b->type[t].node;
    uint32_t *count = f->count + (size_t)t * f->q.ranks;
    w->n = gnn_batch_nodes(b, t);
    w->base = g->meta.schema.ntype[t].count;
    int rc = gnn_buf_reserve(&f->row, w->row_at + w->n, sizeof(uint64_t), "rows", e);
    if (!rc)
        rc = gnn_buf_fit(&f->owner, w->n, sizeof(uint32_t), "rows", e);
    if (rc)
        return rc;
    uint64_t *row = (uint64_t *)f->row.data + w->row_at;
    uint32_t *owner = f->owner.data;
    const uint64_t copies = w->base + f->q.ranks * w->n;
    for (uint64_t i = 0; i < w->n; i++) {
        if (id[i] >= w->base)
            return gnn_fail(e, GNN_E_INPUT, "batch %" PRIu64 "/%" PRIu64 ": node id out of range",
                            b->epoch, b->step);
        const struct gnn_tier_row at = gnn_tier_find(&f->map[t], id[i]);
        f->hits.rows[at.tier]++;
        owner[i] = GNN_REQUEST_NOBODY;
        row[i] = id[i];
        if (at.tier == GNN_TIER_REPLICA) {
            row[i] = copies + at.at;
        } else if (at.tier == GNN_TIER_REMOTE || (at.tier == GNN_TIER_STORE && !w->direct)) {
            owner[i] = at.at;
            row[i] = w->base + at.at * w->n + count[at.at]++;
        }
    }
    const struct gnn_entries entry = {.node = (uint32_t *)(uintptr_t)id};
    return gnn_request_put(&f->q, owner, entry, (uint32_t)w->n, count, e);
}

/* Numbers of the rows of a block's edges: own ones by looking the edge up, remote ones as those of
 * nodes; and how many are requested of each rank. */
static int own_edges(const struct gatherer *g, struct gather_remote *f, const struct gnn_batch *b,
                     const struct gnn_block *k, const struct gather_job *j,
                     const struct gather_want *w, uint32_t *count, struct gnn_err *e)
{
    const uint32_t t = g->meta.schema.etype[j->type].dst, self = g->comm->rank;
    uint64_t *row = (uint64_t *)f->row.data + w->row_at;
    uint32_t *owner = f->owner.data;
    for (uint32_t i = 0; i < k->n; i++) {
        const uint32_t id = b->type[t].node[k->first + i];
        const uint32_t r = owner[i] = gnn_store_rank_of(g->store, t, id);
        if (!w->direct || r != self) {
            for (uint32_t x = k->indptr[i]; x < k->indptr[i + 1]; x++)
                row[x] = w->base + r * w->n + count[r]++;
            continue;
        }
        const struct gnn_edges_of of = gnn_edges_of_node(j->edges, j->nparts, id);
        for (uint32_t x = k->indptr[i]; x < k->indptr[i + 1]; x++)
            if ((row[x] = gnn_edges_row(&of, k->id[x])) == UINT64_MAX)
                return gnn_gather_bad_id(g, j, b, 0, e);
    }
    return 0;
}

static int ask_edges(const struct gatherer *g, struct gather_remote *f, const struct gnn_batch *b,
                     uint32_t hop, uint32_t et, struct gather_want *w, struct gnn_err *e)
{
    const struct gather_job *j = edge_job(g, et);
    const struct gnn_block *k = gnn_batch_block(b, hop, et);
    const uint32_t t = g->meta.schema.etype[et].dst, *node = b->type[t].node + k->first;
    uint32_t *count = f->count + (size_t)(w - f->want) * f->q.ranks;
    w->n = k->edges;
    w->base = j->part[j->nparts - 1].first + j->part[j->nparts - 1].count;
    int rc = gnn_buf_reserve(&f->row, w->row_at + w->n, sizeof(uint64_t), "rows", e);
    if (!rc)
        rc = gnn_buf_fit(&f->owner, k->n, sizeof(uint32_t), "rows", e);
    if (!rc)
        rc = own_edges(g, f, b, k, j, w, count, e);
    const uint32_t *owner = f->owner.data;
    for (uint32_t r = 0; !rc && r < f->q.ranks;
         r++) { /* rank by rank: blocks with fields are few and small */
        const bool mine = w->direct && r == g->comm->rank;
        uint64_t n = 0;
        for (uint32_t i = 0; i < k->n; i++)
            n += owner[i] == r && !mine;
        uint32_t *to = gnn_packet_add(&f->q.queue[r], 2 + 2 * n, e);
        if (!to)
            return e->code;
        *to++ = (uint32_t)n;
        *to++ = count[r];
        for (uint32_t i = 0; i < k->n; i++)
            if (owner[i] == r && !mine) {
                to[n] = k->indptr[i + 1] - k->indptr[i];
                *to++ = node[i];
            }
        uint64_t *id = gnn_packet_align(&f->q.queue[r], sizeof *id, e)
                           ? NULL
                           : (void *)gnn_packet_add(&f->q.queue[r], 2 * (uint64_t)count[r], e);
        if (!id)
            return e->code;
        for (uint32_t i = 0; i < k->n; i++)
            for (uint32_t x = k->indptr[i]; owner[i] == r && !mine && x < k->indptr[i + 1]; x++)
                *id++ = k->id[x];
    }
    return rc;
}

int gnn_gather_remote_ask(const struct gatherer *g, struct gather_remote *f,
                          const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    uint64_t at = 0;
    int rc = 0;
    memset(f->count, 0, (size_t)f->slots * f->q.ranks * sizeof *f->count);
    f->hits = (struct gnn_tier_hits){0};
    memset(f->want, 0, f->slots * sizeof *f->want);
    for (uint32_t r = 0; r < f->q.ranks; r++) {
        uint32_t *w = gnn_packet_add(&f->q.queue[r], 1, e);
        if (!w)
            return e->code;
        *w = GATHER_ASKED;
    }
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        struct gather_want *w = &f->want[t];
        w->row_at = at;
        if (gnn_gather_remote_fields(g, false, t, &w->direct))
            rc = ask_nodes(g, f, b, t, w, e);
        at += w->n;
    }
    for (uint32_t k = 0; !rc && k < b->nhops * c->netypes; k++) {
        struct gather_want *w = &f->want[c->nntypes + k];
        w->row_at = at;
        if (gnn_gather_remote_fields(g, true, k % c->netypes, &w->direct))
            rc = ask_edges(g, f, b, k / c->netypes, k % c->netypes, w, e);
        at += w->n;
    }
    return rc;
}

/* ---- what others want ---- */

static int read_nodes(struct gather_remote *f, uint32_t t, uint32_t r, struct gnn_err *e)
{
    struct gather_asked *a = &f->by[(size_t)t * f->q.ranks + r];
    const uint32_t *n = gnn_packet_read(&f->q.in[r], 1);
    a->n = n ? *n : 0;
    a->node = n ? gnn_packet_read(&f->q.in[r], *n) : NULL;
    return a->node ? 0 : gnn_request_malformed(&f->q, r, e);
}

static int read_edges(const struct gatherer *g, struct gather_remote *f, uint32_t slot, uint32_t et,
                      uint32_t r, uint64_t *at, struct gnn_err *e)
{
    const struct gather_job *j = edge_job(g, et);
    struct gather_asked *a = &f->by[(size_t)slot * f->q.ranks + r];
    struct gnn_packet_in *in = &f->q.in[r];
    const uint32_t *n = gnn_packet_read(in, 2), *node = n ? gnn_packet_read(in, n[0]) : NULL,
                   *of_each = node ? gnn_packet_read(in, n[0]) : NULL;
    const uint64_t *id = of_each && gnn_packet_skip(in, sizeof *id)
                             ? (const void *)gnn_packet_read(in, 2 * (uint64_t)n[1])
                             : NULL;
    if (!id)
        return gnn_request_malformed(&f->q, r, e);
    *a = (struct gather_asked){.n = n[1], .found_at = *at};
    if (gnn_buf_reserve(&f->found, *at + n[1], sizeof(uint64_t), "rows", e))
        return e->code;
    uint64_t *row = (uint64_t *)f->found.data + *at, k = 0;
    for (uint32_t i = 0; i < n[0]; i++) {
        const struct gnn_edges_of of = gnn_edges_of_node(j->edges, j->nparts, node[i]);
        if (of_each[i] > n[1] - k)
            return gnn_request_malformed(&f->q, r, e);
        for (uint32_t x = 0; x < of_each[i]; x++, k++)
            if ((row[k] = gnn_edges_row(&of, id[k])) == UINT64_MAX)
                return gnn_request_malformed(&f->q, r, e);
    }
    *at += n[1];
    return k == n[1] ? 0 : gnn_request_malformed(&f->q, r, e);
}

int gnn_gather_remote_read(const struct gatherer *g, struct gather_remote *f,
                           const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    uint64_t at = 0;
    bool direct;
    int rc = 0;
    for (uint32_t r = 0; !rc && r < f->q.ranks; r++) {
        const uint32_t *kind = gnn_packet_read(&f->q.in[r], 1);
        if (!kind)
            return gnn_request_malformed(&f->q, r, e);
        if (*kind == GATHER_ENDED)
            return gnn_fail(e, GNN_E_INPUT,
                            "the batches of rank %u end before epoch %" PRIu64 ", step %" PRIu64
                            ", but those of rank %u do not",
                            r, b->epoch, b->step, g->comm->rank);
        for (uint32_t t = 0; !rc && t < c->nntypes; t++)
            if (gnn_gather_remote_fields(g, false, t, &direct))
                rc = read_nodes(f, t, r, e);
        for (uint32_t k = 0; !rc && k < b->nhops * c->netypes; k++)
            if (gnn_gather_remote_fields(g, true, k % c->netypes, &direct))
                rc = read_edges(g, f, c->nntypes + k, k % c->netypes, r, &at, e);
    }
    return rc;
}
