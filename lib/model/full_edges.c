/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a partition's edges, in the order of the blocks' edges. */
#include "kernels/message.h"
#include "lib/model/full_impl.h"

const float *gnn_full_edge_field(struct gnn_full *f, struct full_part *p, uint32_t r,
                                 const char *field, uint32_t width, struct gnn_buf *to,
                                 struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    const char *path = gnn_store_part_path(f->s, p->at);
    gnn_etype_key(&f->s->meta.schema, r, key, sizeof key);
    const struct gnn_tensor *x = gnn_store_findf(f->s, p->at, "edge/%s/%s", key, field);
    if (!x || (x->ndim == 2 ? x->shape[1] : 1) != width) {
        gnn_fail(e, GNN_E_INPUT, "%s: edge field %s is not %u wide, or missing", path, field,
                 width);
        return NULL;
    }
    if (x->dtype == GNN_F32 && x->data)
        return x->data;
    const uint64_t n = x->shape[0] * width;
    if (gnn_buf_fit(to, n + 1, sizeof(float), "fields of edges", e))
        return NULL;
    if (n && !gnn_tensor_floats(x, n, to->data)) {
        gnn_fail(e, GNN_E_INPUT, "%s: edge field %s is %s, not f32, f16 or bf16", path, field,
                 gnn_dtype_name(x->dtype));
        return NULL;
    }
    return to->data;
}

/* Rows of a field in the order of the block's edges. */
static int sort_field(const struct full_block *b, const float *x, uint32_t width,
                      struct full_table *to, struct gnn_err *e)
{
    const uint64_t *order = b->order.data;
    if (gnn_full_table_make(to, (uint64_t)b->edges * width, sizeof(float), "fields of edges", e))
        return e->code;
    float *y = to->data;
    for (uint64_t i = 0; i < b->edges; i++)
        for (uint32_t j = 0; j < width; j++)
            y[i * width + j] = x[order[i] * width + j];
    return 0;
}

/* Original ids of the part's edges: those of the store's tensor, or positions. */
static int sort_ids(struct gnn_full *f, struct full_part *p, uint32_t r, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(&f->s->meta.schema, r, key, sizeof key);
    const struct gnn_tensor *id = gnn_store_findf(f->s, p->at, "edge/%s/id", key);
    if (!id && f->k > 1)
        return gnn_fail(
            e, GNN_E_USAGE,
            "%s: was partitioned without edge ids (edge/%s/id), which attention dropout "
            "requires",
            f->s->path, key);
    for (uint32_t q = 0; q < f->k; q++) {
        struct full_block *b = &p->rel[r].block[q];
        const uint64_t *order = b->order.data;
        if (gnn_full_table_make(&b->id, b->edges, sizeof(uint64_t), "edge ids", e))
            return e->code;
        for (uint64_t i = 0; i < b->edges; i++)
            ((uint64_t *)b->id.data)[i] = id ? ((const uint64_t *)id->data)[order[i]] : order[i];
    }
    return 0;
}

/* The means of the features of the edges into a row, which its self-loop has; that is not among
 * them: sources elsewhere have no number of the part's own rows. */
static int average_features(struct gnn_full *f, struct full_part *p, uint32_t r,
                            const struct gnn_store_adj *a, const float *x, struct gnn_err *e)
{
    const struct gnn_model_etype *t = &f->m->c.etype[r];
    const uint64_t first = f->s->book[t->src][p->at];
    struct full_table *mean = &p->rel[r].mean;
    uint32_t *index = NULL;
    if (t->src != t->dst ||
        gnn_full_table_make(mean, a->rows * t->features, sizeof(float), "means", e))
        return e->code;
    if (!(index = gnn_alloc(a->edges, sizeof *index, "means", e)))
        return e->code;
    for (uint64_t i = 0; i < a->edges; i++)
        index[i] = a->indices[i] - first < a->rows ? (uint32_t)(a->indices[i] - first) : UINT32_MAX;
    const struct gnn_csr whole = {.n = (uint32_t)a->rows, .indptr64 = a->indptr, .indices = index};
    gnn_edge_means(&whole, 1, 0, whole.n, x, 0, t->features, mean->data);
    gnn_free(index);
    return 0;
}

int gnn_full_edges_read(struct gnn_full *f, struct full_part *p, uint32_t r,
                        const struct gnn_store_adj *a, struct gnn_err *e)
{
    const struct gnn_model_config *c = &f->m->c;
    const uint32_t width = c->etype[r].features;
    struct gnn_buf weights = {0}, features = {0};
    const float *w = NULL, *x = NULL;
    if (c->edge_weight)
        w = gnn_full_edge_field(f, p, r, c->edge_weight, 1, &weights, e);
    if (!e->code && width && (x = gnn_full_edge_field(f, p, r, "x", width, &features, e)))
        (void)!average_features(f, p, r, a, x, e);
    if (!e->code && gnn_layer_needs_ids(c))
        (void)!sort_ids(f, p, r, e);
    for (uint32_t q = 0; !e->code && q < f->k; q++) {
        struct full_block *b = &p->rel[r].block[q];
        if ((w && sort_field(b, w, 1, &b->value, e)) ||
            (x && sort_field(b, x, width, &b->feature, e)))
            break;
        gnn_buf_release(&b->order);
    }
    gnn_buf_release(&weights);
    gnn_buf_release(&features);
    return e->code;
}
