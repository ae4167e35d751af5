/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of text in tables of nodes as features: --encode COLUMN=one-hot or COLUMN=hash:N. Private
 * to lib/import. */
#ifndef GNN_LIB_IMPORT_ENCODE_H
#define GNN_LIB_IMPORT_ENCODE_H

#include "lib/import/import.h"
#include "lib/import/words.h"

/* How a column becomes `width` features. Zeroed: it is none. */
struct gnn_encoding {
    enum { GNN_ENCODE_NONE, GNN_ENCODE_ONE_HOT, GNN_ENCODE_HASH } how;
    uint32_t width;          /* of one-hot: the number of values, after _finish */
    struct gnn_words values; /* of one-hot, in the order of their bytes after _finish */
};

/* The encoding that --encode has for a column of node type `type`, by COLUMN or TYPE/COLUMN.
 * GNN_E_USAGE for a text that is none. */
int gnn_encoding_find(struct gnn_encoding *c, const struct gnn_import_opts *o, const char *type,
                      const char *column, struct gnn_err *e) GNN_MUST_USE;
/* Takes note of a cell; then, after all, of the width. GNN_E_INPUT, with file and column, for more
 * than 4096 values. */
int gnn_encoding_add(struct gnn_encoding *c, const struct gnn_word *cell,
                     struct gnn_err *e) GNN_MUST_USE;
int gnn_encoding_finish(struct gnn_encoding *c, const char *file, const char *column,
                        struct gnn_err *e) GNN_MUST_USE;
/* Writes the features of a cell to x (width), which is zeroed. A missing value has zeros only.
 *
 * one-hot: 1 at the place of the value. hash: a bag of words, which are runs of letters and digits
 * in lower case, by the hashing trick (Weinberger et al., ICML 2009): each word adds 1 or -1, by
 * its hash, to one place, and the vector is scaled to length 1. */
void gnn_encoding_fill(const struct gnn_encoding *c, const struct gnn_word *cell, float *x);
void gnn_encoding_release(struct gnn_encoding *c);

#endif
