/* Whether edges that are to get reverses need them. */
#ifndef GNN_LIB_IMPORT_REVERSES_H
#define GNN_LIB_IMPORT_REVERSES_H

#include "lib/import.h"

/* After all edges of a type, which `key` names, were counted: *there says that they have their reverses already, so that none are to
 * be added. GNN_E_USAGE if nearly all have. */
int gnn_reverses_check(const struct gnn_dataset *d, const struct gnn_import_opts *o, const char *key,
                       const struct gnn_direction_counter *c, bool *there, struct gnn_err *e) GNN_MUST_USE;

#endif
