/* SPDX-License-Identifier: Apache-2.0 */
/* Files of PyTorch's torch.save: a pickle (formats/pickle.h) beside the storages of its tensors, in
 * a zip archive (since PyTorch 1.6), or one after the other (before, and with
 * _use_new_zipfile_serialization=False). Nothing of a storage is copied or looked at when a file is
 * opened: its tensors point to where they lie. Archives of TorchScript are refused, as their
 * pickles mean something only with the code beside them. Big-endian files are refused. */
#ifndef GNN_FORMATS_TORCH_FILE_H
#define GNN_FORMATS_TORCH_FILE_H

#include "formats/pickle.h"

/* The elements of one or more tensors. */
struct gnn_torch_storage {
    struct gnn_word key; /* its name in the file */
    enum gnn_dtype dtype;
    bool is_bool;
    uint64_t bytes;
    const uint8_t *data;
};

/* Zeroed = nothing. */
struct gnn_torch_file {
    const uint8_t *bytes;     /* the caller's */
    struct gnn_pickle pickle; /* of the object that was saved: pickle.root */
    struct gnn_torch_storage *storage;
    uint64_t storages; /* in the order of their keys */
    bool legacy;       /* pickles and storages one after the other */
};

/* Whether a file that begins with n bytes is one of torch.save: legacy ones are known by their
 * first bytes; of zip archives only those with a member data.pkl are (gnn_torch_open says so of
 * others). */
bool gnn_torch_is_legacy(const void *bytes, uint64_t n);
bool gnn_torch_is_zip(const void *bytes, uint64_t n);

/* Opens a whole file in memory; the bytes must outlive *f. Storages must not overlap or be longer
 * or shorter than the pickle says. Returns 0, GNN_PICKLE_BAD or GNN_PICKLE_NO_MEMORY with one line
 * in why; *f is then empty. Checksums of archives are not looked at (formats/zip_members.h). Takes
 * the memory of gnn_pickle_read, and 48 bytes for each storage that a tensor names and each member.
 * Thread-safety: a file that was opened does not change. */
int gnn_torch_open(struct gnn_torch_file *f, const void *bytes, uint64_t n, char *why,
                   size_t capacity);
void gnn_torch_release(struct gnn_torch_file *f);

/* Whether v is a tensor or parameter of PyTorch, an Index or EdgeIndex of PyG (which is a tensor),
 * or an array or scalar of NumPy. Sparse tensors are objects that have tensors as arguments. */
bool gnn_torch_is_array(const struct gnn_pickle_value *v);
/* Its description, checked against the storage: at most GNN_NDIM_MAX dimensions, offset and strides
 * not negative, all elements inside, and not more of them than the storage has. Tensors that are
 * dense can be used where they lie, at any address; rows of all can be copied (gnn_strided_copy).
 * Returns 0, or -1 with what is wrong in why. */
int gnn_torch_array(const struct gnn_torch_file *f, const struct gnn_pickle_value *v,
                    struct gnn_strided *out, char *why, size_t capacity);

#endif
