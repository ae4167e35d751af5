/* SPDX-License-Identifier: Apache-2.0 */
/* Several files as one data set (lib/import/read/members.h): by their names, then by their first
 * lines. Files are parts of one table only if they were given as such, or their names differ in
 * numbers only: two tables that happen to have as many columns are not put together. */
#include "lib/import/read/members.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "formats/text.h"
#include "lib/import/read/colname.h"
#include "lib/import/read/ntriples.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"

enum { SHOWN = 44 }; /* capacity for what messages show of a line */

/* How a member begins: its first two lines that are neither blank nor comments. */
struct begin {
    uint8_t head[4096];
    size_t n;
    const struct gnn_foreign *foreign; /* what it is and nobody reads */
    bool text;
    bool statements;    /* of N-Triples */
    size_t from, to;    /* of the first line in head; both 0: it has none, or a longer one */
    size_t second, end; /* of the second */
};

/* Begins with one of the words, each of which a blank follows, in any case. */
static bool begins_with(const char *s, const char *words)
{
    for (const char *p = words; *p; p += strcspn(p, " ") + 1)
        if (!strncasecmp(s, p, strcspn(p, " ")))
            return true;
    return false;
}

int gnn_members_set(const char *member)
{
    static const char *const known[] = {"train", "valid", "test", "dev"};
    const char *name = gnn_base_name(member);
    for (int k = 0; k < 4; k++) {
        const size_t n = strlen(known[k]);
        if (!strncmp(name, known[k], n) && (name[n] == '.' || !name[n]))
            return k == 3 ? 1 : k;
    }
    return -1;
}

static bool is_set(const char *name)
{
    return gnn_members_set(name) >= 0;
}

/* What lies beside triples and is not needed for them: names of entities and relations, as numbers
 * or as text, and what some evaluations use. */
static bool is_dictionary(const char *name)
{
    return begins_with(gnn_base_name(name), "entit relation type_constrain 1-1. 1-n. n-1. n-n. ") ||
           gnn_ends_with(name, ".dict");
}

/* A file that OGB's layout has below raw/. */
static bool is_ogb(const char *name)
{
    const char *raw = strstr(name, "raw/");
    while (raw && raw != name && raw[-1] != '/')
        raw = strstr(raw + 1, "raw/");
    return raw && begins_with(raw + 4, "edge. edge_ num- data.npz relations/ triplet-type nodetype "
                                       "node-feat node-label node_ ");
}

const char *gnn_members_format(const struct gnn_input *in)
{
    bool npy = true, sets = false, others = false, typed;
    if (gnn_input_is_arrays(in, &typed))
        return "npz";
    for (uint32_t i = 0; i < gnn_input_members(in); i++) {
        const char *name = gnn_input_member(in, i);
        if (is_ogb(name))
            return "ogb";
        npy = npy && gnn_ends_with(name, ".npy");
        sets = sets || is_set(name);
        others = others || !(is_set(name) || is_dictionary(name));
    }
    return npy ? "npz" : sets && !others && gnn_input_members(in) > 1 ? "triples" : NULL;
}

/* ---- first lines ---- */

static bool is_comment(const uint8_t *p)
{
    return *p == '#' || *p == '%';
}

/* Finds the next line that counts from *at on; false if it does not end within the head. */
static bool find_line(const struct begin *b, size_t at, size_t *from, size_t *to)
{
    while (at < b->n) {
        const size_t start = at;
        bool blank = true;
        for (; at < b->n && b->head[at] != '\n' && b->head[at] != '\r'; at++)
            blank = blank && isspace(b->head[at]);
        if (at == b->n && at == sizeof b->head)
            return false;
        if (!blank && !is_comment(b->head + start)) {
            *from = start;
            *to = at;
            return true;
        }
        at++;
    }
    return false;
}

static int look_at(struct gnn_input *in, uint32_t member, struct begin *b, struct gnn_err *e)
{
    struct gnn_reader *r;
    const uint8_t *p;
    memset(b, 0, sizeof *b);
    int rc = gnn_reader_open(&r, in, member, e);
    if (rc)
        return rc;
    rc = gnn_reader_peek(r, &p, &b->n, e);
    if (!rc) {
        memcpy(b->head, p, b->n);
        b->foreign = gnn_foreign_bytes(p, b->n, b->n < sizeof b->head);
        b->statements = gnn_ntriples_is(b->foreign);
        b->foreign = b->statements ? NULL : b->foreign;
        b->text = !memchr(p, 0, b->n) && memcmp(p, "%%MatrixMarket", b->n < 14 ? b->n : 14) != 0;
        const size_t bom = b->n > 2 && !memcmp(p, "\xef\xbb\xbf", 3) ? 3 : 0;
        if (find_line(b, bom, &b->from, &b->to))
            (void)find_line(b, b->to, &b->second, &b->end);
    }
    gnn_reader_free(r);
    return rc;
}

static bool is_separator(uint8_t c)
{
    return c == ',' || c == ';' || c == '\t' || c == ' ';
}

/* Fields of a line that are numbers, and all of them. */
static unsigned count_numbers(const struct begin *b, size_t from, size_t to, unsigned *fields)
{
    unsigned numbers = 0;
    *fields = 0;
    while (from < to) {
        size_t end = from;
        bool number = false, other = false;
        for (; end < to && !is_separator(b->head[end]); end++) {
            number = number || isdigit(b->head[end]);
            other = other || !strchr("0123456789+-.eE\"", b->head[end]);
        }
        *fields += end > from;
        numbers += number && !other;
        from = end + 1;
    }
    return numbers;
}

/* Whether the first line names both ends of edges. */
static bool names_ends(const struct begin *b)
{
    return gnn_colname_header((const char *)b->head + b->from, b->to - b->from);
}

/* Whether it names columns: words above numbers, or the ends of edges. */
static bool is_header(const struct begin *b)
{
    unsigned fields, below;
    if (b->statements || b->to == b->from || count_numbers(b, b->from, b->to, &fields))
        return false;
    return names_ends(b) || (b->end > b->second && count_numbers(b, b->second, b->end, &below));
}

static bool same_line(const struct begin *a, const struct begin *b)
{
    return a->to - a->from == b->to - b->from &&
           !memcmp(a->head + a->from, b->head + b->from, a->to - a->from);
}

/* The first line, or bytes, for messages. */
static const char *show_begin(const struct begin *b, char out[SHOWN])
{
    const size_t n = b->to > b->from ? b->to - b->from : b->n;
    return gnn_text_shown(out, SHOWN, (const char *)b->head + b->from, n);
}

/* ---- several members ---- */

/* Whether two names differ in numbers only, or are what Spark and split(1) call parts. */
static bool are_alike(const char *a, const char *b)
{
    const char *x = gnn_base_name(a), *y = gnn_base_name(b);
    const char *xe = strrchr(x, '.'), *ye = strrchr(y, '.');
    if (!strncmp(x, "part-", 5) && !strncmp(y, "part-", 5) && !strcmp(xe ? xe : "", ye ? ye : ""))
        return true;
    const size_t n = strlen(a);
    if (n > 2 && n == strlen(b) && !memcmp(a, b, n - 2) && isalpha((unsigned char)a[n - 1]) &&
        isalpha((unsigned char)b[n - 1]) && (!xe || strlen(xe) == 3))
        return true;
    while (*a || *b) {
        while (isdigit((unsigned char)*a))
            a++;
        while (isdigit((unsigned char)*b))
            b++;
        if (*a != *b)
            return false;
        a += *a != 0;
        b += *b != 0;
    }
    return true;
}

/* Tables beside tables of edges whose headers name no ends are of nodes. */
static int set_nodes_aside(struct gnn_input *in, struct begin *b, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < gnn_input_members(in);) {
        rc = look_at(in, i, b, e);
        if (!rc && is_header(b) && !names_ends(b))
            rc = gnn_input_set_aside(in, i, e);
        else
            i++;
    }
    return rc;
}

static int refuse_others(struct gnn_input *in, const char *why, const char *first,
                         const char *second, struct gnn_err *e)
{
    return gnn_fail(
        e, GNN_E_INPUT,
        "%s: %u files, which are not parts of one table: %s and %s%s; name the one that "
        "holds the edges%s",
        gnn_input_name(in), gnn_input_members(in), first, second, why,
        gnn_input_is_archive(in) ? ", as ARCHIVE:MEMBER" : "");
}

/* One part against the first: its header, of which all but the first are left out. */
static int check_part(struct gnn_input *in, uint32_t i, bool header, const struct begin *first,
                      const struct begin *b, struct gnn_err *e)
{
    char one[SHOWN], other[SHOWN];
    unsigned n, fields;
    if (first->statements && b->statements)
        return GNN_OK;
    const bool same = same_line(first, b), has = is_header(b);
    (void)count_numbers(first, first->from, first->to, &fields);
    (void)count_numbers(b, b->from, b->to, &n);
    if (same && header)
        gnn_input_blank(in, i, b->from, b->to);
    if (same || (!has && n == fields))
        return GNN_OK;
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: %s begins with '%s', and %s with '%s': parts of one table have the same "
                    "columns%s",
                    gnn_input_name(in), gnn_input_member(in, 0), show_begin(first, one),
                    gnn_input_member(in, i), show_begin(b, other),
                    has ? ", and all of them the same header or only the first" : "");
}

/* A lone text in words may begin with the same line in each part by chance. */
static int unclear_header(struct gnn_input *in, const struct begin *b, struct gnn_err *e)
{
    char shown[SHOWN];
    return gnn_fail(
        e, GNN_E_INPUT,
        "%s: all parts begin with '%s', which is a header or an edge: put them together, "
        "with the header once",
        gnn_input_name(in), show_begin(b, shown));
}

static int join_parts(struct gnn_input *in, struct begin *first, struct begin *b, struct gnn_err *e)
{
    unsigned fields;
    gnn_input_as_given(in);
    int rc = look_at(in, 0, first, e);
    const bool header = !rc && is_header(first);
    bool all_same = true;
    for (uint32_t i = 1; !rc && i < gnn_input_members(in); i++) {
        rc = look_at(in, i, b, e);
        if (!rc)
            rc = check_part(in, i, header, first, b, e);
        all_same = all_same && same_line(first, b) && !b->statements;
    }
    if (!rc && all_same && !header && !count_numbers(first, first->from, first->to, &fields))
        rc = unclear_header(in, first, e);
    if (!rc)
        gnn_input_join(in);
    return rc;
}

/* Leaves out what is empty and what is no data; tells what else is there. */
struct found {
    uint32_t edges, nodes; /* tables whose header names ends, and those whose header does not */
    bool other;            /* no text */
    uint32_t last_other;
};

static int sift_members(struct gnn_input *in, struct begin *b, struct found *f, struct gnn_err *e)
{
    *f = (struct found){0};
    for (uint32_t i = 0; i < gnn_input_members(in);) {
        int rc = look_at(in, i, b, e);
        if (rc)
            return rc;
        if (!b->n || (b->foreign && b->foreign->no_data)) {
            if ((rc = gnn_input_leave(in, i, e)))
                return rc;
            continue;
        }
        if (b->foreign)
            return gnn_foreign_refuse(b->foreign, gnn_input_member(in, i), e);
        if (!b->text) {
            f->other = true;
            f->last_other = i;
        } else if (is_header(b) && names_ends(b)) {
            f->edges++;
        } else if (is_header(b)) {
            f->nodes++;
        }
        i++;
    }
    return GNN_OK;
}

static int unite_tables(struct gnn_input *in, struct begin *first, struct begin *b,
                        struct gnn_err *e)
{
    struct found f;
    int rc = sift_members(in, b, &f, e);
    const uint32_t n = gnn_input_members(in);
    if (rc || n < 2)
        return rc  ? rc
               : n ? GNN_OK
                   : gnn_fail(e, GNN_E_INPUT, "%s: all files in it are empty", gnn_input_name(in));
    if (f.other)
        return refuse_others(in, ", which is no text", gnn_input_member(in, f.last_other ? 0 : 1),
                             gnn_input_member(in, f.last_other), e);
    if (f.edges && f.nodes && (rc = set_nodes_aside(in, b, e)))
        return rc;
    for (uint32_t i = 0; i < gnn_input_members(in); i++) {
        const char *name = gnn_input_member(in, i);
        const char *eq = strchr(name, '=');
        if (eq && strchr(eq, '/'))
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: %s: the name of its directory is a column of the table, which is "
                            "not read: write one table with this column",
                            gnn_input_name(in), name);
        if (!are_alike(gnn_input_member(in, 0), name) &&
            (!gnn_input_several(in) || begins_with(gnn_base_name(name), "node vert feat label ") ||
             begins_with(gnn_base_name(gnn_input_member(in, 0)), "node vert feat label ")))
            return refuse_others(in, "", gnn_input_member(in, 0), name, e);
    }
    return gnn_input_members(in) > 1 ? join_parts(in, first, b, e) : GNN_OK;
}

/* Files of triples: three columns each; dictionaries are not needed, as nodes have their words. */
static int check_sets(struct gnn_input *in, struct begin *b, struct gnn_err *e)
{
    char shown[SHOWN];
    for (uint32_t i = 0; i < gnn_input_members(in);) {
        const bool set = is_set(gnn_input_member(in, i));
        int rc = set ? look_at(in, i, b, e) : gnn_input_leave(in, i, e);
        if (rc)
            return rc;
        if (!set)
            continue;
        unsigned fields;
        (void)count_numbers(b, b->from, b->to, &fields);
        if (b->foreign)
            return gnn_foreign_refuse(b->foreign, gnn_input_member(in, i), e);
        if (b->to > b->from && fields != 3 && !b->statements)
            return gnn_fail(
                e, GNN_E_INPUT,
                "%s: files named train, valid and test are triples, of three columns; "
                "but %s begins with '%s': name one table of edges, or put them together",
                gnn_input_name(in), gnn_input_member(in, i), show_begin(b, shown));
        i++;
    }
    return GNN_OK;
}

int gnn_members_unite(struct gnn_input *in, bool sets, struct gnn_err *e)
{
    struct begin *b = gnn_alloc(2, sizeof *b, "first lines", e);
    int rc = b ? GNN_OK : GNN_E_NOMEM;
    if (!rc)
        rc = sets ? check_sets(in, b, e) : unite_tables(in, b, b + 1, e);
    gnn_free(b);
    return rc;
}
