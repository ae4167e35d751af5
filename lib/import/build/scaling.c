/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/build/scaling.h"

#include <math.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/data/standard.h"
#include "lib/store/store.h"

/* Sums over the chosen rows, of differences from the first of them: so large means cost no digits.
 */
struct sums {
    const uint8_t *chosen; /* [nodes]; NULL: all */
    uint64_t row, n, columns;
    double *first, *sum, *square; /* [columns] */
};

static int add_rows(void *arg, const void *rows, uint64_t n, struct gnn_err *e)
{
    struct sums *s = arg;
    const float *v = rows;
    (void)e;
    for (uint64_t i = 0; i < n; i++, v += s->columns, s->row++) {
        if (s->chosen && !s->chosen[s->row])
            continue;
        for (uint64_t c = 0; !s->n && c < s->columns; c++)
            s->first[c] = (double)v[c];
        s->n++;
        for (uint64_t c = 0; c < s->columns; c++) {
            const double d = (double)v[c] - s->first[c];
            s->sum[c] += d;
            s->square[c] += d * d;
        }
    }
    return GNN_OK;
}

static void find_constants(const struct sums *s, double *standard)
{
    const double n = (double)s->n;
    for (uint64_t c = 0; c < s->columns; c++) {
        const double mean = s->sum[c] / n, variance = s->square[c] / n - mean * mean;
        standard[c] = s->first[c] + mean;
        standard[s->columns + c] = variance > 0 ? sqrt(variance) : 1;
    }
}

/* Marks of the nodes of type t in the training set; NULL, without a failure: no set has nodes of
 * the type. */
static int mark_training(struct gnn_dataset *d, struct gnn_splits *splits, uint32_t t,
                         uint8_t **chosen, struct gnn_err *e)
{
    const uint64_t nodes = d->schema.ntype[t].count;
    bool any = false;
    *chosen = NULL;
    for (uint32_t i = 0; i < splits->n; i++) {
        uint32_t *ids;
        if (splits->set[i].ntype != t)
            continue;
        any = true;
        if (strcmp(splits->set[i].name, "train") != 0 || !splits->set[i].count)
            continue;
        int rc = gnn_splits_ids(splits, i, &ids, e);
        if (!rc && !(*chosen = gnn_alloc_zero(nodes, 1, "marks of nodes", e)))
            rc = GNN_E_NOMEM;
        for (uint64_t k = 0; !rc && k < splits->set[i].count; k++)
            (*chosen)[ids[k]] = 1;
        gnn_free(ids);
        return rc;
    }
    return any ? gnn_fail(e, GNN_E_USAGE,
                          "--standardize takes means from the training set, and there is no set "
                          "train of nodes %s: --split makes one",
                          d->schema.ntype[t].name)
               : GNN_OK;
}

static int from_training(struct gnn_dataset *d, struct gnn_splits *splits, uint32_t t,
                         uint32_t field, struct gnn_schema *out, struct gnn_err *e)
{
    const uint64_t columns = gnn_field_columns(&d->schema.ntype[t].field[field]);
    uint8_t *chosen;
    int rc = mark_training(d, splits, t, &chosen, e);
    double *work = rc ? NULL : gnn_alloc_zero(5 * columns, sizeof *work, "means and scales", e);
    if (work) {
        struct sums s = {.chosen = chosen,
                         .columns = columns,
                         .first = work,
                         .sum = work + columns,
                         .square = work + 2 * columns};
        rc = d->ops->rows(d, t, field, add_rows, &s, e);
        if (!rc && s.n) {
            find_constants(&s, work + 3 * columns);
            rc = gnn_schema_set_standard(out, t, "x", work + 3 * columns, e);
        }
    }
    gnn_free(work);
    gnn_free(chosen);
    return rc ? rc : e->code;
}

static int from_store(const struct gnn_store *s, const struct gnn_dataset *d, uint32_t t,
                      struct gnn_schema *out, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const struct gnn_ntype *here = &d->schema.ntype[t];
    const int there = gnn_schema_find_ntype(c, here->name);
    const struct gnn_field *x = gnn_field_find(here->field, here->nfields, "x"), *from = NULL;
    if (there >= 0)
        from = gnn_field_find(c->ntype[there].field, c->ntype[there].nfields, "x");
    if (!from || !from->standard)
        return gnn_fail(e, GNN_E_INPUT, "%s: features of node type %s are not standardized",
                        s->path, here->name);
    if (gnn_field_columns(from) != gnn_field_columns(x))
        return gnn_fail(e, GNN_E_INPUT, "%s: node type %s has %llu feature%s; the input has %llu",
                        s->path, here->name, (unsigned long long)gnn_field_columns(from),
                        gnn_plural(gnn_field_columns(from)),
                        (unsigned long long)gnn_field_columns(x));
    return gnn_schema_set_standard(out, t, "x", from->standard, e);
}

int gnn_scaling_plan(struct gnn_dataset *d, const struct gnn_import_opts *o,
                     struct gnn_splits *splits, struct gnn_schema *out, struct gnn_err *e)
{
    const char *const option = o->standardize_from ? "standardize-from" : "standardize";
    struct gnn_store from = {0};
    bool any = false;
    if (!o->standardize && !o->standardize_from)
        return GNN_OK;
    int rc = o->standardize_from ? gnn_store_open(&from, o->standardize_from, false, e) : GNN_OK;
    for (uint32_t t = 0; !rc && t < d->schema.nntypes; t++) {
        const struct gnn_ntype *nt = &d->schema.ntype[t];
        const struct gnn_field *x = gnn_field_find(nt->field, nt->nfields, "x");
        if (!x)
            continue;
        any = true;
        if (x->dtype != GNN_F32)
            rc = gnn_fail(e, GNN_E_USAGE, "--%s: features of %s are %s, not f32", option, nt->name,
                          gnn_dtype_name(x->dtype));
        else
            rc = o->standardize_from
                     ? from_store(&from, d, t, out, e)
                     : from_training(d, splits, t, (uint32_t)(x - nt->field), out, e);
    }
    gnn_store_close(&from);
    if (!rc && !any)
        rc = gnn_fail(e, GNN_E_USAGE, "--%s: %s has no features x", option, d->name);
    return rc;
}

void gnn_scaling_apply(const double *standard, uint64_t columns, const float *in, uint64_t n,
                       float *out)
{
    const double *mean = standard, *scale = standard + columns;
    for (uint64_t i = 0; i < n; i++, in += columns, out += columns)
        for (uint64_t c = 0; c < columns; c++)
            out[c] = (float)(((double)in[c] - mean[c]) / scale[c]);
}
