/* SPDX-License-Identifier: Apache-2.0 */
/* Roles of several files together. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_MEMBERS_H
#define GNN_LIB_IMPORT_MEMBERS_H

#include "lib/import/read/input.h"

/* The format that members of these names make together, for inputs of one member too: "ogb", "npz",
 * "triples"; NULL: none. */
const char *gnn_members_format(const struct gnn_input *in);
/* Which set a file of triples is by its name: 0 train, 1 valid or dev, 2 test; -1: none. */
int gnn_members_set(const char *member);
/* Several members of text. With `sets`, files of triples, beside which dictionaries are left out.
 * Otherwise makes one text of parts of one table, and leaves out what is no data, so that one
 * member remains. GNN_E_INPUT, with the reason and the remedy, if they are neither. */
int gnn_members_unite(struct gnn_input *in, bool sets, struct gnn_err *e) GNN_MUST_USE;

#endif
