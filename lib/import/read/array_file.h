/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other programs that hold named arrays: which reader lists them. Private to lib/import.
 */
#ifndef GNN_LIB_IMPORT_ARRAY_FILE_H
#define GNN_LIB_IMPORT_ARRAY_FILE_H

#include "lib/import/read/array_list.h"

/* Adds the arrays of the file at `path`, which is mapped, or, if path is NULL, of all bytes of s.
 */
typedef int gnn_array_file_fn(struct gnn_array_list *l, const char *path, struct gnn_stage *s,
                              const char *name, struct gnn_err *e);

/* The reader of a file that begins so; NULL: it is none of these. `keyed`: of all arrays of a file
 * of torch.save or a pickle, by their keys. */
gnn_array_file_fn *gnn_array_file_find(const uint8_t *p, size_t n, bool keyed);

#endif
