/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the sources of a block by a hash table (kernels/cpu/number.h). Most are in the bucket
 * where they are looked for first, or are new and have space there; which of the two is a coin
 * toss, so that no branch depends on it where a bucket is compared at once. */
#include "kernels/cpu/number.h"

/* In a bucket, the slot that has a tag, or else the first one of no entry. */
struct place {
    uint32_t slot, found;
};

static inline struct place look_portable(const uint64_t *bucket, uint64_t tag)
{
    struct place p = {0};
    for (; p.slot < GNN_BUCKET && !p.found && bucket[p.slot] >> 48 == tag >> 48; p.slot++)
        if ((bucket[p.slot] ^ tag) >> 32 == 0) {
            p.found = 1;
            break;
        }
    return p;
}

#ifdef __x86_64__
#include <immintrin.h>

/* Of bits of the slots that have a tag, and of those of no entry. */
GNN_INLINE struct place place_of(uint32_t same, uint32_t other)
{
    /* Nothing found: the first bit of the other mask, of which there is one more behind all. */
    const uint32_t found = same != 0, mask = same | ((other | 1u << GNN_BUCKET) & (0u - !found));
    return (struct place){(uint32_t)__builtin_ctz(mask), found};
}

GNN_AVX512 static inline struct place look_avx512(const uint64_t *bucket, uint64_t tag)
{
    const __m512i slots = _mm512_loadu_si512(bucket);
    const uint32_t same = _mm512_cmpeq_epi64_mask(_mm512_srli_epi64(slots, 32),
                                                  _mm512_set1_epi64((long long)(tag >> 32))),
                   other = _mm512_cmpneq_epi64_mask(_mm512_srli_epi64(slots, 48),
                                                    _mm512_set1_epi64((long long)(tag >> 48)));
    return place_of(same, other);
}

/* A bit for each slot whose `shift` high bits are those of the tag. */
GNN_AVX2 static inline uint32_t same_avx2(__m256i low, __m256i high, uint64_t tag, int shift)
{
    const __m256i wanted = _mm256_set1_epi64x((long long)(tag >> shift)),
                  a = _mm256_cmpeq_epi64(_mm256_srli_epi64(low, shift), wanted),
                  b = _mm256_cmpeq_epi64(_mm256_srli_epi64(high, shift), wanted);
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(a)) |
           (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(b)) << 4;
}

GNN_AVX2 static inline struct place look_avx2(const uint64_t *bucket, uint64_t tag)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bucket),
                  high = _mm256_loadu_si256((const __m256i *)(const void *)(bucket + 4));
    return place_of(same_avx2(low, high, tag, 32), ~same_avx2(low, high, tag, 48) & 255);
}
#endif

GNN_INLINE struct place look(const uint64_t *bucket, uint64_t tag, enum gnn_isa isa)
{
#ifdef __x86_64__
    if (isa == GNN_ISA_AVX512)
        return look_avx512(bucket, tag);
    if (isa == GNN_ISA_AVX2)
        return look_avx2(bucket, tag);
#else
    (void)isa;
#endif
    return look_portable(bucket, tag);
}

/* Numbers of sources j to end - 1, which have the other columns of entry i of e. list: that of r.
 */
GNN_INLINE void number_row(struct gnn_relabel *r, struct gnn_entries list,
                           const struct gnn_entries *e, uint64_t i, const uint32_t *source,
                           const uint64_t *hash, uint32_t j, uint32_t end, enum gnn_isa isa,
                           uint32_t *out)
{
    const uint64_t gen = (uint64_t)r->gen << 48, mask = r->slots - 1;
    uint32_t count = r->count;
    /* Copies, which no store may change. */
#define GNN_ENTRY_OWN(type, name) type own_##name = e->name ? e->name[i] : 0;
    GNN_ENTRY_MORE(GNN_ENTRY_OWN)
#undef GNN_ENTRY_OWN
#define GNN_ENTRY_OWN(type, name) .name = &own_##name,
    const struct gnn_entries own = {GNN_ENTRY_MORE(GNN_ENTRY_OWN)};
#undef GNN_ENTRY_OWN
    for (; j < end; j++) {
        const uint32_t node = source[j];
        const uint64_t tag = gen | hash[j] >> 48 << 32;
        uint64_t *bucket = &r->slot[hash[j] & mask];
        const struct place p = look(bucket, tag, isa);
        if (__builtin_expect(p.slot < GNN_BUCKET, 1)) {
            const uint32_t was = (uint32_t)bucket[p.slot],
                           local = count ^ ((count ^ was) & (0u - p.found));
            bucket[p.slot] = tag | local;
            /* There is space for one more entry, if this is none. */
            gnn_entry_put(&list, count, node, &own, 0);
            count += !p.found;
            if (__builtin_expect(gnn_entry_same(&list, local, node, &own, 0), 1)) {
                out[j] = local;
                continue;
            }
        }
        r->count = count;
        out[j] = gnn_number_entry(r, hash[j], node, e, i);
        count = r->count;
    }
    r->count = count;
}

GNN_INLINE uint32_t number_rows(struct gnn_relabel *r, struct gnn_entries list,
                                const struct gnn_entries *dst, const uint32_t *indptr, uint32_t row,
                                uint32_t first, const uint32_t *source, uint32_t n,
                                const uint64_t *hash, enum gnn_isa isa, uint32_t *out)
{
    for (uint32_t j = 0; j < n;) {
        while (indptr[row + 1] <= first + j)
            row++;
        const uint32_t left = indptr[row + 1] - first, end = left < n ? left : n;
        number_row(r, list, dst, row, source, hash, j, end, isa, out);
        j = end;
    }
    return row;
}

/* Compiled for lists without one of the columns, too. */
GNN_INLINE uint32_t number_lists(enum gnn_isa isa, struct gnn_relabel *r,
                                 const struct gnn_entries *dst, const uint32_t *indptr,
                                 uint32_t row, uint32_t first, const uint32_t *source, uint32_t n,
                                 const uint64_t *hash, uint32_t *out)
{
    struct gnn_entries list = r->list;
    if (!list.time) {
        list.time = NULL; /* known at compile time, in this call */
        return number_rows(r, list, dst, indptr, row, first, source, n, hash, isa, out);
    }
    if (!list.tree) {
        list.tree = NULL; /* likewise */
        return number_rows(r, list, dst, indptr, row, first, source, n, hash, isa, out);
    }
    return number_rows(r, list, dst, indptr, row, first, source, n, hash, isa, out);
}

#ifdef __x86_64__
GNN_AVX512 static uint32_t number_avx512(struct gnn_relabel *r, const struct gnn_entries *dst,
                                         const uint32_t *indptr, uint32_t row, uint32_t first,
                                         const uint32_t *source, uint32_t n, const uint64_t *hash,
                                         uint32_t *out)
{
    return number_lists(GNN_ISA_AVX512, r, dst, indptr, row, first, source, n, hash, out);
}
GNN_AVX2 static uint32_t number_avx2(struct gnn_relabel *r, const struct gnn_entries *dst,
                                     const uint32_t *indptr, uint32_t row, uint32_t first,
                                     const uint32_t *source, uint32_t n, const uint64_t *hash,
                                     uint32_t *out)
{
    return number_lists(GNN_ISA_AVX2, r, dst, indptr, row, first, source, n, hash, out);
}
#endif

uint32_t gnn_number_sources_on(enum gnn_isa isa, struct gnn_relabel *r,
                               const struct gnn_entries *dst, const uint32_t *indptr, uint32_t row,
                               uint32_t first, const uint32_t *source, uint32_t n,
                               const uint64_t *hash, uint32_t *out)
{
    switch (isa) {
#ifdef __x86_64__
    case GNN_ISA_AVX512:
        return number_avx512(r, dst, indptr, row, first, source, n, hash, out);
    case GNN_ISA_AVX2:
        return number_avx2(r, dst, indptr, row, first, source, n, hash, out);
#endif
    default:
        return number_rows(r, r->list, dst, indptr, row, first, source, n, hash, GNN_ISA_PORTABLE,
                           out);
    }
}

uint32_t gnn_number_sources(struct gnn_relabel *r, const struct gnn_entries *dst,
                            const uint32_t *indptr, uint32_t row, uint32_t first,
                            const uint32_t *source, uint32_t n, const uint64_t *hash, uint32_t *out)
{
    return gnn_number_sources_on(gnn_isa_best(), r, dst, indptr, row, first, source, n, hash, out);
}
