/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of nodes that add to a data set: --nodes, --features and --labels. Their rows are found by
 * id, if they have ids, so that another order of them gives the same data set. */
#ifndef GNN_LIB_IMPORT_ATTACH_H
#define GNN_LIB_IMPORT_ATTACH_H

#include "lib/import/read/src.h"

/* Opens the tables of --nodes, and those beside the edges (gnn_input_table), and looks at their
 * ids: *words if some are no numbers. Before ids are added to s->ids. */
int gnn_attach_open(struct gnn_src *s, bool *words, struct gnn_err *e) GNN_MUST_USE;
/* Adds the ids of these tables to s->ids, of kind NUMBERS or WORDS and named `type`, which have
 * those of the edges, and finishes them; d.ids is s->ids from then on. Nodes that only these tables
 * name are without edges. */
int gnn_attach_ids(struct gnn_src *s, const char *const *type, struct gnn_err *e) GNN_MUST_USE;
/* Adds the ids of one of these tables to s->ids[its ntype], of kind NUMBERS or WORDS. */
int gnn_attach_add_ids(struct gnn_src *s, uint32_t table, struct gnn_err *e) GNN_MUST_USE;
/* Adds the fields and sets of these tables, of --features and of --labels. After node types were
 * added to the schema. */
int gnn_attach(struct gnn_src *s, struct gnn_err *e) GNN_MUST_USE;

#endif
