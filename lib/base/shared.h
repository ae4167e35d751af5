/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that another process can map: a memfd, mapped whole, in which pieces are handed out. It
 * has no name, so nothing is left of it when the last process that has it is gone, however that
 * went. */
#ifndef GNN_LIB_BASE_SHARED_H
#define GNN_LIB_BASE_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

struct gnn_share;

/* An empty one, held once. GNN_E_RUN where the system gives none. */
int gnn_share_new(struct gnn_share **s, struct gnn_err *e) GNN_MUST_USE;
/* Each holder drops it once; with the last it is unmapped, whether its pieces were freed or not.
 * Thread-safe; drop takes NULL. */
void gnn_share_hold(struct gnn_share *s);
void gnn_share_drop(struct gnn_share *s);

/* A piece of at least `bytes` and `spare` more, at the start of a page, or of a huge one (2 MiB) if
 * it is as long, contents undefined; *cap tells its size. The first bytes are made ready to be
 * written at once, which is cheaper than page by page. NULL when there is no space. Thread-safe. */
void *gnn_share_alloc(struct gnn_share *s, uint64_t bytes, uint64_t spare,
                      uint64_t *cap) GNN_MUST_USE;
/* Gives the piece and its memory back to the system: no other process may be reading it.
 * Thread-safe; takes NULL. */
void gnn_share_free(struct gnn_share *s, void *p, uint64_t cap);

/* Whether [p, p + bytes) lies in s; *offset is where. */
bool gnn_share_offset(const struct gnn_share *s, const void *p, uint64_t bytes, uint64_t *offset);
/* Maps such memory with protection `prot` of mmap(2), so that the huge pages of another process are
 * huge here, too; NULL and errno if that cannot be. */
void *gnn_share_map(int fd, uint64_t window, int prot);
/* The descriptor to pass on, sealed against shrinking; and how much of it there is to map, at most.
 */
int gnn_share_fd(const struct gnn_share *s);
uint64_t gnn_share_window(const struct gnn_share *s);

#endif
