/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the rows of edges by their ids, among the in-edges of a known destination. */
#ifndef GNN_KERNELS_EDGES_H
#define GNN_KERNELS_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/owner.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In-edges of destinations [first, first + count), their rows numbered from `row` on. A
 * destination's edges have consecutive ids, which are their positions if id is NULL. */
struct gnn_edges_part {
    uint64_t first, count, row, nedges;
    const uint64_t *indptr; /* (count+1), not trusted */
    const uint64_t *id;     /* (nedges) or NULL */
};

/* The picked edges of destinations dst[n]: destination i's have the ids id[indptr[i]] ..
 * id[indptr[i+1] - 1]. */
struct gnn_edges {
    const struct gnn_edges_part *part; /* [nparts], ascending by first without gaps from 0 */
    uint32_t nparts, n;
    const uint32_t *dst, *indptr;
    const uint64_t *id;
    uint64_t *row; /* [indptr[n]] out: UINT64_MAX for what is not an edge of its destination */
};

/* A destination's in-edges: positions [from, to) of a part; none if from = to. */
struct gnn_edges_of {
    const struct gnn_edges_part *part;
    uint64_t from, to, base; /* base: the first one's id */
};

static GNN_HD struct gnn_edges_of gnn_edges_of_node(const struct gnn_edges_part *part,
                                                    uint32_t nparts, uint32_t dst)
{
    struct gnn_edges_of r = {part + gnn_owner_find(&part->first, sizeof *part, nparts, dst), 0, 0,
                             0};
    const uint64_t v = dst - r.part->first;
    if (v >= r.part->count)
        return r;
    const uint64_t from = r.part->indptr[v], to = r.part->indptr[v + 1];
    if (from >= to || to > r.part->nedges)
        return r;
    r.from = from;
    r.to = to;
    r.base = r.part->id ? r.part->id[from] : from;
    return r;
}

static GNN_HD uint64_t gnn_edges_row(const struct gnn_edges_of *r, uint64_t id)
{
    const uint64_t at = id - r->base; /* wraps below base, and is then too large */
    if (at >= r->to - r->from || (r->part->id && r->part->id[r->from + at] != id))
        return UINT64_MAX;
    return r->part->row + r->from + at;
}

/* Returns how many are not an edge of their destination. Thread-safe. */
uint64_t gnn_edges_find(const struct gnn_edges *f);

/* gnn_edges_find on a device, which can reach whatever is pointed to, except the struct itself,
 * which is read before the call returns. Asynchronous. */
void gnn_cuda_find_edges(const struct gnn_edges *f, void *stream);

#ifdef __cplusplus
}
#endif

#endif
