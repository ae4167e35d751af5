/* SPDX-License-Identifier: Apache-2.0 */
/* An array that is written piece by piece: as a member of an .npz, as an .npy, or as a table in
 * text. Private to lib/inspect. */
#ifndef GNN_LIB_INSPECT_ARRAY_OUT_H
#define GNN_LIB_INSPECT_ARRAY_OUT_H

#include "lib/inspect/npz_out.h"

/* Where the bytes of an array go, in pieces of whole elements. */
struct gnn_bytes_to {
    int (*put)(void *arg, const void *data, uint64_t n, struct gnn_err *e);
    void *arg;
};

struct gnn_array_out {
    const char *name;
    enum gnn_dtype dtype; /* of the elements that `write` writes */
    bool is_bool;         /* u8 */
    uint32_t ndim;
    uint64_t shape[GNN_NDIM_MAX];
    /* Writes all elements. */
    int (*write)(const struct gnn_array_out *a, const struct gnn_bytes_to *to, struct gnn_err *e);
    const void *from; /* what `write` knows */
};

/* An array whose elements are those of a tensor, which stays the caller's. */
struct gnn_array_out gnn_array_of(const struct gnn_tensor *t);

/* GNN_E_INPUT for a size that overflows. */
int gnn_array_out_npz(const struct gnn_array_out *a, const char *member, struct gnn_npz_out *z,
                      struct gnn_err *e) GNN_MUST_USE;
int gnn_array_out_npy(const struct gnn_array_out *a, int fd, const char *name,
                      struct gnn_err *e) GNN_MUST_USE;
/* A line of column names, which are the array's last word with the number of the column, if there
 * are several; then a line for each row. GNN_E_USAGE for more than two dimensions, and for more
 * than GNN_CSV_COLUMNS columns. */
enum { GNN_CSV_COLUMNS = 2048 };
int gnn_array_out_csv(const struct gnn_array_out *a, int fd, const char *name,
                      struct gnn_err *e) GNN_MUST_USE;

#endif
