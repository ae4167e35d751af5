/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks whose sources the backward pass takes in parts (struct gnn_adj_parts), so that attention
 * never has a number for each edge and head of a block. */
#include "lib/model/full_impl.h"

/* Features of edges would have to be in the new order, and are as many as the numbers that parts
 * save. So would original ids, which are reordered; but levels share them. */
bool gnn_full_has_parts(const struct gnn_full *f, uint32_t r)
{
    return gnn_layer_variant(&f->m->c)->parts && !f->m->c.etype[r].features && !f->forward &&
           !(f->levels && gnn_layer_needs_ids(&f->m->c));
}

/* Numbers edges in the order of the transposed block, by transposing it again; sources of each row
 * ascend after that. */
static int number_edges(const struct gnn_full *f, struct full_block *b, uint32_t rows,
                        struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    const bool ids = gnn_layer_needs_ids(&f->m->c);
    const uint64_t list = (uint64_t)b->edges * sizeof(uint32_t);
    struct gnn_buf ptr = {0}, idx = {0}, id = {0};
    struct gnn_csr *csr = b->csr.data;
    if (!o->fit(o, &ptr, (uint64_t)rows + 1, sizeof(uint32_t), "transposed blocks", e) &&
        !o->fit(o, &idx, b->edges, sizeof(uint32_t), "transposed blocks", e) &&
        (!ids || !o->fit(o, &id, b->edges, sizeof(uint64_t), "transposed blocks", e))) {
        if (ids) {
            o->take_rows(o, b->id.data, b->tedge.data, b->edges, 2, id.data);
            o->copy(o, b->id.data, id.data, 2 * list);
        }
        o->transpose(o, csr + 1, 1, rows, b->edges, ptr.data, idx.data, b->tedge.data);
        o->copy(o, (void *)(uintptr_t)b->indices.data, idx.data, list);
    }
    o->release(o, &ptr);
    o->release(o, &idx);
    o->release(o, &id);
    return e->code;
}

/* The offsets of the transposed block in the host's memory. */
static const uint32_t *fetch_offsets(struct gnn_full *f, const struct full_block *b,
                                     struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    const uint64_t n = (uint64_t)b->n + 1;
    if (!o->async)
        return b->tptr.data;
    if (o->fit_host(o, &f->draws, n, sizeof(uint32_t), "transposed blocks", e))
        return NULL;
    o->fetch(o, f->draws.data, b->tptr.data, n * sizeof(uint32_t));
    o->mark(o, GNN_OPS_MARK_NET);
    return o->wait(o, GNN_OPS_MARK_NET, e) ? NULL : f->draws.data;
}

static int cut_block(struct gnn_full *f, struct full_block *b, struct gnn_err *e)
{
    enum { STEP = 2048 }; /* a chunk of the CPU's operations: smaller parts do not pay */
    const uint32_t *tptr = fetch_offsets(f, b, e);
    if (tptr)
        gnn_adj_cut(&b->parts, tptr, b->n, STEP);
    return e->code;
}

int gnn_full_part_block(struct gnn_full *f, struct full_block *b, uint32_t rows, struct gnn_err *e)
{
    b->parts.seg = (struct gnn_csr *)b->csr.data + 2;
    return number_edges(f, b, rows, e) ? e->code : cut_block(f, b, e);
}
