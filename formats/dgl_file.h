/* SPDX-License-Identifier: Apache-2.0 */
/* Files of DGL: graphs as dgl.save_graphs writes them (of DGL 0.5 and later), and dictionaries of
 * tensors, as dgl.data.utils.save_tensors and the partitioner do. Nothing of an array is copied or
 * looked at when a file is opened: arrays point to where they lie. No length is believed: what a
 * file says of itself is checked against its bytes, and nothing may be left between its parts.
 * Memory: at most 8 bytes for each byte of what is read.
 *
 * Facts of the format: https://github.com/dmlc/dgl, src/graph/serialize, unit_graph.cc. */
#ifndef GNN_FORMATS_DGL_FILE_H
#define GNN_FORMATS_DGL_FILE_H

#include "formats/le.h"
#include "formats/strided.h"
#include "formats/text.h"

enum { GNN_DGL_BAD = -1, GNN_DGL_NO_MEMORY = -2 };

/* Tensors with their names, in the order of the file. */
struct gnn_dgl_tensor {
    struct gnn_word name;
    struct gnn_strided values;
};
struct gnn_dgl_tensors {
    struct gnn_dgl_tensor *tensor;
    uint64_t n;
};

/* A file. Zeroed = nothing. */
struct gnn_dgl_file {
    const uint8_t *bytes; /* the caller's */
    uint64_t nbytes;
    bool is_graphs;                 /* or a dictionary of tensors */
    uint64_t graphs;                /* how many there are */
    uint64_t begin, end;            /* of the bytes of all graphs */
    const uint8_t *place;           /* [graphs] u64: where each begins */
    struct gnn_dgl_tensors tensors; /* of the dictionary; of graphs, their labels */
};

/* Whether a file that begins with n bytes is one of DGL. */
bool gnn_dgl_is_graphs(const void *bytes, uint64_t n);
bool gnn_dgl_is_tensors(const void *bytes, uint64_t n);

/* Opens a whole file in memory; the bytes must outlive *f. Returns 0, GNN_DGL_BAD or
 * GNN_DGL_NO_MEMORY with one line in why, which names the byte where what is wrong begins; *f is
 * then empty. Thread-safety: a file that was opened does not change. */
int gnn_dgl_open(struct gnn_dgl_file *f, const void *bytes, uint64_t n, char *why, size_t capacity);
void gnn_dgl_release(struct gnn_dgl_file *f);
/* The tensor of that name; NULL: there is none. */
const struct gnn_strided *gnn_dgl_find(const struct gnn_dgl_tensors *t, const char *name);

/* How the edges of a type are kept. */
enum gnn_dgl_form {
    GNN_DGL_COO = 1, /* source and destination of each */
    GNN_DGL_CSR = 2, /* offsets by source, and destinations */
    GNN_DGL_CSC = 4  /* offsets by destination, and sources */
};

struct gnn_dgl_ntype {
    struct gnn_word name;
    uint64_t count;
    struct gnn_dgl_tensors tensors;
};

/* Value i of an array of ids, which is i32 or i64, has one dimension and is dense. */
static inline int64_t gnn_dgl_id(const struct gnn_strided *s, uint64_t i)
{
    return s->dtype == GNN_I64 ? (int64_t)load_le64(s->data + i * 8)
                               : (int32_t)load_le32(s->data + i * 4);
}

/* Edges. `first` and `second` are i32 or i64, dense, and of the lengths that form, counts of nodes
 * and of edges demand; their values are not checked. */
struct gnn_dgl_etype {
    struct gnn_word name; /* which types may share whose ends differ */
    uint32_t src, dst;    /* node types */
    uint64_t count;
    enum gnn_dgl_form form;
    struct gnn_strided first;  /* [count] sources, or [nodes + 1] offsets */
    struct gnn_strided second; /* [count] */
    struct gnn_strided ids;    /* [count] the id of each; no elements: its place */
    struct gnn_dgl_tensors tensors;
};

/* Zeroed = nothing. */
struct gnn_dgl_graph {
    uint32_t ntypes, etypes;
    struct gnn_dgl_ntype *ntype;
    struct gnn_dgl_etype *etype;
};

/* Reads graph i, below f->graphs; f must outlive it. Of several forms of the same edges, the first
 * is taken that needs no work: COO, CSC, CSR. Returns as gnn_dgl_open does. */
int gnn_dgl_graph_read(struct gnn_dgl_graph *g, const struct gnn_dgl_file *f, uint64_t i, char *why,
                       size_t capacity);
void gnn_dgl_graph_release(struct gnn_dgl_graph *g);

/* Whether `first` and `second` of a type are its sources and destinations in the order of ids, to
 * be used where they lie; else gnn_dgl_edges writes both to src and dst, which have space for count
 * values each. That checks offsets, and that each id is there once; nodes are below 2^63 and may
 * not exist. Returns 0, or GNN_DGL_BAD with one line in why. */
bool gnn_dgl_edges_plain(const struct gnn_dgl_etype *t);
int gnn_dgl_edges(const struct gnn_dgl_etype *t, int64_t *src, int64_t *dst, char *why,
                  size_t capacity);

#endif
