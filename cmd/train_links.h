/* SPDX-License-Identifier: Apache-2.0 */
/* Links in gnn-train: what it chooses where nothing else is asked for, and says. */
#ifndef GNN_CMD_TRAIN_LINKS_H
#define GNN_CMD_TRAIN_LINKS_H

#include "cmd/opt.h"

/* The task of gnn-train. */
extern const struct opt train_links_opts[];

/* After opt_parse: ends the program unless the options fit each other. */
void train_links_check(void);
/* Before the store is opened: with --task links, the edge type whose links are learned; and, of a
 * store without sets of them, a split beside the model, which takes the place of feed.store_path.
 * Ends the program on failure. */
void train_links_split(const char *output);
/* With the store: negatives, excluded edges and, unless --eval was given, the sets to evaluate,
 * which *eval gets. For seeds that are nodes it does nothing. */
void train_links_choose(const char *split, struct opt_list *eval, bool eval_given);
/* When training begins: from now on the split stays, whatever becomes of the run. */
void train_links_keep(void);
void train_links_end(void); /* frees what was made here */

#endif
