/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and fields in text. Every function reads from p inside a block of text whose last byte is
 * '\n', so none needs an end pointer: each stops at the newline at the latest. */
#ifndef GNN_FORMATS_TEXT_H
#define GNN_FORMATS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fault in a piece of text, and its line (1 = first). */
struct gnn_text_err {
    const char *what; /* static */
    uint64_t line;
};

/* A field's text, without a NUL at its end. */
struct gnn_word {
    const char *p;
    size_t n;
};

enum { GNN_TEXT_SPACE = ' ' }; /* separator that stands for any run of blanks and tabs */

/* A decimal number without sign. NULL if there is no digit at p or it exceeds 2^64-1. */
static inline const char *gnn_text_u64(const char *p, uint64_t *v)
{
    unsigned c = (unsigned)(unsigned char)*p - '0';
    if (c > 9)
        return NULL;
    uint64_t x = c;
    const char *start = p;
    while ((c = (unsigned)(unsigned char)*++p - '0') <= 9) {
        if (__builtin_expect(p - start >= 18, 0) &&
            (__builtin_mul_overflow(x, 10u, &x) || __builtin_add_overflow(x, c, &x)))
            return NULL;
        if (__builtin_expect(p - start < 18, 1))
            x = x * 10 + c;
    }
    *v = x;
    return p;
}

/* As gnn_text_u64, with a sign, if it is between -2^63 and 2^63-1. */
static inline const char *gnn_text_i64(const char *p, int64_t *v)
{
    const bool minus = *p == '-';
    uint64_t x;
    p = gnn_text_u64(p + (minus || *p == '+'), &x);
    if (!p || x > (uint64_t)INT64_MAX + minus)
        return NULL;
    *v = (int64_t)(minus ? 0 - x : x);
    return p;
}

/* A decimal number: sign, digits, point, exponent; or inf, infinity, nan in any case. Correctly
 * rounded. NULL if there is none at p. An empty field is no number. */
const char *gnn_text_f64_slow(const char *p, double *v);
static inline const char *gnn_text_f64(const char *p, double *v)
{
    /* One digit and a delimiter: most values of sparse features. */
    unsigned c = (unsigned)(unsigned char)p[0] - '0';
    if (c <= 9 && (p[1] == ',' || p[1] == '\n' || p[1] == ' ' || p[1] == '\t')) {
        *v = c;
        return p + 1;
    }
    return gnn_text_f64_slow(p, v);
}

/* The number at p: *whole if it is written as an integer of i64, which *i then is; *v is its double
 * in either case. */
static inline const char *gnn_text_number(const char *p, bool *whole, int64_t *i, double *v)
{
    const char *q = gnn_text_i64(p, i);
    *whole = q && *q != '.' && (*q | 32) != 'e';
    *v = *whole ? (double)*i : 0;
    return *whole ? q : gnn_text_f64(p, v);
}

/* Blanks and tabs; with a carriage return before a newline counted as one. */
static inline const char *gnn_text_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t' || (*p == '\r' && p[1] == '\n'))
        p++;
    return p;
}

/* The field at p, up to the separator or the end of the line; quotes round it, and blanks round it
 * or them, are not part of it. *next is where the next field begins, or the newline after the last
 * one. False if a quote is not closed in the line. */
bool gnn_text_field(const char *p, char sep, const char **field, size_t *len, const char **next,
                    bool *last);

/* Bytes of the field at p, if it needs no care: all are printable ASCII, no blank is at an end, no
 * quote at the beginning, and what follows it is at least 8 bytes before `end`, that of the text.
 * Otherwise 0, and gnn_text_field reads it. */
size_t gnn_text_plain(const char *p, const char *end, char sep);
/* As gnn_text_field, for a field in quotes, in which each doubled quote is one. Its text goes to
 * out, which may be the text behind the first quote itself; NULL: nowhere. */
bool gnn_text_doubled(const char *p, char sep, char *out, size_t *len, const char **next,
                      bool *last);

/* The encoding, as iconv(1) names it, of a text that begins with these bytes, if it is one of two
 * or four bytes a character; NULL for any other. */
const char *gnn_text_encoding(const uint8_t *p, size_t n);

/* Whether a field says that a value is missing: NA, N/A, null, none or nan, in any case. */
bool gnn_text_missing(const struct gnn_word *w);
/* A date of ISO 8601, alone or with a time: "2024-01-03", "2024-01-03 05:06",
 * "2024-01-03T05:06:07.5Z",
 * "...+02:00", "... UTC". Seconds since 1970-01-01 00:00:00 UTC; without a zone it is UTC's.
 * *whole: in *seconds, and else, with a fraction, in *real; *real is set in both cases. False: no
 * date. */
bool gnn_text_date(const struct gnn_word *w, bool *whole, int64_t *seconds, double *real);
/* Whether a word is "true" or "false", in any case. */
bool gnn_text_boolean(const struct gnn_word *w);
/* Whether text is UTF-8 as in RFC 3629, without control characters beyond ASCII. */
bool gnn_text_is_utf8(const char *s, size_t n);

/* Text for people: whatever comes from outside may hold what a terminal obeys or hides. Control
 * characters (also U+0080 to U+009F), those that change the direction of text and those without
 * width are written as in JSON, \u009b, and a byte that is not UTF-8 as \x9b. */
enum { GNN_ESCAPE_CAPACITY = 16 };
/* The first character of n > 0 bytes at p so; returns how many bytes it has. */
size_t gnn_text_escape(const char *p, size_t n, char out[GNN_ESCAPE_CAPACITY]);
/* n bytes so; what does not fit into `capacity` bytes, of which there are more than 4, is "...".
 * Returns out. */
const char *gnn_text_shown(char *out, size_t capacity, const char *s, size_t n);

/* The separator of a line: comma, semicolon, tab, or GNN_TEXT_SPACE. */
char gnn_text_separator(const char *line);
/* Number of fields of a line. 0 for a blank line. */
uint32_t gnn_text_count(const char *line, char sep);

#endif
