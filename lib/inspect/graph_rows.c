/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of a graph's arrays, in pieces: memory does not grow with the store. */
#include <string.h>

#include "kernels/half.h"
#include "kernels/int8_row.h"
#include "lib/base/mem.h"
#include "lib/inspect/graph_arrays.h"

enum { PIECE = 1 << 20 };

static const struct gnn_graph_array *array_of(const struct gnn_array_out *a)
{
    return a->from;
}

/* ---- pieces ---- */

struct piece {
    const struct gnn_bytes_to *to;
    size_t n;
    char *data; /* [PIECE] */
};

static int begin_pieces(struct piece *p, const struct gnn_bytes_to *to, struct gnn_err *e)
{
    *p = (struct piece){.to = to, .data = gnn_alloc(PIECE, 1, "a piece of an array", e)};
    return p->data ? GNN_OK : GNN_E_NOMEM;
}

static int flush_piece(struct piece *p, struct gnn_err *e)
{
    const size_t n = p->n;
    p->n = 0;
    return n ? p->to->put(p->to->arg, p->data, n, e) : GNN_OK;
}

static int end_pieces(struct piece *p, int rc, struct gnn_err *e)
{
    if (!rc)
        rc = flush_piece(p, e);
    gnn_free(p->data);
    return rc;
}

static int put_i64(struct piece *p, int64_t v, struct gnn_err *e)
{
    if (p->n == PIECE && flush_piece(p, e))
        return e->code;
    memcpy(p->data + p->n, &v, sizeof v);
    p->n += sizeof v;
    return GNN_OK;
}

/* n elements as the array has them: labels of classes are widened, as PyTorch asks for, and bf16,
 * which NumPy does not have. */
static int put_widened(struct piece *p, enum gnn_dtype from, enum gnn_dtype as, const char *data,
                       uint64_t n, struct gnn_err *e)
{
    const size_t size = gnn_dtype_bytes(from), wide = gnn_dtype_bytes(as);
    uint64_t bad;
    while (n) {
        if (PIECE - p->n < wide && flush_piece(p, e))
            return e->code;
        const uint64_t left = (PIECE - p->n) / wide, k = n < left ? n : left;
        if (as == GNN_F32)
            gnn_npy_to_f32(from, data, (void *)(p->data + p->n), k);
        else if (!gnn_npy_to_i64(from, data, (void *)(p->data + p->n), k, &bad))
            return gnn_fail(e, GNN_E_INPUT, "a label is no whole number");
        p->n += k * wide;
        data += k * size;
        n -= k;
    }
    return GNN_OK;
}

/* n elements of type `from`. Large blocks are not copied. */
static int put_block(struct piece *p, enum gnn_dtype from, enum gnn_dtype as, const char *data,
                     uint64_t n, struct gnn_err *e)
{
    const uint64_t bytes = n * gnn_dtype_bytes(from);
    if (from != as)
        return put_widened(p, from, as, data, n, e);
    if (bytes > PIECE - p->n && flush_piece(p, e))
        return e->code;
    if (bytes > PIECE / 4)
        return flush_piece(p, e) ? e->code : p->to->put(p->to->arg, data, bytes, e);
    memcpy(p->data + p->n, data, bytes);
    p->n += bytes;
    return GNN_OK;
}

/* ---- what is written ---- */

int gnn_graph_write_number(const struct gnn_array_out *a, const struct gnn_bytes_to *to,
                           struct gnn_err *e)
{
    return to->put(to->arg, &array_of(a)->number, sizeof(int64_t), e);
}

static int put_row(struct piece *p, const struct gnn_graph_array *g, bool tails, uint64_t dst,
                   struct gnn_err *e)
{
    const struct gnn_view *v = g->view;
    const struct gnn_view_row row = gnn_view_row(v, g->type, dst);
    const uint32_t *orig = v->to_orig[v->store->meta.schema.etype[g->type].src];
    int rc = GNN_OK;
    for (uint64_t j = 0; !rc && j < row.n; j++)
        rc = put_i64(p, tails ? (int64_t)dst : orig ? orig[row.indices[j]] : row.indices[j], e);
    return rc;
}

int gnn_graph_write_ends(const struct gnn_array_out *a, const struct gnn_bytes_to *to,
                         struct gnn_err *e)
{
    const struct gnn_graph_array *g = array_of(a);
    const struct gnn_schema *c = &g->view->store->meta.schema;
    const uint64_t n = c->ntype[c->etype[g->type].dst].count;
    struct piece p;
    int rc = begin_pieces(&p, to, e);
    for (int tails = 0; tails < 2; tails++)
        for (uint64_t dst = 0; !rc && dst < n; dst++)
            rc = put_row(&p, g, tails, dst, e);
    return end_pieces(&p, rc, e);
}

/* Rows [from, from + n) of a field of nodes, as what they stand for. */
static int put_scaled(struct piece *p, const struct gnn_tensor *t, uint64_t from, uint64_t n,
                      uint64_t per, struct gnn_err *e)
{
    const char *row = (const char *)t->data + from * t->shape[1];
    float v[256];
    int rc = GNN_OK;
    for (uint64_t i = from; !rc && i < from + n; i++, row += t->shape[1])
        for (uint64_t c = 0, k; !rc && c < per; c += k) {
            k = per - c < 256 ? per - c : 256;
            gnn_i8_to_f32((const int8_t *)row + c, k, *gnn_int8_scale(row, per), v);
            rc = put_block(p, GNN_F32, GNN_F32, (const char *)v, k, e);
        }
    return rc;
}

/* Where the store has the nodes in their original order: part by part. */
static int put_parts(struct piece *p, const struct gnn_graph_array *g, uint64_t per,
                     struct gnn_err *e)
{
    const struct gnn_store *s = g->view->store;
    const enum gnn_dtype from = g->part[0]->dtype;
    int rc = GNN_OK;
    for (uint32_t k = 0; !rc && k < s->nparts; k++)
        rc = g->part[k]->int8 ? put_scaled(p, g->part[k], 0, g->part[k]->shape[0], per, e)
                              : put_block(p, from, g->out.dtype, g->part[k]->data,
                                          g->part[k]->shape[0] * per, e);
    return rc;
}

/* The rows of a node, or of its in-edges. */
static int put_rows_of(struct piece *p, const struct gnn_graph_array *g, uint64_t node,
                       uint64_t per, struct gnn_err *e)
{
    struct gnn_view_row row = {.n = 1};
    if (g->edges)
        row = gnn_view_row(g->view, g->type, node);
    else
        row.first = gnn_view_locate(g->view, g->type, node, &row.part);
    const struct gnn_tensor *t = g->part[row.part];
    if (t->int8)
        return put_scaled(p, t, row.first, row.n, per, e);
    const char *data = (const char *)t->data + row.first * per * gnn_dtype_bytes(t->dtype);
    return put_block(p, t->dtype, g->out.dtype, data, row.n * per, e);
}

int gnn_graph_write_rows(const struct gnn_array_out *a, const struct gnn_bytes_to *to,
                         struct gnn_err *e)
{
    const struct gnn_graph_array *g = array_of(a);
    const struct gnn_schema *c = &g->view->store->meta.schema;
    const uint32_t t = g->edges ? c->etype[g->type].dst : g->type;
    const uint64_t per = g->field ? gnn_field_columns(g->field) : 1;
    struct piece p;
    int rc = begin_pieces(&p, to, e);
    if (!rc && !g->view->to_store[t])
        rc = put_parts(&p, g, per, e);
    else
        for (uint64_t i = 0; !rc && i < c->ntype[t].count; i++)
            rc = put_rows_of(&p, g, i, per, e);
    return end_pieces(&p, rc, e);
}

/* ---- sets ---- */

int gnn_graph_set_ids(struct gnn_view *v, uint32_t set, uint32_t **ids, struct gnn_err *e)
{
    const struct gnn_split_set *s = &v->store->meta.schema.set[set];
    int rc = gnn_store_split(v->store, set, ids, e);
    for (uint64_t i = 0; !rc && i < s->count; i++)
        (*ids)[i] = gnn_view_orig(v, s->ntype, (*ids)[i]);
    return rc;
}

int gnn_graph_write_ids(const struct gnn_array_out *a, const struct gnn_bytes_to *to,
                        struct gnn_err *e)
{
    const struct gnn_graph_array *g = array_of(a);
    const uint64_t n = g->view->store->meta.schema.set[g->set].count;
    uint32_t *ids = NULL;
    struct piece p;
    int rc = begin_pieces(&p, to, e);
    if (!rc)
        rc = gnn_graph_set_ids(g->view, g->set, &ids, e);
    for (uint64_t i = 0; !rc && i < n; i++)
        rc = put_i64(&p, ids[i], e);
    gnn_free(ids);
    return end_pieces(&p, rc, e);
}

/* Members of sets that ascend, and how many of them are below the node. */
struct masks {
    uint32_t **ids;
    uint64_t *at;
};

static int put_masks(struct piece *p, const struct gnn_graph_array *g, struct masks *m,
                     struct gnn_err *e)
{
    const struct gnn_schema *c = &g->view->store->meta.schema;
    for (uint64_t node = 0; node < c->ntype[g->type].count; node++)
        for (uint32_t k = 0; k < g->nsets; k++) {
            const bool in = m->at[k] < c->set[g->set + k].count && m->ids[k][m->at[k]] == node;
            m->at[k] += in;
            if (p->n == PIECE && flush_piece(p, e))
                return e->code;
            p->data[p->n++] = in;
        }
    return GNN_OK;
}

int gnn_graph_write_masks(const struct gnn_array_out *a, const struct gnn_bytes_to *to,
                          struct gnn_err *e)
{
    const struct gnn_graph_array *g = array_of(a);
    struct masks m = {gnn_alloc_zero(g->nsets, sizeof *m.ids, "sets", e),
                      gnn_alloc_zero(g->nsets, sizeof *m.at, "sets", e)};
    struct piece p;
    int rc = begin_pieces(&p, to, e);
    if (!m.ids || !m.at)
        rc = e->code;
    for (uint32_t k = 0; !rc && k < g->nsets; k++)
        rc = gnn_graph_set_ids(g->view, g->set + k, &m.ids[k], e);
    if (!rc)
        rc = put_masks(&p, g, &m, e);
    for (uint32_t k = 0; m.ids && k < g->nsets; k++)
        gnn_free(m.ids[k]);
    gnn_free(m.ids);
    gnn_free(m.at);
    return end_pieces(&p, rc, e);
}
