/* SPDX-License-Identifier: Apache-2.0 */
/* Numberings of a batch's nodes (kernels/sample.h): of those that a worker finds, and of those that
 * other ranks ask about. */
#include <string.h>

#include "lib/sample/sample_impl.h"

/* How many nodes a batch may well have. A map that was made for too few has to be cleared once
 * more. */
static uint64_t expected_nodes(const struct gnn_sampling *m, uint32_t netypes)
{
    uint64_t n = m->batch_size;
    if (m->walks.length)
        return gnn_sampling_visits(m);
    for (uint32_t h = 0; h < m->nhops && !gnn_sampling_induces(m, h); h++) {
        uint64_t grow = 1;
        for (uint32_t t = 0; t < netypes; t++)
            grow += gnn_pick_bound(gnn_sampling_rule(m, h * netypes + t), 1, UINT32_MAX);
        if (__builtin_mul_overflow(n, grow, &n))
            return UINT64_MAX;
    }
    return n;
}

int gnn_sample_numbering(const struct sampler *s, uint64_t nnodes, struct gnn_relabel *r,
                         struct gnn_err *e)
{
    const struct gnn_sampling *m = &s->meta.sampling;
    r->nnodes = nnodes;
    if (gnn_sampling_has_repeats(m)) {
        const uint64_t slots = gnn_relabel_slots(m->batch_size);
        uint64_t *slot = gnn_alloc_zero(slots, sizeof *slot, "local numbers of nodes", e);
        if (slot)
            gnn_relabel_table(r, slot, slots, gnn_sampling_trees(m));
        return slot ? 0 : e->code;
    }
    r->map = gnn_alloc(r->nnodes, sizeof *r->map, "local numbers of nodes", e);
    if (!r->map)
        return e->code;
    memset(r->map, 0, r->nnodes * sizeof *r->map);
    gnn_relabel_begin(r);
    (void)gnn_relabel_fit(r, expected_nodes(m, s->meta.schema.netypes));
    return 0;
}

int gnn_sample_fit_numbering(const struct sampler *s, struct gnn_relabel *r, uint64_t n,
                             struct gnn_err *e)
{
    const uint64_t slots = gnn_relabel_slots(n);
    uint64_t *old = r->slot;
    if (!old || slots <= r->slots)
        return 0;
    uint64_t *slot = gnn_alloc_zero(slots, sizeof *slot, "local numbers of nodes", e);
    if (!slot)
        return e->code;
    gnn_relabel_table(r, slot, slots, gnn_sampling_trees(&s->meta.sampling));
    gnn_free(old);
    return 0;
}

void gnn_sample_numbering_free(struct gnn_relabel *r)
{
    gnn_free(r->map);
    gnn_free(r->slot);
}
