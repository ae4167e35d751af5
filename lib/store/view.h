/* SPDX-License-Identifier: Apache-2.0 */
/* A store in its original order: nodes by their ids in the unpartitioned store, whatever the parts
 * are. Vertices number the nodes of all types through: vertex base[t] + i is node i of type t. */
#ifndef GNN_LIB_STORE_VIEW_H
#define GNN_LIB_STORE_VIEW_H

#include "lib/store/store.h"

/* Read-only after _init; thread-safe. */
struct gnn_view {
    struct gnn_store *store;
    uint64_t nvertices;
    uint64_t *base;           /* [nntypes+1] first vertex of each node type */
    uint32_t **to_store;      /* [nntypes] -> original id -> store id; NULL: equal */
    uint32_t **to_orig;       /* [nntypes] -> store id -> original id; NULL: equal */
    struct gnn_view_part *ep; /* [netypes * nparts] */
    /* [netypes] -> original id -> its first in-edge, where parts leave edge ids out; else NULL */
    uint64_t **first;
};
struct gnn_view_part {
    const uint64_t *indptr;
    const uint32_t *indices; /* store ids of the source type */
    const uint64_t *id;      /* NULL: edge_base + position, or not stored (gnn_view_edge_id) */
    uint64_t edge_base;      /* edges of this type in the parts before */
};
/* The in-edges of one node in one part's tensors. */
struct gnn_view_row {
    uint32_t part;
    uint64_t first, n; /* positions in the part's edge tensors */
    const uint32_t *indices;
};

/* Checks what the walks below rely on: offsets monotone and in range, sources in range, original
 * ids a bijection. GNN_E_INPUT names the part and tensor. The store must outlive the view. */
int gnn_view_init(struct gnn_view *v, struct gnn_store *s, struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_view_release(struct gnn_view *v);
static inline uint32_t gnn_view_store_id(const struct gnn_view *v, uint32_t t, uint64_t orig)
{
    return v->to_store[t] ? v->to_store[t][orig] : (uint32_t)orig;
}
static inline uint32_t gnn_view_orig(const struct gnn_view *v, uint32_t t, uint64_t id)
{
    return v->to_orig[t] ? v->to_orig[t][id] : (uint32_t)id;
}
/* Where the store keeps the node with that original id: returns the row in the tensors of *part. */
static inline uint64_t gnn_view_locate(const struct gnn_view *v, uint32_t t, uint64_t orig,
                                       uint32_t *part)
{
    const uint64_t id = gnn_view_store_id(v, t, orig);
    *part = v->store->nparts == 1 ? 0 : gnn_store_owner(v->store, t, id);
    return id - v->store->book[t][*part];
}
/* In-edges of edge type et of the destination with original id `dst`. */
static inline struct gnn_view_row gnn_view_row(const struct gnn_view *v, uint32_t et, uint64_t dst)
{
    const struct gnn_store *s = v->store;
    uint32_t p;
    const uint64_t i = gnn_view_locate(v, s->meta.schema.etype[et].dst, dst, &p);
    const struct gnn_view_part *ep = &v->ep[(size_t)et * s->nparts + p];
    const struct gnn_view_row row = {p, ep->indptr[i], ep->indptr[i + 1] - ep->indptr[i],
                                     ep->indices + ep->indptr[i]};
    return row;
}
/* The id of edge j of a row, that of original id `dst`: its position in the unpartitioned store. */
static inline uint64_t gnn_view_edge_id(const struct gnn_view *v, uint32_t et, uint64_t dst,
                                        const struct gnn_view_row *row, uint64_t j)
{
    const struct gnn_view_part *ep = &v->ep[(size_t)et * v->store->nparts + row->part];
    if (ep->id)
        return ep->id[row->first + j];
    return v->first[et] ? v->first[et][dst] + j : ep->edge_base + row->first + j;
}

#endif
