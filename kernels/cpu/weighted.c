/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted picks (kernels/cpu/weighted.h). Neighbour i has the numbers from the sum of the weights
 * before it up to its own sum; a pick is a uniform number and a search for its neighbour. Sums are
 * larger than the caches, so the search compares their high bits, 32 to a line of memory: first in
 * the window where equal weights would put the number, which is mostly right, else by lines
 * (kernels/cpu/window.h). Where high bits do not decide, sums are read: once in some hundred draws
 * from a row of hundreds. While lines arrive, the numbers of the next group are drawn. */
#include "kernels/cpu/weighted.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/cpu/window.h"
#include "kernels/simd.h"

enum { LANES = GNN_DRAW_LANES };
_Static_assert((int)LANES *GNN_DRAW_MAX <= (int)GNN_WINDOW_SEARCHES, "searches of a group");

/* Sixteen numbers, as in kernels/cpu/draw.c. */
typedef uint32_t lanes __attribute__((vector_size(64), aligned(64), may_alias));

/* ---- searches ---- */

/* The neighbour that number u belongs to is `from` or a later one, up to `to`. */
static uint32_t find_between(const struct gnn_weights *w, uint64_t u, uint32_t from, uint32_t to)
{
    const struct gnn_weights part = {.sum = w->sum + from, .span = to - from + 1};
    return from + gnn_weight_find(&part, u);
}

/* The neighbour that u belongs to, which is the first one with a greater sum: where the high bits
 * do not decide, one of a few, whose sums are read. */
GNN_INLINE uint32_t decide(const struct gnn_weights *w, uint64_t u, uint32_t below, uint32_t upto)
{
    const uint32_t last = w->span - 1; /* beyond which damaged numbers may lead */
    if (__builtin_expect(below == upto, 1))
        return below < last ? below : last;
    return find_between(w, u, below < last ? below : last, upto < last ? upto : last);
}

/* Where the number `past` the first one of its row is expected; and the window around that. */
GNN_INLINE uint32_t guess_of(uint64_t past, double scale)
{
    return (uint32_t)(int64_t)((double)(int64_t)past * scale);
}
GNN_INLINE uint32_t window_at(uint32_t span, uint32_t guess)
{
    return gnn_window_around(span, guess < span ? guess : span - 1);
}

/* Looks up draw j of each destination in its window; draws that are elsewhere are added to far.
 * Windows are counted one after the other; positions are computed from all counts at once. */
GNN_INLINE void find_near(struct gnn_weighted_group *g, uint32_t j, enum gnn_isa isa, uint32_t *far,
                          uint32_t *many)
{
    uint32_t count[LANES] __attribute__((aligned(64))) = {0}, *at = g->at + (size_t)j * LANES,
                          unsure[LANES] __attribute__((aligned(64))), any = 0;
    const int16_t *high = g->high + (size_t)j * LANES;
    for (uint32_t l = 0; l < g->n; l++) {
        const struct gnn_weights *w = &g->w[l];
        const uint32_t n = w->span < GNN_PICK_WINDOW ? w->span : (uint32_t)GNN_PICK_WINDOW;
        count[l] = gnn_window_count(w->high + at[l], 0, n, high[l], isa);
    }
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t span = g->span[l], n = span < GNN_PICK_WINDOW ? span : GNN_PICK_WINDOW,
                       below = count[l] & 255, upto = count[l] >> 8, first = at[l];
        unsure[l] =
            (below != upto) | ((below == 0) & (first > 0)) | ((upto == n) & (first + n < span));
        any |= unsure[l];
        at[l] = first + below - ((first + below == span) & (span > 0)); /* if damaged */
    }
    for (uint32_t l = 0; any && l < g->n; l++) {
        if (!unsure[l])
            continue;
        const struct gnn_weights *w = &g->w[l];
        const uint32_t q = j * LANES + l, first = at[l] - (count[l] & 255);
        uint32_t below, upto;
        if (gnn_window_near(w->high, w->span, first, high[l], isa, &below, &upto))
            at[l] = decide(w, g->number[q], below, upto);
        else
            far[(*many)++] = q; /* where to go on is in at[l] */
    }
    for (uint32_t l = 0; l < g->n; l++)
        __builtin_prefetch(g->source[l] + at[l], 0, 2);
}

static void find_far(struct gnn_weighted_group *g, const uint32_t *far, uint32_t many)
{
    struct gnn_window_search s[LANES * GNN_DRAW_MAX];
    for (uint32_t i = 0; i < many; i++) {
        const uint32_t q = far[i];
        const struct gnn_weights *w = &g->w[q % LANES];
        gnn_window_begin(&s[i], w->high, w->span, g->high[q], g->at[q]);
    }
    gnn_window_search_all(s, many);
    for (uint32_t i = 0; i < many; i++) {
        const uint32_t q = far[i], l = q % LANES;
        g->at[q] = decide(&g->w[l], g->number[q], s[i].below, s[i].upto);
    }
}

/* The neighbour of destination l that number u belongs to. */
GNN_INLINE uint32_t find_one(const struct gnn_weighted_group *g, uint32_t l, uint64_t u,
                             enum gnn_isa isa)
{
    const struct gnn_weights *w = &g->w[l];
    struct gnn_window_search s;
    if (!w->high)
        return gnn_weight_find(w, u);
    const uint32_t first = window_at(w->span, guess_of(u - w->before, g->scale[l]));
    if (gnn_window_near(w->high, w->span, first, gnn_weight_high(u), isa, &s.below, &s.upto))
        return decide(w, u, s.below, s.upto);
    gnn_window_begin(&s, w->high, w->span, gnn_weight_high(u), first);
    gnn_window_search_all(&s, 1);
    return decide(w, u, s.below, s.upto);
}

/* ---- samples ---- */

/* The sample so far: a list, and for long ones a set of its members. Without a set, the rest of
 * `capacity` places are UINT32_MAX, so that is_in compares them all, whatever was drawn. */
struct sample {
    uint32_t *x, n, capacity, *set, size;
    const uint32_t *source; /* with `skip`: of the neighbours */
    struct gnn_skip skip;   /* which are as if they were in the sample */
};

GNN_INLINE bool is_in(const struct sample *s, uint32_t i)
{
    if (!s->set) {
        uint32_t same = 0;
        for (uint32_t q = 0; q < s->capacity; q++)
            same |= s->x[q] == i;
        return same;
    }
    uint32_t h = gnn_pick_set_slot(i, s->size);
    while (s->set[h] != UINT32_MAX && s->set[h] != i)
        h = (h + 1) & (s->size - 1);
    return s->set[h] == i;
}

GNN_INLINE void add_member(struct sample *s, uint32_t i)
{
    s->x[s->n++] = i;
    if (!s->set)
        return;
    uint32_t h = gnn_pick_set_slot(i, s->size);
    while (s->set[h] != UINT32_MAX)
        h = (h + 1) & (s->size - 1);
    s->set[h] = i;
}

/* The weight of neighbour i, if its numbers begin at v or before. */
GNN_INLINE uint64_t weight_upto(const struct gnn_weights *w, uint32_t i, uint64_t v)
{
    const uint64_t begin = gnn_weight_begin(w, i);
    return begin <= v ? w->sum[i] - begin : 0;
}

/* A neighbour that is not in the sample, by number u among the weights of those. The numbers of
 * members that begin at v or before are skipped, until none is left to skip. */
static uint32_t find_left(const struct gnn_weights *w, const struct sample *s, uint64_t u)
{
    for (uint64_t v = u, next;; v = next) {
        next = u;
        for (uint32_t q = 0; q < s->n; q++)
            next += weight_upto(w, s->x[q], v);
        for (uint32_t q = 0; q < s->skip.n; q++)
            next += weight_upto(w, (uint32_t)(s->skip.edge[q] - s->source), v);
        if (next <= v) /* less: of damaged numbers */
            return gnn_weight_find(w, v);
    }
}

static uint64_t total_left(const struct gnn_weights *w, const struct sample *s)
{
    uint64_t left = w->total;
    for (uint32_t q = 0; q < s->n; q++)
        left -= weight_upto(w, s->x[q], UINT64_MAX);
    for (uint32_t q = 0; q < s->skip.n; q++)
        left -= weight_upto(w, (uint32_t)(s->skip.edge[q] - s->source), UINT64_MAX);
    return left;
}

/* Draw t of destination l, below n. */
static uint64_t draw_one(const uint32_t key[2], const struct gnn_weighted_group *g, uint32_t l,
                         uint64_t t, uint64_t n)
{
    return gnn_weight_draw(&g->w[l], key, g->orig[l], g->tree[l], (uint32_t)t, n);
}

/* Draws t, t + 1, ... until the sample has k members. */
GNN_INLINE void draw_on(const uint32_t key[2], const struct gnn_weighted_group *g, uint32_t l,
                        uint32_t k, uint64_t t, enum gnn_isa isa, struct sample *s)
{
    const struct gnn_weights *w = &g->w[l];
    for (; s->n < k && t < (uint64_t)GNN_WEIGHT_TRIES * k; t++) {
        const uint64_t u =
            t < g->draws ? g->number[t * LANES + l] : draw_one(key, g, l, t, w->total);
        const uint32_t i = find_one(g, l, u, isa);
        if (!is_in(s, i))
            add_member(s, i);
    }
    for (; s->n < k; t++)
        add_member(s, find_left(w, s, draw_one(key, g, l, t, total_left(w, s))));
}

/* The k picks of destination l, which skips some: each draw is one of the others. */
static void draw_others(struct gnn_pick_rule rule, const uint32_t key[2],
                        const struct gnn_weighted_group *g, uint32_t l, struct sample *s)
{
    const struct gnn_weights *w = &g->w[l];
    const uint32_t k = gnn_pick_draws(rule);
    const bool repeats = gnn_pick_repeats(rule);
    s->source = g->source[l];
    s->skip = g->skip[l];
    const struct sample none = {.source = s->source, .skip = s->skip};
    const uint64_t left = total_left(w, &none);
    uint64_t t = 0;
    for (; s->n < k && (repeats || t < (uint64_t)GNN_WEIGHT_TRIES * k); t++) {
        const uint32_t i = find_left(w, &none, draw_one(key, g, l, t, left));
        if (repeats)
            s->x[s->n++] = i;
        else if (!is_in(s, i))
            add_member(s, i);
    }
    for (; s->n < k; t++)
        add_member(s, find_left(w, s, draw_one(key, g, l, t, total_left(w, s))));
}

/* ---- the draws of several rows ---- */

/* Makes the numbers of draw j from these words, and where to look for them first. Returns whether
 * any may have to be drawn again. */
GNN_INLINE bool draw_numbers(struct gnn_weighted_group *restrict g, uint32_t j,
                             const uint32_t *restrict word)
{
    uint64_t *restrict number = g->number + (size_t)j * LANES, again = 0;
    int16_t *restrict high = g->high + (size_t)j * LANES;
    uint32_t *restrict at = g->at + (size_t)j * LANES, guess[LANES] __attribute__((aligned(64)));
    for (uint32_t l = 0; l < LANES; l++) {
        /* The halves of word * total, as by gnn_mul64, but without a multiplication of 128 bits. */
        const uint32_t w0 = word[l], w1 = word[LANES + l], t0 = g->total[0][l], t1 = g->total[1][l];
        const uint64_t p00 = (uint64_t)w0 * t0, p01 = (uint64_t)w0 * t1, p10 = (uint64_t)w1 * t0,
                       p11 = (uint64_t)w1 * t1,
                       mid = (p00 >> 32) + (p01 & UINT32_MAX) + (p10 & UINT32_MAX),
                       low = mid << 32 | (p00 & UINT32_MAX),
                       top = p11 + (p01 >> 32) + (p10 >> 32) + (mid >> 32);
        again |= low < ((uint64_t)t1 << 32 | t0);
        number[l] = g->before[l] + top;
        guess[l] = guess_of(top, g->scale[l]);
    }
    for (uint32_t l = 0; l < LANES; l++) {
        high[l] = gnn_weight_high(number[l]);
        at[l] = window_at(g->span[l], guess[l]);
    }
    return again;
}

/* Takes numbers that may have to be drawn again from the plain rule: about one in 2^64/total. */
static __attribute__((noinline, cold)) void
draw_again(const uint32_t key[2], struct gnn_weighted_group *g, uint32_t j, const uint32_t *word)
{
    for (uint32_t l = 0; l < g->n; l++) {
        const uint32_t q = j * LANES + l;
        const uint64_t total = g->w[l].total;
        if (((uint64_t)word[LANES + l] << 32 | word[l]) * total >= total)
            continue;
        g->number[q] = draw_one(key, g, l, j, total);
        g->high[q] = gnn_weight_high(g->number[q]);
        g->at[q] = window_at(g->span[l], guess_of(g->number[q] - g->before[l], g->scale[l]));
    }
}

/* Draws for `next`; meanwhile looks up the first k draws of `drawn`, if it has high bits. */
GNN_SIMD static void draw_and_find(const uint32_t key[2], uint32_t k,
                                   struct gnn_weighted_group *next,
                                   struct gnn_weighted_group *drawn)
{
    uint32_t word[4 * LANES] __attribute__((aligned(64))), far[LANES * GNN_DRAW_MAX], many = 0;
    const enum gnn_isa isa = gnn_isa_best();
    const bool find = drawn->n && drawn->w->high;
    for (uint32_t j = 0; j < (next->n ? next->draws : k); j++) {
        const uint32_t *own = word + (size_t)(j % 2) * 2 * LANES;
        if (next->n && j % 2 == 0)
            gnn_draw16_words(key, next->orig, next->tree, j / 2, (uint32_t)GNN_RNG_WEIGHTS << 24,
                             word);
        if (next->n && draw_numbers(next, j, own))
            draw_again(key, next, j, own);
        for (uint32_t l = 0; j < k && l < next->n && next->w->high; l++)
            gnn_window_fetch(next->w[l].high, next->span[l], next->at[j * LANES + l]);
        if (find && j < k)
            find_near(drawn, j, isa, far, &many);
    }
    if (find)
        find_far(drawn, far, many);
}

/* The first k draws where there are no high bits. */
static void find_by_sums(struct gnn_weighted_group *g, uint32_t k)
{
    for (uint32_t q = 0; q < k * LANES; q++)
        g->at[q] = q % LANES < g->n ? gnn_weight_find(&g->w[q % LANES], g->number[q]) : 0;
}

/* Replaces each of the k draws that repeats an earlier one of its destination by UINT32_MAX.
 * Returns a mask of the destinations that have any. */
GNN_SIMD static uint32_t mark_again(uint32_t *x, uint32_t k)
{
    lanes *v = (lanes *)x, any = {0};
    uint32_t mask = 0;
    for (uint32_t j = k; j-- > 1;) {
        lanes again = {0};
        for (uint32_t q = 0; q < j; q++)
            again |= (lanes)(v[q] == v[j]);
        v[j] |= again;
        any |= again;
    }
    for (uint32_t l = 0; l < LANES; l++)
        mask |= (any[l] & 1) << l;
    return mask;
}

/* Lets the destinations of this mask, which have drawn a neighbour twice, draw on. */
GNN_SIMD static void complete_samples(const uint32_t key[2], struct gnn_weighted_group *g,
                                      uint32_t k, uint32_t mask)
{
    uint32_t x[GNN_DRAW_MAX] __attribute__((aligned(64)));
    const enum gnn_isa isa = gnn_isa_best();
    for (; mask; mask &= mask - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(mask);
        struct sample s = {.x = x, .capacity = (k + 7) / 8 * 8};
        memset(x, 0xff, s.capacity * sizeof *x);
        for (uint32_t j = 0; j < k; j++) {
            x[s.n] = g->at[j * LANES + l];
            s.n += x[s.n] != UINT32_MAX;
        }
        draw_on(key, g, l, k, k, isa, &s);
        for (uint32_t j = 0; j < k; j++)
            g->at[j * LANES + l] = x[j];
    }
}

/* Draws anew for the destinations that skip some. */
static void replace_samples(struct gnn_pick_rule rule, const uint32_t key[2],
                            struct gnn_weighted_group *g)
{
    const uint32_t k = gnn_pick_draws(rule);
    uint32_t x[GNN_DRAW_MAX] __attribute__((aligned(64)));
    for (uint32_t l = 0; l < g->n; l++) {
        if (!g->skip[l].n)
            continue;
        struct sample s = {.x = x, .capacity = (k + 7) / 8 * 8};
        memset(x, 0xff, s.capacity * sizeof *x);
        draw_others(rule, key, g, l, &s);
        for (uint32_t j = 0; j < k; j++)
            g->at[j * LANES + l] = x[j];
    }
}

void gnn_weighted_few(struct gnn_pick_rule rule, const uint32_t key[2],
                      struct gnn_weighted_group *next, struct gnn_weighted_group *drawn)
{
    const uint32_t k = gnn_pick_draws(rule);
    if (!next->n && !drawn->n) /* and k may be any */
        return;
    for (uint32_t l = next->n; l < LANES; l++) { /* which compute, too, for nothing */
        next->orig[l] = next->tree[l] = next->span[l] = 0;
        next->before[l] = next->total[0][l] = next->total[1][l] = 0;
        next->scale[l] = 0;
    }
    next->draws = gnn_pick_repeats(rule) || k == 1 ? k : k / 2 * 2 + 2;
    draw_and_find(key, k, next, drawn);
    if (drawn->n && !drawn->w->high)
        find_by_sums(drawn, k);
    if (drawn->n && !gnn_pick_repeats(rule))
        complete_samples(key, drawn, k, mark_again(drawn->at, k) & ((1u << drawn->n) - 1));
    replace_samples(rule, key, drawn);
}

void gnn_weighted_many(struct gnn_pick_rule rule, const uint32_t key[2],
                       struct gnn_weighted_group *g, uint32_t *set, uint32_t *x)
{
    const uint32_t k = gnn_pick_draws(rule);
    const enum gnn_isa isa = gnn_isa_best();
    struct sample s = {.x = x, .set = set, .size = gnn_pick_set_size(k)};
    g->draws = 0;
    if (!gnn_pick_repeats(rule))
        memset(set, 0xff, s.size * sizeof *set);
    if (g->skip->n)
        draw_others(rule, key, g, 0, &s);
    else if (gnn_pick_repeats(rule))
        for (uint32_t j = 0; j < k; j++)
            x[j] = find_one(g, 0, draw_one(key, g, 0, j, g->w->total), isa);
    else
        draw_on(key, g, 0, k, 0, isa, &s);
}
