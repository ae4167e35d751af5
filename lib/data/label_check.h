/* SPDX-License-Identifier: Apache-2.0 */
/* The values in a label tensor: which are labels, and what of. */
#ifndef GNN_LIB_DATA_LABEL_CHECK_H
#define GNN_LIB_DATA_LABEL_CHECK_H

#include "lib/data/schema.h"

/* Checks all values of y, of any dtype and one or two dimensions, as labels of the schema's task: a
 * class is at least 0 and less than `classes`, a target is from 0 to 1, and -1 or NaN means no
 * label; of a regression, all finite f32 numbers are labels and NaN means none. The first other
 * value is GNN_E_INPUT "element N: label V outside 0..M"; the caller adds the file and tensor. */
int gnn_labels_valid(const struct gnn_schema *c, const struct gnn_tensor *y,
                     struct gnn_err *e) GNN_MUST_USE;
/* Element i of labels in the task's form; NaN: none. */
double gnn_label_get(enum gnn_task task, const void *y, uint64_t i);
/* NULL if x, which gnn_label_get gives for v, is a label of the task or none; else what
 * is wrong with it: "label V outside 0..M", in `out`. */
const char *gnn_label_wrong(enum gnn_task task, double v, double x, uint32_t classes, char out[64]);
/* Whether row i of such labels has one, in any of its columns; and *of, of a multiclass or binary
 * task, its class. */
bool gnn_label_row(const struct gnn_schema *c, const struct gnn_tensor *y, uint64_t i,
                   uint32_t *of);

#endif
