/* SPDX-License-Identifier: Apache-2.0 */
/* Node tensors of one new part, gathered row by row from wherever the input keeps them; and its
 * halo: nodes of other parts that its edges come from, with their owners. A job's type is the node
 * type. */
#include <string.h>

#include "lib/partition/rewrite_common.h"

static uint64_t owned_count(const struct gnn_rewrite_part *p, uint32_t t)
{
    const uint64_t *book = p->r->l->book[t];
    return book[p->part + 1] - book[p->part];
}

static int put_row(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                   struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    uint32_t q;
    const uint64_t row = gnn_view_locate(l->view, j->type, l->order[j->type][id], &q);
    return gnn_sink_put(&j->sink, (const char *)j->from[q] + row * j->row, j->row, e);
}

static int put_id(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                  struct gnn_err *e)
{
    (void)p;
    return gnn_sink_put(&j->sink, &id, sizeof id, e);
}

static int put_owner(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                     struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    return gnn_sink_put(&j->sink, &l->part[l->view->base[j->type] + l->order[j->type][id]],
                        sizeof *l->part, e);
}

static int put_original(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                        struct gnn_err *e)
{
    return gnn_sink_put(&j->sink, &p->r->l->order[j->type][id], sizeof(uint32_t), e);
}

/* Bytes and offsets of the names of every input part. */
static int names_find(const struct gnn_rewrite *r, const void **from, uint32_t t, struct gnn_err *e)
{
    struct gnn_store *s = r->l->view->store;
    const char *type = s->meta.schema.ntype[t].name;
    for (uint32_t p = 0; p < s->nparts; p++) {
        const struct gnn_tensor *text, *off;
        if (gnn_rewrite_find(r, p, &text, e, "node/%s/name", type) ||
            gnn_rewrite_find(r, p, &off, e, "node/%s/name_offsets", type))
            return e->code;
        const uint64_t *o = off->data;
        for (uint64_t i = 0, n = gnn_store_owned(s, p, t); i <= n; i++)
            if (o[i] > text->shape[0] || (i && o[i] < o[i - 1]))
                return gnn_fail(
                    e, GNN_E_INPUT,
                    "%s: tensor node/%s/name_offsets: element %llu is %llu, out of order",
                    gnn_store_part_path(s, p), type, (unsigned long long)i,
                    (unsigned long long)o[i]);
        from[2 * p] = text->data;
        from[2 * p + 1] = o;
    }
    return GNN_OK;
}

static const char *name_of(const struct gnn_rewrite *r, const void **from, uint32_t t,
                           uint32_t orig, uint64_t *len)
{
    uint32_t p;
    uint64_t row = gnn_view_locate(r->l->view, t, orig, &p);
    const uint64_t *o = from[2 * p + 1];
    *len = o[row + 1] - o[row];
    return (const char *)from[2 * p] + o[row];
}

static int put_name(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                    struct gnn_err *e)
{
    uint64_t len;
    const char *name = name_of(p->r, j->from, j->type, p->r->l->order[j->type][id], &len);
    return gnn_sink_put(&j->sink, name, len, e);
}

static int put_name_offset(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                           struct gnn_err *e)
{
    uint64_t len;
    name_of(p->r, j->from, j->type, p->r->l->order[j->type][id], &len);
    j->sum += len;
    return gnn_sink_put(&j->sink, &j->sum, sizeof j->sum, e);
}

static int declare_names(struct gnn_rewrite_part *p, uint32_t t, struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    const char *type = l->view->store->meta.schema.ntype[t].name;
    struct gnn_rewrite_job text = {.put = put_name, .type = t, .walk = t},
                           off = {.put = put_name_offset, .type = t, .walk = t, .offsets = true};
    uint64_t n = owned_count(p, t), len, bytes = 0;
    bool fresh;

    if (gnn_rewrite_from(p->r, p, &text, &fresh, e) || (fresh && names_find(p->r, text.from, t, e)))
        return e->code;
    off.from = text.from;
    for (uint64_t i = l->book[t][p->part]; i < l->book[t][p->part + 1]; i++) {
        name_of(p->r, text.from, t, l->order[t][i], &len);
        bytes += len;
    }
    n++;
    if (gnn_rewrite_declare(p, text, GNN_U8, 1, &bytes, e, "node/%s/name", type) ||
        gnn_rewrite_declare(p, off, GNN_U64, 1, &n, e, "node/%s/name_offsets", type))
        return e->code;
    return GNN_OK;
}

static int rows_find(const struct gnn_rewrite *r, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    struct gnn_store *s = r->l->view->store;
    for (uint32_t p = 0; p < s->nparts; p++) {
        const struct gnn_tensor *t;
        uint64_t bytes = 0;
        if (gnn_rewrite_find(r, p, &t, e, "node/%s/%s", s->meta.schema.ntype[j->type].name,
                             j->field))
            return e->code;
        j->from[p] = j->features ? (const void *)t : t->data;
        /* The schema's fields were checked when the store was opened, keys were not. */
        if (!j->features &&
            (!gnn_tensor_bytes(t, &bytes) || bytes != gnn_store_owned(s, p, j->type) * j->row))
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s has a wrong shape",
                            gnn_store_part_path(s, p), t->name);
    }
    return GNN_OK;
}

/* Rows of the tensors of a field, of which features are set; dtype and width are those that the
 * new store's tensor has. */
static int declare_rows(struct gnn_rewrite_part *p, struct gnn_rewrite_job j, enum gnn_dtype dtype,
                        uint64_t width, struct gnn_err *e)
{
    const uint64_t shape[2] = {owned_count(p, j.type), width};
    bool fresh;
    j.row = gnn_dtype_bytes(dtype) * (size_t)(width ? width : 1);
    if (gnn_rewrite_from(p->r, p, &j, &fresh, e) || (fresh && rows_find(p->r, &j, e)) ||
        gnn_rewrite_declare(p, j, dtype, width ? 2 : 1, shape, e, "node/%s/%s",
                            p->r->l->view->store->meta.schema.ntype[j.type].name, j.field)) {
        gnn_rewrite_features_free(j.features);
        return e->code;
    }
    return GNN_OK;
}

/* A field, whose rows the new store may have in another type. */
static int declare_field(struct gnn_rewrite_part *p, uint32_t t, uint32_t f, struct gnn_err *e)
{
    const struct gnn_field *from = &p->r->l->view->store->meta.schema.ntype[t].field[f],
                           *to = &p->w.meta.schema.ntype[t].field[f];
    struct gnn_rewrite_job j = {.put = put_row, .type = t, .walk = t, .field = from->name};
    if (from->dtype != to->dtype && gnn_rewrite_features(&j, to, e)) {
        gnn_rewrite_features_free(j.features);
        return e->code;
    }
    return declare_rows(p, j, gnn_field_stored_dtype(to), gnn_field_stored_width(to), e);
}

int gnn_rewrite_nodes(struct gnn_rewrite_part *p, uint32_t t, struct gnn_err *e)
{
    struct gnn_store *s = p->r->l->view->store;
    const struct gnn_ntype *nt = &s->meta.schema.ntype[t];
    struct gnn_rewrite_job ids = {.put = put_original, .type = t, .walk = t},
                           key = {.put = put_row, .type = t, .walk = t, .field = "key"};
    uint64_t n = owned_count(p, t);

    p->fig->nodes += n;
    if (p->r->named && gnn_rewrite_declare(p, ids, GNN_U32, 1, &n, e, "node/%s/id", nt->name))
        return e->code;
    if (gnn_store_findf(s, 0, "node/%s/key", nt->name) &&
        !gnn_field_find(nt->field, nt->nfields, "key") && declare_rows(p, key, GNN_I64, 0, e))
        return e->code;
    if (gnn_store_findf(s, 0, "node/%s/name_offsets", nt->name) && declare_names(p, t, e))
        return e->code;
    for (uint32_t f = 0; f < nt->nfields; f++)
        if (declare_field(p, t, f, e))
            return e->code;
    return GNN_OK;
}

int gnn_rewrite_halo(struct gnn_rewrite_part *p, struct gnn_err *e)
{
    const struct gnn_schema *sc = &p->r->l->view->store->meta.schema;
    for (uint32_t t = 0; t < sc->nntypes; t++) {
        struct gnn_rewrite_job ids = {.put = put_id, .type = t, .walk = t, .halo = true},
                               owner = {.put = put_owner, .type = t, .walk = t, .halo = true},
                               orig = {.put = put_original, .type = t, .walk = t, .halo = true};
        const uint64_t *n = &p->nhalo[t];
        const char *type = sc->ntype[t].name;
        if (gnn_rewrite_declare(p, ids, GNN_U32, 1, n, e, "halo/%s/ids", type) ||
            gnn_rewrite_declare(p, owner, GNN_U32, 1, n, e, "halo/%s/owner", type) ||
            (p->r->l->halo_edges &&
             gnn_rewrite_declare(p, orig, GNN_U32, 1, n, e, "halo/%s/id", type)))
            return e->code;
    }
    for (uint32_t et = 0; p->r->l->halo_edges && et < sc->netypes; et++)
        if (gnn_rewrite_edges(p, et, true, e))
            return e->code;
    return GNN_OK;
}
