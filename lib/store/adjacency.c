/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/adjacency.h"

static bool is_sound(const struct gnn_store_adj *a, uint64_t sources)
{
    uint64_t wrong = a->indptr[0] != 0 || a->indptr[a->rows] != a->edges;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t i = 0; i < a->rows; i++)
        wrong += a->indptr[i] > a->indptr[i + 1] || a->indptr[i + 1] - a->indptr[i] > UINT32_MAX;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t k = 0; k < a->edges; k++)
        wrong += a->indices[k] >= sources;
    return wrong == 0;
}

int gnn_store_adjacency(struct gnn_store *s, uint32_t part, uint32_t etype, struct gnn_store_adj *a,
                        struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const struct gnn_etype *t = &c->etype[etype];
    char key[GNN_ETYPE_KEY_ROOM];
    gnn_etype_key(c, etype, key, sizeof key);
    const struct gnn_tensor *ptr = gnn_store_findf(s, part, "edge/%s/indptr", key),
                            *idx = gnn_store_findf(s, part, "edge/%s/indices", key);
    if (ptr && idx) {
        *a = (struct gnn_store_adj){ptr->data, idx->data, gnn_store_owned(s, part, t->dst),
                                    idx->shape[0]};
        if (is_sound(a, c->ntype[t->src].count))
            return 0;
    }
    return gnn_fail(e, GNN_E_INPUT, "%s: adjacency %s is damaged", gnn_store_part_path(s, part),
                    ptr ? ptr->name : key);
}
