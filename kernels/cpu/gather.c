#include "kernels/gather.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/half.h"

enum {
    BLOCK = 64,         /* rows whose addresses are found together */
    AHEAD_BYTES = 4096, /* how far ahead lines are asked for */
    LINE = 64,
    BIG = 8 << 20 /* outputs that no cache will hold go past it: half the traffic, as no line is read to be overwritten */
};

static uint32_t find_part(const struct gnn_gather_part *part, uint32_t nparts, uint64_t v)
{
    uint32_t lo = 0, hi = nparts - 1;
    while (lo < hi) {
        const uint32_t mid = hi - (hi - lo) / 2;
        if (part[mid].first <= v)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* Address of a row, or NULL. */
static inline const char *row_at(const struct gnn_gather_part *part, uint32_t nparts, size_t bytes, uint64_t v)
{
    const struct gnn_gather_part *a = &part[nparts == 1 ? 0 : find_part(part, nparts, v)];
    v -= a->first;
    return v < a->count ? (const char *)a->data + v * bytes : NULL;
}

static inline void fetch(const char *row, size_t bytes)
{
    for (size_t b = 0; b < bytes; b += LINE)
        __builtin_prefetch(row + b, 0, 2);
    if (bytes) /* a row need not start at a line */
        __builtin_prefetch(row + bytes - 1, 0, 2);
}

/* memcpy for the sizes that a call would cost more than. */
static inline void copy(char *restrict out, const char *restrict in, size_t bytes)
{
    if (bytes == 4)
        memcpy(out, in, 4);
    else if (bytes == 8)
        memcpy(out, in, 8);
    else
        memcpy(out, in, bytes);
}

#ifdef __SSE2__
#include <emmintrin.h>

static inline void copy_past(char *out, const char *in, size_t bytes)
{
    for (size_t b = 0; b < bytes; b += 16)
        _mm_stream_si128((__m128i *)(void *)(out + b), _mm_loadu_si128((const __m128i *)(const void *)(in + b)));
}
static bool can_go_past(const void *out, size_t bytes, uint64_t n)
{
    return bytes % 16 == 0 && (uintptr_t)out % 16 == 0 && bytes && n >= BIG / bytes;
}
#define DRAIN() _mm_sfence()
#else
#define copy_past copy
#define DRAIN() ((void)0)
#define can_go_past(out, bytes, n) false
#endif

void gnn_copy_past(void *out, const void *in, size_t bytes)
{
    char *to = out;
    const char *from = in;
    size_t head = (16 - (uintptr_t)to % 16) % 16;
    head = head < bytes ? head : bytes;
    memcpy(to, from, head);
    const size_t body = (bytes - head) / 16 * 16;
    copy_past(to + head, from + head, body);
    DRAIN();
    memcpy(to + head + body, from + head + body, bytes - head - body);
}

enum kind { COPY, PAST, F16, BF16 };

static inline void emit(enum kind kind, const char *row, size_t bytes, char *out, uint64_t i)
{
    if (kind == COPY)
        copy(out + i * bytes, row, bytes);
    else if (kind == PAST)
        copy_past(out + i * bytes, row, bytes);
    else if (kind == F16)
        gnn_f32_to_f16((const float *)(const void *)row, bytes / 4, (uint16_t *)(void *)(out + i * (bytes / 2)));
    else
        gnn_f32_to_bf16((const float *)(const void *)row, bytes / 4, (uint16_t *)(void *)(out + i * (bytes / 2)));
}

#define GATHER_LOOP(kind)                                                                              \
    do {                                                                                               \
        const char *at[BLOCK];                                                                         \
        const uint64_t ahead = bytes >= AHEAD_BYTES ? 1 : bytes ? AHEAD_BYTES / bytes : 1;             \
        const uint64_t lead = ahead < BLOCK / 2 ? ahead : BLOCK / 2;                                   \
        for (uint64_t i = 0; i < n + lead; i++) {                                                      \
            if (i < n) {                                                                               \
                const char *row = row_at(part, nparts, bytes, id[i]);                                  \
                if (!row)                                                                              \
                    return i;                                                                          \
                fetch(row, bytes);                                                                     \
                at[i % BLOCK] = row;                                                                   \
            }                                                                                          \
            if (i >= lead)                                                                             \
                emit(kind, at[(i - lead) % BLOCK], bytes, out, i - lead);                              \
        }                                                                                              \
        if ((kind) == PAST)                                                                            \
            DRAIN();                                                                                   \
        return n;                                                                                      \
    } while (0)

uint64_t gnn_gather_rows(const struct gnn_gather_part *part, uint32_t nparts, size_t bytes,
                         const uint32_t *id, uint64_t n, void *to)
{
    char *out = to;
    if (can_go_past(to, bytes, n))
        GATHER_LOOP(PAST);
    else
        GATHER_LOOP(COPY);
}

uint64_t gnn_gather_rows64(const struct gnn_gather_part *part, uint32_t nparts, size_t bytes,
                           const uint64_t *id, uint64_t n, void *to)
{
    char *out = to;
    if (can_go_past(to, bytes, n))
        GATHER_LOOP(PAST);
    else
        GATHER_LOOP(COPY);
}

uint64_t gnn_gather_cast(const struct gnn_gather_part *part, uint32_t nparts, uint64_t width,
                         enum gnn_gather_cast cast, const uint32_t *id, uint64_t n, uint16_t *to)
{
    const size_t bytes = width * sizeof(float);
    char *out = (char *)to;
    if (cast == GNN_GATHER_F32_F16)
        GATHER_LOOP(F16);
    else
        GATHER_LOOP(BF16);
}

uint64_t gnn_gather_cast64(const struct gnn_gather_part *part, uint32_t nparts, uint64_t width,
                           enum gnn_gather_cast cast, const uint64_t *id, uint64_t n, uint16_t *to)
{
    const size_t bytes = width * sizeof(float);
    char *out = (char *)to;
    if (cast == GNN_GATHER_F32_F16)
        GATHER_LOOP(F16);
    else
        GATHER_LOOP(BF16);
}
