/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of one graph in a file of PyTorch's torch.save: of PyG's Data, HeteroData or
 * TemporalData, of a data set of one of them (InMemoryDataset.save, or a pair of a Data and
 * slices), or of a dict. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_TORCH_ARRAYS_H
#define GNN_LIB_IMPORT_TORCH_ARRAYS_H

#include "lib/import/read/array_list.h"
#include "lib/import/read/value_file.h"

/* Adds the arrays of the file at `path`, which is mapped, or, if path is NULL, of all bytes of s,
 * which are held in memory. GNN_E_INPUT with what it holds instead, if that is not one graph.
 * _keyed: the file may also be a pickle, and hold an array, or a dict of any arrays
 * (lib/import/read/keyed_arrays.h). */
int gnn_torch_arrays_add(struct gnn_array_list *l, const char *path, struct gnn_stage *s,
                         const char *name, struct gnn_err *e) GNN_MUST_USE;
int gnn_torch_arrays_add_keyed(struct gnn_array_list *l, const char *path, struct gnn_stage *s,
                               const char *name, struct gnn_err *e) GNN_MUST_USE;

#endif
