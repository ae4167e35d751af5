/* SPDX-License-Identifier: Apache-2.0 */
/* The adjacency view: the edges of one relation, as a layer sees them. It lists segments, each with
 * a range of rows and its CSC block: a batch's blocks, or a range of a graph. Their ranges are
 * disjoint and ascending, so each row lies in one segment. Where the neighbours of a row come in
 * several goes, each is a view of its own, and results are added up (`acc`). Layers reach
 * neighbours through this view only, in the forward and the backward pass. */
#ifndef GNN_LIB_MODEL_ADJACENCY_H
#define GNN_LIB_MODEL_ADJACENCY_H

#include "lib/ops/ops.h"

/* The norm by which a row's neighbours are weighted, which a layer declares: none; 1/degree; or
 * D^-1/2 (A + I) D^-1/2, where each node is a neighbour of itself (kernels/factors.h). */
enum gnn_adj_norm { GNN_ADJ_SUM, GNN_ADJ_MEAN, GNN_ADJ_SYMMETRIC };

/* Whether a norm needs the nodes' degrees in the whole graph, and one node type. */
static inline bool gnn_adj_needs_degrees(enum gnn_adj_norm norm)
{
    return norm == GNN_ADJ_SYMMETRIC;
}

/* Sources in parts of about as many edges each, so that a backward pass keeps data for the edges of
 * one part only. Edges are numbered in the order of the transposed block, which has no
 * `edge`: part k has sources row[k] .. row[k+1]-1, and edges edge[k] .. edge[k+1]-1. The order of
 * sums is the same as in one part, as the sources of each row ascend. */
enum { GNN_ADJ_PARTS = 8 };
struct gnn_adj_parts {
    uint32_t row[GNN_ADJ_PARTS + 1], edge[GNN_ADJ_PARTS + 1];
    const struct gnn_csr *seg; /* the block with these numbers */
};
/* One part of the sources, or all of them (then edge1 is 0). */
struct gnn_adj_part {
    uint32_t from, to, edge0, edge1;
    bool last;
    const struct gnn_csr *seg;
    uint32_t nseg;
};

/* Zeroed object = empty. All pointers are to the operations' memory. */
struct gnn_adj {
    enum gnn_adj_norm norm;
    const float *node; /* gnn_gcn_degrees or, with weights, gnn_weight_degrees; NULL: not needed */
    const float *loop; /* with weights: those of nodes' loops (kernels/factors.h) */
    const uint32_t *degree; /* with weights: numbers of neighbours (kernels/factors.h) */
    uint32_t ndst, nsrc;    /* rows of results; rows that are summed up */
    uint64_t edges;
    bool at_most;    /* `edges` is an upper bound: only the device that has them knows the number */
    uint32_t number; /* number of the first edge, where several views of the same rows follow */
    /* Data of edges, by number over one segment after the other; NULL: they have none. */
    const float *value;   /* [edges] weights */
    const float *feature; /* (edges, features) */
    uint32_t features;
    /* (ndst, features) means of the features of each row's edges; NULL: not known yet */
    const float *loop_feature;
    const uint64_t *id;        /* [edges] original ids; while training, where a layer needs them */
    const uint32_t *node_id;   /* [ndst] original ids of destinations, likewise */
    const uint16_t *half;      /* or NULL: the rows that are summed up, of bf16 */
    bool numbered;             /* the transposed block has the numbers of edges */
    const struct gnn_csr *seg; /* [nseg], at least one */
    uint32_t nseg;
    const struct gnn_csr *back;        /* the transposed block, or NULL */
    const struct gnn_adj_parts *parts; /* of its sources; NULL: these are worked on all together */
    struct gnn_buf row, diag, tptr, tidx, tedge;
};

/* Allocates the factors of ndst rows and, with `back`, the transposed block. The caller has set the
 * members before seg; edges with values are numbered in any case. */
int gnn_adj_open(const struct gnn_ops *o, struct gnn_adj *a, bool back,
                 struct gnn_err *e) GNN_MUST_USE;
void gnn_adj_release(const struct gnn_ops *o, struct gnn_adj *a);
/* After gnn_adj_open: _segment: a segment to which rows, offsets, sources and values are to be
 * added; _transposed: the transposed block. The caller brings them to the operations' memory, and
 * sets seg and back. */
struct gnn_csr gnn_adj_segment(const struct gnn_adj *a);
struct gnn_csr gnn_adj_transposed(const struct gnn_adj *a);
/* _normalise computes the factors of rows [from, to) of the segments, _transpose the transposed
 * block. */
void gnn_adj_normalise(const struct gnn_ops *o, struct gnn_adj *a, uint32_t from, uint32_t to);
void gnn_adj_transpose(const struct gnn_ops *o, struct gnn_adj *a);

/* Passes lower bounds of the segments' sizes to the operations, which derive from them the bytes
 * that they transfer; called when seg and back are set. */
void gnn_adj_tell(const struct gnn_ops *o, const struct gnn_adj *a, struct gnn_block_shape least);

/* Clears rows of (edges, d) that no edge has, before products over all edges. */
static inline void gnn_adj_clear_rest(const struct gnn_ops *o, const struct gnn_adj *a, size_t d,
                                      float *rows)
{
    if (a->at_most)
        o->edge_rest(o, a->seg, a->nseg, a->edges, d, rows);
}

/* The edges that enter rows [from, to): n of them, numbered from *first on. On a device only those
 * of all rows of the view can be told. */
void gnn_adj_edges_of(const struct gnn_ops *o, const struct gnn_adj *a, uint32_t from, uint32_t to,
                      uint32_t *first, uint32_t *n);

/* The number of edges of the largest part. */
uint64_t gnn_adj_most_edges(const struct gnn_adj *a);
/* The next part, from number *k on, which is 0 at first; false: there are no more. The last part is
 * there even if it is empty. */
bool gnn_adj_next_part(const struct gnn_adj *a, uint32_t *k, struct gnn_adj_part *p);
/* Cuts n sources, whose offsets in the transposed block are tptr (n+1), at multiples of `step`. */
void gnn_adj_cut(struct gnn_adj_parts *p, const uint32_t *tptr, uint32_t n, uint32_t step);

/* y, whose row 0 is row `from` of the result, is A x for rows [from, to), or A x is added to it; d
 * columns. Where there are rows of bf16, they are taken in place of x. */
static inline void gnn_adj_aggregate(const struct gnn_ops *o, const struct gnn_adj *a,
                                     uint32_t from, uint32_t to, const float *x, size_t d, float *y,
                                     bool acc)
{
    if (a->half)
        o->aggregate_bf16(o, a->seg, a->nseg, from, to, a->half, d, y, acc);
    else
        o->aggregate(o, a->seg, a->nseg, from, to, x, a->nsrc, d, y, acc);
}
/* As gnn_adj_aggregate, of the largest of each row's neighbours (kernels/message.h), unweighted;
 * edges are numbered from a->number on. */
static inline void gnn_adj_max(const struct gnn_ops *o, const struct gnn_adj *a, uint32_t from,
                               uint32_t to, const float *x, size_t d, float *y, uint32_t *arg,
                               bool acc)
{
    o->max_rows(o, a->seg, a->nseg, from, to, x, a->nsrc, d, y, arg, a->number, acc);
}
static inline void gnn_adj_max_back(const struct gnn_ops *o, const struct gnn_adj *a,
                                    const float *dy, const uint32_t *arg, size_t d, float *dx,
                                    bool acc)
{
    o->max_back(o, a->back, 1, 0, a->nsrc, dy, arg, a->ndst, d, dx, a->number, acc);
}
/* Backward: sets dx, whose row 0 is row `from` of A^T dy, to rows [from, to), or adds these to it;
 * without a range, all rows. */
static inline void gnn_adj_spread_rows(const struct gnn_ops *o, const struct gnn_adj *a,
                                       uint32_t from, uint32_t to, const float *dy, size_t d,
                                       float *dx, bool acc)
{
    o->aggregate(o, a->back, 1, from, to, dy, a->ndst, d, dx, acc);
}
static inline void gnn_adj_spread(const struct gnn_ops *o, const struct gnn_adj *a, const float *dy,
                                  size_t d, float *dx, bool acc)
{
    gnn_adj_spread_rows(o, a, 0, a->nsrc, dy, d, dx, acc);
}

#endif
