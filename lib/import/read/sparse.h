/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse matrices in arrays, as SciPy's: the entries of row i (of column i, in csc) are those from
 * indptr[i] to indptr[i+1] - 1 of indices and data. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_SPARSE_H
#define GNN_LIB_IMPORT_SPARSE_H

#include "lib/import/read/array.h"

struct gnn_sparse {
    struct gnn_input *in;
    uint32_t indptr, indices;
    int data;              /* members; data -1: all values are 1 */
    uint64_t major, minor; /* rows and columns; columns and rows in csc */
};

enum { GNN_SPARSE_STEP = 1 << 13 }; /* entries at once */

/* A pass over the entries, in order. */
struct gnn_sparse_pass {
    const struct gnn_sparse *s;
    struct gnn_array ptr, idx, val;
    /* ids as read; the next rows' ends */
    int64_t buf[GNN_SPARSE_STEP], end[GNN_SPARSE_STEP];
    /* what gnn_sparse_read has read */
    uint32_t major[GNN_SPARSE_STEP], minor[GNN_SPARSE_STEP];
    float value[GNN_SPARSE_STEP];
    uint64_t nend, at;  /* ends that are there and used */
    uint64_t row, last; /* the present row, and where it ends */
    uint64_t done;
};

/* After a failure, too, to be closed. */
int gnn_sparse_open(struct gnn_sparse_pass *p, const struct gnn_sparse *s,
                    struct gnn_err *e) GNN_MUST_USE;
/* The next *got entries; 0 after the last. Every index is below its limit, every value finite. */
int gnn_sparse_read(struct gnn_sparse_pass *p, uint64_t *got, struct gnn_err *e) GNN_MUST_USE;
void gnn_sparse_close(struct gnn_sparse_pass *p);

#endif
