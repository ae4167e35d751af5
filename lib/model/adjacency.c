/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/adjacency.h"

int gnn_adj_open(const struct gnn_ops *o, struct gnn_adj *a, bool back, struct gnn_err *e)
{
    a->numbered = a->numbered || a->value;
    const bool row = a->norm != GNN_ADJ_SUM, diag = a->norm == GNN_ADJ_SYMMETRIC;
    if ((row && o->fit(o, &a->row, a->ndst, sizeof(float), "row factors", e)) ||
        (diag && o->fit(o, &a->diag, a->ndst, sizeof(float), "diagonal", e)) ||
        (back &&
         (o->fit(o, &a->tptr, (uint64_t)a->nsrc + 1, sizeof(uint32_t), "transposed block", e) ||
          o->fit(o, &a->tidx, a->edges, sizeof(uint32_t), "transposed block", e) ||
          (a->numbered &&
           o->fit(o, &a->tedge, a->edges, sizeof(uint32_t), "transposed block", e)))))
        return e->code;
    return 0;
}

void gnn_adj_release(const struct gnn_ops *o, struct gnn_adj *a)
{
    o->release(o, &a->row);
    o->release(o, &a->diag);
    o->release(o, &a->tptr);
    o->release(o, &a->tidx);
    o->release(o, &a->tedge);
}

struct gnn_csr gnn_adj_segment(const struct gnn_adj *a)
{
    return (struct gnn_csr){.row = a->row.data,
                            .col = a->node,
                            .diag = a->diag.data,
                            .ndiag = a->diag.data ? a->ndst : 0};
}

struct gnn_csr gnn_adj_transposed(const struct gnn_adj *a)
{
    struct gnn_csr t = gnn_adj_segment(a);
    t.n = a->nsrc;
    t.indptr = a->tptr.data;
    t.indices = a->tidx.data;
    t.value = a->value;
    t.edge = a->numbered ? a->tedge.data : NULL;
    t.row = a->node;
    t.col = a->row.data;
    return t;
}

void gnn_adj_normalise(const struct gnn_ops *o, struct gnn_adj *a, uint32_t from, uint32_t to)
{
    if (a->norm == GNN_ADJ_MEAN)
        o->mean_factors(o, a->seg, a->nseg, from, to, a->row.data);
    if (a->norm == GNN_ADJ_SYMMETRIC && a->loop) /* edges are weighted, also where there are none */
        o->weight_factors(o, a->seg, a->nseg, from, to, a->node, a->degree, a->loop, a->row.data,
                          a->diag.data);
    else if (a->norm == GNN_ADJ_SYMMETRIC)
        o->gcn_factors(o, a->seg, a->nseg, from, to, a->node, a->row.data, a->diag.data);
}

void gnn_adj_transpose(const struct gnn_ops *o, struct gnn_adj *a)
{
    o->transpose(o, a->seg, a->nseg, a->nsrc, (uint32_t)a->edges, a->tptr.data, a->tidx.data,
                 a->numbered ? a->tedge.data : NULL);
}

void gnn_adj_tell(const struct gnn_ops *o, const struct gnn_adj *a, struct gnn_block_shape least)
{
    const struct gnn_block_shape back = {
        .to = a->nsrc, .edges = least.edges, .rows = least.sources, .sources = least.rows};
    o->shape(o, a->seg, &least);
    if (a->back)
        o->shape(o, a->back, &back);
    if (a->parts)
        o->shape(o, a->parts->seg, &least);
}

void gnn_adj_edges_of(const struct gnn_ops *o, const struct gnn_adj *a, uint32_t from, uint32_t to,
                      uint32_t *first, uint32_t *n)
{
    uint64_t at = 0, begin = 0, end = 0;
    *first = 0;
    *n = (uint32_t)a->edges;
    if (o->async)
        return;
    for (uint32_t i = 0; i < a->nseg; i++) {
        const struct gnn_csr *k = &a->seg[i];
        if (!k->n)
            continue;
        const uint32_t lo = from < k->first          ? 0
                            : from - k->first < k->n ? from - k->first
                                                     : k->n,
                       hi = to < k->first          ? 0
                            : to - k->first < k->n ? to - k->first
                                                   : k->n;
        const uint64_t base = gnn_csr_offset(k, 0);
        if (lo < hi && begin == end)
            begin = at + gnn_csr_offset(k, lo) - base;
        if (lo < hi)
            end = at + gnn_csr_offset(k, hi) - base;
        at += gnn_csr_offset(k, k->n) - base;
    }
    *first = (uint32_t)begin;
    *n = (uint32_t)(end - begin);
}

uint64_t gnn_adj_most_edges(const struct gnn_adj *a)
{
    uint64_t most = a->parts ? 0 : a->edges;
    for (uint32_t k = 0; a->parts && k < GNN_ADJ_PARTS; k++) {
        const uint64_t n = a->parts->edge[k + 1] - a->parts->edge[k];
        most = n > most ? n : most;
    }
    return most;
}

bool gnn_adj_next_part(const struct gnn_adj *a, uint32_t *k, struct gnn_adj_part *p)
{
    const struct gnn_adj_parts *x = a->parts;
    const uint32_t n = x ? GNN_ADJ_PARTS : 1;
    while (x && *k + 1 < n && x->row[*k] == x->row[*k + 1])
        ++*k;
    if (*k >= n)
        return false;
    *p = (struct gnn_adj_part){.to = a->nsrc, .last = *k + 1 == n, .seg = a->seg, .nseg = a->nseg};
    if (x) {
        p->from = x->row[*k], p->to = x->row[*k + 1];
        p->edge0 = x->edge[*k], p->edge1 = x->edge[*k + 1];
        p->seg = x->seg, p->nseg = 1;
    }
    ++*k;
    return true;
}

void gnn_adj_cut(struct gnn_adj_parts *p, const uint32_t *tptr, uint32_t n, uint32_t step)
{
    uint32_t row = 0;
    for (uint32_t k = 0; k <= GNN_ADJ_PARTS; k++) {
        const uint64_t goal = (uint64_t)tptr[n] * k / GNN_ADJ_PARTS;
        while (row < n && tptr[row] < goal)
            row++;
        const uint32_t at = k < GNN_ADJ_PARTS ? row / step * step : n;
        p->row[k] = at;
        p->edge[k] = tptr[at];
    }
}
