/* SPDX-License-Identifier: Apache-2.0 */
/* What one partition sends to another: rows that the other uses, or the gradients of these. All
 * that decides how they are sent is here. Partitions of one rank hand each other the same. */
#include <string.h>

#include "lib/model/full_impl.h"

struct full_message gnn_full_message(const struct gnn_full *f, const struct full_flow *x,
                                     uint32_t owner, uint32_t user)
{
    struct full_part *q = gnn_full_own(f, owner), *p = gnn_full_own(f, user);
    const struct full_block *b = p ? &p->rel[x->r].block[owner] : NULL;
    const struct full_ask *a = p ? NULL : gnn_full_ask(f, q, x->r, user);
    return (struct full_message){.row = b ? b->need.data : a->row, .n = b ? b->n : a->n, .d = x->d};
}

uint64_t gnn_full_message_bytes(const struct full_message *m)
{
    return (uint64_t)m->n * m->d * sizeof(float);
}

void gnn_full_pack_rows(struct gnn_full *f, const struct full_message *m, const float *table,
                        void *to)
{
    f->o->take_rows(f->o, table, m->row, m->n, m->d, to);
}

int gnn_full_unpack_rows(struct gnn_full *f, const struct full_message *m, const void *from,
                         struct gnn_buf *room, const float **rows, struct gnn_err *e)
{
    (void)f, (void)m, (void)room, (void)e;
    *rows = from;
    return 0;
}

int gnn_full_hand_rows(struct gnn_full *f, const struct full_message *m, const float *table,
                       struct gnn_buf *room, const float **rows, struct gnn_err *e)
{
    if (f->o->fit(f->o, room, gnn_full_message_bytes(m), 1, "rows of another part", e))
        return e->code;
    gnn_full_pack_rows(f, m, table, room->data);
    *rows = room->data;
    return 0;
}

void gnn_full_pack_gradients(struct gnn_full *f, const struct full_message *m, const float *grad,
                             void *to)
{
    const uint64_t bytes = gnn_full_message_bytes(m);
    if (bytes)
        f->o->copy(f->o, to, grad, bytes);
}

void gnn_full_add_gradients(struct gnn_full *f, const struct full_message *m, const void *from,
                            float *into)
{
    f->o->add_rows(f->o, from, m->row, m->n, m->d, into);
}

int gnn_full_hand_gradients(struct gnn_full *f, const struct full_message *m, const float *grad,
                            float *into, struct gnn_err *e)
{
    (void)e;
    gnn_full_add_gradients(f, m, grad, into);
    return 0;
}
