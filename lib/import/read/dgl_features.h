/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of a partition of DGL, from those of its parts: features of nodes and edges, with the
 * ends of edges and the part of each node. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_DGL_FEATURES_H
#define GNN_LIB_IMPORT_DGL_FEATURES_H

#include "lib/import/read/array_list.h"
#include "lib/import/read/dgl_origin.h"

struct gnn_dgl_features {
    struct gnn_array_list *l; /* what they are added to */
    const struct gnn_dgl_book *book;
    struct gnn_dgl_origin *nodes, *edges; /* finished; the list takes over their `order` */
};

/* Adds number, features and `part` of each node type. A feature has a row for each node of every
 * part, or GNN_E_INPUT says where not. */
int gnn_dgl_features_nodes(const struct gnn_dgl_features *f, struct gnn_err *e) GNN_MUST_USE;
/* Adds ends and features of each edge type. The list holds src and dst, which are by edge types. */
int gnn_dgl_features_edges(const struct gnn_dgl_features *f, uint32_t *const *src,
                           uint32_t *const *dst, struct gnn_err *e) GNN_MUST_USE;

#endif
