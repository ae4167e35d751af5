/* SPDX-License-Identifier: Apache-2.0 */
/* The check whether a zip archive is complete. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_ZIP_CHECK_H
#define GNN_LIB_IMPORT_ZIP_CHECK_H

#include "lib/import/read/stage.h"

/* Opens the archive's bytes from their beginning. */
typedef int gnn_zip_open_fn(void *arg, struct gnn_stage **s, struct gnn_err *e);

/* Compares the directory at the end with the members: each listed member exists, no two overlap,
 * and there are no other bytes between them or after the end; GNN_E_INPUT otherwise. libarchive
 * does not notice a truncated zip archive, which it reads as a stream. The data of members are not
 * checked here: their readers verify the checksums. */
int gnn_zip_check(gnn_zip_open_fn *open, void *arg, struct gnn_err *e) GNN_MUST_USE;

#endif
