/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting edges by destination when there are more than memory should hold: every edge goes to its
 * range of destinations in a temporary file, then one range after the other is sorted in memory.
 * The order is gnn_csc_place's. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_SPILL_H
#define GNN_LIB_IMPORT_SPILL_H

#include "lib/import/build/csc.h"
#include "lib/base/io.h"
#include "lib/base/mem.h"

struct gnn_spill;
/* Called with the sorted edges of n destinations in the window, before they are passed on: those of
 * the i-th end before position end[i] - first of indices and field. May change their order. */
typedef int gnn_spill_window_fn(void *arg, struct gnn_spill *s, const uint64_t *end, uint64_t first,
                                uint64_t n, struct gnn_err *e);

struct gnn_spill {
    struct gnn_csc *csc; /* the caller's */
    uint32_t nfields;
    const size_t *row; /* [nfields] bytes of an edge's rows; not owned */
    size_t edge;       /* bytes of a sorted edge: source and rows */
    size_t record;     /* bytes of one in the file: source, destination, rows */
    uint64_t window;   /* edges that are sorted at a time, unless one destination alone has more */
    uint32_t nranges;
    struct gnn_spill_range *range; /* [nranges+1] */
    uint32_t *first;               /* range of destination i << shift */
    unsigned shift;
    char *buf; /* [nranges][room] on their way to the file */
    size_t room;
    struct gnn_io io;               /* the file has no name any more: it is gone with the process */
    char *name;                     /* for messages */
    struct gnn_buf indices, *field; /* the window, sorted; [nfields] */
    struct gnn_buf piece, keys, rows;
    bool deduped;
    gnn_spill_window_fn *window_fn; /* set before gnn_spill_each, which then sorts a destination
                                       with more edges than a window in memory, too; or NULL */
};

/* For a csc after gnn_csc_offsets, which must stay; file lies beside `beside`, about `memory` bytes
 * are used. GNN_E_RUN: no room on the disk, which is reserved at once. Release after failure, too.
 */
int gnn_spill_init(struct gnn_spill *s, struct gnn_csc *c, const size_t *row, uint32_t nfields,
                   const char *beside, uint64_t memory, struct gnn_err *e) GNN_MUST_USE;
/* Bytes that placing in memory and in mapped tensors would want. */
uint64_t gnn_spill_bytes(const struct gnn_csc *c, const size_t *row, uint32_t nfields);
/* Adds n edges; field[f] has n rows, or field is NULL, for zeros. GNN_E_INPUT if more arrive than
 * were counted. */
int gnn_spill_put(struct gnn_spill *s, const uint32_t *src, const uint32_t *dst, uint64_t n,
                  const void *const *field, struct gnn_err *e) GNN_MUST_USE;
/* After the last edge, at will: sorts each destination's sources and keeps the first of equal
 * edges, with its rows. */
int gnn_spill_dedup(struct gnn_spill *s, struct gnn_err *e) GNN_MUST_USE;
/* The next bytes of the sorted edges: of sources (which 0) or of field which - 1. */
typedef int gnn_spill_fn(void *arg, uint32_t which, const void *data, uint64_t bytes,
                         struct gnn_err *e);
/* Ends the sorting: calls fn, and window_fn with the same argument, on everything in order; csc
 * then holds offsets. GNN_E_INPUT if edges are missing. */
int gnn_spill_each(struct gnn_spill *s, gnn_spill_fn *fn, void *arg,
                   struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_spill_release(struct gnn_spill *s);

#endif
