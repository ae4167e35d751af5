/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a table of nodes to fields and sets. */
#ifndef GNN_LIB_IMPORT_NODE_TABLE_H
#define GNN_LIB_IMPORT_NODE_TABLE_H

#include "lib/import/read/joined.h"
#include "lib/import/read/src.h"

/* The use of its columns, other than the ids: by their names, or the same for all. */
enum gnn_table_use { GNN_TABLE_NODES, GNN_TABLE_FEATURES, GNN_TABLE_LABELS };

/* Reads the table, which is before its first row, twice, and adds its fields to node type ntype,
 * whose ids are `ids`. Each node must have a row, except for labels and sets. */
int gnn_node_table_add(struct gnn_src *s, struct gnn_joined *j, const struct gnn_nodeids *ids,
                       uint32_t ntype, enum gnn_table_use use, struct gnn_err *e) GNN_MUST_USE;

#endif
