/* Matrix Market (NIST): the banner and the size line. */
#ifndef GNN_FORMATS_MTX_H
#define GNN_FORMATS_MTX_H

#include "formats/text.h"

struct gnn_mtx {
    bool pattern;   /* entries have no value */
    bool symmetric; /* each entry stands for its mirror image too */
    uint64_t rows, cols, entries;
};

/* Each takes a line that ends in '\n' and returns NULL or what is wrong with it. */
const char *gnn_mtx_banner(struct gnn_mtx *m, const char *line);
const char *gnn_mtx_size(struct gnn_mtx *m, const char *line);

#endif
