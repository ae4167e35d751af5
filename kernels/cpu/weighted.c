/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted picks (kernels/cpu/weighted.h). Sums of weights are larger than the caches, so a number
 * is looked for among their high bits, of which a line of memory has 32; the sums themselves are
 * read where these do not decide, once in some hundred draws of a row of hundreds. The searches of
 * a group's draws go side by side (kernels/cpu/window.h). */
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

/* Weights that are not too unlike each other put a number near its share of the row: where to look
 * first. */
static inline uint32_t window_of(const struct gnn_weights *w, uint64_t u, double scale)
{
    const uint32_t g = (uint32_t)(int64_t)((double)(int64_t)(u - w->before) * scale);
    const uint32_t first = gnn_window_around(w->span, g < w->span ? g : w->span - 1);
    gnn_window_fetch(w->high, w->span, first);
    return first;
}

/* The neighbour that u belongs to, which is the first one with a greater sum: where the high bits
 * do not decide, one of a few, whose sums are read. */
GNN_INLINE uint32_t decide(const struct gnn_weights *w, uint64_t u, uint32_t below, uint32_t upto)
{
    if (__builtin_expect(below == upto, 1))
        return below;
    return find_between(w, u, below, upto < w->span ? upto : w->span - 1);
}

/* Looks where window_of says; returns how many numbers are elsewhere, and which in far: of these, x
 * is where to go on. */
GNN_SIMD static uint32_t find_all_near(const struct gnn_weighted_row *row, uint32_t n, uint32_t k,
                                       const uint64_t *u, uint32_t *x, uint32_t *far)
{
    uint32_t many = 0;
    for (uint32_t l = 0; l < n; l++) {
        const struct gnn_weights *w = &row[l].w;
        for (uint32_t q = l; q < k * LANES; q += LANES) {
            uint32_t below, upto;
            far[many] = q;
            many += !gnn_window_near(w->high, w->span, x[q], gnn_weight_high(u[q]), &below, &upto);
            x[q] = decide(w, u[q], below, upto);
        }
    }
    return many;
}

static void find_far(const struct gnn_weighted_row *row, const uint64_t *u, uint32_t *x,
                     const uint32_t *far, uint32_t many)
{
    struct gnn_window_search s[LANES * GNN_DRAW_MAX];
    for (uint32_t i = 0; i < many; i++) {
        const uint32_t q = far[i];
        const struct gnn_weights *w = &row[q % LANES].w;
        gnn_window_begin(&s[i], w->high, w->span, gnn_weight_high(u[q]), x[q]);
    }
    gnn_window_search_all(s, many);
    for (uint32_t i = 0; i < many; i++)
        x[far[i]] = decide(&row[far[i] % LANES].w, u[far[i]], s[i].below, s[i].upto);
}

/* The neighbours that k numbers of each of n rows belong to: both are [j*LANES+l]; x: as window_of
 * says, if rows have high bits. */
static void find_all(const struct gnn_weighted_row *row, uint32_t n, uint32_t k, const uint64_t *u,
                     uint32_t *x)
{
    uint32_t far[LANES * GNN_DRAW_MAX + 1];
    if (!row->w.high) {
        for (uint32_t q = 0; q < k * LANES; q++)
            x[q] = q % LANES < n ? gnn_weight_find(&row[q % LANES].w, u[q]) : 0;
        return;
    }
    find_far(row, u, x, far, find_all_near(row, n, k, u, x, far));
}

/* The neighbour that number u belongs to. */
static uint32_t find_one(const struct gnn_weighted_row *row, uint64_t u)
{
    const struct gnn_weights *w = &row->w;
    struct gnn_window_search s;
    if (!w->high)
        return gnn_weight_find(w, u);
    const uint32_t first = window_of(w, u, row->scale);
    if (gnn_window_near(w->high, w->span, first, gnn_weight_high(u), &s.below, &s.upto))
        return decide(w, u, s.below, s.upto);
    gnn_window_begin(&s, w->high, w->span, gnn_weight_high(u), first);
    gnn_window_search_all(&s, 1);
    return decide(w, u, s.below, s.upto);
}

/* ---- samples ---- */

/* The sample so far: a list, and for long ones a set of its members. */
struct sample {
    uint32_t *x, n, *set, size;
};

static bool is_in(const struct sample *s, uint32_t i)
{
    if (!s->set) {
        uint32_t same = 0;
        for (uint32_t q = 0; q < s->n; q++)
            same |= s->x[q] == i;
        return same;
    }
    uint32_t h = gnn_pick_set_slot(i, s->size);
    while (s->set[h] != UINT32_MAX && s->set[h] != i)
        h = (h + 1) & (s->size - 1);
    return s->set[h] == i;
}

static void add_member(struct sample *s, uint32_t i)
{
    s->x[s->n++] = i;
    if (!s->set)
        return;
    uint32_t h = gnn_pick_set_slot(i, s->size);
    while (s->set[h] != UINT32_MAX)
        h = (h + 1) & (s->size - 1);
    s->set[h] = i;
}

/* A neighbour that is not in the sample, by number u among the weights of those. The numbers of
 * members that begin at v or before are skipped, until none is left to skip. */
static uint32_t find_left(const struct gnn_weights *w, const struct sample *s, uint64_t u)
{
    for (uint64_t v = u, next;; v = next) {
        next = u;
        for (uint32_t q = 0; q < s->n; q++) {
            const uint64_t begin = gnn_weight_begin(w, s->x[q]);
            next += begin <= v ? w->sum[s->x[q]] - begin : 0;
        }
        if (next == v)
            return gnn_weight_find(w, v);
    }
}

static uint64_t total_left(const struct gnn_weights *w, const struct sample *s)
{
    uint64_t left = w->total;
    for (uint32_t q = 0; q < s->n; q++)
        left -= w->sum[s->x[q]] - gnn_weight_begin(w, s->x[q]);
    return left;
}

/* Draws t, t + 1, ... until the sample has k members. */
static void draw_on(const uint32_t key[2], const struct gnn_weighted_row *row, uint32_t k,
                    uint64_t t, struct sample *s)
{
    for (; s->n < k && t < (uint64_t)GNN_WEIGHT_TRIES * k; t++) {
        const uint32_t i = find_one(
            row, gnn_weight_draw(&row->w, key, row->orig, row->tree, (uint32_t)t, row->w.total));
        if (!is_in(s, i))
            add_member(s, i);
    }
    for (; s->n < k; t++)
        add_member(s, find_left(&row->w, s,
                                gnn_weight_draw(&row->w, key, row->orig, row->tree, (uint32_t)t,
                                                total_left(&row->w, s))));
}

/* ---- the draws of several rows ---- */

/* Draw j of n rows: numbers, u[l], of these words; and where to look for them first, x[l]. */
static void draw_numbers(const uint32_t key[2], const struct gnn_weighted_row *row, uint32_t n,
                         uint32_t j, const uint32_t *low, uint64_t *u, uint32_t *x)
{
    const bool high = row->w.high != NULL;
    for (uint32_t l = 0; l < n; l++) {
        const struct gnn_weights *w = &row[l].w;
        const uint64_t word = (uint64_t)low[LANES + l] << 32 | low[l];
        const uint64_t low_half = gnn_mul64(word, w->total, &u[l]);
        u[l] += w->before;
        if (__builtin_expect(low_half < w->total, 0)) /* perhaps again */
            u[l] = gnn_weight_draw(w, key, row[l].orig, row[l].tree, j, w->total);
        if (high)
            x[l] = window_of(w, u[l], row[l].scale);
    }
}

/* The first k draws of n rows: u[j*LANES+l], and x likewise. What is drawn next is computed while
 * the lines that are looked at later arrive. */
static void draw_all(const uint32_t key[2], const struct gnn_weighted_row *row, uint32_t n,
                     uint32_t k, uint64_t *u, uint32_t *x)
{
    uint32_t id[LANES] __attribute__((aligned(64))), tree[LANES] __attribute__((aligned(64))),
        words[4 * LANES] __attribute__((aligned(64)));
    for (uint32_t l = 0; l < LANES; l++) {
        id[l] = l < n ? row[l].orig : 0;
        tree[l] = l < n ? row[l].tree : 0;
    }
    for (uint32_t j = 0; j < k; j++, u += LANES, x += LANES) {
        if (j % 2 == 0)
            gnn_draw16_words(key, id, tree, j / 2, (uint32_t)GNN_RNG_WEIGHTS << 24, words);
        draw_numbers(key, row, n, j, words + (size_t)(j % 2) * 2 * LANES, u, x);
    }
}

/* Replaces what a row has drawn before, among its k draws, by UINT32_MAX. */
GNN_SIMD static void mark_again(uint32_t *x, uint32_t k)
{
    lanes *v = (lanes *)x;
    for (uint32_t j = k; j-- > 1;) {
        lanes again = {0};
        for (uint32_t q = 0; q < j; q++)
            again |= (lanes)(v[q] == v[j]);
        v[j] |= again;
    }
}

void gnn_weighted_few(struct gnn_pick_rule rule, const uint32_t key[2],
                      const struct gnn_weighted_row *row, uint32_t n, uint32_t *x)
{
    const uint32_t k = gnn_pick_draws(rule);
    uint64_t u[LANES * GNN_DRAW_MAX];
    uint32_t at[LANES * GNN_DRAW_MAX] __attribute__((aligned(64)));
    if (!n) /* and k may be any */
        return;
    draw_all(key, row, n, k, u, at);
    find_all(row, n, k, u, at);
    if (!gnn_pick_repeats(rule))
        mark_again(at, k);
    for (uint32_t l = 0; l < n; l++, x += k) {
        struct sample s = {.x = x};
        for (uint32_t j = 0; j < k; j++) {
            x[s.n] = at[j * LANES + l];
            s.n += x[s.n] != UINT32_MAX;
        }
        draw_on(key, &row[l], k, k, &s);
    }
}

void gnn_weighted_many(struct gnn_pick_rule rule, const uint32_t key[2],
                       const struct gnn_weighted_row *row, uint32_t *set, uint32_t *x)
{
    const uint32_t k = gnn_pick_draws(rule);
    struct sample s = {x, 0, set, gnn_pick_set_size(k)};
    for (uint32_t j = 0; gnn_pick_repeats(rule) && j < k; j++)
        x[j] = find_one(row, gnn_weight_draw(&row->w, key, row->orig, row->tree, j, row->w.total));
    if (gnn_pick_repeats(rule))
        return;
    memset(set, 0xff, s.size * sizeof *set);
    draw_on(key, row, k, 0, &s);
}
