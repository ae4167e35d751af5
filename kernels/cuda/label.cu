/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: a thread has one. */
#include "kernels/label.h"

#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256;

__global__ void form_labels(const void *y, enum gnn_label_type type, size_t n,
                            enum gnn_label_form form, uint32_t classes, void *out)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS)
        gnn_label_put(out, i, gnn_label_value(y, type, i), form, classes);
}

} // namespace

void gnn_cuda_labels_form(const void *y, enum gnn_label_type type, size_t n,
                          enum gnn_label_form form, uint32_t classes, void *out, void *stream)
{
    if (n)
        GNN_LAUNCH(form_labels, gnn_grid(n, THREADS), THREADS, 0, stream, y, type, n, form, classes,
                   out);
}
