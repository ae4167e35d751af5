/* SPDX-License-Identifier: Apache-2.0 */
/* The raw files of Planetoid (Yang, Cohen and Salakhutdinov, ICML 2016), ind.NAME.x, .tx, .allx,
 * .y, .ty, .ally, .graph and .test.index, as arrays of a graph. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_PLANETOID_H
#define GNN_LIB_IMPORT_PLANETOID_H

#include "lib/import/read/array_list.h"
#include "lib/import/read/input.h"

/* The member ind.NAME.graph of a directory or archive; -1: there is none. */
int gnn_planetoid_find(const struct gnn_input *in);
/* Adds x, y, src, dst, and the ids of the sets: train is the rows of y, valid the 500 nodes behind
 * them, test what test.index lists. Nodes between those of test.index have no row: their features
 * are 0, and they have no label. Edges are as the file lists them. used[i] is set of each member
 * that was read. */
int gnn_planetoid_add(struct gnn_array_list *l, const struct gnn_input *in, uint32_t graph,
                      bool *used, struct gnn_err *e) GNN_MUST_USE;

#endif
