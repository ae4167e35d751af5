/* SPDX-License-Identifier: Apache-2.0 */
/* In a library that was built without CUDA. */
#include "lib/gpu/gpu.h"

int gnn_gpu_backend(struct gnn_gpu *g, struct gnn_err *e)
{
    (void)g;
    return gnn_fail(e, GNN_E_DEVICE, "no CUDA device: this build has no CUDA");
}
