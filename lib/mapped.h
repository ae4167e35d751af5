/* Files that are mapped: whose memory an address is, and whether a file has been written to since. Thread-safe. */
#ifndef GNN_LIB_MAPPED_H
#define GNN_LIB_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

/* Maps `bytes` of fd from `at` on, shared, to read or (`write`) also to write; NULL on failure. `path` is what messages call it. */
void *gnn_mapped_new(int fd, uint64_t at, uint64_t bytes, bool write, const char *path, struct gnn_err *e) GNN_MUST_USE;
/* Takes NULL. */
void gnn_mapped_free(const void *p);

/* Whether the file of what was mapped to read at `p` has another size or time of change than then. One that has been replaced by
 * another file, or removed, has not: the mapping keeps it. */
bool gnn_mapped_changed(const void *p);
/* Records that of the first of all such files as GNN_E_RUN; 0 if there is none. */
int gnn_mapped_check(struct gnn_err *e);
/* Records as GNN_E_RUN why memory at `p`, which faulted, cannot be reached; 0 if no mapping has it. */
int gnn_mapped_fault(const void *p, struct gnn_err *e);

#endif
