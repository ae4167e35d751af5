/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting rows on the CPU (kernels/gather.h). Rows are at random addresses, so their cache lines
 * are asked for AHEAD_BYTES before they are copied. The caller is shown the output in pieces while
 * they are in the first-level cache, so that a checksum costs no second read. Stores past the
 * caches would need a copy of each piece: rows of 400 bytes took 1.2 to 1.3 times as long (Zen 4).
 */
#include "kernels/gather.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/cpu/isa.h"
#include "kernels/half.h"
#include "kernels/owner.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

enum {
    /* Enough to hide the latency of memory, and few enough to still be in the cache when they are
     * used. */
    AHEAD_BYTES = 8192, /* how far ahead lines are asked for */
    AHEAD_ROWS = 32,
    LINE = 64,
    PIECE = 8192 /* of output shown at once, in the first-level cache */
};

/* Address of a row of so many bytes, or NULL. */
static inline const char *row_at(const struct gnn_gather *g, uint64_t v, size_t bytes)
{
    const struct gnn_gather_part *a = g->part;
    if (g->nparts > 1)
        a += gnn_owner_find(&a->first, sizeof *a, g->nparts, v);
    v -= a->first;
    return v < a->count ? (const char *)a->data + v * bytes : NULL;
}

static inline void prefetch_row(const char *row, size_t bytes)
{
    for (size_t b = 0; b < bytes; b += LINE)
        __builtin_prefetch(row + b, 0, 2);
    if (bytes) /* a row need not start at a line */
        __builtin_prefetch(row + bytes - 1, 0, 2);
}

static inline void emit_cast(const struct gnn_gather *g, const void *row, void *out)
{
    switch (g->cast) {
    case GNN_GATHER_AS_IS:
        break;
    case GNN_GATHER_F32_F16:
        gnn_f32_to_f16(row, g->bytes / 4, out);
        break;
    case GNN_GATHER_F32_BF16:
        gnn_f32_to_bf16(row, g->bytes / 4, out);
        break;
    case GNN_GATHER_I8_F32:
        gnn_i8_to_f32(row, g->bytes, *gnn_int8_scale(row, g->bytes), out);
        break;
    case GNN_GATHER_I8_F16:
        gnn_i8_to_f16(row, g->bytes, *gnn_int8_scale(row, g->bytes), out);
        break;
    case GNN_GATHER_I8_BF16:
        gnn_i8_to_bf16(row, g->bytes, *gnn_int8_scale(row, g->bytes), out);
        break;
    }
}

#ifdef __x86_64__
/* memcpy, with one store for each line: 1.1 times the rate of the C library's, which stores 32
 * bytes at a time. */
GNN_AVX512 static void copy_lines(char *out, const char *row, size_t bytes)
{
    size_t b = 0;
    for (; b + LINE <= bytes; b += LINE)
        _mm512_storeu_si512(out + b, _mm512_loadu_si512(row + b));
    const __mmask64 rest = (__mmask64)((UINT64_C(1) << (bytes - b)) - 1);
    _mm512_mask_storeu_epi8(out + b, rest, _mm512_maskz_loadu_epi8(rest, row + b));
}
#else
static void copy_lines(char *out, const char *row, size_t bytes)
{
    memcpy(out, row, bytes);
}
#endif

static inline void emit_row(const struct gnn_gather *g, bool lines, const char *row, char *out)
{
    if (g->cast)
        emit_cast(g, row, out);
    else if (g->bytes == 4) /* the sizes that a call would cost more than */
        memcpy(out, row, 4);
    else if (g->bytes == 8)
        memcpy(out, row, 8);
    else if (lines)
        copy_lines(out, row, g->bytes);
    else
        memcpy(out, row, g->bytes);
}

/* Aligned, so that its speed does not depend on what the linker puts before it: where its loops
 * straddle lines of the instruction cache, rows of 400 bytes take up to a fifth longer. */
__attribute__((aligned(LINE))) uint64_t gnn_gather_rows(const struct gnn_gather *g)
{
    const char *at[AHEAD_ROWS];
    const size_t in = gnn_gather_row_bytes(g->cast, g->bytes);
    const uint64_t fit = in ? AHEAD_BYTES / in : 0;
    const uint64_t lead = fit < 1 ? 1 : fit < AHEAD_ROWS ? fit : AHEAD_ROWS;
    const size_t bytes = gnn_gather_out_bytes(g->cast, g->bytes);
    const bool lines = gnn_isa_best() == GNN_ISA_AVX512;
    char *out = g->out, *from = out;
    for (uint64_t i = 0; i < g->n + lead; i++) {
        /* Step i asks for the lines of row i and copies row i - lead, whose lines have arrived. */
        if (i >= lead) {
            emit_row(g, lines, at[(i - lead) % AHEAD_ROWS], out);
            out += bytes;
        }
        if (i < g->n) {
            at[i % AHEAD_ROWS] = row_at(g, g->id ? g->id[i] : g->id64[i], in);
            if (!at[i % AHEAD_ROWS])
                return i;
            prefetch_row(at[i % AHEAD_ROWS], in);
        }
        if (g->show && (out - from >= PIECE || i == g->n + lead - 1)) {
            g->show(g->arg, from, (size_t)(out - from));
            from = out;
        }
    }
    return g->n;
}
