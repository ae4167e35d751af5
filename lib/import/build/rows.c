/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/build/rows.h"

#include "kernels/half.h"
#include "lib/base/mem.h"

struct rows_arg {
    const struct gnn_import_opts *o;
    struct gnn_store_writer *w;
    const char *name; /* of the data set */
    uint32_t id;
    uint64_t values, rows, limit; /* a row's values; rows so far and expected */
    enum gnn_dtype in, out;
    struct gnn_buf buf;
};

/* Narrows n values; finite ones must stay so. */
static int narrow_values(struct rows_arg *a, const float *v, uint64_t n, struct gnn_err *e)
{
    const uint16_t inf = a->out == GNN_F16 ? 0x7c00 : 0x7f80;
    int rc = gnn_buf_reserve(&a->buf, n, sizeof(uint16_t), "converted features", e);
    if (rc)
        return rc;
    const uint16_t *h = a->buf.data;
    if (a->out == GNN_F16)
        gnn_f32_to_f16(v, n, a->buf.data);
    else
        gnn_f32_to_bf16(v, n, a->buf.data);
    for (uint64_t i = 0; i < n; i++)
        if ((h[i] & inf) == inf)
            return gnn_fail(e, GNN_E_INPUT, "%s: features, row %llu: %g is too large for %s",
                            a->name, (unsigned long long)(a->rows + i / a->values + 1),
                            (double)v[i], gnn_dtype_name(a->out));
    return GNN_OK;
}

static int write_rows(void *arg, const void *rows, uint64_t n, struct gnn_err *e)
{
    struct rows_arg *a = arg;
    uint64_t values = n * a->values;
    if (n > a->limit - a->rows)
        return gnn_fail(e, GNN_E_INPUT, "%s: more rows than nodes", a->name);
    if (a->in != a->out) {
        int rc = narrow_values(a, rows, values, e);
        if (rc)
            return rc;
        rows = a->buf.data;
    }
    a->rows += n;
    if (a->o->progress)
        a->o->progress("writing rows", a->rows, a->limit);
    return gnn_part_write(a->w, a->id, rows, values * gnn_dtype_bytes(a->out), e);
}

int gnn_rows_write(struct gnn_dataset *d, const struct gnn_import_opts *o, uint32_t ntype,
                   uint32_t field, enum gnn_dtype out, struct gnn_store_writer *w, uint32_t id,
                   struct gnn_err *e)
{
    const struct gnn_ntype *nt = &d->schema.ntype[ntype];
    const struct gnn_field *f = &nt->field[field];
    struct rows_arg a = {.o = o,
                         .w = w,
                         .name = d->name,
                         .id = id,
                         .limit = nt->count,
                         .values = f->width ? f->width : 1,
                         .in = f->dtype,
                         .out = out};
    int rc = d->ops->rows(d, ntype, field, write_rows, &a, e);
    if (!rc && a.rows != nt->count)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s/%s: %llu rows for %llu nodes", d->name, nt->name,
                      f->name, (unsigned long long)a.rows, (unsigned long long)nt->count);
    gnn_buf_release(&a.buf);
    return rc;
}
