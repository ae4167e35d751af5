/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of node fields, from a data set to a store. */
#ifndef GNN_LIB_IMPORT_ROWS_H
#define GNN_LIB_IMPORT_ROWS_H

#include "lib/import/import.h"
#include "lib/store/write.h"

/* Writes all rows of a field as tensor number `id` of the part, as `out` where features are
 * narrowed. */
int gnn_rows_write(struct gnn_dataset *d, const struct gnn_import_opts *o, uint32_t ntype,
                   uint32_t field, enum gnn_dtype out, struct gnn_store_writer *w, uint32_t id,
                   struct gnn_err *e) GNN_MUST_USE;

#endif
