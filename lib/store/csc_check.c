/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/csc_check.h"

/* The first row whose offsets are wrong; a->rows: of none. */
static uint64_t find_bad_row(const struct gnn_store_adj *a)
{
    uint64_t first = a->indptr[0] != 0 ? 0 : a->rows;
#pragma omp parallel for schedule(static) reduction(min : first)
    for (uint64_t i = 0; i < a->rows; i++)
        if ((a->indptr[i] > a->indptr[i + 1] || a->indptr[i + 1] - a->indptr[i] > UINT32_MAX ||
             a->indptr[i + 1] > a->edges) &&
            i < first)
            first = i;
    return first;
}

/* The first edge whose source is none; a->edges: there is none. */
static uint64_t find_bad_edge(const struct gnn_store_adj *a, uint64_t sources)
{
    uint64_t first = a->edges;
#pragma omp parallel for schedule(static) reduction(min : first)
    for (uint64_t k = 0; k < a->edges; k++)
        if (a->indices[k] >= sources && k < first)
            first = k;
    return first;
}

int gnn_store_adjacency(struct gnn_store *s, uint32_t part, uint32_t etype, struct gnn_store_adj *a,
                        struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const struct gnn_etype *t = &c->etype[etype];
    const char *path = gnn_store_part_path(s, part);
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(c, etype, key, sizeof key);
    const struct gnn_tensor *ptr = gnn_store_findf(s, part, "edge/%s/indptr", key),
                            *idx = gnn_store_findf(s, part, "edge/%s/indices", key);
    if (!ptr || !idx)
        return gnn_fail(e, GNN_E_INPUT, "%s: edges '%s' are missing", path, key);
    *a = (struct gnn_store_adj){ptr->data, idx->data, gnn_store_owned(s, part, t->dst),
                                idx->shape[0]};
    const uint64_t row = find_bad_row(a);
    if (row < a->rows || a->indptr[a->rows] != a->edges)
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor '%s' is damaged at row %llu", path, ptr->name,
                        (unsigned long long)row);
    const uint64_t edge = find_bad_edge(a, c->ntype[t->src].count);
    if (edge < a->edges)
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor '%s' is damaged: edge %llu: source %u of %llu",
                        path, idx->name, (unsigned long long)edge, a->indices[edge],
                        (unsigned long long)c->ntype[t->src].count);
    return 0;
}
