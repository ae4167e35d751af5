/* SPDX-License-Identifier: Apache-2.0 */
/* Edge tensors of one new part: the in-edges of its own nodes and, on request, of its halo's, so
 * that sampling finds these without asking. A job's type is the edge type. */
#include <string.h>

#include "lib/partition/rewrite_common.h"

static struct gnn_view_row row_of(const struct gnn_rewrite_part *p, uint32_t et, uint32_t id)
{
    const struct gnn_layout *l = p->r->l;
    return gnn_view_row(l->view, et, l->order[l->view->store->meta.schema.etype[et].dst][id]);
}

static int put_offset(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                      struct gnn_err *e)
{
    j->sum += row_of(p, j->type, id).n;
    return gnn_sink_put(&j->sink, &j->sum, sizeof j->sum, e);
}

static int put_sources(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                       struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    const uint32_t src = l->view->store->meta.schema.etype[j->type].src;
    const uint32_t *to_new = l->to_new[src];
    const struct gnn_view_row row = row_of(p, j->type, id);
    struct gnn_sink *s = &j->sink;
    (void)gnn_rewrite_row(l, j->type, (uint64_t)id + 1, j->end); /* fetched ahead */
    for (uint64_t a = 0, n; a < row.n; a += n) {
        if (s->len == s->capacity && gnn_sink_flush(s, e))
            return e->code;
        uint32_t *out = (uint32_t *)(s->chunk + s->len);
        n = (s->capacity - s->len) / sizeof *out;
        n = row.n - a < n ? row.n - a : n;
        for (uint64_t b = 0; b < n; b++)
            out[b] = to_new[gnn_view_orig(l->view, src, row.indices[a + b])];
        s->len += n * sizeof *out;
    }
    return GNN_OK;
}

static int put_ids(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                   struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    const uint32_t orig = l->order[l->view->store->meta.schema.etype[j->type].dst][id];
    const struct gnn_view_row row = gnn_view_row(l->view, j->type, orig);
    for (uint64_t a = 0; a < row.n; a++) {
        const uint64_t v = gnn_view_edge_id(l->view, j->type, orig, &row, a);
        if (gnn_sink_put(&j->sink, &v, sizeof v, e))
            return e->code;
    }
    return GNN_OK;
}

static int put_rows(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                    struct gnn_err *e)
{
    const struct gnn_view_row row = row_of(p, j->type, id);
    const char *from = j->from[row.part];
    return gnn_sink_put(&j->sink, from + row.first * j->row, row.n * j->row, e);
}

static int declare_rows(struct gnn_rewrite_part *p, uint32_t et, const char *key,
                        const struct gnn_field *f, struct gnn_err *e)
{
    const struct gnn_etype *t = &p->r->l->view->store->meta.schema.etype[et];
    uint64_t shape[2] = {p->edges[et], f->width};
    struct gnn_rewrite_job j = {.put = put_rows, .type = et, .walk = t->dst, .field = f->name};
    bool fresh;
    j.row = gnn_dtype_bytes(f->dtype) * (size_t)(f->width ? f->width : 1);
    if (gnn_rewrite_from(p->r, p, &j, &fresh, e))
        return e->code;
    for (uint32_t q = 0; fresh && q < p->r->l->view->store->nparts; q++) {
        const struct gnn_tensor *x;
        if (gnn_rewrite_find(p->r, q, &x, e, "edge/%s/%s", key, f->name))
            return e->code;
        j.from[q] = x->data;
    }
    return gnn_rewrite_declare(p, j, f->dtype, f->width ? 2 : 1, shape, e, "edge/%s/%s", key,
                               f->name);
}

static int count_row(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t id,
                     struct gnn_err *e)
{
    (void)e;
    j->sum += row_of(p, j->type, id).n;
    return GNN_OK;
}

int gnn_rewrite_edges(struct gnn_rewrite_part *p, uint32_t et, bool halo, struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    const struct gnn_etype *t = &l->view->store->meta.schema.etype[et];
    const char *of = halo ? "halo" : "edge";
    uint64_t rows = l->book[t->dst][p->part + 1] - l->book[t->dst][p->part] + 1, n = p->edges[et];
    char key[GNN_ETYPE_KEY_CAPACITY];
    struct gnn_rewrite_job all = {.type = et},
                           ptr = {.put = put_offset, .type = et, .walk = t->dst, .offsets = true},
                           ind = {.put = put_sources, .type = et, .walk = t->dst},
                           ids = {.put = put_ids, .type = et, .walk = t->dst};
    gnn_etype_key(&l->view->store->meta.schema, et, key, sizeof key);
    if (halo) {
        (void)!gnn_rewrite_each_halo(p, &all, t->dst, count_row, e);
        p->fig->halo_edges += n = all.sum;
        rows = p->nhalo[t->dst] + 1;
        ptr.halo = ind.halo = ids.halo = true;
    }
    if (gnn_rewrite_declare(p, ptr, GNN_U64, 1, &rows, e, "%s/%s/indptr", of, key) ||
        gnn_rewrite_declare(p, ind, GNN_U32, 1, &n, e, "%s/%s/indices", of, key))
        return e->code;
    if (p->r->named && !l->no_edge_ids &&
        gnn_rewrite_declare(p, ids, GNN_U64, 1, &n, e, "%s/%s/id", of, key))
        return e->code;
    for (uint32_t f = 0; !halo && f < t->nfields; f++)
        if (declare_rows(p, et, key, &t->field[f], e))
            return e->code;
    return GNN_OK;
}
