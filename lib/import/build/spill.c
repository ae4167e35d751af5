/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting edges by destination through a file, for graphs that do not fit in memory
 * (lib/import/build/spill.h). Destinations form ranges that fit a window of memory. Edges are
 * appended to the range that they belong to, through small buffers; then one range after the other
 * is read and sorted in memory. Each edge is written once and read once. */
#include "lib/import/build/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/temp.h"

/* Destinations from v on, up to the next range's: their edges are numbers `edge` to the next
 * range's. */
struct gnn_spill_range {
    uint64_t v, edge, put, kept; /* put: edges in the file; kept: after gnn_spill_dedup */
    uint32_t fill;               /* edges in the buffer */
};

/* PIECE: bytes of a read. CELLS: entries of the index that leads from a destination to its
 * range. */
enum { PIECE = 1 << 20, CELLS = 1 << 14, BLOCK = 256, AHEAD = 24 };

uint64_t gnn_spill_bytes(const struct gnn_csc *c, const size_t *row, uint32_t nfields)
{
    size_t edge = sizeof(uint32_t);
    uint64_t bytes;
    for (uint32_t f = 0; f < nfields; f++)
        edge += row[f];
    return __builtin_mul_overflow(c->nedges, (uint64_t)edge, &bytes) ? UINT64_MAX : bytes;
}

/* A file that no end of the process leaves behind. */
static int make_file(struct gnn_spill *s, const char *beside, struct gnn_err *e)
{
    s->name = gnn_strf(e, "%s: the file for sorting", beside);
    if (s->name)
        s->io = (struct gnn_io){.fd = gnn_temp_scratch(beside, e), .name = s->name};
    if (e->code)
        return e->code;
    uint64_t bytes;
    int sys = EFBIG;
    if (!__builtin_mul_overflow(s->csc->nedges, (uint64_t)s->record, &bytes) && bytes <= INT64_MAX)
        sys = bytes ? posix_fallocate(s->io.fd, 0, (off_t)bytes) : 0;
    if (!sys)
        return GNN_OK;
    errno = sys;
    return gnn_fail_errno(e, "%s: cannot reserve %llu bytes for sorting", s->name,
                          (unsigned long long)bytes);
}

/* Ranges of up to `window` edges, or of a single destination that has more. Two neighbours together
 * have more than a window, so their number is limited. */
static int make_ranges(struct gnn_spill *s, struct gnn_err *e)
{
    const struct gnn_csc *c = s->csc;
    uint64_t most = 2 * (c->nedges / s->window) + 2;
    struct gnn_spill_range *r = s->range =
        gnn_alloc_zero(most + 1, sizeof *r, "ranges of edges", e);
    s->first = gnn_alloc(CELLS + 1, sizeof *s->first, "ranges of edges", e);
    if (!r || !s->first)
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
    while (c->ndst && (c->ndst - 1) >> s->shift >= CELLS)
        s->shift++;
    uint32_t at = 0;
    for (uint32_t i = 0; i <= CELLS; i++) {
        while (at + 1 < s->nranges && r[at + 1].v <= (uint64_t)i << s->shift)
            at++;
        s->first[i] = at;
    }
    return GNN_OK;
}

static uint64_t clamp_to(uint64_t x, uint64_t least, uint64_t most)
{
    x = x < least ? least : x;
    return x > most ? most : x;
}

int gnn_spill_init(struct gnn_spill *s, struct gnn_csc *c, const size_t *row, uint32_t nfields,
                   const char *beside, uint64_t memory, struct gnn_err *e)
{
    *s = (struct gnn_spill){
        .csc = c, .row = row, .nfields = nfields, .io = {.fd = -1}, .edge = sizeof(uint32_t)};
    for (uint32_t f = 0; f < nfields; f++)
        s->edge += row[f];
    s->record = s->edge + sizeof(uint32_t);
    /* A 1024th of the data, as a window that the caches hold in part sorts faster than a large one;
     * at least 64 MiB, at most half of the memory. */
    uint64_t window = clamp_to(gnn_spill_bytes(c, row, nfields) / 1024, 64 << 20, memory / 2);
    s->window = clamp_to(window / s->edge, 16, UINT64_MAX);
    if (make_ranges(s, e))
        return e->code;
    /* The buffers of all ranges take a quarter of the memory, 4 to 256 KiB each. */
    s->room = clamp_to(memory / 4 / s->nranges, 4096, 256 << 10) / s->record;
    s->room = s->record * (s->room ? s->room : 1);
    s->buf = gnn_alloc(s->nranges, s->room, "buffers of ranges", e);
    s->field = gnn_alloc_zero(nfields, sizeof *s->field, "edge fields", e);
    if (!s->buf || !s->field)
        return e->code;
    return make_file(s, beside, e);
}

/* ---- to the file ---- */

static int fail_changed(struct gnn_err *e, const char *how)
{
    return gnn_fail(e, GNN_E_INPUT, "the input changed while it was read: %s edges", how);
}

static int flush_bucket(struct gnn_spill *s, uint32_t i, struct gnn_err *e)
{
    struct gnn_spill_range *r = &s->range[i];
    uint64_t n = r->fill;
    r->fill = 0;
    /* More edges than were counted: the input has changed between the passes. */
    if (n > r[1].edge - r->edge - r->put)
        return fail_changed(e, "other");
    uint64_t at = (r->edge + r->put) * s->record;
    r->put += n;
    return n ? gnn_io_pwrite(&s->io, s->buf + i * s->room, n * s->record, at, e) : GNN_OK;
}

static uint32_t range_of(const struct gnn_spill *s, uint32_t d)
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

static int put_record(struct gnn_spill *s, uint32_t src, uint32_t dst, uint64_t i,
                      const void *const *field, struct gnn_err *e)
{
    uint32_t at = range_of(s, dst), pair[2] = {src, dst};
    struct gnn_spill_range *r = &s->range[at];
    char *to = s->buf + at * s->room + r->fill * s->record;
    memcpy(to, pair, sizeof pair);
    to += sizeof pair;
    for (uint32_t f = 0; f < s->nfields; to += s->row[f++])
        if (field)
            memcpy(to, (const char *)field[f] + i * s->row[f], s->row[f]);
        else
            memset(to, 0, s->row[f]);
    r->fill++;
    return r->fill * s->record < s->room ? GNN_OK : flush_bucket(s, at, e);
}

int gnn_spill_put(struct gnn_spill *s, const uint32_t *src, const uint32_t *dst, uint64_t n,
                  const void *const *field, struct gnn_err *e)
{
    uint32_t a[BLOCK], b[BLOCK];
    uint64_t from[BLOCK];
    for (uint64_t i = 0; i < n;) {
        unsigned k = gnn_csc_copies(s->csc->mode, src, dst, n, &i, BLOCK, a, b, from);
        s->csc->placed += k;
        if (s->csc->placed > s->csc->nedges)
            return fail_changed(e, "more");
        for (unsigned j = 0; j < k; j++)
            if (put_record(s, a[j], b[j], from[j] / 2, field, e))
                return e->code;
    }
    return GNN_OK;
}

/* Nothing is left in the buffers, nothing is missing in the file. */
static int put_end(struct gnn_spill *s, struct gnn_err *e)
{
    for (uint32_t i = 0; i < s->nranges; i++)
        if (flush_bucket(s, i, e))
            return e->code;
    for (uint32_t i = 0; i < s->nranges; i++)
        if (s->range[i].put != s->range[i + 1].edge - s->range[i].edge)
            return fail_changed(e, s->csc->placed < s->csc->nedges ? "fewer" : "other");
    return GNN_OK;
}

/* ---- from the file ---- */

/* pread in full: the file was written in full. */
static int read_at(struct gnn_spill *s, void *data, uint64_t n, uint64_t at, struct gnn_err *e)
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

/* A read of many records at a time: *n of them from number `at` of a range that has `of`. */
static int read_records(struct gnn_spill *s, const struct gnn_spill_range *r, uint64_t at,
                        uint64_t *n, struct gnn_err *e)
{
    uint64_t most = PIECE / s->record ? PIECE / s->record : 1, rest = r[1].edge - r->edge - at;
    *n = rest < most ? rest : most;
    if (gnn_buf_reserve(&s->piece, most, s->record, "edges", e))
        return e->code;
    return read_at(s, s->piece.data, *n * s->record, (r->edge + at) * s->record, e);
}

static uint32_t load_word(const char *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* Two stages as in csc.c; the cursors of a range lie together. */
static int place_records(struct gnn_spill *s, const struct gnn_spill_range *r, uint64_t n,
                         struct gnn_err *e)
{
    const char *rec = s->piece.data;
    uint64_t *cursor = s->csc->indptr, size = r[1].edge - r->edge, pos[BLOCK];
    uint32_t *indices = s->indices.data;
    for (uint64_t from = 0; from < n; from += BLOCK, rec += BLOCK * s->record) {
        unsigned k = n - from < BLOCK ? (unsigned)(n - from) : BLOCK;
        for (unsigned i = 0; i < k; i++) {
            pos[i] = cursor[load_word(rec + i * s->record + 4)]++ - r->edge;
            if (pos[i] >= size)
                return fail_changed(e, "other");
            __builtin_prefetch(&indices[pos[i]], 1);
        }
        for (unsigned i = 0; i < k; i++)
            indices[pos[i]] = load_word(rec + i * s->record);
        const char *rows = rec + 8;
        for (uint32_t f = 0; f < s->nfields; rows += s->row[f++])
            for (unsigned i = 0; i < k; i++)
                memcpy((char *)s->field[f].data + pos[i] * s->row[f], rows + i * s->record,
                       s->row[f]);
    }
    return GNN_OK;
}

static int fit_window(struct gnn_spill *s, uint64_t size, struct gnn_err *e)
{
    if (gnn_buf_fit(&s->indices, size, sizeof(uint32_t), "edges", e))
        return e->code;
    for (uint32_t f = 0; f < s->nfields; f++)
        if (gnn_buf_fit(&s->field[f], size, s->row[f], "edge fields", e))
            return e->code;
    return GNN_OK;
}

/* Fills the window with the edges of a range. */
static int sort_range(struct gnn_spill *s, const struct gnn_spill_range *r, struct gnn_err *e)
{
    uint64_t size = r[1].edge - r->edge, n;
    if (fit_window(s, size, e))
        return e->code;
    for (uint64_t at = 0; at < size; at += n)
        if (read_records(s, r, at, &n, e) || place_records(s, r, n, e))
            return e->code;
    return GNN_OK;
}

static int window_out(struct gnn_spill *s, uint64_t n, gnn_spill_fn *fn, void *arg,
                      struct gnn_err *e)
{
    if (n && fn(arg, 0, s->indices.data, n * sizeof(uint32_t), e))
        return e->code;
    for (uint32_t f = 0; n && f < s->nfields; f++)
        if (fn(arg, f + 1, s->field[f].data, n * s->row[f], e))
            return e->code;
    return GNN_OK;
}

/* One destination with more edges than a window has room for: they are in order already. */
static int pass_range(struct gnn_spill *s, const struct gnn_spill_range *r, gnn_spill_fn *fn,
                      void *arg, struct gnn_err *e)
{
    uint64_t size = r[1].edge - r->edge, n, most = PIECE / s->record + 1;
    if (fit_window(s, most, e))
        return e->code;
    for (uint64_t at = 0; at < size; at += n) {
        if (read_records(s, r, at, &n, e))
            return e->code;
        const char *rec = s->piece.data;
        for (uint64_t i = 0; i < n; i++, rec += s->record) {
            const char *rows = rec + 8;
            s->csc->indptr[load_word(rec + 4)]++;
            memcpy((uint32_t *)s->indices.data + i, rec, sizeof(uint32_t));
            for (uint32_t f = 0; f < s->nfields; rows += s->row[f++])
                memcpy((char *)s->field[f].data + i * s->row[f], rows, s->row[f]);
        }
        if (window_out(s, n, fn, arg, e))
            return e->code;
    }
    return GNN_OK;
}

/* ---- without duplicates ---- */

static int compare_u64(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Sorts n sources from position `from` of the window on, moves the first of equal ones to position
 * `to`, rows along. Returns how many are kept, or UINT64_MAX. */
static uint64_t dedup_row(struct gnn_spill *s, uint64_t from, uint64_t n, uint64_t to,
                          struct gnn_err *e)
{
    uint32_t *src = s->indices.data;
    if (!n)
        return 0;
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
    struct gnn_spill *s;
    uint64_t at;
};

static int write_back(void *arg, uint32_t which, const void *data, uint64_t bytes,
                      struct gnn_err *e)
{
    struct back *b = arg;
    uint64_t at = b->at;
    (void)which;
    b->at += bytes;
    return gnn_io_pwrite(&b->s->io, data, bytes, at, e);
}

/* What is kept goes where the records were, one tensor after the other; cursors become ends of what
 * is kept. */
static int dedup_range(struct gnn_spill *s, struct gnn_spill_range *r, uint64_t before,
                       struct gnn_err *e)
{
    uint64_t *end = s->csc->indptr, from = 0;
    if (r[1].edge - r->edge > UINT32_MAX)
        return gnn_fail(e, GNN_E_INPUT,
                        "more than 2^32 edges have the same destination: too many to compare");
    if (sort_range(s, r, e))
        return e->code;
    for (uint64_t v = r->v; v < r[1].v; v++) {
        uint64_t to = end[v] - r->edge;
        uint64_t n = to >= from && to <= r[1].edge - r->edge ? to - from : 0;
        n = dedup_row(s, from, n, r->kept, e);
        if (n == UINT64_MAX)
            return e->code;
        r->kept += n;
        end[v] = before + r->kept;
        from = to;
    }
    struct back b = {s, r->edge * s->record};
    return window_out(s, r->kept, write_back, &b, e);
}

int gnn_spill_dedup(struct gnn_spill *s, struct gnn_err *e)
{
    uint64_t kept = 0;
    if (put_end(s, e))
        return e->code;
    for (uint32_t i = 0; i < s->nranges; i++) {
        if (dedup_range(s, &s->range[i], kept, e))
            return e->code;
        kept += s->range[i].kept;
    }
    s->csc->nedges = s->csc->placed = kept;
    s->deduped = true;
    return gnn_csc_done(s->csc, e);
}

static int copy_range(struct gnn_spill *s, const struct gnn_spill_range *r, gnn_spill_fn *fn,
                      void *arg, struct gnn_err *e)
{
    uint64_t at = r->edge * s->record;
    for (uint32_t which = 0; which <= s->nfields; which++) {
        uint64_t rest = r->kept * (which ? s->row[which - 1] : sizeof(uint32_t));
        for (uint64_t n; rest; at += n, rest -= n) {
            n = rest < PIECE ? rest : PIECE;
            if (gnn_buf_reserve(&s->piece, PIECE, 1, "edges", e) ||
                read_at(s, s->piece.data, n, at, e) || fn(arg, which, s->piece.data, n, e))
                return e->code;
        }
    }
    return GNN_OK;
}

/* Fills the window with what is kept of a range. */
static int load_range(struct gnn_spill *s, const struct gnn_spill_range *r, struct gnn_err *e)
{
    uint64_t at = r->edge * s->record;
    if (fit_window(s, r->kept, e) || read_at(s, s->indices.data, r->kept * sizeof(uint32_t), at, e))
        return e->code;
    at += r->kept * sizeof(uint32_t);
    for (uint32_t f = 0; f < s->nfields; at += r->kept * s->row[f++])
        if (read_at(s, s->field[f].data, r->kept * s->row[f], at, e))
            return e->code;
    return GNN_OK;
}

/* The edges of a range, which are in the window, go through window_fn. They are `size`;
 * if the input has changed, destinations may have other counts than they had. */
static int window_each(struct gnn_spill *s, const struct gnn_spill_range *r, const uint64_t *end,
                       uint64_t first, uint64_t size, gnn_spill_fn *fn, void *arg,
                       struct gnn_err *e)
{
    const uint64_t n = r[1].v - r->v;
    uint64_t at = first;
    for (uint64_t i = 0; i < n; at = end[i++])
        if (end[i] < at || end[i] - first > size)
            return fail_changed(e, "other");
    if (at - first != size)
        return fail_changed(e, "other");
    return s->window_fn(arg, s, end, first, n, e) || window_out(s, size, fn, arg, e) ? e->code : 0;
}

int gnn_spill_each(struct gnn_spill *s, gnn_spill_fn *fn, void *arg, struct gnn_err *e)
{
    const uint64_t *ptr = s->csc->indptr;
    for (uint32_t i = 0; s->deduped && i < s->nranges; i++) {
        const struct gnn_spill_range *r = &s->range[i];
        if (s->window_fn ? load_range(s, r, e) ||
                               window_each(s, r, ptr + r->v + 1, ptr[r->v], r->kept, fn, arg, e)
                         : copy_range(s, r, fn, arg, e))
            return e->code;
    }
    if (s->deduped)
        return GNN_OK;
    if (put_end(s, e))
        return e->code;
    for (uint32_t i = 0; i < s->nranges; i++) {
        const struct gnn_spill_range *r = &s->range[i];
        uint64_t n = r[1].edge - r->edge;
        if (s->window_fn
                ? sort_range(s, r, e) || window_each(s, r, ptr + r->v, r->edge, n, fn, arg, e)
            : n > s->window ? pass_range(s, r, fn, arg, e)
                            : sort_range(s, r, e) || window_out(s, n, fn, arg, e))
            return e->code;
    }
    return gnn_csc_done(s->csc, e);
}

void gnn_spill_release(struct gnn_spill *s)
{
    if (s->name && s->io.fd >= 0)
        close(s->io.fd);
    for (uint32_t f = 0; s->field && f < s->nfields; f++)
        gnn_buf_release(&s->field[f]);
    gnn_free(s->field);
    gnn_buf_release(&s->indices);
    gnn_buf_release(&s->piece);
    gnn_buf_release(&s->keys);
    gnn_buf_release(&s->rows);
    gnn_free(s->range);
    gnn_free(s->first);
    gnn_free(s->buf);
    gnn_free(s->name);
    *s = (struct gnn_spill){0};
}
