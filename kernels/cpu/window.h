/* SPDX-License-Identifier: Apache-2.0 */
/* Searches among ascending numbers of 16 bits, of which a line of memory has 32: such a window is
 * compared at once. */
#ifndef GNN_KERNELS_CPU_WINDOW_H
#define GNN_KERNELS_CPU_WINDOW_H

#include "kernels/pick.h"
#include "kernels/simd.h"

/* How many of n <= GNN_PICK_WINDOW numbers are below x; and in the high byte, how many are not
 * above it. Reads GNN_PICK_WINDOW of them. */
GNN_INLINE uint32_t gnn_window_count(const int16_t *v, uint32_t n, int16_t x)
{
    int16_t sum = 0;
    for (int16_t i = 0; i < GNN_PICK_WINDOW; i++) {
        const int16_t in = i < (int16_t)n ? 0x101 : 0, low = v[i] < x ? -1 : -0x100,
                      most = v[i] <= x ? -1 : 0;
        sum = (int16_t)(sum + (in & low & most));
    }
    return (uint16_t)sum;
}

#endif
