/* SPDX-License-Identifier: Apache-2.0 */
/* gnn_time_count (kernels/pick.h) of many rows at once. */
#ifndef GNN_KERNELS_CPU_TIMES_H
#define GNN_KERNELS_CPU_TIMES_H

#include "kernels/pick.h"

/* How many of a row's times are before `order` or, if that is asked, at it. */
struct gnn_time_search {
    const struct gnn_pick_edges *edges;
    const int16_t *at; /* the first that is not before is one of n, or follows them */
    uint64_t first;    /* edge of the row */
    int64_t order;
    uint32_t span, n, found;
    int16_t brief;
};

static inline void gnn_time_search_begin(struct gnn_time_search *s, const struct gnn_pick_edges *a,
                                         uint64_t first, uint32_t span, int64_t order)
{
    const struct gnn_time_search x = {a, NULL, first, order, span, span, 0, 0};
    *s = x;
    if (!a->brief)
        return;
    s->at = a->brief + first;
    s->brief = gnn_time_brief(a, order);
    __builtin_prefetch(s->at + (span > GNN_PICK_WINDOW ? span / 2 - 1 : 0), 0, 3);
    __builtin_prefetch(s->at + (span > GNN_PICK_WINDOW ? span / 2 : span), 0, 3);
}

/* Up to 64 searches; `found` is what they find. */
void gnn_time_search_all(struct gnn_time_search *s, uint32_t many, bool real, bool too);

#endif
