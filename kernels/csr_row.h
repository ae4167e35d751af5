/* SPDX-License-Identifier: Apache-2.0 */
/* One row of a layer of blocks (struct gnn_csr), for what goes over a row's edges. */
#ifndef GNN_KERNELS_CSR_ROW_H
#define GNN_KERNELS_CSR_ROW_H

#include "kernels/spmm.h"

struct gnn_csr_row {
    const uint32_t *indices; /* of its n edges; not to be read if there is none */
    const uint32_t *edge;    /* the block's `edge` of them, or NULL */
    uint32_t n, number;      /* of its first edge, from 0 on over one block after the other */
    uint64_t left;           /* edges from its first to the last of the block */
    uint64_t at;             /* block << 32 | the place of its first edge among the block's */
};

/* A row that is in no block has no edges. */
static GNN_HD struct gnn_csr_row gnn_csr_row_of(const struct gnn_csr *block, uint32_t nblocks,
                                                uint32_t row)
{
    struct gnn_csr_row r = {NULL, NULL, 0, 0, 0, 0};
    uint64_t number = 0;
    for (uint32_t b = 0; b < nblocks; b++) {
        const struct gnn_csr *a = &block[b];
        const uint32_t i = row - a->first;
        if (!a->n)
            continue;
        const uint64_t start = gnn_csr_offset(a, 0);
        if (row < a->first || i >= a->n) {
            number += gnn_csr_offset(a, a->n) - start;
            continue;
        }
        const uint64_t from = gnn_csr_offset(a, i);
        r.indices = a->indices + from;
        r.edge = a->edge ? a->edge + from : a->edge;
        r.n = (uint32_t)(gnn_csr_offset(a, i + 1) - from);
        r.number = (uint32_t)(number + (from - start));
        r.left = gnn_csr_offset(a, a->n) - from;
        r.at = (uint64_t)b << 32 | (uint32_t)from;
        break;
    }
    return r;
}

/* How many of the row's edges have a number below this one. Numbers ascend within a row, those of
 * `edge` too. */
static GNN_HD uint32_t gnn_csr_row_below(const struct gnn_csr_row *r, uint32_t number)
{
    uint32_t low = 0, high = r->n;
    if (!r->edge)
        return number <= r->number ? 0 : number - r->number < r->n ? number - r->number : r->n;
    if (high && r->edge[high - 1] < number) /* mostly, all of them */
        return high;
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;
        if (r->edge[mid] < number)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Leaves of the row only the edges with numbers from `first` on, `count` of them. */
static GNN_HD void gnn_csr_row_cut(struct gnn_csr_row *r, uint32_t first, uint32_t count)
{
    const uint32_t from = first ? gnn_csr_row_below(r, first) : 0,
                   to = gnn_csr_row_below(r, first + count);
    if (r->edge)
        r->edge += from;
    r->indices += from;
    r->number += from;
    r->left -= from;
    r->at += from;
    r->n = to - from;
}

#endif
