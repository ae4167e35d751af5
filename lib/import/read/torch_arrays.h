/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of one graph in a file of PyTorch's torch.save: of PyG's Data, HeteroData or
 * TemporalData, of a data set of one of them (InMemoryDataset.save, or a pair of a Data and
 * slices), or of a dict. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_TORCH_ARRAYS_H
#define GNN_LIB_IMPORT_TORCH_ARRAYS_H

#include "formats/torch_file.h"
#include "lib/import/read/array_list.h"

/* Whether a file that begins so is one of torch.save. */
bool gnn_torch_arrays_begin(const uint8_t *p, size_t n);
/* Adds the arrays of the file at `path`, which is mapped, or, if path is NULL, of all bytes of s,
 * which are held in memory. GNN_E_INPUT with what it holds instead, if that is not one graph. */
int gnn_torch_arrays_add(struct gnn_array_list *l, const char *path, struct gnn_stage *s,
                         const char *name, struct gnn_err *e) GNN_MUST_USE;
/* Opens a file of torch.save that lives as long as the list. */
int gnn_torch_arrays_open(const struct gnn_torch_file **f, struct gnn_array_list *l,
                          const char *path, struct gnn_stage *s, const char *name,
                          struct gnn_err *e) GNN_MUST_USE;

#endif
