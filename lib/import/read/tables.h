/* SPDX-License-Identifier: Apache-2.0 */
/* Several tables as one graph: --edges S/R/D=FILE[:FROM,TO] for each edge type, and --nodes
 * TYPE=FILE[:COLUMN], which has all nodes of a type. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_TABLES_H
#define GNN_LIB_IMPORT_TABLES_H

#include "lib/import/import.h"

/* Opens the tables of o->edge_table and o->node_table as a data set. The ids of a type are those of
 * its tables of nodes, in the order of numbers, or of rows if they are words; of a type without
 * one, those of the edges (lib/import/nodeids.h). GNN_E_INPUT names the row of an edge whose id is
 * in no table. GNN_E_USAGE: what --edges says. */
int gnn_tables_open(struct gnn_dataset **out, const struct gnn_import_opts *o,
                    struct gnn_err *e) GNN_MUST_USE;

#endif
