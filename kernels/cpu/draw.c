/* SPDX-License-Identifier: Apache-2.0 */
/* The draws of sixteen destinations at once (kernels/cpu/draw.h). Each lane has its own Philox
 * stream, keyed by its node and tree, so that results do not depend on which nodes are drawn
 * together. A number below n is the high half of word * n (Lemire); where the low half says that a
 * draw might have to be repeated, the whole group is drawn again by the exact scalar code. */
#include "kernels/cpu/draw.h"

#include <stddef.h>

#include "kernels/cpu/philox512.h"
#include "kernels/simd.h"

enum { LANES = GNN_DRAW_LANES };

/* Sixteen numbers as the compilers' own vector type: one register, or several, as the target has
 * them. */
typedef uint32_t lanes __attribute__((vector_size(64), aligned(64), may_alias));

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
 * before, neighbour degree - k + j is taken, which cannot have been. */
GNN_INLINE void floyd(const uint32_t *degree, uint32_t k, uint32_t *x)
{
    lanes *v = (lanes *)x;
    const lanes d = *(const lanes *)degree;
    for (uint32_t j = 1; j < k; j++) {
        const lanes t = v[j];
        lanes hit = {0};
        for (uint32_t q = 0; q < j; q++)
            hit |= (lanes)(v[q] == t);
        v[j] = (hit & (d - k + j)) | (~hit & t);
    }
}

GNN_SIMD static void draw_lanes(struct gnn_pick_rule rule, const uint32_t key[2],
                                const uint32_t *id, const uint32_t *tree, const uint32_t *degree,
                                uint32_t *x)
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

GNN_SIMD static void words_lanes(const uint32_t key[2], const uint32_t *id, const uint32_t *tree,
                                 uint32_t b, uint32_t family, uint32_t *w)
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
#endif

void gnn_draw16_portable(struct gnn_pick_rule rule, const uint32_t key[2], const uint32_t id[16],
                         const uint32_t tree[16], const uint32_t degree[16], uint32_t *x)
{
    draw_lanes(rule, key, id, tree, degree, x);
}

void gnn_draw16(struct gnn_pick_rule rule, const uint32_t key[2], const uint32_t id[16],
                const uint32_t tree[16], const uint32_t degree[16], uint32_t *x)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) {
        draw_avx512(rule, key, id, tree, degree, x);
        return;
    }
#endif
    draw_lanes(rule, key, id, tree, degree, x);
}

void gnn_draw16_words(const uint32_t key[2], const uint32_t id[16], const uint32_t tree[16],
                      uint32_t c1, uint32_t c3, uint32_t w[64])
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) {
        words_avx512(key, id, tree, c1, c3, w);
        return;
    }
#endif
    words_lanes(key, id, tree, c1, c3, w);
}
