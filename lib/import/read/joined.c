/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of nodes with ids (lib/import/read/joined.h): what their first line is, and which column
 * holds the ids. */
#include "lib/import/read/joined.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/import/read/colname.h"
#include "lib/import/read/survey.h"
#include "lib/base/suggest.h"
#include "lib/base/plural.h"

enum { COLUMNS_MAX = 1 << 20 };

/* Whether what stands before the colon has members, one of which stands behind it. */
static bool before_member(const char *spec, const char *colon)
{
    struct gnn_err ignored = {0};
    struct gnn_input *in = NULL;
    char *path = gnn_strf(&ignored, "%.*s", (int)(colon - spec), spec);
    struct stat st; /* a pipe can be read once only */
    const bool is = path && !stat(path, &st) && !S_ISFIFO(st.st_mode) &&
                    !gnn_input_open(&in, (const char *const *)&path, 1, &ignored) &&
                    (gnn_input_is_archive(in) || gnn_input_members(in) > 1);
    gnn_input_free(in);
    gnn_free(path);
    return is;
}

/* FILE[:COLUMN]; a file of that whole name is meant first, then a member of an archive. */
static int split_spec(struct gnn_joined *j, const char *spec, struct gnn_err *e)
{
    const char *colon = strrchr(spec, ':');
    if (colon &&
        (!colon[1] || strchr(colon, '/') || !access(spec, F_OK) || before_member(spec, colon)))
        colon = NULL;
    if (colon && !(j->column = gnn_strdup(colon + 1, e)))
        return GNN_E_NOMEM;
    j->path = gnn_strf(e, "%.*s", (int)(colon ? (size_t)(colon - spec) : strlen(spec)), spec);
    return j->path ? GNN_OK : GNN_E_NOMEM;
}

bool gnn_joined_is_number(const struct gnn_word *w)
{
    const enum gnn_cell kind = gnn_cell_kind(w);
    return kind == GNN_CELL_ID || kind == GNN_CELL_PADDED || kind == GNN_CELL_HUGE ||
           kind == GNN_CELL_NUMBER;
}

/* How surely a column of this name holds the ids, 0 being best; -1: it does not sound so. */
static int id_rank(const char *name, const char *type, uint32_t col)
{
    static const char *const known[] = {"id",  "nodeid",   "node",   "key",
                                        "nid", "vertexid", "vertex", "name"};
    enum { KNOWN = sizeof known / sizeof *known };
    char plain[GNN_COLNAME_CAPACITY];
    const size_t n = strlen(name);
    gnn_colname_plain(name, n, plain);
    if (type && gnn_colname_of_type(name, type, strlen(type)))
        return 1;
    for (int i = 0; i < KNOWN; i++)
        if (!strcmp(plain, known[i]))
            return i ? i + 1 : 0;
    if (strstr(name, ":ID") && (!strcmp(strstr(name, ":ID"), ":ID") || strstr(name, ":ID(")))
        return 0; /* of Neo4j */
    /* paper_id, paperId, uid: of the first column only */
    const bool apart = n > 2 && !strcasecmp(name + n - 2, "id") &&
                       (!isalnum((unsigned char)name[n - 3]) ||
                        (islower((unsigned char)name[n - 3]) && name[n - 2] == 'I'));
    if (!col &&
        (apart || !strcmp(plain, "uid") || !strcmp(plain, "uuid") || !strcmp(plain, "guid")))
        return KNOWN + 1;
    return -1;
}

/* The column that is called like ids. */
static int named_id(struct gnn_joined *j, const char *type, struct gnn_err *e)
{
    int best = -1;
    for (uint32_t i = 0; i < j->ncols; i++) {
        const int rank = id_rank(j->name[i], type, i);
        if (rank < 0 || (best >= 0 && rank > best))
            continue;
        if (rank == best)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: '%s' and '%s' are both called like ids: %s:COLUMN decides",
                            j->path, j->name[j->id], j->name[i], j->path);
        best = rank;
        j->id = (int)i;
    }
    return GNN_OK;
}

static int no_column(const struct gnn_joined *j, struct gnn_err *e)
{
    struct gnn_suggest s = {.word = j->column};
    for (uint32_t i = 0; j->header && i < j->ncols; i++)
        gnn_suggest_add(&s, j->name[i]);
    if (!j->header)
        return gnn_fail(e, GNN_E_USAGE, "%s: there is no column '%s'; there are %u, without names",
                        j->path, j->column, j->ncols);
    return gnn_fail(e, GNN_E_USAGE, "%s: there is no column '%s'%s", j->path, j->column,
                    gnn_suggest_text(&s, "columns"));
}

/* COLUMN: a name of the first line, which then is a header, or a number. */
static int given_id(struct gnn_joined *j, struct gnn_err *e)
{
    char *end;
    for (uint32_t i = 0; i < j->ncols; i++)
        if (!strcmp(j->name[i], j->column)) {
            j->header = j->header || !isdigit((unsigned char)*j->column);
            j->id = (int)i;
            if (j->header)
                return GNN_OK;
        }
    const unsigned long k = strtoul(j->column, &end, 10);
    if (!isdigit((unsigned char)*j->column) || *end || k > j->ncols)
        return no_column(j, e);
    j->id = (int)k - 1;
    return GNN_OK;
}

/* Whether the first line is above the others: all of its cells are words, and a number is in the
 * second line, which is the present row, is. An index that pandas wrote has no name. */
static bool stands_above(const struct gnn_joined *j)
{
    bool words = true, numbers = false;
    for (uint32_t i = 0; i < j->ncols; i++) {
        const enum gnn_cell kind =
            gnn_cell_kind(&(struct gnn_word){j->name[i], strlen(j->name[i])});
        words = words && (kind == GNN_CELL_WORD || (kind == GNN_CELL_EMPTY && !i && j->ncols > 1));
        numbers = numbers || gnn_joined_is_number(&j->word[i]);
    }
    return words && numbers;
}

/* Column names that are the numbers of columns, 0 1 2 or 1 2 3, as pandas writes them, above other
 * numbers, with a first one that is a word or empty. */
static bool counts_up(const struct gnn_word *first, uint32_t n)
{
    uint64_t v, from = 0;
    bool good = n > 2 && !gnn_joined_is_number(&first[0]);
    for (uint32_t i = 1; good && i < n; i++) {
        good = first[i].n && gnn_text_u64(first[i].p, &v) == first[i].p + first[i].n;
        from = i == 1 ? v : from;
        good = good && from < 2 && v == from + i - 1;
    }
    return good;
}

/* A lone column called like labels, which are words perhaps. */
static bool label_above(const struct gnn_joined *j)
{
    static const char *const known[] = {"y", "label", "labels", "class", "target"};
    bool is = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        is = is || (j->ncols == 1 && !strcasecmp(j->name[0], known[i]));
    return is;
}

static int keep_names(struct gnn_joined *j, struct gnn_err *e)
{
    j->name = gnn_alloc_zero(j->ncols, sizeof *j->name, "columns", e);
    j->nnames = j->ncols;
    for (uint32_t i = 0; j->name && i < j->ncols; i++)
        if (!(j->name[i] = gnn_strf(e, "%.*s", (int)gnn_colname_neo4j(j->word[i].p, j->word[i].n),
                                    j->word[i].p)))
            return GNN_E_NOMEM;
    return j->name ? GNN_OK : GNN_E_NOMEM;
}

/* The first line as one cell. */
static int keep_top(struct gnn_joined *j, struct gnn_err *e)
{
    const char *next, *p;
    size_t n;
    bool last;
    if (!gnn_text_field(j->t.p, '\n', &p, &n, &next, &last))
        return GNN_OK; /* a quote that ends before the line */
    char *copy = gnn_alloc(n, 1, "a line", e);
    if (!copy)
        return GNN_E_NOMEM;
    memcpy(copy, p, n);
    j->top = (struct gnn_word){copy, n};
    return GNN_OK;
}

/* What the first two lines tell. */
static int look_at_top(struct gnn_joined *j, const char *type, struct gnn_err *e)
{
    struct gnn_err ignored = {0};
    j->ncols = j->t.ncols;
    j->id = -1;
    if (j->ncols > COLUMNS_MAX)
        return gnn_fail(e, GNN_E_INPUT, "%s: %u column%s", j->path, j->ncols, gnn_plural(j->ncols));
    j->word = gnn_alloc(j->ncols, sizeof *j->word, "columns", e);
    int rc = j->word ? keep_top(j, e) : GNN_E_NOMEM;
    if (!rc)
        rc = gnn_table_row(&j->t, j->word, j->ncols, e);
    if (!rc)
        rc = keep_names(j, e);
    if (!rc)
        rc = named_id(j, type, e);
    j->header = j->id >= 0 || (!rc && (counts_up(j->word, j->ncols) || label_above(j)));
    if (!rc && !j->header) /* what is wrong with the second line is told when it is read as a row */
        j->header = !gnn_table_row(&j->t, j->word, j->ncols, &ignored) && stands_above(j);
    if (!rc && j->column)
        rc = given_id(j, e);
    return rc;
}

int gnn_joined_again(struct gnn_joined *j, struct gnn_err *e)
{
    gnn_table_close(&j->t);
    j->row = 0;
    int rc = gnn_table_open(&j->t, j->in, 0, 0, e);
    if (j->whole)
        j->t.sep = '\n';
    if (!rc && j->header)
        rc = gnn_table_row(&j->t, j->word, j->ncols, e);
    return rc;
}

int gnn_joined_open(struct gnn_joined *j, const char *spec, const char *type, struct gnn_err *e)
{
    struct gnn_reader *r = NULL;
    const uint8_t *p;
    size_t n;
    *j = (struct gnn_joined){.id = -1};
    int rc = split_spec(j, spec, e);
    if (!rc)
        rc = gnn_input_open(&j->in, (const char *const *)&j->path, 1, e);
    if (!rc)
        rc = gnn_input_lone(j->in, "a table of nodes", e);
    if (!rc)
        rc = gnn_reader_open(&r, j->in, 0, e);
    if (!rc)
        rc = gnn_reader_peek(r, &p, &n, e);
    j->text = !rc && (n < 6 || memcmp(p, "\x93NUMPY", 6) != 0);
    gnn_reader_free(r);
    if (!rc && !j->text && j->column)
        return gnn_fail(e, GNN_E_USAGE, "%s: an array has no column '%s' of ids", j->path,
                        j->column);
    if (rc || !j->text)
        return rc;
    rc = gnn_table_open(&j->t, j->in, 0, 0, e);
    if (!rc && j->t.ncols)
        rc = look_at_top(j, type, e);
    return rc || !j->ncols ? rc : gnn_joined_again(j, e);
}

int gnn_joined_whole(struct gnn_joined *j, struct gnn_err *e)
{
    j->whole = true;
    j->header = false;
    j->ncols = 1;
    j->id = 0;
    return gnn_joined_again(j, e);
}

int gnn_joined_next(struct gnn_joined *j, struct gnn_err *e)
{
    const int rc = gnn_table_row(&j->t, j->word, j->ncols, e);
    j->line = j->t.line - 1;
    j->row += !rc;
    return rc;
}

void gnn_joined_close(struct gnn_joined *j)
{
    gnn_table_close(&j->t);
    for (uint32_t i = 0; j->name && i < j->nnames; i++)
        gnn_free(j->name[i]);
    gnn_free(j->name);
    gnn_free(j->word);
    gnn_free((void *)(uintptr_t)j->top.p);
    gnn_free(j->path);
    gnn_free(j->column);
    gnn_input_free(j->in);
    *j = (struct gnn_joined){0};
}

const char *gnn_joined_column(const struct gnn_joined *j, uint32_t i, char text[96])
{
    if (j->header && *j->name[i])
        snprintf(text, 96, "'%.80s'", j->name[i]);
    else
        snprintf(text, 96, "column %u", i + 1);
    return text;
}

int gnn_joined_no_id(const struct gnn_joined *j, const char *option, const char *file,
                     struct gnn_err *e)
{
    struct gnn_suggest s = {.word = "id"};
    for (uint32_t i = 0; j->header && i < j->ncols; i++)
        gnn_suggest_add(&s, j->name[i]);
    return gnn_fail(e, j->column ? GNN_E_USAGE : GNN_E_INPUT,
                    "%s: %s of its %u column%s is called like ids: %s%s:COLUMN names it%s", j->path,
                    j->header ? "none" : "no header, and none", j->ncols, gnn_plural(j->ncols),
                    option, file, j->header ? gnn_suggest_text(&s, "columns") : "");
}

int gnn_joined_fail(const struct gnn_joined *j, uint32_t col, const char *what, const char *rest,
                    struct gnn_err *e)
{
    char shown[GNN_ID_TEXT];
    return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %s '%s'%s", j->path,
                    (unsigned long long)j->line, what, gnn_word_shown(&j->word[col], shown), rest);
}

int gnn_joined_id(const struct gnn_joined *j, const struct gnn_nodeids *ids, uint64_t count,
                  uint32_t *node, struct gnn_err *e)
{
    const struct gnn_word *w = &j->word[j->id];
    char rest[192] = "", col[96];
    if (!w->n)
        return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: no id in %s", j->path,
                        (unsigned long long)j->line, gnn_joined_column(j, (uint32_t)j->id, col));
    gnn_nodeids_find(ids, w, 1, node);
    if (*node < count)
        return GNN_OK;
    if (!j->column && j->ncols > 1)
        snprintf(rest, sizeof rest, ": ids are in %s (FILE:COLUMN names another column)",
                 gnn_joined_column(j, (uint32_t)j->id, col));
    return gnn_joined_fail(j, (uint32_t)j->id, "no node has the id", rest, e);
}

int gnn_joined_node(struct gnn_joined *j, const struct gnn_nodeids *ids, uint64_t count,
                    uint64_t *line, uint32_t *node, struct gnn_err *e)
{
    char rest[96];
    int rc = GNN_OK;
    if (j->id >= 0)
        rc = gnn_joined_id(j, ids, count, node, e);
    else if (j->row > count)
        return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: more rows than the %llu node%s", j->path,
                        (unsigned long long)j->line, (unsigned long long)count, gnn_plural(count));
    else
        *node = (uint32_t)(j->row - 1);
    if (!rc && line[*node]) {
        snprintf(rest, sizeof rest, " has a row already, in line %llu",
                 (unsigned long long)line[*node]);
        return gnn_joined_fail(j, (uint32_t)j->id, "node", rest, e);
    }
    if (!rc)
        line[*node] = j->line;
    return rc;
}
