/* The temporary directories of stores being written, so that a dying program can remove them. */
#ifndef GNN_LIB_STORE_TMP_H
#define GNN_LIB_STORE_TMP_H

#include "lib/schema.h"

/* What creates or renames something of a temporary store stands between these two. Once a stopping program has begun to
 * remove its stores (gnn_store_tmp_unlink_all), _enter does not return, so that nothing is made behind its back. */
void gnn_store_tmp_enter(void);
void gnn_store_tmp_leave(void);

/* Internal to lib/store_write.c, but for gnn_store_tmp_unlink_all (lib/store_write.h). A handful of
 * stores at a time are remembered; called between _enter and _leave. */
void gnn_store_tmp_add(const char *dir, uint32_t nparts);
void gnn_store_tmp_drop(const char *dir);
/* Removes store.json, the parts and the directory. With GNN_PARTS_UNKNOWN, parts up to the first that is
 * missing. */
#define GNN_PARTS_UNKNOWN UINT32_MAX
void gnn_store_tmp_remove_dir(const char *dir, uint32_t nparts);
/* Hash of the schema and the parts' tensor tables, as 16 hex digits. Records a failure in e. */
void gnn_store_identity(const struct gnn_schema *s, const uint64_t *part_hash, char out[17],
                        struct gnn_err *e);

#endif
