/* SPDX-License-Identifier: Apache-2.0 */
/* Files of Python's values: those of PyTorch's torch.save, and pickles. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_VALUE_FILE_H
#define GNN_LIB_IMPORT_VALUE_FILE_H

#include "formats/torch_file.h"
#include "lib/base/mem.h"
#include "lib/import/read/stage.h"

/* Zeroed = nothing. */
struct gnn_value_file {
    const void *mapped;         /* the file, or */
    struct gnn_buf bytes;       /* what was unpacked */
    struct gnn_torch_file file; /* of a pickle alone without storages */
};

/* Whether a file that begins so is one of torch.save; or, in _begins, a pickle of protocol 2 to 5.
 */
bool gnn_value_file_is_torch(const uint8_t *p, size_t n);
bool gnn_value_file_begins(const uint8_t *p, size_t n);
/* Reads the file at `path`, which is mapped, or, if path is NULL, all bytes of s, which are held in
 * memory; one of torch.save or, with `pickles`, also a pickle. GNN_E_INPUT "NAME: ..." for what is
 * neither. *v is to be released in any case. */
int gnn_value_file_open(struct gnn_value_file *v, const char *path, struct gnn_stage *s,
                        bool pickles, const char *name, struct gnn_err *e) GNN_MUST_USE;
void gnn_value_file_release(struct gnn_value_file *v);

#endif
