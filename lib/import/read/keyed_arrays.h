/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of a file of Python's values by the keys that lead to them, whatever they are for. Private
 * to lib/import. */
#ifndef GNN_LIB_IMPORT_KEYED_ARRAYS_H
#define GNN_LIB_IMPORT_KEYED_ARRAYS_H

#include "formats/torch_file.h"
#include "lib/import/read/array_list.h"

/* The name of an array that is all that a file holds. */
#define GNN_KEYED_ONLY_ARRAY "array"

/* Whether it holds a dict, or an array alone. */
bool gnn_keyed_arrays_fit(const struct gnn_torch_file *f);
/* Adds all arrays and integers of the dict and of dicts in it, named by their keys, "train/edge",
 * or the only array. GNN_E_INPUT if there is none. */
int gnn_keyed_arrays_add(struct gnn_array_list *l, const struct gnn_torch_file *f, const char *name,
                         struct gnn_err *e) GNN_MUST_USE;

#endif
