/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that are computed of a store's tensors, such as sums of weights: the one door to them.
 *
 * They are computed when they are first asked for and last as long as the open store, or they were
 * kept by an earlier run, beside the store, and are mapped. The arrays of one kind, edge type and
 * part lie in STORE.index/WHAT-ETYPE-PART, which has the format of a store of one part without
 * nodes: checksums, the identity of STORE as that of its graph, whole or not there at all. Whoever
 * changes what arrays of a kind hold changes its name. */
#ifndef GNN_LIB_STORE_DERIVED_H
#define GNN_LIB_STORE_DERIVED_H

#include "lib/store/store.h"

struct gnn_derived_array {
    const char *name;
    enum gnn_dtype dtype;
    uint64_t n;
    bool optional; /* data may be NULL */
    void *data;    /* out: from a multiple of 64 bytes on; read-only, the store's */
};
enum { GNN_DERIVED_MAX = 4 };
struct gnn_derived {
    const char *what; /* the kind: part of a file's name */
    uint32_t part, etype, narrays;
    struct gnn_derived_array array[GNN_DERIVED_MAX];
    bool kept; /* out: mapped, and as untrusted as the store's tensors */
};

/* Allocates the data of arrays (gnn_alloc) and computes them. The caller frees them, also on
 * failure. */
typedef int gnn_derived_make(struct gnn_store *s, struct gnn_derived *x, void *arg,
                             struct gnn_err *e);

/* The arrays that x describes, of a part that this rank has open. With s->keep_derived they are
 * kept, and what is there already, damaged or of another store, is replaced; otherwise that is
 * GNN_E_INPUT. Kept arrays are verified as tensors of the store are. Thread-safe, though all
 * callers wait while one computes. */
int gnn_derived_get(struct gnn_store *s, struct gnn_derived *x, gnn_derived_make *make, void *arg,
                    struct gnn_err *e) GNN_MUST_USE;

#endif
