/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of N-Triples (lib/import/read/ntriples.h). Each line ends with a newline, at which
 * every loop stops. */
#include "lib/import/read/ntriples.h"

#include <ctype.h>
#include <string.h>

enum { SHOWN = 64, CONTROLS_END = 0xa0 };

/* A line while it is read. */
struct line {
    char *p;
    const char *why; /* static: what is wrong at p */
};

static bool fail_line(struct line *l, char *at, const char *why)
{
    l->p = at;
    l->why = why;
    return false;
}

/* ---- characters ---- */

/* No IRI has these as they are: controls, the blank, and < > " { } | ^ ` and the backslash. */
static inline bool ends_iri(unsigned char c)
{
    static const uint64_t stops[2] = {0x50000005ffffffff, 0xb800000150000000};
    return c < 128 && (stops[c >> 6] >> (c & 63) & 1);
}

static inline bool in_label(unsigned char c)
{
    return isalnum(c) || c == '_' || c == '-' || c == '.' || c == ':' || c > 127;
}

/* The character that \uXXXX or \UXXXXXXXX at p stands for; returns what is behind it, or NULL. */
static char *take_code(char *p, uint32_t *c)
{
    const int digits = p[1] == 'u' ? 4 : p[1] == 'U' ? 8 : 0;
    *c = 0;
    p += 2;
    for (int i = 0; i < digits; i++, p++) {
        const char *hex = "0123456789abcdef", *at = memchr(hex, tolower((unsigned char)*p), 16);
        if (!at)
            return NULL;
        *c = *c << 4 | (uint32_t)(at - hex);
    }
    return digits && *c <= 0x10ffff && (*c < 0xd800 || *c > 0xdfff) ? p : NULL;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3; /* bytes behind the first */
    *to++ = (char)(0xff00u >> (more + 1) | c >> 6 * more);
    for (int i = more - 1; i >= 0; i--)
        *to++ = (char)(0x80 | (c >> 6 * i & 63));
    return to;
}

/* ---- terms ---- */

static bool check_utf8(struct line *l, char *at, const struct gnn_word *w, bool odd)
{
    return !odd || gnn_text_is_utf8(w->p, w->n) ||
           fail_line(l, at,
                     "not UTF-8 (if it is Latin-1, iconv -f ISO-8859-1 -t UTF-8 converts the "
                     "file)");
}

/* What is left of an IRI from the first escape on. */
static char *decode_iri(struct line *l, char *p, char **to)
{
    while (*p != '>') {
        char *next = p + 1;
        uint32_t c = (unsigned char)*p;
        if (c == '\\') {
            next = take_code(p, &c);
            if (!next || (c < 128 ? ends_iri((unsigned char)c) : c < CONTROLS_END)) {
                (void)fail_line(l, p, "an escape that stands for no character of an IRI");
                return NULL;
            }
            *to = put_utf8(*to, c);
        } else if (ends_iri((unsigned char)c)) {
            break;
        } else {
            *(*to)++ = *p;
        }
        p = next;
    }
    return p;
}

/* The IRI at p, of which the '<' has been seen. */
static bool take_iri(struct line *l, struct gnn_word *w)
{
    char *const from = l->p + 1, *p = from, *to;
    unsigned char odd = 0;
    for (; !ends_iri((unsigned char)*p); p++)
        odd |= (unsigned char)*p;
    to = p;
    if (*p == '\\' && !(p = decode_iri(l, p, &to)))
        return false;
    if (*p != '>')
        return fail_line(l, from - 1,
                         *p == '\n' ? "an IRI without its '>'"
                                    : "an IRI with a character that no IRI has");
    *w = (struct gnn_word){from, (size_t)(to - from)};
    l->p = p + 1;
    if (!w->n)
        return fail_line(l, from - 1, "an IRI without a character");
    if (w->n > 1 && !memcmp(w->p, "_:", 2))
        return fail_line(l, from - 1, "an IRI that begins as blank nodes do");
    return check_utf8(l, from, w, odd > 127 || to < p);
}

/* The blank node at p, of which the '_' has been seen. A point at its end is the line's. */
static bool take_blank(struct line *l, struct gnn_word *w)
{
    char *const from = l->p, *p = from + 1;
    unsigned char odd = 0;
    if (*p == ':')
        for (p++; in_label((unsigned char)*p); p++)
            odd |= (unsigned char)*p;
    while (p > from + 2 && p[-1] == '.')
        p--;
    if (p < from + 3 || from[2] == '-' || from[2] == '.')
        return fail_line(l, from, "a blank node without a name");
    *w = (struct gnn_word){from, (size_t)(p - from)};
    l->p = p;
    return check_utf8(l, from, w, odd > 127);
}

static bool skip_language(struct line *l)
{
    char *p = l->p + 1;
    bool good = isalpha((unsigned char)*p);
    while (isalpha((unsigned char)*p))
        p++;
    while (good && *p == '-') {
        good = isalnum((unsigned char)*++p);
        while (isalnum((unsigned char)*p))
            p++;
    }
    if (!good)
        return fail_line(l, l->p, "a language that is none");
    l->p = p;
    return true;
}

/* The literal at p, of which the quote has been seen, with its type or language. */
static bool skip_literal(struct line *l)
{
    char *p = l->p + 1;
    struct gnn_word type;
    uint32_t c;
    while (*p != '"') {
        if (*p == '\n')
            return fail_line(l, l->p, "a literal without its closing quote");
        if (*p != '\\') {
            p++;
            continue;
        }
        char *next = strchr("tbnrf\"'\\", p[1]) ? p + 2 : take_code(p, &c);
        if (!next)
            return fail_line(l, p, "an escape that stands for no character");
        p = next;
    }
    l->p = p + 1;
    if (*l->p == '@')
        return skip_language(l);
    if (*l->p != '^')
        return true;
    if (l->p[1] != '^' || l->p[2] != '<')
        return fail_line(l, l->p, "a type of a literal that is no ^^<IRI>");
    l->p += 2;
    return take_iri(l, &type);
}

/* ---- lines ---- */

static void skip_blanks(struct line *l)
{
    l->p += gnn_text_blanks(l->p) - l->p;
}

static bool take_end(struct line *l)
{
    skip_blanks(l);
    if (*l->p == '<' || *l->p == '_')
        return fail_line(l, l->p, "a fourth term, as in N-Quads");
    if (*l->p != '.')
        return fail_line(l, l->p, "no '.' after the object");
    l->p++;
    skip_blanks(l);
    return *l->p == '\n' || *l->p == '#' || fail_line(l, l->p, "more after the '.'");
}

static bool take_statement(struct line *l, struct gnn_statement *s)
{
    skip_blanks(l);
    if (*l->p != '<' && *l->p != '_')
        return fail_line(l, l->p, "no subject, <IRI> or _:NAME");
    if (!(*l->p == '<' ? take_iri(l, &s->subject) : take_blank(l, &s->subject)))
        return false;
    skip_blanks(l);
    if (*l->p != '<')
        return fail_line(l, l->p, "no predicate, <IRI>");
    if (!take_iri(l, &s->predicate))
        return false;
    skip_blanks(l);
    s->literal = *l->p == '"';
    if (!s->literal && *l->p != '<' && *l->p != '_')
        return fail_line(l, l->p, "no object, <IRI>, _:NAME or a literal in quotes");
    return (s->literal     ? skip_literal(l)
            : *l->p == '<' ? take_iri(l, &s->object)
                           : take_blank(l, &s->object)) &&
           take_end(l);
}

/* What stands at the place that is wrong; of what is behind the line's end, nothing. */
static int fail_statement(const struct gnn_table *t, const struct line *l, struct gnn_err *e)
{
    char shown[SHOWN];
    const size_t n = strcspn(l->p, "\r\n");
    return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %s: %s%s%s", gnn_reader_name(t->r),
                    (unsigned long long)t->line, l->why, n ? "'" : "the line ends",
                    gnn_text_shown(shown, sizeof shown, l->p, n), n ? "'" : "");
}

int gnn_ntriples_next(struct gnn_table *t, struct gnn_statement *s, struct gnn_err *e)
{
    int rc = gnn_table_line(t, e);
    if (rc)
        return rc;
    struct line l = {.p = (char *)t->buf.data + (t->p - (const char *)t->buf.data)};
    if (!take_statement(&l, s))
        return fail_statement(t, &l, e);
    s->line = t->line;
    t->p = l.p;
    gnn_table_next(t);
    return GNN_OK;
}
