/* SPDX-License-Identifier: Apache-2.0 */
/* The tier GNN_TIER_REMOTE: rows that another rank sends. */
#ifndef GNN_LIB_GATHER_GATHER_REMOTE_H
#define GNN_LIB_GATHER_GATHER_REMOTE_H

#include "lib/gather/wanted.h"

enum { GATHER_ENDED, GATHER_ASKED }; /* what a message begins with */
enum { GATHER_ALIGN = 64 };

/* Its entry, as in struct gather_tier. */
uint64_t gnn_gather_remote_number(struct gather_rows *f, const struct gather_want *w, uint64_t i,
                                  uint32_t owner);
int gnn_gather_remote_fetch(const struct gatherer *g, struct gather_rows *f,
                            const struct gnn_batch *b, struct gnn_err *e) GNN_MUST_USE;
int gnn_gather_remote_parts(const struct gatherer *g, struct gather_rows *f,
                            const struct gather_job *j, uint32_t hop, const struct gather_own *own,
                            struct gnn_gather_part *part, uint32_t *n,
                            struct gnn_err *e) GNN_MUST_USE;
/* The requests of a batch's rows, into f->q.queue; and those of other ranks, f->q.in, into f->by
 * and f->found (lib/gather/remote_ask.c). */
int gnn_gather_remote_ask(const struct gatherer *g, struct gather_rows *f,
                          const struct gnn_batch *b, struct gnn_err *e) GNN_MUST_USE;
int gnn_gather_remote_read(const struct gatherer *g, struct gather_rows *f,
                           const struct gnn_batch *b, struct gnn_err *e) GNN_MUST_USE;

#endif
