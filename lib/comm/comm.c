/* SPDX-License-Identifier: Apache-2.0 */
/* What is built from the exchanges and all-reduces of any backend. */
#include "lib/comm/comm.h"

#include <string.h>

#include "formats/xxh.h"

int gnn_exchange_init(struct gnn_exchange *x, const struct gnn_comm *c, uint32_t tag,
                      struct gnn_err *e)
{
    *x = (struct gnn_exchange){.tag = tag, .size = c->size};
    x->out = gnn_alloc_zero(c->size, sizeof *x->out, "messages", e);
    x->in = gnn_alloc_zero(c->size, sizeof *x->in, "messages", e);
    x->buffer = gnn_alloc_zero(c->size, sizeof *x->buffer, "messages", e);
    if (x->out && x->in && x->buffer)
        return 0;
    gnn_exchange_release(x);
    return e->code;
}

void gnn_exchange_release(struct gnn_exchange *x)
{
    for (uint32_t r = 0; x->buffer && r < x->size; r++)
        gnn_buf_release(&x->buffer[r]);
    gnn_free(x->buffer);
    gnn_free(x->out);
    gnn_free(x->in);
    gnn_free(x->t);
    *x = (struct gnn_exchange){0};
}

int gnn_comm_all_reduce(struct gnn_comm *c, void *data, uint64_t n, enum gnn_reduce kind,
                        struct gnn_err *e)
{
    void *reduction = NULL;
    return c->ops->reduce_begin(c, data, n, kind, &reduction, e) ||
                   c->ops->reduce_end(c, &reduction, e)
               ? e->code
               : 0;
}

int gnn_comm_all_gather(struct gnn_comm *c, struct gnn_exchange *x, const void *data,
                        uint64_t bytes, struct gnn_err *e)
{
    for (uint32_t r = 0; r < c->size; r++)
        x->out[r] = (struct gnn_span){data, bytes};
    return gnn_comm_exchange(c, x, e);
}

int gnn_comm_all_scores(struct gnn_comm *c, const void *data, uint64_t bytes, struct gnn_buf *all,
                        uint64_t *n, struct gnn_err *e)
{
    struct gnn_exchange x;
    uint64_t at = 0;
    int rc = gnn_exchange_init(&x, c, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_SCORES), e);
    *n = 0;
    if (!rc)
        rc = gnn_comm_all_gather(c, &x, data, bytes, e);
    for (uint32_t r = 0; !rc && r < c->size; r++)
        *n += x.in[r].bytes;
    if (!rc)
        rc = gnn_buf_fit_exactly(all, *n, 1, "scores", e);
    for (uint32_t r = 0; !rc && r < c->size; at += x.in[r].bytes, r++)
        if (x.in[r].bytes)
            memcpy((char *)all->data + at, x.in[r].data, x.in[r].bytes);
    gnn_exchange_release(&x);
    if (rc)
        gnn_buf_release(all);
    return rc;
}

int gnn_comm_agree(struct gnn_comm *c, const char *what, const char *text, struct gnn_err *e)
{
    struct gnn_exchange x;
    const XXH128_hash_t h = XXH3_128bits(text, strlen(text));
    int rc = gnn_exchange_init(&x, c, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_AGREE), e);
    if (!rc)
        rc = gnn_comm_all_gather(c, &x, &h, sizeof h, e);
    for (uint32_t r = 1; !rc && r < c->size; r++)
        if (x.in[r].bytes != x.in[0].bytes || memcmp(x.in[r].data, x.in[0].data, x.in[0].bytes))
            rc = gnn_fail(e, GNN_E_INPUT, "rank %u and rank 0: mismatched %s", r, what);
    gnn_exchange_release(&x);
    return rc;
}

int gnn_comm_check(const struct gnn_comm *c, uint32_t rank, uint32_t ranks, struct gnn_err *e)
{
    const uint32_t own = c->size > 1 ? c->size : 0; /* as headers have it */
    if (ranks == own && (!own || rank == c->rank))
        return 0;
    if (!own)
        return gnn_fail(e, GNN_E_INPUT,
                        "the batches are those of rank %u of %u: start %u ranks to read them", rank,
                        ranks, ranks);
    if (!ranks)
        return gnn_fail(e, GNN_E_INPUT,
                        "the batches were sampled by a single process, but this is rank %u of %u",
                        c->rank, c->size);
    return gnn_fail(e, GNN_E_INPUT,
                    "the batches are those of rank %u of %u, but this is rank %u of %u", rank,
                    ranks, c->rank, c->size);
}

void gnn_comm_free(struct gnn_comm *c)
{
    if (c)
        c->ops->free(c);
}
