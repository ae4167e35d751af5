/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting the in-edges of each node by their effective time: the later of the edge's own time and
 * that of its source. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_TIME_ORDER_H
#define GNN_LIB_IMPORT_TIME_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/tensor.h"
#include "lib/base/err.h"

/* Where times come from. Each is I64 or F64. */
struct gnn_order {
    int own;         /* number of the edges' own field of times; -1: they have none */
    const void *src; /* (sources) the caller's times of the sources; NULL: they have none */
    enum gnn_dtype own_dtype, src_dtype;
    /* The type of effective times: F64 if one of the two is; whole numbers are then less than what
     * F64 holds exactly */
    enum gnn_dtype dtype;
    bool raised; /* effective times are not just the edges' own */
};

/* Sorted edges of n destinations in a row: those of the i-th end before position end[i] - first. */
struct gnn_order_rows {
    const uint64_t *end;
    uint64_t first, n;
    uint32_t *indices;
    void *const *field; /* [nfields] (edges) rows of row[f] bytes; field[own] has times */
    const size_t *row;
    uint32_t nfields;
    void *effective; /* (edges) filled with effective times, if `raised` */
};

/* Whether F64 holds a whole time exactly; and the error, GNN_E_INPUT "FILE: PLACE: ...", if not. */
bool gnn_time_exact(int64_t v);
int gnn_time_fail(const char *file, const char *place, int64_t v, struct gnn_err *e);
/* Whether the source has a later time than the edge itself, row i of `own` (NULL: edges have no
 * time). */
bool gnn_order_raises(const struct gnn_order *o, const void *own, uint64_t i, uint32_t source);
/* Sorts each row stably, on OpenMP threads (0: one per core), with the same result for any number.
 * Memory: for each thread 32 bytes for each edge of its longest row that is not in order yet, and a
 * copy of the row in the widest field. GNN_E_INPUT: a time is NaN. */
int gnn_order_sort(const struct gnn_order *o, const struct gnn_order_rows *r, unsigned threads,
                   struct gnn_err *e) GNN_MUST_USE;

#endif
