/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between ranks, packed and used where the operations are. From a device they go through
 * the host's memory. */
#include "lib/model/full_impl.h"

int gnn_full_wire_init(const struct gnn_full *f, struct full_wire *w, uint32_t tag,
                       struct gnn_err *e)
{
    if (gnn_exchange_init(&w->x, f->comm, gnn_comm_tag(GNN_COMM_PARTS, tag), e))
        return e->code;
    if (!f->o->async) {
        w->in = w->x.in;
        return 0;
    }
    w->in = w->brought = gnn_alloc_zero(f->comm->size, sizeof *w->in, "messages", e);
    return e->code;
}

void gnn_full_wire_free(const struct gnn_full *f, struct full_wire *w)
{
    gnn_exchange_release(&w->x);
    f->o->release(f->o, &w->out);
    f->o->release(f->o, &w->arrived);
    f->o->release_host(f->o, &w->host);
    gnn_free(w->brought);
}

/* Copies the messages to the host; they are there when this returns. */
static int fetch_messages(const struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    const char *from = w->out.data;
    uint64_t bytes = 0;
    for (uint32_t rank = 0; rank < w->x.size; rank++)
        bytes += w->x.out[rank].bytes;
    if (o->fit_host(o, &w->host, bytes, 1, "messages", e))
        return e->code;
    if (bytes)
        o->fetch(o, w->host.data, from, bytes);
    o->mark(o, GNN_OPS_MARK_NET);
    if (o->wait(o, GNN_OPS_MARK_NET, e))
        return e->code;
    for (uint32_t rank = 0; rank < w->x.size; rank++)
        if (w->x.out[rank].bytes)
            w->x.out[rank].data = (char *)w->host.data + ((const char *)w->x.out[rank].data - from);
    return 0;
}

int gnn_full_wire_begin(const struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    if (f->o->async && fetch_messages(f, w, e))
        return e->code;
    return f->comm->ops->begin(f->comm, &w->x, e);
}

/* Where a rank's messages begin: aligned as memory that is its own. */
static uint64_t message_room(const struct gnn_span *in)
{
    return (in->bytes + 255) / 256 * 256;
}

int gnn_full_wire_end(const struct gnn_full *f, struct full_wire *w, struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    const int rc = f->comm->ops->end(f->comm, &w->x, e);
    uint64_t at = 0;
    if (rc || !o->async)
        return rc;
    for (uint32_t rank = 0; rank < w->x.size; rank++)
        at += message_room(&w->x.in[rank]);
    if (o->fit(o, &w->arrived, at, 1, "messages", e))
        return e->code;
    at = 0;
    for (uint32_t rank = 0; rank < w->x.size; rank++) {
        const struct gnn_span *in = &w->x.in[rank];
        w->brought[rank] = (struct gnn_span){(char *)w->arrived.data + at, in->bytes};
        if (in->bytes)
            o->put(o, (char *)w->arrived.data + at, in->data, in->bytes);
        at += message_room(in);
    }
    return 0;
}
