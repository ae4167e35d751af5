/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/comm/request.h"

#include <inttypes.h>
#include <string.h>

int gnn_request_init(struct gnn_request *q, struct gnn_comm *c, uint32_t more_owners,
                     struct gnn_err *e)
{
    const uint32_t n = c->size + more_owners;
    *q = (struct gnn_request){.comm = c, .ranks = c->size, .owners = n};
    q->queue = gnn_alloc_zero(n, sizeof *q->queue, "requests", e);
    q->staging = gnn_alloc_zero(n, sizeof *q->staging, "requests", e);
    q->in = gnn_alloc_zero(n, sizeof *q->in, "requests", e);
    q->to = gnn_alloc_zero(n, sizeof *q->to, "requests", e);
    if (q->queue && q->staging && q->in && q->to && !gnn_exchange_init(&q->x, c, 0, e))
        return 0;
    gnn_request_release(q);
    return e->code;
}

void gnn_request_release(struct gnn_request *q)
{
    for (uint32_t r = 0; r < q->owners; r++) {
        if (q->queue)
            gnn_buf_release(&q->queue[r].buf);
        if (q->staging)
            gnn_buf_release(&q->staging[r].buf);
    }
    gnn_exchange_release(&q->x);
    gnn_free(q->queue);
    gnn_free(q->staging);
    gnn_free(q->in);
    gnn_free(q->to);
    *q = (struct gnn_request){0};
}

void gnn_request_begin(struct gnn_request *q, uint32_t tag, const struct gnn_batch *b)
{
    q->x.tag = tag;
    q->batch = b;
    for (uint32_t r = 0; r < q->owners; r++)
        q->queue[r].n = q->staging[r].n = 0;
}

int gnn_request_put(struct gnn_request *q, const uint32_t *owner, struct gnn_entries entry,
                    uint32_t n, uint32_t *count, struct gnn_err *e)
{
    memset(count, 0, q->owners * sizeof *count);
    for (uint32_t i = 0; i < n; i++)
        if (owner[i] != GNN_REQUEST_NOBODY)
            count[owner[i]]++;
    for (uint32_t r = 0; r < q->owners; r++) {
        uint32_t *w = gnn_packet_add(&q->queue[r], 1, e);
        if (!w)
            return e->code;
        *w = count[r];
        if (gnn_packet_add_entries(&q->queue[r], entry, count[r], &q->to[r], e))
            return e->code;
    }
    for (uint32_t i = 0; i < n; i++)
        if (owner[i] != GNN_REQUEST_NOBODY)
            gnn_entry_append(&q->to[owner[i]], &entry, i);
    return 0;
}

/* To the ranks; what is for this one's further owners is there already. */
static int exchange_words(struct gnn_request *q, const struct gnn_packet *out, struct gnn_err *e)
{
    for (uint32_t r = 0; r < q->ranks; r++)
        q->x.out[r] = gnn_packet_span(&out[r]);
    const int rc = gnn_comm_exchange(q->comm, &q->x, e);
    for (uint32_t r = 0; r < q->owners; r++)
        q->in[r] = gnn_packet_open(r < q->ranks ? q->x.in[r] : gnn_packet_span(&out[r]));
    return rc;
}

int gnn_request_ask(struct gnn_request *q, struct gnn_err *e)
{
    return exchange_words(q, q->queue, e);
}

int gnn_request_reply(struct gnn_request *q, struct gnn_err *e)
{
    return exchange_words(q, q->staging, e);
}

int gnn_request_malformed(const struct gnn_request *q, uint32_t rank, struct gnn_err *e)
{
    const struct gnn_batch *b = q->batch;
    if (!b)
        return gnn_fail(e, GNN_E_RANK, "malformed reply from rank %u", rank);
    return gnn_fail(e, GNN_E_RANK,
                    "malformed reply from rank %u (epoch %" PRIu64 ", step %" PRIu64 ")", rank,
                    b->epoch, b->step);
}
