/* SPDX-License-Identifier: Apache-2.0 */
/* Text tables of nodes whose rows say by an id which node they are of: in any order. A table is
 * given as FILE, or as FILE:COLUMN with the name or number (from 1) of the column that holds the
 * ids; FILE:0 says that none does. */
#ifndef GNN_LIB_IMPORT_JOINED_H
#define GNN_LIB_IMPORT_JOINED_H

#include "lib/import/nodeids.h"
#include "lib/import/read/table.h"

struct gnn_joined {
    char *path;   /* FILE */
    char *column; /* COLUMN, or NULL */
    struct gnn_input *in;
    bool text;   /* else .npy: nothing below is set; a text without lines has ncols 0 */
    bool header; /* rows are below a line of names */
    int id;      /* the column of ids; -1: there is none, as far as names tell */
    uint32_t ncols;
    char **name;           /* [nnames] cells of the first line, whether or not it is a header */
    uint32_t nnames;       /* ncols, unless `whole` */
    struct gnn_word *word; /* [ncols] of the present row */
    bool whole;            /* a row is one column, whatever separators it has */
    struct gnn_word top;   /* the first line, without blanks round it; bytes from gnn_alloc */
    uint64_t line, row;    /* of the present row: its line, and its number from 1 */
    struct gnn_table t;
};

/* Splits FILE[:COLUMN] and opens it before its first row. type: a node type's name, for columns
 * called TYPE or TYPE_id, or NULL. A zeroed object, or one that failed to open, may be closed. */
int gnn_joined_open(struct gnn_joined *j, const char *spec, const char *type,
                    struct gnn_err *e) GNN_MUST_USE;
/* Reads the next row of text; GNN_END after the last. */
int gnn_joined_next(struct gnn_joined *j, struct gnn_err *e) GNN_MUST_USE;
/* From now on each line is one cell, an id; again from the first. */
int gnn_joined_whole(struct gnn_joined *j, struct gnn_err *e) GNN_MUST_USE;
/* Goes back before the first row. */
int gnn_joined_again(struct gnn_joined *j, struct gnn_err *e) GNN_MUST_USE;
void gnn_joined_close(struct gnn_joined *j);

/* Whether a cell is a number, and not missing. */
bool gnn_joined_is_number(const struct gnn_word *w);
/* The name of column i in messages: 'its name', or "column 3". */
const char *gnn_joined_column(const struct gnn_joined *j, uint32_t i, char text[96]);
/* GNN_E_INPUT: no column is called like ids, in "OPTIONFILE". */
int gnn_joined_no_id(const struct gnn_joined *j, const char *option, const char *file,
                     struct gnn_err *e);
/* GNN_E_INPUT "FILE: line N: WHAT 'CELL'REST" for a cell of the present row. */
int gnn_joined_fail(const struct gnn_joined *j, uint32_t col, const char *what, const char *rest,
                    struct gnn_err *e);
/* The node of the id in the present row, below `count`; GNN_E_INPUT: there is none. */
int gnn_joined_id(const struct gnn_joined *j, const struct gnn_nodeids *ids, uint64_t count,
                  uint32_t *node, struct gnn_err *e) GNN_MUST_USE;
/* The node of the present row: by its id or, if there are none, by its place. line[node], of
 * `count` zeros at first, becomes the row's line. Errors: GNN_E_INPUT for an id that is unknown or
 * empty, a node with two rows, and more rows than nodes. */
int gnn_joined_node(struct gnn_joined *j, const struct gnn_nodeids *ids, uint64_t count,
                    uint64_t *line, uint32_t *node, struct gnn_err *e) GNN_MUST_USE;

#endif
