/* SPDX-License-Identifier: Apache-2.0 */
/* Base stores: where a store finds the tensors that it does not have itself. */
#ifndef GNN_LIB_STORE_BASE_STORE_H
#define GNN_LIB_STORE_BASE_STORE_H

#include "lib/store/store.h"

/* The path by which a store that is to be written to `target` (gnn_store_target) names its base
 * store: as it is given, if that is absolute, or else the way from target to there; heap. */
char *gnn_base_name_from(const char *target, const char *base, struct gnn_err *e) GNN_MUST_USE;
/* The place of the base store that s names, heap; GNN_E_INPUT if there is nothing. */
char *gnn_base_find(const struct gnn_store *s, struct gnn_err *e) GNN_MUST_USE;
/* Lets the parts of s have the tensors of s->base, which is open: all but halos, edges of types
 * whose offsets s has itself, and what has the name of one of its own. GNN_E_INPUT if the two have
 * different parts, node types or edge types. */
int gnn_base_join(struct gnn_store *s, struct gnn_err *e) GNN_MUST_USE;

#endif
