/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of numbers from text (lib/import/read/table.h). Text is read in blocks that end with a
 * whole line, so that parsing needs no checks of the end; a field that is a plain number followed
 * by its separator is parsed at once, and anything else goes through slow_value, which also finds
 * what is wrong. */
#include "lib/import/read/table.h"
#include "lib/base/plural.h"

#include <math.h>
#include <string.h>

/* The buffer starts small, as most files of a dataset are; a line can be up to 256 MiB long. */
enum { FIRST_CAPACITY = 1 << 15, FULL_CAPACITY = 1 << 19, LINE_MAX = 1 << 28 };

/* A carriage return without a line feed ends a line, too: it becomes one. The last byte waits for
 * what follows it. */
static void fold_returns(char *p, const char *end, bool eof)
{
    for (; (p = memchr(p, '\r', (size_t)(end - p))); p++)
        if (p + 1 < end ? p[1] != '\n' : eof)
            *p = '\n';
}

/* Text from `from` on, of which the lines before it have been read. */
static int refuse_zero(const struct gnn_table *t, const char *from, uint64_t n, struct gnn_err *e)
{
    const char *zero = n ? memchr(from, 0, n) : NULL;
    uint64_t line = t->line;
    for (const char *p = t->p; zero && p < zero; p++)
        line += *p == '\n';
    return zero ? gnn_fail(e, GNN_E_INPUT, "%s: line %llu: a byte of value 0, which is no text",
                           gnn_reader_name(t->r), (unsigned long long)line)
                : GNN_OK;
}

/* Reads more text behind what is unread, until there is a whole line. */
static int refill_buffer(struct gnn_table *t, struct gnn_err *e)
{
    uint64_t rest = t->used - (uint64_t)(t->p - (char *)t->buf.data);
    memmove(t->buf.data, t->p, rest);
    t->used = rest;
    t->p = t->end = t->buf.data;
    uint64_t searched = rest ? rest - 1 : 0;
    if (t->r && t->started && t->buf.cap < FULL_CAPACITY) { /* not a small file */
        int rc = gnn_buf_reserve(&t->buf, FULL_CAPACITY, 1, "a text buffer", e);
        if (rc)
            return rc;
        t->p = t->end = t->buf.data;
    }
    t->started = true;
    while (!t->eof) {
        if (t->used + 1 >= t->buf.cap) { /* one byte stays for a newline */
            if (t->buf.cap >= LINE_MAX)
                return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: longer than %d bytes",
                                gnn_reader_name(t->r), (unsigned long long)t->line, LINE_MAX);
            int rc = gnn_buf_reserve(&t->buf, t->buf.cap * 2, 1, "a long line", e);
            if (rc)
                return rc;
            t->p = t->end = t->buf.data;
        }
        char *data = t->buf.data;
        uint64_t got, want = t->buf.cap - t->used - 1;
        int rc = gnn_reader_read(t->r, data + t->used, want, &got, e);
        if (rc)
            return rc;
        rc = refuse_zero(t, data + t->used, got, e);
        if (rc)
            return rc;
        t->used += got;
        t->eof = got < want;
        fold_returns(data + searched, data + t->used, t->eof);
        if (t->eof && t->used && data[t->used - 1] != '\n')
            data[t->used++] = '\n';
        const char *nl = memrchr(data + searched, '\n', t->used - searched);
        if (nl) {
            t->end = nl + 1;
            return GNN_OK;
        }
        searched = t->used ? t->used - 1 : 0;
    }
    return GNN_END;
}

/* Refuses text of two or four bytes a character, by its first bytes. */
static int check_encoding(struct gnn_reader *r, struct gnn_err *e)
{
    const uint8_t *p;
    size_t n;
    int rc = gnn_reader_peek(r, &p, &n, e);
    const char *name = rc ? NULL : gnn_text_encoding(p, n);
    if (name)
        rc = gnn_fail(e, GNN_E_INPUT,
                      "%s: text in %.6s, where UTF-8 is expected: iconv -f %s -t UTF-8 converts it",
                      gnn_reader_name(r), name, name);
    return rc;
}

int gnn_table_open_reader(struct gnn_table *t, struct gnn_reader *r, char comment,
                          struct gnn_err *e)
{
    *t = (struct gnn_table){.r = r, .comment = comment, .line = 1};
    int rc = check_encoding(r, e);
    if (!rc)
        rc = gnn_buf_reserve(&t->buf, FIRST_CAPACITY, 1, "a text buffer", e);
    t->p = t->end = t->buf.data;
    if (!rc)
        rc = refill_buffer(t, e);
    /* A byte order mark, which editors on Windows write. */
    if (!rc && t->end - t->p >= 4 && !memcmp(t->p, "\xef\xbb\xbf", 3))
        t->p += 3;
    if (!rc)
        rc = gnn_table_line(t, e);
    if (rc)
        return rc == GNN_END ? GNN_OK : rc;
    t->sep = gnn_text_separator(t->p);
    t->ncols = gnn_text_count(t->p, t->sep);
    return GNN_OK;
}

int gnn_table_open(struct gnn_table *t, struct gnn_input *in, uint32_t member, char comment,
                   struct gnn_err *e)
{
    struct gnn_reader *r;
    *t = (struct gnn_table){0};
    int rc = gnn_reader_open(&r, in, member, e);
    return rc ? rc : gnn_table_open_reader(t, r, comment, e);
}

void gnn_table_close(struct gnn_table *t)
{
    gnn_reader_free(t->r);
    gnn_buf_release(&t->buf);
    *t = (struct gnn_table){0};
}

enum { SHOWN = 64 }; /* capacity for what messages show of a line */

int gnn_table_fail(const struct gnn_table *t, const char *p, const char *what, struct gnn_err *e)
{
    const char *field;
    size_t len;
    bool last;
    const char *next;
    if (!p || *p == '\n' || !gnn_text_field(p, t->sep, &field, &len, &next, &last))
        return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %s", gnn_reader_name(t->r),
                        (unsigned long long)t->line, what);
    char shown[SHOWN];
    return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %s '%s'", gnn_reader_name(t->r),
                    (unsigned long long)t->line, what,
                    gnn_text_shown(shown, sizeof shown, field, len));
}

int gnn_table_any(struct gnn_table *t, struct gnn_err *e)
{
    return t->p < t->end ? GNN_OK : t->r ? refill_buffer(t, e) : GNN_END;
}

bool gnn_table_more(struct gnn_table *t)
{
    while (t->p < t->end) {
        const char *p = t->p;
        if ((unsigned char)*p > '%') /* a digit or letter, mostly */
            return true;
        p = gnn_text_blanks(p);
        if (*p != '\n' && (*p != t->comment || !*p) && (*p != '%' || !t->percent))
            return true;
        gnn_table_next(t);
    }
    return false;
}

int gnn_table_line(struct gnn_table *t, struct gnn_err *e)
{
    int rc = GNN_OK;
    while (!rc && !gnn_table_more(t))
        rc = gnn_table_any(t, e);
    return rc;
}

void gnn_table_next(struct gnn_table *t)
{
    const char *nl = memchr(t->p, '\n', (size_t)(t->end - t->p));
    t->p = nl ? nl + 1 : t->end;
    t->line++;
}

/* After a value at q: is it well ended? Returns where the next field or the line's newline is, or
 * NULL. */
static inline const char *after_value(const char *q, char sep, bool last)
{
    if (last) {
        if (*q == '\n')
            return q;
        q = gnn_text_blanks(q);
        return *q == '\n' ? q : NULL;
    }
    if (*q == sep && sep != GNN_TEXT_SPACE)
        return q + 1;
    if (sep == '\t') {
        while (*q == ' ')
            q++;
        return *q == '\t' ? q + 1 : NULL;
    }
    const char *start = q;
    q = gnn_text_blanks(q);
    if (sep == GNN_TEXT_SPACE)
        return q > start && *q != '\n' ? q : NULL;
    return *q == sep ? q + 1 : NULL;
}

/* "2024-01-03", "2024/1/3" */
static bool looks_dated(const char *field, size_t len)
{
    return len > 4 && strspn(field, "0123456789") == 4 && (field[4] == '-' || field[4] == '/');
}

/* How a field is read. */
enum reading { ID, REAL, WHOLE, NUMBER };

/* A field that is no number, as the reading requires it. */
static int not_number(const struct gnn_table *t, const char *p, enum reading how, const char *field,
                      size_t len, struct gnn_err *e)
{
    const char *what = "not a number";
    if (how == ID)
        what = len && *field == '-' ? "a negative id"
               : len && (*field | 32) >= 'a' && (*field | 32) <= 'z'
                   ? "not a number, where ids are numbers:"
                   : "not an id";
    else if (looks_dated(field, len))
        what = t->date ? "neither a number nor a date like 2024-01-03 or 2024-01-03T05:06:07Z:"
                       : "not a number, and only times may be dates:";
    else if (gnn_text_boolean(&(struct gnn_word){field, len}))
        what = "not a number; write 1 and 0 for";
    else if (how == WHOLE)
        what = "not a whole number of i64";
    return gnn_table_fail(t, p, what, e);
}

/* The value at p, whose end is returned, or NULL. */
static inline const char *read_value(struct gnn_table *t, const char *p, enum reading how,
                                     union gnn_number *v, struct gnn_numbers *seen)
{
    if (how == ID) {
        uint64_t id = 0;
        t->padded |= *p == '0' && p[1] >= '0' && p[1] <= '9';
        p = gnn_text_u64(p, &id);
        v->whole = (int64_t)id;
        return p;
    }
    if (how == REAL)
        return gnn_text_f64(p, &v->real);
    bool whole;
    int64_t i = 0;
    double d;
    const char *q = gnn_text_number(p, &whole, &i, &d);
    if (how == NUMBER) {
        v->real = d;
        /* Small integers, which are most, tell nothing. */
        if (q && (!whole || i > 1 << 24 || i < -(1 << 24)))
            gnn_numbers_add(seen, p, t->line, whole, i, d);
        return q;
    }
    if (q && !whole && (d != floor(d) || fabs(d) >= 9007199254740992.0))
        return NULL;
    v->whole = whole ? i : q ? (int64_t)d : 0;
    return q;
}

/* A row whose last field is not where the first line's is; `more`: it comes later. */
static int other_count(const struct gnn_table *t, bool more, struct gnn_err *e)
{
    return gnn_table_fail(
        t, NULL,
        more ? "more fields than the first line has" : "fewer fields than the first line has", e);
}

/* Where a date may be, a number is. */
static inline void note_plain(const struct gnn_table *t, enum reading how, struct gnn_numbers *seen)
{
    if (how == NUMBER && t->date && !seen->plain)
        seen->plain = t->line;
}

/* A date in place of a number. */
static bool read_date(struct gnn_table *t, const struct gnn_word *w, enum reading how,
                      union gnn_number *v, struct gnn_numbers *seen)
{
    bool whole;
    int64_t i;
    double d;
    if (!t->date || !gnn_text_date(w, &whole, &i, &d) || (how == WHOLE && !whole))
        return false;
    if (how == WHOLE)
        v->whole = i;
    else
        v->real = d;
    if (how == NUMBER) {
        gnn_numbers_add(seen, w->p, t->line, whole, i, d);
        seen->date = seen->date ? seen->date : t->line;
    }
    return true;
}

/* A value that the fast path did not take: quoted, padded, a date or wrong. */
static int slow_value(struct gnn_table *t, const char **p, bool last, enum reading how,
                      union gnn_number *v, struct gnn_numbers *seen, struct gnn_err *e)
{
    const char *field, *next, *q;
    size_t len;
    bool is_last;
    if (!gnn_text_field(*p, t->sep, &field, &len, &next, &is_last))
        return gnn_table_fail(t, NULL, "a quote is not closed", e);
    /* A field's text ends before a quote, separator or newline, so parsing a number stops there by
     * itself. */
    const bool none = !len || gnn_text_missing(&(struct gnn_word){field, len});
    if (none && (how == REAL || how == NUMBER)) {
        v->real = NAN;
        if (how == NUMBER)
            gnn_numbers_add(seen, field, t->line, false, 0, NAN);
    } else {
        const bool date = read_date(t, &(struct gnn_word){field, len}, how, v, seen);
        q = len && !date ? read_value(t, field, how, v, seen) : NULL;
        if (!date && (!q || q != field + len))
            return not_number(t, *p, how, field, len, e);
        if (!date)
            note_plain(t, how, seen);
    }
    if (is_last != last)
        return other_count(t, last, e);
    *p = next;
    return GNN_OK;
}

/* The value at *p, which then is where the next field begins, or the newline. */
static inline int next_value(struct gnn_table *t, const char **p, bool last, enum reading how,
                             union gnn_number *v, struct gnn_numbers *seen, struct gnn_err *e)
{
    const char *q = read_value(t, *p, how, v, seen);
    q = q ? after_value(q, t->sep, last) : NULL;
    if (!q)
        return slow_value(t, p, last, how, v, seen, e);
    *p = q;
    note_plain(t, how, seen);
    return GNN_OK;
}

#define ROWS(name, T, how, seen, take)                                                             \
    int name(struct gnn_table *t, T *out, uint32_t ncols, uint64_t max, uint64_t *got,             \
             struct gnn_err *e)                                                                    \
    {                                                                                              \
        for (*got = 0; *got < max; ++*got) {                                                       \
            int rc = gnn_table_line(t, e);                                                         \
            if (rc)                                                                                \
                return rc == GNN_END ? GNN_OK : rc;                                                \
            const char *p = t->p;                                                                  \
            for (uint32_t j = 0; j < ncols; j++) {                                                 \
                union gnn_number v;                                                                \
                if ((rc = next_value(t, &p, j + 1 == ncols, how, &v, seen, e)))                    \
                    return rc;                                                                     \
                take;                                                                              \
            }                                                                                      \
            t->p = p + 1;                                                                          \
            t->line++;                                                                             \
        }                                                                                          \
        return GNN_OK;                                                                             \
    }
ROWS(gnn_table_ids, uint64_t, ID, NULL, *out++ = (uint64_t)v.whole)
ROWS(gnn_table_i64, int64_t, WHOLE, NULL, *out++ = v.whole)
ROWS(gnn_table_f64, double, REAL, NULL, *out++ = v.real)
ROWS(gnn_table_f32, float, REAL, NULL, (gnn_lost_add(&t->lost, v.real), *out++ = (float)v.real))
ROWS(gnn_table_numbers, struct gnn_numbers, NUMBER, out, (void)v)

/* A field that is a word as it stands there, which most are. */
static bool take_plain(const struct gnn_table *t, const char **p, struct gnn_word *w, bool *last)
{
    *w = (struct gnn_word){*p, gnn_text_plain(*p, t->end, t->sep)};
    const char *q = *p + w->n;
    if (w->n && t->sep == GNN_TEXT_SPACE) {
        q = gnn_text_blanks(q);
        q += *q == '\r' && q[1] == '\n';
    }
    *last = *q == '\n';
    *p = w->n && !*last && t->sep != GNN_TEXT_SPACE ? q + 1 : q;
    return w->n != 0;
}

bool gnn_table_field(struct gnn_table *t, const char **p, struct gnn_word *w, bool *last)
{
    const char *next = *p;
    if (take_plain(t, p, w, last))
        return true;
    if (!gnn_text_field(*p, t->sep, &w->p, &w->n, &next, last)) {
        const char *quote = memchr(*p, '"', (size_t)(t->end - *p));
        char *out = quote ? (char *)t->buf.data + (quote + 1 - (const char *)t->buf.data) : NULL;
        if (!out || !gnn_text_doubled(*p, t->sep, out, &w->n, &next, last))
            return false;
        w->p = out;
    }
    *p = next;
    return true;
}

int gnn_table_words(struct gnn_table *t, struct gnn_word *w, uint32_t max, uint32_t *n,
                    struct gnn_err *e)
{
    const char *p = gnn_text_blanks(t->p);
    bool last = false;
    for (*n = 0; !last; ++*n) {
        if (*n == max)
            return gnn_table_fail(t, NULL, "too many fields", e);
        if (!gnn_table_field(t, &p, &w[*n], &last))
            return gnn_table_fail(t, NULL, "a quote is not closed", e);
    }
    t->p = p + 1;
    t->line++;
    return GNN_OK;
}

int gnn_table_row(struct gnn_table *t, struct gnn_word *w, uint32_t want, struct gnn_err *e)
{
    uint32_t n = 0;
    int rc = gnn_table_line(t, e);
    if (!rc)
        rc = gnn_table_words(t, w, want, &n, e);
    if (!rc && n != want)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %u field%s instead of %u",
                      gnn_reader_name(t->r), (unsigned long long)t->line - 1, n, gnn_plural(n),
                      want);
    return rc;
}

/* Walks over fields nobody asked for. */
static int skip_fields(struct gnn_table *t, const char **p, uint32_t n, struct gnn_err *e)
{
    while (n--) {
        struct gnn_word w;
        bool last;
        if (!gnn_table_field(t, p, &w, &last))
            return gnn_table_fail(t, NULL, "a quote is not closed", e);
        if (last)
            return other_count(t, false, e);
    }
    return GNN_OK;
}

int gnn_table_check_id(const struct gnn_table *t, const struct gnn_word *w, uint32_t col,
                       uint64_t line, struct gnn_err *e)
{
    bool odd = false, control = false;
    for (size_t i = 0; i < w->n; i++) {
        const unsigned char c = (unsigned char)w->p[i];
        control = control || c < ' ' || c == 127;
        odd = odd || c > 127;
    }
    if (w->n && !control && !(odd && !gnn_text_is_utf8(w->p, w->n)))
        return GNN_OK;
    char shown[SHOWN];
    return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: column %u: %s%s%s", gnn_reader_name(t->r),
                    (unsigned long long)line, col + 1,
                    !w->n     ? "the id is empty"
                    : control ? "the id has a control character: '"
                              : "the id is not UTF-8: '",
                    gnn_text_shown(shown, sizeof shown, w->p, w->n),
                    !w->n ? ""
                    : control
                        ? "'"
                        : "' (if it is Latin-1, iconv -f ISO-8859-1 -t UTF-8 converts the file)");
}

static int pick_word(struct gnn_table *t, const char **p, uint32_t col, bool last,
                     struct gnn_word *w, struct gnn_err *e)
{
    bool is_last;
    int rc = GNN_OK;
    /* One that is plain is good as an id. */
    if (!take_plain(t, p, w, &is_last)) {
        if (!gnn_table_field(t, p, w, &is_last))
            return gnn_table_fail(t, NULL, "a quote is not closed", e);
        rc = gnn_table_check_id(t, w, col, t->line, e);
    }
    if (!rc && is_last != last)
        rc = other_count(t, last, e);
    return rc;
}

/* What is behind the last column that is picked. */
static int pick_rest(struct gnn_table *t, const char **p, uint32_t col, struct gnn_err *e)
{
    struct gnn_word w;
    bool last;
    int rc = skip_fields(t, p, t->ncols - col - 1, e);
    if (rc)
        return rc;
    if (!gnn_table_field(t, p, &w, &last))
        return gnn_table_fail(t, NULL, "a quote is not closed", e);
    return last ? GNN_OK : other_count(t, true, e);
}

int gnn_table_pick(struct gnn_table *t, const struct gnn_pick *pick, uint32_t npick, uint64_t *ids,
                   struct gnn_word *words, union gnn_number *nums, uint64_t max, uint64_t *got,
                   struct gnn_err *e)
{
    for (*got = 0; *got < max; ++*got) {
        if (words && *got && !gnn_table_more(t))
            return GNN_OK;
        int rc = gnn_table_line(t, e);
        if (rc)
            return rc == GNN_END ? GNN_OK : rc;
        const char *p = t->p;
        uint32_t col = 0;
        for (uint32_t k = 0; k < npick; k++) {
            bool last = pick[k].col + 1 == t->ncols;
            if (pick[k].col > col && (rc = skip_fields(t, &p, pick[k].col - col, e)))
                return rc;
            col = pick[k].col + 1;
            if (pick[k].id && words) {
                if ((rc = pick_word(t, &p, pick[k].col, last, words++, e)))
                    return rc;
                continue;
            }
            union gnn_number v;
            enum reading how = pick[k].id      ? ID
                               : pick[k].whole ? WHOLE
                               : pick[k].seen  ? NUMBER
                                               : REAL;
            t->date = pick[k].date;
            if ((rc = next_value(t, &p, last, how, &v, pick[k].seen, e)))
                return rc;
            if (pick[k].id)
                *ids++ = (uint64_t)v.whole;
            else
                *nums++ = v;
        }
        if (col < t->ncols && (rc = pick_rest(t, &p, col, e)))
            return rc;
        t->p = p + 1;
        t->line++;
    }
    return GNN_OK;
}
