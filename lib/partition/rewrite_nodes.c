/* Node tensors of one new part, gathered row by row from wherever the input keeps them. */
#include <string.h>

#include "lib/partition/rewrite.h"

/* The part's nodes as original ids. */
static const uint32_t *own(const struct gnn_rewrite *r, uint32_t t, uint64_t *n)
{
    const uint64_t *book = r->l->book[t];
    *n = book[r->part + 1] - book[r->part];
    return r->l->order[t] + book[r->part];
}

static int write_rows(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    struct gnn_store *s = r->l->view->store;
    const char *type = s->meta.schema.ntype[j->type].name;
    const char **from = (const char **)k->from;
    struct gnn_sink sink = {r, k->chunk, j->id, 0};
    uint64_t n;
    const uint32_t *ids = own(r, j->type, &n);

    for (uint32_t p = 0; p < s->nparts; p++) {
        const struct gnn_tensor *t;
        uint64_t bytes = 0;
        if (gnn_rewrite_find(r, p, &t, e, "node/%s/%s", type, j->field))
            return e->code;
        /* The schema's fields were checked when the store was opened, keys were not. */
        if (!gnn_tensor_bytes(t, &bytes) || bytes != gnn_store_owned(s, p, j->type) * j->row)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s has a wrong shape", gnn_store_part_path(s, p), t->name);
        from[p] = t->data;
    }
    for (uint64_t i = 0; i < n; i++) {
        uint32_t p;
        uint64_t row = gnn_view_locate(r->l->view, j->type, ids[i], &p);
        if (gnn_sink_put(&sink, from[p] + row * j->row, j->row, e))
            return e->code;
    }
    return gnn_sink_flush(&sink, e);
}

static int write_ids(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    uint64_t n;
    const uint32_t *ids = own(r, j->type, &n);
    (void)k;
    return gnn_part_write(r->w, j->id, ids, n * sizeof *ids, e);
}

/* Names: bytes and offsets of every input part into k->from. */
static int names_find(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, uint32_t t, struct gnn_err *e)
{
    struct gnn_store *s = r->l->view->store;
    const char *type = s->meta.schema.ntype[t].name;
    const void **from = k->from;
    for (uint32_t p = 0; p < s->nparts; p++) {
        const struct gnn_tensor *text, *off;
        if (gnn_rewrite_find(r, p, &text, e, "node/%s/name", type) ||
            gnn_rewrite_find(r, p, &off, e, "node/%s/name_offsets", type))
            return e->code;
        const uint64_t *o = off->data;
        for (uint64_t i = 0, n = gnn_store_owned(s, p, t); i <= n; i++)
            if (o[i] > text->shape[0] || (i && o[i] < o[i - 1]))
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: tensor node/%s/name_offsets: element %llu is %llu, out of order",
                                gnn_store_part_path(s, p), type, (unsigned long long)i,
                                (unsigned long long)o[i]);
        from[2 * p] = text->data;
        from[2 * p + 1] = o;
    }
    return GNN_OK;
}

static const char *name_of(const struct gnn_rewrite *r, const struct gnn_rewrite_work *k, uint32_t t, uint32_t orig, uint64_t *len)
{
    const void **from = k->from;
    uint32_t p;
    uint64_t row = gnn_view_locate(r->l->view, t, orig, &p);
    const uint64_t *o = from[2 * p + 1];
    *len = o[row + 1] - o[row];
    return (const char *)from[2 * p] + o[row];
}

static int write_names(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    struct gnn_sink sink = {r, k->chunk, j->id, 0};
    uint64_t n, len;
    const uint32_t *ids = own(r, j->type, &n);
    if (names_find(r, k, j->type, e))
        return e->code;
    for (uint64_t i = 0; i < n; i++) {
        const char *name = name_of(r, k, j->type, ids[i], &len);
        if (gnn_sink_put(&sink, name, len, e))
            return e->code;
    }
    return gnn_sink_flush(&sink, e);
}

static int write_name_offsets(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    struct gnn_sink sink = {r, k->chunk, j->id, 0};
    uint64_t n, len, at = 0;
    const uint32_t *ids = own(r, j->type, &n);
    if (names_find(r, k, j->type, e) || gnn_sink_put(&sink, &at, sizeof at, e))
        return e->code;
    for (uint64_t i = 0; i < n; i++) {
        name_of(r, k, j->type, ids[i], &len);
        at += len;
        if (gnn_sink_put(&sink, &at, sizeof at, e))
            return e->code;
    }
    return gnn_sink_flush(&sink, e);
}

static int declare_names(struct gnn_rewrite *r, uint32_t t, struct gnn_err *e)
{
    const char *type = r->l->view->store->meta.schema.ntype[t].name;
    struct gnn_rewrite_job text = {.write = write_names, .type = t},
                           off = {.write = write_name_offsets, .type = t};
    uint64_t n, len, bytes = 0;
    const uint32_t *ids = own(r, t, &n);

    if (names_find(r, &r->work[0], t, e))
        return e->code;
    for (uint64_t i = 0; i < n; i++) {
        name_of(r, &r->work[0], t, ids[i], &len);
        bytes += len;
    }
    n++;
    if (gnn_rewrite_declare(r, text, GNN_U8, 1, &bytes, e, "node/%s/name", type) ||
        gnn_rewrite_declare(r, off, GNN_U64, 1, &n, e, "node/%s/name_offsets", type))
        return e->code;
    return GNN_OK;
}

static int declare_rows(struct gnn_rewrite *r, uint32_t t, const char *field, enum gnn_dtype dtype,
                        uint64_t width, struct gnn_err *e)
{
    struct gnn_rewrite_job j = {.write = write_rows, .type = t, .field = field};
    uint64_t shape[2] = {0, width};
    own(r, t, &shape[0]);
    j.row = gnn_dtype_bytes(dtype) * (size_t)(width ? width : 1);
    return gnn_rewrite_declare(r, j, dtype, width ? 2 : 1, shape, e, "node/%s/%s",
                               r->l->view->store->meta.schema.ntype[t].name, field);
}

int gnn_rewrite_nodes(struct gnn_rewrite *r, uint32_t t, struct gnn_err *e)
{
    struct gnn_store *s = r->l->view->store;
    const struct gnn_ntype *nt = &s->meta.schema.ntype[t];
    struct gnn_rewrite_job ids = {.write = write_ids, .type = t};
    uint64_t n;

    own(r, t, &n);
    r->fig->nodes += n;
    if (r->named && gnn_rewrite_declare(r, ids, GNN_U32, 1, &n, e, "node/%s/id", nt->name))
        return e->code;
    if (gnn_store_findf(s, 0, "node/%s/key", nt->name) &&
        !gnn_field_find(nt->field, nt->nfields, "key") && declare_rows(r, t, "key", GNN_I64, 0, e))
        return e->code;
    if (gnn_store_findf(s, 0, "node/%s/name_offsets", nt->name) && declare_names(r, t, e))
        return e->code;
    for (uint32_t f = 0; f < nt->nfields; f++)
        if (declare_rows(r, t, nt->field[f].name, nt->field[f].dtype, nt->field[f].width, e))
            return e->code;
    return GNN_OK;
}
