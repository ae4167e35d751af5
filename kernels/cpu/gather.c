#include "kernels/gather.h"

#include <string.h>

#include "kernels/cpu/half.h"

enum {
    BLOCK = 64,      /* rows whose addresses are found together */
    AHEAD_BYTES = 4096, /* how far ahead lines are asked for */
    LINE = 64
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

enum kind { COPY, F16, BF16 };

static inline void emit(enum kind kind, const char *row, size_t bytes, char *out, uint64_t i)
{
    if (kind == COPY)
        copy(out + i * bytes, row, bytes);
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
        return n;                                                                                      \
    } while (0)

uint64_t gnn_gather_rows(const struct gnn_gather_part *part, uint32_t nparts, size_t bytes,
                         const uint32_t *id, uint64_t n, void *to)
{
    char *out = to;
    GATHER_LOOP(COPY);
}

uint64_t gnn_gather_rows64(const struct gnn_gather_part *part, uint32_t nparts, size_t bytes,
                           const uint64_t *id, uint64_t n, void *to)
{
    char *out = to;
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
