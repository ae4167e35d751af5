/* SPDX-License-Identifier: Apache-2.0 */
/* Reverses: whether an edge type already has those that an import would add, and which types have
 * the reverses of another one's edges. */
#ifndef GNN_LIB_IMPORT_REVERSES_H
#define GNN_LIB_IMPORT_REVERSES_H

#include "lib/import/build/build_impl.h"

/* Called after all edges of the type `key` were counted. *there says that the edges have their
 * reverses already, so that none must be added. GNN_E_USAGE if nearly all have their reverses. */
int gnn_reverses_check(const struct gnn_dataset *d, const struct gnn_import_opts *o,
                       const char *key, const struct gnn_direction_counter *c, bool *there,
                       struct gnn_err *e) GNN_MUST_USE;
/* Says in the schema which types have reverses, as --reverse-of names them. GNN_E_USAGE for what
 * names no two types that can. */
int gnn_reverses_declare(struct build *b, struct gnn_err *e) GNN_MUST_USE;
/* After all edges were counted: likewise, of two types that no name tells, each of which has
 * exactly the other's reverses, and no third has. GNN_E_USAGE if there are reverses that were
 * named, and others beside them. */
int gnn_reverses_find(struct build *b, struct gnn_err *e) GNN_MUST_USE;
/* Whether the edges of two types, which were counted, are each other's reverses. */
bool gnn_reverses_exact(const struct build *b, uint32_t t, uint32_t of);

#endif
