/* SPDX-License-Identifier: Apache-2.0 */
/* The check whether an edge type already has the reverses that an import would add. */
#ifndef GNN_LIB_IMPORT_REVERSES_H
#define GNN_LIB_IMPORT_REVERSES_H

#include "lib/import/import.h"

/* Called after all edges of the type `key` were counted. *there says that the edges have their
 * reverses already, so that none must be added. GNN_E_USAGE if nearly all have their reverses. */
int gnn_reverses_check(const struct gnn_dataset *d, const struct gnn_import_opts *o,
                       const char *key, const struct gnn_direction_counter *c, bool *there,
                       struct gnn_err *e) GNN_MUST_USE;

#endif
