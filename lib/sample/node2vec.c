/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of node2vec (Grover, Leskovec, KDD 2016): from node v, where the walk came from node t, to
 * x in proportion to w(x, v) times 1/p if x is t, 1 if x has an edge to t, 1/q otherwise. Exact, by
 * rejection: candidates are picked as in any walk, and taken with that factor over the largest of
 * the three. Most draws decide without a look at edges. */
#include <math.h>
#include <string.h>

#include "kernels/owner.h"
#include "lib/sample/sample_impl.h"

struct node2vec gnn_node2vec_of(double p, double q)
{
    const double most = fmax(1, fmax(1 / p, 1 / q)), unit = ldexp(1, 32) / most;
    return (struct node2vec){(uint64_t)ceil(unit / p), (uint64_t)ceil(unit),
                             (uint64_t)ceil(unit / q)};
}

enum node2vec_verdict gnn_node2vec_judge(const struct node2vec *v, uint32_t before,
                                         uint32_t candidate, uint32_t draw)
{
    if (candidate == before)
        return draw < v->back ? NODE2VEC_YES : NODE2VEC_NO;
    const bool near = draw < v->near, far = draw < v->far;
    return near && far ? NODE2VEC_YES
           : near      ? NODE2VEC_IF_EDGE
           : far       ? NODE2VEC_IF_NO_EDGE
                       : NODE2VEC_NO;
}

/* ---- edges ---- */

static bool rows_ascend(const struct gnn_sample_part *a)
{
    for (uint64_t v = 0; v < a->count; v++)
        for (uint64_t i = a->indptr[v] + 1; i < a->indptr[v + 1]; i++)
            if (a->indices[i] < a->indices[i - 1])
                return false;
    return true;
}

static int check_rows(const struct sampler *s, uint32_t et, uint32_t p, struct gnn_err *e)
{
    const struct gnn_sample_part *a = &s->graph[et].part[p];
    for (uint64_t v = 0; v < a->count; v++)
        if (a->indptr[v] > a->indptr[v + 1] || a->indptr[v + 1] > a->nedges) {
            const struct gnn_sample_place at = {.node = a->first + v, .part = p};
            return gnn_sample_damaged(s, et, GNN_SAMPLE_INDPTR, &at, e);
        }
    return 0;
}

static int make_sorted(struct gnn_store *store, struct gnn_derived *x, void *arg, struct gnn_err *e)
{
    (void)store;
    const struct gnn_sample_part *a = arg;
    if (rows_ascend(a))
        return 0;
    uint32_t *v = x->array->data = gnn_alloc(a->nedges, sizeof *v, "rows by source", e);
    if (!v)
        return e->code;
    memcpy(v, a->indices, a->nedges * sizeof *v);
    for (uint64_t i = 0; i < a->count; i++)
        gnn_u32_sort(v + a->indptr[i], a->indptr[i + 1] - a->indptr[i]);
    return 0;
}

int gnn_sample_sort_rows(struct sampler *s, uint32_t et, struct gnn_err *e)
{
    const struct gnn_sample_graph *g = &s->graph[et];
    s->sorted = gnn_alloc_zero(g->nparts, sizeof(uint32_t *), "rows by source", e);
    for (uint32_t p = 0; s->sorted && p < g->nparts; p++) {
        struct gnn_sample_part a = g->part[p];
        struct gnn_derived d = {
            .what = "sources",
            .part = p,
            .etype = et,
            .narrays = 1,
            .array = {{.name = "sorted", .dtype = GNN_U32, .optional = true, .n = a.nedges}}};
        if (gnn_store_has(s->store, p) &&
            (check_rows(s, et, p, e) || gnn_derived_get(s->store, &d, make_sorted, &a, e)))
            return e->code;
        s->sorted[p] = d.array->data;
    }
    return e->code;
}

/* A search in the making, of src among n ascending ids. */
struct search {
    const uint32_t *row;
    uint64_t n;
};

void gnn_sample_has_edges(const struct sampler *s, uint32_t et, const uint32_t *dst,
                          const uint32_t *src, uint32_t n, uint8_t *has)
{
    enum { GROUP = 32 };
    const struct gnn_sample_graph *g = &s->graph[et];
    struct search of[GROUP];
    for (uint32_t from = 0; from < n; from += GROUP) {
        const uint32_t m = n - from < GROUP ? n - from : GROUP;
        for (uint32_t i = 0; i < m; i++) {
            const uint32_t v = dst[from + i],
                           p = gnn_owner_find(&g->part->first, sizeof *g->part, g->nparts, v);
            const struct gnn_sample_part *a = &g->part[p];
            const uint64_t *ptr = &a->indptr[v - a->first];
            of[i] = (struct search){(s->sorted[p] ? s->sorted[p] : a->indices) + ptr[0],
                                    ptr[1] - ptr[0]};
            __builtin_prefetch(of[i].row + of[i].n / 2);
        }
        /* All halve their rows together, so that the lines of one arrive while others look. */
        for (bool more = true; more;) {
            more = false;
            for (uint32_t i = 0; i < m; i++) {
                struct search *x = &of[i];
                if (x->n <= 1)
                    continue;
                const uint64_t half = x->n / 2;
                x->row = x->row[half] <= src[from + i] ? x->row + half : x->row;
                x->n -= half;
                __builtin_prefetch(x->row + x->n / 2);
                more = true;
            }
        }
        for (uint32_t i = 0; i < m; i++)
            has[from + i] = of[i].n && *of[i].row == src[from + i];
    }
}
