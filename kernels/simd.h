/* SPDX-License-Identifier: Apache-2.0 */
/* One source, several instruction sets: functions marked GNN_SIMD are compiled for each of them and
 * the loader picks the best. Helpers they call must be GNN_INLINE to be compiled along. They must
 * be static: clang 14 hides the plain name of an exported one. And no two may have one name, as
 * clang makes the clones of static ones global. */
#ifndef GNN_KERNELS_SIMD_H
#define GNN_KERNELS_SIMD_H

/* Marks functions that do nothing but fetch: gcc takes calls of others for calls without effect,
 * and leaves them out. */
#define GNN_FETCH static inline __attribute__((always_inline))
#ifdef __SANITIZE_ADDRESS__ /* the same checks in each copy take long to compile */
#define GNN_INLINE static inline
#else
#define GNN_INLINE GNN_FETCH
#endif

#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) &&              \
    !defined(__SANITIZE_THREAD__) && !defined(GNN_NO_IFUNC)
#ifdef GNN_NO_AVX512 /* see kernels/cpu/isa.h */
#define GNN_SIMD __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define GNN_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#else
#define GNN_SIMD
#endif

#endif
