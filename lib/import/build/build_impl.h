/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that write an imported store: build.c and, for the edges, build_edges.c. */
#ifndef GNN_LIB_IMPORT_BUILD_IMPL_H
#define GNN_LIB_IMPORT_BUILD_IMPL_H

#include "lib/import/import.h"
#include "lib/import/build/time_order.h"
#include "lib/import/build/sort.h"
#include "lib/import/split.h"
#include "lib/store/write.h"

/* An edge type of the store: which input type it is made of and how. */
struct plan {
    uint32_t in;
    unsigned mode;
    bool add_loops;
    struct gnn_sort sort;   /* with the counts of the edges */
    struct gnn_order order; /* by which times, if the schema has an order */
    uint64_t *has_loop;     /* bit per node, if add_loops */
    uint64_t duplicates, loops_added;
    struct gnn_direction dir;
    /* Edges of the input, and what tells whether those of another type are their reverses. */
    uint64_t read, balance;
    uint32_t indptr_id, indices_id;
    uint32_t field_id[GNN_FIELDS_MAX];
};

struct build {
    struct gnn_dataset *d;
    const struct gnn_import_opts *o;
    const char *path;
    struct gnn_meta meta; /* schema of the store */
    struct gnn_store_writer w;
    struct plan *plan; /* [schema.netypes] */
    uint64_t held;     /* memory of types that are sorted and wait to be written */
    bool real;         /* some times of nodes or edges are f64: whatever is ordered by times is */
    void **time; /* [ntypes] (nodes) times of the types that are sources, once they are read */
    struct gnn_splits splits;
    struct gnn_import_stats st;
};

/* Whether the ends of a chunk's edges are nodes: GNN_E_INPUT if not. */
int gnn_build_check(const struct build *b, const struct plan *p, const struct gnn_edge_chunk *c,
                    struct gnn_err *e) GNN_MUST_USE;
/* Counts the edges of type t of the store: its offsets, directions and duplicates. */
int gnn_build_count(struct build *b, uint32_t t, struct gnn_err *e) GNN_MUST_USE;
/* Whether some times of the data set are real numbers; says so if others are whole. */
int gnn_build_times(struct build *b, struct gnn_err *e) GNN_MUST_USE;
/* The store's type of a node field. */
enum gnn_dtype gnn_build_field(const struct build *b, const struct gnn_field *f);
/* Finds the times of edges of type t, which was counted, and marks it as ordered by them, if there
 * are any; adds the field of effective times if they are not the edges' own. */
int gnn_build_order(struct build *b, uint32_t t, struct gnn_err *e) GNN_MUST_USE;
/* The field by which it did so, or NULL. */
const char *gnn_build_ordered(const struct build *b, uint32_t t);
/* Sorts the edges of type t, which was counted, and leaves one of equal ones. */
int gnn_build_dedup(struct build *b, uint32_t t, struct gnn_err *e) GNN_MUST_USE;
/* Writes the sources and fields of type t, which was counted, in the order of the offsets. */
int gnn_build_edges(struct build *b, uint32_t t, struct gnn_err *e) GNN_MUST_USE;

#endif
