/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering with several ranks on the host (lib/gather/gather_remote.h): one round trip for a
 * batch. Requests go out for all fields together, replies are filled for everybody, and the batch's
 * tensors are made from the own store and what has come. Every rank goes through these steps in the
 * same order, as ranks wait for each other in each. */
#include "lib/gather/replica.h"

#include <inttypes.h>
#include <string.h>

void gnn_gather_remote_free(struct gather_remote *f)
{
    if (!f)
        return;
    gnn_request_release(&f->q);
    gnn_buf_release(&f->owner);
    gnn_buf_release(&f->row);
    gnn_buf_release(&f->found);
    gnn_free(f->want);
    gnn_free(f->count);
    gnn_free(f->by);
    gnn_free(f->part);
    gnn_free(f);
}

struct gather_remote *gnn_gather_remote_new(const struct gatherer *g, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->meta.schema;
    struct gather_remote *f = gnn_alloc_zero(1, sizeof *f, "ranks", e);
    if (!f)
        return NULL;
    const uint32_t n = g->comm->size;
    f->map = g->map;
    f->slots = c->nntypes + g->meta.sampling.nhops * c->netypes;
    f->want = gnn_alloc_zero(f->slots, sizeof *f->want, "ranks", e);
    f->count = gnn_alloc_zero((uint64_t)f->slots * n, sizeof *f->count, "ranks", e);
    f->by = gnn_alloc_zero((uint64_t)f->slots * n, sizeof *f->by, "ranks", e);
    f->part = gnn_alloc_zero((uint64_t)g->store->nparts + n + 1, sizeof *f->part, "ranks", e);
    if (f->want && f->count && f->by && f->part && !gnn_request_init(&f->q, g->comm, 0, e))
        return f;
    gnn_gather_remote_free(f);
    return NULL;
}

/* Rows for one rank, of one field; for edges, of one hop. */
static int reply_field(const struct gatherer *g, struct gather_remote *f,
                       const struct gather_job *j, uint32_t hop, uint32_t r, struct gnn_err *e)
{
    /* Replies are read in the order in which they are written here: fields, then hops. */
    const struct gather_asked *a = &f->by[(size_t)gnn_gather_slot(g, j, hop) * f->q.ranks + r];
    const uint64_t bytes = a->n * gnn_gather_job_out(j);
    if (gnn_packet_align(&f->q.staging[r], GATHER_ALIGN, e))
        return e->code;
    struct gnn_gather rows = {.part = j->part,
                              .nparts = j->nparts,
                              .cast = gnn_gather_job_cast(j),
                              .bytes = gnn_gather_job_bytes(j),
                              .n = a->n,
                              .id = j->edge ? NULL : a->node,
                              .id64 =
                                  j->edge ? (const uint64_t *)f->found.data + a->found_at : NULL,
                              .out = gnn_packet_add(&f->q.staging[r], (bytes + 3) / 4, e)};
    if (!rows.out)
        return e->code;
    /* An id that this rank does not own came from the other rank: it is the one to blame. */
    return gnn_gather_rows(&rows) < a->n ? gnn_request_malformed(&f->q, r, e) : 0;
}

static int reply_to(const struct gatherer *g, struct gather_remote *f, uint32_t r,
                    const struct gnn_batch *b, struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < g->njobs; i++)
        for (uint32_t h = 0; !rc && h < gnn_gather_hops(&g->job[i], b); h++)
            rc = reply_field(g, f, &g->job[i], h, r, e);
    return rc;
}

int gnn_gather_remote_next(const struct gatherer *g, struct gather_remote *f,
                           const struct gather_job *j, uint32_t hop, uint32_t r, const void **rows,
                           uint64_t *n, struct gnn_err *e)
{
    const uint64_t bytes = gnn_gather_job_out(j);
    *n = f->count[(size_t)gnn_gather_slot(g, j, hop) * f->q.ranks + r];
    *rows = gnn_packet_skip(&f->q.in[r], GATHER_ALIGN)
                ? gnn_packet_read(&f->q.in[r], (*n * bytes + 3) / 4)
                : NULL;
    if (!*rows)
        return gnn_request_malformed(&f->q, r, e);
    if (r != g->comm->rank)
        f->hits.bytes[GNN_TIER_REMOTE] += *n * bytes;
    return 0;
}

/* One field of the batch, from this rank's parts and from what has come. */
static int collect_field(const struct gatherer *g, struct gather_remote *f,
                         const struct gather_job *j, uint32_t hop, struct gnn_batch *b,
                         struct gnn_err *e)
{
    const uint32_t slot = gnn_gather_slot(g, j, hop);
    const struct gather_want *w = &f->want[slot];
    struct gnn_field wire = *j->field;
    struct gather_job from = *j;
    struct gnn_tensor *t;
    uint32_t nparts = j->nparts;
    memcpy(f->part, j->part, nparts * sizeof *f->part);
    for (uint32_t r = 0; r < f->q.ranks; r++) {
        struct gnn_gather_part *p = &f->part[nparts++];
        /* Row numbers were chosen so that each rank's reply is one part of its own; requesting and
         * reading must agree on base and n. */
        *p = (struct gnn_gather_part){.first = w->base + r * w->n};
        if (gnn_gather_remote_next(g, f, j, hop, r, &p->data, &p->count, e))
            return e->code;
    }
    if (!gnn_gather_wanted(j, b, hop))
        return 0;
    if (g->replica && !j->edge) {
        const uint32_t i = (uint32_t)(j - g->job);
        f->part[nparts++] = (struct gnn_gather_part){.first = w->base + f->q.ranks * w->n,
                                                     .count = g->replica->of[j->type].n,
                                                     .data = g->replica->data[i]};
    }
    wire.dtype = j->wire;
    from.field = &wire;
    from.part = f->part;
    from.nparts = nparts;
    int rc = gnn_gather_add(g, j, b, hop, NULL, &t, e);
    if (rc)
        return rc;
    const bool sums = g->sums && !b->tensors.share;
    if (gnn_gather_job_rows(&from, NULL, (const uint64_t *)f->row.data + w->row_at, w->n, sums, t) <
        w->n)
        return gnn_gather_bad_id(g, j, b, hop, e);
    if (j->original)
        b->type[j->type].orig = t->data;
    return 0;
}

/* Labels are the seeds', which are this rank's own. */
static int collect_labels(const struct gatherer *g, const struct gather_job *j, struct gnn_batch *b,
                          struct gnn_err *e)
{
    struct gnn_tensor *t;
    const int rc = gnn_gather_wanted(j, b, 0) ? gnn_gather_add(g, j, b, 0, NULL, &t, e) : 0;
    if (rc || !gnn_gather_wanted(j, b, 0))
        return rc;
    const uint64_t n = t->shape[0];
    if (gnn_gather_job_rows(j, b->type[j->type].node, NULL, n, g->sums && !b->tensors.share, t) < n)
        return gnn_gather_bad_id(g, j, b, 0, e);
    return gnn_gather_check_labels(g, b, t, e);
}

int gnn_gather_remote_exchange(struct gatherer *g, struct gather_remote *f,
                               const struct gnn_batch *b, struct gnn_err *e)
{
    gnn_request_begin(&f->q, gnn_comm_tag(GNN_COMM_GATHER, b->nth), b);
    int rc = gnn_gather_remote_ask(g, f, b, e);
    if (!rc)
        rc = gnn_request_ask(&f->q, e);
    if (!rc)
        rc = gnn_gather_remote_read(g, f, b, e);
    for (uint32_t r = 0; !rc && r < f->q.ranks; r++)
        rc = reply_to(g, f, r, b, e);
    return rc ? rc : gnn_request_reply(&f->q, e);
}

int gnn_gather_remote_apply(struct gatherer *g, struct gather_remote *f, struct gnn_batch *b,
                            struct gnn_err *e)
{
    int rc = gnn_gather_remote_exchange(g, f, b, e);
    for (uint32_t i = 0; !rc && i < g->njobs; i++) {
        const struct gather_job *j = &g->job[i];
        for (uint32_t h = 0; !rc && h < (j->edge ? b->nhops : 1); h++)
            rc = j->label ? collect_labels(g, j, b, e) : collect_field(g, f, j, h, b, e);
    }
    return rc;
}

void gnn_gather_remote_count(struct gatherer *g, const struct gather_remote *f,
                             const struct gnn_batch *b)
{
    pthread_mutex_lock(&g->lock);
    g->batches = b->nth + 1 > g->batches ? b->nth + 1 : g->batches;
    if (g->hits)
        gnn_tier_add(g->hits, &f->hits);
    pthread_mutex_unlock(&g->lock);
}

int gnn_gather_remote_end(struct gatherer *g, struct gnn_err *e)
{
    static const uint32_t ended = GATHER_ENDED;
    struct gnn_exchange x;
    /* All ranks must end after the same batch; one that sends a request instead has more of
     * them. */
    int rc = gnn_exchange_init(&x, g->comm, gnn_comm_tag(GNN_COMM_GATHER, g->batches), e);
    if (!rc)
        rc = gnn_comm_all_gather(g->comm, &x, &ended, sizeof ended, e);
    for (uint32_t r = 0; !rc && r < g->comm->size; r++)
        if (x.in[r].bytes < sizeof ended || *(const uint32_t *)x.in[r].data != ended)
            rc = gnn_fail(e, GNN_E_INPUT,
                          "the batches of rank %u end after %" PRIu64
                          ", but those of rank %u do not",
                          g->comm->rank, g->batches, r);
    gnn_exchange_release(&x);
    return rc;
}
