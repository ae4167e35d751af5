/* What is known of a relation before the first layer: that its adjacency is sound, and what sums
 * over it are scaled by. */
#include <math.h>
#include <string.h>

#include "lib/store/degree.h"
#include "lib/predict/predict_impl.h"

const struct gnn_tensor *predict_adjacency(const struct gnn_predict *p, uint32_t part, uint32_t r,
                                           const char *what)
{
    char key[GNN_ETYPE_KEY_ROOM];
    return gnn_store_findf(p->s, part, "edge/%s/%s",
                           gnn_etype_key(&p->s->meta.schema, r, key, sizeof(key)), what);
}

static bool sound(const uint64_t *ptr, const uint32_t *idx, uint64_t n, uint64_t edges,
                  uint64_t sources)
{
    uint64_t wrong = ptr[0] != 0 || ptr[n] != edges;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t i = 0; i < n; i++)
        wrong += ptr[i] > ptr[i + 1] || ptr[i + 1] - ptr[i] > UINT32_MAX;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t k = 0; k < edges; k++)
        wrong += idx[k] >= sources;
    return wrong == 0;
}

/* SAGE: 1/degree. */
static void means(const uint64_t *ptr, uint64_t n, float *row)
{
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t d = ptr[i + 1] - ptr[i];
        row[i] = d ? 1.0f / (float)d : 0;
    }
}

/* GCN has exactly one self loop a node; those that the graph has already are counted in the sum. */
static void loops(const uint64_t *ptr, const uint32_t *idx, uint64_t first, uint64_t n,
                  const float *isqrt, float *diag)
{
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t v = first + i;
        uint64_t found = 0;
        for (uint64_t k = ptr[i]; k < ptr[i + 1]; k++)
            found += idx[k] == v;
        diag[v] = (1 - (float)found) * isqrt[v] * isqrt[v];
    }
}

/* row (n) and, for GCN, diag (n), by store id. */
static int host_factors(struct gnn_predict *p, uint32_t r, float *row, float *diag,
                        struct gnn_err *e)
{
    const struct gnn_etype *t = &p->s->meta.schema.etype[r];
    const bool gcn = p->m->c.kind == GNN_GCN;
    uint32_t *degree = NULL;
    if (gcn && gnn_store_degrees(p->s, r, &degree, e))
        return e->code;
    for (uint64_t i = 0; gcn && i < p->s->meta.schema.ntype[t->dst].count; i++)
        row[i] = 1 / sqrtf((float)degree[i] + 1);
    gnn_free(degree);
    for (uint32_t k = 0; k < p->s->nparts; k++) {
        const struct gnn_tensor *ptr = predict_adjacency(p, k, r, "indptr"),
                                *idx = predict_adjacency(p, k, r, "indices");
        const uint64_t first = p->s->book[t->dst][k], n = gnn_store_owned(p->s, k, t->dst);
        if (!ptr || !idx ||
            !sound(ptr->data, idx->data, n, idx->shape[0], p->s->meta.schema.ntype[t->src].count))
            return gnn_fail(e, GNN_E_INPUT, "%s: adjacency %s is damaged",
                            gnn_store_part_path(p->s, k), ptr ? ptr->name : "?");
        if (gcn)
            loops(ptr->data, idx->data, first, n, row, diag);
        else
            means(ptr->data, n, row + first);
    }
    return 0;
}

static int relation(struct gnn_predict *p, uint32_t r, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const uint64_t n = p->s->meta.schema.ntype[p->s->meta.schema.etype[r].dst].count;
    const bool gcn = p->m->c.kind == GNN_GCN;
    struct gnn_predict_rel *q = &p->rel[r];
    float *row = gnn_alloc(n, sizeof *row, "row factors", e);
    float *diag = row && gcn ? gnn_alloc(n, sizeof *diag, "row factors", e) : NULL;
    if (!e->code && !host_factors(p, r, row, diag, e) &&
        !o->fit(o, &q->row, n, sizeof *row, "row factors", e) &&
        (!gcn || !o->fit(o, &q->diag, n, sizeof *diag, "row factors", e))) {
        o->put(o, q->row.data, row, n * sizeof *row);
        if (gcn)
            o->put(o, q->diag.data, diag, n * sizeof *diag);
    }
    gnn_free(row);
    gnn_free(diag);
    return e->code;
}

int predict_relations(struct gnn_predict *p, struct gnn_err *e)
{
    p->rel = gnn_alloc_zero(p->m->c.netypes, sizeof *p->rel, "relations", e);
    for (uint32_t r = 0; !e->code && r < p->m->c.netypes; r++)
        (void)!relation(p, r, e);
    return e->code;
}
