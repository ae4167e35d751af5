/* SPDX-License-Identifier: Apache-2.0 */
/* Names of gnn-tools' options in PyG, DGL and programs written with them. */
#ifndef GNN_CMD_OTHER_NAMES_H
#define GNN_CMD_OTHER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The nth option, from 0, that the name of n bytes may mean: "learning_rate" is "lr"; NULL after
 * the last. Several options share a name where no program has more than one of them. Case, - and _
 * do not count. */
const char *other_name(const char *name, size_t n, unsigned nth);
/* Whether "a|b|c" has the word of n bytes; compared likewise. */
bool other_name_among(const char *words, const char *word, size_t n);

#endif
