/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of ids and numbers. */
#ifndef GNN_LIB_IMPORT_FILES_H
#define GNN_LIB_IMPORT_FILES_H

#include "lib/import/dataset.h"
#include "lib/import/read/input.h"

/* Node ids in a member (text or .npy), one a row, each below count. *ids is to be freed with
 * gnn_free. With orig, what is read are original ids. */
int gnn_member_ids(struct gnn_input *in, uint32_t member, uint64_t count,
                   const struct gnn_dataset_ids *orig, uint32_t **ids, uint64_t *n,
                   struct gnn_err *e) GNN_MUST_USE;
/* The same from a file of its own. */
int gnn_files_ids(const char *path, uint64_t count, const struct gnn_dataset_ids *orig,
                  uint32_t **ids, uint64_t *n, struct gnn_err *e) GNN_MUST_USE;
/* A member, text or array, that holds a single number, whole and not negative. */
int gnn_member_number(struct gnn_input *in, uint32_t member, uint64_t *v,
                      struct gnn_err *e) GNN_MUST_USE;

#endif
