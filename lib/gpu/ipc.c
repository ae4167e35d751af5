/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory between two processes of a host: what one exports, the other opens once and copies
 * from. Copies inside a device cost next to nothing, and neither side depends on how long the other
 * keeps a batch. */
#include <string.h>

#include "lib/gpu/runtime.h"
#include "formats/gnb.h"

/* The runtime knows devices by their numbers. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* ---- export ---- */

/* Of what is smaller the driver shares the whole block, with whatever else lies in it. */
enum { BLOCK = 2 << 20 };

struct area {
    void *memory, *stream;
    uint64_t cap, id;
    struct gnn_dev_handle handle;
};

struct gnn_gpu_export {
    struct gnn_gpu *g;
    struct area *area;     /* [g->n] */
    const struct area *in; /* the one that the last batch is in */
    struct gnn_buf offset; /* (u64) of its tensors */
    void **old;            /* outgrown, and perhaps still open on the other side */
    uint64_t nold;
};

void gnn_gpu_export_free(struct gnn_gpu_export *l)
{
    if (!l)
        return;
    for (unsigned i = 0; l->area && i < l->g->n; i++) {
        gnn_dev_stream_free(l->area[i].stream);
        gnn_dev_free(l->area[i].memory);
    }
    for (uint64_t i = 0; i < l->nold; i++)
        gnn_dev_free(l->old[i]);
    gnn_buf_release(&l->offset);
    gnn_free(l->old);
    gnn_free(l->area);
    gnn_free(l);
}

/* Where each tensor goes; *bytes in all. */
static int lay_out(struct gnn_gpu_export *l, const struct gnn_tensors *t, uint64_t *bytes,
                   struct gnn_err *e)
{
    int rc = gnn_buf_fit(&l->offset, t->n, sizeof(uint64_t), "exported memory", e);
    uint64_t *at = l->offset.data, n = 0;
    *bytes = 0;
    for (uint32_t i = 0; !rc && i < t->n; i++) {
        at[i] = *bytes;
        if (!gnn_batch_on_host(gnn_tensors_at(t, i)) && gnn_tensor_bytes(gnn_tensors_at(t, i), &n))
            *bytes += (n + GNB_ALIGN - 1) / GNB_ALIGN * GNB_ALIGN;
    }
    return rc;
}

static int area_fit(struct gnn_gpu_export *l, struct area *a, const struct gpu_device *d,
                    uint64_t bytes, struct gnn_err *e)
{
    int rc = gnn_dev_use(d->number, e) || (!a->stream && gnn_dev_stream_new(&a->stream, e)) ||
                     (!a->id && gnn_dev_id(d->number, &a->id, e))
                 ? e->code
                 : 0;
    if (rc || (a->memory && bytes <= a->cap))
        return rc;
    if (a->memory) {
        if ((rc = gnn_grow(&l->old, l->nold, sizeof *l->old, "exported memory", e)))
            return rc;
        l->old[l->nold++] = a->memory;
        a->memory = NULL;
    }
    a->cap = (bytes + bytes / 4 + BLOCK - 1) / BLOCK * BLOCK;
    rc = gnn_dev_alloc(&a->memory, a->cap, "exported memory", e);
    return rc ? rc : gnn_dev_export(a->memory, &a->handle, e);
}

int gnn_gpu_export_batch(struct gnn_gpu *g, struct gnn_gpu_export **x, const struct gnn_batch *b,
                         struct gnn_err *e)
{
    const struct gpu_device *d = gnn_gpu_device_of(g, b);
    struct gnn_gpu_export *l = *x;
    uint64_t bytes = 0, n;
    if (!l && !(l = *x = gnn_alloc_zero(1, sizeof *l, "exported memory", e)))
        return e->code;
    l->g = g;
    if (!l->area && !(l->area = gnn_alloc_zero(g->n, sizeof *l->area, "exported memory", e)))
        return e->code;
    struct area *a = &l->area[d - g->dev];
    int rc = lay_out(l, &b->tensors, &bytes, e) || area_fit(l, a, d, bytes, e) ||
                     gnn_dev_event_after(a->stream, b->place->ready, e)
                 ? e->code
                 : 0;
    for (uint32_t i = 0; !rc && i < b->tensors.n; i++) {
        const struct gnn_tensor *t = gnn_tensors_at(&b->tensors, i);
        if (!gnn_batch_on_host(t) && gnn_tensor_bytes(t, &n))
            rc = gnn_dev_copy((char *)a->memory + ((uint64_t *)l->offset.data)[i], t->data, n,
                              a->stream, e);
    }
    if (!rc)
        rc = gnn_dev_event_record(b->place->used, a->stream, e);
    l->in = a;
    return rc ? rc : gnn_dev_stream_wait(a->stream, e);
}

void gnn_gpu_refer(const struct gnn_gpu_export *l, uint32_t i, struct gnb_reference *ref)
{
    ref->on_device = true;
    ref->offset = ((const uint64_t *)l->offset.data)[i];
    ref->device = l->in->id;
    memcpy(ref->handle, &l->in->handle, sizeof ref->handle);
}

int gnn_gpu_exportable(struct gnn_gpu *g, unsigned device, struct gnn_err *e)
{
    struct gnn_dev_handle h;
    void *p = NULL;
    int rc = gnn_dev_use(device, e) || gnn_dev_alloc(&p, BLOCK, "a trial export", e) ||
                     gnn_dev_export(p, &h, e)
                 ? e->code
                 : 0;
    gnn_dev_free(p);
    return rc;
}

int gnn_gpu_id(struct gnn_gpu *g, unsigned device, uint64_t *id, struct gnn_err *e)
{
    return gnn_dev_id(device, id, e);
}

/* ---- import ---- */

struct opened {
    struct gnn_dev_handle handle;
    unsigned device; /* index in g->dev */
    void *base;
    uint64_t bytes;
};

struct gnn_gpu_import {
    struct gnn_gpu *g;
    struct opened *opened;
    uint64_t nopened;
    uint64_t *id;  /* [g->n] */
    void **stream; /* [g->n] */
};

void gnn_gpu_import_free(struct gnn_gpu_import *d)
{
    if (!d)
        return;
    for (unsigned i = 0; d->stream && i < d->g->n; i++)
        gnn_dev_stream_free(d->stream[i]);
    for (uint64_t i = 0; i < d->nopened; i++)
        gnn_dev_import_close(d->opened[i].base);
    gnn_free(d->opened);
    gnn_free(d->id);
    gnn_free(d->stream);
    gnn_free(d);
}

static int import_new(struct gnn_gpu *g, struct gnn_gpu_import **out, struct gnn_err *e)
{
    struct gnn_gpu_import *d = gnn_alloc_zero(1, sizeof *d, "exported memory", e);
    if (!d)
        return e->code;
    d->g = g;
    d->id = gnn_alloc_zero(g->n, sizeof *d->id, "exported memory", e);
    d->stream = gnn_alloc_zero(g->n, sizeof *d->stream, "exported memory", e);
    for (unsigned i = 0; !e->code && i < g->n; i++)
        if (!gnn_dev_use(g->device[i], e) && !gnn_dev_stream_new(&d->stream[i], e))
            (void)!gnn_dev_id(g->device[i], &d->id[i], e);
    if (e->code)
        gnn_gpu_import_free(d);
    else
        *out = d;
    return e->code;
}

/* The memory that the handle opens, opened at its first use. */
static int open_handle(struct gnn_gpu_import *d, const struct gnb_reference *ref,
                       struct opened *found, struct gnn_err *e)
{
    for (uint64_t i = 0; i < d->nopened; i++)
        if (!memcmp(&d->opened[i].handle, ref->handle, sizeof ref->handle)) {
            *found = d->opened[i];
            return 0;
        }
    struct opened o = {.device = UINT32_MAX};
    memcpy(&o.handle, ref->handle, sizeof o.handle);
    for (unsigned i = 0; i < d->g->n; i++)
        if (d->id[i] == ref->device)
            o.device = i;
    if (o.device == UINT32_MAX)
        return gnn_fail(e, GNN_E_INPUT,
                        "its tensors are on a device that this program does not use");
    int rc = gnn_grow(&d->opened, d->nopened, sizeof *d->opened, "exported memory", e) ||
                     gnn_dev_use(d->g->device[o.device], e) ||
                     gnn_dev_import(&o.handle, &o.base, &o.bytes, e)
                 ? e->code
                 : 0;
    if (!rc)
        *found = d->opened[d->nopened++] = o;
    return rc;
}

int gnn_gpu_import_tensor(struct gnn_gpu *g, struct gnn_gpu_import **x,
                          const struct gnb_reference *ref, const struct gnn_tensor *as,
                          struct gnn_tensors *set, unsigned *device, struct gnn_err *e)
{
    struct opened o = {0};
    struct gnn_tensor *t;
    uint64_t bytes = 0;
    int rc = *x ? 0 : import_new(g, x, e);
    if (!rc && (ref->offset % GNB_ALIGN || !gnn_tensor_bytes(as, &bytes)))
        rc = gnn_fail(e, GNN_E_INPUT, "reference out of range");
    if (!rc)
        rc = open_handle(*x, ref, &o, e);
    if (!rc && (ref->offset > o.bytes || bytes > o.bytes - ref->offset))
        rc = gnn_fail(e, GNN_E_INPUT, "reference beyond the device's memory");
    if (!rc)
        rc = gnn_tensors_add_in(set, &g->dev[o.device].mem, as->name, as->dtype, as->ndim,
                                as->shape, &t, e);
    if (!rc)
        rc = gnn_dev_copy(t->data, (char *)o.base + ref->offset, bytes, (*x)->stream[o.device], e);
    *device = g->device[o.device];
    return rc;
}

int gnn_gpu_import_wait(struct gnn_gpu_import *d, struct gnn_err *e)
{
    int rc = 0;
    for (unsigned i = 0; !rc && i < d->g->n; i++)
        rc = gnn_dev_stream_wait(d->stream[i], e);
    return rc;
}

int gnn_gpu_place(struct gnn_gpu *g, unsigned device, struct gnn_batch *b, struct gnn_err *e)
{
    if (b->place && b->place->device == device)
        return 0;
    gnn_batch_unplace(b);
    return gnn_gpu_place_new(device, &b->place, e);
}

int gnn_gpu_unused(struct gnn_gpu *g, const struct gnn_batch *b, struct gnn_err *e)
{
    return b->place ? gnn_dev_event_wait(b->place->used, e) : 0;
}
