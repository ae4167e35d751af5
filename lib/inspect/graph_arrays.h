/* SPDX-License-Identifier: Apache-2.0 */
/* A store as the arrays of a graph, nodes and edges in their original order, under the names that
 * gnn-import reads (gnn-formats(7)). Private to lib/inspect. */
#ifndef GNN_LIB_INSPECT_GRAPH_ARRAYS_H
#define GNN_LIB_INSPECT_GRAPH_ARRAYS_H

#include "lib/inspect/array_out.h"
#include "lib/store/view.h"

struct gnn_graph_array {
    struct gnn_array_out out; /* out.from is the array itself */
    char *name;
    struct gnn_view *view;
    bool edges;
    uint32_t type;                  /* of nodes or edges */
    const struct gnn_field *field;  /* or NULL: */
    const struct gnn_tensor **part; /* [nparts] of the field or of keys */
    uint32_t set, nsets;            /* sets of nodes that are masks, or a list of ids */
    int64_t number;
};

struct gnn_graph_arrays {
    struct gnn_view *view;
    bool plain; /* names without types: of nodes called node and edges called node/to/node */
    struct gnn_graph_array **array; /* [n] */
    uint32_t n;
    char left_out[1024]; /* what the store has and the arrays do not, for a message; "" */
};

/* Takes a zeroed object; on failure too, it is to be released. The view must outlive it. */
int gnn_graph_arrays_init(struct gnn_graph_arrays *g, struct gnn_view *v,
                          struct gnn_err *e) GNN_MUST_USE;
void gnn_graph_arrays_release(struct gnn_graph_arrays *g);

/* Field f of edges follows from other fields (GNN_EFFECTIVE_TIME): gnn-import computes it again. */
bool gnn_graph_derives(const struct gnn_etype *t, const struct gnn_field *f);
/* The tensors "edge/S/R/D/FIELD" or "node/T/FIELD" of all parts, to be freed with gnn_free. NULL:
 * no part has one, or, with an error, some have none or one of another shape than `rows` says. */
const struct gnn_tensor **gnn_graph_array_parts(struct gnn_view *v, bool edges, uint32_t type,
                                                const char *field, struct gnn_err *e);

/* ---- in graph_rows.c: what the arrays write ---- */
int gnn_graph_write_number(const struct gnn_array_out *a, const struct gnn_bytes_to *to,
                           struct gnn_err *e);
int gnn_graph_write_ends(const struct gnn_array_out *a, const struct gnn_bytes_to *to,
                         struct gnn_err *e);
int gnn_graph_write_rows(const struct gnn_array_out *a, const struct gnn_bytes_to *to,
                         struct gnn_err *e);
int gnn_graph_write_ids(const struct gnn_array_out *a, const struct gnn_bytes_to *to,
                        struct gnn_err *e);
int gnn_graph_write_masks(const struct gnn_array_out *a, const struct gnn_bytes_to *to,
                          struct gnn_err *e);
/* The members of a set as original ids, in the set's order; to be freed with gnn_free. */
int gnn_graph_set_ids(struct gnn_view *v, uint32_t set, uint32_t **ids,
                      struct gnn_err *e) GNN_MUST_USE;

#endif
