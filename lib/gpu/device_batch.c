/* SPDX-License-Identifier: Apache-2.0 */
/* Batches in a device's memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/data/columns.h"
#include "lib/gpu/runtime.h"

int gnn_gpu_place_init(struct gnn_batch_place *p, unsigned device,
                       void (*free)(struct gnn_batch_place *p), struct gnn_err *e)
{
    *p = (struct gnn_batch_place){.device = device, .free = free};
    return gnn_dev_event_new(&p->ready, e) || gnn_dev_event_new(&p->used, e) ? e->code : 0;
}

void gnn_gpu_place_release(struct gnn_batch_place *p)
{
    gnn_dev_event_free(p->ready);
    gnn_dev_event_free(p->used);
}

static void place_free(struct gnn_batch_place *p)
{
    gnn_gpu_place_release(p);
    gnn_free(p);
}

int gnn_gpu_place_new(unsigned device, struct gnn_batch_place **out, struct gnn_err *e)
{
    struct gnn_batch_place *p = gnn_alloc_zero(1, sizeof *p, "a batch", e);
    if (!p)
        return e->code;
    if (gnn_gpu_place_init(p, device, place_free, e)) {
        place_free(p);
        return e->code;
    }
    *out = p;
    return 0;
}

int gnn_gpu_batch_get(struct gpu_device *d, struct gnn_batch_pool *pool, void *stream,
                      struct gnn_batch **b, struct gnn_err *e)
{
    struct gnn_batch *got;
    int rc = gnn_dev_use(d->number, e);
    if (!rc)
        rc = gnn_batch_get(pool, &got, e);
    if (rc)
        return rc;
    if (!got->place)
        rc = gnn_gpu_place_new(d->number, &got->place, e);
    if (!rc)
        rc = gnn_dev_event_after(stream, got->place->used, e);
    if (rc)
        gnn_batch_put(got);
    else
        *b = got;
    return rc;
}

/* Where the tensor of `from` that lies at p is in `to`. An empty one may have the address of its
 * neighbour. */
static const void *moved_address(const struct gnn_batch *to, const struct gnn_batch *from,
                                 const void *p)
{
    uint64_t most = 0;
    const void *at = NULL;
    for (uint32_t i = 0; p && i < from->tensors.n; i++) {
        uint64_t bytes;
        const struct gnn_tensor *t = gnn_tensors_at(&from->tensors, i);
        if (t->data != p || !gnn_tensor_bytes(t, &bytes) || (at && bytes <= most))
            continue;
        most = bytes;
        at = gnn_tensors_at(&to->tensors, i)->data;
    }
    return at;
}

static void move_column(struct gnn_batch *to, const struct gnn_batch *from, enum gnn_column c,
                        uint32_t hop, uint32_t type)
{
    const void **view = gnn_column_view(to, c, hop, type);
    if (view)
        *view = moved_address(to, from, *gnn_column_view(from, c, hop, type));
}

void gnn_gpu_batch_view(struct gnn_batch *to, const struct gnn_batch *from)
{
    memcpy(to, from, offsetof(struct gnn_batch, type));
    memcpy(to->block, from->block, (size_t)from->nhops * from->netypes * sizeof *to->block);
    for (uint32_t c = 0; c < GNN_NCOLUMNS; c++) {
        const enum gnn_column_per per = gnn_column[c].per;
        const uint32_t types = per == GNN_PER_BATCH   ? 1
                               : per == GNN_PER_NTYPE ? from->nntypes
                                                      : from->netypes;
        for (uint32_t i = 0; i < types * (per == GNN_PER_BLOCK ? from->nhops : 1); i++)
            move_column(to, from, c, i / types, i % types);
    }
}

struct gpu_device *gnn_gpu_device_of(const struct gnn_gpu *g, const struct gnn_batch *b)
{
    for (unsigned i = 0; b->place && i < g->n; i++)
        if (g->device[i] == b->place->device)
            return &g->dev[i];
    return NULL;
}

void gnn_gpu_range_begin(const char *stage, const struct gnn_batch *b)
{
    char name[64];
    snprintf(name, sizeof name, "%s %" PRIu64 "/%" PRIu64, stage, b->epoch, b->step);
    gnn_dev_range_begin(name);
}
