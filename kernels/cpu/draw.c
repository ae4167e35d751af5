/* SPDX-License-Identifier: Apache-2.0 */
/* The draws of sixteen destinations at once (kernels/cpu/draw.h). Each lane has its own Philox
 * stream, keyed by its node and tree, so that results do not depend on which nodes are drawn
 * together. A number below n is the high half of word * n (Lemire); where the low half says that a
 * draw might have to be repeated, the whole group is drawn again by the exact scalar code. */
#include "kernels/cpu/draw.h"

#include <stddef.h>

#include "kernels/cpu/philox_x86.h"
#include "kernels/simd.h"

enum { LANES = GNN_DRAW_LANES };

/* Four words per lane: of block b of every lane's stream. tree: NULL at compile time, or not. */
GNN_INLINE void words(const uint32_t key[2], const uint32_t *restrict id,
                      const uint32_t *restrict tree, uint32_t b, uint32_t family,
                      uint32_t *restrict w)
{
    const uint32_t k0 = key[0], k1 = key[1];
    for (int l = 0; l < LANES; l++) {
        uint32_t c0 = id[l], c1 = b, c2 = tree ? tree[l] : 0, c3 = family;
        GNN_PHILOX_10(c0, c1, c2, c3, k0, k1);
        w[l] = c0;
        w[l + LANES] = c1;
        w[l + 2 * LANES] = c2;
        w[l + 3 * LANES] = c3;
    }
}

/* Turns words into numbers below degree[l] - less; returns whether a lane may have to reject its
 * draw. */
GNN_INLINE uint32_t bound(uint32_t *restrict x, const uint32_t *restrict degree, uint32_t less)
{
    uint32_t any = 0;
    for (int l = 0; l < LANES; l++) {
        const uint32_t n = degree[l] - less;
        const uint64_t m = (uint64_t)x[l] * n;
        any |= (uint32_t)m < n;
        x[l] = (uint32_t)(m >> 32);
    }
    return any;
}

/* The exact code for the whole group; needed once in about 2^32/degree draws. */
static __attribute__((noinline, cold)) void draw_exactly(struct gnn_pick_rule rule,
                                                         const uint32_t key[2], const uint32_t *id,
                                                         const uint32_t *tree,
                                                         const uint32_t *degree, uint32_t *x)
{
    for (uint32_t j = 0; j < gnn_pick_draws(rule); j++)
        for (uint32_t l = 0; l < LANES; l++)
            x[j * LANES + l] = gnn_pick_draw(rule, key, id[l], tree ? tree[l] : 0, degree[l], j);
}

/* Floyd's algorithm: draw j is among the first degree - k + j + 1 neighbours; if it was taken
 * before, neighbour degree - k + j is taken, which cannot have been. Defines it for registers of
 * some size: of larger vectors, compilers compare number by number. */
#define FLOYD(name, target, bytes)                                                                 \
    target static void name(const uint32_t *degree, uint32_t k, uint32_t *x)                       \
    {                                                                                              \
        typedef uint32_t some __attribute__((vector_size(bytes), aligned(bytes), may_alias));      \
        enum { STEP = LANES * sizeof(uint32_t) / (bytes) };                                        \
        for (uint32_t l = 0; l < STEP; l++) {                                                      \
            const some d = ((const some *)degree)[l];                                              \
            some *v = (some *)x + l;                                                               \
            for (uint32_t j = 1; j < k; j++) {                                                     \
                const some t = v[j * STEP];                                                        \
                some hit = {0};                                                                    \
                for (uint32_t q = 0; q < j; q++)                                                   \
                    hit |= (some)(v[q * STEP] == t);                                               \
                v[j * STEP] = (hit & (d - k + j)) | (~hit & t);                                    \
            }                                                                                      \
        }                                                                                          \
    }
FLOYD(floyd, , 16)

static void draw_lanes(struct gnn_pick_rule rule, const uint32_t key[2], const uint32_t *id,
                       const uint32_t *tree, const uint32_t *degree, uint32_t *x)
{
    const uint32_t k = gnn_pick_draws(rule);
    uint32_t any = 0;
    for (uint32_t j = 0; j < k && !tree; j += 4)
        words(key, id, NULL, j / 4, 0, x + (uint64_t)j * LANES);
    for (uint32_t j = 0; j < k && tree; j += 4)
        words(key, id, tree, j / 4, 0, x + (uint64_t)j * LANES);
    for (uint32_t j = 0; j < k; j++)
        any |= bound(x + (uint64_t)j * LANES, degree, gnn_pick_less(rule, j));
    if (__builtin_expect(any != 0, 0))
        draw_exactly(rule, key, id, tree, degree, x);
    if (!gnn_pick_repeats(rule))
        floyd(degree, k, x);
}

static void words_lanes(const uint32_t key[2], const uint32_t *id, const uint32_t *tree, uint32_t b,
                        uint32_t family, uint32_t *w)
{
    words(key, id, tree, b, family, w);
}

#ifdef __x86_64__
GNN_AVX512 static void words_avx512(const uint32_t key[2], const uint32_t *id, const uint32_t *tree,
                                    uint32_t b, uint32_t family, uint32_t *w)
{
    const struct gnn_philox_keys keys = gnn_philox_keys_of(key);
    struct gnn_half e, o;
    gnn_philox_avx512(&keys, _mm512_load_si512(id), _mm512_load_si512(tree), b, family, &e, &o);
    const __m512i we[4] = {e.c0, e.c1, e.c2, e.c3}, wo[4] = {o.c0, o.c1, o.c2, o.c3};
    for (uint32_t q = 0; q < 4; q++)
        _mm512_store_si512(w + (size_t)q * LANES, gnn_philox_join(we[q], wo[q]));
}

GNN_AVX512 static void draw_avx512(struct gnn_pick_rule rule, const uint32_t key[2],
                                   const uint32_t *id, const uint32_t *tree, const uint32_t *degree,
                                   uint32_t *x)
{
    const uint32_t k = gnn_pick_draws(rule);
    const __m512i vid = _mm512_load_si512(id), d = _mm512_load_si512(degree);
    const struct gnn_philox_keys keys = gnn_philox_keys_of(key);
    const __m512i vtree = tree ? _mm512_load_si512(tree) : _mm512_setzero_si512();
    __mmask16 any = 0;
    for (uint32_t b = 0; 4 * b < k; b++) {
        struct gnn_half e, o;
        gnn_philox_avx512(&keys, vid, vtree, b, 0, &e, &o);
        const __m512i we[4] = {e.c0, e.c1, e.c2, e.c3}, wo[4] = {o.c0, o.c1, o.c2, o.c3};
        for (uint32_t w = 0; w < 4; w++) {
            const uint32_t j = 4 * b + w;
            const __m512i n = _mm512_sub_epi32(d, _mm512_set1_epi32((int)gnn_pick_less(rule, j)));
            const __m512i me = _mm512_mul_epu32(we[w], n);
            const __m512i mo = _mm512_mul_epu32(wo[w], _mm512_srli_epi64(n, 32));
            const __m512i low = gnn_philox_join(me, mo);
            any |= _mm512_cmplt_epu32_mask(low, n);
            _mm512_store_si512(x + (uint64_t)j * LANES,
                               _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(me, 32), mo));
        }
    }
    if (__builtin_expect(any != 0, 0))
        draw_exactly(rule, key, id, tree, degree, x);
    /* Floyd's algorithm, as in floyd() above. */
    for (uint32_t j = 1; j < k && !gnn_pick_repeats(rule); j++) {
        const __m512i t = _mm512_load_si512(x + (uint64_t)j * LANES);
        __mmask16 hit = 0;
        for (uint32_t q = 0; q < j; q++)
            hit |= _mm512_cmpeq_epi32_mask(_mm512_load_si512(x + (uint64_t)q * LANES), t);
        const __m512i last = _mm512_sub_epi32(d, _mm512_set1_epi32((int)(k - j)));
        _mm512_store_si512(x + (uint64_t)j * LANES, _mm512_mask_mov_epi32(t, hit, last));
    }
}

/* ---- AVX2: lanes are done by eights ---- */

enum { EIGHT = 8 };
FLOYD(floyd_avx2, GNN_AVX2, 32)

GNN_AVX2 static inline __m256i load_eight(const uint32_t *x)
{
    return _mm256_load_si256((const __m256i *)(const void *)x);
}
GNN_AVX2 static inline void store_eight(uint32_t *x, __m256i v)
{
    _mm256_store_si256((__m256i *)(void *)x, v);
}

GNN_AVX2 static void words_avx2(const uint32_t key[2], const uint32_t *id, const uint32_t *tree,
                                uint32_t b, uint32_t family, uint32_t *w)
{
    const struct gnn_philox_keys keys = gnn_philox_keys_of(key);
    for (uint32_t l = 0; l < LANES; l += EIGHT) {
        struct gnn_quarter e, o;
        gnn_philox_avx2(&keys, load_eight(id + l), load_eight(tree + l), b, family, &e, &o);
        store_eight(w + l, gnn_philox_join_avx2(e.c0, o.c0));
        store_eight(w + LANES + l, gnn_philox_join_avx2(e.c1, o.c1));
        store_eight(w + 2 * LANES + l, gnn_philox_join_avx2(e.c2, o.c2));
        store_eight(w + 3 * LANES + l, gnn_philox_join_avx2(e.c3, o.c3));
    }
}

/* bound() of eight lanes, whose words are in two registers; *good: the lanes that need not reject.
 */
GNN_AVX2 static inline void bound_eight(__m256i even, __m256i odd, __m256i n, uint32_t *x,
                                        __m256i *good)
{
    const __m256i e = _mm256_mul_epu32(even, n),
                  o = _mm256_mul_epu32(odd, _mm256_srli_epi64(n, 32)),
                  low = gnn_philox_join_avx2(e, o);
    *good = _mm256_and_si256(*good, _mm256_cmpeq_epi32(_mm256_max_epu32(low, n), low));
    store_eight(x, _mm256_blend_epi32(_mm256_srli_epi64(e, 32), o, 0xAA));
}

GNN_AVX2 static void draw_avx2(struct gnn_pick_rule rule, const uint32_t key[2], const uint32_t *id,
                               const uint32_t *tree, const uint32_t *degree, uint32_t *x)
{
    const uint32_t k = gnn_pick_draws(rule);
    const struct gnn_philox_keys keys = gnn_philox_keys_of(key);
    __m256i good = _mm256_set1_epi32(-1);
    for (uint32_t l = 0; l < LANES; l += EIGHT) {
        const __m256i vid = load_eight(id + l), d = load_eight(degree + l),
                      vtree = tree ? load_eight(tree + l) : _mm256_setzero_si256();
        for (uint32_t b = 0; 4 * b < k; b++) {
            struct gnn_quarter e, o;
            gnn_philox_avx2(&keys, vid, vtree, b, 0, &e, &o);
            const __m256i we[4] = {e.c0, e.c1, e.c2, e.c3}, wo[4] = {o.c0, o.c1, o.c2, o.c3};
            for (uint32_t w = 0; w < 4; w++) {
                const uint32_t j = 4 * b + w, less = gnn_pick_less(rule, j);
                bound_eight(we[w], wo[w], _mm256_sub_epi32(d, _mm256_set1_epi32((int)less)),
                            x + (size_t)j * LANES + l, &good);
            }
        }
    }
    if (__builtin_expect(_mm256_movemask_epi8(good) != -1, 0))
        draw_exactly(rule, key, id, tree, degree, x);
    if (!gnn_pick_repeats(rule))
        floyd_avx2(degree, k, x);
}
#endif

void gnn_draw16_on(enum gnn_isa isa, struct gnn_pick_rule rule, const uint32_t key[2],
                   const uint32_t id[16], const uint32_t tree[16], const uint32_t degree[16],
                   uint32_t *x)
{
    switch (isa) {
#ifdef __x86_64__
    case GNN_ISA_AVX512:
        draw_avx512(rule, key, id, tree, degree, x);
        break;
    case GNN_ISA_AVX2:
        draw_avx2(rule, key, id, tree, degree, x);
        break;
#endif
    default:
        draw_lanes(rule, key, id, tree, degree, x);
    }
}

void gnn_draw16(struct gnn_pick_rule rule, const uint32_t key[2], const uint32_t id[16],
                const uint32_t tree[16], const uint32_t degree[16], uint32_t *x)
{
    gnn_draw16_on(gnn_isa_best(), rule, key, id, tree, degree, x);
}

void gnn_draw16_words(const uint32_t key[2], const uint32_t id[16], const uint32_t tree[16],
                      uint32_t c1, uint32_t c3, uint32_t w[64])
{
    switch (gnn_isa_best()) {
#ifdef __x86_64__
    case GNN_ISA_AVX512:
        words_avx512(key, id, tree, c1, c3, w);
        break;
    case GNN_ISA_AVX2:
        words_avx2(key, id, tree, c1, c3, w);
        break;
#endif
    default:
        words_lanes(key, id, tree, c1, c3, w);
    }
}
