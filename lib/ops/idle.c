/* SPDX-License-Identifier: Apache-2.0 */
/* The table of lib/ops/ops.h that touches no memory: a pass with it asks for the same buffers as
 * one that computes. */
#include "lib/ops/ops.h"

/* Nothing is done with what is given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static void idle_zero(const struct gnn_ops *o, void *to, uint64_t bytes)
{
}

static void idle_copy(const struct gnn_ops *o, void *to, const void *from, uint64_t bytes)
{
}

static int idle_gemm(const struct gnn_ops *o, const struct gnn_product *p, struct gnn_err *e)
{
    return 0;
}

#define GNN_OP(name, kind, words, params, cpu, cuda)                                               \
    static void idle_##name(const struct gnn_ops *o, GNN_OP_PARAMS params)                         \
    {                                                                                              \
    }
#include "lib/ops/list.h"

void gnn_ops_idle(struct gnn_ops *o)
{
    o->zero = idle_zero;
    o->copy = o->put = o->fetch = idle_copy;
    o->gemm = idle_gemm;
#define GNN_OP(name, ...) o->name = idle_##name;
#include "lib/ops/list.h"
}
