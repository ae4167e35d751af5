/* SPDX-License-Identifier: Apache-2.0 */
/* Files of Python's values: those of PyTorch's torch.save, and pickles. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_VALUE_FILE_H
#define GNN_LIB_IMPORT_VALUE_FILE_H

#include "formats/torch_file.h"
#include "lib/import/read/array_list.h"

/* Whether a file that begins so is one of torch.save; or, in _begins, a pickle of protocol 2 to 5.
 */
bool gnn_value_file_is_torch(const uint8_t *p, size_t n);
bool gnn_value_file_begins(const uint8_t *p, size_t n);
/* Reads the file at `path`, which is mapped, or, if path is NULL, all bytes of s, which are held in
 * memory: one of torch.save or, with `pickles`, also a pickle, which has no storages. It lives as
 * long as the list. GNN_E_INPUT "NAME: ..." for what is neither. */
int gnn_value_file_open(const struct gnn_torch_file **f, struct gnn_array_list *l, const char *path,
                        struct gnn_stage *s, bool pickles, const char *name,
                        struct gnn_err *e) GNN_MUST_USE;

#endif
