/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/read/formats.h"

#include "lib/base/mem.h"

int gnn_format_open(struct gnn_dataset **out, const struct gnn_format *f, struct gnn_input *in,
                    const struct gnn_import_opts *o, struct gnn_err *e)
{
    void *reading = NULL;
    *out = NULL;
    int rc = f->choose ? f->choose(&f, &reading, in, o, e) : GNN_OK;
    struct gnn_src *s = rc ? NULL : gnn_alloc_zero(1, f->size, "data set", e);
    if (!s) {
        gnn_free(reading);
        gnn_input_free(in);
        return rc ? rc : GNN_E_NOMEM;
    }
    s->o = o;
    s->d.ops = f->ops;
    s->d.format = f->name;
    rc = gnn_src_own(s, in, e);
    if (rc)
        gnn_free(reading);
    else
        rc = f->fill(s, reading, e);
    if (!rc)
        rc = gnn_attach(s, e);
    if (rc)
        gnn_dataset_free(&s->d);
    else
        *out = &s->d;
    return rc;
}
