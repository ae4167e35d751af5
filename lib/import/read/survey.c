/* SPDX-License-Identifier: Apache-2.0 */
/* A look at a text table (lib/import/read/survey.h): one pass for each separator that is tried,
 * which is mostly one. */
#include "lib/import/read/survey.h"

#include <string.h>

#include "lib/import/words.h"

enum { SOME_WORDS = 1 << 12, SOME_ROWS = 1 << 16 };

struct look {
    struct gnn_survey *s;
    struct gnn_table t;
    struct gnn_words set[3]; /* some words of each of three columns */
    uint64_t seen;           /* bits of the words of the first row, by length and first byte */
};

static bool is_dict(const char *p, const char *end)
{
    return end - p > 1 && end[-1] == '}' && (p[1] == '}' || p[1] == '\'' || p[1] == '"');
}

/* Digits, and what stands between or around those of dates, times, prices and addresses. */
static bool has_figures(const struct gnn_word *w)
{
    bool digits = false;
    for (size_t i = 0; i < w->n; i++) {
        const char c = w->p[i];
        const bool digit = c >= '0' && c <= '9';
        if (!digit && !memchr("+-.,:/%$ TZ'", c, 12))
            return false;
        digits = digits || digit;
    }
    return digits;
}

enum gnn_cell gnn_cell_kind(const struct gnn_word *w)
{
    uint64_t u;
    double d;
    const char *p = w->p, *end = p + w->n;
    if (!w->n)
        return GNN_CELL_EMPTY;
    const unsigned c = (unsigned char)*p;
    if (c - '0' <= 9) {
        const char *q = gnn_text_u64(p, &u);
        if (q == end)
            return *p == '0' && w->n > 1 ? GNN_CELL_PADDED
                   : u > INT64_MAX       ? GNN_CELL_HUGE
                                         : GNN_CELL_ID;
        if (!q && strspn(p, "0123456789") >= w->n)
            return GNN_CELL_HUGE;
    } else if (*p == '{' && is_dict(p, end)) {
        return w->n == 2 ? GNN_CELL_NODICT : GNN_CELL_DICT;
    } else if (gnn_text_missing(w)) {
        return GNN_CELL_MISSING;
    } else if (c != '+' && c != '-' && c != '.' && (c | 32) != 'i') {
        return GNN_CELL_WORD;
    }
    bool whole;
    int64_t seconds;
    if (gnn_text_f64(p, &d) == end)
        return GNN_CELL_NUMBER;
    return has_figures(w) || gnn_text_date(w, &whole, &seconds, &d) ? GNN_CELL_FIGURE
                                                                    : GNN_CELL_WORD;
}

static uint64_t bit_of(const struct gnn_word *w)
{
    return UINT64_C(1) << ((w->n * 7 + (unsigned char)*w->p) & 63);
}

/* A copy, cut short to less than `capacity`. */
static void copy_text(char *to, size_t capacity, const char *p, size_t n)
{
    n = n < capacity ? n : capacity - 1;
    memcpy(to, p, n);
    to[n] = 0;
}

static void take_first(struct look *k, struct gnn_survey_column *c, const struct gnn_word *w)
{
    c->first = gnn_cell_kind(w);
    c->namelen = w->n;
    copy_text(c->name, sizeof c->name, w->p, w->n);
    if (c->first == GNN_CELL_WORD && w->n < GNN_SURVEY_NAME)
        k->seen |= bit_of(w);
}

/* Of three columns. */
static int keep_word(struct look *k, uint32_t col, const struct gnn_word *w, struct gnn_err *e)
{
    uint32_t id;
    return k->s->ncols == 3 && col < 3 && k->set[col].n < SOME_WORDS && k->s->rows < SOME_ROWS
               ? gnn_words_add(&k->set[col], w, 1, &id, e)
               : GNN_OK;
}

static void compare_words(struct look *k)
{
    uint32_t id;
    for (int c = 0; c < 2; c++)
        for (uint32_t i = 0; i < k->set[c + 1].n && !k->s->again[c]; i++) {
            const struct gnn_word w = gnn_words_get(&k->set[c + 1], i);
            gnn_words_find(&k->set[0], &w, 1, &id);
            k->s->again[c] = id != UINT32_MAX;
        }
    for (int c = 0; c < 3; c++)
        gnn_words_release(&k->set[c]);
}

static void take_word(struct look *k, const struct gnn_word *w)
{
    if (!(k->seen & bit_of(w)))
        return;
    for (uint32_t j = 0; j < k->s->ncols; j++) {
        struct gnn_survey_column *c = &k->s->col[j];
        if (c->first == GNN_CELL_WORD && c->namelen == w->n && w->n < GNN_SURVEY_NAME &&
            !memcmp(c->name, w->p, w->n))
            c->again = true;
    }
}

/* The next field of a line: gnn_table_field, but a dict reaches to the end of the line. */
static bool next_field(struct look *k, const char **p, struct gnn_word *w, bool *last)
{
    const char *q = *p;
    while (*q == ' ' || (*q == '\t' && k->t.sep != '\t'))
        q++;
    if (*q != '{')
        return gnn_table_field(&k->t, p, w, last);
    const char *nl = memchr(q, '\n', (size_t)(k->t.end - q)), *end = nl;
    while (end > q && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    if (!is_dict(q, end) || memchr(q, '}', (size_t)(end - q - 1)))
        return gnn_table_field(&k->t, p, w, last);
    *w = (struct gnn_word){q, (size_t)(end - q)};
    *p = nl;
    return *last = true;
}

/* A row; a quote that is not closed, and too many or few fields, are remembered. */
static int take_row(struct look *k, bool first, struct gnn_err *e)
{
    struct gnn_survey *s = k->s;
    const char *p = gnn_text_blanks(k->t.p);
    uint32_t n = 0;
    bool last = false;
    for (struct gnn_word w; !last; n++) {
        if (n == GNN_SURVEY_COLUMNS)
            return gnn_table_fail(&k->t, NULL, "too many fields", e);
        if (!next_field(k, &p, &w, &last)) {
            s->quote = k->t.line;
            gnn_table_next(&k->t);
            return GNN_OK;
        }
        struct gnn_survey_column *c = &s->col[n];
        if (first) {
            take_first(k, c, &w);
        } else if (n < s->ncols) {
            const enum gnn_cell kind = gnn_cell_kind(&w);
            if (!c->n[kind]++) {
                c->line[kind] = k->t.line;
                gnn_text_shown(c->text[kind], sizeof c->text[kind], w.p, w.n);
            }
            if (kind == GNN_CELL_WORD)
                take_word(k, &w);
        }
        if (w.n && keep_word(k, n, &w, e))
            return e->code;
    }
    if (first) {
        s->ncols = n;
        s->line = k->t.line;
    } else if (n != s->ncols) {
        s->ragged = k->t.line;
        s->fields = n;
    }
    s->rows += !first;
    k->t.p = p + 1;
    k->t.line++;
    return GNN_OK;
}

/* A line behind a comment sign may be a row if no blank follows the sign and it has as many fields
 * as the rows; or several, if there are no rows. */
static void take_comment(struct look *k)
{
    const char *p = gnn_text_blanks(k->t.p) + 1;
    struct gnn_survey *s = k->s;
    const int i = s->comment[0] != 0;
    if (!s->comment[i] && s->ncols != 1 && *p != ' ' && *p != '\t' && *p != '#' && *p != '%') {
        const uint32_t n = gnn_text_count(p, s->ncols ? s->sep : gnn_text_separator(p));
        if (s->ncols ? n == s->ncols : n > 1) {
            s->comment[i] = k->t.line;
            copy_text(s->commented[i], sizeof s->commented[i], p,
                      (size_t)((const char *)memchr(p, '\n', (size_t)(k->t.end - p)) - p));
        }
    }
    gnn_table_next(&k->t);
}

static bool is_comment(const struct gnn_table *t)
{
    const char *p = gnn_text_blanks(t->p);
    return *p == '#' || *p == '%';
}

/* Separators of the first row, outside quotes and before a dict, best first. */
static uint32_t find_separators(const char *line, char sep[4])
{
    static const char all[] = "\t;,";
    bool has[3] = {false, false, false};
    uint32_t n = 0;
    const char *before = "\n"; /* the byte before p */
    for (const char *p = line; *p != '\n'; before = p++) {
        const char *s = memchr(all, *p, 3);
        const bool start = p == line || *before == ' ' || memchr(all, *before, 3);
        if (s)
            has[s - all] = true;
        if (*p == '{' && start)
            break;
        if (*p != '"' || !start)
            continue;
        const char *end = p + 1;
        while (*end != '"' && *end != '\n')
            end++;
        if (*end == '\n')
            break;
        p = end;
    }
    for (int i = 0; i < 3; i++)
        if (has[i])
            sep[n++] = all[i];
    sep[n++] = GNN_TEXT_SPACE;
    return n;
}

/* Makes the first row the present line; GNN_END if there is none. */
static int open_look(struct look *k, struct gnn_input *in, uint32_t member, bool comments,
                     struct gnn_err *e)
{
    int rc = gnn_table_open(&k->t, in, member, comments ? '#' : 0, e);
    k->t.percent = comments;
    return rc ? rc : gnn_table_line(&k->t, e);
}

/* From the top of the file, as rows may be behind a comment sign there; s->ncols is known. */
static int look_with(struct gnn_survey *s, struct gnn_input *in, uint32_t member, bool comments,
                     uint64_t limit, struct gnn_err *e)
{
    struct look k = {.s = s};
    bool first = true;
    int rc = gnn_table_open(&k.t, in, member, 0, e);
    k.t.sep = s->sep;
    while (!rc && !s->quote && !s->ragged && (!limit || s->rows < limit)) {
        rc = gnn_table_line(&k.t, e);
        if (!rc && comments && is_comment(&k.t)) {
            take_comment(&k);
        } else if (!rc) {
            rc = take_row(&k, first, e);
            first = false;
        }
    }
    gnn_table_close(&k.t);
    compare_words(&k);
    s->whole = rc == GNN_END;
    return rc == GNN_END ? GNN_OK : rc;
}

int gnn_survey_read(struct gnn_survey *s, struct gnn_input *in, uint32_t member, bool comments,
                    char sep, uint64_t limit, struct gnn_err *e)
{
    struct look k = {.s = s};
    char all[5] = {sep};
    uint32_t fields[5] = {0}, n = 1;
    int rc = open_look(&k, in, member, comments, e);
    if (!rc && !sep)
        n = find_separators(k.t.p, all);
    for (uint32_t i = 0; !rc && i < n; i++)
        fields[i] = gnn_text_count(k.t.p, all[i]);
    gnn_table_close(&k.t);
    memset(s, 0, sizeof *s);
    s->sep = GNN_TEXT_SPACE;
    if (rc)
        return rc == GNN_END ? look_with(s, in, member, comments, 0, e) : rc;
    /* Should none fit, the first is tried again, and what is wrong is told of it. */
    all[n] = all[0];
    fields[n] = fields[0];
    for (uint32_t i = 0; !rc && i < n + (n > 1); i++) {
        memset(s, 0, sizeof *s);
        s->sep = all[i];
        s->ncols = fields[i];
        rc = look_with(s, in, member, comments, limit, e);
        if (!s->ragged && !s->quote && s->ncols > 1)
            break;
    }
    return rc;
}
