/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, fields and headers in text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/metis_graph.h"
#include "formats/mtx.h"
#include "formats/text.h"
#include "lib/base/rand.h"
#include "lib/base/suggest.h"
#include "tap.h"

static bool u64_is(const char *text, uint64_t want, const char *rest)
{
    uint64_t v;
    const char *p = gnn_text_u64(text, &v);
    return p && v == want && !strcmp(p, rest);
}

static bool f64_is(const char *text, double want, const char *rest)
{
    double v;
    const char *p = gnn_text_f64(text, &v);
    return p && (v == want || (isnan(v) && isnan(want))) && !strcmp(p, rest);
}

static bool f64_bad(const char *text)
{
    double v;
    return !gnn_text_f64(text, &v);
}

static void numbers(void)
{
    uint64_t v;
    ok(u64_is("0\n", 0, "\n") && u64_is("00042,", 42, ","), "gnn_text_u64 reads small numbers");
    ok(u64_is("18446744073709551615\n", UINT64_MAX, "\n"), "gnn_text_u64 reads the largest number");
    ok(!gnn_text_u64("18446744073709551616\n", &v) && !gnn_text_u64("99999999999999999999\n", &v) &&
           !gnn_text_u64("184467440737095516150\n", &v),
       "gnn_text_u64 refuses numbers beyond 64 bits");
    ok(!gnn_text_u64("-1\n", &v) && !gnn_text_u64("\n", &v) && !gnn_text_u64("x\n", &v),
       "gnn_text_u64 refuses what is no number");
    ok(f64_is("1\n", 1, "\n") && f64_is("-1.5,", -1.5, ",") && f64_is("+.5\n", .5, "\n") &&
           f64_is("3.\n", 3, "\n"),
       "gnn_text_f64 reads decimals");
    ok(f64_is("1e3\n", 1e3, "\n") && f64_is("1E-3\n", 1e-3, "\n") && f64_is("12.5e+2 ", 1250, " "),
       "gnn_text_f64 reads exponents");
    ok(f64_is("1e400\n", INFINITY, "\n") && f64_is("1e-400\n", 0, "\n"),
       "gnn_text_f64 gives infinity or 0 for a number out of range");
    ok(f64_is("nan\n", NAN, "\n") && f64_is("NaN\n", NAN, "\n") &&
           f64_is("-inf\n", -INFINITY, "\n") && f64_is("Infinity\n", INFINITY, "\n"),
       "gnn_text_f64 reads NaN and infinity by their names");
    ok(f64_bad("\n") && f64_bad("-\n") && f64_bad(".\n") && f64_bad("1e\n") && f64_bad("e5\n") &&
           f64_bad("na\n"),
       "gnn_text_f64 refuses what is no number");
    ok(f64_is("0.1\n", 0.1, "\n") &&
           f64_is("123456789012345678901234567890\n", 123456789012345678901234567890.0, "\n") &&
           f64_is("0.00000000000000000000000000012345\n", 1.2345e-28, "\n"),
       "gnn_text_f64 reads numbers of many digits");
    bool same = true;
    struct gnn_rand r = gnn_rand_key(1, 2, 3);
    for (int i = 0; i < 200000; i++) {
        char text[64];
        uint64_t bits = gnn_rand_next(&r);
        double d, got;
        memcpy(&d, &bits, sizeof d);
        if (i & 1)
            d = (double)(int64_t)(bits >> (bits & 63)) / 1000;
        snprintf(text, sizeof text, i % 3 ? "%.17g\n" : "%.6g\n", d);
        double want = strtod(text, NULL);
        const char *p = gnn_text_f64(text, &got);
        same = same && p && *p == '\n' && (got == want || (isnan(got) && isnan(want)));
    }
    ok(same, "gnn_text_f64 reads 200,000 numbers as strtod does");
}

static bool field_is(const char *text, char sep, const char *want, const char *rest, bool is_last)
{
    const char *f, *next;
    size_t n;
    bool last;
    return gnn_text_field(text, sep, &f, &n, &next, &last) && n == strlen(want) &&
           !memcmp(f, want, n) && !strcmp(next, rest) && last == is_last;
}

static void fields(void)
{
    const char *f, *next;
    size_t n;
    bool last;
    ok(field_is("a,b\n", ',', "a", "b\n", false) && field_is("b\n", ',', "b", "\n", true),
       "gnn_text_field reads plain fields");
    ok(field_is(",b\n", ',', "", "b\n", false) && field_is("\n", ',', "", "\n", true),
       "gnn_text_field reads empty fields");
    ok(field_is("\"a,b\",c\n", ',', "a,b", "c\n", false), "gnn_text_field reads quoted fields");
    ok(field_is(" a , b\n", ',', "a", " b\n", false), "gnn_text_field drops blanks around a field");
    ok(field_is("a\r\n", ',', "a", "\n", true) && field_is("\"a\"\r\n", ',', "a", "\n", true),
       "gnn_text_field drops a carriage return");
    ok(field_is("a \t b\n", ' ', "a", "b\n", false) && field_is("a \n", ' ', "a", "\n", true),
       "gnn_text_field takes a run of blanks for one separator");
    ok(field_is("a b\tc\n", '\t', "a b", "c\n", false),
       "gnn_text_field keeps blanks where tabs separate");
    ok(!gnn_text_field("\"a\n", ',', &f, &n, &next, &last), "gnn_text_field refuses an open quote");
    ok(!gnn_text_field("\"a\"b,c\n", ',', &f, &n, &next, &last),
       "gnn_text_field refuses text after a closing quote");
    ok(gnn_text_separator("1,2\t3\n") == ',' && gnn_text_separator("1;2\n") == ';' &&
           gnn_text_separator("1\t2 3\n") == '\t' && gnn_text_separator("1 2\n") == ' ',
       "gnn_text_separator finds the separator of a line");
    ok(gnn_text_count("1,2,3\n", ',') == 3 && gnn_text_count("1,2,\n", ',') == 3 &&
           gnn_text_count(" \r\n", ',') == 0 && gnn_text_count("1  2 \n", ' ') == 2,
       "gnn_text_count counts the fields of a line");
}

/* Whether gnn_text_plain finds of a field what gnn_text_field does, if it may, and 0 otherwise. */
static bool plain_agrees(const char *text, size_t bytes, char sep)
{
    const char *field, *next;
    size_t n;
    bool last, easy;
    if (!gnn_text_field(text, sep, &field, &n, &next, &last))
        return !gnn_text_plain(text, text + bytes, sep);
    const char *stop = field + n;
    easy = n && field == text && (*stop == sep || *stop == '\n');
    for (size_t i = 0; i < n; i++)
        easy = easy && text[i] >= ' ' && text[i] < 127;
    const size_t got = gnn_text_plain(text, text + bytes, sep);
    return got == (easy ? n : 0);
}

static void plain_fields(void)
{
    static const char signs[] = "abcdefghijklmno,; \t\"\r\001\037\177\200\377\n";
    char text[64];
    uint64_t state = 1, bad = 0;
    for (int i = 0; i < 200000; i++) {
        for (size_t k = 0; k < sizeof text; k++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const uint64_t draw = state >> 33;
            text[k] = draw % 3 ? (char)('a' + draw % 15) : signs[draw / 3 % (sizeof signs - 1)];
        }
        text[40] = '\n';
        bad += !plain_agrees(text, sizeof text, ",;\t "[i % 4]);
    }
    ok(!bad, "gnn_text_plain finds what gnn_text_field does, of 200000 texts");
    const char near_end[] = "abcd\n";
    ok(!gnn_text_plain(near_end, near_end + 5, ',') && !gnn_text_plain(near_end, near_end, ','),
       "gnn_text_plain reads nothing behind the end");
}

static void headers(void)
{
    struct gnn_mtx m;
    struct gnn_metis_head h;
    ok(!gnn_mtx_banner(&m, "%%MatrixMarket matrix coordinate pattern symmetric\n") && m.pattern &&
           m.symmetric && !gnn_mtx_size(&m, "3 3 2\r\n") && m.rows == 3 && m.entries == 2,
       "gnn_mtx_banner and gnn_mtx_size read the header of a sparse matrix");
    ok(!gnn_mtx_banner(&m, "%%MatrixMarket matrix array integer skew-symmetric\r\n") && m.array &&
           m.skew && m.integer && !m.symmetric && !gnn_mtx_size(&m, "5 5\r\n") && m.entries == 10,
       "gnn_mtx_banner and gnn_mtx_size read the header of a dense matrix");
    ok(gnn_mtx_banner(&m, "%%MatrixMarket matrix array pattern general\n") &&
           gnn_mtx_banner(&m, "%%MatrixMarket matrix coordinate complex general\n") &&
           gnn_mtx_banner(&m, "%%MatrixMarket matrix coordinate real hermitian\n") &&
           gnn_mtx_banner(&m, "%%Matrix\n") &&
           gnn_mtx_banner(&m, "%%MatrixMarket matrix coordinate real general more\n"),
       "gnn_mtx_banner refuses matrices that are no graphs");
    ok(gnn_mtx_size(&m, "3 3\n") && gnn_mtx_size(&m, "0 3 1\n") && gnn_mtx_size(&m, "3 3 1 1\n") &&
           gnn_mtx_size(&m, "99999999999 3 1\n") && gnn_mtx_size(&m, "3 x 1\n"),
       "gnn_mtx_size refuses sizes that make no sense");
    ok(!gnn_metis_parse(&h, " 5 4\n") && h.n == 5 && h.m == 4 && !h.ncon && !h.edge_weights &&
           !h.sizes,
       "gnn_metis_parse reads the header of a plain graph");
    ok(!gnn_metis_parse(&h, "5 4 011 2\n") && h.ncon == 2 && h.edge_weights && !h.sizes,
       "gnn_metis_parse reads a header with weights of vertices and edges");
    ok(!gnn_metis_parse(&h, "5 4 100\n") && h.sizes && !h.ncon &&
           !gnn_metis_parse(&h, "5 4 10\n") && h.ncon == 1,
       "gnn_metis_parse reads headers with vertex sizes and with one weight");
    ok(gnn_metis_parse(&h, "5\n") && gnn_metis_parse(&h, "0 0\n") &&
           gnn_metis_parse(&h, "5 4 2\n") && gnn_metis_parse(&h, "5 4 1 3\n") &&
           gnn_metis_parse(&h, "5 4 011 2 1\n") && gnn_metis_parse(&h, "5 4 011 99\n") &&
           gnn_metis_parse(&h, "5 4 0x1\n") && gnn_metis_parse(&h, "99999999999 4\n"),
       "gnn_metis_parse refuses headers that make no sense");
}

/* What an unknown word may have been meant as. */
static bool meant(const char *word, const char *names, const char *want)
{
    struct gnn_suggest s = {.word = word};
    gnn_suggest_words(&s, names);
    return !strcmp(s.best, want);
}

static void suggestions(void)
{
    ok(gnn_suggest_edits("train", "train") == 0 && gnn_suggest_edits("TRAIN", "train") == 0,
       "gnn_suggest_edits takes equal words for equal, whatever their case");
    ok(gnn_suggest_edits("trian", "train") == 1 && gnn_suggest_edits("ab", "ba") == 1,
       "gnn_suggest_edits counts two swapped letters as one edit");
    ok(gnn_suggest_edits("train", "tran") == 1 && gnn_suggest_edits("tran", "train") == 1 &&
           gnn_suggest_edits("trxin", "train") == 1,
       "gnn_suggest_edits counts a letter that is missing, added or changed as one edit");
    ok(gnn_suggest_edits("", "abc") == 3 && gnn_suggest_edits("abc", "") == 3 &&
           gnn_suggest_edits("", "") == 0,
       "gnn_suggest_edits counts each letter against an empty word");
    ok(gnn_suggest_edits("ca", "abc") == 3, "gnn_suggest_edits does not edit a swap again");
    char longest[1000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    ok(gnn_suggest_edits(longest, "x") == GNN_SUGGEST_WORD,
       "gnn_suggest_edits gives up on a word that is too long");
    ok(meant("val", "train|valid|test", "valid") &&
           meant("validation", "train|valid|test", "valid") &&
           meant("tets", "train|valid|test", "test"),
       "gnn_suggest_words means the nearest word");
    ok(meant("out", "count|output|output-kind", "output") && meant("ep", "help|epochs", "epochs"),
       "gnn_suggest_words means a name cut short before a word with slips");
    ok(meant("x", "y|z", "") && meant("feat", "x|y", "") && meant("", "train", "") &&
           meant("qqq", "train|valid", ""),
       "gnn_suggest_words means no word when none is near");
    ok(meant(longest, "train|valid", "") && meant(longest, "x|xx", "xx"),
       "gnn_suggest_words means for a very long word only one that it begins with");
    struct gnn_suggest s = {.word = "none"};
    for (int i = 0; i < 300; i++)
        gnn_suggest_add(&s, i % 2 ? longest : "name");
    const char *text = gnn_suggest_text(&s, "names");
    ok(strlen(text) < GNN_SUGGEST_TEXT && strstr(text, "x...") && s.listed + s.more == 300 &&
           strstr(text, " more"),
       "gnn_suggest_text shortens many and long names: %s", text);
    struct gnn_suggest none = {.word = "w"};
    ok(!*gnn_suggest_text(&none, "names"), "gnn_suggest_text says nothing of no names");
}

static bool shown_as(const char *text, const char *want)
{
    char out[256];
    return !strcmp(gnn_text_shown(out, sizeof out, text, strlen(text)), want);
}

static void shown_text(void)
{
    char out[9], piece[GNN_ESCAPE_CAPACITY];
    ok(shown_as("plain caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x90\xb1\\n",
                "plain caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x90\xb1\\n"),
       "gnn_text_shown leaves text as it is");
    ok(shown_as("\x1b[31m\n\t\x7f", "\\u001b[31m\\u000a\\u0009\\u007f"),
       "gnn_text_shown escapes control characters of ASCII");
    ok(shown_as("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\\u0080\\u009b\\u009f\xc2\xa0"),
       "gnn_text_shown escapes control characters beyond ASCII");
    ok(shown_as("\xe2\x80\xae\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c\xe2\x80\x8f",
                "\\u202e\\u202a\\u2066\\u2069\\u061c\\u200f"),
       "gnn_text_shown escapes what changes the direction of text");
    ok(shown_as("\xe2\x80\x8b\xe2\x80\x8d\xe2\x81\xa0\xef\xbb\xbf\xc2\xad\xe2\x80\xa8",
                "\\u200b\\u200d\\u2060\\ufeff\\u00ad\\u2028"),
       "gnn_text_shown escapes characters without width, and ends of lines");
    ok(shown_as("\xf3\xa0\x81\x81\xf0\x9d\x85\xb3", "\\udb40\\udc41\\ud834\\udd73"),
       "gnn_text_shown escapes characters of 21 bits as JSON does");
    ok(shown_as("a\x9b\xc3(\xed\xa0\x80\xc0\x80\xe2\x80",
                "a\\x9b\\xc3(\\xed\\xa0\\x80\\xc0\\x80\\xe2\\x80"),
       "gnn_text_shown escapes bytes that are not UTF-8");
    ok(!strcmp(gnn_text_shown(out, sizeof out, "12345678", 8), "12345678") &&
           !strcmp(gnn_text_shown(out, sizeof out, "123456789", 9), "12345...") &&
           !strcmp(gnn_text_shown(out, sizeof out, "1234\xc3\xa9\xc3\xa9\xc3\xa9", 10),
                   "1234...") &&
           !strcmp(gnn_text_shown(out, sizeof out, "\x1b\x1b", 2), "..."),
       "gnn_text_shown says that text is cut, between characters");
    ok(gnn_text_escape("\xe2\x80\xaeX", 4, piece) == 3 &&
           gnn_text_escape("\xe2\x80", 2, piece) == 1,
       "gnn_text_escape takes one character, and reads no byte behind the last");
}

static bool date_is(const char *text, int64_t want, double fraction)
{
    bool whole;
    int64_t v;
    double d;
    const struct gnn_word w = {text, strlen(text)};
    return gnn_text_date(&w, &whole, &v, &d) && v == want && whole == (fraction == 0) &&
           fabs(d - ((double)want + fraction)) < 1e-6;
}

static bool no_date(const char *text)
{
    bool whole;
    int64_t v;
    double d;
    const struct gnn_word w = {text, strlen(text)};
    return !gnn_text_date(&w, &whole, &v, &d);
}

/* All days of five centuries as timegm() has them. */
static bool all_days(void)
{
    char text[80];
    for (time_t t = -(time_t)86400 * 365 * 300; t < (time_t)86400 * 365 * 200; t += 86400) {
        struct tm tm;
        if (!gmtime_r(&t, &tm) || !strftime(text, sizeof text, "%Y-%m-%d", &tm) ||
            !date_is(text, t, 0))
            return false;
    }
    return true;
}

static void dates(void)
{
    static const char *const bad[] = {"",
                                      "2024",
                                      "2024-1-03",
                                      "2024-01-3",
                                      "2024-00-03",
                                      "2024-13-01",
                                      "2024-02-30",
                                      "2023-02-29",
                                      "1900-02-29",
                                      "2024-01-03 ",
                                      "2024-01-03T",
                                      "2024-01-03T5:06",
                                      "2024-01-03T24:00",
                                      "2024-01-03T05:60",
                                      "2024-01-03T05:06:60",
                                      "2024-01-03T05:06:07.",
                                      "2024-01-03T05:06+24:00",
                                      "2024-01-03T05:06+1",
                                      "2024-01-03T05:06 EST",
                                      "0000-01-01",
                                      "2024/01/03",
                                      "2024-01-03x",
                                      "20240103",
                                      "2024-01-03T05:06ZZ"};
    bool none = true;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        none = none && no_date(bad[i]);
    ok(none, "gnn_text_date refuses what is no date");
    const struct gnn_word nul = {"2024-01-03\0", 11};
    bool whole;
    int64_t v;
    double d;
    ok(!gnn_text_date(&nul, &whole, &v, &d), "gnn_text_date refuses a NUL");
    ok(all_days(), "gnn_text_date knows the days of five centuries");
    ok(date_is("1970-01-01", 0, 0) && date_is("2000-02-29", 951782400, 0) &&
           date_is("0001-01-01", -62135596800, 0) && date_is("9999-12-31", 253402214400, 0),
       "gnn_text_date counts days from 1970 on");
    ok(date_is("2024-01-03 05:06", 1704258360, 0) &&
           date_is("2024-01-03T05:06:07", 1704258367, 0) &&
           date_is("2024-01-03T05:06:07Z", 1704258367, 0) &&
           date_is("2024-01-03 05:06:07 UTC", 1704258367, 0) &&
           date_is("2024-01-03T05:06:07.25", 1704258367, 0.25) &&
           date_is("2024-01-03T05:06:07.000", 1704258367, 0),
       "gnn_text_date reads times of the day");
    ok(date_is("2024-01-03T05:06:07+02:00", 1704251167, 0) &&
           date_is("2024-01-03T05:06:07-0530", 1704278167, 0) &&
           date_is("2024-01-03 05:06:07+00", 1704258367, 0),
       "gnn_text_date reads time zones");
}

int main(void)
{
    numbers();
    dates();
    shown_text();
    fields();
    plain_fields();
    headers();
    suggestions();
    return tap_done();
}
