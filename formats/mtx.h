/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix Market (NIST): the banner and the size line. */
#ifndef GNN_FORMATS_MTX_H
#define GNN_FORMATS_MTX_H

#include "formats/text.h"

struct gnn_mtx {
    bool array;     /* dense: a value a line, column by column; else coordinates */
    bool pattern;   /* entries have no value */
    bool integer;   /* values are whole numbers */
    bool symmetric; /* each entry stands for its mirror image too, and has row >= column */
    bool skew;      /* the same with the opposite value, and row > column */
    uint64_t rows, cols;
    uint64_t entries; /* of an array: of those that the file lists */
};

/* Each takes a line that ends in '\n' and returns NULL or what is wrong with it. */
const char *gnn_mtx_banner(struct gnn_mtx *m, const char *line);
const char *gnn_mtx_size(struct gnn_mtx *m, const char *line);

#endif
