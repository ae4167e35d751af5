/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting edges by destination, stably: the in-edges of a destination keep the order of the input.
 * Edges are placed in a window of memory, by cursors that counting has made (csc.h). If that does
 * not hold all of them, every edge first goes to its range of destinations in a temporary file, and
 * the window is filled with one range after the other. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_SORT_H
#define GNN_LIB_IMPORT_SORT_H

#include "lib/import/build/csc.h"
#include "lib/base/io.h"
#include "lib/base/mem.h"

struct gnn_sort;
/* Called with the sorted edges of n destinations in the window, before they are passed on: those of
 * the i-th end before position end[i] - first of indices and field. May change their order. */
typedef int gnn_sort_window_fn(void *arg, struct gnn_sort *s, const uint64_t *end, uint64_t first,
                               uint64_t n, struct gnn_err *e);

/* Not thread-safe. Can be moved. */
struct gnn_sort {
    struct gnn_csc csc; /* the caller initialises and counts it; offsets after gnn_sort_each */
    uint32_t nfields;
    size_t *row;                    /* [nfields] bytes of an edge's rows */
    size_t edge;                    /* bytes of a sorted edge: source and rows */
    uint64_t put;                   /* edges so far */
    struct gnn_buf indices, *field; /* the window: sources; [nfields] rows */
    uint32_t nranges;
    struct gnn_sort_range *range; /* [nranges+1] */
    struct gnn_buf keys, rows;
    bool astray; /* an edge had no place: the input has changed, or the file */
    bool deduped;
    /* Set before gnn_sort_each, which then sorts a destination with more edges than a window in
     * memory, too; or NULL. */
    gnn_sort_window_fn *window_fn;
    /* Only if edges do not stay in the window: */
    struct gnn_io io; /* the file has no name any more: it is gone with the process; or fd -1 */
    char *name;       /* for messages */
    size_t record;    /* bytes of an edge in the file: source, destination, rows */
    uint64_t window;  /* edges that are sorted at a time, unless one destination alone has more */
    uint32_t *first;  /* range of destination i << shift */
    unsigned shift;
    char *buf; /* [nranges][capacity] on their way to the file */
    size_t capacity;
    struct gnn_buf piece;
};

/* For edges that were counted in s->csc; all else is zero. row[f] is what an edge's rows of field f
 * take in bytes, and `more` what the caller keeps for each edge in the window. If all of it fits
 * into `memory` bytes, edges stay in the window; otherwise about so much is used, and the file lies
 * beside `beside`. GNN_E_RUN: no space on the disk, which is reserved at once. Release after
 * failure, too. */
int gnn_sort_init(struct gnn_sort *s, const size_t *row, uint32_t nfields, size_t more,
                  const char *beside, uint64_t memory, struct gnn_err *e) GNN_MUST_USE;
/* Adds n edges; field[f] has n rows. The caller has checked that ids are below the counts.
 * GNN_E_INPUT if more arrive than were counted. */
int gnn_sort_put(struct gnn_sort *s, const uint32_t *src, const uint32_t *dst, uint64_t n,
                 const void *const *field, struct gnn_err *e) GNN_MUST_USE;
/* After the last edge, at will: sorts each destination's sources and keeps the first of equal
 * edges, with its rows. Other types may be sorted before gnn_sort_each. */
int gnn_sort_dedup(struct gnn_sort *s, struct gnn_err *e) GNN_MUST_USE;
/* Bytes of memory that stay taken from then on, or that gnn_sort_each takes again. */
uint64_t gnn_sort_held(const struct gnn_sort *s);
/* The next bytes of the sorted edges: of sources (which 0) or of field which - 1. */
typedef int gnn_sort_fn(void *arg, uint32_t which, const void *data, uint64_t bytes,
                        struct gnn_err *e);
/* Ends the sorting: calls fn, and window_fn with the same argument, on everything in order; csc
 * then holds offsets. GNN_E_INPUT if edges are missing; GNN_E_RUN if the file does not have what
 * was written to it. */
int gnn_sort_each(struct gnn_sort *s, gnn_sort_fn *fn, void *arg, struct gnn_err *e) GNN_MUST_USE;
/* Releases csc, too. Takes a zeroed object. */
void gnn_sort_release(struct gnn_sort *s);

#endif
