/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/export_out.h"

#include <string.h>

#include "lib/base/mem.h"

int gnn_export_out_begin(struct gnn_export_out *o, const struct gnn_export *x, struct gnn_err *e)
{
    *o = (struct gnn_export_out){.x = x};
    o->found = gnn_alloc_zero(x->ntensors + UINT64_C(1), sizeof *o->found, "names", e);
    o->has = gnn_alloc_zero(x->ntensors + UINT64_C(1), sizeof *o->has, "names", e);
    if (!o->found || !o->has)
        return e->code;
    for (uint32_t i = 0; i < x->ntensors; i++)
        o->has[i].word = x->tensor[i];
    return x->format == GNN_EXPORT_NPZ ? gnn_npz_out_begin(&o->npz, x->fd, x->name, e) : GNN_OK;
}

static bool wants_array(struct gnn_export_out *o, const char *name)
{
    bool wants = !o->x->ntensors;
    for (uint32_t i = 0; i < o->x->ntensors; i++) {
        const bool is = !strcmp(o->x->tensor[i], name);
        o->found[i] = o->found[i] || is;
        wants = wants || is;
        if (!o->found[i])
            gnn_suggest_add(&o->has[i], name);
    }
    return wants;
}

int gnn_export_out_array(struct gnn_export_out *o, const struct gnn_array_out *a,
                         const char *member, struct gnn_err *e)
{
    const struct gnn_export *x = o->x;
    if (!wants_array(o, a->name))
        return GNN_OK;
    o->written++;
    if (x->format == GNN_EXPORT_NPZ)
        return gnn_array_out_npz(a, member, &o->npz, e);
    if (o->written > 1)
        return gnn_fail(e, GNN_E_USAGE, "%s: %s is there several times, and the format holds one",
                        x->name, a->name);
    return x->format == GNN_EXPORT_NPY ? gnn_array_out_npy(a, x->fd, x->name, e)
                                       : gnn_array_out_csv(a, x->fd, x->name, e);
}

int gnn_export_out_end(struct gnn_export_out *o, const char *where, int rc, struct gnn_err *e)
{
    for (uint32_t i = 0; !rc && o->x && i < o->x->ntensors; i++)
        if (!o->found[i])
            rc = gnn_fail(e, GNN_E_USAGE, "--tensor: %s has no '%s'%s", where, o->x->tensor[i],
                          gnn_suggest_text(&o->has[i], "tensors"));
    rc = gnn_npz_out_end(&o->npz, rc);
    gnn_free(o->found);
    gnn_free(o->has);
    *o = (struct gnn_export_out){0};
    return rc;
}
