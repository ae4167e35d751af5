/* SPDX-License-Identifier: Apache-2.0 */
/* Searches by lines (kernels/cpu/window.h): each looks at one line and asks for the next one that
 * it needs, and waits while the others do the same. */
#include "kernels/cpu/window.h"

enum { LINE = GNN_PICK_WINDOW, NEAR = 3 /* lines that are looked at one after the other */ };

/* How many numbers are not above x, of which `from` are known not to be. */
static __attribute__((noinline, cold)) uint32_t count_upto(const struct gnn_window_search *s,
                                                           uint32_t from)
{
    const int16_t *at = s->row + from;
    for (uint32_t n = s->span - from; n;) {
        const uint32_t half = n / 2;
        const bool upto = at[half] <= s->x;
        at += upto ? half + 1 : 0;
        n = upto ? n - half - 1 : half;
    }
    return (uint32_t)(at - s->row);
}

/* Looks at a line; returns whether another one has to be looked at, which it asks for. */
GNN_INLINE bool look_at_line(struct gnn_window_search *s, enum gnn_isa isa)
{
    const uint32_t skip = (uint32_t)((uintptr_t)(s->row + s->at) / sizeof *s->row % LINE);
    /* The line begins with number s->at - skip, which may be one of the row before. */
    const uint32_t begin = s->at < skip ? 0 : s->at - skip, from = s->at < skip ? skip - s->at : 0,
                   left = s->span - begin, to = left < LINE - from ? from + left : LINE,
                   n = to - from, end = begin + n;
    const uint32_t count = gnn_window_count(s->row + s->at - skip, from, to, s->x, isa),
                   below = count & 255, upto = count >> 8;
    bool more = false;
    if (below == n && end < s->upto) { /* in a later line, or where that begins */
        s->below = end;
        s->at = ++s->looks < NEAR ? end : end + (s->upto - end) / 2;
        more = true;
    } else if (!below && begin > s->below) { /* in an earlier one, or where this begins */
        s->upto = begin;
        s->at = ++s->looks < NEAR ? begin - 1 : s->below + (begin - s->below) / 2;
        more = true;
    } else {
        s->below = begin + below;
        s->upto = begin + upto;
    }
    __builtin_prefetch(s->row + s->at, 0, 3);
    return more;
}

/* Where a line ends, the next one may go on with what equals x. */
GNN_INLINE void end_search(struct gnn_window_search *s)
{
    if (s->upto < s->span && s->row[s->upto] == s->x)
        s->upto = count_upto(s, s->upto);
}

GNN_SIMD static void search_all(struct gnn_window_search *s, uint32_t n)
{
    const enum gnn_isa isa = gnn_isa_best();
    uint16_t live[GNN_WINDOW_SEARCHES];
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        live[left] = (uint16_t)i;
        left += look_at_line(&s[i], isa);
    }
    while (left) {
        uint32_t kept = 0;
        for (uint32_t k = 0; k < left; k++) {
            const uint16_t i = live[k];
            live[kept] = i;
            kept += look_at_line(&s[i], isa);
        }
        left = kept;
    }
    for (uint32_t i = 0; i < n; i++)
        end_search(&s[i]);
}

void gnn_window_search_all(struct gnn_window_search *s, uint32_t n)
{
    search_all(s, n);
}
