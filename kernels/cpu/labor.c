/* SPDX-License-Identifier: Apache-2.0 */
/* Picks of LABOR (kernels/cpu/labor.h). The neighbours of several rows go through Philox together,
 * in full registers. Of each row only those whose variate is below a limit become candidates: at
 * first a limit that some more than k are expected to pass, and when there are too many, that of
 * the k smallest so far. A row in which fewer than k pass is done again, with a higher one, and at
 * last without one. Limits
 * decide how long it takes, never what is picked. */
#include "kernels/cpu/labor.h"

#include <math.h>
#include <string.h>

#include "kernels/labor.h"
#include "kernels/simd.h"

enum {
    LANES = GNN_DRAW_LANES,
    CHUNK = 512, /* neighbours that go through Philox together */
    FEW = 64,    /* candidates that are compared with each other */
    LINE = 16    /* ids in a line of memory */
};

/* Eight numbers that compare as signed ones, which is what processors have instructions for. */
typedef int32_t lanes __attribute__((vector_size(32), aligned(32), may_alias));
enum { WIDE = sizeof(lanes) / sizeof(int32_t) };

struct scratch {
    uint32_t id[CHUNK] __attribute__((aligned(64)));
    uint32_t high[CHUNK] __attribute__((aligned(64))), low[CHUNK] __attribute__((aligned(64)));
    uint64_t variate[]; /* capacity_of(k), and after them as many positions */
};

/* The candidates of a row, in its order. */
struct candidates {
    uint64_t *variate;
    uint32_t *position, n, capacity, k;
    uint32_t limit; /* of the high halves of those that may be needed */
};

static uint32_t capacity_of(uint32_t k)
{
    return 2 * k + FEW;
}

uint64_t gnn_labor_scratch(uint32_t k)
{
    return sizeof(struct scratch) +
           (uint64_t)capacity_of(k) * (sizeof(uint64_t) + sizeof(uint32_t));
}

/* ---- the k smallest ---- */

/* The k-th smallest of n variates, byte by byte from the top; *equal: how many that are equal to it
 * are among the first k. */
static uint64_t kth_variate(const uint64_t *v, uint32_t n, uint32_t k, uint32_t *equal)
{
    uint64_t prefix = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        uint32_t count[256] = {0}, b = 0;
        for (uint32_t i = 0; i < n; i++)
            count[v[i] >> shift & 255] += shift == 56 || (v[i] ^ prefix) >> (shift + 8) == 0;
        for (; count[b] < k; b++)
            k -= count[b];
        prefix |= (uint64_t)b << shift;
    }
    *equal = k;
    return prefix;
}

/* Keeps the k candidates that are smallest; those with equal variates in their order. */
static void keep_smallest(struct candidates *c)
{
    uint32_t equal, n = 0;
    const uint64_t t = kth_variate(c->variate, c->n, c->k, &equal);
    for (uint32_t i = 0; i < c->n; i++) {
        const uint64_t v = c->variate[i];
        const bool tie = v == t && equal > 0;
        equal -= tie;
        if (v < t || tie) {
            c->variate[n] = v;
            c->position[n++] = c->position[i];
        }
    }
    c->n = n;
    c->limit = (uint32_t)(t >> 32);
}

/* The same for few candidates: how many are smaller than each is counted, of the high halves.
 * Writes the positions of those that fewer than k are smaller than; returns how many these are,
 * which is k but where equal ones are in the way. */
GNN_SIMD static uint32_t few_smallest(const uint64_t *variate, const uint32_t *position, uint32_t n,
                                      uint32_t k, uint32_t *x)
{
    int32_t high[FEW] __attribute__((aligned(64))), below[FEW] __attribute__((aligned(64)));
    uint32_t kept[FEW], out = 0;
    for (uint32_t i = 0; i < n; i++)
        high[i] = (int32_t)((uint32_t)(variate[i] >> 32) ^ 0x80000000u);
    for (uint32_t i = n; i % WIDE; i++)
        high[i] = 0;
    for (uint32_t q = 0; q < n; q += WIDE) {
        const lanes own = *(const lanes *)(high + q);
        lanes sum = {0};
        for (uint32_t i = 0; i < n; i++)
            sum -= high[i] < own;
        *(lanes *)(below + q) = sum;
    }
    for (uint32_t i = 0; i < n; i++) {
        kept[out] = position[i];
        out += (uint32_t)below[i] < k;
    }
    memcpy(x, kept, (out < k ? out : k) * sizeof *x);
    return out;
}

/* Exactly, where equal ones are: mostly parallel edges. */
GNN_SIMD static void few_exactly(const uint64_t *variate, const uint32_t *position, uint32_t n,
                                 uint32_t k, uint32_t *x)
{
    uint32_t out = 0;
    for (uint32_t i = 0; i < n && out < k; i++) {
        const uint64_t v = variate[i];
        uint32_t before = 0;
        for (uint32_t j = 0; j < i; j++)
            before += variate[j] <= v;
        for (uint32_t j = i + 1; j < n; j++)
            before += variate[j] < v;
        x[out] = position[i];
        out += before < k;
    }
}

static void write_picks(struct candidates *c, uint32_t *x)
{
    if (c->n <= FEW) {
        if (few_smallest(c->variate, c->position, c->n, c->k, x) != c->k)
            few_exactly(c->variate, c->position, c->n, c->k, x);
        return;
    }
    keep_smallest(c);
    memcpy(x, c->position, c->k * sizeof *x);
}

/* ---- candidates ---- */

/* The limit that k + 3 sqrt(k) + 2 of d variates pass on average: one row of some hundreds has too
 * few then. The second time it is four times as high. */
static uint32_t limit_for(uint32_t k, uint32_t d, unsigned turn)
{
    const double share = (turn ? 4 : 1) * (k + 3 * sqrt(k) + 2) / d;
    return share < 0.9 && turn < 2 ? (uint32_t)(share * 4294967296.0) : UINT32_MAX;
}

/* n neighbours from `position` on. */
static void add_candidates(struct candidates *c, const uint32_t *high, const uint32_t *low,
                           uint32_t n, uint32_t position)
{
    for (uint32_t from = 0; from < n; from += LANES) {
        const uint32_t to = n - from < LANES ? n : from + LANES;
        if (c->n + LANES > c->capacity)
            keep_smallest(c);
        uint32_t at = c->n, *restrict to_position = c->position;
        uint64_t *restrict to_variate = c->variate;
        const uint32_t limit = c->limit;
        for (uint32_t i = from; i < to; i++) {
            to_position[at] = position + i;
            to_variate[at] = (uint64_t)high[i] << 32 | low[i];
            at += high[i] <= limit; /* no branch: they pass as chance has it */
        }
        c->n = at;
    }
}

/* Copies n ids; returns the largest. */
GNN_SIMD static uint32_t copy_ids(const uint32_t *restrict source, uint32_t n,
                                  uint32_t *restrict id)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        id[i] = source[i];
        most = source[i] > most ? source[i] : most;
    }
    return most;
}

/* The original ids of n sources; returns whether all of them are some. */
static bool read_ids(const struct gnn_sample_graph *g, const uint32_t *source, uint32_t n,
                     uint32_t *id)
{
    const bool good = copy_ids(source, n, id) < g->nsrc;
    for (uint32_t i = 0; g->orig && i < n; i++)
        id[i] = id[i] < g->nsrc ? g->orig[id[i]] : 0;
    return good;
}

/* What is no source: see gnn_labor_of. */
static __attribute__((noinline, cold)) void clear_bad(const struct gnn_sample_graph *g,
                                                      const uint32_t *source, uint32_t n,
                                                      uint32_t *high, uint32_t *low)
{
    for (uint32_t i = 0; i < n; i++)
        if (source[i] >= g->nsrc)
            high[i] = low[i] = 0;
}

/* Neighbours of row `row`, in one chunk. */
struct piece {
    uint32_t row, from, n;
    bool good;
};

/* The next chunk: neighbours from number *at of row *l on. Returns the pieces, and how many
 * neighbours there are in *n. */
static uint32_t fill_chunk(const struct gnn_sample_graph *g, const struct gnn_sample_row *row,
                           uint32_t rows, uint32_t *l, uint32_t *at, struct piece *piece,
                           uint32_t *id, uint32_t *n)
{
    uint32_t pieces = 0;
    *n = 0;
    while (*l < rows && *n < CHUNK) {
        const uint32_t left = row[*l].degree - *at, m = left < CHUNK - *n ? left : CHUNK - *n;
        const bool good = read_ids(g, row[*l].base + *at, m, id + *n);
        piece[pieces++] = (struct piece){*l, *at, m, good};
        *n += m;
        *at += m;
        if (m == left) {
            *at = 0;
            ++*l;
        }
    }
    for (uint32_t i = *n; i % LANES; i++)
        id[i] = 0;
    return pieces;
}

/* Asks for the lines of the next chunk, as above. */
GNN_FETCH void fetch_chunk(const struct gnn_sample_row *row, uint32_t rows, uint32_t l, uint32_t at)
{
    for (uint32_t n = 0; l < rows && n < CHUNK; l++, at = 0) {
        const uint32_t left = row[l].degree - at, m = left < CHUNK - n ? left : CHUNK - n;
        for (uint32_t i = 0; i < m; i += LINE)
            __builtin_prefetch(row[l].base + at + i, 0, 2);
        n += m;
    }
}

/* Returns the rows in which too few passed the limit, as bits. */
static uint32_t pick_rows(const struct gnn_sample_graph *g, uint32_t k, const uint32_t key[2],
                          const struct gnn_sample_row *row, uint32_t rows, unsigned turn,
                          struct scratch *s, uint32_t *x)
{
    const uint32_t capacity = capacity_of(k);
    struct candidates c = {s->variate, (uint32_t *)(s->variate + capacity), 0, capacity, k, 0};
    struct piece piece[LANES];
    uint32_t l = 0, at = 0, n, again = 0;
    while (l < rows) {
        const uint32_t pieces = fill_chunk(g, row, rows, &l, &at, piece, s->id, &n);
        uint32_t *high = s->high, *low = s->low;
        fetch_chunk(row, rows, l, at);
        gnn_draw_pairs(key, s->id, (n + LANES - 1) / LANES * LANES, high, low);
        for (const struct piece *p = piece; p < piece + pieces; high += p->n, low += p->n, p++) {
            const struct gnn_sample_row *of = &row[p->row];
            if (!p->from) {
                c.n = 0;
                c.limit = limit_for(k, of->degree, turn);
            }
            if (!p->good)
                clear_bad(g, of->base + p->from, p->n, high, low);
            add_candidates(&c, high, low, p->n, p->from);
            if (p->from + p->n < of->degree)
                continue;
            if (c.n < k)
                again |= UINT32_C(1) << p->row;
            else
                write_picks(&c, x + (uint64_t)p->row * k);
        }
    }
    return again;
}

void gnn_labor_pick(const struct gnn_sample_graph *g, uint32_t k, const uint32_t key[2],
                    const struct gnn_sample_row *row, uint32_t n, void *scratch, uint32_t *x)
{
    const uint32_t again = pick_rows(g, k, key, row, n, 0, scratch, x);
    for (uint32_t l = 0; again >> l; l++)
        for (unsigned turn = 1; again >> l & 1; turn++)
            if (!pick_rows(g, k, key, row + l, 1, turn, scratch, x + (uint64_t)l * k))
                break;
}
