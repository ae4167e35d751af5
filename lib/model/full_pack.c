/* SPDX-License-Identifier: Apache-2.0 */
/* What one partition sends to another: rows that the other uses, or the gradients of these. All
 * that decides how they are sent is here. Partitions of one rank hand each other the same. */
#include <string.h>

#include "kernels/rng.h"
#include "lib/model/full_impl.h"

struct full_message gnn_full_message(const struct gnn_full *f, const struct full_flow *x,
                                     uint32_t owner, uint32_t user)
{
    struct full_part *q = gnn_full_own(f, owner), *p = gnn_full_own(f, user);
    const struct full_block *b = p ? &p->rel[x->r].block[owner] : NULL;
    const struct full_ask *a = p ? NULL : gnn_full_ask(f, q, x->r, user);
    struct full_message m = {.row = b ? b->need.data : a->row, .n = b ? b->n : a->n, .d = x->d};
    m.flow = x;
    m.first = (uint32_t)f->s->book[f->m->c.etype[x->r].src][owner];
    m.user = user;
    m.sent = m.n;
    m.scale = 1;
    m.bf16 = x->conv && f->opts.bf16;
    if (x->conv && f->keep32 && f->pass.train) {
        const struct full_sample *s = b ? &b->sample : &a->sample;
        m.row = s->row.data;
        m.at = s->at.data;
        m.sent = s->n;
        m.scale = f->scale;
    }
    return m;
}

uint64_t gnn_full_message_bytes(const struct full_message *m)
{
    return (uint64_t)m->sent * m->d * (m->bf16 ? sizeof(uint16_t) : sizeof(float));
}

bool gnn_full_message_is_plain(const struct full_message *m)
{
    return !m->bf16 && !m->at;
}

/* A row is rounded alike for all its users, whenever it is fetched in a step; its gradients are
 * different numbers, which each user rounds in its own way. */
static struct gnn_rounding rounding_of(const struct gnn_full *f, const struct full_message *m,
                                       bool back)
{
    struct gnn_rounding q = {.id = m->row, .first = m->first};
    const uint32_t conv = (uint32_t)(m->flow->conv - f->m->conv);
    const bool once = m->flow->once; /* alike before and after resuming, in steps and evaluation */
    gnn_rng_key(once ? 0 : f->pass.seed, once ? 0 : f->pass.epoch, back ? 1 + m->user : 0, conv,
                gnn_rng_tag(GNN_RNG_ROUNDING, 0, m->flow->r), q.key);
    return q;
}

void gnn_full_pack_rows(struct gnn_full *f, const struct full_message *m, const float *table,
                        void *to)
{
    const struct gnn_ops *o = f->o;
    if (m->bf16) {
        const struct gnn_rounding q = rounding_of(f, m, false);
        o->pack_bf16(o, table, m->row, m->sent, m->d, m->scale, &q, to);
    } else if (m->at)
        o->pack_rows(o, table, m->row, m->sent, m->d, m->scale, to);
    else
        o->take_rows(o, table, m->row, m->sent, m->d, to);
}

int gnn_full_unpack_rows(struct gnn_full *f, const struct full_message *m, const void *from,
                         struct gnn_buf *buffer, const float **rows, struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    const uint64_t floats = (uint64_t)m->n * m->d;
    *rows = from;
    if (gnn_full_message_is_plain(m))
        return 0;
    if (o->fit(o, buffer, floats, sizeof(float), "rows of another part", e))
        return e->code;
    *rows = buffer->data;
    if (!m->at) {
        o->widen_bf16(o, from, floats, buffer->data);
        return 0;
    }
    o->zero(o, buffer->data, floats * sizeof(float));
    if (m->bf16)
        o->add_bf16_rows(o, from, m->at, m->sent, m->d, buffer->data);
    else
        o->add_rows(o, from, m->at, m->sent, m->d, buffer->data);
    return 0;
}

/* Where a message lies between packing and unpacking: in `buffer` if it needs no unpacking. */
static void *open_message(struct gnn_full *f, const struct full_message *m, struct gnn_buf *buffer,
                          struct gnn_err *e)
{
    struct gnn_buf *b = gnn_full_message_is_plain(m) ? buffer : &f->packed;
    return gnn_full_wire_fit(f, b, gnn_full_message_bytes(m), e) ? NULL : b->data;
}

int gnn_full_hand_rows(struct gnn_full *f, const struct full_message *m, const float *table,
                       struct gnn_buf *buffer, const float **rows, struct gnn_err *e)
{
    void *message = open_message(f, m, buffer, e);
    if (!message)
        return e->code;
    gnn_full_pack_rows(f, m, table, message);
    return gnn_full_unpack_rows(f, m, message, buffer, rows, e);
}

void gnn_full_pack_gradients(struct gnn_full *f, const struct full_message *m, const float *grad,
                             void *to)
{
    const struct gnn_ops *o = f->o;
    const uint64_t bytes = gnn_full_message_bytes(m);
    if (m->bf16) {
        const struct gnn_rounding q = rounding_of(f, m, true);
        o->pack_bf16(o, grad, m->at, m->sent, m->d, m->scale, &q, to);
    } else if (m->at)
        o->pack_rows(o, grad, m->at, m->sent, m->d, m->scale, to);
    else if (bytes)
        o->copy(o, to, grad, bytes);
}

void gnn_full_add_gradients(struct gnn_full *f, const struct full_message *m, const void *from,
                            float *into)
{
    if (m->bf16)
        f->o->add_bf16_rows(f->o, from, m->row, m->sent, m->d, into);
    else
        f->o->add_rows(f->o, from, m->row, m->sent, m->d, into);
}

int gnn_full_hand_gradients(struct gnn_full *f, const struct full_message *m, const float *grad,
                            float *into, struct gnn_err *e)
{
    const void *message = grad;
    if (!gnn_full_message_is_plain(m)) {
        if (!open_message(f, m, NULL, e))
            return e->code;
        gnn_full_pack_gradients(f, m, grad, f->packed.data);
        message = f->packed.data;
    }
    gnn_full_add_gradients(f, m, message, into);
    return 0;
}
