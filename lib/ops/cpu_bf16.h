/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of the host with inputs rounded to bf16: for lib/ops/cpu.c. */
#ifndef GNN_LIB_OPS_CPU_BF16_H
#define GNN_LIB_OPS_CPU_BF16_H

#include "lib/ops/ops.h"

/* State of products in bf16: scratch memory, and what oneDNN generated for the latest shapes. One
 * thread at a time. */
struct gnn_cpu_bf16;

/* NULL and e on failure. */
struct gnn_cpu_bf16 *gnn_cpu_bf16_new(struct gnn_err *e) GNN_MUST_USE;
/* Takes NULL. */
void gnn_cpu_bf16_free(struct gnn_cpu_bf16 *g);

/* "", or a sentence: the processor has no products of bf16, so the rounded inputs are multiplied in
 * f32. */
const char *gnn_cpu_bf16_note(const struct gnn_cpu_bf16 *g);

/* Makes the product p, whose pitches are given and whose sizes are above 0. Inputs are rounded to
 * nearest, ties to even: beyond bf16's range to infinity, and a NaN stays a NaN; sums are f32.
 * Equal calls with equal thread counts give equal bits; so do a product and its parts, if all but
 * the last have 2048 rows of A: of C, or, with ta, added to it one after the other. */
int gnn_cpu_bf16_multiply(struct gnn_cpu_bf16 *g, const struct gnn_product *p,
                          struct gnn_err *e) GNN_MUST_USE;

#endif
