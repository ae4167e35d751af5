/* SPDX-License-Identifier: Apache-2.0 */
/* Filling caches: rows go, in the order of a ranking, to holders that have space for them. A holder
 * is whatever has a budget of bytes: a cache of one size, a device, a rank's copies of remote rows.
 */
#ifndef GNN_LIB_CACHE_FILL_H
#define GNN_LIB_CACHE_FILL_H

#include "lib/cache/order.h"

enum { GNN_HOLDER_NONE = 0xffff };

struct gnn_fill {
    const struct gnn_ranking *rows;
    uint64_t *at;      /* [ntypes] rows of each type that have been passed; goes on from there */
    uint64_t *left;    /* [nholders] bytes that each still has space for */
    uint32_t nholders; /* at most GNN_HOLDER_NONE */
    /* Passes over rows that no holder has space for, until none has space for any row; else stops
     * at the first, so that more space means more rows. */
    bool skip;
    uint16_t *const
        *holder; /* [ntypes][rows->n] out: who holds the row, or GNN_HOLDER_NONE; or NULL */
    /* Holders [*from, *to) are asked before the others; NULL: all are alike. */
    void (*prefer)(const void *arg, uint32_t type, uint32_t row, uint32_t *from, uint32_t *to);
    const void *arg;
};
/* Each row goes to the one that has most space, the first of several. */
void gnn_fill_run(struct gnn_fill *f);

/* As gnn_fill_run, for a single holder of so many bytes, which stops at the first row that has no
 * space. */
void gnn_fill_one(const struct gnn_ranking *rows, uint64_t bytes, uint64_t *at);

#endif
