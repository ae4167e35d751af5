/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?" (lib/base/suggest.h): the edit distance of Damerau and Levenshtein, and how
 * many edits still count as a slip. Everything is in buffers of the caller, as it is called when an
 * option was wrong and the program is about to end. */
#include "lib/base/suggest.h"

#include <stdio.h>
#include <string.h>

static int fold_case(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static unsigned min_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned gnn_suggest_edits(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    unsigned char row[3][GNN_SUGGEST_WORD]; /* of the table: this one, the one before it, and the
                                               one before that */
    if (n >= GNN_SUGGEST_WORD || m >= GNN_SUGGEST_WORD)
        return GNN_SUGGEST_WORD;
    for (size_t i = 0; i <= n; i++) {
        unsigned char *now = row[i % 3];
        const unsigned char *before = row[(i + 2) % 3], *above = row[(i + 1) % 3];
        now[0] = (unsigned char)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned v = (unsigned)j;
            if (i) {
                const bool same = fold_case(a[i - 1]) == fold_case(b[j - 1]);
                v = min_of(min_of(before[j] + 1u, now[j - 1] + 1u), before[j - 1] + !same);
                /* Two letters in the wrong order are one slip. */
                if (i > 1 && j > 1 && fold_case(a[i - 1]) == fold_case(b[j - 2]) &&
                    fold_case(a[i - 2]) == fold_case(b[j - 1]))
                    v = min_of(v, above[j - 2] + 1u);
            }
            now[j] = (unsigned char)v;
        }
    }
    return row[n % 3][m];
}

static bool starts_with(const char *s, const char *with)
{
    while (*with && fold_case(*s) == fold_case(*with))
        s++, with++;
    return !*with;
}

/* What a name costs that was meant with `word`: a third of the letters may differ, but not all; or
 * one is the other's beginning, of two letters at least, and a name cut short is as near as one
 * with a slip. UINT32_MAX: it was not meant. */
static unsigned cost_of(const char *word, const char *name)
{
    const size_t n = strlen(word), m = strlen(name), longer = n > m ? n : m;
    const unsigned edits = gnn_suggest_edits(word, name);
    if (edits > 1 && n > 1 && starts_with(name, word))
        return 1;
    if (edits < longer && edits <= (longer + 2) / 3 && edits < GNN_SUGGEST_WORD)
        return edits;
    return m > 1 && starts_with(word, name) ? (unsigned)longer : UINT32_MAX;
}

void gnn_suggest_try(struct gnn_suggest *s, const char *name)
{
    const unsigned cost = strlen(name) < sizeof s->best ? cost_of(s->word, name) : UINT32_MAX;
    if (cost == UINT32_MAX || (*s->best && cost >= s->cost))
        return;
    s->cost = cost;
    memcpy(s->best, name, strlen(name) + 1);
}

/* Where a text can be cut to at most n bytes: before a whole character. */
static int cut_length(const char *name, size_t n)
{
    if (strlen(name) <= n)
        return (int)strlen(name);
    while (n && ((unsigned char)name[n] & 0xc0) == 0x80)
        n--;
    return (int)n;
}

void gnn_suggest_add(struct gnn_suggest *s, const char *name)
{
    const size_t at = strlen(s->list), n = strlen(name);
    const int shown = cut_length(name, GNN_SUGGEST_WORD / 2);
    gnn_suggest_try(s, name);
    if (s->more || at + (size_t)shown + sizeof ", ..." > sizeof s->list) {
        s->more++;
        return;
    }
    snprintf(s->list + at, sizeof s->list - at, "%s%.*s%s", s->listed++ ? ", " : "", shown, name,
             (size_t)shown < n ? "..." : "");
}

void gnn_suggest_words(struct gnn_suggest *s, const char *words)
{
    char word[GNN_SUGGEST_WORD];
    for (size_t n; *words; words += n + (words[n] == '|')) {
        n = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        gnn_suggest_add(s, word);
    }
}

const char *gnn_suggest_meant(struct gnn_suggest *s)
{
    if (!*s->best)
        return "";
    snprintf(s->text, sizeof s->text, "; did you mean '%s'?", s->best);
    return s->text;
}

const char *gnn_suggest_text(struct gnn_suggest *s, const char *what)
{
    char more[32] = "";
    if (!s->listed)
        return gnn_suggest_meant(s);
    if (s->more)
        snprintf(more, sizeof more, " and %u more", s->more);
    if (*s->best)
        snprintf(s->text, sizeof s->text, "; did you mean '%s'? %.24s: %s%s", s->best, what,
                 s->list, more);
    else
        snprintf(s->text, sizeof s->text, "; %.24s: %s%s", what, s->list, more);
    return s->text;
}
