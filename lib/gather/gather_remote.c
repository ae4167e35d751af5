/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of other ranks (lib/gather/tiers.h): one round trip for a batch. Requests go out for all
 * fields together, and replies are filled for everybody.
 *
 *   request: u32 1; per node type with fields, u32 n, u32 nodes[n]; per hop and edge type with
 *            fields, u32 n, u32 e, u32 destinations[n], u32 edges of each[n], and from the next
 *            multiple of 8 bytes on u64 ids[e]
 *   reply:   per field, and hop of an edges' field, from the next multiple of 64 bytes on, the rows
 *            that were asked for
 *
 * Every rank goes through these steps in the same order, as ranks wait for each other in each. */
#include "lib/gather/gather_remote.h"
#include "lib/gather/tiers.h"

#include <inttypes.h>

/* Rows for one rank, of one field; for edges, of one hop. */
static int reply_field(const struct gatherer *g, struct gather_rows *f, const struct gather_job *j,
                       uint32_t hop, uint32_t r, struct gnn_err *e)
{
    /* Replies are read in the order in which they are written here: fields, then hops. */
    const struct gather_asked *a = &f->by[(size_t)gnn_gather_slot(g, j, hop) * f->q.ranks + r];
    const struct gather_copy c = gnn_gather_job_sent(j);
    const uint64_t bytes = a->n * gnn_gather_job_out(j);
    if (gnn_packet_align(&f->q.staging[r], GATHER_ALIGN, e))
        return e->code;
    struct gnn_gather rows = {.part = j->part,
                              .nparts = j->nparts,
                              .cast = c.cast,
                              .bytes = c.bytes,
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

static int reply_to(const struct gatherer *g, struct gather_rows *f, uint32_t r,
                    const struct gnn_batch *b, struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < g->njobs; i++)
        for (uint32_t h = 0; !rc && h < gnn_gather_hops(&g->job[i], b); h++)
            rc = reply_field(g, f, &g->job[i], h, r, e);
    return rc;
}

uint64_t gnn_gather_remote_number(struct gather_rows *f, const struct gather_want *w, uint64_t i,
                                  uint32_t owner)
{
    const size_t slot = (size_t)(w - f->want);
    ((uint32_t *)f->owner.data)[w->owner_at + i] = owner;
    return GATHER_NUMBER(GNN_TIER_REMOTE, owner, f->count[slot * f->q.ranks + owner]++);
}

int gnn_gather_remote_fetch(const struct gatherer *g, struct gather_rows *f,
                            const struct gnn_batch *b, struct gnn_err *e)
{
    if (!f->q.ranks)
        return 0;
    gnn_request_begin(&f->q, gnn_comm_tag(GNN_COMM_GATHER, b->nth), b);
    int rc = gnn_gather_remote_ask(g, f, b, e) || gnn_request_ask(&f->q, e) ||
                     gnn_gather_remote_read(g, f, b, e)
                 ? e->code
                 : 0;
    for (uint32_t r = 0; !rc && r < f->q.ranks; r++)
        rc = reply_to(g, f, r, b, e);
    return rc ? rc : gnn_request_reply(&f->q, e);
}

int gnn_gather_remote_parts(const struct gatherer *g, struct gather_rows *f,
                            const struct gather_job *j, uint32_t hop, const struct gather_own *own,
                            struct gnn_gather_part *part, uint32_t *n, struct gnn_err *e)
{
    (void)own;
    const uint64_t bytes = gnn_gather_job_out(j);
    for (uint32_t r = 0; r < f->q.ranks; r++) {
        struct gnn_gather_part *p = &part[(*n)++];
        *p = (struct gnn_gather_part){
            .first = GATHER_NUMBER(GNN_TIER_REMOTE, r, 0),
            .count = f->count[(size_t)gnn_gather_slot(g, j, hop) * f->q.ranks + r],
            .tier = r == g->comm->rank ? GNN_TIER_HOST : GNN_TIER_REMOTE};
        if (gnn_packet_skip(&f->q.in[r], GATHER_ALIGN))
            p->data = gnn_packet_read(&f->q.in[r], (p->count * bytes + 3) / 4);
        if (!p->data)
            return gnn_request_malformed(&f->q, r, e);
        f->hits.bytes[GNN_TIER_REMOTE] += p->tier == GNN_TIER_REMOTE ? p->count * bytes : 0;
    }
    return 0;
}

int gnn_gather_end(struct gatherer *g, struct gnn_err *e)
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
