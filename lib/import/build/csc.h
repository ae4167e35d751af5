/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets of compressed sparse columns: edges are counted by destination as they stream by.
 * sort.h puts them in their places. */
#ifndef GNN_LIB_IMPORT_CSC_H
#define GNN_LIB_IMPORT_CSC_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

/* The edges made of one input edge (s, d). FWD: s -> d; REV: d -> s; both: s -> d, then d -> s, a
 * self-loop once. With REV alone ndst is that of the result. */
enum gnn_csc_mode {
    GNN_CSC_FWD = 1,
    GNN_CSC_REV = 2,
    /* edges with s == d are left out; only when both ends are of one type */
    GNN_CSC_DROP_LOOPS = 4,
};

struct gnn_csc {
    uint64_t ndst;
    uint64_t nedges; /* edges counted so far */
    unsigned mode;
    uint64_t *indptr; /* [ndst+1] counts; offsets after gnn_csc_offsets */
    uint64_t ends;    /* sum of gnn_csc_end of all rows: tells whether cursors stand there */
};

/* Not thread-safe. The caller has checked that ids are below the counts. */
int gnn_csc_init(struct gnn_csc *c, uint64_t ndst, unsigned mode, struct gnn_err *e) GNN_MUST_USE;
void gnn_csc_count(struct gnn_csc *c, const uint32_t *src, const uint32_t *dst, uint64_t n);
/* Ends the counting: indptr becomes offsets. They may then serve as cursors, each of which is moved
 * to the end of its row. */
void gnn_csc_offsets(struct gnn_csc *c);
uint64_t gnn_csc_end(uint64_t v, uint64_t end);
/* Cursors that all stand at the ends of their rows become offsets again. GNN_E_INPUT if they do
 * not: other edges were placed than were counted. */
int gnn_csc_done(struct gnn_csc *c, struct gnn_err *e) GNN_MUST_USE;
void gnn_csc_release(struct gnn_csc *c);

#endif
