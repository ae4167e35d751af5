/* SPDX-License-Identifier: Apache-2.0 */
/* Text tables of edges, for who reads one of several (lib/import/read/tables.h). l->type, end and
 * the options are set, and its input owned. */
#ifndef GNN_LIB_IMPORT_CSV_H
#define GNN_LIB_IMPORT_CSV_H

#include "lib/import/read/edgelist.h"

/* Finds how the table is read (l->reading): its ids as words, if l->words. */
int gnn_csv_find(struct gnn_edgelist *l, struct gnn_err *e) GNN_MUST_USE;
/* Reads its edges once (gnn_edgelist_scan). *again: the first rows did not tell how it is read, and
 * l->reading is another one now; what was added to ids is to be forgotten. */
int gnn_csv_scan(struct gnn_edgelist *l, bool *again, struct gnn_err *e) GNN_MUST_USE;
/* Adds its edge type and fields to its schema, after node types were added. */
int gnn_csv_add_fields(struct gnn_edgelist *l, struct gnn_err *e) GNN_MUST_USE;

#endif
