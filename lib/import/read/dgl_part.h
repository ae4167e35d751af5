/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of one part of a partition of DGL: nodes and edges that belong to the part, and copies
 * of those of other parts that these are next to. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_DGL_PART_H
#define GNN_LIB_IMPORT_DGL_PART_H

#include "formats/dgl_file.h"
#include "lib/import/read/array_list.h"
#include "lib/import/read/dgl_book.h"

struct gnn_dgl_part_graph {
    const char *path;
    uint32_t part;
    uint64_t nnodes, nedges; /* with copies */
    /* Ids among those of all types; whether it belongs to the part; the original ids that DGL 1.0
     * and older keep, or no elements. */
    struct gnn_strided nid, eid, own_node, own_edge, orig_node, orig_edge;
    struct gnn_strided end[2]; /* of edges, if asked for: numbers of nodes in this graph */
};

/* Opens the graph of a part. It lives as long as the list, which should be its own. */
int gnn_dgl_part_open(struct gnn_dgl_part_graph *g, struct gnn_array_list *l,
                      const struct gnn_dgl_book *b, uint32_t part, bool ends,
                      struct gnn_err *e) GNN_MUST_USE;

/* Value i of one of the arrays; -1 for negative ones. */
int64_t gnn_dgl_part_value(const struct gnn_strided *s, uint64_t i);
/* The span of an id among those of all types, and its id in its type. GNN_E_INPUT if there is none;
 * what: "node" or "edge". */
int gnn_dgl_part_find(const struct gnn_dgl_part_graph *g, const struct gnn_dgl_ids *ids,
                      int64_t all, const char *what, const struct gnn_dgl_span **span, uint64_t *id,
                      struct gnn_err *e) GNN_MUST_USE;
/* As gnn_dgl_part_find, of what belongs to the part: it is one of its ids. */
int gnn_dgl_part_own(const struct gnn_dgl_part_graph *g, const struct gnn_dgl_ids *ids, int64_t all,
                     const char *what, const struct gnn_dgl_span **span, uint64_t *id,
                     struct gnn_err *e) GNN_MUST_USE;

#endif
