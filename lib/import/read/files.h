/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of ids and numbers. */
#ifndef GNN_LIB_IMPORT_FILES_H
#define GNN_LIB_IMPORT_FILES_H

#include "lib/import/nodeids.h"
#include "lib/import/read/input.h"

/* The nodes of ids in a member (text or .npy), one a row: as the data set writes them or, with
 * `of` NULL, 0 to count-1. *node is to be freed with gnn_free. */
int gnn_member_ids(struct gnn_input *in, uint32_t member, uint64_t count,
                   const struct gnn_nodeids *of, uint32_t **node, uint64_t *n,
                   struct gnn_err *e) GNN_MUST_USE;
/* Ids that are words, one in each line of a member, of nodes that have none yet: node i is that of
 * line i, of *n. GNN_E_INPUT for an id that is there twice. */
int gnn_member_words(struct gnn_input *in, uint32_t member, struct gnn_nodeids *ids, uint64_t *n,
                     struct gnn_err *e) GNN_MUST_USE;
/* As gnn_member_ids, from FILE[:COLUMN], .npy or a text table with a column of ids
 * (lib/import/read/joined.h), for a set that messages call `what`: an id that is there twice is
 * GNN_E_INPUT. */
int gnn_files_ids(const char *spec, const char *what, uint64_t count, const struct gnn_nodeids *of,
                  uint32_t **node, uint64_t *n, struct gnn_err *e) GNN_MUST_USE;
/* A member, text or array, that holds a single number, whole and not negative. */
int gnn_member_number(struct gnn_input *in, uint32_t member, uint64_t *v,
                      struct gnn_err *e) GNN_MUST_USE;

#endif
