/* SPDX-License-Identifier: Apache-2.0 */
/* Searches among ascending numbers of 16 bits, many at once. A line of memory has 32 of them, which
 * are compared together, and reading lines is what searches wait for: each begins where its number
 * is expected, which is most often the right line or next to it. */
#ifndef GNN_KERNELS_CPU_WINDOW_H
#define GNN_KERNELS_CPU_WINDOW_H

#include <stdbool.h>

#include "kernels/pick.h"
#include "kernels/cpu/isa.h"
#include "kernels/simd.h"

/* How many numbers of a row are below x, and how many are not above it: `below`, `upto`. Rows are
 * pieces of an array, which begins at a multiple of 64 bytes and has GNN_PICK_WINDOW more numbers
 * behind its end: these, and the rows beside, are read, to no effect. */
struct gnn_window_search {
    const int16_t *row; /* (span) */
    uint32_t span;
    uint32_t below, upto; /* at last; meanwhile, bounds of both */
    uint32_t at;          /* in the line that is looked at next */
    int16_t x;
    uint16_t looks; /* so far */
};

/* guess: number in the row, where to look first; 0 if there is none. */
static inline void gnn_window_begin(struct gnn_window_search *s, const int16_t *row, uint32_t span,
                                    int16_t x, uint32_t guess)
{
    const struct gnn_window_search begun = {row, span, 0, span, guess, x, 0};
    *s = begun;
    __builtin_prefetch(row + guess, 0, 3);
}
/* n <= GNN_WINDOW_SEARCHES searches that have begun. */
enum { GNN_WINDOW_SEARCHES = 1024 };
void gnn_window_search_all(struct gnn_window_search *s, uint32_t n);

/* ---- where a guess is mostly right ---- */

/* Asks for GNN_PICK_WINDOW numbers from `first` on, or for the whole row. */
GNN_FETCH void gnn_window_fetch(const int16_t *row, uint32_t span, uint32_t first)
{
    const uint32_t most = GNN_PICK_WINDOW;
    __builtin_prefetch(row + first, 0, 2);
    __builtin_prefetch(row + first + (span < most ? span : most) - 1, 0, 2);
}

/* The first of so many around a guess. */
GNN_INLINE uint32_t gnn_window_around(uint32_t span, uint32_t guess)
{
    enum { N = GNN_PICK_WINDOW };
    const uint32_t last = span > N ? span - N : 0, from = guess > N / 2 ? guess - N / 2 : 0;
    return from < last ? from : last;
}

#ifdef __x86_64__
#include <immintrin.h>

/* By hand, as no compiler counts the bits of a comparison. */
GNN_AVX512 static inline uint32_t gnn_window_count_avx512(const int16_t *v, uint32_t from,
                                                          uint32_t to, int16_t x)
{
    const __m512i line = _mm512_loadu_si512(v), wanted = _mm512_set1_epi16(x);
    const __mmask32 in = _bzhi_u32(UINT32_MAX, to) & (UINT32_MAX << from);
    const uint32_t below = (uint32_t)_mm512_mask_cmplt_epi16_mask(in, line, wanted),
                   upto = (uint32_t)_mm512_mask_cmple_epi16_mask(in, line, wanted);
    return (uint32_t)_mm_popcnt_u32(below) | (uint32_t)_mm_popcnt_u32(upto) << 8;
}

/* A bit for each of 32 numbers, of which a comparison gave those in two registers. */
GNN_AVX2 static inline uint32_t gnn_window_bits_avx2(__m256i low, __m256i high)
{
    /* Packing goes by halves of registers; 0xD8 puts these in order. */
    return (uint32_t)_mm256_movemask_epi8(
        _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xD8));
}
GNN_AVX2 static inline uint32_t gnn_window_count_avx2(const int16_t *v, uint32_t from, uint32_t to,
                                                      int16_t x)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)v),
                  high = _mm256_loadu_si256((const __m256i *)(const void *)(v + 16)),
                  wanted = _mm256_set1_epi16(x);
    const uint32_t in = (uint32_t)((UINT64_C(1) << to) - 1) & (UINT32_MAX << from),
                   below = in & gnn_window_bits_avx2(_mm256_cmpgt_epi16(wanted, low),
                                                     _mm256_cmpgt_epi16(wanted, high)),
                   above = in & gnn_window_bits_avx2(_mm256_cmpgt_epi16(low, wanted),
                                                     _mm256_cmpgt_epi16(high, wanted));
    return (uint32_t)_mm_popcnt_u32(below) | (uint32_t)_mm_popcnt_u32(in & ~above) << 8;
}
#endif

/* Counts numbers `from` to `to` - 1 of GNN_PICK_WINDOW, from < GNN_PICK_WINDOW, that are below x;
 * and, in the second byte, that are not above it. isa: gnn_isa_best(), or a lower level. */
GNN_INLINE uint32_t gnn_window_count_portable(const int16_t *v, uint32_t from, uint32_t to,
                                              int16_t x)
{
    int16_t sum = 0;
    for (int16_t i = 0; i < GNN_PICK_WINDOW; i++) {
        const int16_t in = ((i >= (int16_t)from) & (i < (int16_t)to)) ? 0x101 : 0,
                      below = v[i] < x ? -1 : -0x100, upto = v[i] <= x ? -1 : 0;
        sum = (int16_t)(sum + (in & below & upto));
    }
    return (uint16_t)sum;
}
GNN_INLINE uint32_t gnn_window_count(const int16_t *v, uint32_t from, uint32_t to, int16_t x,
                                     enum gnn_isa isa)
{
#ifdef __x86_64__
    if (isa == GNN_ISA_AVX512)
        return gnn_window_count_avx512(v, from, to, x);
    if (isa == GNN_ISA_AVX2)
        return gnn_window_count_avx2(v, from, to, x);
#else
    (void)isa;
#endif
    return gnn_window_count_portable(v, from, to, x);
}

/* Whether the answers are in the window that begins at `first`: *below and *upto. */
GNN_INLINE bool gnn_window_near(const int16_t *row, uint32_t span, uint32_t first, int16_t x,
                                enum gnn_isa isa, uint32_t *below, uint32_t *upto)
{
    const uint32_t n = span < GNN_PICK_WINDOW ? span : (uint32_t)GNN_PICK_WINDOW,
                   count = gnn_window_count(row + first, 0, n, x, isa), low = count & 255,
                   most = count >> 8;
    *below = first + low;
    *upto = first + most;
    const bool from = low || !first, to = most < n || first + n == span;
    return from & to;
}

#endif
