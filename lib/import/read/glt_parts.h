/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of a folder that the Partitioner of GraphLearn-for-PyTorch (GLT) wrote, as those of
 * the graph that it split. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_GLT_PARTS_H
#define GNN_LIB_IMPORT_GLT_PARTS_H

#include "lib/import/read/array_list.h"
#include "lib/import/read/input.h"

/* As the functions of lib/import/read/pyg_parts.h. Features are called x and edge_attr, as GLT has
 * no names for them. Copies that parts keep of others' features are not read. */
int gnn_glt_parts_find(const struct gnn_input *in);
int gnn_glt_parts_add(struct gnn_array_list *l, const struct gnn_input *in, uint32_t meta,
                      bool *used, struct gnn_err *e) GNN_MUST_USE;

#endif
