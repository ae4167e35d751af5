/* SPDX-License-Identifier: Apache-2.0 */
/* Searches for times (kernels/cpu/times.h). Times are larger than the caches, so what is searched
 * is their 16 bits (gnn_time_brief); the times themselves are read where these do not decide. Each
 * search waits for one line after the other, so all of a group take a step before the first takes
 * its next one. */
#include "kernels/cpu/times.h"

#include "kernels/cpu/window.h"

enum { WINDOW = GNN_PICK_WINDOW };

/* Halves rows until a window is left of each. */
static void narrow_all(struct gnn_time_search *s, uint32_t many)
{
    uint8_t live[64];
    uint32_t left = 0;
    for (uint32_t i = 0; i < many; i++) {
        live[left] = (uint8_t)i;
        left += s[i].n > WINDOW;
    }
    while (left) {
        uint32_t kept = 0;
        for (uint32_t k = 0; k < left; k++) {
            struct gnn_time_search *x = &s[live[k]];
            const uint32_t half = x->n / 2;
            x->at += x->at[half - 1] < x->brief ? half : 0;
            x->n -= half;
            __builtin_prefetch(x->at + (x->n > WINDOW ? x->n / 2 - 1 : 0), 0, 3);
            __builtin_prefetch(x->at + (x->n > WINDOW ? x->n / 2 : x->n), 0, 3);
            live[kept] = live[k];
            kept += x->n > WINDOW;
        }
        left = kept;
    }
}

/* How many times of a row, of which `from` are earlier, are not later by their 16 bits. */
static uint32_t count_same(const struct gnn_time_search *s, uint32_t from)
{
    const int16_t *row = s->edges->brief + s->first, *at = row + from;
    for (uint32_t n = s->span - from; n;) {
        const uint32_t half = n / 2;
        const bool same = at[half] <= s->brief;
        at += same ? half + 1 : 0;
        n = same ? n - half - 1 : half;
    }
    return (uint32_t)(at - row);
}

/* Times `from` to `to` - 1 have the 16 bits of what is looked for. */
static uint32_t count_exactly(const struct gnn_time_search *s, uint32_t from, uint32_t to,
                              bool real, bool too)
{
    const int64_t *time = s->edges->time + s->first + from;
    if (gnn_time_is_brief(s->edges, s->order))
        return too ? to : from;
    return from + gnn_time_count(time, to - from, real, s->order, too);
}

GNN_SIMD static void finish_all(struct gnn_time_search *s, uint32_t many, bool real, bool too)
{
    for (uint32_t i = 0; i < many; i++) {
        const uint32_t before = (uint32_t)(s[i].at - (s[i].edges->brief + s[i].first)),
                       count = gnn_window_count(s[i].at, s[i].n, s[i].brief),
                       low = before + (count & 255), most = before + (count >> 8);
        s[i].found = low;
        if (__builtin_expect(low < most, 0))
            s[i].found = count_exactly(
                &s[i], low, most < before + s[i].n ? most : count_same(&s[i], most), real, too);
    }
}

void gnn_time_search_all(struct gnn_time_search *s, uint32_t many, bool real, bool too)
{
    if (many && s->edges->brief) {
        narrow_all(s, many);
        finish_all(s, many, real, too);
        return;
    }
    for (uint32_t i = 0; i < many; i++)
        s[i].found =
            gnn_time_count(s[i].edges->time + s[i].first, s[i].span, real, s[i].order, too);
}
