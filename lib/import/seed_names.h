/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds given by the names of nodes. */
#ifndef GNN_LIB_IMPORT_SEED_NAMES_H
#define GNN_LIB_IMPORT_SEED_NAMES_H

#include "lib/store/ids.h"

/* Whether the store has names of the type; keys: or numbers that are not just those from 0 on. */
bool gnn_seed_names_has(struct gnn_store *s, uint32_t ntype, bool keys);
/* The names of a type's nodes, by positions in the store or, with the positions of original ids in
 * `inverse`, by original ids: their bytes and 24 a node. With several ranks, those of this rank's
 * nodes, 4 bytes more each. NULL on failure: GNN_E_INPUT for names that are twice. */
struct gnn_id_names *gnn_seed_names_new(struct gnn_store *s, uint32_t ntype,
                                        const uint32_t *inverse, struct gnn_err *e) GNN_MUST_USE;
/* Takes NULL. */
void gnn_seed_names_free(struct gnn_id_names *names);

#endif
