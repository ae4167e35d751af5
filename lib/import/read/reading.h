/* SPDX-License-Identifier: Apache-2.0 */
/* The reading of a text table of edges: which lines are rows, where columns end, which column is
 * what, whether ids are numbers or words. It follows from what the table holds
 * (lib/import/read/survey.h) and from options, by the rules that gnn-import(1) lists; where two
 * readings fit, the table is refused with the option that decides. */
#ifndef GNN_LIB_IMPORT_READING_H
#define GNN_LIB_IMPORT_READING_H

#include "lib/import/import.h"
#include "lib/import/read/survey.h"

struct gnn_reading_column {
    char name[GNN_SURVEY_NAME]; /* "" without a header */
    char use[GNN_SURVEY_NAME];  /* "source", "target", "relation", a field's name; "": left out */
};

struct gnn_reading {
    bool triples;  /* each row is a source, a relation and a target, all of them words */
    bool header;   /* the first row names the columns */
    bool words;    /* ids are words; else they are numbers */
    bool comments; /* lines that begin with # or % are left out */
    bool whole;    /* all of the file was looked at; else what is left must be numbers */
    char sep;
    uint32_t ncols;               /* of a row; 0: no rows */
    int source, target, relation; /* columns; -1: none */
    uint64_t line;                /* of the first row, */
    uint64_t counts[2];           /* whose first two cells are these, if they are numbers */
    uint64_t word_line;           /* where an id is that makes all of them words; 0: none */
    char word[GNN_SURVEY_NAME];
    struct gnn_reading_column col[GNN_SURVEY_COLUMNS];
};

/* Looks at a member, at its first rows only if `whole` is false and these are a table of numbers.
 * `triples` 1: it must hold triples; 0: it must not; -1: as it looks. *r is to be freed with
 * gnn_free. */
int gnn_reading_find(struct gnn_reading **r, struct gnn_input *in, uint32_t member,
                     const struct gnn_import_opts *o, int triples, bool whole,
                     struct gnn_err *e) GNN_MUST_USE;
/* Whether two readings give each row the same meaning. */
bool gnn_reading_same(const struct gnn_reading *a, const struct gnn_reading *b);
/* Opens the member's table as it is read, at its first row of data: ncols is 0 if there is none. */
int gnn_reading_open(const struct gnn_reading *r, struct gnn_table *t, struct gnn_input *in,
                     uint32_t member, struct gnn_err *e) GNN_MUST_USE;
/* Adds the note "read as: ..." to the data set; file: of one of several tables, else NULL. */
int gnn_reading_note(const struct gnn_reading *r, const char *file, struct gnn_dataset *d,
                     struct gnn_err *e) GNN_MUST_USE;

#endif
