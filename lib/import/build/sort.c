/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting edges by destination (lib/import/build/sort.h). Destinations form ranges that fit the
 * window. One that holds all of them is filled as edges arrive. Otherwise edges are appended to
 * the range that they belong to, through small buffers, which are the blocks of the file; then one
 * range after the other is read into the window. Each edge is written once and read once. */
#include "lib/import/build/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/xxh.h"
#include "lib/data/schema.h"
#include "lib/base/temp.h"
#include "lib/store/ids.h"

/* Destinations from v on, up to the next range's: their edges are numbers `edge` to the next
 * range's. */
struct gnn_sort_range {
    uint64_t v, edge, put, kept; /* put: edges in the file; kept: after gnn_sort_dedup */
    uint64_t sum;                /* of what was written to the file, block after block */
    uint32_t fill;               /* edges in the buffer */
};

/* PIECE: bytes of a read. CELLS: entries of the index that leads from a destination to its range.
 * BLOCK: edges of a step; AHEAD: how many edges ahead cursors are prefetched. */
enum { PIECE = 1 << 20, CELLS = 1 << 14, BLOCK = 256, AHEAD = 24 };

/* Some edges, and the numbers of their rows in the arrays that they come from. */
struct block {
    uint32_t src[BLOCK], dst[BLOCK];
    uint64_t row[BLOCK];
    unsigned n;
};

/* What edges from *i on become. */
static void next_block(unsigned mode, const uint32_t *src, const uint32_t *dst, uint64_t n,
                       uint64_t *i, struct block *b)
{
    const bool fwd = mode & GNN_CSC_FWD, rev = mode & GNN_CSC_REV, drop = mode & GNN_CSC_DROP_LOOPS;
    unsigned k = 0;
    uint64_t at = *i;
    for (; at < n && k + 2 <= BLOCK; at++) {
        const bool loop = src[at] == dst[at] && (drop || (fwd && rev));
        if (loop && drop)
            continue;
        if (fwd) {
            b->src[k] = src[at], b->dst[k] = dst[at], b->row[k] = at;
            k++;
        }
        if (rev && !loop) {
            b->src[k] = dst[at], b->dst[k] = src[at], b->row[k] = at;
            k++;
        }
    }
    b->n = k;
    *i = at;
}

/* ---- the window, and ranges of destinations that fit it ---- */

/* Ranges of up to `window` edges, or of a single destination that has more. Two neighbours together
 * have more than a window, so their number is limited. */
static int make_ranges(struct gnn_sort *s, struct gnn_err *e)
{
    const struct gnn_csc *c = &s->csc;
    uint64_t most = 2 * (c->nedges / s->window) + 2;
    struct gnn_sort_range *r = s->range = gnn_alloc_zero(most + 1, sizeof *r, "ranges of edges", e);
    if (!r)
        return e->code;
    uint32_t n = 0;
    for (uint64_t v = 0; v < c->ndst; v++)
        if (c->indptr[v + 1] - r[n].edge > s->window && c->indptr[v] > r[n].edge) {
            n++;
            r[n].v = v;
            r[n].edge = c->indptr[v];
        }
    s->nranges = n + 1;
    r[n + 1].v = c->ndst;
    r[n + 1].edge = c->nedges;
    return GNN_OK;
}

static uint64_t edges_of(const struct gnn_sort *s, const struct gnn_sort_range *r)
{
    return s->deduped ? r->kept : r[1].edge - r->edge;
}

/* Space for n edges in the window, or for all that a range usually has. */
static int fit_window(struct gnn_sort *s, uint64_t n, struct gnn_err *e)
{
    n = n > s->window ? n : s->window;
    if (gnn_buf_fit_exactly(&s->indices, n, sizeof(uint32_t), "edges", e))
        return e->code;
    for (uint32_t f = 0; f < s->nfields; f++)
        if (gnn_buf_fit_exactly(&s->field[f], n, s->row[f], "edge fields", e))
            return e->code;
    return GNN_OK;
}

static void copy_rows(char *to, const uint64_t *pos, const char *from, const uint64_t *row,
                      size_t step, size_t size, unsigned n)
{
    if (size == 4)
        for (unsigned i = 0; i < n; i++)
            memcpy(to + pos[i] * 4, from + row[i] * step, 4);
    else if (size == 8)
        for (unsigned i = 0; i < n; i++)
            memcpy(to + pos[i] * 8, from + row[i] * step, 8);
    else
        for (unsigned i = 0; i < n; i++)
            memcpy(to + pos[i] * size, from + row[i] * step, size);
}

/* Puts edges of a range at their destinations' cursors. Two stages: first all cursors, then all
 * targets, so that neither line is waited for. Row i of field f lies at field[f] + i * step[f]. */
static void place_block(struct gnn_sort *s, const struct gnn_sort_range *r, const struct block *b,
                        const void *const *field, const size_t *step)
{
    uint64_t *cursor = s->csc.indptr, size = r[1].edge - r->edge, pos[BLOCK];
    uint32_t *indices = s->indices.data;
    for (unsigned i = 0; i < b->n && i < AHEAD; i++)
        __builtin_prefetch(&cursor[b->dst[i]], 1);
    for (unsigned i = 0; i < b->n; i++) {
        if (i + AHEAD < b->n)
            __builtin_prefetch(&cursor[b->dst[i + AHEAD]], 1);
        pos[i] = cursor[b->dst[i]]++ - r->edge;
        if (pos[i] >= size) {
            s->astray = true;
            pos[i] = 0;
        }
        __builtin_prefetch(&indices[pos[i]], 1);
    }
    for (unsigned i = 0; i < b->n; i++)
        indices[pos[i]] = b->src[i];
    for (uint32_t f = 0; f < s->nfields; f++)
        copy_rows(s->field[f].data, pos, field[f], b->row, step[f], s->row[f], b->n);
}

static int fail_changed(struct gnn_err *e, const char *how)
{
    return gnn_fail(e, GNN_E_INPUT, "the input changed while it was read: %s edges", how);
}

/* ---- to the file ---- */

/* A file that no end of the process leaves behind. */
static int make_file(struct gnn_sort *s, const char *beside, struct gnn_err *e)
{
    s->name = gnn_strf(e, "%s: the file for sorting", beside);
    if (s->name)
        s->io = (struct gnn_io){.fd = gnn_temp_scratch(beside, e), .name = s->name};
    if (e->code)
        return e->code;
    uint64_t bytes;
    int sys = EFBIG;
    if (!__builtin_mul_overflow(s->csc.nedges, (uint64_t)s->record, &bytes) && bytes <= INT64_MAX)
        sys = bytes ? posix_fallocate(s->io.fd, 0, (off_t)bytes) : 0;
    if (!sys)
        return GNN_OK;
    errno = sys;
    return gnn_fail_errno(e, "%s: cannot reserve %llu bytes", s->name, (unsigned long long)bytes);
}

static uint64_t clamp_to(uint64_t x, uint64_t least, uint64_t most)
{
    x = x < least ? least : x;
    return x > most ? most : x;
}

/* The buffers of all ranges take a quarter of the memory, a few edges to 256 KiB each. */
static int make_buffers(struct gnn_sort *s, uint64_t memory, struct gnn_err *e)
{
    s->capacity = clamp_to(memory / 4 / s->nranges, 16 * s->record, 256 << 10) / s->record;
    s->capacity = s->record * (s->capacity ? s->capacity : 1);
    s->buf = gnn_alloc(s->nranges, s->capacity, "buffers of ranges", e);
    s->first = gnn_alloc(CELLS + 1, sizeof *s->first, "ranges of edges", e);
    if (!s->buf || !s->first)
        return e->code;
    while (s->csc.ndst && (s->csc.ndst - 1) >> s->shift >= CELLS)
        s->shift++;
    uint32_t at = 0;
    for (uint32_t i = 0; i <= CELLS; i++) {
        while (at + 1 < s->nranges && s->range[at + 1].v <= (uint64_t)i << s->shift)
            at++;
        s->first[i] = at;
    }
    return GNN_OK;
}

static int write_at(struct gnn_sort *s, struct gnn_sort_range *r, const void *data, uint64_t bytes,
                    uint64_t at, struct gnn_err *e)
{
    r->sum = XXH3_64bits_withSeed(data, bytes, r->sum);
    return gnn_io_pwrite(&s->io, data, bytes, at, e);
}

static int flush_range(struct gnn_sort *s, uint32_t i, struct gnn_err *e)
{
    struct gnn_sort_range *r = &s->range[i];
    uint64_t n = r->fill;
    r->fill = 0;
    /* More edges than were counted: the input has changed between the passes. */
    if (n > r[1].edge - r->edge - r->put)
        return fail_changed(e, "other");
    uint64_t at = (r->edge + r->put) * s->record;
    r->put += n;
    return n ? write_at(s, r, s->buf + i * s->capacity, n * s->record, at, e) : GNN_OK;
}

static uint32_t range_of(const struct gnn_sort *s, uint32_t d)
{
    uint32_t lo = s->first[d >> s->shift], hi = s->first[(d >> s->shift) + 1];
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo + 1) / 2;
        if (s->range[mid].v <= d)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

static int put_records(struct gnn_sort *s, const struct block *b, const void *const *field,
                       struct gnn_err *e)
{
    for (unsigned i = 0; i < b->n; i++) {
        uint32_t at = range_of(s, b->dst[i]), pair[2] = {b->src[i], b->dst[i]};
        struct gnn_sort_range *r = &s->range[at];
        char *to = s->buf + at * s->capacity + r->fill * s->record;
        memcpy(to, pair, sizeof pair);
        to += sizeof pair;
        for (uint32_t f = 0; f < s->nfields; to += s->row[f++])
            memcpy(to, (const char *)field[f] + b->row[i] * s->row[f], s->row[f]);
        r->fill++;
        if (r->fill * s->record >= s->capacity && flush_range(s, at, e))
            return e->code;
    }
    return GNN_OK;
}

/* ---- from the file ---- */

/* pread in full: the file was written in full. */
static int read_at(struct gnn_sort *s, void *data, uint64_t n, uint64_t at, struct gnn_err *e)
{
    for (uint64_t done = 0; done < n;) {
        ssize_t r = pread(s->io.fd, (char *)data + done, n - done, (off_t)(at + done));
        if (r < 0 && errno == EINTR)
            continue;
        if (r == 0)
            errno = EIO;
        if (r <= 0)
            return gnn_fail_errno(e, "%s: cannot read at byte %llu", s->name,
                                  (unsigned long long)(at + done));
        done += (uint64_t)r;
    }
    return GNN_OK;
}

/* After everything of a range was read, with that sum. Wrong destinations are told from those of an
 * input that has changed. */
static int check_range(struct gnn_sort *s, const struct gnn_sort_range *r, uint64_t sum,
                       struct gnn_err *e)
{
    if (sum != r->sum)
        return gnn_fail(e, GNN_E_RUN, "%s was damaged while it lay on disk, in bytes %llu to %llu",
                        s->name, (unsigned long long)(r->edge * s->record),
                        (unsigned long long)(r[1].edge * s->record - 1));
    return s->astray ? fail_changed(e, "other") : GNN_OK;
}

/* Reads many blocks at a time: *n records of a range, from number `at` on. */
static int read_records(struct gnn_sort *s, const struct gnn_sort_range *r, uint64_t at,
                        uint64_t *n, uint64_t *sum, struct gnn_err *e)
{
    const uint64_t most = s->capacity * (PIECE / s->capacity ? PIECE / s->capacity : 1);
    const uint64_t rest = (r[1].edge - r->edge - at) * s->record, bytes = rest < most ? rest : most;
    *n = bytes / s->record;
    if (gnn_buf_reserve(&s->piece, most, 1, "edges", e) ||
        read_at(s, s->piece.data, bytes, (r->edge + at) * s->record, e))
        return e->code;
    for (uint64_t i = 0; i < bytes; i += s->capacity)
        *sum = XXH3_64bits_withSeed((char *)s->piece.data + i,
                                    bytes - i < s->capacity ? bytes - i : s->capacity, *sum);
    return GNN_OK;
}

/* Places the n records that were read: all of a range, or some. */
static void place_records(struct gnn_sort *s, const struct gnn_sort_range *r, uint64_t n)
{
    const void *field[GNN_FIELDS_MAX];
    size_t step[GNN_FIELDS_MAX];
    struct block b;
    const char *rec = s->piece.data;
    for (uint32_t f = 0; f < s->nfields; f++)
        step[f] = s->record;
    for (unsigned i = 0; i < BLOCK; i++)
        b.row[i] = i;
    for (; n; n -= b.n, rec += b.n * s->record) {
        b.n = n < BLOCK ? (unsigned)n : BLOCK;
        for (unsigned i = 0; i < b.n; i++) {
            memcpy(&b.src[i], rec + i * s->record, sizeof *b.src);
            memcpy(&b.dst[i], rec + i * s->record + sizeof *b.src, sizeof *b.dst);
            if (b.dst[i] - r->v >= r[1].v - r->v) { /* only if the file is damaged */
                s->astray = true;
                b.dst[i] = (uint32_t)r->v;
            }
        }
        const char *rows = rec + 2 * sizeof(uint32_t);
        for (uint32_t f = 0; f < s->nfields; rows += s->row[f++])
            field[f] = rows;
        place_block(s, r, &b, field, step);
    }
}

/* Fills the window with the edges of a range. */
static int sort_range(struct gnn_sort *s, const struct gnn_sort_range *r, struct gnn_err *e)
{
    uint64_t size = r[1].edge - r->edge, sum = 0, n;
    if (fit_window(s, size, e))
        return e->code;
    for (uint64_t at = 0; at < size; at += n) {
        if (read_records(s, r, at, &n, &sum, e))
            return e->code;
        place_records(s, r, n);
    }
    return check_range(s, r, sum, e);
}

/* In pieces that are still in the caches when their sum is taken after they were written. */
static int tensor_out(uint32_t which, const char *data, uint64_t bytes, gnn_sort_fn *fn, void *arg,
                      struct gnn_err *e)
{
    for (uint64_t n; bytes; bytes -= n, data += n) {
        n = bytes < PIECE ? bytes : PIECE;
        if (fn(arg, which, data, n, e))
            return e->code;
    }
    return GNN_OK;
}

static int window_out(struct gnn_sort *s, uint64_t n, gnn_sort_fn *fn, void *arg, struct gnn_err *e)
{
    if (tensor_out(0, s->indices.data, n * sizeof(uint32_t), fn, arg, e))
        return e->code;
    for (uint32_t f = 0; f < s->nfields; f++)
        if (tensor_out(f + 1, s->field[f].data, n * s->row[f], fn, arg, e))
            return e->code;
    return GNN_OK;
}

/* One destination with more edges than a window has space for: they are in order already, so that
 * what is read at a time is a range of its own. */
static int pass_range(struct gnn_sort *s, const struct gnn_sort_range *r, gnn_sort_fn *fn,
                      void *arg, struct gnn_err *e)
{
    uint64_t size = r[1].edge - r->edge, sum = 0, n;
    for (uint64_t at = 0; at < size; at += n) {
        if (read_records(s, r, at, &n, &sum, e) || fit_window(s, n, e))
            return e->code;
        const struct gnn_sort_range some[2] = {{.v = r->v, .edge = r->edge + at},
                                               {.v = r[1].v, .edge = r->edge + at + n}};
        place_records(s, some, n);
        if (window_out(s, n, fn, arg, e))
            return e->code;
    }
    return check_range(s, r, sum, e);
}

/* ---- without duplicates ---- */

static int compare_u64(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Moves the first of equal sources, which are sorted. Returns how many are kept. */
static uint64_t dedup_sources(uint32_t *src, uint64_t from, uint64_t n, uint64_t to)
{
    uint64_t kept = 0;
    gnn_u32_sort(src + from, n);
    for (uint64_t i = 0; i < n; i++)
        if (!i || src[from + i] != src[to + kept - 1])
            src[to + kept++] = src[from + i];
    return kept;
}

/* Sorts n sources from position `from` of the window on, moves the first of equal ones to position
 * `to`, rows along. Returns how many are kept, or UINT64_MAX. */
static uint64_t dedup_row(struct gnn_sort *s, uint64_t from, uint64_t n, uint64_t to,
                          struct gnn_err *e)
{
    uint32_t *src = s->indices.data;
    if (!n || !s->nfields)
        return dedup_sources(src, from, n, to);
    if (n > UINT32_MAX) {
        gnn_fail(e, GNN_E_INPUT,
                 "more than 2^32 edges have the same destination: too many to compare");
        return UINT64_MAX;
    }
    if (gnn_buf_reserve(&s->keys, n, sizeof(uint64_t), "edges", e))
        return UINT64_MAX;
    uint64_t *key = s->keys.data, kept = 0;
    /* Source and position in one number: equal sources stay in the order of the input, and the
     * first one is kept. */
    for (uint64_t i = 0; i < n; i++)
        key[i] = (uint64_t)src[from + i] << 32 | i;
    qsort(key, n, sizeof *key, compare_u64);
    for (uint64_t i = 0; i < n; i++)
        if (!i || key[i] >> 32 != key[i - 1] >> 32)
            key[kept++] = key[i];
    for (uint64_t i = 0; i < kept; i++)
        src[to + i] = (uint32_t)(key[i] >> 32);
    for (uint32_t f = 0; f < s->nfields; f++) {
        char *rows = s->field[f].data;
        if (gnn_buf_reserve(&s->rows, n, s->row[f], "edge fields", e))
            return UINT64_MAX;
        memcpy(s->rows.data, rows + from * s->row[f], n * s->row[f]);
        for (uint64_t i = 0; i < kept; i++)
            memcpy(rows + (to + i) * s->row[f], (char *)s->rows.data + (uint32_t)key[i] * s->row[f],
                   s->row[f]);
    }
    return kept;
}

struct back {
    struct gnn_sort *s;
    struct gnn_sort_range *r;
    uint64_t at;
};

static int write_back(void *arg, uint32_t which, const void *data, uint64_t bytes,
                      struct gnn_err *e)
{
    struct back *b = arg;
    uint64_t at = b->at;
    (void)which;
    b->at += bytes;
    return write_at(b->s, b->r, data, bytes, at, e);
}

/* Edges of a range, which are in the window, move down to those that are kept; cursors become ends
 * of what is kept, with `before` edges before the range. *ends, *kept_ends: sums of gnn_csc_end. */
static int dedup_range(struct gnn_sort *s, struct gnn_sort_range *r, uint64_t before,
                       uint64_t *ends, uint64_t *kept_ends, struct gnn_err *e)
{
    uint64_t *end = s->csc.indptr, from = 0;
    for (uint64_t v = r->v; v < r[1].v; v++) {
        uint64_t to = end[v] - r->edge;
        if (to < from || to > r[1].edge - r->edge)
            return fail_changed(e, "other");
        uint64_t n = dedup_row(s, from, to - from, r->kept, e);
        if (n == UINT64_MAX)
            return e->code;
        *ends += gnn_csc_end(v, end[v]);
        r->kept += n;
        end[v] = before + r->kept;
        *kept_ends += gnn_csc_end(v, end[v]);
        from = to;
    }
    return GNN_OK;
}

/* The window, and what sorting needs beside it. */
static void release_window(struct gnn_sort *s)
{
    for (uint32_t f = 0; s->field && f < s->nfields; f++)
        gnn_buf_release(&s->field[f]);
    gnn_buf_release(&s->indices);
}

static void release_scratch(struct gnn_sort *s)
{
    gnn_buf_release(&s->piece);
    gnn_buf_release(&s->keys);
    gnn_buf_release(&s->rows);
    gnn_free(s->buf);
    s->buf = NULL;
}

/* Nothing is left in the buffers, nothing is missing. */
static int put_end(struct gnn_sort *s, struct gnn_err *e)
{
    for (uint32_t i = 0; s->name && i < s->nranges; i++)
        if (flush_range(s, i, e))
            return e->code;
    if (s->put != s->csc.nedges)
        return fail_changed(e, "fewer");
    for (uint32_t i = 0; s->name && i < s->nranges; i++)
        if (s->range[i].put != s->range[i + 1].edge - s->range[i].edge)
            return fail_changed(e, "other");
    return GNN_OK;
}

/* What is kept of a range goes to the file where its records were, one tensor after the other. */
int gnn_sort_dedup(struct gnn_sort *s, struct gnn_err *e)
{
    uint64_t kept = 0, ends = 0, kept_ends = 0;
    if (put_end(s, e))
        return e->code;
    for (uint32_t i = 0; i < s->nranges; i++) {
        struct gnn_sort_range *r = &s->range[i];
        struct back b = {s, r, r->edge * s->record};
        if ((s->name && sort_range(s, r, e)) || dedup_range(s, r, kept, &ends, &kept_ends, e))
            return e->code;
        kept += r->kept;
        r->sum = 0;
        if (s->name && window_out(s, r->kept, write_back, &b, e))
            return e->code;
    }
    if (ends != s->csc.ends)
        return fail_changed(e, "other");
    s->csc.nedges = kept;
    s->csc.ends = kept_ends;
    s->deduped = true;
    release_scratch(s);
    if (s->name)
        release_window(s);
    return GNN_OK;
}

/* Continues the sum of a tensor that window_out wrote: piece by piece, as it was written. */
static uint64_t add_sum(uint64_t sum, const char *data, uint64_t bytes)
{
    for (uint64_t n; bytes; bytes -= n, data += n) {
        n = bytes < PIECE ? bytes : PIECE;
        sum = XXH3_64bits_withSeed(data, n, sum);
    }
    return sum;
}

/* Fills the window with what is kept of a range. */
static int load_range(struct gnn_sort *s, const struct gnn_sort_range *r, struct gnn_err *e)
{
    uint64_t at = r->edge * s->record, sum = 0;
    if (fit_window(s, r->kept, e))
        return e->code;
    for (uint32_t which = 0; r->kept && which <= s->nfields; which++) {
        void *data = which ? s->field[which - 1].data : s->indices.data;
        uint64_t bytes = r->kept * (which ? s->row[which - 1] : sizeof(uint32_t));
        if (read_at(s, data, bytes, at, e))
            return e->code;
        sum = add_sum(sum, data, bytes);
        at += bytes;
    }
    return check_range(s, r, sum, e);
}

/* ---- all of it ---- */

uint64_t gnn_sort_held(const struct gnn_sort *s)
{
    return s->window * s->edge;
}

int gnn_sort_init(struct gnn_sort *s, const size_t *row, uint32_t nfields, size_t more,
                  const char *beside, uint64_t memory, struct gnn_err *e)
{
    gnn_csc_offsets(&s->csc);
    s->nfields = nfields;
    s->edge = sizeof(uint32_t);
    s->row = gnn_alloc(nfields, sizeof *s->row, "edge fields", e);
    s->field = gnn_alloc_zero(nfields, sizeof *s->field, "edge fields", e);
    if (!s->row || !s->field)
        return e->code;
    for (uint32_t f = 0; f < nfields; f++)
        s->edge += s->row[f] = row[f];
    s->record = s->edge + sizeof(uint32_t);
    const uint64_t edge = s->edge + more;
    const bool fits = s->csc.nedges <= memory / edge;
    /* Through a file, a window of a 1024th of the data, as one that the caches hold in part sorts
     * faster than a large one; at least 64 MiB, at most half of the memory. */
    const uint64_t share = s->csc.nedges / 1024, least = (64 << 20) / edge,
                   half = memory / 2 / edge;
    s->window = fits ? s->csc.nedges : clamp_to(share, least, half);
    s->window = s->window < 16 ? 16 : s->window;
    if (make_ranges(s, e))
        return e->code;
    return fits                                                    ? fit_window(s, 0, e)
           : make_buffers(s, memory, e) || make_file(s, beside, e) ? e->code
                                                                   : GNN_OK;
}

int gnn_sort_put(struct gnn_sort *s, const uint32_t *src, const uint32_t *dst, uint64_t n,
                 const void *const *field, struct gnn_err *e)
{
    struct block b;
    for (uint64_t i = 0; i < n;) {
        next_block(s->csc.mode, src, dst, n, &i, &b);
        s->put += b.n;
        if (s->put > s->csc.nedges)
            return fail_changed(e, "more");
        if (s->name) {
            if (put_records(s, &b, field, e))
                return e->code;
            continue;
        }
        place_block(s, s->range, &b, field, s->row);
        if (s->astray)
            return fail_changed(e, "other");
    }
    return GNN_OK;
}

/* Whether the cursors of a range's destinations, up to which its edges are in the window, are in
 * order, and the last one stands at the end. */
static int check_ends(const uint64_t *end, uint64_t n, uint64_t first, uint64_t size,
                      struct gnn_err *e)
{
    uint64_t at = first;
    for (uint64_t i = 0; i < n; at = end[i++])
        if (end[i] < at || end[i] - first > size)
            return fail_changed(e, "other");
    return at - first == size ? GNN_OK : fail_changed(e, "other");
}

int gnn_sort_each(struct gnn_sort *s, gnn_sort_fn *fn, void *arg, struct gnn_err *e)
{
    uint64_t first = 0;
    if (!s->deduped && put_end(s, e))
        return e->code;
    for (uint32_t i = 0; i < s->nranges; i++) {
        const struct gnn_sort_range *r = &s->range[i];
        const uint64_t *end = s->csc.indptr + r->v, n = edges_of(s, r), ndst = r[1].v - r->v;
        if (n > s->window && !s->deduped && !s->window_fn) {
            if (pass_range(s, r, fn, arg, e))
                return e->code;
        } else {
            if (s->name && (s->deduped ? load_range(s, r, e) : sort_range(s, r, e)))
                return e->code;
            if (s->window_fn &&
                (check_ends(end, ndst, first, n, e) || s->window_fn(arg, s, end, first, ndst, e)))
                return e->code;
            if (window_out(s, n, fn, arg, e))
                return e->code;
        }
        first += n;
    }
    return gnn_csc_done(&s->csc, e);
}

void gnn_sort_release(struct gnn_sort *s)
{
    if (s->name && s->io.fd >= 0)
        close(s->io.fd);
    release_window(s);
    release_scratch(s);
    gnn_free(s->field);
    gnn_free(s->row);
    gnn_free(s->range);
    gnn_free(s->first);
    gnn_free(s->name);
    gnn_csc_release(&s->csc);
    *s = (struct gnn_sort){0};
}
