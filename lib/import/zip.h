/* Whether a zip archive is whole. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_ZIP_H
#define GNN_LIB_IMPORT_ZIP_H

#include "lib/import/stage.h"

/* Opens the archive's bytes from their beginning. */
typedef int gnn_zip_open_fn(void *arg, struct gnn_stage **s, struct gnn_err *e);

/* Compares the directory at the end with the members: each listed one is there, each has its place for itself, and nothing
 * lies between them or after the end. libarchive takes a zip archive without its end for a stream that ends there. The data
 * of members are not looked at: their checksums are, by who reads them. GNN_E_INPUT otherwise. */
int gnn_zip_check(gnn_zip_open_fn *open, void *arg, struct gnn_err *e) GNN_MUST_USE;

#endif
