/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks of batches share (lib/data/batch.h). Private to lib/data. */
#ifndef GNN_LIB_DATA_BATCH_IMPL_H
#define GNN_LIB_DATA_BATCH_IMPL_H

#include "lib/data/batch.h"

/* Whose rows a tensor "node/T/FIELD" or "hop/H/S/R/D/FIELD" has. */
struct gnn_rows_of {
    const struct gnn_field *field; /* NULL: the type has none of that name */
    bool edges, labels;            /* labels: "y", whose rows are those of the seeds */
    uint32_t hop, type;            /* of edges: the hop and the edge type; else the node type */
};
/* False if the name is none of these, or if there is no such type or hop. */
bool gnn_batch_rows_of(const struct gnn_meta *m, const char *name, struct gnn_rows_of *x);
/* What is wrong with the tensor's type and columns, or NULL. */
const char *gnn_batch_rows_fit(const struct gnn_rows_of *x, const struct gnn_tensor *t);

#endif
