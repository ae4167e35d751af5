/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a batch's nodes (lib/predict/batch_names.h). With several ranks, one round trip: a
 * request is the store ids of the owner's nodes, u32 each; the reply to each is a u32 length, and
 * the name in as many bytes, up to the next whole word. */
#include "lib/predict/batch_names.h"

#include <string.h>

int gnn_batch_names_init(struct gnn_batch_names *x, struct gnn_store *s, uint32_t ntype,
                         struct gnn_err *e)
{
    if (gnn_names_init(&x->own, s, ntype, e))
        return e->code;
    return s->comm->size > 1 ? gnn_request_init(&x->r, s->comm, 0, e) : 0;
}

void gnn_batch_names_release(struct gnn_batch_names *x)
{
    gnn_names_release(&x->own);
    gnn_request_release(&x->r);
    gnn_buf_release(&x->word);
}

static uint32_t owner_of(const struct gnn_batch_names *x, uint32_t id)
{
    return gnn_store_rank_of(x->own.s, x->own.ntype, id);
}

static uint64_t words_of(uint64_t bytes)
{
    return (bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t);
}

static int reply_name(struct gnn_packet *to, const char *name, uint64_t n, struct gnn_err *e)
{
    uint32_t *w = gnn_packet_add(to, 1 + words_of(n), e);
    if (!w)
        return e->code;
    w[0] = (uint32_t)n;
    if (n) {
        w[words_of(n)] = 0;
        memcpy(w + 1, name, n);
    }
    return 0;
}

/* Answers rank k. */
static int reply_names(struct gnn_batch_names *x, uint32_t k, struct gnn_err *e)
{
    struct gnn_packet_in *in = &x->r.in[k];
    char buf[GNN_NODE_NAME_CAPACITY];
    for (const uint32_t *id; (id = gnn_packet_read(in, 1));) {
        size_t n;
        if (!gnn_store_owns(x->own.s, x->own.ntype, *id))
            return gnn_request_malformed(&x->r, k, e);
        const char *name = gnn_names_of(&x->own, *id, buf, &n);
        if (reply_name(&x->r.staging[k], name, n, e))
            return e->code;
    }
    return 0;
}

static int read_names(struct gnn_batch_names *x, uint64_t n, struct gnn_err *e)
{
    struct gnn_span *word = x->word.data;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t k = owner_of(x, x->id[i]), *bytes = gnn_packet_read(&x->r.in[k], 1),
                       *name = bytes ? gnn_packet_read(&x->r.in[k], words_of(*bytes)) : NULL;
        if (!name)
            return gnn_request_malformed(&x->r, k, e);
        word[i] = (struct gnn_span){name, *bytes};
    }
    return 0;
}

int gnn_batch_names_find(struct gnn_batch_names *x, const uint32_t *id, uint64_t n,
                         struct gnn_err *e)
{
    x->id = id;
    if (x->own.s->comm->size == 1)
        return 0;
    if (gnn_buf_fit(&x->word, n + 1, sizeof(struct gnn_span), "node names", e))
        return e->code;
    gnn_request_begin(&x->r, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_OUTPUT), NULL);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t *w = gnn_packet_add(&x->r.queue[owner_of(x, id[i])], 1, e);
        if (!w)
            return e->code;
        *w = id[i];
    }
    if (gnn_request_ask(&x->r, e))
        return e->code;
    for (uint32_t k = 0; k < x->r.ranks; k++)
        if (reply_names(x, k, e))
            return e->code;
    return gnn_request_reply(&x->r, e) ? e->code : read_names(x, n, e);
}

const char *gnn_batch_names_of(const struct gnn_batch_names *x, uint64_t i,
                               char buf[GNN_NODE_NAME_CAPACITY], size_t *len)
{
    if (x->own.s->comm->size == 1)
        return gnn_names_of(&x->own, x->id[i], buf, len);
    const struct gnn_span *word = (const struct gnn_span *)x->word.data + i;
    *len = word->bytes;
    return word->data;
}
