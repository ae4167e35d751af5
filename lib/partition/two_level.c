/* SPDX-License-Identifier: Apache-2.0 */
/* METIS in several levels. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/partition/partition.h"

/* The vertices of one part of the first level, and what of the graph is between them. */
struct piece {
    struct gnn_symgraph g;
    uint32_t *vertex; /* (g.n) in the whole graph */
    uint32_t *part;   /* (g.n) */
    int32_t *wgt;
};

/* number: (whole->n) vertex in its piece. */
static int piece_init(struct piece *x, const struct gnn_metis *m, const struct gnn_symgraph *whole,
                      const uint32_t *part, uint32_t which, uint32_t *number, struct gnn_err *e)
{
    uint64_t capacity = 0;
    for (uint32_t v = 0; v < whole->n; v++)
        if (part[v] == which) {
            number[v] = x->g.n++;
            capacity += (uint64_t)(whole->xadj[v + 1] - whole->xadj[v]);
        }
    x->vertex = gnn_alloc(x->g.n, sizeof *x->vertex, "nodes of a partition", e);
    x->part = gnn_alloc(x->g.n, sizeof *x->part, "nodes of a partition", e);
    x->wgt =
        m->wgt ? gnn_alloc((uint64_t)x->g.n * m->ncon, sizeof *x->wgt, "balance weights", e) : NULL;
    x->g.xadj = gnn_alloc((uint64_t)x->g.n + 1, sizeof *x->g.xadj, "METIS's offsets", e);
    x->g.adjncy = gnn_alloc(capacity, sizeof *x->g.adjncy, "METIS's adjacency", e);
    if (!x->vertex || !x->part || (m->wgt && !x->wgt) || !x->g.xadj || !x->g.adjncy)
        return e->code;
    uint32_t i = 0;
    int32_t at = x->g.xadj[0] = 0;
    for (uint32_t v = 0; v < whole->n; v++) {
        if (part[v] != which)
            continue;
        for (int32_t j = whole->xadj[v]; j < whole->xadj[v + 1]; j++)
            if (part[whole->adjncy[j]] == which)
                x->g.adjncy[at++] = (int32_t)number[whole->adjncy[j]];
        if (m->wgt)
            memcpy(x->wgt + (size_t)i * m->ncon, m->wgt + (size_t)v * m->ncon,
                   m->ncon * sizeof *x->wgt);
        x->vertex[i++] = v;
        x->g.xadj[i] = at;
    }
    return GNN_OK;
}

static void piece_release(struct piece *x)
{
    gnn_symgraph_release(&x->g);
    gnn_free(x->vertex);
    gnn_free(x->part);
    gnn_free(x->wgt);
}

int gnn_metis_level(struct gnn_metis *m, const struct gnn_symgraph *g, uint32_t group,
                    uint32_t *part, struct gnn_err *e)
{
    if (group == m->k)
        return gnn_metis_run(m, g, part, e);
    const struct gnn_metis whole = *m;
    uint32_t *number = gnn_alloc(g->n, sizeof *number, "nodes of partitions", e),
             *fine = gnn_alloc(g->n, sizeof *fine, "parts", e);
    int rc = number && fine ? GNN_OK : e->code;
    for (uint32_t p = 0; !rc && p < whole.k / group; p++) {
        struct piece x = {0};
        rc = piece_init(&x, &whole, g, part, p, number, e);
        m->k = group;
        m->wgt = x.wgt;
        if (!rc && x.g.n)
            rc = gnn_metis_run(m, &x.g, x.part, e);
        for (uint32_t i = 0; !rc && i < x.g.n; i++)
            fine[x.vertex[i]] = p * group + x.part[i];
        piece_release(&x);
    }
    m->k = whole.k;
    m->wgt = whole.wgt;
    if (!rc && g->n)
        memcpy(part, fine, g->n * sizeof *part);
    gnn_free(number);
    gnn_free(fine);
    return rc;
}

int gnn_metis_two_level(struct gnn_metis *m, const struct gnn_symgraph *g, uint32_t into,
                        uint32_t *part, struct gnn_err *e)
{
    const uint32_t k = m->k;
    const double imbalance = m->imbalance;
    m->imbalance = 1 + (imbalance - 1) / 2;
    if (m->imbalance < 1.001)
        m->imbalance = 1.001;
    m->k = k / into;
    int rc = gnn_metis_level(m, g, m->k, part, e);
    m->k = k;
    if (!rc)
        rc = gnn_metis_level(m, g, into, part, e);
    m->imbalance = imbalance;
    return rc;
}
