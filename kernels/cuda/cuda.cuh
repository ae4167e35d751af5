/* What every .cu file needs: launching, so that the kernels also run where there is no CUDA (tests/emu), and shapes of
 * grids. Kernels take their sizes from device memory where an earlier kernel made them: a grid is as large as the
 * machine, and its threads stride over the work. */
#ifndef GNN_KERNELS_CUDA_CUH
#define GNN_KERNELS_CUDA_CUH

#ifndef GNN_LAUNCH
#include <cuda_runtime.h>
#define GNN_LAUNCH(kernel, grid, block, shared, stream, ...)                                                           \
    (kernel<<<(grid), (block), (shared), (cudaStream_t)(stream)>>>(__VA_ARGS__))
#define GNN_DYNAMIC_SHARED(type, name)                                                                                 \
    extern __shared__ __align__(16) unsigned char gnn_shared_bytes[];                                                  \
    type *const name = reinterpret_cast<type *>(gnn_shared_bytes)
#endif

#endif
