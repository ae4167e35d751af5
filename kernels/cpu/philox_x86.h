/* SPDX-License-Identifier: Apache-2.0 */
/* Philox4x32-10 (kernels/rng.h) of eight or sixteen counters at once. By hand, as compilers move
 * lanes about in each round (AVX2), or multiply 32 x 32 bits with an instruction three times as
 * slow (gcc, AVX-512). A register holds lanes in the low halves of 64-bit numbers; the high halves
 * carry rubbish that nothing reads. */
#ifndef GNN_KERNELS_CPU_PHILOX_X86_H
#define GNN_KERNELS_CPU_PHILOX_X86_H
#ifdef __x86_64__

#include <immintrin.h>
#include <stdint.h>

#include "kernels/cpu/isa.h"

/* The keys of all rounds: read from memory, they take nothing from the units that multiply. */
struct gnn_philox_keys {
    uint32_t k0[10], k1[10];
};
static inline struct gnn_philox_keys gnn_philox_keys_of(const uint32_t key[2])
{
    struct gnn_philox_keys k;
    for (uint32_t r = 0; r < 10; r++) {
        k.k0[r] = key[0] + r * 0x9E3779B9u;
        k.k1[r] = key[1] + r * 0xBB67AE85u;
    }
    return k;
}

/* ---- AVX-512 ---- */

struct gnn_half {
    __m512i c0, c1, c2, c3;
};

GNN_AVX512 static inline void gnn_philox_round(struct gnn_half *h, __m512i k0, __m512i k1)
{
    /* Constants of Philox 4x32; 0x96 is the truth table of a three-way exclusive or. */
    const __m512i p0 = _mm512_mul_epu32(h->c0, _mm512_set1_epi32((int)0xD2511F53u));
    const __m512i p1 = _mm512_mul_epu32(h->c2, _mm512_set1_epi32((int)0xCD9E8D57u));
    h->c0 = _mm512_ternarylogic_epi32(_mm512_srli_epi64(p1, 32), h->c1, k0, 0x96);
    h->c1 = p1;
    h->c2 = _mm512_ternarylogic_epi32(_mm512_srli_epi64(p0, 32), h->c3, k1, 0x96);
    h->c3 = p0;
}

/* The words of sixteen lanes: those of even lanes are in e, of odd ones in o. */
GNN_AVX512 static inline void gnn_philox_avx512(const struct gnn_philox_keys *key, __m512i id,
                                                __m512i tree, uint32_t b, uint32_t family,
                                                struct gnn_half *e, struct gnn_half *o)
{
    /* Even lanes are in place; odd lanes are shifted down to where the multiplication reads. */
    const __m512i c1 = _mm512_set1_epi32((int)b), c3 = _mm512_set1_epi32((int)family);
    const struct gnn_half even = {id, c1, tree, c3};
    const struct gnn_half odd = {_mm512_srli_epi64(id, 32), c1, _mm512_srli_epi64(tree, 32), c3};
    *e = even;
    *o = odd;
    for (uint32_t r = 0; r < 10; r++) {
        const __m512i k0 = _mm512_set1_epi32((int)key->k0[r]),
                      k1 = _mm512_set1_epi32((int)key->k1[r]);
        gnn_philox_round(e, k0, k1);
        gnn_philox_round(o, k0, k1);
    }
}

/* Joins a word of each: its sixteen numbers in order. */
GNN_AVX512 static inline __m512i gnn_philox_join(__m512i even, __m512i odd)
{
    return _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
}

/* ---- AVX2 ---- */

struct gnn_quarter {
    __m256i c0, c1, c2, c3;
};

GNN_AVX2 static inline void gnn_philox_round_avx2(struct gnn_quarter *h, __m256i k0, __m256i k1)
{
    const __m256i p0 = _mm256_mul_epu32(h->c0, _mm256_set1_epi32((int)0xD2511F53u));
    const __m256i p1 = _mm256_mul_epu32(h->c2, _mm256_set1_epi32((int)0xCD9E8D57u));
    h->c0 = _mm256_xor_si256(_mm256_srli_epi64(p1, 32), _mm256_xor_si256(h->c1, k0));
    h->c1 = p1;
    h->c2 = _mm256_xor_si256(_mm256_srli_epi64(p0, 32), _mm256_xor_si256(h->c3, k1));
    h->c3 = p0;
}

/* As gnn_philox_avx512, of eight lanes. */
GNN_AVX2 static inline void gnn_philox_avx2(const struct gnn_philox_keys *key, __m256i id,
                                            __m256i tree, uint32_t b, uint32_t family,
                                            struct gnn_quarter *e, struct gnn_quarter *o)
{
    const __m256i c1 = _mm256_set1_epi32((int)b), c3 = _mm256_set1_epi32((int)family);
    const struct gnn_quarter even = {id, c1, tree, c3};
    const struct gnn_quarter odd = {_mm256_srli_epi64(id, 32), c1, _mm256_srli_epi64(tree, 32), c3};
    *e = even;
    *o = odd;
    for (uint32_t r = 0; r < 10; r++) {
        const __m256i k0 = _mm256_set1_epi32((int)key->k0[r]),
                      k1 = _mm256_set1_epi32((int)key->k1[r]);
        gnn_philox_round_avx2(e, k0, k1);
        gnn_philox_round_avx2(o, k0, k1);
    }
}

GNN_AVX2 static inline __m256i gnn_philox_join_avx2(__m256i even, __m256i odd)
{
    return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
}

#endif
#endif
