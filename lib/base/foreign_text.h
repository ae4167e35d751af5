/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and words of the beginning of a text, for lib/base/foreign.c. */
#ifndef GNN_LIB_BASE_FOREIGN_TEXT_H
#define GNN_LIB_BASE_FOREIGN_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* The beginning of a text; of a longer one the whole lines in it. */
struct text {
    const char *p, *end;
    bool whole; /* nothing follows */
};

static inline bool starts_with(struct text t, const char *want)
{
    const size_t n = strlen(want);
    return (size_t)(t.end - t.p) >= n && !strncasecmp(t.p, want, n);
}

static inline bool holds_text(struct text t, const char *want)
{
    return memmem(t.p, (size_t)(t.end - t.p), want, strlen(want)) != NULL;
}

static inline struct text skip_blanks(struct text t)
{
    while (t.p < t.end && isspace((unsigned char)*t.p))
        t.p++;
    return t;
}

/* Takes the next line, which may be the last one without its newline. */
static inline bool next_line(struct text *t, struct text *line)
{
    if (t->p >= t->end)
        return false;
    const char *nl = t->p;
    while (nl < t->end && *nl != '\n' && *nl != '\r')
        nl++;
    line->p = t->p;
    line->end = nl;
    line->whole = true;
    t->p = nl + (nl < t->end);
    while (line->end > line->p && isspace((unsigned char)line->end[-1]))
        line->end--;
    return true;
}

static inline bool next_word(struct text *line, struct text *word)
{
    *line = skip_blanks(*line);
    word->p = word->end = line->p;
    word->whole = true;
    while (word->end < line->end && !isspace((unsigned char)*word->end))
        word->end++;
    line->p = word->end;
    return word->end > word->p;
}

/* Past blank lines and those that begin with #, % or //. */
static inline struct text skip_comments(struct text t)
{
    for (;;) {
        struct text line, rest = t = skip_blanks(t);
        if (!next_line(&rest, &line) || (*line.p != '#' && *line.p != '%' &&
                                         !starts_with(line, "//") && !starts_with(line, "/*")))
            return t;
        t = rest;
    }
}

static inline bool is_integer(struct text w)
{
    const char *p = w.p;
    while (p < w.end && isdigit((unsigned char)*p))
        p++;
    return p == w.end && p > w.p;
}

#endif
