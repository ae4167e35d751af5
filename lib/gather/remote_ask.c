/* SPDX-License-Identifier: Apache-2.0 */
/* What a batch requests of other ranks, and what others request (lib/gather/gather_remote.c). */
#include <inttypes.h>
#include <string.h>

#include "lib/gather/gather_remote.h"

bool gnn_gather_has_fields(const struct gatherer *g, bool edge, uint32_t type, bool *direct)
{
    bool any = false;
    *direct = true;
    for (uint32_t i = 0; i < g->njobs; i++) {
        const struct gather_job *j = &g->job[i];
        if (j->edge != edge || j->type != type || j->label)
            continue;
        any = true;
        *direct = *direct && gnn_gather_job_copy(j).cast == gnn_gather_job_then(j).cast;
    }
    return any;
}

/* The edges of a block, rank by rank: blocks with fields are few and small. */
static int ask_edges(const struct gatherer *g, struct gather_rows *f, const struct gnn_batch *b,
                     uint32_t hop, uint32_t et, const struct gather_want *w, struct gnn_err *e)
{
    const struct gnn_block *k = gnn_batch_block(b, hop, et);
    const uint32_t *node = f->want[g->meta.schema.etype[et].dst].id + k->first,
                   *count = f->count + (size_t)(w - f->want) * f->q.ranks,
                   *owner = (const uint32_t *)f->owner.data + w->owner_at;
    for (uint32_t r = 0; r < f->q.ranks; r++) {
        uint64_t n = 0;
        for (uint32_t i = 0; i < k->n; i++)
            n += owner[i] == r;
        uint32_t *to = gnn_packet_add(&f->q.queue[r], 2 + 2 * n, e);
        if (!to)
            return e->code;
        *to++ = (uint32_t)n;
        *to++ = count[r];
        for (uint32_t i = 0; i < k->n; i++)
            if (owner[i] == r) {
                to[n] = k->indptr[i + 1] - k->indptr[i];
                *to++ = node[i];
            }
        uint64_t *id = gnn_packet_align(&f->q.queue[r], sizeof *id, e)
                           ? NULL
                           : (void *)gnn_packet_add(&f->q.queue[r], 2 * (uint64_t)count[r], e);
        if (!id)
            return e->code;
        for (uint32_t i = 0; i < k->n; i++)
            for (uint32_t x = k->indptr[i]; owner[i] == r && x < k->indptr[i + 1]; x++)
                *id++ = k->id[x];
    }
    return 0;
}

int gnn_gather_remote_ask(const struct gatherer *g, struct gather_rows *f,
                          const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    bool direct;
    for (uint32_t r = 0; r < f->q.ranks; r++) {
        uint32_t *w = gnn_packet_add(&f->q.queue[r], 1, e);
        if (!w)
            return e->code;
        *w = GATHER_ASKED;
    }
    for (uint32_t t = 0; t < c->nntypes; t++) {
        const struct gather_want *w = &f->want[t];
        const struct gnn_entries entry = {.node = (uint32_t *)(uintptr_t)w->id};
        if (gnn_gather_has_fields(g, false, t, &direct) &&
            gnn_request_put(&f->q, (const uint32_t *)f->owner.data + w->owner_at, entry,
                            (uint32_t)w->n, f->count + (size_t)t * f->q.ranks, e))
            return e->code;
    }
    for (uint32_t k = 0; k < b->nhops * c->netypes; k++)
        if (gnn_gather_has_fields(g, true, k % c->netypes, &direct) &&
            ask_edges(g, f, b, k / c->netypes, k % c->netypes, &f->want[c->nntypes + k], e))
            return e->code;
    return 0;
}

/* ---- what others want ---- */

static int read_nodes(struct gather_rows *f, uint32_t t, uint32_t r, struct gnn_err *e)
{
    struct gather_asked *a = &f->by[(size_t)t * f->q.ranks + r];
    const uint32_t *n = gnn_packet_read(&f->q.in[r], 1);
    a->n = n ? *n : 0;
    a->node = n ? gnn_packet_read(&f->q.in[r], *n) : NULL;
    return a->node ? 0 : gnn_request_malformed(&f->q, r, e);
}

static int read_edges(const struct gatherer *g, struct gather_rows *f, uint32_t slot, uint32_t et,
                      uint32_t r, uint64_t *at, struct gnn_err *e)
{
    const struct gather_job *j = gnn_gather_edge_job(g, et);
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

int gnn_gather_remote_read(const struct gatherer *g, struct gather_rows *f,
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
            if (gnn_gather_has_fields(g, false, t, &direct))
                rc = read_nodes(f, t, r, e);
        for (uint32_t k = 0; !rc && k < b->nhops * c->netypes; k++)
            if (gnn_gather_has_fields(g, true, k % c->netypes, &direct))
                rc = read_edges(g, f, c->nntypes + k, k % c->netypes, r, &at, e);
    }
    return rc;
}
