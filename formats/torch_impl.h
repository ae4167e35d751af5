/* SPDX-License-Identifier: Apache-2.0 */
/* Containers of torch.save: how formats/torch_*.c share the work. */
#ifndef GNN_FORMATS_TORCH_IMPL_H
#define GNN_FORMATS_TORCH_IMPL_H

#include "formats/torch_file.h"

struct gnn_torch_opening {
    struct gnn_torch_file *f;
    uint64_t n;       /* bytes of the file, */
    uint64_t pickles; /* of which pickles take no more than these, from the first on */
    char *why;
    size_t capacity;
};

/* Says why the file is refused; returns GNN_PICKLE_BAD. */
int gnn_torch_fail(struct gnn_torch_opening *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* As gnn_torch_fail, of a storage. */
int gnn_torch_fail_storage(struct gnn_torch_opening *o, const struct gnn_torch_storage *s,
                           const char *what);

/* Lists the storages that the pickle names, without their data, in the order of their keys. */
int gnn_torch_list_storages(struct gnn_torch_opening *o);
/* NULL: there is none. */
struct gnn_torch_storage *gnn_torch_find_storage(const struct gnn_torch_file *f,
                                                 const struct gnn_word *key);

/* Reads the file in one of the containers. */
int gnn_torch_open_zip(struct gnn_torch_opening *o);
int gnn_torch_open_legacy(struct gnn_torch_opening *o);

#endif
