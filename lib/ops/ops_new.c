/* SPDX-License-Identifier: Apache-2.0 */
/* Apart from the tables, so that what uses one of them alone is not linked with all. */
#include "lib/ops/cpu_bf16.h"

const struct gnn_ops *gnn_ops_new(struct gnn_gpu *g, enum gnn_precision precision,
                                  struct gnn_err *e)
{
    if (g)
        return gnn_ops_gpu.make(g, precision, e);
    if (precision == GNN_PRECISION_BF16)
        return gnn_ops_bf16_new(e);
    if (precision == GNN_PRECISION_F32)
        return &gnn_ops_cpu;
    (void)gnn_fail(e, GNN_E_USAGE,
                   "matrix products in tf32 require a GPU: the CPU has f32 and bf16");
    return NULL;
}
