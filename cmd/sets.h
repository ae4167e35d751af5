/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of a store: which are meant, and what they have in common. */
#ifndef GNN_CMD_SETS_H
#define GNN_CMD_SETS_H

#include "cmd/opt.h"
#include "lib/model/model.h"
#include "lib/store/store.h"

/* gnn-predict reports on sets of the split that the model was trained on, if the store has it, else
 * of the first. With `all`, *sets becomes all of them that are of the model's target type; else a
 * name without a split becomes that of the set in this split, if it has one. A message names the
 * split, and warns of sets that share nodes with the training set. Ends the program for sets that
 * are not there, or are named twice. Returns the split. */
const char *sets_choose(struct opt_list *sets, bool all, struct gnn_store *s,
                        const struct gnn_model *m, const char *model);
/* The name of set i (index into schema.set), with the split if the store has several. */
const char *sets_name(const struct gnn_schema *c, uint32_t i);
/* Before training on sets[0]: a message says which evaluated set, sets[1], selects the epoch, and
 * by which metric, unless `selects` is false; and warns of one that is called test, or shares nodes
 * with sets[0]. s: the store, or NULL. Collective over its ranks. */
void sets_tell_selection(struct gnn_store *s, char *const *sets, uint32_t n, bool selects,
                         const char *metric);

#endif
