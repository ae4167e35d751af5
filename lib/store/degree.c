/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/degree.h"

#include "lib/base/mem.h"

/* Returns the number of damaged rows. */
static uint64_t count_part(const uint64_t *ptr, const uint32_t *idx, uint64_t edges, uint64_t first,
                           uint64_t n, uint32_t *degree)
{
    uint64_t wrong = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : wrong)
    for (uint64_t i = 0; i < n; i++) {
        uint64_t d = 0;
        if (ptr[i] > ptr[i + 1] || ptr[i + 1] > edges) {
            wrong++;
            continue;
        }
        for (uint64_t k = ptr[i]; k < ptr[i + 1]; k++)
            d += idx[k] != first + i;
        wrong += d > UINT32_MAX;
        degree[first + i] = (uint32_t)d;
    }
    return wrong;
}

int gnn_store_degrees(struct gnn_store *s, uint32_t etype, uint32_t **degree, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const uint32_t t = c->etype[etype].dst;
    char key[GNN_ETYPE_KEY_ROOM];
    gnn_etype_key(c, etype, key, sizeof(key));
    *degree = gnn_alloc_zero(c->ntype[t].count, sizeof(**degree), "degrees", e);
    if (!*degree)
        return e->code;
    for (uint32_t p = s->from; p < s->to; p++) {
        const struct gnn_tensor *ptr = gnn_store_findf(s, p, "edge/%s/indptr", key);
        const struct gnn_tensor *idx = gnn_store_findf(s, p, "edge/%s/indices", key);
        if (!ptr || !idx ||
            count_part(ptr->data, idx->data, idx->shape[0], s->book[t][p], gnn_store_owned(s, p, t),
                       *degree)) {
            gnn_free(*degree);
            *degree = NULL;
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'edge/%s/indptr' is damaged",
                            gnn_store_part_path(s, p), key);
        }
    }
    return 0;
}
