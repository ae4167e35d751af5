/* SPDX-License-Identifier: Apache-2.0 */
/* Time for measurements. */
#ifndef GNN_LIB_BASE_CLOCK_H
#define GNN_LIB_BASE_CLOCK_H

#include <time.h>

/* Seconds, monotonic, from an unspecified start. */
static inline double gnn_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
