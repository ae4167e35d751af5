/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a table in text: RFC 4180, lines end with a newline only. */
#ifndef GNN_LIB_DATA_CSV_CELLS_H
#define GNN_LIB_DATA_CSV_CELLS_H

#include "lib/data/tensors.h"

/* Where cells are appended: `to` has n bytes already. */
struct gnn_csv {
    struct gnn_buf *to;
    uint64_t n;
};
/* Text as it is. */
int gnn_csv_text(struct gnn_csv *c, const char *s, struct gnn_err *e) GNN_MUST_USE;
/* A cell: in quotes, each quote doubled, where it would be read as something else otherwise. */
int gnn_csv_cell(struct gnn_csv *c, const char *s, size_t n, struct gnn_err *e) GNN_MUST_USE;
/* A number, with as few digits as tell it from every other one. */
int gnn_csv_number(struct gnn_csv *c, float v, struct gnn_err *e) GNN_MUST_USE;
int gnn_csv_count(struct gnn_csv *c, uint64_t v, struct gnn_err *e) GNN_MUST_USE;
int gnn_csv_whole(struct gnn_csv *c, int64_t v, struct gnn_err *e) GNN_MUST_USE;
/* Number i of an array of any type. */
int gnn_csv_element(struct gnn_csv *c, enum gnn_dtype type, const void *data, uint64_t i,
                    struct gnn_err *e) GNN_MUST_USE;
/* A time, i64 or, as its bits, f64. */
int gnn_csv_time(struct gnn_csv *c, int64_t time, enum gnn_dtype type,
                 struct gnn_err *e) GNN_MUST_USE;

#endif
