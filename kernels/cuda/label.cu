/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: a thread has one. */
#include "kernels/label.h"

#include "kernels/cuda/cuda.cuh"

namespace
{

constexpr unsigned THREADS = 256;

__global__ void classes_of(const void *y, enum gnn_label_type type, size_t n, uint32_t classes,
                           int32_t *out)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS)
        out[i] = gnn_label_class(gnn_label_value(y, type, i), classes);
}

__global__ void targets_of(const void *y, enum gnn_label_type type, size_t n, float *out)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS)
        out[i] = gnn_label_target(gnn_label_value(y, type, i));
}

__global__ void numbers_of(const void *y, enum gnn_label_type type, size_t n, float *out)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS)
        out[i] = gnn_label_number(gnn_label_value(y, type, i));
}

} // namespace

void gnn_cuda_label_classes(const void *y, enum gnn_label_type type, size_t n, uint32_t classes,
                            int32_t *out, void *stream)
{
    if (n)
        GNN_LAUNCH(classes_of, gnn_grid(n, THREADS), THREADS, 0, stream, y, type, n, classes, out);
}

void gnn_cuda_label_targets(const void *y, enum gnn_label_type type, size_t n, float *out,
                            void *stream)
{
    if (n)
        GNN_LAUNCH(targets_of, gnn_grid(n, THREADS), THREADS, 0, stream, y, type, n, out);
}

void gnn_cuda_label_numbers(const void *y, enum gnn_label_type type, size_t n, float *out,
                            void *stream)
{
    if (n)
        GNN_LAUNCH(numbers_of, gnn_grid(n, THREADS), THREADS, 0, stream, y, type, n, out);
}
