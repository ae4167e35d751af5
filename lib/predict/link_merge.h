/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and lines of a batch of links that several ranks have, put together by rank 0. Private to
 * lib/predict. */
#ifndef GNN_LIB_PREDICT_LINK_MERGE_H
#define GNN_LIB_PREDICT_LINK_MERGE_H

#include "lib/base/mem.h"
#include "lib/comm/comm.h"

struct gnn_link_merge {
    struct gnn_comm *comm;
    struct gnn_exchange x;
    struct gnn_buf message, rows, lines;
};
/* Lines of text at one place in a table. */
struct gnn_merge_line {
    uint64_t at, bytes;
};
int gnn_link_merge_init(struct gnn_link_merge *m, struct gnn_comm *c,
                        struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_link_merge_release(struct gnn_link_merge *m);
/* This rank's rows, (n, width), have the places at[n] among all of the batch's: NULL, as they
 * follow. Rank 0 gets them all, (all, width), until the next call, and the others NULL. Collective.
 * GNN_E_RANK if another rank's are malformed. */
int gnn_link_merge_rows(struct gnn_link_merge *m, const uint32_t *at, uint64_t n, uint64_t all,
                        const float *rows, uint64_t width, const float **merged,
                        struct gnn_err *e) GNN_MUST_USE;
/* Likewise, of lines: this rank's, n of them, follow one another in `text`. Rank 0 gets those of
 * all ranks in the order of their places, which are from 0 on, *all of them. Not with one rank. */
int gnn_link_merge_lines(struct gnn_link_merge *m, const struct gnn_merge_line *line, uint64_t n,
                         const char *text, const struct gnn_span **merged, uint64_t *all,
                         struct gnn_err *e) GNN_MUST_USE;

#endif
