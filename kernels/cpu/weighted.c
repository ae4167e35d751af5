/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted picks (kernels/cpu/weighted.h). Sums of weights are larger than the caches, so a number
 * is looked for among their high bits, of which a line of memory has 32; the sums themselves are
 * read where these do not decide, once in some hundred draws of a row of hundreds. The searches of
 * a group's draws go side by side: the lines that they wait for arrive together. */
#include "kernels/cpu/weighted.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/cpu/window.h"

enum { LANES = GNN_DRAW_LANES, WINDOW = GNN_PICK_WINDOW };

/* Sixteen numbers, as in kernels/cpu/draw.c. */
typedef uint32_t lanes __attribute__((vector_size(64), aligned(64), may_alias));

/* ---- searches ---- */

/* The neighbour that number u belongs to is `from` or a later one, up to `to`. */
static uint32_t find_between(const struct gnn_weights *w, uint64_t u, uint32_t from, uint32_t to)
{
    const struct gnn_weights part = {.sum = w->sum + from, .span = to - from + 1};
    return from + gnn_weight_find(&part, u);
}

/* The same, given the last neighbour before which none has higher bits than u. */
static uint32_t find_exactly(const struct gnn_weights *w, uint64_t u, uint32_t last)
{
    const int16_t bits = gnn_weight_high(u), *at = w->high;
    if (!last || w->high[last - 1] < bits)
        return last;
    for (uint32_t n = last, half; n > 1; n -= half) {
        half = n / 2;
        at += at[half - 1] < bits ? half : 0;
    }
    return find_between(w, u, (uint32_t)(at - w->high), last);
}

/* Weights that are not too unlike each other put a number near its share of the row: where to look
 * first, WINDOW neighbours or the whole row. */
static inline uint32_t window_of(const struct gnn_weights *w, uint64_t u, double scale)
{
    const uint32_t g = (uint32_t)(int64_t)((double)(int64_t)(u - w->before) * scale);
    const uint32_t last = w->span > WINDOW ? w->span - WINDOW : 0,
                   from = g > WINDOW / 2 ? g - WINDOW / 2 : 0;
    return from < last ? from : last;
}

/* Whether x, where the window begins, could become the neighbour. */
GNN_INLINE bool find_near(const struct gnn_weights *w, uint64_t u, uint32_t *x)
{
    const uint32_t n = w->span < WINDOW ? w->span : WINDOW, first = *x;
    const uint32_t count = gnn_window_count(w->high + first, n, gnn_weight_high(u)),
                   lower = count & 255, most = count >> 8;
    *x = first + most;
    if ((!lower && first) || (most == n && first + n < w->span))
        return false;
    if (__builtin_expect(lower < most, 0))
        *x = find_between(w, u, first + lower, first + most < w->span ? *x : w->span - 1);
    return true;
}

/* What find_near finds for all numbers; returns how many it does not find, and which in far. */
GNN_SIMD static uint32_t find_all_near(const struct gnn_weighted_row *row, uint32_t n, uint32_t k,
                                       const uint64_t *u, uint32_t *x, uint32_t *far)
{
    uint32_t many = 0;
    for (uint32_t l = 0; l < n; l++) {
        const struct gnn_weights *w = &row[l].w;
        for (uint32_t q = l; q < k * LANES; q += LANES) {
            far[many] = q;
            many += !find_near(w, u[q], &x[q]);
        }
    }
    return many;
}

/* The others, in whole rows, one step of each after the other. */
static void find_far(const struct gnn_weighted_row *row, const uint64_t *u, uint32_t *x,
                     const uint32_t *far, uint32_t many)
{
    struct {
        const int16_t *at; /* what is looked for is one of these n */
        uint32_t n;
        int16_t bits;
    } s[LANES * GNN_DRAW_MAX];
    for (uint32_t i = 0; i < many; i++) {
        const struct gnn_weights *w = &row[far[i] % LANES].w;
        s[i].at = w->high, s[i].n = w->span, s[i].bits = gnn_weight_high(u[far[i]]);
    }
    for (bool more = many > 0; more;) {
        more = false;
        for (uint32_t i = 0; i < many; i++) {
            const uint32_t half = s[i].n / 2;
            s[i].at += half && s[i].at[half - 1] <= s[i].bits ? half : 0;
            s[i].n -= half;
            more = more || s[i].n > 1;
        }
    }
    for (uint32_t i = 0; i < many; i++) {
        const struct gnn_weights *w = &row[far[i] % LANES].w;
        x[far[i]] = find_exactly(w, u[far[i]], (uint32_t)(s[i].at - w->high));
    }
}

/* The neighbours that k numbers of each of n rows belong to: both are [j*LANES+l]. */
static void find_all(const struct gnn_weighted_row *row, uint32_t n, uint32_t k, const uint64_t *u,
                     uint32_t *x)
{
    uint32_t far[LANES * GNN_DRAW_MAX + 1];
    if (!row->w.high) {
        for (uint32_t q = 0; q < k * LANES; q++)
            x[q] = q % LANES < n ? gnn_weight_find(&row[q % LANES].w, u[q]) : 0;
        return;
    }
    for (uint32_t l = 0; l < n; l++) {
        const struct gnn_weights w = row[l].w;
        const double scale = row[l].scale;
        const uint32_t in = (w.span < WINDOW ? w.span : WINDOW) - 1;
        for (uint32_t q = l; q < k * LANES; q += LANES) {
            x[q] = window_of(&w, u[q], scale);
            __builtin_prefetch(&w.high[x[q]], 0, 3);
            __builtin_prefetch(&w.high[x[q] + in], 0, 3);
        }
    }
    find_far(row, u, x, far, find_all_near(row, n, k, u, x, far));
}

/* The neighbour that number u belongs to. */
static uint32_t find_one(const struct gnn_weighted_row *row, uint64_t u)
{
    const struct gnn_weights *w = &row->w;
    if (!w->high)
        return gnn_weight_find(w, u);
    uint32_t x = window_of(w, u, row->scale), n = w->span;
    if (find_near(w, u, &x))
        return x;
    const int16_t bits = gnn_weight_high(u), *at = w->high;
    for (uint32_t half; n > 1; n -= half) {
        half = n / 2;
        at += at[half - 1] <= bits ? half : 0;
    }
    return find_exactly(w, u, (uint32_t)(at - w->high));
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

/* The first k draws of n rows: numbers, u[j*LANES+l]. */
static void draw_numbers(const uint32_t key[2], const struct gnn_weighted_row *row, uint32_t n,
                         uint32_t k, uint64_t *u)
{
    uint32_t id[LANES] __attribute__((aligned(64))), tree[LANES] __attribute__((aligned(64))),
        words[4 * LANES] __attribute__((aligned(64)));
    for (uint32_t l = 0; l < LANES; l++) {
        id[l] = l < n ? row[l].orig : 0;
        tree[l] = l < n ? row[l].tree : 0;
    }
    for (uint32_t j = 0; j < k; j++, u += LANES) {
        if (j % 2 == 0)
            gnn_draw16_words(key, id, tree, j / 2, (uint32_t)GNN_RNG_WEIGHTS << 24, words);
        const uint32_t *low = words + (size_t)(j % 2) * 2 * LANES;
        for (uint32_t l = 0; l < n; l++) {
            const uint64_t total = row[l].w.total, word = (uint64_t)low[LANES + l] << 32 | low[l];
            const uint64_t low_half = gnn_mul64(word, total, &u[l]);
            u[l] += row[l].w.before;
            if (__builtin_expect(low_half < total, 0)) /* perhaps again */
                u[l] = gnn_weight_draw(&row[l].w, key, row[l].orig, row[l].tree, j, total);
        }
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
    draw_numbers(key, row, n, k, u);
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
