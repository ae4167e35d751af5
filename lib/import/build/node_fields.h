/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of node fields, from a data set to a store. */
#ifndef GNN_LIB_IMPORT_NODE_FIELDS_H
#define GNN_LIB_IMPORT_NODE_FIELDS_H

#include "lib/import/import.h"
#include "lib/store/write.h"

/* Writes all rows of a field as tensor number `id` of the part, as the store's field `to` has them:
 * standardized, or narrowed. Of features x in f32, *spread tells how far columns lie apart. */
int gnn_rows_write(struct gnn_dataset *d, const struct gnn_import_opts *o, uint32_t ntype,
                   uint32_t field, const struct gnn_field *to, struct gnn_store_writer *w,
                   uint32_t id, struct gnn_import_columns *spread, struct gnn_err *e) GNN_MUST_USE;

#endif
