/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of the host: what those in f32 (cpu.c) and in bf16 (cpu_bf16.c) share. */
#ifndef GNN_LIB_OPS_CPU_H
#define GNN_LIB_OPS_CPU_H

#include "lib/ops/ops.h"

/* Makes sure, where memory is limited, that oneDNN will get what it takes for a product:
 * GNN_E_NOMEM if not. */
int gnn_cpu_space(struct gnn_err *e) GNN_MUST_USE;

/* p with all its pitches. */
static inline struct gnn_product gnn_cpu_pitches(const struct gnn_product *p)
{
    struct gnn_product q = *p;
    q.lda = p->lda ? p->lda : p->ta ? p->m : p->k;
    q.ldb = p->ldb ? p->ldb : p->tb ? p->k : p->n;
    q.ldc = p->ldc ? p->ldc : p->n;
    return q;
}

/* The product p, which has pitches and turned, by `multiply`, which gets one without. */
int gnn_cpu_turned(const struct gnn_ops *o, const struct gnn_product *p,
                   int (*multiply)(const struct gnn_ops *o, const struct gnn_product *p,
                                   struct gnn_err *e),
                   struct gnn_err *e) GNN_MUST_USE;

#endif
