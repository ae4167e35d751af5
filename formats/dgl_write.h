/* SPDX-License-Identifier: Apache-2.0 */
/* Files of DGL that are written: dictionaries of tensors, and graphs of one type of nodes and of
 * edges, as the partitioner makes them. They are those that formats/dgl_file.h reads, and DGL 0.6
 * and later. Bytes come in order, and nothing is held in memory. */
#ifndef GNN_FORMATS_DGL_WRITE_H
#define GNN_FORMATS_DGL_WRITE_H

#include "formats/tensor.h"

/* Where bytes go. put returns 0, or what ends all writing and is returned. */
struct gnn_dgl_to {
    int (*put)(void *arg, const void *data, uint64_t n);
    void *arg;
};

/* A tensor: dense, of a type that PyTorch has, which are all but u16, u32 and u64. */
struct gnn_dgl_column {
    const char *name;
    enum gnn_dtype dtype;
    uint32_t ndim;
    uint64_t shape[GNN_NDIM_MAX];
    /* Puts all elements; returns as put does. */
    int (*write)(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to);
    const void *from; /* what `write` knows */
};

/* A graph, of the types that DGL calls _N and _E. */
struct gnn_dgl_homograph {
    uint64_t nodes, edges;
    struct gnn_dgl_column end[2]; /* i64 (edges): sources and destinations, in the order of ids */
    const struct gnn_dgl_column *node, *edge; /* tensors of nodes and edges, nnode and nedge */
    uint64_t nnode, nedge;
};

/* Write a whole file. They return 0, or what a `put` has returned. */
int gnn_dgl_write_tensors(const struct gnn_dgl_to *to, const struct gnn_dgl_column *c, uint64_t n);
int gnn_dgl_write_graph(const struct gnn_dgl_to *to, const struct gnn_dgl_homograph *g);

#endif
