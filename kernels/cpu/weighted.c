/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted picks (kernels/cpu/weighted.h). Sums of weights are larger than the caches, so the
 * searches of a group's draws go side by side: the lines that they wait for arrive together. */
#include "kernels/cpu/weighted.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/simd.h"

enum { LANES = GNN_DRAW_LANES };

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
        const uint32_t i =
            gnn_weight_find(&row->w, gnn_weight_draw(&row->w, key, row->orig, row->tree,
                                                     (uint32_t)t, row->w.total));
        if (!is_in(s, i))
            add_member(s, i);
    }
    for (; s->n < k; t++)
        add_member(s, find_left(&row->w, s,
                                gnn_weight_draw(&row->w, key, row->orig, row->tree, (uint32_t)t,
                                                total_left(&row->w, s))));
}

/* The first k draws of n rows: numbers, u[l*k+j]. */
static void draw_numbers(const uint32_t key[2], const struct gnn_weighted_row *row, uint32_t n,
                         uint32_t k, uint64_t *u)
{
    uint32_t id[LANES] __attribute__((aligned(64))), tree[LANES] __attribute__((aligned(64))),
        words[4 * LANES] __attribute__((aligned(64)));
    for (uint32_t l = 0; l < LANES; l++) {
        id[l] = l < n ? row[l].orig : 0;
        tree[l] = l < n ? row[l].tree : 0;
    }
    for (uint32_t j = 0; j < k; j++) {
        if (j % 2 == 0)
            gnn_draw16_words(key, id, tree, j / 2, (uint32_t)GNN_RNG_WEIGHTS << 24, words);
        const uint32_t *low = words + (size_t)(j % 2) * 2 * LANES;
        for (uint32_t l = 0; l < n; l++) {
            const uint64_t total = row[l].w.total, word = (uint64_t)low[LANES + l] << 32 | low[l];
            const uint64_t low_half = gnn_mul64(word, total, &u[l * k + j]);
            u[l * k + j] += row[l].w.before;
            if (__builtin_expect(low_half < total, 0)) /* perhaps again */
                u[l * k + j] = gnn_weight_draw(&row[l].w, key, row[l].orig, row[l].tree, j, total);
        }
    }
}

/* ---- searches of many numbers ---- */

/* Weights that are not too unlike each other put a number near its share of the row: there two or
 * three lines are fetched and searched. What is not found there is searched in the whole row, step
 * by step with others. */
enum { WINDOW = 16 };

struct search {
    const uint64_t *at; /* the neighbour is one of these n */
    uint64_t u;
    uint32_t n, to; /* where in x it goes */
};

/* Where the window of number u begins. */
static inline uint32_t window_of(const struct gnn_weights *w, uint64_t u, double scale)
{
    const uint32_t g = (uint32_t)((double)(u - w->before) * scale);
    const uint32_t last = w->span > WINDOW ? w->span - WINDOW : 0, from = g > 7 ? g - 7 : 0;
    return from < last ? from : last;
}

/* How many sums of a window are at most u: all are below 2^62. */
GNN_INLINE uint32_t count_below(const uint64_t *sum, uint64_t u)
{
    int64_t n = 0;
    for (int i = 0; i < WINDOW; i++)
        n += (int64_t)sum[i] <= (int64_t)u;
    return (uint32_t)n;
}

/* Whether x, where the window begins, could become the neighbour. */
GNN_INLINE bool find_near(const struct gnn_weights *w, uint64_t u, uint32_t *x)
{
    if (w->span < WINDOW) {
        *x = gnn_weight_find(w, u);
        return true;
    }
    const uint32_t n = count_below(w->sum + *x, u);
    const bool found = n < WINDOW && (n || !*x);
    *x += found ? n : 0;
    return found;
}

GNN_SIMD static uint32_t find_all_near(const struct gnn_weighted_row *row, uint32_t n, uint32_t k,
                                       const uint64_t *u, uint32_t *x, struct search *far)
{
    uint32_t many = 0;
    for (uint32_t q = 0; q < n * k; q++) {
        const struct gnn_weights *w = &row[q / k].w;
        far[many] = (struct search){w->sum, u[q], w->span, q};
        many += !find_near(w, u[q], &x[q]);
    }
    return many;
}

/* gnn_weight_find for all, one step of each after the other. */
static void find_far(const uint64_t *const *sum, struct search *s, uint32_t many, uint32_t *x)
{
    for (bool more = many > 0; more;) {
        more = false;
        for (uint32_t i = 0; i < many; i++) {
            const uint32_t half = s[i].n / 2;
            s[i].at += half && s[i].at[half - 1] <= s[i].u ? half : 0;
            s[i].n -= half;
            more = more || s[i].n > 1;
        }
    }
    for (uint32_t i = 0; i < many; i++)
        x[s[i].to] = (uint32_t)(s[i].at - sum[i]);
}

/* gnn_weight_find for k numbers of each of n rows. */
static void find_all(const struct gnn_weighted_row *row, uint32_t n, uint32_t k, const uint64_t *u,
                     uint32_t *x)
{
    struct search far[LANES * GNN_DRAW_MAX + 1];
    const uint64_t *sum[LANES * GNN_DRAW_MAX];
    for (uint32_t l = 0, q = 0; l < n; l++) {
        const struct gnn_weights *w = &row[l].w;
        const double scale = (double)w->span / (double)w->total;
        for (uint32_t j = 0; j < k; j++, q++) {
            x[q] = window_of(w, u[q], scale);
            __builtin_prefetch(&w->sum[x[q]], 0, 2);
            __builtin_prefetch(&w->sum[x[q] + (w->span < WINDOW ? w->span : WINDOW) - 1], 0, 2);
        }
    }
    const uint32_t many = find_all_near(row, n, k, u, x, far);
    for (uint32_t i = 0; i < many; i++)
        sum[i] = far[i].at;
    find_far(sum, far, many, x);
}

void gnn_weighted_few(struct gnn_pick_rule rule, const uint32_t key[2],
                      const struct gnn_weighted_row *row, uint32_t n, uint32_t *x)
{
    const uint32_t k = gnn_pick_draws(rule);
    uint64_t u[LANES * GNN_DRAW_MAX];
    draw_numbers(key, row, n, k, u);
    find_all(row, n, k, u, x);
    for (uint32_t l = 0; l < n && !gnn_pick_repeats(rule); l++) {
        struct sample s = {.x = x + (size_t)l * k};
        for (uint32_t j = 0; j < k; j++) /* in place: a sample is never longer than its draws */
            if (!is_in(&s, x[l * k + j]))
                add_member(&s, x[l * k + j]);
        draw_on(key, &row[l], k, k, &s);
    }
}

void gnn_weighted_many(struct gnn_pick_rule rule, const uint32_t key[2],
                       const struct gnn_weighted_row *row, uint32_t *set, uint32_t *x)
{
    const uint32_t k = gnn_pick_draws(rule);
    struct sample s = {x, 0, set, gnn_pick_set_size(k)};
    for (uint32_t j = 0; gnn_pick_repeats(rule) && j < k; j++)
        x[j] = gnn_weight_find(
            &row->w, gnn_weight_draw(&row->w, key, row->orig, row->tree, j, row->w.total));
    if (gnn_pick_repeats(rule))
        return;
    memset(set, 0xff, s.size * sizeof *set);
    draw_on(key, row, k, 0, &s);
}
