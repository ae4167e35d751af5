/* SPDX-License-Identifier: Apache-2.0 */
/* Splits in arrays, as masks or ids of nodes of a type. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_MASKS_H
#define GNN_LIB_IMPORT_MASKS_H

#include "lib/import/read/src.h"

/* Masks of 0 and 1 of shape (n), (splits, n) or (n, splits): the set of each split "0", "1" and so
 * on, or of "mask" if there is one. GNN_E_INPUT for any other value. */
int gnn_masks_add(struct gnn_src *s, struct gnn_input *in, uint32_t member, const char *set,
                  uint32_t ntype, struct gnn_err *e) GNN_MUST_USE;
/* The ids of a set's nodes. */
int gnn_masks_add_ids(struct gnn_src *s, struct gnn_input *in, uint32_t member, const char *split,
                      const char *set, uint32_t ntype, struct gnn_err *e) GNN_MUST_USE;

/* Whether a role is "SPLIT.SET_idx", the ids of the set SET of the split SPLIT: both, as copies.
 * The first point ends the split's name. */
bool gnn_masks_named(const char *role, char split[GNN_WORD_MAX + 1], char set[GNN_WORD_MAX + 1]);

#endif
