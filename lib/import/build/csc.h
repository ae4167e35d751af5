/* SPDX-License-Identifier: Apache-2.0 */
/* Building compressed sparse columns from a stream of edges, in two passes: count, then place. A
 * stable counting sort: the in-edges of a destination keep the order of the input. */
#ifndef GNN_LIB_IMPORT_CSC_H
#define GNN_LIB_IMPORT_CSC_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

/* What one input edge (s, d) becomes. FWD: s -> d; REV: d -> s; both: s -> d, then d -> s, a
 * self-loop once. With REV alone nsrc and ndst are those of the result. */
enum gnn_csc_mode {
    GNN_CSC_FWD = 1,
    GNN_CSC_REV = 2,
    GNN_CSC_DROP_LOOPS =
        4, /* edges with s == d are left out; only when both ends are of one type */
};

struct gnn_csc {
    uint64_t ndst;
    uint64_t nedges; /* edges counted so far; after _ready the final number */
    uint64_t placed;
    unsigned mode;
    uint64_t *indptr;  /* [ndst+1]; cursors between _ready and _done */
    uint32_t *indices; /* [nedges] after _ready */
};

/* Not thread-safe. The caller has checked that ids are below the counts. */
int gnn_csc_init(struct gnn_csc *c, uint64_t ndst, unsigned mode, struct gnn_err *e) GNN_MUST_USE;
void gnn_csc_count(struct gnn_csc *c, const uint32_t *src, const uint32_t *dst, uint64_t n);
/* Ends the counting: indptr becomes offsets, which are the cursors of placing. */
void gnn_csc_offsets(struct gnn_csc *c);
/* The same, and allocates indices. */
int gnn_csc_ready(struct gnn_csc *c, struct gnn_err *e) GNN_MUST_USE;
/* What edges from *i on become, at most `room` (2 or more) copies of them, moving *i past them:
 * sources, destinations, and 2 * edge, plus 1 for a reverse copy. Returns how many. */
unsigned gnn_csc_copies(unsigned mode, const uint32_t *src, const uint32_t *dst, uint64_t n,
                        uint64_t *i, unsigned room, uint32_t *s, uint32_t *d, uint64_t *from);
/* Places n edges. at, if not NULL, has room for 2n and receives the positions of edge i's forward
 * and reverse copy at 2i and 2i+1, UINT64_MAX where there is none. GNN_E_INPUT if more edges arrive
 * than were counted (the input changed between passes). */
int gnn_csc_place(struct gnn_csc *c, const uint32_t *src, const uint32_t *dst, uint64_t n,
                  uint64_t *at, struct gnn_err *e) GNN_MUST_USE;
/* Ends the placing: indptr holds offsets. GNN_E_INPUT if edges are missing. */
int gnn_csc_done(struct gnn_csc *c, struct gnn_err *e) GNN_MUST_USE;
/* Sorts each destination's sources and keeps one of each. */
void gnn_csc_dedup(struct gnn_csc *c);
/* Position of s -> d in a deduplicated graph; UINT64_MAX if there is none. */
uint64_t gnn_csc_find(const struct gnn_csc *c, uint32_t s, uint32_t d);
void gnn_csc_release(struct gnn_csc *c);

#endif
