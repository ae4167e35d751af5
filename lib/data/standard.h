/* SPDX-License-Identifier: Apache-2.0 */
/* The constants by which the columns of features were standardized: an array [2][columns] of means,
 * then scales. A value v of the data set is stored as (v - mean) / scale. NULL stands for features
 * that are as in the data set. */
#ifndef GNN_LIB_DATA_STANDARD_H
#define GNN_LIB_DATA_STANDARD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

/* GNN_E_INPUT for means that are not finite, and scales that are not finite and above 0. */
int gnn_standard_check(const double *standard, uint64_t columns, struct gnn_err *e) GNN_MUST_USE;
/* A copy, to be freed with gnn_free. */
double *gnn_standard_copy(const double *standard, uint64_t columns, struct gnn_err *e) GNN_MUST_USE;
bool gnn_standard_equal(const double *a, const double *b, uint64_t columns);
/* {"mean": [...], "scale": [...]}; NULL without memory. */
json_t *gnn_standard_to_json(const double *standard, uint64_t columns);
/* Checked, and to be freed with gnn_free; NULL on failure. */
double *gnn_standard_from_json(const json_t *j, uint64_t columns, struct gnn_err *e) GNN_MUST_USE;

#endif
