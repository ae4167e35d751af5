/* Edge tensors and halo of one new part. */
#include <string.h>

#include "lib/partition/rewrite.h"

static void mark(struct gnn_rewrite *r, uint32_t et, uint64_t *bits)
{
    const struct gnn_layout *l = r->l;
    const struct gnn_etype *t = &l->view->store->meta.schema.etype[et];
    const uint64_t *book = l->book[t->src];
    uint64_t lo = book[r->part], own = book[r->part + 1] - lo;

    for (uint64_t i = l->book[t->dst][r->part]; i < l->book[t->dst][r->part + 1]; i++) {
        struct gnn_view_row row = gnn_view_row(l->view, et, l->order[t->dst][i]);
        r->edges[et] += row.n;
        for (uint64_t j = 0; j < row.n; j++) {
            uint64_t id = l->to_new[t->src][gnn_view_orig(l->view, t->src, row.indices[j])];
            if (id - lo < own)
                continue;
            bits[id / 64] |= (uint64_t)1 << id % 64;
            r->fig->cut++;
        }
    }
}

int gnn_rewrite_scan(struct gnn_rewrite *r, struct gnn_err *e)
{
    const struct gnn_schema *sc = &r->l->view->store->meta.schema;

    for (uint32_t t = 0; t < sc->nntypes; t++) {
        uint64_t words = sc->ntype[t].count / 64 + 1, n = 0;
        if (gnn_buf_reserve(&r->marks, words, sizeof(uint64_t), "marks of nodes", e))
            return e->code;
        uint64_t *bits = r->marks.data;
        memset(bits, 0, words * sizeof *bits);
        for (uint32_t et = 0; et < sc->netypes; et++)
            if (sc->etype[et].src == t) {
                r->edges[et] = 0;
                mark(r, et, bits);
                r->fig->edges += r->edges[et];
            }
        for (uint64_t w = 0; w < words; w++)
            n += (uint64_t)__builtin_popcountll(bits[w]);
        if (gnn_buf_reserve(&r->halo[t], n, sizeof(uint32_t), "halo", e))
            return e->code;
        uint32_t *ids = r->halo[t].data;
        r->nhalo[t] = n;
        r->fig->halo += n;
        for (uint64_t w = 0; w < words; w++)
            for (uint64_t b = bits[w]; b; b &= b - 1)
                *ids++ = (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(b));
    }
    return GNN_OK;
}

static int write_indptr(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    const struct gnn_layout *l = r->l;
    uint32_t d = l->view->store->meta.schema.etype[j->type].dst;
    struct gnn_sink s = {r, k->chunk, j->id, 0};
    uint64_t at = 0;

    if (gnn_sink_put(&s, &at, sizeof at, e))
        return e->code;
    for (uint64_t i = l->book[d][r->part]; i < l->book[d][r->part + 1]; i++) {
        at += gnn_view_row(l->view, j->type, l->order[d][i]).n;
        if (gnn_sink_put(&s, &at, sizeof at, e))
            return e->code;
    }
    return gnn_sink_flush(&s, e);
}

static int write_indices(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    const struct gnn_layout *l = r->l;
    const struct gnn_etype *t = &l->view->store->meta.schema.etype[j->type];
    struct gnn_sink s = {r, k->chunk, j->id, 0};

    for (uint64_t i = l->book[t->dst][r->part]; i < l->book[t->dst][r->part + 1]; i++) {
        struct gnn_view_row row = gnn_view_row(l->view, j->type, l->order[t->dst][i]);
        for (uint64_t a = 0; a < row.n; a++) {
            uint32_t id = l->to_new[t->src][gnn_view_orig(l->view, t->src, row.indices[a])];
            if (gnn_sink_put(&s, &id, sizeof id, e))
                return e->code;
        }
    }
    return gnn_sink_flush(&s, e);
}

static int write_edge_ids(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    const struct gnn_layout *l = r->l;
    const struct gnn_view *v = l->view;
    uint32_t d = v->store->meta.schema.etype[j->type].dst;
    struct gnn_sink s = {r, k->chunk, j->id, 0};

    for (uint64_t i = l->book[d][r->part]; i < l->book[d][r->part + 1]; i++) {
        struct gnn_view_row row = gnn_view_row(v, j->type, l->order[d][i]);
        const struct gnn_view_part *ep = &v->ep[(size_t)j->type * v->store->nparts + row.part];
        for (uint64_t a = row.first; a < row.first + row.n; a++) {
            uint64_t id = ep->id ? ep->id[a] : ep->edge_base + a;
            if (gnn_sink_put(&s, &id, sizeof id, e))
                return e->code;
        }
    }
    return gnn_sink_flush(&s, e);
}

static int write_edge_rows(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    const struct gnn_layout *l = r->l;
    struct gnn_store *st = l->view->store;
    uint32_t d = st->meta.schema.etype[j->type].dst;
    const char **from = (const char **)k->from;
    struct gnn_sink s = {r, k->chunk, j->id, 0};
    char key[GNN_ETYPE_KEY_ROOM];

    gnn_etype_key(&st->meta.schema, j->type, key, sizeof key);
    for (uint32_t p = 0; p < st->nparts; p++) {
        const struct gnn_tensor *t;
        if (gnn_rewrite_find(r, p, &t, e, "edge/%s/%s", key, j->field))
            return e->code;
        from[p] = t->data;
    }
    for (uint64_t i = l->book[d][r->part]; i < l->book[d][r->part + 1]; i++) {
        struct gnn_view_row row = gnn_view_row(l->view, j->type, l->order[d][i]);
        if (gnn_sink_put(&s, from[row.part] + row.first * j->row, row.n * j->row, e))
            return e->code;
    }
    return gnn_sink_flush(&s, e);
}

int gnn_rewrite_edges(struct gnn_rewrite *r, uint32_t et, struct gnn_err *e)
{
    const struct gnn_schema *sc = &r->l->view->store->meta.schema;
    const struct gnn_etype *t = &sc->etype[et];
    uint64_t rows = r->l->book[t->dst][r->part + 1] - r->l->book[t->dst][r->part] + 1;
    uint64_t n = r->edges[et];
    char key[GNN_ETYPE_KEY_ROOM];
    struct gnn_rewrite_job ptr = {.write = write_indptr, .type = et},
                           ind = {.write = write_indices, .type = et},
                           ids = {.write = write_edge_ids, .type = et};

    gnn_etype_key(sc, et, key, sizeof key);
    if (gnn_rewrite_declare(r, ptr, GNN_U64, 1, &rows, e, "edge/%s/indptr", key) ||
        gnn_rewrite_declare(r, ind, GNN_U32, 1, &n, e, "edge/%s/indices", key))
        return e->code;
    if (r->named && gnn_rewrite_declare(r, ids, GNN_U64, 1, &n, e, "edge/%s/id", key))
        return e->code;
    for (uint32_t f = 0; f < t->nfields; f++) {
        const struct gnn_field *fd = &t->field[f];
        uint64_t shape[2] = {n, fd->width};
        struct gnn_rewrite_job j = {.write = write_edge_rows, .type = et, .field = fd->name};
        j.row = gnn_dtype_bytes(fd->dtype) * (size_t)(fd->width ? fd->width : 1);
        if (gnn_rewrite_declare(r, j, fd->dtype, fd->width ? 2 : 1, shape, e, "edge/%s/%s", key,
                                fd->name))
            return e->code;
    }
    return GNN_OK;
}
