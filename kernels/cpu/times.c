/* SPDX-License-Identifier: Apache-2.0 */
/* Searches for times (kernels/cpu/times.h). Times are larger than the caches, so what is searched
 * is their 16 bits (gnn_time_brief); the times themselves are read where these do not decide. */
#include "kernels/cpu/times.h"

/* Times number `from` to `to` - 1 of the row have the 16 bits of what is looked for. */
GNN_INLINE uint32_t decide(const struct gnn_time_search *s, uint32_t from, uint32_t to, bool real,
                           bool too)
{
    if (__builtin_expect(from == to, 1))
        return from;
    if (gnn_time_is_brief(s->edges, s->order))
        return too ? to : from;
    return from + gnn_time_count(s->edges->time + s->first + from, to - from, real, s->order, too);
}

/* Decides where to look first, and fetches it: times that are spread evenly put one near its share
 * of the row. */
GNN_INLINE void begin_search(struct gnn_time_search *s)
{
    if (!s->edges->brief || !s->span)
        return;
    s->brief = gnn_time_brief(s->edges, s->order);
    s->window = gnn_window_around(
        s->span, (uint32_t)((uint64_t)s->span * (uint32_t)(s->brief - INT16_MIN) >> 16));
    gnn_window_fetch(s->edges->brief + s->first, s->span, s->window);
}

/* Looks where each is expected; returns how many are elsewhere, and which in far. Begins m others,
 * one for each that it looks up. */
GNN_SIMD static uint32_t find_all_near(struct gnn_time_search *s, uint32_t n,
                                       struct gnn_time_search *next, uint32_t m, bool real,
                                       bool too, uint8_t *far)
{
    const enum gnn_isa isa = gnn_isa_best();
    uint32_t many = 0, begun = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t below, upto;
        if (begun < m)
            begin_search(&next[begun++]);
        far[many] = (uint8_t)i;
        many += !gnn_window_near(s[i].edges->brief + s[i].first, s[i].span, s[i].window, s[i].brief,
                                 isa, &below, &upto);
        s[i].found = decide(&s[i], below, upto, real, too);
    }
    while (begun < m)
        begin_search(&next[begun++]);
    return many;
}

static void find_far(struct gnn_time_search *s, const uint8_t *far, uint32_t many, bool real,
                     bool too)
{
    struct gnn_window_search window[GNN_TIME_SEARCHES];
    for (uint32_t i = 0; i < many; i++) {
        const struct gnn_time_search *x = &s[far[i]];
        gnn_window_begin(&window[i], x->edges->brief + x->first, x->span, x->brief, x->window);
    }
    gnn_window_search_all(window, many);
    for (uint32_t i = 0; i < many; i++)
        s[far[i]].found = decide(&s[far[i]], window[i].below, window[i].upto, real, too);
}

void gnn_time_search_all(struct gnn_time_search *s, uint32_t n, struct gnn_time_search *next,
                         uint32_t m, bool real, bool too)
{
    uint8_t far[GNN_TIME_SEARCHES + 1];
    if ((n && s->edges->brief) || (m && next->edges->brief)) {
        find_far(s, far, find_all_near(s, n, next, m, real, too, far), real, too);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        s[i].found =
            gnn_time_count(s[i].edges->time + s[i].first, s[i].span, real, s[i].order, too);
}
