/* SPDX-License-Identifier: Apache-2.0 */
/* The host's operations with matrix products in bf16, and sums of rows of bf16. */
#ifndef GNN_LIB_OPS_CPU_BF16_H
#define GNN_LIB_OPS_CPU_BF16_H

#include "lib/ops/ops.h"

/* The table of gnn_ops_cpu, in which inputs of products are rounded to bf16: to nearest, ties to
 * even; beyond bf16's range to infinity, and a NaN stays a NaN. Sums are f32. Equal products with
 * equal thread counts give equal bits. So do a product and its parts, if all but the last have 2048
 * rows of A as it is stored: parts of C or, with ta, of sums, added one after the other. NULL and e
 * on failure. */
const struct gnn_ops *gnn_ops_bf16_new(struct gnn_err *e) GNN_MUST_USE;

#endif
