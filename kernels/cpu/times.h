/* SPDX-License-Identifier: Apache-2.0 */
/* gnn_time_count (kernels/pick.h) of many rows at once. */
#ifndef GNN_KERNELS_CPU_TIMES_H
#define GNN_KERNELS_CPU_TIMES_H

#include "kernels/cpu/window.h"

/* How many of a row's times are before `order` or, if that is asked, at it. */
struct gnn_time_search {
    const struct gnn_pick_edges *edges;
    uint64_t first; /* edge of the row */
    int64_t order;
    uint32_t span, found;
    uint32_t window; /* where to look for the 16 bits first */
    int16_t brief;
};

static inline void gnn_time_search_set(struct gnn_time_search *s, const struct gnn_pick_edges *a,
                                       uint64_t first, uint32_t span, int64_t order)
{
    const struct gnn_time_search set = {a, first, order, span, 0, 0, 0};
    *s = set;
}

/* Makes n <= GNN_TIME_SEARCHES searches that were `next` in an earlier call, and sets their
 * `found`. Meanwhile it fetches the memory that m others look at, which have been set: one between
 * two searches, as all at once would wait for each other. n and m may be 0. */
enum { GNN_TIME_SEARCHES = 64 };
void gnn_time_search_all(struct gnn_time_search *s, uint32_t n, struct gnn_time_search *next,
                         uint32_t m, bool real, bool too);

#endif
