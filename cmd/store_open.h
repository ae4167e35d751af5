/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs that make batches of a store: opening it, also if it is larger than
 * memory, and saying what that means. */
#ifndef GNN_CMD_STORE_OPEN_H
#define GNN_CMD_STORE_OPEN_H

#include "lib/data/source.h"
#include "lib/gpu/gpu.h"
#include "lib/store/huge_pages.h"
#include "lib/store/store.h"

/* For the table of options. */
#define STORE_VERIFY_HELP                                                                          \
    "verify the store's checksums in the background (default; --no-verify); those of large tensors of a store larger than memory only if given, and first"

#define STORE_HUGE_PAGES_HELP                                                                      \
    "copy what batches read of the store into huge pages first, up to a third of the memory"

/* The option as store_open takes it: devices have no use for it, which is said. */
unsigned store_huge(bool wanted, unsigned what, const struct gnn_gpu *g);
/* Opens a store or ends the program. *verify: the option, which may have been given. huge: what is
 * copied into huge pages (lib/store/huge_pages.h). */
void store_open(struct gnn_store *s, const char *path, const bool *verify, unsigned huge,
                struct gnn_comm *c);
/* The source `up`, whose batches are of s: if that is larger than memory, what they take of the
 * disk is said once there is something to say. Takes over `up`, which may be NULL. */
struct gnn_source *store_watch(struct gnn_source *up, const struct gnn_store *s,
                               struct gnn_err *e) GNN_MUST_USE;

#endif
