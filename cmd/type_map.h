/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a graph's types that a model calls otherwise. */
#ifndef GNN_CMD_TYPE_MAP_H
#define GNN_CMD_TYPE_MAP_H

#include "cmd/opt.h"
#include "lib/model/model.h"

/* to: a copy of s, to be released, in which edge types, and with them their node types, have the
 * names that the model has: each of `map` is "S/R/D=S/R/D", the store's and the model's. Ends the
 * program for one that does not fit. path: of the store. */
void type_map_schema(const struct opt_list *map, const struct gnn_schema *s, const char *path,
                     struct gnn_schema *to);
/* The model's types, which are in the order of s, get the names that s has. */
void type_map_rename(struct gnn_model_config *c, const struct gnn_schema *s);

#endif
