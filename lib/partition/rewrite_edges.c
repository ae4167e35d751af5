/* SPDX-License-Identifier: Apache-2.0 */
/* Edge tensors of one new part. */
#include <string.h>

#include "lib/partition/rewrite_common.h"

static int write_indptr(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                        struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    for (uint64_t i = j->at; i < to; i++) {
        if (gnn_sink_put(&j->sink, &j->sum, sizeof j->sum, e))
            return e->code;
        j->sum += gnn_view_row(l->view, j->type, l->order[j->walk][i]).n;
    }
    if (to < j->end)
        return GNN_OK;
    return gnn_sink_put(&j->sink, &j->sum, sizeof j->sum, e) ? e->code
                                                             : gnn_sink_flush(&j->sink, e);
}

static int write_indices(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                         struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    const uint32_t src = l->view->store->meta.schema.etype[j->type].src;
    const uint32_t *to_new = l->to_new[src];
    struct gnn_sink *s = &j->sink;
    struct gnn_view_row row, next = gnn_rewrite_row(l, j->type, j->at, to);

    for (uint64_t i = j->at; i < to; i++) {
        row = next;
        next = gnn_rewrite_row(l, j->type, i + 1, to);
        for (uint64_t a = 0, n; a < row.n; a += n) {
            if (s->len == s->room && gnn_sink_flush(s, e))
                return e->code;
            uint32_t *out = (uint32_t *)(s->chunk + s->len);
            n = (s->room - s->len) / sizeof *out;
            n = row.n - a < n ? row.n - a : n;
            for (uint64_t b = 0; b < n; b++)
                out[b] = to_new[gnn_view_orig(l->view, src, row.indices[a + b])];
            s->len += n * sizeof *out;
        }
    }
    return to < j->end ? GNN_OK : gnn_sink_flush(s, e);
}

static int write_edge_ids(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                          struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    const struct gnn_view *v = l->view;
    for (uint64_t i = j->at; i < to; i++) {
        uint32_t orig = l->order[j->walk][i];
        struct gnn_view_row row = gnn_view_row(v, j->type, orig);
        for (uint64_t a = 0; a < row.n; a++) {
            uint64_t id = gnn_view_edge_id(v, j->type, orig, &row, a);
            if (gnn_sink_put(&j->sink, &id, sizeof id, e))
                return e->code;
        }
    }
    return to < j->end ? GNN_OK : gnn_sink_flush(&j->sink, e);
}

static int write_edge_rows(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                           struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    for (uint64_t i = j->at; i < to; i++) {
        struct gnn_view_row row = gnn_view_row(l->view, j->type, l->order[j->walk][i]);
        const char *from = j->from[row.part];
        if (gnn_sink_put(&j->sink, from + row.first * j->row, row.n * j->row, e))
            return e->code;
    }
    return to < j->end ? GNN_OK : gnn_sink_flush(&j->sink, e);
}

static int declare_rows(struct gnn_rewrite_part *p, uint32_t et, const char *key,
                        const struct gnn_field *f, struct gnn_err *e)
{
    const struct gnn_etype *t = &p->r->l->view->store->meta.schema.etype[et];
    uint64_t shape[2] = {p->edges[et], f->width};
    struct gnn_rewrite_job j = {
        .write = write_edge_rows, .type = et, .walk = t->dst, .field = f->name};
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

int gnn_rewrite_edges(struct gnn_rewrite_part *p, uint32_t et, struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    const struct gnn_schema *sc = &l->view->store->meta.schema;
    const struct gnn_etype *t = &sc->etype[et];
    uint64_t rows = l->book[t->dst][p->part + 1] - l->book[t->dst][p->part] + 1, n = p->edges[et];
    char key[GNN_ETYPE_KEY_ROOM];
    struct gnn_rewrite_job ptr = {.write = write_indptr, .type = et, .walk = t->dst},
                           ind = {.write = write_indices, .type = et, .walk = t->dst},
                           ids = {.write = write_edge_ids, .type = et, .walk = t->dst};

    gnn_etype_key(sc, et, key, sizeof key);
    if (gnn_rewrite_declare(p, ptr, GNN_U64, 1, &rows, e, "edge/%s/indptr", key) ||
        gnn_rewrite_declare(p, ind, GNN_U32, 1, &n, e, "edge/%s/indices", key))
        return e->code;
    if (p->r->named && !l->no_edge_ids &&
        gnn_rewrite_declare(p, ids, GNN_U64, 1, &n, e, "edge/%s/id", key))
        return e->code;
    for (uint32_t f = 0; f < t->nfields; f++)
        if (declare_rows(p, et, key, &t->field[f], e))
            return e->code;
    return GNN_OK;
}
