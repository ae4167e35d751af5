/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that are files of their own: .npy, or a tensor of torch.save. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_ARRAY_MAP_H
#define GNN_LIB_IMPORT_ARRAY_MAP_H

#include "lib/import/read/array_list.h"

/* The array of an .npy file of n bytes, where it lies; what: "no .npy file", for
 * GNN_E_INPUT "PATH: WHAT". */
int gnn_array_map_bytes(struct gnn_strided *a, const uint8_t *bytes, uint64_t n, const char *path,
                        const char *what, struct gnn_err *e) GNN_MUST_USE;
/* The array of an .npy file, and the tensor of a file of torch.save, which live as long as the
 * list. */
int gnn_array_map_npy(struct gnn_strided *a, struct gnn_array_list *l, const char *path,
                      struct gnn_err *e) GNN_MUST_USE;
int gnn_array_map_torch(struct gnn_strided *a, struct gnn_array_list *l, const char *path,
                        struct gnn_err *e) GNN_MUST_USE;

#endif
