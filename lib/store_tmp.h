/* The temporary directories of stores being written, so that a dying program can remove them. */
#ifndef GNN_LIB_STORE_TMP_H
#define GNN_LIB_STORE_TMP_H

#include "lib/schema.h"

/* Internal to lib/store_write.c, but for gnn_store_tmp_unlink_all (lib/store_write.h). A handful of
 * stores at a time are remembered; not thread-safe. */
void gnn_store_tmp_add(const char *dir, uint32_t nparts);
void gnn_store_tmp_drop(const char *dir);
/* Removes store.json, the parts and the directory. With GNN_PARTS_UNKNOWN, parts up to the first that is
 * missing. Async-signal-safe. */
#define GNN_PARTS_UNKNOWN UINT32_MAX
void gnn_store_tmp_remove_dir(const char *dir, uint32_t nparts);
/* Hash of the schema and the parts' tensor tables, as 16 hex digits. Records a failure in e. */
void gnn_store_identity(const struct gnn_schema *s, const uint64_t *part_hash, char out[17],
                        struct gnn_err *e);

#endif
