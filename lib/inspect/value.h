/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of any dtype as numbers. */
#ifndef GNN_LIB_INSPECT_VALUE_H
#define GNN_LIB_INSPECT_VALUE_H

#include "formats/tensor.h"

/* Element i as a double; 64-bit integers above 2^53 are rounded. */
double gnn_value(enum gnn_dtype d, const void *data, uint64_t i);
/* Element i of a tensor as the number that it stands for: in rows of int8, times the row's scale.
 */
double gnn_element(const struct gnn_tensor *t, uint64_t i);
/* Element i as text, exactly; returns out. */
const char *gnn_value_text(enum gnn_dtype d, const void *data, uint64_t i, char *out,
                           size_t capacity);

#endif
