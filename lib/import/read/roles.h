/* SPDX-License-Identifier: Apache-2.0 */
/* Roles of arrays, by their names. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_ROLES_H
#define GNN_LIB_IMPORT_ROLES_H

#include "lib/import/read/src.h"

enum { GNN_ROLE_CAPACITY = 256 };
enum gnn_owner { GNN_OF_ANY, GNN_OF_NODES, GNN_OF_EDGES };

/* The role of an array called `key` (without a directory or ".npy"): that of --map's word for it,
 * which takes the place of its name, "" for an array to leave out. Known names have the role of
 * what they mean ("x", "edges", "adj_data", "train_mask"); any other name is its own role. `scipy`:
 * the arrays are those of scipy.sparse.save_npz. */
void gnn_role_of(const struct gnn_import_opts *o, const char *key, bool scipy,
                 char role[GNN_ROLE_CAPACITY]);
/* The role of what a name means, or the name itself, whatever --map says. */
const char *gnn_role_meant(const char *name);
/* Whose field the role is: by its prefix, edge_ or node_, and for x and y, which are of nodes. */
enum gnn_owner gnn_role_owner(const char *role);
/* The field's name: "time" of edge_time, "x" of edge_x and so on; mostly the role itself. */
const char *gnn_role_field(const char *role);
/* How many names are known. */
uint32_t gnn_role_known(void);

#endif
