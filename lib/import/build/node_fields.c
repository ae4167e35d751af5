/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/build/node_fields.h"

#include <math.h>
#include <string.h>

#include "kernels/half.h"
#include "lib/import/build/scaling.h"
#include "lib/import/build/time_order.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/data/int8_rows.h"

struct rows_arg {
    const struct gnn_import_opts *o;
    struct gnn_store_writer *w;
    const struct gnn_dataset *d;
    uint32_t ntype, id;
    uint64_t values, rows, limit; /* a row's values; rows so far and expected */
    uint64_t row_bytes;           /* of a row in the store */
    enum gnn_dtype in, out;
    const double *standard; /* of the store's field */
    float *largest;         /* [values] absolute values of the columns of features; or NULL */
    double error;           /* as in struct gnn_import_columns */
    struct gnn_buf buf, scaled;
};

static void note_largest(struct rows_arg *a, const float *v, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++, v += a->values)
        for (uint64_t c = 0; c < a->values; c++)
            a->largest[c] = fabsf(v[c]) > a->largest[c] ? fabsf(v[c]) : a->largest[c];
}

/* An error that names element i of the rows that come next, which the store's type cannot hold. */
static int refuse_element(const struct rows_arg *a, uint64_t i, double value, const char *why,
                          const char *to, struct gnn_err *e)
{
    char place[GNN_PLACE_TEXT];
    return gnn_fail(e, GNN_E_INPUT, "%s: %s, %s %llu: %g%s %s%s", gnn_dataset_file(a->d),
                    gnn_dataset_place(a->d, a->ntype, a->rows + i / a->values, place),
                    a->d->in_order ? "column" : "feature", (unsigned long long)(i % a->values + 1),
                    value, a->standard && *to ? ", standardized," : "", why, to);
}

/* Standardizes n rows, which must stay finite. */
static int scale_rows(struct rows_arg *a, const float *v, uint64_t n, struct gnn_err *e)
{
    int rc = gnn_buf_reserve(&a->scaled, n * a->values, sizeof(float), "scaled features", e);
    if (rc)
        return rc;
    float *to = a->scaled.data;
    gnn_scaling_apply(a->standard, a->values, v, n, to);
    for (uint64_t i = 0; i < n * a->values; i++)
        if (!isfinite(to[i]))
            return refuse_element(a, i, (double)v[i], "is too far from the mean to be standardized",
                                  "", e);
    return GNN_OK;
}

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
            return refuse_element(a, i, (double)v[i], "is too large for ", gnn_dtype_name(a->out),
                                  e);
    return GNN_OK;
}

/* Times that are whole numbers, as real ones: none may be rounded. */
static int widen_times(struct rows_arg *a, const int64_t *v, uint64_t n, struct gnn_err *e)
{
    int rc = gnn_buf_reserve(&a->buf, n, sizeof(double), "converted times", e);
    if (rc)
        return rc;
    char place[GNN_PLACE_TEXT];
    double *to = a->buf.data;
    for (uint64_t i = 0; i < n; i++) {
        to[i] = (double)v[i];
        if (!gnn_time_exact(v[i]))
            return gnn_time_fail(gnn_dataset_file(a->d),
                                 gnn_dataset_place(a->d, a->ntype, a->rows + i, place), v[i], e);
    }
    return GNN_OK;
}

/* n rows as int8. */
static int quantise_rows(struct rows_arg *a, const float *v, uint64_t n, struct gnn_err *e)
{
    if (gnn_buf_reserve(&a->buf, n, a->row_bytes, "converted features", e))
        return e->code;
    for (uint64_t i = 0; i < n; i++, v += a->values) {
        const uint64_t c =
            gnn_int8_row(v, a->values, (char *)a->buf.data + i * a->row_bytes, &a->error);
        if (c < a->values)
            return refuse_element(a, i * a->values + c, (double)v[c],
                                  "is not finite, and has no int8", "", e);
    }
    return GNN_OK;
}

/* The rows in the store's type, in a->buf. */
static int convert_rows(struct rows_arg *a, const void *rows, uint64_t n, struct gnn_err *e)
{
    return a->in == GNN_I64   ? widen_times(a, rows, n * a->values, e)
           : a->out == GNN_I8 ? quantise_rows(a, rows, n, e)
                              : narrow_values(a, rows, n * a->values, e);
}

static int write_rows(void *arg, const void *rows, uint64_t n, struct gnn_err *e)
{
    struct rows_arg *a = arg;
    if (n > a->limit - a->rows)
        return gnn_fail(e, GNN_E_INPUT, "%s: more rows than nodes", gnn_dataset_file(a->d));
    if (a->largest)
        note_largest(a, rows, n);
    if (a->standard) {
        int rc = scale_rows(a, rows, n, e);
        if (rc)
            return rc;
        rows = a->scaled.data;
    }
    if (a->in != a->out) {
        int rc = convert_rows(a, rows, n, e);
        if (rc)
            return rc;
        rows = a->buf.data;
    }
    a->rows += n;
    if (a->o->progress)
        a->o->progress("writing rows", a->rows, a->limit);
    return gnn_part_write(a->w, a->id, rows, n * a->row_bytes, e);
}

/* Which columns have the largest and the smallest values, of those that are not 0 throughout. */
static void take_spread(const struct rows_arg *a, struct gnn_import_columns *s)
{
    *s = (struct gnn_import_columns){0};
    for (uint64_t c = 0; c < a->values; c++) {
        const float v = a->largest[c];
        if (v > s->most)
            *s = (struct gnn_import_columns){v, s->least, 0, c, s->narrow};
        if (v > 0 && (v < s->least || !(s->least > 0)))
            *s = (struct gnn_import_columns){s->most, v, 0, s->wide, c};
    }
}

int gnn_rows_write(struct gnn_dataset *d, const struct gnn_import_opts *o, uint32_t ntype,
                   uint32_t field, const struct gnn_field *to, struct gnn_store_writer *w,
                   uint32_t id, struct gnn_import_columns *spread, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &d->schema.ntype[ntype];
    const struct gnn_field *f = &nt->field[field];
    struct rows_arg a = {.o = o,
                         .w = w,
                         .d = d,
                         .ntype = ntype,
                         .id = id,
                         .limit = nt->count,
                         .values = gnn_field_columns(f),
                         .row_bytes = gnn_field_row_bytes(to),
                         .in = f->dtype,
                         .out = to->dtype,
                         .standard = to->standard};
    const bool features = !strcmp(f->name, "x") && f->dtype == GNN_F32;
    if (features && !(a.largest = gnn_alloc_zero(a.values, sizeof *a.largest, "columns", e)))
        return GNN_E_NOMEM;
    int rc = d->ops->rows(d, ntype, field, write_rows, &a, e);
    if (features) {
        take_spread(&a, spread);
        spread->error = a.error;
    }
    gnn_free(a.largest);
    gnn_buf_release(&a.scaled);
    if (!rc && a.rows != nt->count)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s/%s: %llu row%s for %llu node%s", d->name, nt->name,
                      f->name, (unsigned long long)a.rows, gnn_plural(a.rows),
                      (unsigned long long)nt->count, gnn_plural(nt->count));
    gnn_buf_release(&a.buf);
    return rc;
}
