/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/export_text.h"

#include <string.h>

#include "lib/inspect/graph_arrays.h"
#include "lib/inspect/value.h"
#include "lib/store/names.h"

struct text {
    struct gnn_view *v;
    struct gnn_table_out t;
    struct gnn_names names[2]; /* of the source and the destination, or of the nodes */
    struct gnn_text_field *field;
    uint32_t nfields;
};

/* ---- lines ---- */

int gnn_text_row(struct gnn_table_out *t, const struct gnn_field *f, const struct gnn_tensor *data,
                 uint64_t row, struct gnn_err *e)
{
    const uint64_t per = gnn_field_columns(f);
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && i < per; i++) {
        rc = gnn_csv_text(&t->csv, ",", e);
        if (!rc)
            rc = data->int8 ? gnn_csv_number(&t->csv, (float)gnn_element(data, row * per + i), e)
                            : gnn_csv_element(&t->csv, data->dtype, data->data, row * per + i, e);
    }
    return rc;
}

int gnn_text_matrix(struct gnn_table_out *t, const struct gnn_tensor *weight, uint64_t rows,
                    uint64_t columns, uint64_t entries, struct gnn_err *e)
{
    const bool real = weight && (weight->dtype == GNN_F32 || weight->dtype == GNN_F64 ||
                                 weight->dtype == GNN_F16 || weight->dtype == GNN_BF16);
    char *head = gnn_strf(e, "%%%%MatrixMarket matrix coordinate %s general\n%llu %llu %llu",
                          real     ? "real"
                          : weight ? "integer"
                                   : "pattern",
                          (unsigned long long)rows, (unsigned long long)columns,
                          (unsigned long long)entries);
    int rc = head ? gnn_csv_text(&t->csv, head, e) : GNN_E_NOMEM;
    gnn_free(head);
    return rc ? rc : gnn_table_out_line(t, e);
}

int gnn_text_entry(struct gnn_table_out *t, uint64_t row, uint64_t column,
                   const struct gnn_tensor *weight, uint64_t at, struct gnn_err *e)
{
    if (gnn_csv_count(&t->csv, row + 1, e) || gnn_csv_text(&t->csv, " ", e) ||
        gnn_csv_count(&t->csv, column + 1, e))
        return e->code;
    if (weight && (gnn_csv_text(&t->csv, " ", e) ||
                   gnn_csv_element(&t->csv, weight->dtype, weight->data, at, e)))
        return e->code;
    return gnn_table_out_line(t, e);
}

int gnn_export_etype(const struct gnn_schema *c, const struct gnn_export *x, const char *where,
                     struct gnn_err *e)
{
    if (x->edges)
        return gnn_schema_need_etype(c, "--edges", x->edges, e);
    if (c->netypes == 1)
        return 0;
    gnn_fail(e, GNN_E_USAGE, "%s: a matrix is of one edge type, and %s has %u: --edges S/R/D",
             x->name, where, c->netypes);
    return -1;
}

/* ---- fields ---- */

static int add_field(struct text *x, bool edges, uint32_t type, const struct gnn_field *f,
                     struct gnn_err *e)
{
    if (gnn_grow(&x->field, x->nfields, sizeof *x->field, "fields", e))
        return e->code;
    struct gnn_text_field *t = &x->field[x->nfields++];
    *t = (struct gnn_text_field){f, gnn_graph_array_parts(x->v, edges, type, f->name, e)};
    return t->part || e->code
               ? e->code
               : gnn_fail(e, GNN_E_INPUT, "%s: no tensor of field %s", x->v->store->path, f->name);
}

static int add_fields(struct text *x, bool edges, uint32_t type, struct gnn_err *e)
{
    const struct gnn_schema *c = &x->v->store->meta.schema;
    const struct gnn_etype *et = edges ? &c->etype[type] : NULL;
    const uint32_t n = edges ? et->nfields : c->ntype[type].nfields;
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < n; i++)
        if (!edges || !gnn_graph_derives(et, &et->field[i]))
            rc = add_field(x, edges, type, edges ? &et->field[i] : &c->ntype[type].field[i], e);
    return rc;
}

static int put_head(struct text *x, const char *ends, struct gnn_err *e)
{
    int rc = gnn_csv_text(&x->t.csv, ends, e);
    for (uint32_t i = 0; !rc && i < x->nfields; i++) {
        const struct gnn_field *f = x->field[i].field;
        rc = gnn_csv_text(&x->t.csv, ",", e);
        if (!rc)
            rc = gnn_table_out_names(&x->t, f->name, f->width, e);
    }
    return rc ? rc : gnn_table_out_line(&x->t, e);
}

static int put_fields(struct text *x, uint32_t part, uint64_t row, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < x->nfields; i++)
        rc = gnn_text_row(&x->t, x->field[i].field, x->field[i].part[part], row, e);
    return rc ? rc : gnn_table_out_line(&x->t, e);
}

static int put_name(struct text *x, int end, uint64_t store_id, struct gnn_err *e)
{
    char buf[GNN_NODE_NAME_CAPACITY];
    size_t n;
    const char *name = gnn_names_of(&x->names[end], store_id, buf, &n);
    return gnn_csv_cell(&x->t.csv, name, n, e);
}

static int end_text(struct text *x, int rc, struct gnn_err *e)
{
    for (uint32_t i = 0; i < x->nfields; i++)
        gnn_free(x->field[i].part);
    gnn_free(x->field);
    for (int end = 0; end < 2; end++)
        gnn_names_release(&x->names[end]);
    return gnn_table_out_end(&x->t, rc, e);
}

/* ---- nodes ---- */

int gnn_export_nodes(struct gnn_view *v, const struct gnn_export *x, struct gnn_err *e)
{
    const struct gnn_schema *c = &v->store->meta.schema;
    struct text t = {.v = v};
    const int type = gnn_schema_need_ntype(c, "--nodes", x->nodes, e);
    gnn_table_out_begin(&t.t, x->fd, x->name);
    int rc = type < 0 ? e->code : add_fields(&t, false, (uint32_t)type, e);
    if (!rc)
        rc = gnn_names_init(&t.names[0], v->store, (uint32_t)type, e);
    if (!rc)
        rc = put_head(&t, "id", e);
    for (uint64_t i = 0; !rc && i < c->ntype[type].count; i++) {
        uint32_t part;
        const uint64_t row = gnn_view_locate(v, (uint32_t)type, i, &part);
        rc = put_name(&t, 0, v->store->book[type][part] + row, e);
        if (!rc)
            rc = put_fields(&t, part, row, e);
    }
    return end_text(&t, rc, e);
}

/* ---- edges ---- */

static int put_in_edges(struct text *t, uint32_t type, uint64_t dst, struct gnn_err *e)
{
    const struct gnn_view_row row = gnn_view_row(t->v, type, dst);
    const uint64_t id = gnn_view_store_id(t->v, t->v->store->meta.schema.etype[type].dst, dst);
    int rc = GNN_OK;
    for (uint64_t j = 0; !rc && j < row.n; j++) {
        rc = put_name(t, 0, row.indices[j], e);
        if (!rc)
            rc = gnn_csv_text(&t->t.csv, ",", e);
        if (!rc)
            rc = put_name(t, 1, id, e);
        if (!rc)
            rc = put_fields(t, row.part, row.first + j, e);
    }
    return rc;
}

static int put_edges(struct text *t, uint32_t type, struct gnn_err *e)
{
    const struct gnn_schema *c = &t->v->store->meta.schema;
    int rc = add_fields(t, true, type, e);
    if (!rc)
        rc = gnn_names_init(&t->names[0], t->v->store, c->etype[type].src, e);
    if (!rc)
        rc = gnn_names_init(&t->names[1], t->v->store, c->etype[type].dst, e);
    if (!rc)
        rc = put_head(t, "source,target", e);
    for (uint64_t dst = 0; !rc && dst < c->ntype[c->etype[type].dst].count; dst++)
        rc = put_in_edges(t, type, dst, e);
    return rc;
}

static int put_column(struct text *t, uint32_t type, uint64_t dst, struct gnn_err *e)
{
    const struct gnn_view_row row = gnn_view_row(t->v, type, dst);
    const uint32_t src = t->v->store->meta.schema.etype[type].src;
    const struct gnn_tensor *weight = t->nfields ? t->field[0].part[row.part] : NULL;
    int rc = GNN_OK;
    for (uint64_t j = 0; !rc && j < row.n; j++)
        rc = gnn_text_entry(&t->t, gnn_view_orig(t->v, src, row.indices[j]), dst, weight,
                            row.first + j, e);
    return rc;
}

static int put_matrix(struct text *t, uint32_t type, struct gnn_err *e)
{
    const struct gnn_schema *c = &t->v->store->meta.schema;
    const struct gnn_etype *et = &c->etype[type];
    const struct gnn_field *f = gnn_field_find(et->field, et->nfields, "weight");
    const uint64_t columns = c->ntype[et->dst].count;
    int rc = f && f->width < 2 ? add_field(t, true, type, f, e) : GNN_OK;
    if (!rc)
        rc = gnn_text_matrix(&t->t, t->nfields ? t->field[0].part[0] : NULL,
                             c->ntype[et->src].count, columns, et->count, e);
    for (uint64_t dst = 0; !rc && dst < columns; dst++)
        rc = put_column(t, type, dst, e);
    return rc;
}

int gnn_export_edges(struct gnn_view *v, const struct gnn_export *x, struct gnn_err *e)
{
    struct text t = {.v = v};
    const int type = gnn_export_etype(&v->store->meta.schema, x, v->store->path, e);
    gnn_table_out_begin(&t.t, x->fd, x->name);
    int rc = e->code;
    if (!rc)
        rc = x->format == GNN_EXPORT_MTX ? put_matrix(&t, (uint32_t)type, e)
                                         : put_edges(&t, (uint32_t)type, e);
    return end_text(&t, rc, e);
}
