/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the ranges that follow one another holds a number: parts of a store by their first id.
 */
#ifndef GNN_KERNELS_OWNER_H
#define GNN_KERNELS_OWNER_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/hd.h"

/* The last of n ranges (n > 0) that starts at v or before it; the starts ascend from 0. first
 * points to that of the first range, the others follow `stride` bytes apart. Empty ranges own
 * nothing, as the next one starts there too. */
static GNN_HD uint32_t gnn_owner_find(const uint64_t *first, size_t stride, uint32_t n, uint64_t v)
{
    uint32_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const uint32_t mid = hi - (hi - lo) / 2;
        if (*(const uint64_t *)(const void *)((const char *)first + mid * stride) <= v)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

#endif
