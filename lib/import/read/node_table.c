/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a table of nodes (lib/import/read/node_table.h). A first pass finds the node of each
 * row and what kinds of cells columns have; a second one fills the fields, whose types are known by
 * then. */
#include "lib/import/read/node_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/import/read/classes.h"
#include "lib/import/read/colname.h"
#include "lib/import/read/encode.h"
#include "lib/import/read/labels.h"
#include "lib/base/plural.h"

enum role {
    LEFT_OUT,
    THE_ID,
    ENCODED,
    FEATURE,
    LABEL,
    FIELD,
    SET,
    TRAIN_MASK,
    VALID_MASK,
    TEST_MASK
};
enum { NAME = GNN_NAME_MAX + 1 };

struct column {
    enum role role;
    char *name;               /* of a field */
    uint32_t at;              /* place among the features or labels */
    uint64_t text, number;    /* lines of the first cells that are no number, and one; 0: none */
    struct gnn_numbers seen;  /* of a field's cells */
    struct gnn_encoding code; /* of ENCODED */
    enum gnn_dtype dtype;
    void *mem; /* [count] of a field */
};

struct load {
    struct gnn_src *s;
    struct gnn_joined *j;
    const struct gnn_nodeids *ids;
    uint32_t ntype;
    enum gnn_table_use use;
    uint64_t count, *line;  /* nodes; [count] lines of their rows, 0: none */
    uint64_t rows;          /* in the first pass */
    struct column *col;     /* [j->ncols] */
    int *range;             /* [2 * options nmap] first and last column of FIRST..LAST; -1: none */
    uint32_t nx, ny, nsets; /* columns of features, of labels, of sets and masks */
    float *x;
    double *y;
    struct gnn_words classes; /* of labels that are words, */
    int32_t *class_of;        /* [count] which y is then NULL for */
    uint8_t *set;             /* [count] bit k: in set k */
    struct gnn_lost lost;
};

static const char *const set_names[3] = {"train", "valid", "test"};

/* "f12", "feature_12", "x[12]": one of the names, then perhaps a number. */
static bool in_family(const char *name, const char *const *family)
{
    char plain[NAME];
    size_t n = 0;
    for (const char *p = name; *p && n < NAME - 1; p++)
        if (!strchr("_-. []()", *p))
            plain[n++] = *p;
    plain[n] = 0;
    for (; *family; family++) {
        const size_t len = strlen(*family);
        if (!strncasecmp(plain, *family, len) && strspn(plain + len, "0123456789") == n - len)
            return true;
    }
    return false;
}

/* What a column of this name is. */
static enum role role_of(const char *name)
{
    static const char *const features[] = {"x",        "feat", "feature", "features",
                                           "nodefeat", "",     NULL};
    static const char *const labels[] = {"y",      "label",     "labels", "class",
                                         "target", "nodelabel", NULL};
    static const char *const f[] = {"f", NULL};
    static const struct {
        const char *name;
        enum role role;
    } sets[] = {{"set", SET},
                {"split", SET},
                {"train_mask", TRAIN_MASK},
                {"val_mask", VALID_MASK},
                {"valid_mask", VALID_MASK},
                {"test_mask", TEST_MASK}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (!strcasecmp(name, sets[i].name))
            return sets[i].role;
    return gnn_colname_none(name)                                         ? LEFT_OUT
           : in_family(name, labels)                                      ? LABEL
           : in_family(name, features) || (name[1] && in_family(name, f)) ? FEATURE
                                                                          : FIELD;
}

static int find_column(const struct gnn_joined *j, const char *name, size_t n)
{
    for (uint32_t i = 0; i < j->ncols; i++)
        if (strlen(j->name[i]) == n && !memcmp(j->name[i], name, n))
            return (int)i;
    return -1;
}

static int find_ranges(struct load *l, struct gnn_err *e)
{
    const struct gnn_import_opts *o = l->s->o;
    l->range = gnn_alloc(2 * o->nmap, sizeof *l->range, "ranges of columns", e);
    for (uint32_t k = 0; l->range && k < o->nmap; k++) {
        const char *eq = strchr(o->map[k], '='), *dots = eq ? strstr(eq, "..") : NULL;
        const bool is = dots && eq - o->map[k] < NAME;
        l->range[2 * k] = is ? find_column(l->j, eq + 1, (size_t)(dots - eq - 1)) : -1;
        l->range[2 * k + 1] = is ? find_column(l->j, dots + 2, strlen(dots + 2)) : -1;
    }
    return l->range ? GNN_OK : GNN_E_NOMEM;
}

/* What --map makes of column i: a new name, or NULL. NEW=FIRST..LAST is about all between. */
static const char *mapped_name(const struct load *l, uint32_t i, char found[NAME])
{
    const struct gnn_import_opts *o = l->s->o;
    const char *name = l->j->name[i], *to = gnn_src_mapped(o, name);
    if (to != name)
        return to;
    for (uint32_t k = 0; k < o->nmap; k++) {
        if (l->range[2 * k] < 0 || (int)i < l->range[2 * k] || (int)i > l->range[2 * k + 1])
            continue;
        snprintf(found, NAME, "%.*s", (int)strcspn(o->map[k], "="), o->map[k]);
        if (o->map_used)
            o->map_used[k] = true;
        return found;
    }
    return NULL;
}

/* The roles of columns of a table of nodes; those that --map gives features or labels are all of
 * them. */
static int name_columns(struct load *l, struct gnn_err *e)
{
    char text[NAME];
    bool given[SET + 1] = {false}, lone[2] = {false, false};
    for (uint32_t i = 0; i < l->j->ncols; i++) {
        struct column *c = &l->col[i];
        const char *to = (int)i == l->j->id ? NULL : mapped_name(l, i, text);
        const char *name = l->j->name[i];
        if (gnn_encoding_find(&c->code, l->s->o, l->s->d.schema.ntype[l->ntype].name, name, e))
            return e->code;
        c->role = (int)i == l->j->id ? THE_ID : c->code.how ? ENCODED : role_of(to ? to : name);
        if (c->code.how && (to || c->role == THE_ID))
            return gnn_fail(e, GNN_E_USAGE, "--encode %s: the column %s", name,
                            to ? "is named by --map, too" : "has the ids");
        given[c->role <= SET ? c->role : SET] |= to != NULL;
        lone[0] = lone[0] || (!to && !strcasecmp(name, "x"));
        lone[1] = lone[1] || (!to && !strcasecmp(name, "y"));
        /* times in any case */
        if (!to && !strcasecmp(name, "time"))
            to = "time";
        if (c->role == FIELD && !(c->name = gnn_strdup(to ? to : name, e)))
            return GNN_E_NOMEM;
        if (to && (c->role == FEATURE || c->role == LABEL) && strcmp(to, "x") && strcmp(to, "y"))
            return gnn_fail(e, GNN_E_USAGE,
                            "--map %s=%s: a column of features is called x, and one of labels y",
                            to, name);
        c->at = to != NULL;
    }
    if (lone[0] && lone[1])
        return gnn_fail(
            e, GNN_E_INPUT,
            "%s: columns x and y are features and labels, or coordinates: --map x=x,y=y or "
            "--map x=x,x=y decides",
            l->j->path);
    for (uint32_t i = 0; i < l->j->ncols; i++) {
        struct column *c = &l->col[i];
        if ((c->role == FEATURE || c->role == LABEL) && given[c->role] && !c->at) {
            c->role = FIELD;
            if (!(c->name = gnn_strdup(l->j->name[i], e)))
                return GNN_E_NOMEM;
        }
    }
    return GNN_OK;
}

static int plan_columns(struct load *l, enum gnn_table_use use, struct gnn_err *e)
{
    int rc = GNN_OK;
    l->col = gnn_alloc_zero(l->j->ncols, sizeof *l->col, "columns", e);
    l->line = gnn_alloc_zero(l->count, sizeof *l->line, "lines of nodes", e);
    if (!l->col || !l->line)
        return GNN_E_NOMEM;
    if (use == GNN_TABLE_NODES && !l->j->header && l->j->ncols > 1)
        return gnn_fail(
            e, GNN_E_INPUT,
            "%s: no header says what its %u column%s are: add one, or give features and "
            "labels as --features FILE:COLUMN and --labels FILE:COLUMN",
            l->j->path, l->j->ncols, gnn_plural(l->j->ncols));
    if (use == GNN_TABLE_NODES)
        rc = find_ranges(l, e);
    if (!rc && use == GNN_TABLE_NODES)
        rc = name_columns(l, e);
    for (uint32_t i = 0; i < l->j->ncols; i++) {
        struct column *c = &l->col[i];
        if (use != GNN_TABLE_NODES)
            c->role = (int)i == l->j->id                                ? THE_ID
                      : l->j->header && gnn_colname_none(l->j->name[i]) ? LEFT_OUT
                      : use == GNN_TABLE_FEATURES                       ? FEATURE
                                                                        : LABEL;
        c->at = c->role == FEATURE ? l->nx++ : c->role == LABEL ? l->ny++ : 0;
        l->nsets += c->role >= SET;
    }
    if (!rc && use != GNN_TABLE_NODES && !l->nx && !l->ny)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: a column of ids and no other", l->j->path);
    return rc;
}

/* The number in a cell: whole, or else real; nan for none. False: it is another text. */
static bool read_number(const struct gnn_word *w, bool *whole, int64_t *i, double *d)
{
    *whole = false;
    *d = NAN;
    return !w->n || gnn_text_missing(w) || gnn_text_number(w->p, whole, i, d) == w->p + w->n;
}

/* The same for a cell of a column, which is a date perhaps, if it is of times. */
static bool read_cell(struct column *c, const struct load *l, const struct gnn_word *w, bool *whole,
                      int64_t *i, double *d)
{
    const bool time = c->role == FIELD && !strcmp(c->name, "time");
    if (time && gnn_text_date(w, whole, i, d)) {
        c->seen.date = c->seen.date ? c->seen.date : l->j->line;
        return true;
    }
    const bool is = read_number(w, whole, i, d);
    if (is && time && !isnan(*d) && !c->seen.plain)
        c->seen.plain = l->j->line;
    return is;
}

/* Bit of the set that a cell names; 0 for none, -1: it is no set. */
static int set_bit(const struct gnn_word *w)
{
    static const struct {
        const char *name;
        int bit;
    } known[] = {{"train", 1}, {"training", 1}, {"valid", 2},   {"validation", 2}, {"val", 2},
                 {"dev", 2},   {"test", 4},     {"testing", 4}, {"unlabelled", 0}};
    if (!w->n || gnn_text_missing(w))
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == w->n && !strncasecmp(known[i].name, w->p, w->n))
            return known[i].bit;
    return -1;
}

/* Of a mask: 0 or 1; -1: neither. */
static int mask_bit(const struct gnn_word *w)
{
    static const char *const known[] = {"0", "1", "false", "true", "0.0", "1.0", "f", "t"};
    for (int i = 0; i < 8; i++)
        if (strlen(known[i]) == w->n && !strncasecmp(known[i], w->p, w->n))
            return i & 1;
    return -1;
}

static int take_set(struct load *l, uint32_t i, uint32_t node, struct gnn_err *e)
{
    const struct column *c = &l->col[i];
    const int bit = c->role == SET ? set_bit(&l->j->word[i]) : mask_bit(&l->j->word[i]);
    if (bit < 0)
        return gnn_joined_fail(
            l->j, i, c->role == SET ? "no set is" : "a mask is",
            c->role == SET ? ": expected train, valid, test or nothing (--map =COLUMN leaves "
                             "the column out)"
                           : ": expected 0 or 1",
            e);
    l->set[node] |= (uint8_t)(c->role == SET ? bit : bit << (c->role - TRAIN_MASK));
    if (l->set[node] & (l->set[node] - 1))
        return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: a node in two sets", l->j->path,
                        (unsigned long long)l->j->line);
    return GNN_OK;
}

/* Notes what kinds of cells the present row has. */
static int survey_row(struct load *l, struct gnn_err *e)
{
    int64_t v;
    double d;
    bool whole;
    for (uint32_t i = 0; i < l->j->ncols; i++) {
        struct column *c = &l->col[i];
        const struct gnn_word *w = &l->j->word[i];
        if (c->role == ENCODED && gnn_encoding_add(&c->code, w, e))
            return GNN_E_NOMEM;
        if ((c->role != FIELD && c->role != LABEL) || (c->text && c->number))
            continue;
        if (!read_cell(c, l, w, &whole, &v, &d))
            c->text = c->text ? c->text : l->j->line;
        else if (!isnan(d) && !c->number)
            c->number = l->j->line;
        if (c->role == FIELD && !c->text)
            gnn_numbers_add(&c->seen, w->n ? w->p : "nan", l->j->line, whole, v, d);
    }
    return GNN_OK;
}

/* Nodes without a row, which only labels and sets can do without. */
static int check_missing(const struct load *l, struct gnn_err *e)
{
    uint64_t missing = 0, first = 0, fields = l->nx;
    char text[GNN_ID_TEXT];
    for (uint32_t i = 0; i < l->j->ncols; i++)
        fields += l->col[i].role == FIELD && !l->col[i].text;
    for (uint64_t v = l->count; v--;)
        if (!l->line[v]) {
            missing++;
            first = v;
        }
    if (!missing || (l->j->id >= 0 && !fields))
        return GNN_OK;
    if (l->j->id < 0)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %llu row%s for %llu node%s (FILE:COLUMN finds rows by id)", l->j->path,
                        (unsigned long long)l->j->row, gnn_plural(l->j->row),
                        (unsigned long long)l->count, gnn_plural(l->count));
    return gnn_fail(e, GNN_E_INPUT, "%s: %llu of %llu node%s have no row, the first of them '%s'",
                    l->j->path, (unsigned long long)missing, (unsigned long long)l->count,
                    gnn_plural(l->count), gnn_nodeids_text(l->ids, first, text));
}

static int survey_rows(struct load *l, struct gnn_err *e)
{
    uint32_t node;
    int rc;
    while (!(rc = gnn_joined_next(l->j, e))) {
        rc = gnn_joined_node(l->j, l->ids, l->count, l->line, &node, e);
        if (!rc)
            rc = survey_row(l, e);
        if (rc)
            return rc;
    }
    if (rc == GNN_END && !l->j->row)
        return gnn_fail(e, GNN_E_INPUT, "%s: a header line, and no rows", l->j->path);
    rc = rc == GNN_END ? check_missing(l, e) : rc;
    l->rows = l->j->row;
    return rc ? rc : gnn_joined_again(l->j, e);
}

/* One column of words is classes. */
static int make_labels(struct load *l, struct gnn_err *e)
{
    const struct column *words = NULL;
    for (uint32_t i = 0; l->ny == 1 && i < l->j->ncols; i++)
        if (l->col[i].role == LABEL && l->col[i].text)
            words = &l->col[i];
    if (words && words->number)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: the label in line %llu is a word, and that in line %llu a number: "
                        "classes are all words or all numbers",
                        l->j->path, (unsigned long long)words->text,
                        (unsigned long long)words->number);
    if (words && !(l->class_of = gnn_alloc(l->count, sizeof *l->class_of, "labels", e)))
        return GNN_E_NOMEM;
    for (uint64_t i = 0; words && i < l->count; i++)
        l->class_of[i] = -1;
    if (!words && !(l->y = gnn_alloc(l->count * l->ny, sizeof *l->y, "labels", e)))
        return GNN_E_NOMEM;
    for (uint64_t i = 0; !words && i < l->count * l->ny; i++)
        l->y[i] = NAN;
    return GNN_OK;
}

/* Encoded columns are features behind the others. */
static int place_encoded(struct load *l, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < l->j->ncols; i++) {
        struct column *c = &l->col[i];
        if (c->role != ENCODED)
            continue;
        rc = gnn_encoding_finish(&c->code, l->j->path, l->j->name[i], e);
        c->at = l->nx;
        l->nx += c->code.width;
    }
    return rc;
}

/* Types of fields; memory for all. */
static int make_space(struct load *l, struct gnn_err *e)
{
    char mapped[NAME], col[96];
    for (uint32_t i = 0; i < l->j->ncols; i++) {
        struct column *c = &l->col[i];
        if (c->role == FIELD && c->text && mapped_name(l, i, mapped))
            return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %s as '%s' is no number%s", l->j->path,
                            (unsigned long long)c->text, gnn_joined_column(l->j, i, col), c->name,
                            strcmp(c->name, "time") ? "" : " and no date like 2024-01-03");
        if (c->role != FIELD || c->text)
            continue;
        if (gnn_numbers_type(&c->seen, l->j->path, c->name, &c->dtype, e) ||
            gnn_numbers_tell_dates(&c->seen, &l->s->d, l->j->path, c->name, e) ||
            !(c->mem = gnn_alloc_zero(l->count, gnn_dtype_bytes(c->dtype), "node fields", e)))
            return e->code;
    }
    int rc = place_encoded(l, e);
    if (!rc && l->nx && !(l->x = gnn_alloc_zero(l->count * l->nx, sizeof *l->x, "features", e)))
        rc = GNN_E_NOMEM;
    if (rc)
        return rc;
    rc = l->ny ? make_labels(l, e) : GNN_OK;
    if (rc)
        return rc;
    if (l->nsets && !(l->set = gnn_alloc_zero(l->count, 1, "sets", e)))
        return GNN_E_NOMEM;
    return GNN_OK;
}

static int not_finite(const struct load *l, uint32_t i, double v, struct gnn_err *e)
{
    char col[96];
    return gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %s is %s", l->j->path,
                    (unsigned long long)l->j->line, gnn_joined_column(l->j, i, col),
                    isnan(v) ? "missing or nan" : "infinite or too large");
}

static int no_number(const struct load *l, uint32_t i, struct gnn_err *e)
{
    char col[96], what[128];
    snprintf(what, sizeof what, "%s is no number:", gnn_joined_column(l->j, i, col));
    return gnn_joined_fail(l->j, i, what, gnn_text_boolean(&l->j->word[i]) ? "; write 1 and 0" : "",
                           e);
}

static int fill_field(const struct load *l, uint32_t i, uint32_t node, struct gnn_err *e)
{
    struct column *c = &l->col[i];
    int64_t v;
    double d;
    bool whole;
    if (!read_cell(c, l, &l->j->word[i], &whole, &v, &d) || (c->dtype == GNN_I64 && !whole))
        return no_number(l, i, e);
    if (c->dtype == GNN_I64)
        ((int64_t *)c->mem)[node] = v;
    else if (c->dtype == GNN_F64)
        ((double *)c->mem)[node] = d;
    else
        ((float *)c->mem)[node] = (float)d;
    const bool finite = c->dtype == GNN_F32 ? isfinite((float)d) : isfinite(d);
    return finite || !gnn_src_finite(c->name) ? GNN_OK : not_finite(l, i, d, e);
}

static int fill_row(struct load *l, uint32_t node, struct gnn_err *e)
{
    int64_t v;
    double d;
    bool whole;
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < l->j->ncols; i++) {
        const struct column *c = &l->col[i];
        if (c->role == LABEL && l->class_of) {
            rc = gnn_classes_add(&l->classes, &l->j->word[i], &l->class_of[node], e);
        } else if (c->role == FEATURE || c->role == LABEL) {
            if (!read_number(&l->j->word[i], &whole, &v, &d))
                return no_number(l, i, e);
            if (c->role == LABEL) {
                l->y[(uint64_t)node * l->ny + c->at] = d;
                continue;
            }
            if (!isfinite((float)d))
                return not_finite(l, i, d, e);
            gnn_lost_add(&l->lost, d);
            l->x[(uint64_t)node * l->nx + c->at] = (float)d;
        } else if (c->role == ENCODED) {
            gnn_encoding_fill(&c->code, &l->j->word[i], &l->x[(uint64_t)node * l->nx + c->at]);
        } else if (c->role == FIELD && !c->text) {
            rc = fill_field(l, i, node, e);
        } else if (c->role >= SET) {
            rc = take_set(l, i, node, e);
        }
    }
    return rc;
}

static int fill_rows(struct load *l, struct gnn_err *e)
{
    uint32_t node;
    int rc;
    memset(l->line, 0, l->count * sizeof *l->line);
    while (!(rc = gnn_joined_next(l->j, e))) {
        rc = gnn_joined_node(l->j, l->ids, l->count, l->line, &node, e);
        if (!rc)
            rc = fill_row(l, node, e);
        if (rc)
            return rc;
    }
    if (rc == GNN_END && l->j->row != l->rows)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: the input changed while it was read: %llu row%s, then %llu",
                        l->j->path, (unsigned long long)l->rows, gnn_plural(l->rows),
                        (unsigned long long)l->j->row);
    return rc == GNN_END ? gnn_lost_tell(&l->s->d, l->j->path, "x", &l->lost, e) : rc;
}

static int add_sets(struct load *l, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (int k = 0; !rc && l->set && k < 3; k++) {
        uint64_t n = 0;
        for (uint64_t v = 0; v < l->count; v++)
            n += l->set[v] >> k & 1;
        if (!n)
            continue;
        uint32_t *id = gnn_alloc(n, sizeof *id, "sets", e);
        if (!id)
            return GNN_E_NOMEM;
        n = 0;
        for (uint64_t v = 0; v < l->count; v++)
            if (l->set[v] >> k & 1)
                id[n++] = (uint32_t)v;
        rc = gnn_src_add_set(l->s, "file", set_names[k], l->ntype, id, n, e);
    }
    return rc;
}

/* Takes a column that is called like labels, but not by an option, for text, as others are. */
static bool take_for_text(struct load *l)
{
    char text[NAME];
    for (uint32_t i = 0; i < l->j->ncols; i++)
        if (l->col[i].role == LABEL && l->use == GNN_TABLE_NODES && !mapped_name(l, i, text)) {
            l->col[i].role = FIELD;
            return true;
        }
    return false;
}

static int add_classes(struct load *l, struct gnn_err *e)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < l->count; i++)
        n += l->class_of[i] >= 0;
    const bool names = n > 2 && l->classes.n == n;
    if (names && take_for_text(l))
        return GNN_OK;
    if (names)
        return gnn_fail(e, GNN_E_INPUT, "%s: the labels of all nodes differ, as names do",
                        l->j->path);
    int rc = gnn_labels_of_one(&l->s->d.schema, l->ntype, l->j->path, e);
    if (!rc)
        rc = gnn_classes_finish(&l->classes, l->s->o->task, l->class_of, l->count, l->j->path,
                                &l->s->d.schema, e);
    if (rc)
        return rc;
    int32_t *y = l->class_of;
    l->class_of = NULL;
    l->s->d.schema.label_ntype = l->ntype;
    return gnn_src_mem(l->s, l->ntype, "y", GNN_I32, 0, y, l->j->path, e);
}

/* Takes all that was filled to the data set. */
static int add_fields(struct load *l, struct gnn_err *e)
{
    struct gnn_err why = {0};
    int rc = GNN_OK;
    if (l->x) {
        rc = gnn_src_mem(l->s, l->ntype, "x", GNN_F32, l->nx, l->x, l->j->path, e);
        l->x = NULL;
    }
    if (!rc && l->class_of)
        rc = add_classes(l, e);
    if (!rc && l->y) {
        uint64_t width = l->ny;
        enum gnn_dtype dtype;
        rc = gnn_labels_take(&l->s->d, l->s->o->task, l->ntype, l->y, l->count, &width, &dtype,
                             l->j->path, l->line, e);
        if (!rc) {
            rc = gnn_src_mem(l->s, l->ntype, "y", dtype, width, l->y, l->j->path, e);
            l->y = NULL;
        }
    }
    for (uint32_t i = 0; !rc && i < l->j->ncols; i++) {
        struct column *c = &l->col[i];
        if (!c->mem)
            continue;
        rc = gnn_src_mem(l->s, l->ntype, c->name, c->dtype, 0, c->mem, l->j->path, &why);
        c->mem = NULL;
        if (rc)
            return gnn_src_fail_name(&why, l->j->path, l->j->name[i], e);
    }
    return rc ? rc : add_sets(l, e);
}

static bool is_listed(const struct column *c, enum role role, bool text)
{
    return c->role == role && (role != FIELD || (c->text != 0) == text);
}

/* " 'a', 'b' and 3 more" for the columns of a role. */
static void list_columns(const struct load *l, enum role role, bool text, char *out,
                         size_t capacity)
{
    enum { MANY = 8 };
    uint32_t n = 0, k = 0;
    size_t at = 0;
    char col[96];
    for (uint32_t i = 0; i < l->j->ncols; i++)
        n += is_listed(&l->col[i], role, text);
    *out = 0;
    for (uint32_t i = 0; i < l->j->ncols && at < capacity; i++) {
        if (!is_listed(&l->col[i], role, text) || ++k > MANY)
            continue;
        at += (size_t)snprintf(out + at, capacity - at, "%s%s", k > 1 ? ", " : "",
                               gnn_joined_column(l->j, i, col));
    }
    if (n > MANY && at < capacity)
        snprintf(out + at, capacity - at, " and %u more", n - MANY);
}

/* How the table was read. */
static int tell_reading(const struct load *l, struct gnn_err *e)
{
    static const struct {
        enum role role;
        bool text;
        const char *what;
    } part[] = {{THE_ID, false, "ids"},
                {FEATURE, false, "features"},
                {ENCODED, false, "encoded as features"},
                {LABEL, false, "labels"},
                {SET, false, "sets"},
                {FIELD, false, "fields"},
                {FIELD, true, "left out, as they hold text"}};
    char text[900] = "", list[480];
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        const size_t at = strlen(text);
        list_columns(l, part[i].role, part[i].text, list, sizeof list);
        if (*list)
            snprintf(text + at, sizeof text - at, "%s%s: %s", at ? "; " : "", part[i].what, list);
    }
    return gnn_dataset_note(&l->s->d, e, "%s: read as %s", l->j->path, text);
}

int gnn_node_table_add(struct gnn_src *s, struct gnn_joined *j, const struct gnn_nodeids *ids,
                       uint32_t ntype, enum gnn_table_use use, struct gnn_err *e)
{
    struct load l = {.s = s, .j = j, .ids = ids, .ntype = ntype, .use = use};
    struct gnn_err why = {0};
    l.count = s->d.schema.ntype[ntype].count;
    int rc = plan_columns(&l, use, e);
    if (!rc)
        rc = survey_rows(&l, e);
    if (!rc)
        rc = make_space(&l, e);
    if (!rc)
        rc = fill_rows(&l, e);
    if (!rc && (rc = add_fields(&l, &why)))
        gnn_fail(e, (enum gnn_status)rc, strstr(why.msg, j->path) ? "%.0s%s" : "%s: %s", j->path,
                 why.msg);
    if (!rc)
        rc = tell_reading(&l, e);
    for (uint32_t i = 0; l.col && i < j->ncols; i++) {
        gnn_free(l.col[i].name);
        gnn_free(l.col[i].mem);
        gnn_encoding_release(&l.col[i].code);
    }
    gnn_free(l.col);
    gnn_free(l.range);
    gnn_free(l.line);
    gnn_free(l.x);
    gnn_free(l.y);
    gnn_free(l.class_of);
    gnn_words_release(&l.classes);
    gnn_free(l.set);
    return rc;
}
