/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes and edges as text. Private to lib/inspect. */
#ifndef GNN_LIB_INSPECT_EXPORT_TEXT_H
#define GNN_LIB_INSPECT_EXPORT_TEXT_H

#include "lib/inspect/export.h"
#include "lib/inspect/table_out.h"
#include "lib/store/view.h"

/* A field as columns of a table. */
struct gnn_text_field {
    const struct gnn_field *field;
    const struct gnn_tensor **part; /* [nparts] of it */
};

/* The nodes of type x->nodes as CSV: id and fields, in original order. */
int gnn_export_nodes(struct gnn_view *v, const struct gnn_export *x,
                     struct gnn_err *e) GNN_MUST_USE;
/* The edges of type x->edges in original order: as CSV, source, target and fields; as Matrix
 * Market, with the field "weight" if there is one. */
int gnn_export_edges(struct gnn_view *v, const struct gnn_export *x,
                     struct gnn_err *e) GNN_MUST_USE;

/* The edge type that x->edges names or, if it is NULL, the only one. -1 on failure. */
int gnn_export_etype(const struct gnn_schema *c, const struct gnn_export *x, const char *where,
                     struct gnn_err *e);
/* Cells of row `row` of a field, each after a comma. */
int gnn_text_row(struct gnn_table_out *t, const struct gnn_field *f, const struct gnn_tensor *data,
                 uint64_t row, struct gnn_err *e) GNN_MUST_USE;
/* The first lines of a matrix of so many entries: of real numbers, of whole ones, or (weight NULL)
 * without values. */
int gnn_text_matrix(struct gnn_table_out *t, const struct gnn_tensor *weight, uint64_t rows,
                    uint64_t columns, uint64_t entries, struct gnn_err *e) GNN_MUST_USE;
/* An entry, counted from 0. */
int gnn_text_entry(struct gnn_table_out *t, uint64_t row, uint64_t column,
                   const struct gnn_tensor *weight, uint64_t at, struct gnn_err *e) GNN_MUST_USE;

#endif
