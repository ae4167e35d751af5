/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of text that are written as they come. Private to lib/inspect. */
#ifndef GNN_LIB_INSPECT_TABLE_OUT_H
#define GNN_LIB_INSPECT_TABLE_OUT_H

#include "lib/base/io.h"
#include "lib/base/mem.h"
#include "lib/data/csv_cells.h"

struct gnn_table_out {
    struct gnn_io io;
    struct gnn_buf text;
    struct gnn_csv csv; /* cells go here; it points to `text` */
};

/* Takes any object, which stays where it is until _end. The fd stays the caller's. */
void gnn_table_out_begin(struct gnn_table_out *t, int fd, const char *name);
/* Adds the names of a field's columns, "x" or, of width columns, "x_0,x_1". */
int gnn_table_out_names(struct gnn_table_out *t, const char *field, uint64_t width,
                        struct gnn_err *e) GNN_MUST_USE;
/* Ends the line, and writes the lines so far when they are worth a call. */
int gnn_table_out_line(struct gnn_table_out *t, struct gnn_err *e) GNN_MUST_USE;
/* Writes what is left, unless rc says that something has failed; frees what it holds. */
int gnn_table_out_end(struct gnn_table_out *t, int rc, struct gnn_err *e) GNN_MUST_USE;

#endif
