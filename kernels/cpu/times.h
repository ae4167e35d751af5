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

/* Times that are spread evenly put one near its share of the row. */
static inline void gnn_time_search_begin(struct gnn_time_search *s, const struct gnn_pick_edges *a,
                                         uint64_t first, uint32_t span, int64_t order)
{
    struct gnn_time_search x = {a, first, order, span, 0, 0, 0};
    if (a->brief && span) {
        x.brief = gnn_time_brief(a, order);
        x.window = gnn_window_around(
            span, (uint32_t)((uint64_t)span * (uint32_t)(x.brief - INT16_MIN) >> 16));
        gnn_window_fetch(a->brief + first, span, x.window);
    }
    *s = x;
}

/* n <= GNN_TIME_SEARCHES searches that have begun; `found` is what they find. */
enum { GNN_TIME_SEARCHES = 64 };
void gnn_time_search_all(struct gnn_time_search *s, uint32_t n, bool real, bool too);

#endif
