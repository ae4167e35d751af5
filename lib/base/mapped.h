/* SPDX-License-Identifier: Apache-2.0 */
/* Memory-mapped files: which file an address belongs to, and whether it was written to after it was
 * mapped. Thread-safe. */
#ifndef GNN_LIB_BASE_MAPPED_H
#define GNN_LIB_BASE_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

/* Maps `bytes` of fd from `at` on, shared, to read or (`write`) also to write; NULL on failure.
 * `path` is what messages call it. */
void *gnn_mapped_new(int fd, uint64_t at, uint64_t bytes, bool write, const char *path,
                     struct gnn_err *e) GNN_MUST_USE;
/* Takes NULL. */
void gnn_mapped_free(const void *p);

/* Replaces the whole 2 MiB pieces of `bytes` at `data`, which are mapped read-only, by copies in
 * memory of which the kernel is asked to make huge pages. Addresses and contents stay,
 * for threads that read meanwhile, too, and what is mapped keeps these pages until _free. *copied:
 * bytes. Copies on OpenMP threads; needs as much memory. GNN_E_NOMEM leaves all as it was; after
 * another error, which only the kernel can cause, nothing of it may be read. */
int gnn_mapped_copy(const void *data, uint64_t bytes, uint64_t *copied,
                    struct gnn_err *e) GNN_MUST_USE;
/* Pages that have any of `bytes` at `data` need not stay in this process's memory: they are read
 * again when they are used. Of a mapping with copies, all stay. */
void gnn_mapped_forget(const void *data, uint64_t bytes);

/* Opens, for another process, the file that is mapped read-only at `data`: a descriptor that the
 * caller closes, and in *at the offset of `data` in the file. -1 if the path no longer leads to
 * that file, the file was changed, or the mapping has copies. */
int gnn_mapped_open(const void *data, uint64_t *at) GNN_MUST_USE;

/* Whether the file that is mapped read-only at `p` has another size or change time than when it was
 * mapped. A file that was renamed over or removed counts as unchanged, because the mapping keeps
 * it. */
bool gnn_mapped_changed(const void *p);
/* Records the first changed file of all mappings as GNN_E_RUN; 0 if none has changed. */
int gnn_mapped_check(struct gnn_err *e);
/* Records as GNN_E_RUN why an access at `p` faulted; 0 if `p` is in no mapping. */
int gnn_mapped_fault(const void *p, struct gnn_err *e);

#endif
