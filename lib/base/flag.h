/* SPDX-License-Identifier: Apache-2.0 */
/* A flag that one thread sets and others read. It is relaxed: it says nothing about other memory.
 */
#ifndef GNN_LIB_BASE_FLAG_H
#define GNN_LIB_BASE_FLAG_H

#include <stdbool.h>

struct gnn_flag {
    int on; /* 0 or 1, read and written by these functions */
};

static inline bool gnn_flag_get(const struct gnn_flag *f)
{
    return __atomic_load_n(&f->on, __ATOMIC_RELAXED);
}

static inline void gnn_flag_set(struct gnn_flag *f, bool on)
{
    __atomic_store_n(&f->on, on, __ATOMIC_RELAXED);
}

#endif
