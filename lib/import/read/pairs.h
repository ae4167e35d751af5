/* SPDX-License-Identifier: Apache-2.0 */
/* Edges from arrays: (E, 2) or (2, E), .npy or text, or two vectors; with edge fields in further
 * arrays. */
#ifndef GNN_LIB_IMPORT_PAIRS_H
#define GNN_LIB_IMPORT_PAIRS_H

#include "lib/import/read/src.h"

enum { GNN_PAIRS_FIELDS = 16 };

struct gnn_pairs {
    struct gnn_input *in;
    uint32_t a, b;     /* members; the same for one array */
    bool rows;         /* first all sources, then all destinations */
    uint64_t n;        /* edges; UINT64_MAX: a text file of unknown length */
    uint64_t expected; /* edges that another member promises, or UINT64_MAX */
    struct {
        struct gnn_input *in;
        uint32_t member;
    } field[GNN_PAIRS_FIELDS]; /* as in the schema's edge type */
};

/* Looks at the arrays. b < 0: one array; `tall` says that a 2x2 array has an edge in each row. */
int gnn_pairs_open(struct gnn_pairs *p, struct gnn_input *in, int a, int b, bool tall,
                   struct gnn_err *e) GNN_MUST_USE;
/* Adds an array with a row for each edge as a field of edge type t, whose edges are p. */
int gnn_pairs_field(struct gnn_src *s, uint32_t t, struct gnn_pairs *p, const char *name,
                    struct gnn_input *in, uint32_t member, struct gnn_err *e) GNN_MUST_USE;
/* ops.edges of a type whose edges are p. */
int gnn_pairs_edges(struct gnn_dataset *d, uint32_t t, const struct gnn_pairs *p, bool fields,
                    gnn_edge_fn *fn, void *arg, struct gnn_err *e);
/* Edges, and the largest ids of sources and of destinations, by one pass; -1 without edges. */
int gnn_pairs_scan(const struct gnn_pairs *p, uint64_t *n, int64_t max[2],
                   struct gnn_err *e) GNN_MUST_USE;

#endif
