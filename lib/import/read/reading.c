/* SPDX-License-Identifier: Apache-2.0 */
/* The rules by which a text table of edges is read (lib/import/read/reading.h). Each rule looks at
 * counts over all rows, so no first line decides alone. */
#include "lib/import/read/reading.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/import/read/colname.h"
#include "lib/import/read/src.h"
#include "lib/base/suggest.h"
#include "lib/base/plural.h"

enum { WORD = GNN_SURVEY_NAME, FIRST_ROWS = 1000 };

/* What a rule goes by. */
struct facts {
    struct gnn_reading *r;
    const struct gnn_survey *s;
    const struct gnn_import_opts *o;
    const char *file;
    /* what a misfit of columns is: of the options, if some speak of columns */
    enum gnn_status fault;
};

/* The column that is called like a node type, or like its ids; -1: none is. */
static int called_type(const struct facts *f, const char *type, size_t len)
{
    for (uint32_t i = 0; i < f->s->ncols; i++)
        if (gnn_colname_of_type(gnn_src_mapped(f->o, f->s->col[i].name), type, len))
            return (int)i;
    return -1;
}

/* The columns that the first row, by the names that --map gives its cells, calls like the two ends
 * of an edge: the types of --edge-type, or the pair that is first in the lists, or the first two.
 */
static bool row_names_ends(const struct facts *f, int *source, int *target)
{
    struct gnn_colname_ends ends;
    memset(&ends, -1, sizeof ends);
    const char *type = f->o->edge_type, *rest = type ? strchr(type, '/') : NULL;
    const char *last = rest ? strrchr(rest, '/') + 1 : "";
    const int s = rest ? called_type(f, type, (size_t)(rest - type)) : -1;
    const int t = called_type(f, last, strlen(last));
    if (s >= 0 && t >= 0 && s != t) {
        *source = s;
        *target = t;
        return true;
    }
    for (uint32_t i = f->s->ncols; i--;)
        gnn_colname_note(&ends, gnn_src_mapped(f->o, f->s->col[i].name), (int)i);
    return gnn_colname_choose(&ends, source, target);
}

/* Cells of a kind in a column, the first row included if it is no header. */
static uint64_t count_cells(const struct facts *f, int col, enum gnn_cell kind)
{
    const struct gnn_survey_column *c = &f->s->col[col];
    return c->n[kind] + (!f->r->header && f->s->ncols && c->first == kind);
}

/* Whether all cells below the first row are numbers, dates and the like, or missing, and not all
 * are missing. */
static bool numbers_below(const struct facts *f, int col)
{
    const uint64_t *n = f->s->col[col].n;
    return n[GNN_CELL_ID] + n[GNN_CELL_PADDED] + n[GNN_CELL_HUGE] + n[GNN_CELL_NUMBER] +
               n[GNN_CELL_FIGURE] &&
           !n[GNN_CELL_WORD] && !n[GNN_CELL_DICT] && !n[GNN_CELL_NODICT];
}

/* The next USE=COLUMN of --columns; false at its end. */
static bool next_use(const char **list, char use[WORD], char want[WORD], bool *bad)
{
    const char *p = *list;
    const size_t klen = strcspn(p, "=,"), len = strcspn(p, ",");
    if (!*p)
        return false;
    *bad = !klen || len < klen + 2 || klen >= WORD || len - klen - 1 >= WORD;
    if (*bad)
        return false;
    memcpy(use, p, klen);
    use[klen] = 0;
    memcpy(want, p + klen + 1, len - klen - 1);
    want[len - klen - 1] = 0;
    *list = p + len + (p[len] == ',');
    return true;
}

static int column_called(const struct facts *f, const char *name)
{
    for (uint32_t i = 0; i < f->s->ncols; i++)
        if (!strcmp(f->s->col[i].name, name))
            return (int)i;
    return -1;
}

/* A column's number from 1, in digits; -1: it is none. */
static int column_number(const struct facts *f, const char *want)
{
    char *end;
    const unsigned long k = strtoul(want, &end, 10);
    return isdigit((unsigned char)*want) && !*end && k >= 1 && k <= f->s->ncols ? (int)k - 1 : -1;
}

/* The columns whose cells say whether the first row is a header: those of the ends, as far as
 * options, names or places tell. *named: the options or the row itself name them by words. */
static int likely_ends(const struct facts *f, int end[2], bool *named, struct gnn_err *e)
{
    char use[WORD], want[WORD];
    bool bad = false;
    int given[2];
    *named = row_names_ends(f, &given[0], &given[1]);
    if (!f->o->columns) {
        end[0] = given[0];
        end[1] = given[1];
        for (uint32_t i = 0; !*named && i < f->o->nmap; i++) {
            const char *eq = strchr(f->o->map[i], '=');
            *named = eq && column_called(f, eq + 1) >= 0;
        }
    }
    for (const char *p = f->o->columns; p && next_use(&p, use, want, &bad);) {
        const int number = column_number(f, want);
        const bool word = !isdigit((unsigned char)*want) && column_called(f, want) >= 0;
        *named = *named || word;
        if (!word && number >= 0 && !strcmp(use, "source"))
            end[0] = number;
        if (!word && number >= 0 && !strcmp(use, "target"))
            end[1] = number;
    }
    for (int k = 0; k < 2; k++) /* else the first two */
        if (end[k] < 0)
            end[k] = f->s->ncols > 1 ? k : 0;
    return bad ? gnn_fail(e, GNN_E_USAGE, "--columns %s: expected USE=COLUMN,...", f->o->columns)
               : GNN_OK;
}

/* Whether the first row is 0, 1, 2 and so on, which pandas writes above columns without names:
 * behind an empty cell above an index, or above words only. */
static bool counts_up(const struct facts *f)
{
    const struct gnn_survey_column *col = f->s->col;
    const bool index = f->s->ncols && col[0].first == GNN_CELL_EMPTY;
    char want[16];
    if (f->s->ncols < 2u + index || !f->s->rows || (index && col[0].n[GNN_CELL_EMPTY]))
        return false;
    for (uint32_t i = index; i < f->s->ncols; i++) {
        snprintf(want, sizeof want, "%u", i - index);
        if (strcmp(col[i].name, want) != 0 || (!index && col[i].n[GNN_CELL_WORD] != f->s->rows))
            return false;
    }
    return true;
}

/* Whether the first row names columns: it does if it has the names of ends, or if its ids are words
 * above numbers, or if one of its other cells is, and its ids stand in no other row. */
static int find_header(const struct facts *f, struct gnn_err *e)
{
    int end[2] = {-1, -1};
    bool named, words = true, numbers = true, again = false;
    const struct gnn_survey_column *col = f->s->col;
    int rc = likely_ends(f, end, &named, e);
    for (int k = 0; k < 2; k++) {
        words = words && col[end[k]].first == GNN_CELL_WORD && numbers_below(f, end[k]);
        numbers = numbers && col[end[k]].first == GNN_CELL_ID;
        again = again || col[end[k]].again;
    }
    if (rc || f->o->header || !f->s->ncols) {
        f->r->header = f->o->header == GNN_HEADER_YES && f->s->ncols;
        return rc;
    }
    if (counts_up(f) && !named) {
        f->r->header = col[0].first == GNN_CELL_EMPTY;
        return f->r->header ? GNN_OK
                            : gnn_fail(e, GNN_E_INPUT,
                                       "%s: line %llu has the numbers of the columns, as pandas "
                                       "writes a header, or ids: --header yes or no decides",
                                       f->file, (unsigned long long)f->s->line);
    }
    if (named && again)
        return gnn_fail(
            e, GNN_E_INPUT,
            "%s: line %llu is a header by its names, or a row, as other rows have its words: "
            "--header yes or no decides",
            f->file, (unsigned long long)f->s->line);
    f->r->header = named || words;
    for (uint32_t i = 0; i < f->s->ncols; i++)
        if ((int)i != end[0] && (int)i != end[1] && col[i].first == GNN_CELL_WORD)
            f->r->header = f->r->header || (!numbers && !again && numbers_below(f, (int)i));
    return GNN_OK;
}

static const char *names_text(const struct facts *f, struct gnn_suggest *s, const char *word)
{
    *s = (struct gnn_suggest){.word = word};
    for (uint32_t i = 0; f->r->header && i < f->s->ncols; i++)
        gnn_suggest_add(s, f->r->col[i].name);
    return gnn_suggest_text(s, "columns");
}

/* --columns USE=NAME,...: NAME is a column's name, or its number from 1. What --map names is read,
 * too. */
static int use_columns(const struct facts *f, struct gnn_err *e)
{
    char use[WORD], want[WORD];
    bool bad = false;
    struct gnn_suggest s;
    struct gnn_reading_column *col = f->r->col;
    for (const char *p = f->o->columns; next_use(&p, use, want, &bad);) {
        int i = f->r->header ? column_called(f, want) : -1;
        i = i < 0 ? column_number(f, want) : i;
        if (i < 0 && !f->r->header)
            return gnn_fail(e, GNN_E_USAGE,
                            "--columns: there is no column '%s'; there are %u, without names", want,
                            f->r->ncols);
        if (i < 0)
            return gnn_fail(e, GNN_E_USAGE, "--columns: there is no column '%s'%s", want,
                            names_text(f, &s, want));
        if (*col[i].use)
            return gnn_fail(e, GNN_E_USAGE, "--columns: '%s' is named twice", want);
        memcpy(col[i].use, use, sizeof use);
    }
    for (uint32_t i = 0; f->r->header && i < f->r->ncols; i++) {
        const char *mapped = gnn_src_mapped(f->o, col[i].name);
        if (!*col[i].use && mapped != col[i].name)
            snprintf(col[i].use, WORD, "%s", mapped);
    }
    return GNN_OK;
}

/* A column of nothing but {}, or of nothing at all, as behind a last separator. */
static bool is_blank(const struct facts *f, int col)
{
    const uint64_t cells = f->s->rows + !f->r->header;
    return count_cells(f, col, GNN_CELL_NODICT) == cells ||
           (count_cells(f, col, GNN_CELL_EMPTY) == cells && !f->r->header);
}

/* Without --columns: names of the ends, weight and time in any case, other columns under their own
 * names; without a header the first two columns. */
static int guess_columns(const struct facts *f, struct gnn_err *e)
{
    struct gnn_reading_column *col = f->r->col;
    const uint32_t n = f->r->ncols;
    int end[2] = {-1, -1};
    if (f->r->header) {
        row_names_ends(f, &end[0], &end[1]);
    } else if (n > 1 && (n == 2 || f->r->triples || (n == 3 && is_blank(f, 2)))) {
        end[0] = 0;
        end[1] = f->r->triples ? 2 : 1;
    } else if (n > 2) {
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %u column%s; --columns must say what they are, such as "
                        "--columns source=1,target=2,weight=3",
                        f->file, n, gnn_plural(n));
    }
    for (uint32_t i = 0; i < n; i++) {
        const char *name = f->r->header ? gnn_src_mapped(f->o, col[i].name) : "";
        const char *use = (int)i == end[0]              ? "source"
                          : (int)i == end[1]            ? "target"
                          : f->r->triples               ? "relation"
                          : !strcasecmp(name, "weight") ? "weight"
                          : !strcasecmp(name, "time")   ? "time"
                          : is_blank(f, (int)i)         ? ""
                                                        : name;
        snprintf(col[i].use, WORD, "%s", use);
    }
    return GNN_OK;
}

/* Each use is that of one column, and two are the ends. */
static int check_columns(const struct facts *f, struct gnn_err *e)
{
    static const char *const ends[] = {"source", "target", "relation"};
    struct gnn_suggest s;
    struct gnn_reading *r = f->r;
    r->source = r->target = r->relation = -1;
    for (uint32_t i = 0; i < r->ncols; i++) {
        const char *use = r->col[i].use;
        for (uint32_t j = 0; *use && j < i; j++)
            if (!strcmp(r->col[j].use, use))
                return gnn_fail(e, f->fault, "%s: two columns are '%s'", f->file, use);
        if (!strcmp(use, "source"))
            r->source = (int)i;
        if (!strcmp(use, "target"))
            r->target = (int)i;
        if (r->triples && !strcmp(use, "relation"))
            r->relation = (int)i;
    }
    if (r->ncols == 1)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: line %llu: one column, '%.40s': fields are separated by tabs, "
                        "semicolons, commas or blanks (sed 's/::/,/g' FILE >NEW changes others)",
                        f->file, (unsigned long long)f->s->line, f->s->col[0].name);
    const int found[3] = {r->source, r->target, r->triples ? r->relation : 0};
    for (int k = 0; k < 3; k++)
        if (found[k] < 0)
            return gnn_fail(e, f->o->columns ? GNN_E_USAGE : GNN_E_INPUT,
                            "%s: no column is the %s (--columns %s=COLUMN names it)%s", f->file,
                            ends[k], ends[k], names_text(f, &s, ""));
    for (uint32_t i = 0; r->triples && i < r->ncols; i++)
        if (*r->col[i].use && (int)i != r->source && (int)i != r->target && (int)i != r->relation)
            return gnn_fail(e, GNN_E_USAGE,
                            "%s: column %u as '%s': edges with a relation have no other fields",
                            f->file, i + 1, r->col[i].use);
    return GNN_OK;
}

static bool names_relation(const struct facts *f)
{
    char use[WORD], want[WORD];
    bool bad = false, found = false;
    for (const char *p = f->o->columns; p && next_use(&p, use, want, &bad);)
        found = found || !strcmp(use, "relation");
    return found;
}

/* Fields are numbers; words, 0,5 and the like in one are told with the way to leave it out. */
static int check_values(const struct facts *f, struct gnn_err *e)
{
    const struct gnn_reading *r = f->r;
    for (uint32_t i = 0; i < r->ncols && f->s->ncols; i++) {
        const struct gnn_survey_column *c = &f->s->col[i];
        const bool end = (int)i == r->source || (int)i == r->target || (int)i == r->relation;
        /* Dates are told where times are read. */
        const bool figures =
            strcmp(r->col[i].use, "time") != 0 && !count_cells(f, (int)i, GNN_CELL_WORD);
        const enum gnn_cell kind = figures ? GNN_CELL_FIGURE : GNN_CELL_WORD;
        const bool first = !r->header && c->first == kind;
        if (!*r->col[i].use || end || !count_cells(f, (int)i, kind))
            continue;
        const char *text = first ? c->name : c->text[kind];
        char shown[GNN_SURVEY_CELL];
        return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: not a number '%s', in column %u%s%.60s%s",
                        f->file, (unsigned long long)(first ? f->s->line : c->line[kind]),
                        gnn_text_shown(shown, sizeof shown, text, strlen(text)), i + 1,
                        r->header && !f->o->columns ? " (--map =" : "",
                        r->header && !f->o->columns ? r->col[i].name : "",
                        r->header && !f->o->columns ? " leaves it out)" : "");
    }
    return GNN_OK;
}

/* Three columns are triples if the third has words, and so has another; under a header, if that
 * says so. Numbers with zeros before them count as words here. */
static int find_triples(const struct facts *f, int want, struct gnn_err *e)
{
    int source = 0, target = 2, relation = 1;
    struct gnn_reading *r = f->r;
    r->triples = want == 1;
    if (want == 1 && f->s->ncols && f->s->ncols != 3 && !f->o->columns)
        return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %u field%s instead of 3", f->file,
                        (unsigned long long)f->s->line, f->s->ncols, gnn_plural(f->s->ncols));
    r->triples = r->triples || (want != 0 && names_relation(f));
    if (f->s->ncols != 3 || want == 0 || f->o->columns)
        return GNN_OK;
    if (r->header) {
        if (!row_names_ends(f, &source, &target))
            return GNN_OK;
        relation = 3 - source - target;
        r->triples = r->triples || (gnn_colname_relation(r->col[relation].name) &&
                                    count_cells(f, relation, GNN_CELL_WORD));
        return GNN_OK;
    }
    const struct gnn_survey_column *c = &f->s->col[2];
    const bool words[2] = {count_cells(f, 0, GNN_CELL_WORD), count_cells(f, 1, GNN_CELL_WORD)};
    const bool values = !count_cells(f, 2, GNN_CELL_WORD) && !count_cells(f, 2, GNN_CELL_PADDED);
    const bool dicts = c->first == GNN_CELL_NODICT || c->first == GNN_CELL_DICT;
    if (!r->triples && !words[0] && words[1] && values && !dicts)
        return gnn_fail(
            e, GNN_E_INPUT,
            "%s: 3 columns; these are triples with ids in columns 1 and 3 (--format triples), or "
            "edges with numbers in column 3 (--columns source=1,target=2,weight=3)",
            f->file);
    const bool looks = !values && !dicts && (words[0] || words[1]);
    if (!r->triples && looks && f->s->again[0] && !f->s->again[1])
        return gnn_fail(
            e, GNN_E_INPUT,
            "%s: 3 columns; the second has ids of the first, so that the third may be the "
            "relation (--columns source=1,target=2,relation=3), or the second after all "
            "(--format triples)",
            f->file);
    r->triples = r->triples || looks;
    return GNN_OK;
}

/* The first line of a kind of cells among the ids, and a text there; 0: there is none. */
static uint64_t first_id(const struct facts *f, enum gnn_cell kind, const char **text)
{
    const int end[2] = {f->r->source, f->r->target};
    uint64_t found = 0;
    for (int k = 0; k < 2 && f->s->ncols; k++) {
        const struct gnn_survey_column *c = &f->s->col[end[k]];
        const bool first = !f->r->header && c->first == kind;
        const uint64_t line = first ? f->s->line : c->line[kind];
        if (line && (!found || line < found)) {
            found = line;
            *text = first ? c->name : c->text[kind];
        }
    }
    return found;
}

/* NumPy and others write the names of columns behind a comment sign: such a line is no row. */
static int check_comments(const struct facts *f, struct gnn_err *e)
{
    if (f->o->comments != GNN_COMMENTS_AUTO || f->o->nodes || (f->s->ncols && !f->r->words))
        return GNN_OK;
    for (int i = 0; i < 2; i++)
        if (f->s->comment[i] && !gnn_colname_header(f->s->commented[i], strlen(f->s->commented[i])))
            return gnn_fail(
                e, GNN_E_INPUT,
                "%s: line %llu is a comment by its first character, or a row by its fields, "
                "as ids may be words: --comments yes or no decides",
                f->file, (unsigned long long)f->s->comment[i]);
    return GNN_OK;
}

/* Numbers that are no ids, in a table of numbers. */
static int check_numbers(const struct facts *f, struct gnn_err *e)
{
    static const enum gnn_cell kinds[] = {GNN_CELL_EMPTY, GNN_CELL_MISSING, GNN_CELL_NUMBER};
    const char *text = NULL;
    for (int i = 0; i < 3; i++) {
        const uint64_t line = first_id(f, kinds[i], &text);
        if (line)
            return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %s '%s'%s", f->file,
                            (unsigned long long)line,
                            i == 0         ? "an empty id"
                            : *text == '-' ? "a negative id"
                                           : "not an id",
                            text, i ? " (ids are plain integers, or words with --ids words)" : "");
    }
    return GNN_OK;
}

/* Ids are words if one of them is no number, or is one that would lose its zeros or digits. */
static int find_ids(const struct facts *f, struct gnn_err *e)
{
    static const enum gnn_cell wordy[] = {GNN_CELL_WORD, GNN_CELL_FIGURE, GNN_CELL_PADDED,
                                          GNN_CELL_HUGE};
    struct gnn_reading *r = f->r;
    const struct gnn_survey_column *from = &f->s->col[r->source], *to = &f->s->col[r->target];
    const uint64_t line = f->s->ncols ? from->line[GNN_CELL_WORD] : 0;
    if (line && line == to->line[GNN_CELL_WORD] && f->o->ids == GNN_IDS_AS_FOUND &&
        gnn_colname_end(from->text[GNN_CELL_WORD], 0) >= 0 &&
        gnn_colname_end(to->text[GNN_CELL_WORD], 1) >= 0 && count_cells(f, r->source, GNN_CELL_ID))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: line %llu: '%s' and '%s' are a header among rows of numbers: remove "
                        "the line (or --ids words, if they are ids)",
                        f->file, (unsigned long long)line, from->text[GNN_CELL_WORD],
                        to->text[GNN_CELL_WORD]);
    const bool open = !r->triples && f->o->ids == GNN_IDS_AS_FOUND;
    if (r->triples && f->o->ids == GNN_IDS_AS_NUMBERS)
        return gnn_fail(e, GNN_E_USAGE, "%s: --ids numbers: ids of triples are words", f->file);
    r->words = r->triples || f->o->ids == GNN_IDS_AS_WORDS;
    for (int i = 0; i < 4 && open; i++) {
        const char *text = NULL;
        const uint64_t at = first_id(f, wordy[i], &text);
        if (at && (!r->word_line || at < r->word_line)) {
            r->words = true;
            r->word_line = at;
            snprintf(r->word, sizeof r->word, "%s", text);
        }
    }
    int rc = r->words || !open ? GNN_OK : check_numbers(f, e);
    return rc ? rc : check_comments(f, e);
}

/* A row that no separator fits, or that Python wrote. */
static int check_rows(const struct facts *f, struct gnn_err *e)
{
    const struct gnn_survey *s = f->s;
    if (s->quote)
        return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: a quote is not closed", f->file,
                        (unsigned long long)s->quote);
    if (s->ragged)
        return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %u field%s, but line %llu has %u", f->file,
                        (unsigned long long)s->ragged, s->fields, gnn_plural(s->fields),
                        (unsigned long long)s->line, s->ncols);
    if (s->ncols && s->sep == ',' && strchr("([", *s->col[0].name) && *s->col[0].name &&
        !strpbrk(s->col[0].name, ")]"))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: line %llu: nodes in Python's notation, '%.40s, ...': give them names, "
                        "with networkx.convert_node_labels_to_integers(G)",
                        f->file, (unsigned long long)s->line, s->col[0].name);
    for (uint32_t i = 0; i < s->ncols; i++) {
        const struct gnn_survey_column *c = &s->col[i];
        const bool first = c->first == GNN_CELL_DICT;
        if (first || c->n[GNN_CELL_DICT])
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: line %llu: attributes in Python's notation: write the graph with "
                            "networkx.write_weighted_edgelist, or with "
                            "networkx.to_pandas_edgelist(G).to_csv(FILE, index=False)",
                            f->file,
                            (unsigned long long)(first ? s->line : c->line[GNN_CELL_DICT]));
    }
    return GNN_OK;
}

static int take_names(const struct facts *f, struct gnn_err *e)
{
    for (uint32_t i = 0; f->r->header && i < f->s->ncols; i++) {
        if (f->s->col[i].namelen >= WORD)
            return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: a column's name is too long", f->file,
                            (unsigned long long)f->s->line);
        const char *name = f->s->col[i].name;
        if (!gnn_colname_none(name) || gnn_src_mapped(f->o, name) != name)
            snprintf(f->r->col[i].name, WORD, "%.*s", (int)gnn_colname_neo4j(name, strlen(name)),
                     name);
    }
    return GNN_OK;
}

/* All rules, in the order in which they build on each other. */
static int apply_rules(const struct facts *f, int triples, struct gnn_err *e)
{
    struct gnn_reading *r = f->r;
    memset(r, 0, sizeof *r);
    r->sep = f->s->sep;
    r->ncols = f->s->ncols ? f->s->ncols : 2; /* without rows: a graph without edges */
    r->line = f->s->line;
    for (uint32_t i = 0; i < 2 && i < f->s->ncols; i++)
        r->counts[i] = strtoull(f->s->col[i].name, NULL, 10);
    r->comments = f->o->comments != GNN_COMMENTS_NO;
    r->whole = f->s->whole;
    int rc = check_rows(f, e);
    if (!rc)
        rc = find_header(f, e);
    if (!rc)
        rc = take_names(f, e);
    if (!rc)
        rc = find_triples(f, triples, e);
    if (!rc)
        rc = f->o->columns ? use_columns(f, e) : guess_columns(f, e);
    if (!rc)
        rc = check_columns(f, e);
    if (!rc)
        rc = find_ids(f, e);
    return rc ? rc : check_values(f, e);
}

/* A column of {} is left out, if there is nothing else in it to the end. */
static bool has_braces(const struct gnn_survey *s)
{
    bool has = false;
    for (uint32_t i = 0; i < s->ncols; i++)
        has = has || s->col[i].first == GNN_CELL_NODICT || s->col[i].n[GNN_CELL_NODICT];
    return has;
}

int gnn_reading_find(struct gnn_reading **r, struct gnn_input *in, uint32_t member,
                     const struct gnn_import_opts *o, int triples, bool whole, struct gnn_err *e)
{
    struct gnn_survey *s = gnn_alloc(1, sizeof *s, "columns", e);
    struct gnn_err why = {0};
    *r = gnn_alloc(1, sizeof **r, "columns", e);
    char *file = gnn_strf(e, gnn_input_members(in) > 1 ? "%s: %s" : "%s", gnn_input_name(in),
                          gnn_input_member(in, member));
    const struct facts f = {*r, s, o, file, o->columns || o->nmap ? GNN_E_USAGE : GNN_E_INPUT};
    int rc = s && *r && file ? GNN_OK : GNN_E_NOMEM;
    /* Numbers are recognised by reading them, so that the first rows are enough; for all else the
     * whole file is looked at. */
    for (bool all = whole;; all = true) {
        why = (struct gnn_err){0};
        if (!rc)
            rc = gnn_survey_read(s, in, member, o->comments != GNN_COMMENTS_NO, 0,
                                 all ? 0 : FIRST_ROWS, e);
        if (rc)
            break;
        const int fit = apply_rules(&f, triples, &why);
        if (s->whole || all || (!fit && !(*r)->words && !has_braces(s))) {
            rc = fit ? gnn_fail_as(e, &why) : GNN_OK;
            break;
        }
    }
    gnn_free(file);
    gnn_free(s);
    if (rc) {
        gnn_free(*r);
        *r = NULL;
    }
    return rc;
}

bool gnn_reading_same(const struct gnn_reading *a, const struct gnn_reading *b)
{
    return a->triples == b->triples && a->header == b->header && a->words == b->words &&
           a->sep == b->sep && a->ncols == b->ncols && a->source == b->source &&
           a->target == b->target;
}

int gnn_reading_open(const struct gnn_reading *r, struct gnn_table *t, struct gnn_input *in,
                     uint32_t member, struct gnn_err *e)
{
    int rc = gnn_table_open(t, in, member, r->comments ? '#' : 0, e);
    t->percent = r->comments;
    if (!rc)
        rc = gnn_table_line(t, e);
    if (!rc && r->header) {
        gnn_table_next(t);
        rc = gnn_table_line(t, e);
    }
    t->sep = r->sep;
    t->ncols = rc ? 0 : r->ncols;
    return rc == GNN_END ? GNN_OK : rc;
}

/* "; weight = column 3, time = column 4": what is not as in a list of two columns. */
static size_t say_columns(const struct gnn_reading *r, bool hint, char *text, size_t capacity)
{
    size_t n = 0;
    const bool plain = r->source == 0 && r->target == (r->triples ? 2 : 1);
    for (uint32_t i = 0; i < r->ncols && n < capacity; i++) {
        const char *use = r->col[i].use;
        const bool end = (int)i == r->source || (int)i == r->target || (int)i == r->relation;
        if (*use ? !plain || !end : r->header || r->ncols > 3)
            n += (size_t)snprintf(text + n, capacity - n, "%s%.60s = column %u", n ? ", " : "; ",
                                  *use ? use : "left out", i + 1);
    }
    if (n && n < capacity && !r->triples && hint)
        n += (size_t)snprintf(text + n, capacity - n, " (--columns changes this)");
    return n;
}

int gnn_reading_note(const struct gnn_reading *r, const char *file, struct gnn_dataset *d,
                     struct gnn_err *e)
{
    char columns[512] = "", line[128] = "", why[64 + WORD] = "";
    if (r->header)
        snprintf(line, sizeof line, "; line %llu is the header", (unsigned long long)r->line);
    else if (r->words && r->line)
        snprintf(line, sizeof line, "; line %llu is no header (--header yes makes it one)",
                 (unsigned long long)r->line);
    if (r->word_line > r->line + 1)
        snprintf(why, sizeof why, ", as line %llu has '%s'", (unsigned long long)r->word_line,
                 r->word);
    say_columns(r, !file, columns, sizeof columns);
    return gnn_dataset_note(d, e, "%s%sread as: %s%s%s%s", file ? file : "", file ? ": " : "",
                            r->triples ? "triples"
                            : r->words ? "edges by name"
                                       : "edges by number",
                            why, line, columns);
}
