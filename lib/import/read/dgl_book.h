/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of a partition of DGL (dgl.distributed.partition_graph, of DGL 0.5 to 2.x): types, which
 * ids each part has, and its files. DGL numbers all nodes anew, first those of part 0,
 * in these those of the first type; and edges alike. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_DGL_BOOK_H
#define GNN_LIB_IMPORT_DGL_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

enum { GNN_DGL_PARTS_MAX = 65535 };

/* A type of nodes or edges, and its ids in the parts. Ids of a type are 0 to count - 1; those of
 * part p begin with before[p], and are from[p] and so on among the ids of all types. */
struct gnn_dgl_type {
    char *name;              /* of edges "u:rel:v", or the relation alone before DGL 1.1 */
    char *rel;               /* of edges */
    int src, dst;            /* of edges: node types; -1: not told */
    uint64_t *from, *before; /* (parts), (parts + 1) */
    uint64_t count;
};
/* Ids that are of one type and part. */
struct gnn_dgl_span {
    uint64_t from, to;
    uint32_t type, part;
};
struct gnn_dgl_ids {
    struct gnn_dgl_type *type; /* (n) */
    uint32_t n;
    struct gnn_dgl_span *span; /* (nspans) without gaps, from 0 to count */
    uint32_t nspans;
    uint64_t count;
};

/* The files of a part, as paths. */
struct gnn_dgl_part {
    char *graph, *node_feats, *edge_feats;
};

/* Zeroed = empty. */
struct gnn_dgl_book {
    char *path, *folder; /* of the JSON */
    struct gnn_dgl_part *part;
    uint32_t parts;
    struct gnn_dgl_ids nodes, edges;
    /* The ids are the original ones, and node_map, the path of an .npy file, has the part of each
     * node (reshuffle=False, to DGL 0.9): counts of types are the only ones that are known. */
    char *node_map;
};

/* Finds the JSON of a partition: `path` itself, or the only one in that folder. *json is NULL if
 * there is none; else free it with gnn_free. GNN_E_INPUT for a folder with two. */
int gnn_dgl_book_find(char **json, const char *path, struct gnn_err *e) GNN_MUST_USE;
/* Reads the JSON. GNN_E_INPUT for what does not fit together: ranges that overlap or leave gaps,
 * counts, parts that are not there. Release *b, on failure too. */
int gnn_dgl_book_read(struct gnn_dgl_book *b, const char *json, struct gnn_err *e) GNN_MUST_USE;
void gnn_dgl_book_release(struct gnn_dgl_book *b);

/* The span that holds an id; NULL: there is no such id. */
const struct gnn_dgl_span *gnn_dgl_book_span(const struct gnn_dgl_ids *ids, uint64_t id);
/* How many ids of a type a part has. */
static inline uint64_t gnn_dgl_book_count(const struct gnn_dgl_type *t, uint32_t part)
{
    return t->before[part + 1] - t->before[part];
}

#endif
