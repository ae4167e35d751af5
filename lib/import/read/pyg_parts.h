/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of a folder that PyG's torch_geometric.distributed.Partitioner wrote, as those of the
 * graph that it split: in the order of its nodes and edges. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_PYG_PARTS_H
#define GNN_LIB_IMPORT_PYG_PARTS_H

#include "lib/import/read/array_list.h"
#include "lib/import/read/input.h"

/* The member of a directory or archive that says that it is such a folder; -1: it is none. */
int gnn_pyg_parts_find(const struct gnn_input *in);
/* Adds the arrays of the folder whose member `meta` _find gave: of each node type features, times
 * and the field `part`, of each edge type src, dst, features and times; beside the folder, labels
 * and sets of nodes in the directories of PyG's example, NAME-label and NAME-train-partitions. Of a
 * graph of one type the names begin with node/ and node/to/node/. used[i] is set of each member
 * that was read. GNN_E_INPUT unless the ids of all parts together are each node and edge once. */
int gnn_pyg_parts_add(struct gnn_array_list *l, const struct gnn_input *in, uint32_t meta,
                      bool *used, struct gnn_err *e) GNN_MUST_USE;

#endif
