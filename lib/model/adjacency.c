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
    if (a->norm == GNN_ADJ_SYMMETRIC && a->value)
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
