/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a store as a folder that DGL's distributed training loads, as partition_graph of DGL
 * 2.1 writes it: NAME.json with the partition book, and for each part its graph, with copies of
 * nodes and edges one hop away, and its features. Original ids are in two more files, orig_nids.dgl
 * and orig_eids.dgl. NAME is that of the folder.
 *
 * New ids are those of the store: by part, then type. In-edges of a node keep their order. */
#ifndef GNN_LIB_PARTITION_DGL_LAYOUT_H
#define GNN_LIB_PARTITION_DGL_LAYOUT_H

#include "lib/base/temp.h"
#include "lib/store/view.h"

/* The place that `out` means, on the heap, if a folder may be written there: GNN_E_USAGE for a name
 * that cannot be that of a graph, and if something exists there, unless that is such a folder,
 * which holds nothing else, and `force` is to replace it. */
char *gnn_dgl_target(const char *out, bool force, struct gnn_err *e) GNN_MUST_USE;

/* GNN_E_INPUT, naming it, if the graph has something that such a folder cannot name. */
int gnn_dgl_check(const struct gnn_store *s, struct gnn_err *e) GNN_MUST_USE;
/* A list of what the folder does not hold of the store, for a message, to be freed with gnn_free;
 * "": it holds all. NULL on failure. */
char *gnn_dgl_left_out(const struct gnn_view *v, struct gnn_err *e) GNN_MUST_USE;

struct gnn_dgl_layout {
    struct gnn_store *store; /* of the parts, with original ids of edges */
    const char *out, *method;
    bool force;
    int (*done)(void *arg, uint32_t part); /* after each part; non-zero: stop (GNN_E_STOPPED) */
    void *arg;
};
/* Writes the folder, whole or not at all. Memory: 4 bytes for each node, the offsets of parts, and
 * of one part a byte for each node, 8 for each copy of one, and 16 for each edge to one. The edges
 * of all parts are read once for each part. */
int gnn_dgl_layout_write(const struct gnn_dgl_layout *l, struct gnn_err *e) GNN_MUST_USE;

#endif
