/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of features as they are stored in int8 (kernels/int8_row.h): making and checking them. */
#ifndef GNN_LIB_DATA_INT8_ROWS_H
#define GNN_LIB_DATA_INT8_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

/* For printf: a percentage, of the largest *error below. */
#define GNN_INT8_NOTE                                                                              \
    "features are int8 with a scale for each row: the largest error is %.3g %% of the largest "    \
    "feature of its row"

/* The row of int8 that stands for these numbers; out is aligned to 4 bytes. Returns `columns`, or
 * the first column, from 0, whose number is not finite: out is then unfinished. *error grows to the
 * largest error of an element, as a share of the row's largest element. */
uint64_t gnn_int8_row(const float *x, uint64_t columns, void *out, double *error) GNN_MUST_USE;
/* Whether a row is what gnn_int8_row could have made. If not, `why` says what is wrong
 * with it. */
bool gnn_int8_row_valid(const void *row, uint64_t columns, char *why, size_t capacity);

#endif
