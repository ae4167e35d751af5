/* SPDX-License-Identifier: Apache-2.0 */
/* Features in like units: the constants by which columns are standardized. */
#ifndef GNN_LIB_IMPORT_SCALING_H
#define GNN_LIB_IMPORT_SCALING_H

#include "lib/import/split.h"

/* Finds the constants of the field "x" of every node type, and records them in `out`, the schema of
 * the store: those of the store o->standardize_from, or the means and standard deviations over the
 * training set, the set "train" of the first split that has nodes of the type; over all nodes, if
 * no set has any of them. A column without variation gets the scale 1. Reads the features once.
 * GNN_E_USAGE if there is nothing to standardize, or a set for training is missing; GNN_E_INPUT if
 * the other store does not fit. */
int gnn_scaling_plan(struct gnn_dataset *d, const struct gnn_import_opts *o,
                     struct gnn_splits *splits, struct gnn_schema *out,
                     struct gnn_err *e) GNN_MUST_USE;
/* n rows of `columns` values each, from in to out. */
void gnn_scaling_apply(const double *standard, uint64_t columns, const float *in, uint64_t n,
                       float *out);

#endif
