/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of features that are stored as int8 with a scale: element * scale stands for a feature. */
#ifndef GNN_LIB_DATA_INT8_ROWS_H
#define GNN_LIB_DATA_INT8_ROWS_H

#include <stdint.h>

/* For printf: a percentage, of the largest *error below. */
#define GNN_INT8_NOTE                                                                              \
    "features are int8 with a scale for each row: the largest error is %.3g %% of the largest "    \
    "feature of its row"

/* A row as int8 (gnn_f32_to_i8). Returns its scale; NaN: not all elements are finite. *error grows
 * to the largest error of an element, as a share of the row's largest element. */
float gnn_int8_row(const float *x, uint64_t columns, int8_t *out, double *error);
/* The column, from 0, of the row's first element that is not finite; there is one. */
uint64_t gnn_int8_odd(const float *x);

#endif
