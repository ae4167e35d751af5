/* SPDX-License-Identifier: Apache-2.0 */
/* How the sets of a store are written as arrays, so that gnn-import gives them the same names in
 * the same order. Private to lib/inspect. */
#ifndef GNN_LIB_INSPECT_GRAPH_SETS_H
#define GNN_LIB_INSPECT_GRAPH_SETS_H

#include "lib/inspect/graph_arrays.h"

/* The array of a set and, of masks, of those after it. */
struct gnn_set_form {
    char name[2 * GNN_WORD_MAX + 8]; /* "train_mask", "random.train_idx"; "": it has no name */
    bool masks;
    uint32_t nsets; /* at least 1 */
};

/* *form[schema.nsets + 1], to be freed with gnn_free. Masks of a split "mask" or of splits 0, 1 and
 * so on, and ids of a split "ids", have the names that data sets use; if a store has other sets, or
 * in another order, all have SPLIT.SET_idx. */
int gnn_graph_set_forms(struct gnn_view *v, struct gnn_set_form **form,
                        struct gnn_err *e) GNN_MUST_USE;
/* Makes the array one of set number `set` and those after it. */
void gnn_graph_set_fill(struct gnn_graph_array *a, const struct gnn_set_form *form, uint32_t set,
                        const struct gnn_schema *c);

#endif
