/* SPDX-License-Identifier: Apache-2.0 */
/* Where exported arrays go: members of an .npz, or the one array of another format. Private to
 * lib/inspect. */
#ifndef GNN_LIB_INSPECT_EXPORT_OUT_H
#define GNN_LIB_INSPECT_EXPORT_OUT_H

#include "lib/base/suggest.h"
#include "lib/inspect/array_out.h"
#include "lib/inspect/export.h"

struct gnn_export_out {
    const struct gnn_export *x;
    struct gnn_npz_out npz;
    bool *found;             /* [ntensors] */
    struct gnn_suggest *has; /* names that there are, for a message */
    uint64_t written;
};

/* Takes any object, which stays where it is until _end. */
int gnn_export_out_begin(struct gnn_export_out *o, const struct gnn_export *x,
                         struct gnn_err *e) GNN_MUST_USE;
/* Writes the array if it is wanted; member: its name in an .npz. GNN_E_USAGE for a second one where
 * there can be only one. */
int gnn_export_out_array(struct gnn_export_out *o, const struct gnn_array_out *a,
                         const char *member, struct gnn_err *e) GNN_MUST_USE;
/* Ends the output, unless rc says that something has failed. GNN_E_USAGE for a tensor that has not
 * come: "where" has none. Takes a zeroed object. */
int gnn_export_out_end(struct gnn_export_out *o, const char *where, int rc,
                       struct gnn_err *e) GNN_MUST_USE;

#endif
