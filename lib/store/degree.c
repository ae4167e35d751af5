/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/degree.h"

#include <float.h>

#include "lib/base/mem.h"
#include "lib/data/tensors.h"

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
        degree[i] = (uint32_t)d;
    }
    return wrong;
}

int gnn_store_part_degrees(struct gnn_store *s, uint32_t part, uint32_t etype, uint32_t *degree,
                           struct gnn_err *e)
{
    const uint32_t t = s->meta.schema.etype[etype].dst;
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(&s->meta.schema, etype, key, sizeof(key));
    const struct gnn_tensor *ptr = gnn_store_findf(s, part, "edge/%s/indptr", key),
                            *idx = gnn_store_findf(s, part, "edge/%s/indices", key);
    if (ptr && idx &&
        !count_part(ptr->data, idx->data, idx->shape[0], s->book[t][part],
                    gnn_store_owned(s, part, t), degree))
        return 0;
    return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'edge/%s/indptr' is damaged",
                    gnn_store_part_path(s, part), key);
}

int gnn_store_degrees(struct gnn_store *s, uint32_t etype, uint32_t **degree, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const uint32_t t = c->etype[etype].dst;
    *degree = gnn_alloc_zero(c->ntype[t].count, sizeof(**degree), "degrees", e);
    if (!*degree)
        return e->code;
    for (uint32_t p = s->from; p < s->to; p++)
        if (gnn_store_part_degrees(s, p, etype, *degree + s->book[t][p], e)) {
            gnn_free(*degree);
            *degree = NULL;
            return e->code;
        }
    return 0;
}

/* A part's adjacency with weights, as f32. */
struct weighted {
    const uint64_t *ptr;
    const uint32_t *idx;
    const float *weight;
    uint64_t first, n;
};

/* Returns the number of the first edge whose weight is none; UINT64_MAX: all are. */
static uint64_t sum_weights(const struct weighted *a, float *degree, float *loop)
{
    uint64_t wrong = UINT64_MAX;
#pragma omp parallel for schedule(dynamic, 1024) reduction(min : wrong)
    for (uint64_t i = 0; i < a->n; i++) {
        double sum = 0;
        float own = 1;
        for (uint64_t k = a->ptr[i]; k < a->ptr[i + 1]; k++) {
            const float w = a->weight[k];
            if (!(w >= 0 && w <= FLT_MAX) && k < wrong)
                wrong = k;
            if (a->idx[k] == a->first + i)
                own = w;
            else
                sum += (double)w;
        }
        degree[i] = (float)(sum + (double)own);
        loop[i] = own;
    }
    return wrong;
}

/* The part's weights, widened into `buffer` if they are not f32; NULL: out of memory, or none. */
static const float *widen_weights(const struct gnn_tensor *x, uint64_t edges,
                                  struct gnn_buf *buffer, struct gnn_err *e)
{
    if (x->dtype == GNN_F32)
        return x->data;
    if (gnn_buf_fit(buffer, edges, sizeof(float), "edge weights", e))
        return NULL;
    return gnn_tensor_floats(x, edges, buffer->data) ? buffer->data : NULL;
}

static int sum_part(struct gnn_store *s, uint32_t p, uint32_t etype, const char *weight,
                    float *degree, float *loop, struct gnn_buf *buffer, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    const uint32_t t = s->meta.schema.etype[etype].dst;
    gnn_etype_key(&s->meta.schema, etype, key, sizeof key);
    const struct gnn_tensor *ptr = gnn_store_findf(s, p, "edge/%s/indptr", key),
                            *idx = gnn_store_findf(s, p, "edge/%s/indices", key),
                            *w = gnn_store_findf(s, p, "edge/%s/%s", key, weight);
    if (!ptr || !idx || !w || w->shape[0] != idx->shape[0] || (w->ndim == 2 && w->shape[1] != 1))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: tensor 'edge/%s/%s' is missing, or not one number for each edge",
                        gnn_store_part_path(s, p), key, weight);
    const uint64_t edges = idx->shape[0];
    const float *value = widen_weights(w, edges, buffer, e);
    if (!value)
        return e->code ? e->code
                       : gnn_fail(e, GNN_E_INPUT,
                                  "%s: tensor 'edge/%s/%s' is %s: a weight is f32, f16 or bf16",
                                  gnn_store_part_path(s, p), key, weight, gnn_dtype_name(w->dtype));
    const struct weighted a = {ptr->data, idx->data, value, s->book[t][p],
                               gnn_store_owned(s, p, t)};
    const uint64_t wrong = sum_weights(&a, degree, loop);
    if (wrong == UINT64_MAX)
        return 0;
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: 'edge/%s/%s' is %g at edge %llu: weights of neighbours are finite numbers "
                    ">= 0",
                    gnn_store_part_path(s, p), key, weight, (double)value[wrong],
                    (unsigned long long)wrong);
}

int gnn_store_part_weights(struct gnn_store *s, uint32_t part, uint32_t etype, const char *weight,
                           float *degree, float *loop, struct gnn_err *e)
{
    struct gnn_buf buffer = {0};
    const int rc = sum_part(s, part, etype, weight, degree, loop, &buffer, e);
    gnn_buf_release(&buffer);
    return rc;
}

int gnn_store_weights(struct gnn_store *s, uint32_t etype, const char *weight, float **degree,
                      float **loop, struct gnn_err *e)
{
    uint32_t *count;
    struct gnn_buf buffer = {0};
    *degree = *loop = NULL;
    if (gnn_store_degrees(s, etype, &count, e)) /* checks the adjacency */
        return e->code;
    gnn_free(count);
    const uint32_t t = s->meta.schema.etype[etype].dst;
    const uint64_t n = s->meta.schema.ntype[t].count;
    *degree = gnn_alloc_zero(n, sizeof **degree, "degrees", e);
    *loop = gnn_alloc_zero(n, sizeof **loop, "degrees", e);
    for (uint32_t p = s->from; !e->code && p < s->to; p++)
        (void)!sum_part(s, p, etype, weight, *degree + s->book[t][p], *loop + s->book[t][p],
                        &buffer, e);
    gnn_buf_release(&buffer);
    if (e->code) {
        gnn_free(*degree);
        gnn_free(*loop);
        *degree = *loop = NULL;
    }
    return e->code;
}
