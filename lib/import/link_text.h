/* SPDX-License-Identifier: Apache-2.0 */
/* Files of links: rows of nodes, by ids, names or positions. As text, a row is a line, its fields
 * between commas, semicolons, tabs or blanks; as .npy, a row of an array of integers. Of one thread
 * at a time. */
#ifndef GNN_LIB_IMPORT_LINK_TEXT_H
#define GNN_LIB_IMPORT_LINK_TEXT_H

#include "lib/store/ids.h"

/* Kinds of numbers of nodes: positions in the store, ids in the unpartitioned store ("original"),
 * and ids of the data set (gnn_names_of). */
enum gnn_link_numbers { GNN_LINK_POSITIONS, GNN_LINK_ORIGINAL, GNN_LINK_IDS };
/* Rows: a head, a tail and, if there are times, a time; or tails alone, as many in each row.
 * EITHER: pairs if the first row has two nodes, else tails; it becomes what it is. */
enum gnn_link_rows { GNN_LINK_PAIRS, GNN_LINK_TAILS, GNN_LINK_EITHER };

struct gnn_link_text {
    /* set by the caller, who keeps what is pointed to */
    struct gnn_store *store;
    const char *name;            /* of the file, for messages */
    const char *untimed;         /* likewise, why there are no times: "a time requires X" */
    uint32_t ntype[2];           /* of heads and tails */
    const uint32_t *to_store[2]; /* store ids by original ones; NULL: equal */
    const uint32_t *to_orig[2];  /* likewise, original ids */
    enum gnn_link_numbers numbers;
    enum gnn_link_rows rows;
    enum gnn_dtype times; /* of pairs: I64, F64 or 0 */
    /* what is read */
    struct gnn_buf node; /* u32 (n, width) original ids */
    struct gnn_buf time; /* i64 (n) or the bits of f64; empty: no times */
    uint64_t n;
    uint32_t width; /* 2, or the number of tails in a row */
    /* (n) lines of rows that are not their numbers from 1, as lines may be empty */
    struct gnn_buf line;
    struct gnn_id_names *names[2]; /* until _release; or NULL */
};

/* Reads the rows of a text of n bytes, the last of which is a newline, and appends them.
 * GNN_E_INPUT "NAME: line N: ...". x is to be released in any case. With several ranks, which know
 * the names of their own nodes, all read the same text into an empty x: collective. */
int gnn_link_text_read(struct gnn_link_text *x, const char *text, uint64_t n,
                       struct gnn_err *e) GNN_MUST_USE;
/* Likewise, n rows of an array of integers, row[n * width]. GNN_E_INPUT "NAME: row N: ...". */
int gnn_link_text_rows(struct gnn_link_text *x, const int64_t *row, uint64_t n, uint64_t width,
                       struct gnn_err *e) GNN_MUST_USE;
/* As gnn_link_text_read, of the file x->name: text or .npy, each compressed or not
 * (link_file.c). */
int gnn_link_text_open(struct gnn_link_text *x, struct gnn_err *e) GNN_MUST_USE;
/* The line of row i, from 1; in an array, its number. */
uint64_t gnn_link_text_line(const struct gnn_link_text *x, uint64_t i);
/* Frees what was read. Takes a zeroed object. */
void gnn_link_text_release(struct gnn_link_text *x);

#endif
