/* SPDX-License-Identifier: Apache-2.0 */
/* Text tables: lines of fields, read in blocks of whole lines. A line ends with a line
 * feed, a carriage return or both, and the last one needs no end. Blank lines and comment lines are
 * skipped, a byte order mark of UTF-8 is ignored, and UTF-16 and UTF-32 are refused. Every error
 * names the line. */
#ifndef GNN_LIB_IMPORT_TABLE_H
#define GNN_LIB_IMPORT_TABLE_H

#include "formats/text.h"
#include "lib/import/read/input.h"
#include "lib/import/read/number_type.h"
#include "lib/base/mem.h"

struct gnn_table {
    struct gnn_reader *r;
    struct gnn_buf buf;
    const char *p, *end; /* unread whole lines */
    uint64_t used;       /* bytes in buf */
    uint64_t line;       /* number of the line at p, from 1 */
    char sep, comment;   /* comment 0: none */
    bool percent;        /* lines that begin with % are comments, too */
    /* fields of the first line that is neither blank nor comment; 0: no such line */
    uint32_t ncols;
    bool eof, started;
    bool padded;          /* an id had zeros before it */
    bool date;            /* what is read now may be a date */
    struct gnn_lost lost; /* of gnn_table_f32 */
};

/* A zeroed object, or one that failed to open, may be closed. */
int gnn_table_open(struct gnn_table *t, struct gnn_input *in, uint32_t member, char comment,
                   struct gnn_err *e) GNN_MUST_USE;
/* As gnn_table_open, on an open reader, which it takes over, on failure too. */
int gnn_table_open_reader(struct gnn_table *t, struct gnn_reader *r, char comment,
                          struct gnn_err *e) GNN_MUST_USE;
void gnn_table_close(struct gnn_table *t);
/* Records "NAME: line N: WHAT 'FIELD'" for the field at p; returns GNN_E_INPUT. */
int gnn_table_fail(const struct gnn_table *t, const char *p, const char *what, struct gnn_err *e);

/* Makes p point to a line that is neither blank nor comment; GNN_END after the last. */
int gnn_table_line(struct gnn_table *t, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_table_line, but stops at blank and comment lines too. */
int gnn_table_any(struct gnn_table *t, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_table_line, among the lines that are in memory; false if there is none. */
bool gnn_table_more(struct gnn_table *t);
/* Goes to the next line; p is anywhere in the present one. */
void gnn_table_next(struct gnn_table *t);

/* Up to max rows of ncols fields each; *got 0 at the end. Rows with another number of fields, and
 * fields that are no numbers, are errors; an empty field of a float table is NaN. _i64 takes whole
 * numbers only, exactly if they are written as integers, others (3.0) up to 2^53. _numbers takes
 * note of what the numbers are like. */
int gnn_table_ids(struct gnn_table *t, uint64_t *out, uint32_t ncols, uint64_t max, uint64_t *got,
                  struct gnn_err *e) GNN_MUST_USE;
int gnn_table_f64(struct gnn_table *t, double *out, uint32_t ncols, uint64_t max, uint64_t *got,
                  struct gnn_err *e) GNN_MUST_USE;
int gnn_table_f32(struct gnn_table *t, float *out, uint32_t ncols, uint64_t max, uint64_t *got,
                  struct gnn_err *e) GNN_MUST_USE;
int gnn_table_i64(struct gnn_table *t, int64_t *out, uint32_t ncols, uint64_t max, uint64_t *got,
                  struct gnn_err *e) GNN_MUST_USE;
int gnn_table_numbers(struct gnn_table *t, struct gnn_numbers *s, uint32_t ncols, uint64_t max,
                      uint64_t *got, struct gnn_err *e) GNN_MUST_USE;
/* The fields of the present line (at most max: more are an error); then goes to the next line.
 * Pointers are valid until the next call of gnn_table_line. */
int gnn_table_words(struct gnn_table *t, struct gnn_word *w, uint32_t max, uint32_t *n,
                    struct gnn_err *e) GNN_MUST_USE;

/* The field at *p, which then is the next one, or the line's newline after the *last. A doubled
 * quote inside quotes is one, in place, so that a field must not be read twice. False if a quote is
 * not closed in the line. */
bool gnn_table_field(struct gnn_table *t, const char **p, struct gnn_word *w, bool *last);

/* Whether a word of the line may be an id: UTF-8, not empty, without control characters. */
int gnn_table_check_id(const struct gnn_table *t, const struct gnn_word *w, uint32_t col,
                       uint64_t line, struct gnn_err *e) GNN_MUST_USE;

/* The words of the next line that is neither blank nor comment, which must be `want`; GNN_END after
 * the last. */
int gnn_table_row(struct gnn_table *t, struct gnn_word *w, uint32_t want,
                  struct gnn_err *e) GNN_MUST_USE;

/* Chosen columns of a wide table: ids and numbers. */
struct gnn_pick {
    uint32_t col;             /* ascending, none twice */
    bool id;                  /* to *ids++, or *words++; else to *nums++ */
    bool date;                /* a number, or a date in its place (gnn_text_date), in seconds */
    bool whole;               /* a number: the exact value of an integer; else the real one, and */
    struct gnn_numbers *seen; /* what the numbers are like, or NULL */
};
/* Ids are numbers if words is NULL. Words are checked, and valid until the next call of this or of
 * gnn_table_line, so that fewer than max rows may come at a time. */
int gnn_table_pick(struct gnn_table *t, const struct gnn_pick *pick, uint32_t npick, uint64_t *ids,
                   struct gnn_word *words, union gnn_number *nums, uint64_t max, uint64_t *got,
                   struct gnn_err *e) GNN_MUST_USE;

#endif
