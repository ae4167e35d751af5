/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of one graph in a file of PyTorch's torch.save: of PyG's Data, of a data set of one
 * Data (InMemoryDataset.save, or a pair of Data and slices), or of a dict. Each is read as an .npy
 * file would be. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_TORCH_ARRAYS_H
#define GNN_LIB_IMPORT_TORCH_ARRAYS_H

#include "formats/torch_file.h"
#include "lib/base/mem.h"
#include "lib/import/read/stage.h"

struct gnn_torch_array {
    char *name;
    struct gnn_strided values;
    int64_t number; /* the value, if it was no array */
};

struct gnn_torch_arrays {
    const void *mapped;   /* the file, or */
    struct gnn_buf bytes; /* what was unpacked */
    struct gnn_torch_file file;
    struct gnn_torch_array *array;
    uint32_t n;
    char **left; /* names of attributes that are no arrays, with what they are */
    uint32_t nleft;
};

/* Whether a file that begins so is one of torch.save. */
bool gnn_torch_arrays_begin(const uint8_t *p, size_t n);
/* Finds the arrays of the file at `path`, which is mapped, or, if path is NULL, of all bytes of s,
 * which are held in memory. GNN_E_INPUT with what it holds instead, if that is not one graph of one
 * type of nodes and edges. */
int gnn_torch_arrays_open(struct gnn_torch_arrays **t, const char *path, struct gnn_stage *s,
                          const char *name, struct gnn_err *e) GNN_MUST_USE;
/* A stage of array i as an .npy file, which *t must outlive. */
int gnn_torch_arrays_stage(struct gnn_stage **s, const struct gnn_torch_arrays *t, uint32_t i,
                           const char *name, struct gnn_err *e) GNN_MUST_USE;
/* Takes NULL. */
void gnn_torch_arrays_free(struct gnn_torch_arrays *t);

#endif
