/* SPDX-License-Identifier: Apache-2.0 */
/* Picks of LABOR (kernels/cpu/labor_picks.h). Of each row only those whose variate is below a limit
 * become candidates: at first a limit that some more than k are expected to pass, and when there
 * are too many, that of the k smallest so far. A row in which fewer than k pass is done again, with
 * a higher one, and at last without one. Limits decide how long it takes, never what is picked. */
#include "kernels/cpu/labor_picks.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/philox_x86.h"
#include "kernels/labor.h"
#include "kernels/rng.h"
#include "kernels/simd.h"

enum {
    LANES = GNN_DRAW_LANES,
    PIECE = 256, /* neighbours that are drawn together */
    FEW = 64,    /* candidates that are compared with each other */
    AHEAD = 256  /* neighbours that are asked for before they are needed */
};

/* The candidates of a row, in its order. */
struct candidates {
    uint64_t *variate;
    uint32_t *position, n, capacity, k;
    uint32_t limit; /* of the high halves of those that may be needed */
};

static uint32_t capacity_of(uint32_t k)
{
    return 2 * k + PIECE;
}

/* Variates, and after them as many positions. */
uint64_t gnn_labor_scratch(uint32_t k)
{
    return (uint64_t)capacity_of(k) * (sizeof(uint64_t) + sizeof(uint32_t));
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

/* below[i]: how many of high[n] are below number i. Defines it for registers of some size: of
 * larger vectors, compilers compare number by number. Both arrays have FEW numbers, of which the
 * compared ones are signed, as most instructions take them. */
#define COUNT_BELOW(name, target, bytes)                                                           \
    target static void name(const int32_t *high, uint32_t n, int32_t *below)                       \
    {                                                                                              \
        typedef int32_t some __attribute__((vector_size(bytes), aligned(bytes), may_alias));       \
        for (uint32_t q = 0; q < n; q += (bytes) / sizeof *high) {                                 \
            const some own = *(const some *)(high + q);                                            \
            some sum = {0};                                                                        \
            for (uint32_t i = 0; i < n; i++)                                                       \
                sum -= high[i] < own;                                                              \
            *(some *)(below + q) = sum;                                                            \
        }                                                                                          \
    }
COUNT_BELOW(count_below, , 16)
#ifdef __x86_64__
COUNT_BELOW(count_below_avx2, GNN_AVX2, 32)
COUNT_BELOW(count_below_avx512, GNN_AVX512, 64)
#endif

/* The k smallest of few candidates: how many are smaller than each is counted, of the high halves.
 * Writes the positions of those that fewer than k are smaller than; returns how many these are,
 * which is k but where equal ones are in the way. */
static uint32_t few_smallest(enum gnn_isa isa, const uint64_t *variate, const uint32_t *position,
                             uint32_t n, uint32_t k, uint32_t *x)
{
    /* What fills the last register is compared, too. */
    int32_t high[FEW] __attribute__((aligned(64))) = {0}, below[FEW] __attribute__((aligned(64)));
    uint32_t kept[FEW], out = 0;
    for (uint32_t i = 0; i < n; i++)
        high[i] = (int32_t)((uint32_t)(variate[i] >> 32) ^ 0x80000000u);
    switch (isa) {
#ifdef __x86_64__
    case GNN_ISA_AVX512:
        count_below_avx512(high, n, below);
        break;
    case GNN_ISA_AVX2:
        count_below_avx2(high, n, below);
        break;
#endif
    default:
        count_below(high, n, below);
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

static void write_picks(enum gnn_isa isa, struct candidates *c, uint32_t *x)
{
    if (c->n <= FEW) {
        if (few_smallest(isa, c->variate, c->position, c->n, c->k, x) != c->k)
            few_exactly(c->variate, c->position, c->n, c->k, x);
        return;
    }
    keep_smallest(c);
    memcpy(x, c->position, c->k * sizeof *x);
}

/* ---- candidates ---- */

/* The limit that so many of d variates pass on average. */
static uint32_t limit_for(double many, uint32_t d)
{
    const double limit = many * 4294967296.0 / d;
    return limit < 0.9 * 4294967296.0 ? (uint32_t)limit : UINT32_MAX;
}

/* What tells the variates of sources. */
struct variates {
    const uint32_t *key, *orig;
    uint64_t nsrc;
    enum gnn_isa isa;
};

/* Variates by halves, and bits of those whose high halves pass a limit. */
struct piece {
    uint32_t high[PIECE] __attribute__((aligned(64))), low[PIECE] __attribute__((aligned(64)));
    uint16_t pass[PIECE / LANES] __attribute__((aligned(64)));
};

/* Variates of n ids. */
static void variates_lanes(const uint32_t key[2], const uint32_t *restrict id, uint32_t n,
                           uint32_t *restrict high, uint32_t *restrict low)
{
    const uint32_t k0 = key[0], k1 = key[1];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c0 = id[i], c1 = 0, c2 = 0, c3 = 0;
        GNN_PHILOX_10(c0, c1, c2, c3, k0, k1);
        high[i] = c0;
        low[i] = c1;
    }
}

/* Those of n <= PIECE neighbours. What is no source has variate 0: see gnn_labor_of. */
static void draw_portable(const struct variates *v, const uint32_t *source, uint32_t n,
                          uint32_t limit, struct piece *p)
{
    uint32_t id[PIECE] __attribute__((aligned(64)));
    memcpy(id, source, n * sizeof *id);
    for (uint32_t i = 0; v->orig && i < n; i++)
        id[i] = id[i] < v->nsrc ? v->orig[id[i]] : 0;
    variates_lanes(v->key, id, n, p->high, p->low);
    for (uint32_t i = 0; i < n; i++) {
        const bool good = source[i] < v->nsrc;
        p->high[i] = good ? p->high[i] : 0;
        p->low[i] = good ? p->low[i] : 0;
        p->pass[i / LANES] |= (uint16_t)((uint32_t)(p->high[i] <= limit) << i % LANES);
    }
}

#ifdef __x86_64__
/* orig[source], where good. */
GNN_AVX512 static inline __m512i read_orig(const uint32_t *orig, __m512i source, __mmask16 good)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m512i low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(source)),
                  high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(source, 1));
    const __m256i a = _mm512_mask_i64gather_epi32(zero, (__mmask8)good, low, orig, 4),
                  b = _mm512_mask_i64gather_epi32(zero, (__mmask8)(good >> 8), high, orig, 4);
    return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

GNN_AVX512 static void draw_avx512(const struct variates *v, const uint32_t *source, uint32_t n,
                                   uint32_t limit, struct piece *p)
{
    const uint64_t most = v->nsrc <= UINT32_MAX ? v->nsrc : UINT32_MAX; /* no id is greater */
    const struct gnn_philox_keys keys = gnn_philox_keys_of(v->key);
    const __m512i nsrc = _mm512_set1_epi32((int)(uint32_t)most), to = _mm512_set1_epi32((int)limit);
    for (uint32_t i = 0; i < n; i += LANES) {
        const __mmask16 in = (__mmask16)(n - i < LANES ? (1u << (n - i)) - 1 : 0xffffu);
        __m512i id = _mm512_maskz_loadu_epi32(in, source + i);
        const __mmask16 good = _mm512_cmplt_epu32_mask(id, nsrc);
        struct gnn_half e, o;
        if (v->orig)
            id = read_orig(v->orig, id, good);
        gnn_philox_avx512(&keys, id, _mm512_setzero_si512(), 0, 0, &e, &o);
        const __m512i high = _mm512_maskz_mov_epi32(good, gnn_philox_join(e.c0, o.c0)),
                      low = _mm512_maskz_mov_epi32(good, gnn_philox_join(e.c1, o.c1));
        _mm512_store_si512(p->high + i, high);
        _mm512_store_si512(p->low + i, low);
        p->pass[i / LANES] = (uint16_t)_mm512_mask_cmple_epu32_mask(in, high, to);
    }
}

/* Bits of the lanes in which a <= b, without signs. */
GNN_AVX2 static inline uint32_t upto_eight(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_ps(
        _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_max_epu32(a, b), b)));
}

/* source[8], or orig of them. Ids are read one by one, which takes no longer than the instruction
 * for it. */
GNN_AVX2 static inline __m256i ids_of(const struct variates *v, const uint32_t source[8])
{
    uint32_t id[8] __attribute__((aligned(32)));
    if (!v->orig)
        return _mm256_loadu_si256((const __m256i *)(const void *)source);
    for (uint32_t l = 0; l < 8; l++)
        id[l] = source[l] < v->nsrc ? v->orig[source[l]] : 0;
    return _mm256_load_si256((const __m256i *)(const void *)id);
}

GNN_AVX2 static void draw_avx2(const struct variates *v, const uint32_t *source, uint32_t n,
                               uint32_t limit, struct piece *p)
{
    enum { EIGHT = 8 };
    const uint64_t most = v->nsrc <= UINT32_MAX ? v->nsrc : UINT32_MAX; /* no id is greater */
    const struct gnn_philox_keys keys = gnn_philox_keys_of(v->key);
    const __m256i nsrc = _mm256_set1_epi32((int)(uint32_t)most), to = _mm256_set1_epi32((int)limit);
    for (uint32_t i = 0; i < n; i += EIGHT) {
        const uint32_t left = n - i < EIGHT ? n - i : EIGHT;
        uint32_t rest[EIGHT] = {0};
        const uint32_t *at = source + i;
        if (left < EIGHT)
            at = memcpy(rest, at, left * sizeof *rest);
        const __m256i id = _mm256_loadu_si256((const __m256i *)(const void *)at),
                      bad = _mm256_cmpeq_epi32(_mm256_max_epu32(id, nsrc), id);
        struct gnn_quarter e, o;
        gnn_philox_avx2(&keys, ids_of(v, at), _mm256_setzero_si256(), 0, 0, &e, &o);
        const __m256i high = _mm256_andnot_si256(bad, gnn_philox_join_avx2(e.c0, o.c0)),
                      low = _mm256_andnot_si256(bad, gnn_philox_join_avx2(e.c1, o.c1));
        _mm256_store_si256((__m256i *)(void *)(p->high + i), high);
        _mm256_store_si256((__m256i *)(void *)(p->low + i), low);
        p->pass[i / LANES] |= (uint16_t)((upto_eight(high, to) & ((1u << left) - 1)) << i % LANES);
    }
}
#endif

static void draw_piece(const struct variates *v, const uint32_t *source, uint32_t n, uint32_t limit,
                       struct piece *p)
{
    switch (v->isa) {
#ifdef __x86_64__
    case GNN_ISA_AVX512:
        draw_avx512(v, source, n, limit, p);
        break;
    case GNN_ISA_AVX2:
        draw_avx2(v, source, n, limit, p);
        break;
#endif
    default:
        draw_portable(v, source, n, limit, p);
    }
}

/* Adds those of n neighbours, whose positions begin with `from`, that pass the limit. There is
 * space for all of them. */
static void add_candidates(struct candidates *c, const struct variates *v, const uint32_t *source,
                           uint32_t n, uint32_t from)
{
    enum { WORD = 64 }; /* bits that are looked through together, as where they end is chance */
    struct piece p;
    uint32_t at = c->n;
    memset(p.pass, 0, sizeof p.pass);
    draw_piece(v, source, n, c->limit, &p);
    for (uint32_t i = 0; i < n; i += WORD) {
        uint64_t pass = 0;
        for (uint32_t q = 0; q < WORD / LANES; q++)
            pass |= (uint64_t)p.pass[i / LANES + q] << q * LANES;
        for (; pass; pass &= pass - 1, at++) {
            const uint32_t j = i + (uint32_t)__builtin_ctzll(pass);
            c->variate[at] = (uint64_t)p.high[j] << 32 | p.low[j];
            c->position[at] = from + j;
        }
    }
    c->n = at;
}

/* Takes those that the row skips out of the candidates from number `first` on. */
static void drop_skipped(struct candidates *c, const struct gnn_labor_row *row, uint32_t first)
{
    uint32_t n = first;
    for (uint32_t i = first; i < c->n; i++) {
        c->variate[n] = c->variate[i];
        c->position[n] = c->position[i];
        n += !gnn_skip_has(row->skip, row->base + c->position[i]);
    }
    c->n = n;
}

/* Asks for neighbours `from` to `to` - 1, as far as there are such. */
GNN_FETCH void fetch_neighbours(const struct gnn_labor_row *row, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && i < row->span; i += 16)
        __builtin_prefetch(row->base + i, 0, 2);
}

/* Of those that pass a limit which `many` are expected to pass; returns whether enough do. */
static bool pick_row(const struct variates *v, const struct gnn_labor_row *row, double many,
                     struct candidates *c, uint32_t *x)
{
    c->n = 0;
    c->limit = limit_for(many, row->span);
    for (uint32_t from = 0, n; from < row->span; from += n) {
        const uint32_t left = row->span - from;
        n = left < PIECE ? left : PIECE;
        if (c->n + n > c->capacity)
            keep_smallest(c);
        if (left > AHEAD)
            fetch_neighbours(row, from + AHEAD, from + AHEAD + PIECE);
        const uint32_t before = c->n;
        add_candidates(c, v, row->base + from, n, from);
        if (row->skip.n)
            drop_skipped(c, row, before);
    }
    if (c->n < c->k)
        return false;
    write_picks(v->isa, c, x);
    return true;
}

static void pick_rows(const struct variates *v, uint32_t k, const struct gnn_labor_row *row,
                      uint32_t n, void *scratch, uint32_t *x)
{
    const uint32_t capacity = capacity_of(k);
    uint64_t *variate = scratch;
    struct candidates c = {variate, (uint32_t *)(variate + capacity), 0, capacity, k, 0};
    /* One row of some hundreds has too few then; it is done again with a higher limit. */
    const double many = k + 3 * sqrt(k) + 2;
    if (n)
        fetch_neighbours(&row[0], GNN_LABOR_FETCHED, AHEAD);
    for (uint32_t l = 0; l < n; l++, x += k) {
        if (l + 1 < n)
            fetch_neighbours(&row[l + 1], GNN_LABOR_FETCHED, AHEAD);
        for (double by = 1; !pick_row(v, &row[l], by * many, &c, x); by *= 4)
            continue;
    }
}

void gnn_labor_pick_on(enum gnn_isa isa, const struct gnn_sample_graph *g, uint32_t k,
                       const uint32_t key[2], const struct gnn_labor_row *row, uint32_t n,
                       void *scratch, uint32_t *x)
{
    const struct variates v = {key, g->orig, g->nsrc, isa};
    pick_rows(&v, k, row, n, scratch, x);
}

void gnn_labor_pick(const struct gnn_sample_graph *g, uint32_t k, const uint32_t key[2],
                    const struct gnn_labor_row *row, uint32_t n, void *scratch, uint32_t *x)
{
    gnn_labor_pick_on(gnn_isa_best(), g, k, key, row, n, scratch, x);
}
