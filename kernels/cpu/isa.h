/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of instructions that code is written for by hand; what is compiled for several (simd.h) is
 * not among it. All levels give the same bits. */
#ifndef GNN_KERNELS_CPU_ISA_H
#define GNN_KERNELS_CPU_ISA_H

/* PORTABLE: what every compiler makes of C. AVX2 has BMI and POPCNT besides; AVX512 the F and BW
 * extensions, BMI2 and POPCNT. */
enum gnn_isa { GNN_ISA_PORTABLE, GNN_ISA_AVX2, GNN_ISA_AVX512 };

#ifdef __x86_64__
#define GNN_AVX2 __attribute__((target("avx2,bmi,popcnt")))
#define GNN_AVX512 __attribute__((target("avx512f,avx512bw,bmi,bmi2,popcnt")))
#endif

/* The best one of this processor: a look at a number, but to be asked for once in loops. In a build
 * with GNN_NO_AVX512 (make AVX512=0) it is AVX2 at most, and code compiled for several levels has
 * no copy for AVX-512: so any machine shows what those without it do. */
static inline enum gnn_isa gnn_isa_best(void)
{
#ifdef __x86_64__
#ifndef GNN_NO_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
        return GNN_ISA_AVX512;
#endif
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("popcnt"))
        return GNN_ISA_AVX2;
#endif
    return GNN_ISA_PORTABLE;
}

#endif
