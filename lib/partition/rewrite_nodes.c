/* SPDX-License-Identifier: Apache-2.0 */
/* Node tensors of one new part, gathered row by row from wherever the input keeps them. */
#include <string.h>

#include "lib/partition/rewrite_common.h"

/* Original ids by new id. */
static const uint32_t *own_ids(const struct gnn_rewrite_part *p, const struct gnn_rewrite_job *j)
{
    return p->r->l->order[j->type];
}

static uint64_t owned_count(const struct gnn_rewrite_part *p, uint32_t t)
{
    const uint64_t *book = p->r->l->book[t];
    return book[p->part + 1] - book[p->part];
}

static int write_rows(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                      struct gnn_err *e)
{
    const uint32_t *ids = own_ids(p, j);
    for (uint64_t i = j->at; i < to; i++) {
        uint32_t q;
        uint64_t row = gnn_view_locate(p->r->l->view, j->type, ids[i], &q);
        if (gnn_sink_put(&j->sink, (const char *)j->from[q] + row * j->row, j->row, e))
            return e->code;
    }
    return to < j->end ? GNN_OK : gnn_sink_flush(&j->sink, e);
}

static int write_ids(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                     struct gnn_err *e)
{
    return gnn_part_write(j->sink.w, j->sink.id, own_ids(p, j) + j->at,
                          (to - j->at) * sizeof(uint32_t), e);
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

static int write_names(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                       struct gnn_err *e)
{
    uint64_t len;
    for (uint64_t i = j->at; i < to; i++) {
        const char *name = name_of(p->r, j->from, j->type, own_ids(p, j)[i], &len);
        if (gnn_sink_put(&j->sink, name, len, e))
            return e->code;
    }
    return to < j->end ? GNN_OK : gnn_sink_flush(&j->sink, e);
}

static int write_name_offsets(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j,
                              uint64_t to, struct gnn_err *e)
{
    uint64_t len;
    for (uint64_t i = j->at; i < to; i++) {
        if (gnn_sink_put(&j->sink, &j->sum, sizeof j->sum, e))
            return e->code;
        name_of(p->r, j->from, j->type, own_ids(p, j)[i], &len);
        j->sum += len;
    }
    if (to < j->end)
        return GNN_OK;
    return gnn_sink_put(&j->sink, &j->sum, sizeof j->sum, e) ? e->code
                                                             : gnn_sink_flush(&j->sink, e);
}

static int declare_names(struct gnn_rewrite_part *p, uint32_t t, struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    const char *type = l->view->store->meta.schema.ntype[t].name;
    struct gnn_rewrite_job text = {.write = write_names, .type = t, .walk = t},
                           off = {.write = write_name_offsets, .type = t, .walk = t};
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
        /* The schema's fields were checked when the store was opened, keys were not. */
        if (!gnn_tensor_bytes(t, &bytes) || bytes != gnn_store_owned(s, p, j->type) * j->row)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s has a wrong shape",
                            gnn_store_part_path(s, p), t->name);
        j->from[p] = t->data;
    }
    return GNN_OK;
}

static int declare_rows(struct gnn_rewrite_part *p, uint32_t t, const char *field,
                        enum gnn_dtype dtype, uint64_t width, struct gnn_err *e)
{
    struct gnn_rewrite_job j = {.write = write_rows, .type = t, .walk = t, .field = field};
    uint64_t shape[2] = {owned_count(p, t), width};
    bool fresh;
    j.row = gnn_dtype_bytes(dtype) * (size_t)(width ? width : 1);
    if (gnn_rewrite_from(p->r, p, &j, &fresh, e) || (fresh && rows_find(p->r, &j, e)))
        return e->code;
    return gnn_rewrite_declare(p, j, dtype, width ? 2 : 1, shape, e, "node/%s/%s",
                               p->r->l->view->store->meta.schema.ntype[t].name, field);
}

int gnn_rewrite_nodes(struct gnn_rewrite_part *p, uint32_t t, struct gnn_err *e)
{
    struct gnn_store *s = p->r->l->view->store;
    const struct gnn_ntype *nt = &s->meta.schema.ntype[t];
    struct gnn_rewrite_job ids = {.write = write_ids, .type = t, .walk = t};
    uint64_t n = owned_count(p, t);

    p->fig->nodes += n;
    if (p->r->named && gnn_rewrite_declare(p, ids, GNN_U32, 1, &n, e, "node/%s/id", nt->name))
        return e->code;
    if (gnn_store_findf(s, 0, "node/%s/key", nt->name) &&
        !gnn_field_find(nt->field, nt->nfields, "key") && declare_rows(p, t, "key", GNN_I64, 0, e))
        return e->code;
    if (gnn_store_findf(s, 0, "node/%s/name_offsets", nt->name) && declare_names(p, t, e))
        return e->code;
    for (uint32_t f = 0; f < nt->nfields; f++)
        if (declare_rows(p, t, nt->field[f].name, nt->field[f].dtype, nt->field[f].width, e))
            return e->code;
    return GNN_OK;
}
