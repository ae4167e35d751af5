/* Is what stands in a label tensor a label? */
#ifndef GNN_LIB_LABELS_H
#define GNN_LIB_LABELS_H

#include "lib/schema.h"

/* Looks at all values of y, labels of the schema's task, any dtype, of one or two dimensions: a class from 0 on and below
 * `classes`, a target from 0 to 1, or -1 or NaN for none. The first that is neither is GNN_E_INPUT "element N: label V outside
 * 0..M"; the caller says whose. */
int gnn_labels_valid(const struct gnn_schema *c, const struct gnn_tensor *y, struct gnn_err *e) GNN_MUST_USE;

#endif
