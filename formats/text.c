/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and fields of text files (formats/text.h): the common cases are inline in the header, the
 * rest is here. Text always ends with a newline, so no loop needs a length. */
#include "formats/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/le.h"

static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c)
{
    return (unsigned)((unsigned char)c - '0') <= 9;
}

/* inf, infinity, nan. */
static const char *parse_special(const char *p, bool neg, double *v)
{
    if (!strncasecmp(p, "nan", 3)) {
        *v = NAN;
        return p + 3;
    }
    if (strncasecmp(p, "inf", 3))
        return NULL;
    *v = neg ? -INFINITY : INFINITY;
    return p + (strncasecmp(p + 3, "inity", 5) ? 3 : 8);
}

/* strtod on a copy: the text is not NUL-terminated. A number of 512 characters or more is
 * refused. */
static const char *by_strtod(const char *start, const char *end, double *v)
{
    char buf[512];
    size_t n = (size_t)(end - start);
    if (n >= sizeof buf)
        return NULL;
    memcpy(buf, start, n);
    buf[n] = 0;
    char *stop;
    *v = strtod(buf, &stop);
    return *stop ? NULL : end;
}

const char *gnn_text_f64_slow(const char *p, double *v)
{
    const char *start = p;
    bool neg = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    uint64_t m = 0;
    int ndigits = 0, exp = 0;
    bool any = false;
    for (; is_digit(*p); p++, any = true) {
        /* 19 digits fit 64 bits. Further ones only count towards the exponent here; such numbers go
         * to strtod. */
        if (m < UINT64_C(1000000000000000000))
            m = m * 10 + (uint64_t)(*p - '0'), ndigits += m > 0;
        else
            ndigits++, exp++;
    }
    if (*p == '.') {
        for (p++; is_digit(*p); p++, any = true) {
            if (m < UINT64_C(1000000000000000000))
                m = m * 10 + (uint64_t)(*p - '0'), ndigits += m > 0, exp--;
            else
                ndigits++;
        }
    }
    if (!any)
        return parse_special(start + (*start == '-' || *start == '+'), neg, v);
    if (*p == 'e' || *p == 'E') {
        const char *q = p + 1;
        bool eneg = *q == '-';
        int x = 0;
        if (*q == '-' || *q == '+')
            q++;
        if (!is_digit(*q))
            return NULL;
        for (; is_digit(*q); q++)
            x = x < 100000 ? x * 10 + (*q - '0') : x;
        exp += eneg ? -x : x;
        p = q;
    }
    /* Both operands are exact and the one operation is rounded correctly, so the result is, too
     * (Clinger 1990). Everything else goes to strtod. */
    if (ndigits > 19 || m > UINT64_C(1) << 53 || exp < -22 || exp > 22)
        return by_strtod(start, p, v);
    double d = (double)m;
    d = exp < 0 ? d / tens[-exp] : d * tens[exp];
    *v = neg ? -d : d;
    return p;
}

bool gnn_text_field(const char *p, char sep, const char **field, size_t *len, const char **next,
                    bool *last)
{
    while (*p == ' ' || (*p == '\t' && sep != '\t'))
        p++;
    const char *end;
    if (*p == '"') {
        *field = ++p;
        while (*p != '"' && *p != '\n')
            p++;
        if (*p != '"')
            return false;
        end = p++;
        if (sep == GNN_TEXT_SPACE && *p != ' ' && *p != '\t' && *p != '\n' && *p != '\r')
            return false;
        while (*p == ' ' || (*p == '\t' && sep != '\t'))
            p++;
        if (*p != '\n' && *p != '\r' && *p != sep && sep != GNN_TEXT_SPACE)
            return false;
    } else {
        *field = p;
        if (sep == GNN_TEXT_SPACE)
            while (*p != ' ' && *p != '\t' && *p != '\n')
                p++;
        else
            while (*p != sep && *p != '\n')
                p++;
        end = p;
        /* A line may end with CR LF. */
        while (end > *field && (end[-1] == ' ' || end[-1] == '\r'))
            end--;
    }
    *len = (size_t)(end - *field);
    p = sep == GNN_TEXT_SPACE ? gnn_text_blanks(p) : p;
    if (*p == '\r' && p[1] == '\n')
        p++;
    *last = *p == '\n';
    *next = *last || sep == GNN_TEXT_SPACE ? p : p + 1;
    return true;
}

bool gnn_text_doubled(const char *p, char sep, char *out, size_t *len, const char **next,
                      bool *last)
{
    size_t n = 0;
    while (*p == ' ' || (*p == '\t' && sep != '\t'))
        p++;
    if (*p++ != '"')
        return false;
    for (; *p != '\n' && (*p != '"' || p[1] == '"'); p++, n++) {
        p += *p == '"';
        if (out)
            out[n] = *p;
    }
    if (*p++ != '"')
        return false;
    const char *const after = p;
    p = gnn_text_blanks(p);
    *last = *p == '\n';
    if (!*last && (sep == GNN_TEXT_SPACE ? p == after : *p != sep && *after != sep))
        return false;
    if (sep == '\t' && *after == '\t')
        p = after;
    *len = n;
    *next = *last || sep == GNN_TEXT_SPACE ? p : p + 1;
    return true;
}

/* A bit, the highest, of the first byte of v that is c; those above may be wrong. */
static uint64_t byte_is(uint64_t v, uint8_t c)
{
    const uint64_t x = v ^ UINT64_C(0x0101010101010101) * c;
    return (x - UINT64_C(0x0101010101010101)) & ~x & UINT64_C(0x8080808080808080);
}

size_t gnn_text_plain(const char *p, const char *end, char sep)
{
    const char *const start = p;
    if (*p == ' ' || *p == '"')
        return 0;
    for (; end - p >= 8; p += 8) {
        const uint64_t v = load_le64((const uint8_t *)p);
        const uint64_t stop = byte_is(v, (uint8_t)sep) | byte_is(v, '\n');
        /* bytes below a blank, DEL and those beyond ASCII */
        const uint64_t odd =
            (((v - UINT64_C(0x2020202020202020)) & ~v) | v) & UINT64_C(0x8080808080808080);
        const uint64_t before = stop ? (stop & -stop) - 1 : UINT64_MAX;
        if ((odd | byte_is(v, 127)) & before)
            return 0;
        if (stop) {
            p += __builtin_ctzll(stop) / 8;
            return p > start && p[-1] != ' ' ? (size_t)(p - start) : 0;
        }
    }
    return 0;
}

bool gnn_text_missing(const struct gnn_word *w)
{
    static const char *const words[] = {"NA", "N/A", "null", "none", "nan"};
    if (!w->n || (*w->p | 32) != 'n')
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (w->n == strlen(words[i]) && !strncasecmp(w->p, words[i], w->n))
            return true;
    return false;
}

bool gnn_text_boolean(const struct gnn_word *w)
{
    return (w->n == 4 && !strncasecmp(w->p, "true", 4)) ||
           (w->n == 5 && !strncasecmp(w->p, "false", 5));
}

/* The character at p, before end; NULL if there is none in UTF-8 as in RFC 3629, else what follows
 * it. */
static const char *take_char(const char *at, const char *end, uint32_t *out)
{
    const unsigned char *p = (const unsigned char *)at;
    const unsigned n = *p < 0x80                 ? 0
                       : *p >= 0xc2 && *p < 0xe0 ? 1
                       : *p >= 0xe0 && *p < 0xf0 ? 2
                       : *p >= 0xf0 && *p < 0xf5 ? 3
                                                 : 4;
    uint32_t c = *p++ & (0x7fu >> n);
    if (n == 4 || end - at <= (ptrdiff_t)n)
        return NULL;
    for (unsigned i = 0; i < n; i++, p++) {
        if ((*p & 0xc0) != 0x80)
            return NULL;
        c = c << 6 | (*p & 0x3fu);
    }
    *out = c;
    return (n == 2 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) ||
                   (n == 3 && (c < 0x10000 || c > 0x10ffff))
               ? NULL
               : (const char *)p;
}

bool gnn_text_is_utf8(const char *s, size_t len)
{
    const char *end = s + len;
    uint32_t c;
    while (s < end)
        if (!(s = take_char(s, end, &c)) || (c >= 0x80 && c < 0xa0))
            return false;
    return true;
}

/* Whether a terminal would obey the character, or show nothing for it: control characters, ends of
 * lines and paragraphs, marks of annotations, and Unicode's Default_Ignorable_Code_Point, which has
 * all that changes the direction of text or has no width. */
static bool is_hidden(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},      {0x34f, 0x34f},
        {0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5},  {0x180b, 0x180f},
        {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},  {0x3164, 0x3164},
        {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},  {0xfff0, 0xfffb},
        {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
    bool is = false;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        is = is || (c >= ranges[i][0] && c <= ranges[i][1]);
    return is;
}

size_t gnn_text_escape(const char *p, size_t n, char out[GNN_ESCAPE_CAPACITY])
{
    uint32_t c = 0;
    if (*p >= ' ' && *p <= '~') { /* nearly always */
        memcpy(out, (char[2]){*p}, 2);
        return 1;
    }
    const char *next = take_char(p, p + n, &c);
    if (!next)
        snprintf(out, GNN_ESCAPE_CAPACITY, "\\x%02x", (unsigned)(unsigned char)*p);
    else if (!is_hidden(c))
        snprintf(out, GNN_ESCAPE_CAPACITY, "%.*s", (int)(next - p), p);
    else if (c < 0x10000)
        snprintf(out, GNN_ESCAPE_CAPACITY, "\\u%04x", (unsigned)c);
    else
        snprintf(out, GNN_ESCAPE_CAPACITY, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)),
                 (unsigned)(0xdc00 | (c & 0x3ff)));
    return next ? (size_t)(next - p) : 1;
}

const char *gnn_text_shown(char *out, size_t capacity, const char *s, size_t n)
{
    static const char gap[] = "...";
    char piece[GNN_ESCAPE_CAPACITY];
    size_t at = 0, fit = 0; /* fit: so much can stay before a gap */
    while (n) {
        const size_t used = gnn_text_escape(s, n, piece), len = strlen(piece);
        if (at + len >= capacity) {
            snprintf(out + fit, capacity - fit, "%s", gap);
            return out;
        }
        memcpy(out + at, piece, len);
        at += len;
        fit = at + sizeof gap <= capacity ? at : fit;
        s += used;
        n -= used;
    }
    out[at] = 0;
    return out;
}

const char *gnn_text_encoding(const uint8_t *p, size_t n)
{
    static const char *const names[] = {"UTF-32BE", "UTF-32LE", "UTF-16BE", "UTF-16LE"};
    if (n > 3 && (!memcmp(p, "\xff\xfe\0", 4) || !memcmp(p, "\0\0\xfe\xff", 4)))
        return "UTF-32";
    if (n > 1 && (!memcmp(p, "\xff\xfe", 2) || !memcmp(p, "\xfe\xff", 2)))
        return "UTF-16";
    /* Without a mark: characters of ASCII, with zeros before or after each. */
    for (unsigned k = 0; k < 4; k++) {
        const size_t width = k < 2 ? 4 : 2, at = k & 1 ? 0 : width - 1;
        size_t i = 0;
        while (i < n && i < 64 && (p[i] != 0) == (i % width == at))
            i++;
        if (i > width && (i == 64 || i == n))
            return names[k];
    }
    return NULL;
}

char gnn_text_separator(const char *line)
{
    bool tab = false, semi = false;
    for (; *line != '\n'; line++) {
        if (*line == ',')
            return ',';
        tab = tab || *line == '\t';
        semi = semi || *line == ';';
    }
    return semi ? ';' : tab ? '\t' : GNN_TEXT_SPACE;
}

uint32_t gnn_text_count(const char *line, char sep)
{
    const char *field, *p = gnn_text_blanks(line);
    if (*p == '\n')
        return 0;
    uint32_t n = 0;
    size_t len;
    bool last = false;
    while (!last && (gnn_text_field(p, sep, &field, &len, &p, &last) ||
                     gnn_text_doubled(p, sep, NULL, &len, &p, &last)))
        n++;
    return n;
}
