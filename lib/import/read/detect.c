/* SPDX-License-Identifier: Apache-2.0 */
/* Which reader an input is for (lib/import/read/detect.h): by the members of an archive, else by
 * the first bytes, else by the first lines. */
#include "lib/import/read/detect.h"

#include <string.h>
#include <strings.h>

#include "lib/import/read/formats.h"
#include "lib/import/read/members.h"
#include "lib/import/read/ntriples.h"
#include "lib/import/read/stage.h"
#include "lib/base/foreign.h"
#include "lib/base/path.h"

static bool named_metis(const char *name)
{
    return gnn_ends_with(name, ".graph") || gnn_ends_with(name, ".mgraph");
}

static bool named_ntriples(const char *name)
{
    const size_t n = gnn_unpacked_length(name);
    return n > 3 && !strncasecmp(name + n - 3, ".nt", 3);
}

/* Words in a line, and whether all are numbers. */
static uint32_t count_words(const struct gnn_word *w, uint32_t n, bool *numbers)
{
    *numbers = true;
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < w[i].n; k++)
            *numbers = *numbers && strchr("0123456789+-.eE", w[i].p[k]);
    return n;
}

/* By the first lines of a text: ragged lines of numbers are METIS's, anything else is a table of
 * edges or triples. */
static const char *by_lines(struct gnn_table *t, struct gnn_err *e)
{
    enum { LINES = 64, WORDS = 256 };
    struct gnn_word w[WORDS];
    uint32_t first = 0, n;
    bool numbers, ragged = false;
    for (int i = 0; i < LINES; i++) {
        if (gnn_table_line(t, e) || gnn_table_words(t, w, WORDS, &n, e))
            break;
        n = count_words(w, n, &numbers);
        if (!i && !numbers) /* a header */
            break;
        first = i ? first : n;
        ragged = ragged || (n != first && numbers);
    }
    return ragged && t->sep == GNN_TEXT_SPACE ? "metis" : "csv";
}

/* No bytes that texts do not have; DOS ends some with 26. */
static bool is_text(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] != 127 && p[i] && (p[i] >= ' ' || strchr("\t\n\v\f\r\x1a\x1b", p[i])))
        i++;
    return i == n;
}

static const char *by_content(struct gnn_input *in, uint32_t member, struct gnn_err *e)
{
    struct gnn_reader *r;
    struct gnn_table t;
    struct gnn_err ignored = {0};
    const uint8_t *p;
    size_t n;
    const char *format = NULL, *name = gnn_input_member(in, member);
    const uint8_t *end;
    const struct gnn_foreign *foreign = NULL;
    const bool inside = gnn_input_is_archive(in);
    int rc = gnn_reader_open(&r, in, member, e);
    if (rc)
        return NULL;
    rc = gnn_reader_peek(r, &p, &n, e);
    bool text = !rc && (is_text(p, n) || gnn_text_encoding(p, n));
    if (!rc && !n)
        gnn_fail(e, GNN_E_INPUT, "%s: empty", gnn_reader_name(r));
    else if (!rc && n > 5 && !memcmp(p, "\x93NUMPY", 6))
        format = "npz";
    else if (!rc && n > 13 && !strncasecmp((const char *)p, "%%MatrixMarket", 14))
        format = "mtx";
    else if (!rc && named_metis(name) && text && strchr("%\r\n\t 0123456789", *p))
        format = "metis";
    else if (!rc && (foreign = gnn_foreign_bytes(p, n, n < GNN_STAGE_PEEK)) &&
             !gnn_ntriples_is(foreign))
        gnn_foreign_refuse(foreign, gnn_reader_name(r), e);
    else if (!rc && text && (foreign || named_ntriples(name)))
        format = "ntriples";
    else if (!rc && gnn_stage_is_archive(p, n))
        gnn_fail(e, GNN_E_INPUT, "%s: an archive in an archive%s%s%s%s", gnn_reader_name(r),
                 inside ? ", which is read by its name: " : "", inside ? gnn_input_name(in) : "",
                 inside ? ":" : "", inside ? name : "");
    else if (!rc && text && named_metis(name))
        format = "metis";
    else if (!rc && text && (end = memchr(p, '\n', n)) &&
             gnn_jodie_is((const char *)p, (size_t)(end - p)))
        format = "jodie";
    if (rc || format || e->code || !text) {
        gnn_reader_free(r);
        return format;
    }
    char comment = *p == '%' ? '%' : '#';
    if (!gnn_table_open_reader(&t, r, comment, e))
        format = by_lines(&t, &ignored);
    gnn_table_close(&t);
    return format;
}

/* Text of a table is one file, or parts of one, or sets of triples. */
static int unite_members(struct gnn_input *in, const char *format, bool sets, struct gnn_err *e)
{
    const bool table = !format || !strcmp(format, "snap") || !strcmp(format, "csv") ||
                       gnn_ends_with(format, "triples");
    return table && gnn_input_members(in) > 1 ? gnn_members_unite(in, sets, e) : GNN_OK;
}

int gnn_detect(struct gnn_input *in, const char **format, struct gnn_err *e)
{
    const char *names = gnn_members_format(in);
    struct gnn_err why = {0};
    const bool sets = names && !strcmp(names, "triples");
    if (*format)
        return unite_members(in, *format, sets && gnn_ends_with(*format, "triples"), e);
    *format = names;
    int rc = unite_members(in, names, sets, e);
    const char *first = !rc && sets ? by_content(in, 0, &why) : NULL;
    if (why.code && why.code != GNN_E_INPUT) /* what the set holds is said by who reads it */
        return gnn_fail_as(e, &why);
    if (!rc && !*format)
        *format = by_content(in, 0, e);
    else if (first && !strcmp(first, "ntriples"))
        *format = first;
    if (!rc && !*format)
        rc = gnn_fail(
            e, GNN_E_INPUT,
            "%s: unknown format: neither text nor known by its first bytes; what is read: "
            "OGB's layout, .npz, .npy and .pt, tables of edges, triples, Matrix Market, METIS",
            gnn_input_name(in));
    return rc;
}
