/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/link_archive.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/import/link_keys.h"
#include "lib/import/read/array.h"
#include "lib/import/read/ondisk.h"

enum { ROWS = 1 << 16, COLUMNS = 4, KEY = 64 };

#define PREFIX "ogb:"
#define ONDISK "graphbolt:"

static bool is_ondisk(const char *text)
{
    return !strncmp(text, ONDISK, strlen(ONDISK));
}

bool gnn_link_archive_is(const char *text)
{
    return !strncmp(text, PREFIX, strlen(PREFIX)) || is_ondisk(text);
}

/* ---- which files ---- */

static int fail_none(const struct gnn_link_archive *a, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: no sets of links: expected split/NAME/ with split_dict.pt, or train.pt, "
                    "valid.pt and test.pt",
                    gnn_input_name(a->in));
}

/* The set of a file, or GNN_LINK_SETS: of all; -1: it is another file. */
static int set_of(const char *member)
{
    const char *base = gnn_base_name(member);
    const size_t n = strcspn(base, ".");
    if (strcmp(base + n, ".pt") != 0 || !strstr(member, "split/"))
        return -1;
    return strncmp(base, "split_dict.", 11) ? gnn_link_set_find(base, n) : GNN_LINK_SETS;
}

static size_t directory_length(const char *member)
{
    return (size_t)(gnn_base_name(member) - member);
}

static int find_files(struct gnn_link_archive *a, struct gnn_err *e)
{
    const char *first = NULL;
    for (uint32_t i = 0; i < gnn_input_members(a->in); i++) {
        const char *name = gnn_input_member(a->in, i);
        const size_t n = directory_length(name);
        const int set = set_of(name);
        if (set < 0)
            continue;
        if (first && (directory_length(first) != n || strncmp(first, name, n) != 0))
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: sets of links in %.*s and %.*s: name one, %s%s:%.*s",
                            gnn_input_name(a->in), (int)directory_length(first), first, (int)n,
                            name, PREFIX, gnn_input_name(a->in), (int)n, name);
        first = name;
        a->dict = a->dict || set == GNN_LINK_SETS;
        for (int k = 0; k < GNN_LINK_SETS; k++)
            if (set == k ? !a->dict : set == GNN_LINK_SETS)
                a->member[k] = (int)i;
    }
    return first ? 0 : fail_none(a, e);
}

/* Cuts ":TASK" off a path that is there without it; NULL: it has none. */
static const char *cut_task(char *path)
{
    struct stat st;
    char *colon = stat(path, &st) ? strrchr(path, ':') : NULL;
    if (!colon)
        return NULL;
    *colon = 0;
    return colon + 1;
}

static int open_ondisk(struct gnn_link_archive *a, const char *text, const char *etype,
                       struct gnn_err *e)
{
    bool sets[GNN_LINK_SETS] = {false};
    struct gnn_array_list *l = gnn_alloc_zero(1, sizeof *l, "links", e);
    char *path = l ? gnn_strdup(text, e) : NULL;
    const char *task = path ? cut_task(path) : NULL;
    int rc = path ? gnn_ondisk_add_links(l, path, task, etype, sets, e) : GNN_E_NOMEM;
    if (!rc)
        rc = gnn_input_of_arrays(&a->in, l, path, 0, e);
    else
        gnn_array_list_free(l);
    gnn_free(path);
    if (rc)
        return rc;
    a->file = gnn_input_hold(a->in);
    a->dict = a->ondisk = true;
    a->open = 0;
    for (int i = 0; i < GNN_LINK_SETS; i++)
        a->member[i] = sets[i] ? 0 : -1;
    return GNN_OK;
}

/* Where a data set of several edge types says which number a relation has. */
static int find_reltype(const struct gnn_link_archive *a, const char *file)
{
    const size_t n = strlen(file);
    for (uint32_t i = 0; i < gnn_input_members(a->in); i++) {
        const char *name = gnn_input_member(a->in, i), *at = strstr(name, file);
        if (at && (at == name || at[-1] == '/') && at[n] == '.')
            return (int)i;
    }
    return -1;
}

/* The number of the edge type's relation, the same for all of its edges; -1: nothing says it. */
static int read_relation(struct gnn_link_archive *a, const struct gnn_schema *c, uint32_t etype,
                         struct gnn_err *e)
{
    const struct gnn_etype *t = &c->etype[etype];
    char *file = gnn_strf(e, "raw/relations/%s___%s___%s/edge_reltype", c->ntype[t->src].name,
                          t->rel, c->ntype[t->dst].name);
    const int m = file ? find_reltype(a, file) : -1;
    void *rows = NULL;
    uint64_t n = 0, width = 0;
    a->relation = -1;
    if (m >= 0 && !gnn_array_load(a->in, (uint32_t)m, GNN_I64, &rows, &n, &width, e)) {
        const int64_t *of = rows;
        a->relation = n && of[0] >= 0 ? of[0] : -1;
        for (uint64_t i = 1; i < n * width; i++)
            a->relation = of[i] == of[0] ? a->relation : -1;
    }
    gnn_free(rows);
    gnn_free(file);
    return e->code;
}

int gnn_link_archive_open(struct gnn_link_archive *a, const char *text, const struct gnn_schema *c,
                          uint32_t etype, struct gnn_err *e)
{
    const char *path = text + (is_ondisk(text) ? strlen(ONDISK) : strlen(PREFIX));
    char key[GNN_ETYPE_KEY_CAPACITY];
    for (int i = 0; i < GNN_LINK_SETS; i++)
        a->member[i] = -1;
    a->open = -1;
    a->typed = c->netypes > 1;
    if (!*path)
        return gnn_fail(e, GNN_E_USAGE, "--split-links: expected S/R/D=%s",
                        is_ondisk(text) ? ONDISK "FOLDER" : PREFIX "ARCHIVE");
    if (is_ondisk(text))
        return open_ondisk(a, path, gnn_etype_key(c, etype, key, sizeof key), e);
    if (!gnn_input_open(&a->in, &path, 1, e) && !find_files(a, e) && a->typed)
        (void)!read_relation(a, c, etype, e);
    return e->code;
}

void gnn_link_archive_release(struct gnn_link_archive *a)
{
    gnn_input_free(a->file);
    gnn_input_free(a->in);
    *a = (struct gnn_link_archive){.in = NULL};
}

/* ---- arrays by keys ---- */

char *gnn_link_archive_name(const struct gnn_link_archive *a, uint32_t set, const char *key,
                            struct gnn_err *e)
{
    const int m = a->member[set];
    if (a->ondisk)
        return gnn_strf(e, "%s: %s/%s", gnn_input_name(a->in), gnn_link_set_name[set], key);
    return gnn_strf(e, "%s: %s: %s%s%s", gnn_input_name(a->in),
                    m < 0 ? "" : gnn_input_member(a->in, (uint32_t)m),
                    a->dict ? gnn_link_set_name[set] : "", a->dict ? "/" : "", key);
}

static int open_file(struct gnn_link_archive *a, uint32_t set, struct gnn_err *e)
{
    const int m = a->member[set];
    if (a->open == m)
        return 0;
    gnn_input_free(a->file);
    a->open = -1;
    if (!gnn_input_open_inner_keyed(&a->file, a->in, (uint32_t)m, e))
        a->open = m;
    return e->code;
}

static int find_key(const struct gnn_link_archive *a, uint32_t set, const char *key)
{
    char name[KEY];
    snprintf(name, sizeof name, "%s%s%s", a->dict ? gnn_link_set_name[set] : "", a->dict ? "/" : "",
             key);
    return gnn_input_find(a->file, name);
}

/* Columns of links: arrays with a row for each. */
struct columns {
    struct gnn_array a[COLUMNS];
    unsigned n;
    uint64_t width; /* of all */
    /* Rows are left out whose first column, which is no part of them, is not this; -1: none. */
    int64_t only;
};

static void close_columns(struct columns *c)
{
    for (unsigned i = 0; i < c->n; i++)
        gnn_array_close(&c->a[i]);
}

static int add_column(struct columns *c, struct gnn_input *in, int member, struct gnn_err *e)
{
    struct gnn_array *a = &c->a[c->n++];
    if (gnn_array_open(a, in, (uint32_t)member, e))
        return e->code;
    if (a->h.ndim < 1 || a->h.ndim > 2 || a->h.is_bool)
        return gnn_fail(e, GNN_E_INPUT, "%s: expected ids of nodes, of one or two dimensions",
                        gnn_array_name(a));
    if (a->rows != c->a[0].rows)
        return gnn_fail(e, GNN_E_INPUT, "%s: %" PRIu64 " rows, but %" PRIu64 " links",
                        gnn_array_name(a), a->rows, c->a[0].rows);
    c->width += a->width;
    return 0;
}

/* The next rows of all columns side by side. */
static int read_rows(struct columns *c, int64_t *row, int64_t *part, uint64_t most, uint64_t *got,
                     struct gnn_err *e)
{
    uint64_t at = 0;
    for (unsigned k = 0; k < c->n; k++) {
        const uint64_t w = c->a[k].width;
        if (gnn_array_read(&c->a[k], GNN_I64, part, most, got, e))
            return e->code;
        for (uint64_t i = 0; i < *got; i++)
            memcpy(row + i * c->width + at, part + i * w, w * sizeof *row);
        at += w;
    }
    return 0;
}

/* Moves the rows that are not left out together; returns how many. */
static uint64_t keep_rows(const struct columns *c, int64_t *row, uint64_t n)
{
    const uint64_t width = c->width - 1;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++)
        if (row[i * c->width] == c->only)
            memmove(row + kept++ * width, row + i * c->width + 1, width * sizeof *row);
    return kept;
}

static int take_columns(struct columns *c, struct gnn_link_text *x, struct gnn_err *e)
{
    const uint64_t most = c->width ? ROWS / c->width + 1 : 1, width = c->width - (c->only >= 0);
    int64_t *row = gnn_alloc(2 * (most * c->width + 1), sizeof *row, "links", e);
    uint64_t got = 1;
    /* Once without rows, whose width may be wrong all the same. */
    if (row && !gnn_link_text_rows(x, row, 0, width, e))
        while (got && !e->code)
            if (!read_rows(c, row, row + most * c->width, most, &got, e))
                (void)!gnn_link_text_rows(x, row, c->only < 0 ? got : keep_rows(c, row, got), width,
                                          e);
    gnn_free(row);
    return e->code;
}

static int need_key(const struct gnn_link_archive *a, uint32_t set, const char *key,
                    const char *why, struct gnn_err *e)
{
    const int m = find_key(a, set, key);
    char *name = m < 0 ? gnn_link_archive_name(a, set, key, e) : NULL;
    if (name)
        (void)gnn_fail(e, GNN_E_INPUT, "%s: is missing%s", name, why);
    gnn_free(name);
    return m;
}

/* ---- links ---- */

static bool has_triples(const struct gnn_link_archive *a, uint32_t set)
{
    return find_key(a, set, GNN_LINK_KEY_TRIPLE_HEADS) >= 0;
}

/* Of triples of a typed graph, the relations, by which those of the edge type are told. */
static int open_relations(struct gnn_link_archive *a, uint32_t set, struct columns *c,
                          struct gnn_err *e)
{
    if (!a->typed)
        return 0;
    const int m = need_key(a, set, GNN_LINK_KEY_RELATIONS,
                           ", by which triples of an edge type are told from others", e);
    if (m >= 0 && a->relation < 0)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: triples of several relations: no edge_reltype in raw/relations, the "
                        "same whole number for all edges of the type, says which are theirs",
                        gnn_input_name(a->file));
    c->only = a->relation;
    return m < 0 ? e->code : add_column(c, a->file, m, e);
}

static bool is_read(const char *key, uint32_t set, const struct gnn_link_archive *a, bool timed)
{
    const bool negatives = !strcmp(key, GNN_LINK_KEY_SHARED) || !strcmp(key, GNN_LINK_KEY_EACH) ||
                           !strcmp(key, GNN_LINK_KEY_NEGATIVE_TAILS);
    return !strcmp(key, GNN_LINK_KEY_PAIRS) || !strcmp(key, GNN_LINK_KEY_HEADS) ||
           !strcmp(key, GNN_LINK_KEY_TAILS) || !strcmp(key, GNN_LINK_KEY_TRIPLE_HEADS) ||
           !strcmp(key, GNN_LINK_KEY_TRIPLE_TAILS) ||
           (a->typed && !strcmp(key, GNN_LINK_KEY_RELATIONS)) ||
           (timed && !strcmp(key, GNN_LINK_KEY_YEAR)) || (negatives && set != GNN_LINKS_TRAIN);
}

static const char *why_unread(const char *key)
{
    const bool negatives = !strcmp(key, GNN_LINK_KEY_SHARED) || !strcmp(key, GNN_LINK_KEY_EACH) ||
                           !strcmp(key, GNN_LINK_KEY_NEGATIVE_TAILS);
    const bool heads =
        !strcmp(key, GNN_LINK_KEY_HEADS_EACH) || !strcmp(key, GNN_LINK_KEY_NEGATIVE_HEADS);
    return !strcmp(key, GNN_LINK_KEY_YEAR) ? " (edges of the store have no times)"
           : negatives                     ? " of train (its negatives are drawn)"
           : heads                         ? " (candidates of heads; a split has those of tails)"
                                           : " (links have no fields but times)";
}

/* Notes what nobody reads, each once. */
static void note_unread(struct gnn_link_archive *a, uint32_t set, bool timed)
{
    const size_t skip = a->dict ? strlen(gnn_link_set_name[set]) + 1 : 0;
    for (uint32_t i = 0; i < gnn_input_members(a->file); i++) {
        const char *name = gnn_input_member(a->file, i), *key = name + skip;
        char what[KEY + 64];
        const size_t used = strlen(a->unread);
        if ((skip && strncmp(name, gnn_link_set_name[set], skip - 1) != 0) ||
            is_read(key, set, a, timed))
            continue;
        snprintf(what, sizeof what, "%.*s%s", KEY - 1, key, why_unread(key));
        if (!strstr(a->unread, what))
            snprintf(a->unread + used, sizeof a->unread - used, "%s%s", used ? ", " : "", what);
    }
}

static int open_links(struct gnn_link_archive *a, uint32_t set, bool timed, struct columns *c,
                      struct gnn_err *e)
{
    const int pairs = find_key(a, set, GNN_LINK_KEY_PAIRS);
    const bool triples = has_triples(a, set);
    if ((triples && open_relations(a, set, c, e)) ||
        (pairs >= 0 && add_column(c, a->file, pairs, e)))
        return e->code;
    if (pairs < 0) {
        const int heads = need_key(a, set, triples ? GNN_LINK_KEY_TRIPLE_HEADS : GNN_LINK_KEY_HEADS,
                                   ", and so is " GNN_LINK_KEY_PAIRS, e);
        const char *key = triples ? GNN_LINK_KEY_TRIPLE_TAILS : GNN_LINK_KEY_TAILS;
        const int tails = heads < 0 ? -1 : need_key(a, set, key, "", e);
        if (tails < 0 || add_column(c, a->file, heads, e) || add_column(c, a->file, tails, e))
            return e->code;
    }
    if (!timed)
        return 0;
    const int times = need_key(a, set, GNN_LINK_KEY_YEAR, ": edges of the store have times", e);
    return times < 0 || add_column(c, a->file, times, e) ? e->code : 0;
}

int gnn_link_archive_links(struct gnn_link_archive *a, uint32_t set, struct gnn_link_text *x,
                           struct gnn_err *e)
{
    struct columns c = {.only = -1};
    x->rows = GNN_LINK_PAIRS;
    if (!open_file(a, set, e) && !open_links(a, set, x->times != 0, &c, e) &&
        !take_columns(&c, x, e))
        note_unread(a, set, x->times != 0);
    close_columns(&c);
    return e->code || x->n ? e->code : gnn_fail(e, GNN_E_INPUT, "%s: no links in it", x->name);
}

int gnn_link_archive_negatives(struct gnn_link_archive *a, uint32_t set, struct gnn_link_text *x,
                               struct gnn_err *e)
{
    struct columns c = {.only = -1};
    if (a->member[set] < 0 || open_file(a, set, e))
        return e->code;
    const bool triples = has_triples(a, set);
    const int shared = find_key(a, set, GNN_LINK_KEY_SHARED),
              each = find_key(a, set, triples ? GNN_LINK_KEY_NEGATIVE_TAILS : GNN_LINK_KEY_EACH);
    x->rows = shared >= 0 ? GNN_LINK_PAIRS : GNN_LINK_TAILS;
    if (shared < 0 && each < 0)
        return 0;
    if (!(triples && open_relations(a, set, &c, e)) &&
        !add_column(&c, a->file, shared >= 0 ? shared : each, e) && !take_columns(&c, x, e) &&
        !x->n)
        (void)gnn_fail(e, GNN_E_INPUT, "%s: no links in it", x->name);
    close_columns(&c);
    return e->code;
}
