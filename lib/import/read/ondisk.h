/* SPDX-License-Identifier: Apache-2.0 */
/* OnDiskDatasets of GraphBolt, DGL 2.0 or later: a folder with metadata.yaml, as users write it,
 * and the files that it names. GraphBolt keeps its own form of
 * them in preprocessed/, which is not read: edges are there as TorchScript alone. Private to
 * lib/import. */
#ifndef GNN_LIB_IMPORT_ONDISK_H
#define GNN_LIB_IMPORT_ONDISK_H

#include "lib/import/read/array_list.h"
#include "lib/import/read/input.h"

/* The member metadata.yaml of a directory or archive; -1: there is none, or of something else. One
 * that cannot be read, beside files of arrays or tables, is GNN_E_INPUT. */
int gnn_ondisk_find(const struct gnn_input *in, int *member, struct gnn_err *e) GNN_MUST_USE;
/* Adds nodes, edges and features as arrays of types, those of a graph without types as of "node"
 * and "node/to/node"; sets of nodes as TASK.SET_idx; their labels as y of the first node type that
 * has some, and as TASK_labels of others. Nodes have the ids that the files have. Sets of links
 * are noted. used[i] is set of each member that was read. */
int gnn_ondisk_add(struct gnn_array_list *l, const struct gnn_input *in, uint32_t meta, bool *used,
                   struct gnn_err *e) GNN_MUST_USE;

/* Adds the sets of links of one edge type, "SRC/REL/DST", of one task, in the folder at `path`, as
 * arrays SET/KEY under the keys of lib/import/link_keys.h. `task` NULL: of the only one that has
 * some. sets[i]: there is one, in the order of enum gnn_link_set. */
int gnn_ondisk_add_links(struct gnn_array_list *l, const char *path, const char *task,
                         const char *etype, bool sets[3], struct gnn_err *e) GNN_MUST_USE;

#endif
