/* SPDX-License-Identifier: Apache-2.0 */
/* gnn_time_count (kernels/pick.h) of many rows at once: each search waits for one line after the
 * other, so all of a group take a step before the first takes its next one. */
#ifndef GNN_KERNELS_CPU_TIMES_H
#define GNN_KERNELS_CPU_TIMES_H

#include "kernels/pick.h"

/* How many of n ascending times are before `order` or, with `too`, at it: *count in the end. */
struct gnn_time_search {
    const int64_t *time;
    uint32_t n, low;
    int64_t order;
};

static inline void gnn_time_search_begin(struct gnn_time_search *s, const int64_t *time, uint32_t n,
                                         int64_t order)
{
    s->time = time;
    s->n = n;
    s->low = 0;
    s->order = order;
    __builtin_prefetch(time + n / 2, 0, 3);
}

/* Up to 64 searches; `low` is what they find. */
static inline void gnn_time_search_all(struct gnn_time_search *s, uint32_t many, bool real,
                                       bool too)
{
    uint32_t live[64], left = 0;
    for (uint32_t i = 0; i < many; i++) {
        live[left] = i;
        left += s[i].n > 0;
    }
    while (left) {
        uint32_t kept = 0;
        for (uint32_t k = 0; k < left; k++) {
            struct gnn_time_search *x = &s[live[k]];
            const uint32_t half = x->n / 2;
            const int64_t at = gnn_time_order(real, x->time[x->low + half]);
            const bool before = at < x->order || (too && at == x->order);
            x->low += before ? half + 1 : 0;
            x->n = before ? x->n - half - 1 : half;
            __builtin_prefetch(x->time + x->low + x->n / 2, 0, 3);
            live[kept] = live[k];
            kept += x->n > 0;
        }
        left = kept;
    }
}

#endif
