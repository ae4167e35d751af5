/* SPDX-License-Identifier: Apache-2.0 */
/* A partition of DGL (lib/import/read/dgl_book.h), read as one graph of types: nodes and edges that
 * belong to the parts, without the copies that others have of them, and the features of all parts.
 * Each node has a field `part`, the part that it is in. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_DGL_PARTS_H
#define GNN_LIB_IMPORT_DGL_PARTS_H

#include "lib/import/read/array_list.h"

/* Adds the arrays of the partition that the JSON describes. Ids are the original ones where they
 * are known: by the file orig_nids (or orig_eids), or else by orig_nids.dgl beside the JSON or in
 * the folders of parts, or else by the graphs themselves, as DGL 1.0 and older wrote them. Others
 * are those that DGL gave, of which a note says so. The arrays of edges are in memory. *bytes is
 * how many the files have. */
int gnn_dgl_parts_add(struct gnn_array_list *l, const char *json, const char *orig_nids,
                      const char *orig_eids, uint64_t *bytes, struct gnn_err *e) GNN_MUST_USE;

#endif
