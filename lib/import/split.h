/* SPDX-License-Identifier: Apache-2.0 */
/* The splits of a store that is being written: --split's first, then the data set's own. */
#ifndef GNN_LIB_IMPORT_SPLIT_H
#define GNN_LIB_IMPORT_SPLIT_H

#include "lib/import/import.h"

struct gnn_splits {
    struct gnn_dataset *d;
    struct gnn_splits_set {
        char *split, *name, *file; /* file: of --split, or NULL */
        uint32_t ntype;
        uint64_t count;
        uint32_t *ids; /* NULL: set `own` of the data set */
        uint32_t own;
        bool unasked; /* of share 0: it is to be empty */
    } * set;
    uint32_t n;
};

/* Takes a zeroed object; to be released on failure too. */
int gnn_splits_plan(struct gnn_splits *s, struct gnn_dataset *d, const struct gnn_import_opts *o,
                    struct gnn_err *e) GNN_MUST_USE;
/* The ids of set i, checked: below the count of their type, none twice or in another set of the
 * split. Free with gnn_free. */
int gnn_splits_ids(struct gnn_splits *s, uint32_t i, uint32_t **ids,
                   struct gnn_err *e) GNN_MUST_USE;
void gnn_splits_release(struct gnn_splits *s);

#endif
