/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that host and device share are written once, as `static GNN_HD` functions in headers
 * that both include. */
#ifndef GNN_KERNELS_HD_H
#define GNN_KERNELS_HD_H

#ifdef __CUDACC__
#define GNN_HD __host__ __device__ __forceinline__
#else
#define GNN_HD inline __attribute__((always_inline))
#endif

#endif
