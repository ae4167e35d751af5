/* SPDX-License-Identifier: Apache-2.0 */
/* A survey of a text table, column by column, before anyone says what it means: kinds of cells, in
 * the first row and below it. No rule about roles is here (lib/import/read/reading.h). */
#ifndef GNN_LIB_IMPORT_SURVEY_H
#define GNN_LIB_IMPORT_SURVEY_H

#include "lib/import/read/table.h"

/* Kinds of cells. */
enum gnn_cell {
    GNN_CELL_ID,      /* a plain integer below 2^63 */
    GNN_CELL_PADDED,  /* with zeros before it: 007 */
    GNN_CELL_HUGE,    /* an integer of 2^63 or more */
    GNN_CELL_NUMBER,  /* any other number, such as -1, 1.0, 1e5, inf */
    GNN_CELL_FIGURE,  /* digits and signs that are no number: a date, 1,000, 10.0.0.1 */
    GNN_CELL_EMPTY,   /* nothing, quoted or not */
    GNN_CELL_MISSING, /* a word for a missing value: NA, N/A, null, none, nan */
    GNN_CELL_NODICT,  /* {}: what Python writes of an edge without attributes */
    GNN_CELL_DICT,    /* {'weight': 3}, to the end of the line */
    GNN_CELL_WORD,
    GNN_CELLS
};
enum { GNN_SURVEY_COLUMNS = 256, GNN_SURVEY_NAME = 128, GNN_SURVEY_CELL = 64 };

struct gnn_survey_column {
    enum gnn_cell first;        /* in the first row */
    char name[GNN_SURVEY_NAME]; /* the first row's cell, cut short */
    size_t namelen;             /* of the whole cell */
    bool again;                 /* that cell, a word, stands in another row, in any column */
    uint64_t n[GNN_CELLS];      /* cells below the first row */
    uint64_t line[GNN_CELLS];   /* of the first of them, whose text is, as messages show it: */
    char text[GNN_CELLS][GNN_SURVEY_CELL];
};

struct gnn_survey {
    char sep;        /* that gives every row as many fields, if one does */
    uint32_t ncols;  /* fields of the first row; 0: there is none */
    uint64_t rows;   /* below the first row */
    uint64_t line;   /* of the first row */
    uint64_t ragged; /* the first line with another number of fields, of `fields`; 0: none */
    uint32_t fields;
    uint64_t quote; /* the first line with a quote that is not closed; 0: none */
    /* The first lines that begin with # or % and may be rows, 0: none, and what follows the sign
     * there, cut short. */
    uint64_t comment[2];
    char commented[2][GNN_SURVEY_NAME];
    /* Whether a word of the second (third) of three columns stands in the first, too, as far as
     * some thousand words tell. */
    bool again[2];
    bool whole; /* to the end of the file */
    struct gnn_survey_column col[GNN_SURVEY_COLUMNS];
};

enum gnn_cell gnn_cell_kind(const struct gnn_word *w);
/* Reads the table, of at most `limit` rows (0: all). The separator is the first of tab, semicolon,
 * comma and blanks that stands in the first row and by which all rows have as many fields; sep, if
 * not 0, is it instead. With `comments`, lines that begin with # or % are none of its rows. Too
 * many columns, long lines and what the reader refuses are errors. */
int gnn_survey_read(struct gnn_survey *s, struct gnn_input *in, uint32_t member, bool comments,
                    char sep, uint64_t limit, struct gnn_err *e) GNN_MUST_USE;

#endif
